//! The secret and the public key. The secret one never prints, never pickles, and is written by an explicit call only.

use std::fs::File;
use std::path::PathBuf;

use numpy::{AllowTypeChange, Complex64, PyArray1, PyArrayLike1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use ringmill::{Evaluator, Flooding};
use ringmill_ckks::file::{
    FileError, Kind, Stored, inspect, load_secret_key, replace_secret_key, save_secret_key,
    secret_key_from_bytes, write_secret_key,
};
use ringmill_ckks::{self as ckks, KeyGenerator, Randomness};
use ringmill_ring::sample::SecretSeed;
use zeroize::Zeroizing;

use crate::argument::{Arg, given};
use crate::cipher::Ciphertext;
use crate::codec;
use crate::error::{Failure, Family};
use crate::evaluation::EvaluationKeys;
use crate::packing::{Packing, encode, randomness};
use crate::params::Params;

pub(crate) fn generator(params: &ckks::Params) -> Result<KeyGenerator, Failure> {
    KeyGenerator::new(params).map_err(|e| Failure::ckks(&e))
}

/// A secret key; see `ringmill.keys`.
#[pyclass(frozen, module = "ringmill._native")]
pub(crate) struct SecretKey(pub(crate) ckks::SecretKey);

#[pymethods]
impl SecretKey {
    /// Draws a secret key with randomness from the operating system, distributed as `Params.secret` says.
    ///
    /// Args:
    ///     params: the parameters.
    ///     insecure: accept parameters from a file that says they are insecure.
    ///
    /// Raises
    /// ------
    ///     MachineError: the system gives no randomness.
    ///     ParameterError: code "InsecureFile", for parameters that a file marks insecure.
    #[staticmethod]
    #[pyo3(signature = (params, *, insecure = false))]
    fn generate(
        py: Python<'_>,
        params: Arg<Bound<'_, Params>>,
        #[pyo3(from_py_with = given)] insecure: bool,
    ) -> PyResult<Self> {
        let params = params.get().inner.clone();
        if params.insecure_by_file() && !insecure {
            let message = format!(
                "the file of these parameters marks them insecure ({params}): keys would protect nothing. Give insecure=True \
                 (--insecure) for a test, or have the writer of the file take parameters of 128 bits"
            );
            return Err(Failure::rule(Family::Parameter, "InsecureFile", &message).into());
        }
        py.detach(|| {
            generator(&params)?.secret_key().map(Self).map_err(|e| Failure::ckks(&e)).map_err(Into::into)
        })
    }

    /// The parameters that it was made for.
    #[getter]
    fn params(&self) -> Params {
        self.0.params().clone().into()
    }

    /// Its identity: 16 hexadecimal digits, drawn with it and independent of it. Everything made with it,
    /// encrypted under it or computed from that carries it. `None` for a key from a file of before version 3.
    #[getter]
    fn identity(&self) -> Option<String> {
        self.0.identity().map(|identity| identity.to_string())
    }

    /// A public key that goes with this one; each call draws another.
    fn public_key(&self, py: Python<'_>) -> PyResult<PublicKey> {
        py.detach(|| {
            let key = generator(self.0.params())?.public_key(&self.0);
            Ok(key.map(PublicKey).map_err(|e| Failure::ckks(&e))?)
        })
    }

    /// Encrypts a vector. Half of the ciphertext is a seed's expansion, so that its file has half the size.
    ///
    /// Args:
    ///     values: real or complex numbers in one dimension, at most N/2; slots beyond them hold 0.
    ///     slots: packed slots, a power of two from 1 to N/2; the least that holds the values by default.
    ///     level: 0 to `max_level`, which is the default.
    ///     magnitude: bound on the size of the values, 1 if none is declared; it is public, and files carry it.
    ///     scale: the exact scale as text, as `Params.scale_at` and `Ciphertext.scale` give it; 2^`scale_bits` by default.
    ///
    /// Raises
    /// ------
    ///     EncodingError: values that are not finite, too many, or too large for the level; another number of
    ///     slots; a magnitude that does not bound them; an invalid scale. LevelError: another level.
    #[pyo3(signature = (values, *, slots = None, level = None, magnitude = None, scale = None))]
    #[allow(clippy::too_many_arguments)] // named in Python
    fn encrypt(
        &self,
        py: Python<'_>,
        values: Arg<PyArrayLike1<'_, Complex64, AllowTypeChange>>,
        slots: Option<&Bound<'_, PyAny>>,
        level: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = given)] magnitude: Option<f64>,
        #[pyo3(from_py_with = given)] scale: Option<&str>,
    ) -> PyResult<Ciphertext> {
        let values = values.as_array().to_vec();
        let packing = Packing::of(self.0.params(), slots, level, magnitude, scale)?;
        py.detach(|| {
            let plain = encode(self.0.params(), &values, packing)?;
            let seeded = self.0.encrypt_seeded(&plain, &mut randomness()?).map_err(|e| Failure::ckks(&e))?;
            Ok(Ciphertext::seeded(seeded))
        })
    }

    /// Whether a public key or evaluation keys were made with this key: by their identities, and by their residues, which prove
    /// it where an identity is missing or false.
    ///
    /// Raises
    /// ------
    ///     MismatchError: other parameters.
    fn made(&self, other: Arg<Made<'_>>) -> PyResult<bool> {
        let made = match &*other {
            Made::Public(key) => self.0.made_public(&key.get().0),
            Made::Evaluation(keys) => self.0.made(&keys.get().0),
        };
        made.map_err(|e| Failure::ckks(&e).into())
    }

    /// All slots of a ciphertext, as complex numbers: the values, each with an error of about 2^`error_log2`.
    ///
    /// Give them to the key's owner only: their errors depend on the key, and enough of them reveal it
    /// (SECURITY.md).
    ///
    /// Raises
    /// ------
    ///     MismatchError: other parameters, or a ciphertext under another secret key. Where an identity is not known that is not
    ///         noticed: the result is noise.
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        cipher: Arg<Bound<'_, Ciphertext>>,
    ) -> PyResult<Bound<'py, PyArray1<Complex64>>> {
        let cipher = cipher.get();
        let slots = py.detach(|| -> PyResult<Vec<Complex64>> {
            let plain = self.0.decrypt(cipher.full()).map_err(|e| Failure::ckks(&e))?;
            Ok(codec::decode(&plain)?)
        })?;
        Ok(PyArray1::from_vec(py, slots))
    }

    /// Writes the secret key to a file that only its owner may read, atomically. No copy of it stays in memory.
    ///
    /// Args:
    ///     path: the file. An existing file stays unchanged unless `overwrite` is true: what a secret key
    ///     encrypted would be lost. overwrite: write over a file.
    ///
    /// Raises
    /// ------
    ///     FileFormatError: the file cannot be written, or there is one that is no secret key.
    ///     SecretError: there is a secret key.
    #[pyo3(signature = (path, *, overwrite = false))]
    fn save_secret(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = given)] path: PathBuf,
        #[pyo3(from_py_with = given)] overwrite: bool,
    ) -> PyResult<()> {
        py.detach(|| {
            let saved =
                if overwrite { replace_secret_key(&self.0, &path) } else { save_secret_key(&self.0, &path) };
            Ok(saved.map_err(|e| refused(&e))?)
        })
    }

    /// Reads what `save_secret` wrote, or the bytes of `export_secret`. No copy of it stays in memory.
    ///
    /// Raises
    /// ------
    ///     FileFormatError: a file that cannot be read, is damaged or of another kind.
    ///     MismatchError: a key of other parameters.
    #[staticmethod]
    fn load(
        py: Python<'_>,
        params: Arg<Bound<'_, Params>>,
        #[pyo3(from_py_with = given)] path: PathBuf,
    ) -> PyResult<Self> {
        let params = params.get();
        py.detach(|| Ok(Self(load_secret_key(&params.inner, path).map_err(|e| Failure::file(&e))?)))
    }

    /// The secret key as bytes for a file, which Python does not wipe: `save_secret` leaves none. Every
    /// reader of them can decrypt everything.
    fn export_secret<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut bytes = Zeroizing::new(Vec::new());
        write_secret_key(&self.0, &mut *bytes).map_err(|e| Failure::file(&e))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Reads what `export_secret` wrote.
    ///
    /// Raises
    /// ------
    ///     FileFormatError: damaged bytes, or another kind of file.
    ///     MismatchError: a key of other parameters; no bytes.
    #[staticmethod]
    fn from_bytes(
        params: Arg<Bound<'_, Params>>,
        #[pyo3(from_py_with = given)] data: &[u8],
    ) -> PyResult<Self> {
        let key = secret_key_from_bytes(&params.get().inner, data).map_err(|e| Failure::file(&e))?;
        Ok(Self(key))
    }

    fn __repr__(&self) -> String {
        format!("SecretKey(hidden; {})", self.0.params())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(Failure::rule(
            Family::Secret,
            "Pickle",
            "a secret key does not pickle or copy, so that it cannot leave the process by accident; use \
             export_secret() and a file that only its owner can read",
        )
        .into())
    }
}

/// A key that encrypts.
#[derive(FromPyObject)]
pub(crate) enum Key<'py> {
    Public(Bound<'py, PublicKey>),
    Secret(Bound<'py, SecretKey>),
}

/// What a secret key may have made.
#[derive(FromPyObject)]
pub(crate) enum Made<'py> {
    Public(Bound<'py, PublicKey>),
    Evaluation(Bound<'py, EvaluationKeys>),
}

/// A public key: encrypts, and decrypts nothing.
#[pyclass(frozen, module = "ringmill._native")]
pub(crate) struct PublicKey(pub(crate) ckks::PublicKey);

#[pymethods]
impl PublicKey {
    /// The parameters that it was made for.
    #[getter]
    fn params(&self) -> Params {
        self.0.params().clone().into()
    }

    /// The identity of the secret key that it was made with: 16 hexadecimal digits that are independent of
    /// it, the same for all that belongs to it. `None` for files from before version 3.
    #[getter]
    fn identity(&self) -> Option<String> {
        self.0.identity().map(|identity| identity.to_string())
    }

    /// Whether encryptions are made modulo one prime more and divided by it, which leaves 4 to 5 bits less error. Keys of files from
    /// before version 6 do not, nor do those of OpenFHE.
    #[getter]
    fn divides(&self) -> bool {
        self.0.divides()
    }

    /// Encrypts a vector.
    ///
    /// Args:
    ///     values: real or complex numbers in one dimension, at most N/2; slots beyond them hold 0.
    ///     slots: packed slots, a power of two from 1 to N/2; the least that holds the values by default.
    ///     level: 0 to `max_level`, which is the default.
    ///     magnitude: bound on the size of the values, 1 if none is declared; it is public, and files carry it.
    ///     scale: the exact scale as text, as `Params.scale_at` and `Ciphertext.scale` give it; 2^`scale_bits` by default.
    ///
    /// Raises
    /// ------
    ///     EncodingError: values that are not finite, too many, or too large for the level; another number of
    ///     slots; a magnitude that does not bound them; an invalid scale. LevelError: another level.
    #[pyo3(signature = (values, *, slots = None, level = None, magnitude = None, scale = None))]
    #[allow(clippy::too_many_arguments)] // named in Python
    fn encrypt(
        &self,
        py: Python<'_>,
        values: Arg<PyArrayLike1<'_, Complex64, AllowTypeChange>>,
        slots: Option<&Bound<'_, PyAny>>,
        level: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = given)] magnitude: Option<f64>,
        #[pyo3(from_py_with = given)] scale: Option<&str>,
    ) -> PyResult<Ciphertext> {
        let values = values.as_array().to_vec();
        let packing = Packing::of(self.0.params(), slots, level, magnitude, scale)?;
        py.detach(|| {
            let plain = encode(self.0.params(), &values, packing)?;
            let cipher = self.0.encrypt(&plain, &mut randomness()?).map_err(|e| Failure::ckks(&e))?;
            Ok(cipher.into())
        })
    }

    /// A ciphertext plus an encryption of noise under this key, which re-randomises it and floods its error.
    ///
    /// Args:
    ///     cipher: under the secret key of this one. noise: N whole numbers, the coefficients of the noise in units of 1/scale.
    ///     deviation: the standard deviation that they were drawn with. seed: 32 bytes that no other ciphertext is made by.
    ///
    /// Raises
    /// ------
    ///     MismatchError: a ciphertext of other parameters or another secret key, another number of coefficients, or a seed of other
    ///     length.
    fn sanitise(
        &self,
        py: Python<'_>,
        cipher: Arg<Bound<'_, Ciphertext>>,
        noise: Arg<PyReadonlyArray1<'_, i64>>,
        #[pyo3(from_py_with = given)] deviation: f64,
        #[pyo3(from_py_with = given)] seed: &[u8],
    ) -> PyResult<Ciphertext> {
        let Ok(seed) = <[u8; 32]>::try_from(seed) else {
            let message = format!("the argument seed has {} bytes; give 32 fresh ones", seed.len());
            return Err(Failure::rule(Family::Mismatch, "Seed", &message).into());
        };
        if !(deviation.is_finite() && deviation >= 0.0) {
            let message = format!("the argument deviation is {deviation:?}; give a number from 0 on");
            return Err(Failure::rule(Family::Parameter, "Deviation", &message).into());
        }
        let coefficients = noise.as_array().to_vec();
        let whole = cipher.get().full().clone();
        py.detach(|| {
            let mut randomness = Randomness::from_seed(SecretSeed::from_bytes(seed));
            let flooding = Flooding { coefficients: &coefficients, deviation };
            let evaluator = Evaluator::new(self.0.params()).map_err(|e| Failure::face(&e))?;
            let made = evaluator.sanitise(&whole, &self.0, flooding, &mut randomness);
            Ok(made.map_err(|e| Failure::face(&e))?.into())
        })
    }

    /// The key as bytes for a file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.0.to_bytes().map_err(|e| Failure::file(&e))?))
    }

    /// Reads what `to_bytes` wrote.
    ///
    /// Raises
    /// ------
    ///     FileFormatError: damaged bytes, or another kind of file.
    ///     MismatchError: keys of other parameters; no bytes.
    #[staticmethod]
    fn from_bytes(
        params: Arg<Bound<'_, Params>>,
        #[pyo3(from_py_with = given)] data: &[u8],
    ) -> PyResult<Self> {
        let key = ckks::PublicKey::from_bytes(&params.get().inner, data);
        Ok(Self(key.map_err(|e| Failure::file(&e))?))
    }

    /// Reads a file that holds what `to_bytes` wrote: no more of it than such a key has.
    ///
    /// Raises
    /// ------
    ///     FileFormatError: a file that cannot be read, is damaged or of another kind.
    ///     MismatchError: a key of other parameters.
    #[staticmethod]
    fn load(
        py: Python<'_>,
        params: Arg<Bound<'_, Params>>,
        #[pyo3(from_py_with = given)] path: PathBuf,
    ) -> PyResult<Self> {
        let params = params.get();
        py.detach(|| Ok(Self(ckks::PublicKey::load(&params.inner, path).map_err(|e| Failure::file(&e))?)))
    }

    fn __repr__(&self) -> String {
        format!("PublicKey({})", self.0.params())
    }
}

/// Why a secret key was not saved.
fn refused(error: &FileError) -> Failure {
    let FileError::Exists { path } = error else { return Failure::file(error) };
    let other = "Choose another file, or give overwrite=True";
    if File::open(path).is_ok_and(|file| inspect(file).is_ok_and(|info| info.kind == Kind::SecretKey)) {
        let lost = "is a secret key, and what it encrypted could not be decrypted any more";
        return Failure::rule(
            Family::Secret,
            "SecretExists",
            &format!("{} {lost}. {other}.", path.display()),
        );
    }
    let message =
        format!("{} exists already, and a secret key replaces no file unasked. {other}.", path.display());
    Failure::rule(Family::File, "Exists", &message)
}
