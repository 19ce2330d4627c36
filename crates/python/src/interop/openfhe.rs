//! Files of OpenFHE.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use ringmill_interop::openfhe::convert;
use ringmill_interop::openfhe::{
    Ciphertext as TheirCiphertext, Context, EvalKeys, EvalMultKeys, Form, Object, OpenFheError, PrivateKey,
    PublicKey as TheirPublicKey,
};

use super::{Source, declared, save_secret, written};
use crate::argument::{Arg, given};
use crate::cipher::Ciphertext;
use crate::error::{Failure, Family};
use crate::evaluation::EvaluationKeys;
use crate::keys::{PublicKey, SecretKey};
use crate::params::Params;

fn refused(error: &OpenFheError) -> Failure {
    use OpenFheError as E;
    match error {
        E::OtherContext { .. } | E::Unsupported { .. } | E::Tags { .. } => {
            Failure::of(Family::Mismatch, error)
        }
        E::Parameters { source } => Failure::of(Family::Parameter, source),
        E::Content { source, .. } => Failure::ckks(source),
        E::InexactScale { .. } => Failure::of(Family::Encoding, error),
        _ => Failure::of(Family::File, error),
    }
}

/// What is said of a file that is gone while it is read.
fn gone() -> std::io::Error {
    ErrorKind::NotFound.into()
}

fn read<T: Object>(source: Source) -> Result<T, Failure> {
    source.read(|input| T::read(input).map_err(|e| refused(&e)))
}

fn write<'py, T: Object + Send>(
    py: Python<'py>,
    form: &str,
    object: impl FnOnce() -> Result<T, OpenFheError> + Send,
) -> PyResult<Bound<'py, PyBytes>> {
    let form: Form = form.parse().map_err(|e| refused(&e))?;
    written(py, |out| object().and_then(|mut object| object.write(out, form)).map_err(|e| refused(&e)))
}

/// A crypto context of OpenFHE, with the tag of a secret key if it is known.
#[pyclass(frozen, module = "ringmill._native")]
pub(crate) struct OpenFheContext {
    context: Context,
    tag: String,
    params: ringmill_ckks::Params,
}

#[pymethods]
impl OpenFheContext {
    /// Reads the context of a file, whatever else the file holds.
    #[staticmethod]
    fn load(py: Python<'_>, source: Source, insecure: bool) -> PyResult<Self> {
        py.detach(|| {
            // The file is opened once for each kind; that it cannot be is said here.
            drop(source.open()?);
            let again = || source.open().map_err(|_| OpenFheError::Io { action: "reading", source: gone() });
            let (context, tag) = convert::any_context(again).map_err(|e| refused(&e))?;
            let params = convert::params(&context, insecure).map_err(|e| refused(&e))?;
            Ok(Self { context, tag, params })
        })
    }

    /// A context for parameters that were chosen here.
    #[staticmethod]
    fn of(params: Arg<Bound<'_, Params>>) -> PyResult<Self> {
        let params = params.get().inner.clone();
        let context = convert::context(&params).map_err(|e| refused(&e))?;
        Ok(Self { context, tag: String::new(), params })
    }

    /// The same context, with the tag of a secret key.
    fn tagged(&self, #[pyo3(from_py_with = given)] tag: &str) -> Self {
        Self { context: self.context.clone(), tag: tag.into(), params: self.params.clone() }
    }

    /// The parameters.
    #[getter]
    fn params(&self) -> Params {
        self.params.clone().into()
    }

    /// The tag of the secret key, empty if it is not known.
    #[getter]
    fn tag(&self) -> &str {
        &self.tag
    }

    /// The scaling technique, by its number.
    #[getter]
    fn scaling(&self) -> u32 {
        self.context.settings.scaling
    }

    /// The context as a file.
    fn to_bytes<'py>(&self, py: Python<'py>, form: &str) -> PyResult<Bound<'py, PyBytes>> {
        write(py, form, || Ok(self.context.clone()))
    }

    /// Reads a private key.
    fn secret_key(&self, py: Python<'_>, source: Source) -> PyResult<SecretKey> {
        py.detach(|| {
            let key: PrivateKey = read(source)?;
            Ok(SecretKey(convert::secret_key(&self.params, &key).map_err(|e| refused(&e))?))
        })
    }

    /// Replaces a file of the owner's alone by a private key, of which no copy stays in memory.
    fn save_secret_key(
        &self,
        py: Python<'_>,
        secret: Arg<Bound<'_, SecretKey>>,
        path: PathBuf,
        form: &str,
    ) -> PyResult<()> {
        let (secret, form): (_, Form) = (&secret.get().0, form.parse().map_err(|e| refused(&e))?);
        py.detach(|| {
            let key = convert::from_secret_key(secret, &self.context, &self.tag);
            let mut key = key.map_err(|e| refused(&e))?;
            Ok(save_secret(&path, |out| key.write(out, form).map_err(|e| refused(&e)))?)
        })
    }

    /// Reads a public key.
    fn public_key(&self, py: Python<'_>, source: Source) -> PyResult<PublicKey> {
        py.detach(|| {
            let key: TheirPublicKey = read(source)?;
            Ok(PublicKey(convert::public_key(&self.params, &key).map_err(|e| refused(&e))?))
        })
    }

    /// Writes a public key.
    fn public_key_bytes<'py>(
        &self,
        py: Python<'py>,
        key: Arg<Bound<'_, PublicKey>>,
        form: &str,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let key = &key.get().0;
        write(py, form, || convert::from_public_key(key, &self.context, &self.tag))
    }

    /// Reads relinearisation and automorphism keys, either of which may be missing.
    fn evaluation_keys(
        &self,
        py: Python<'_>,
        mult: Option<Source>,
        automorphism: Option<Source>,
    ) -> PyResult<EvaluationKeys> {
        py.detach(|| {
            let mult = mult.map(read::<EvalMultKeys>).transpose()?;
            let automorphism = automorphism.map(read::<EvalKeys>).transpose()?;
            let keys = convert::evaluation_keys(&self.params, mult.as_ref(), automorphism.as_ref());
            Ok(EvaluationKeys(Arc::new(keys.map_err(|e| refused(&e))?)))
        })
    }

    /// Writes the relinearisation key.
    fn mult_key_bytes<'py>(
        &self,
        py: Python<'py>,
        keys: Arg<Bound<'_, EvaluationKeys>>,
        form: &str,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let keys = &keys.get().0;
        let relin = keys.relin().map_err(|e| Failure::ckks(&e))?;
        write(py, form, || convert::from_relin_key(relin, &self.context, &self.tag))
    }

    /// Writes the automorphism keys.
    fn automorphism_keys_bytes<'py>(
        &self,
        py: Python<'py>,
        keys: Arg<Bound<'_, EvaluationKeys>>,
        form: &str,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let keys = &keys.get().0;
        write(py, form, || convert::from_galois(keys.galois(), &self.context, &self.tag))
    }

    /// Reads a ciphertext.
    #[allow(clippy::too_many_arguments)] // named in Python
    fn ciphertext(
        &self,
        py: Python<'_>,
        source: Source,
        #[pyo3(from_py_with = given)] scale: Option<&str>,
        magnitude: Option<f64>,
        error_log2: Option<f64>,
        slots: Option<usize>,
    ) -> PyResult<Ciphertext> {
        let declared = declared(scale, magnitude, error_log2, slots)?;
        py.detach(|| {
            let cipher: TheirCiphertext = read(source)?;
            Ok(convert::ciphertext(&self.params, &cipher, &declared).map_err(|e| refused(&e))?.into())
        })
    }

    /// Writes a ciphertext.
    fn ciphertext_bytes<'py>(
        &self,
        py: Python<'py>,
        cipher: Arg<Bound<'_, Ciphertext>>,
        form: &str,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let cipher = cipher.get().full().clone();
        write(py, form, || convert::from_ciphertext(&cipher, &self.context, &self.tag))
    }

    fn __repr__(&self) -> String {
        format!("Context({}, tag {:?})", self.params, self.tag)
    }
}

/// Adds the class to the module.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<OpenFheContext>()
}
