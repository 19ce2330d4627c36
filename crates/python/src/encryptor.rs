//! The simulated encryption engine of a client; see `ringmill.encryptor`.

use std::path::PathBuf;

use numpy::{AllowTypeChange, Complex64, PyArray1, PyArrayLike1};
use pyo3::prelude::*;

use ringmill::Encryptor as Engine;
use ringmill::encryptor::EncryptorRefusal;
use ringmill_interop::seal::convert::fresh_name;

use crate::argument::{Arg, given};
use crate::cipher::Ciphertext;
use crate::codec;
use crate::error::{Failure, Family};
use crate::interop::seal::{plaintext_of, seed_of};
use crate::interop::{Source, declared};
use crate::keys::{Key, PublicKey, SecretKey};
use crate::packing::{Packing, encode, randomness};

include!(concat!(env!("OUT_DIR"), "/encryptor.rs"));

/// Every file of the encryption engine by its path in the repository: waivers, sources in order of compilation, and the shell that
/// makes a library of it.
#[pyfunction]
pub(crate) fn encryptor_files() -> Vec<(&'static str, &'static str)> {
    ENCRYPTOR.to_vec()
}

fn refused(error: EncryptorRefusal) -> Failure {
    match error {
        EncryptorRefusal::Ckks(error) => Failure::ckks(&error),
        EncryptorRefusal::Engine(error) => Failure::of(Family::Machine, &error),
        other => Failure::of(Family::Machine, &other),
    }
}

/// The simulated encryption engine, built for ciphertexts of one level.
#[pyclass(frozen, module = "ringmill._native")]
pub(crate) struct Encryptor(Engine);

#[pymethods]
impl Encryptor {
    /// Loads an engine.
    #[new]
    fn new(#[pyo3(from_py_with = given)] path: PathBuf) -> PyResult<Self> {
        Ok(Self(Engine::load(&path).map_err(refused)?))
    }

    /// Encrypts a vector, as the key's own `encrypt`; the ciphertext, and the cycles that it takes.
    #[pyo3(signature = (key, values, *, slots = None, level = None, magnitude = None, scale = None))]
    #[allow(clippy::too_many_arguments)] // named in Python
    fn encrypt(
        &self,
        py: Python<'_>,
        key: Arg<Key<'_>>,
        values: Arg<PyArrayLike1<'_, Complex64, AllowTypeChange>>,
        slots: Option<&Bound<'_, PyAny>>,
        level: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = given)] magnitude: Option<f64>,
        #[pyo3(from_py_with = given)] scale: Option<&str>,
    ) -> PyResult<(Ciphertext, u64)> {
        let values = values.as_array().to_vec();
        let params = match &*key {
            Key::Public(key) => key.get().0.params(),
            Key::Secret(key) => key.get().0.params(),
        };
        let packing = Packing::of(params, slots, level, magnitude, scale)?;
        match &*key {
            Key::Public(key) => {
                let key = &key.get().0;
                py.detach(|| {
                    let plain = encode(params, &values, packing)?;
                    let (cipher, cycles) =
                        self.0.encrypt(key, &plain, &mut randomness()?).map_err(refused)?;
                    Ok((cipher.into(), cycles))
                })
            }
            Key::Secret(key) => {
                let key = &key.get().0;
                py.detach(|| {
                    let plain = encode(params, &values, packing)?;
                    let (cipher, cycles) =
                        self.0.encrypt_seeded(key, &plain, &mut randomness()?).map_err(refused)?;
                    Ok((Ciphertext::seeded(cipher), cycles))
                })
            }
        }
    }

    /// Encrypts a `Plaintext` of SEAL as SEAL does, from a seed of its generator; the ciphertext, and the cycles that it takes.
    fn encrypt_seal(
        &self,
        py: Python<'_>,
        key: Arg<Bound<'_, PublicKey>>,
        source: Source,
        seed: Arg<&[u8]>,
        #[pyo3(from_py_with = given)] scale: Option<&str>,
        #[pyo3(from_py_with = given)] magnitude: Option<f64>,
    ) -> PyResult<(Ciphertext, u64)> {
        let (key, seed) = (&key.get().0, seed_of(*seed)?);
        let declared = declared(scale, magnitude, None, None)?;
        py.detach(|| {
            let plain = plaintext_of(key.params(), source, &declared)?;
            let (cipher, cycles) =
                self.0.encrypt_seal(key, &plain, &seed, fresh_name(&seed)).map_err(refused)?;
            Ok((cipher.into(), cycles))
        })
    }

    /// Decrypts, as `SecretKey.decrypt`; all slots, and the cycles that it takes.
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        key: Arg<Bound<'_, SecretKey>>,
        cipher: Arg<Bound<'_, Ciphertext>>,
    ) -> PyResult<(Bound<'py, PyArray1<Complex64>>, u64)> {
        let (key, cipher) = (&key.get().0, cipher.get());
        let (slots, cycles) = py.detach(|| -> PyResult<(Vec<Complex64>, u64)> {
            let (plain, cycles) = self.0.decrypt(key, cipher.full()).map_err(refused)?;
            Ok((codec::decode(&plain)?, cycles))
        })?;
        Ok((PyArray1::from_vec(py, slots), cycles))
    }
}
