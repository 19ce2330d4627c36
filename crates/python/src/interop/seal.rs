//! Files of SEAL.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{AllowTypeChange, Complex64, PyArray1, PyArrayLike1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use zeroize::Zeroizing;

use ringmill_interop::Declared;
use ringmill_interop::seal::convert;
use ringmill_interop::seal::{
    Ciphertext as SealCiphertext, EncryptionParameters, KSwitchKeys, Object, Plaintext, PrngKind,
    PublicKey as SealPublicKey, SEED, SealError, SecretKey as SealSecretKey, Style,
};

use super::{Source, declared, save_secret, written};
use crate::argument::{Arg, given};
use crate::cipher::Ciphertext;
use crate::codec;
use crate::error::{Failure, Family};
use crate::evaluation::EvaluationKeys;
use crate::keys::{PublicKey, SecretKey};
use crate::packing::{Packing, encode};
use crate::params::Params;

fn refused(error: &SealError) -> Failure {
    match error {
        SealError::OtherParameters { .. } | SealError::NotInSeal { .. } => {
            Failure::of(Family::Mismatch, error)
        }
        SealError::Parameters { source } => Failure::of(Family::Parameter, source),
        SealError::Content { source, .. } => Failure::ckks(source),
        SealError::UnknownChoice { .. } | SealError::Seed { .. } => Failure::of(Family::Parameter, error),
        SealError::InexactScale { .. } => Failure::of(Family::Encoding, error),
        _ => Failure::of(Family::File, error),
    }
}

/// The one object of a source.
fn read<T: Object>(context: &T::Context, source: Source) -> Result<T, Failure> {
    source.read(|mut input| {
        let object = T::read(context, &mut input).map_err(|e| refused(&e))?;
        let mut more = [0];
        match input.read(&mut more) {
            Ok(0) => Ok(object),
            Ok(_) => Err(refused(&SealError::Trailing { what: T::NAME, more: 1 })),
            Err(source) => Err(refused(&SealError::Io { action: "reading", source })),
        }
    })
}

fn context(params: &ringmill_ckks::Params) -> Result<EncryptionParameters, Failure> {
    convert::encryption_parameters(params).map_err(|e| refused(&e))
}

fn style(version: &str, compression: &str) -> Result<Style, Failure> {
    let version = version.parse().map_err(|e| refused(&e))?;
    Ok(Style { version, compression: compression.parse().map_err(|e| refused(&e))? })
}

fn write<'py, T: Object<Context = EncryptionParameters>>(
    py: Python<'py>,
    params: &ringmill_ckks::Params,
    (version, compression): (&str, &str),
    object: impl FnOnce() -> Result<T, SealError> + Send,
) -> PyResult<Bound<'py, PyBytes>> {
    let (context, style) = (context(params)?, style(version, compression)?);
    written(py, |out| object().and_then(|object| object.write(&context, out, style)).map_err(|e| refused(&e)))
}

/// Reads `EncryptionParameters`.
#[pyfunction]
pub(crate) fn seal_parameters(
    py: Python<'_>,
    source: Source,
    scale_bits: Option<u32>,
    insecure: bool,
) -> PyResult<Params> {
    py.detach(|| {
        let parameters: EncryptionParameters = read(&(), source)?;
        let params = convert::params(&parameters, scale_bits, insecure).map_err(|e| refused(&e))?;
        Ok(params.into())
    })
}

/// Writes `EncryptionParameters`.
#[pyfunction]
pub(crate) fn seal_parameters_bytes<'py>(
    py: Python<'py>,
    params: Arg<Bound<'_, Params>>,
    #[pyo3(from_py_with = given)] version: &str,
    #[pyo3(from_py_with = given)] compression: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let (parameters, style) = (context(&params.get().inner)?, style(version, compression)?);
    written(py, |out| parameters.write(&(), out, style).map_err(|e| refused(&e)))
}

/// Reads a `SecretKey`.
#[pyfunction]
pub(crate) fn seal_secret_key(
    py: Python<'_>,
    params: Arg<Bound<'_, Params>>,
    source: Source,
) -> PyResult<SecretKey> {
    let params = &params.get().inner;
    py.detach(|| {
        let key: SealSecretKey = read(&context(params)?, source)?;
        Ok(SecretKey(convert::secret_key(params, &key).map_err(|e| refused(&e))?))
    })
}

/// Replaces a file of the owner's alone by a `SecretKey`, of which no copy stays in memory unless it is compressed.
#[pyfunction]
pub(crate) fn seal_save_secret_key(
    py: Python<'_>,
    secret: Arg<Bound<'_, SecretKey>>,
    path: PathBuf,
    #[pyo3(from_py_with = given)] version: &str,
    #[pyo3(from_py_with = given)] compression: &str,
) -> PyResult<()> {
    let secret = &secret.get().0;
    let (context, style) = (context(secret.params())?, style(version, compression)?);
    py.detach(|| {
        let key = convert::from_secret_key(secret).map_err(|e| refused(&e))?;
        Ok(save_secret(&path, |out| key.write(&context, out, style).map_err(|e| refused(&e)))?)
    })
}

/// Reads a `PublicKey`.
#[pyfunction]
pub(crate) fn seal_public_key(
    py: Python<'_>,
    params: Arg<Bound<'_, Params>>,
    source: Source,
) -> PyResult<PublicKey> {
    let params = &params.get().inner;
    py.detach(|| {
        let key: SealPublicKey = read(&context(params)?, source)?;
        Ok(PublicKey(convert::public_key(params, &key).map_err(|e| refused(&e))?))
    })
}

/// Draws a `PublicKey` and writes it.
#[pyfunction]
pub(crate) fn seal_new_public_key_bytes<'py>(
    py: Python<'py>,
    secret: Arg<Bound<'_, SecretKey>>,
    #[pyo3(from_py_with = given)] version: &str,
    #[pyo3(from_py_with = given)] compression: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let secret = &secret.get().0;
    write(py, secret.params(), (version, compression), || convert::new_public_key(secret))
}

/// Reads `RelinKeys` and `GaloisKeys`, either of which may be missing.
#[pyfunction]
pub(crate) fn seal_evaluation_keys(
    py: Python<'_>,
    params: Arg<Bound<'_, Params>>,
    relin: Option<Source>,
    galois: Option<Source>,
) -> PyResult<EvaluationKeys> {
    let params = &params.get().inner;
    py.detach(|| {
        let context = context(params)?;
        let read =
            |source: Option<Source>| source.map(|source| read::<KSwitchKeys>(&context, source)).transpose();
        let (relin, galois) = (read(relin)?, read(galois)?);
        let keys =
            convert::evaluation_keys(params, relin.as_ref(), galois.as_ref()).map_err(|e| refused(&e))?;
        Ok(EvaluationKeys(Arc::new(keys)))
    })
}

/// Writes `RelinKeys`.
#[pyfunction]
pub(crate) fn seal_relin_keys_bytes<'py>(
    py: Python<'py>,
    keys: Arg<Bound<'_, EvaluationKeys>>,
    #[pyo3(from_py_with = given)] version: &str,
    #[pyo3(from_py_with = given)] compression: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let keys = &keys.get().0;
    let relin = keys.relin().map_err(|e| Failure::ckks(&e))?;
    write(py, keys.params(), (version, compression), || convert::from_relin_key(relin))
}

/// Writes `GaloisKeys`.
#[pyfunction]
pub(crate) fn seal_galois_keys_bytes<'py>(
    py: Python<'py>,
    keys: Arg<Bound<'_, EvaluationKeys>>,
    #[pyo3(from_py_with = given)] version: &str,
    #[pyo3(from_py_with = given)] compression: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let keys = &keys.get().0;
    write(py, keys.params(), (version, compression), || convert::from_galois(keys.galois()))
}

/// Reads a `Ciphertext`.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // named in Python
pub(crate) fn seal_ciphertext(
    py: Python<'_>,
    params: Arg<Bound<'_, Params>>,
    source: Source,
    #[pyo3(from_py_with = given)] scale: Option<&str>,
    magnitude: Option<f64>,
    error_log2: Option<f64>,
    slots: Option<usize>,
) -> PyResult<Ciphertext> {
    let (params, declared) = (&params.get().inner, declared(scale, magnitude, error_log2, slots)?);
    py.detach(|| {
        let cipher: SealCiphertext = read(&context(params)?, source)?;
        Ok(convert::ciphertext(params, &cipher, &declared).map_err(|e| refused(&e))?.into())
    })
}

/// Writes a `Ciphertext`.
#[pyfunction]
pub(crate) fn seal_ciphertext_bytes<'py>(
    py: Python<'py>,
    cipher: Arg<Bound<'_, Ciphertext>>,
    #[pyo3(from_py_with = given)] version: &str,
    #[pyo3(from_py_with = given)] compression: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let cipher = cipher.get().full().clone();
    let params = cipher.params().clone();
    write(py, &params, (version, compression), || convert::from_ciphertext(&cipher))
}

/// Reads a `Plaintext` and decodes it.
#[pyfunction]
pub(crate) fn seal_plaintext<'py>(
    py: Python<'py>,
    params: Arg<Bound<'_, Params>>,
    source: Source,
    #[pyo3(from_py_with = given)] scale: Option<&str>,
) -> PyResult<Bound<'py, PyArray1<Complex64>>> {
    let (params, declared) = (&params.get().inner, declared(scale, None, None, None)?);
    let values = py.detach(|| codec::decode(&plaintext_of(params, source, &declared)?))?;
    Ok(PyArray1::from_vec(py, values))
}

/// Encrypts a `Plaintext` as SEAL does.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // named in Python
pub(crate) fn seal_encrypt(
    py: Python<'_>,
    key: Arg<Bound<'_, PublicKey>>,
    source: Source,
    seed: Arg<&[u8]>,
    #[pyo3(from_py_with = given)] generator: &str,
    #[pyo3(from_py_with = given)] scale: Option<&str>,
    #[pyo3(from_py_with = given)] magnitude: Option<f64>,
) -> PyResult<Ciphertext> {
    let (key, seed) = (&key.get().0, seed_of(*seed)?);
    let kind: PrngKind = generator.parse().map_err(|e| refused(&e))?;
    let declared = declared(scale, magnitude, None, None)?;
    py.detach(|| {
        let plain = plaintext_of(key.params(), source, &declared)?;
        Ok(convert::encrypt(key, &plain, kind, &seed).map_err(|e| refused(&e))?.into())
    })
}

/// Reads a `Plaintext` to be encrypted.
pub(crate) fn plaintext_of(
    params: &ringmill_ckks::Params,
    source: Source,
    declared: &Declared,
) -> Result<ringmill_ckks::Plaintext, Failure> {
    let plain: Plaintext = read(&context(params)?, source)?;
    convert::plaintext(params, &plain, declared).map_err(|e| refused(&e))
}

/// The seed of a generator of SEAL.
pub(crate) fn seed_of(bytes: &[u8]) -> Result<Zeroizing<[u8; SEED]>, Failure> {
    let seed: Result<[u8; SEED], _> = bytes.try_into();
    seed.map(Zeroizing::new).map_err(|_| refused(&SealError::Seed { found: bytes.len() }))
}

/// Encodes numbers and writes them as a `Plaintext`.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // named in Python
pub(crate) fn seal_plaintext_bytes<'py>(
    py: Python<'py>,
    params: Arg<Bound<'_, Params>>,
    values: Arg<PyArrayLike1<'_, Complex64, AllowTypeChange>>,
    level: Option<&Bound<'_, PyAny>>,
    #[pyo3(from_py_with = given)] scale: Option<&str>,
    magnitude: f64,
    #[pyo3(from_py_with = given)] version: &str,
    #[pyo3(from_py_with = given)] compression: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let params = &params.get().inner;
    let all = params.slots().into_pyobject(py)?.into_any();
    let packing = Packing::of(params, Some(&all), level, Some(magnitude), scale)?;
    let plain = encode(params, &values.as_array().to_vec(), packing)?;
    write(py, params, (version, compression), || convert::from_plaintext(&plain))
}

/// Adds the functions of this file to the module.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(seal_parameters, module)?)?;
    module.add_function(wrap_pyfunction!(seal_parameters_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(seal_secret_key, module)?)?;
    module.add_function(wrap_pyfunction!(seal_save_secret_key, module)?)?;
    module.add_function(wrap_pyfunction!(seal_public_key, module)?)?;
    module.add_function(wrap_pyfunction!(seal_new_public_key_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(seal_evaluation_keys, module)?)?;
    module.add_function(wrap_pyfunction!(seal_relin_keys_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(seal_galois_keys_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(seal_ciphertext, module)?)?;
    module.add_function(wrap_pyfunction!(seal_ciphertext_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(seal_encrypt, module)?)?;
    module.add_function(wrap_pyfunction!(seal_plaintext, module)?)?;
    module.add_function(wrap_pyfunction!(seal_plaintext_bytes, module)?)?;
    Ok(())
}
