//! What a file is, without knowing its parameters.

use std::fs::File;
use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use ringmill_ckks::file::{FileError, Info, inspect};

use crate::argument::given;
use crate::error::Failure;

/// Kind, format version, fingerprint of the parameters, identity of the secret key and bytes of residues of a
/// key, ciphertext or parameters, after the checksum was verified. The identity is `None` if it is not known
/// or the object has no secret key.
#[pyfunction]
pub(crate) fn identify<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = given)] data: &[u8],
) -> PyResult<Bound<'py, PyDict>> {
    facts(py, inspect(data))
}

/// As `identify`, of a file. Of a secret key no copy stays in memory.
#[pyfunction]
pub(crate) fn identify_file(
    py: Python<'_>,
    #[pyo3(from_py_with = given)] path: PathBuf,
) -> PyResult<Bound<'_, PyDict>> {
    let unreadable = |source| FileError::Io { action: format!("reading {}", path.display()), source };
    facts(py, py.detach(|| inspect(File::open(&path).map_err(unreadable)?)))
}

/// BLAKE3 of a file's bytes, as hexadecimal digits: the name of an object of a service.
#[pyfunction]
pub(crate) fn blake3_file(py: Python<'_>, #[pyo3(from_py_with = given)] path: PathBuf) -> PyResult<String> {
    let hashed = py.detach(|| {
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(File::open(&path)?)?;
        Ok(hasher.finalize().to_hex().to_string())
    });
    let unreadable = |source| FileError::Io { action: format!("reading {}", path.display()), source };
    Ok(hashed.map_err(unreadable).map_err(|e| Failure::file(&e))?)
}

fn facts(py: Python<'_>, info: Result<Info, FileError>) -> PyResult<Bound<'_, PyDict>> {
    let info = info.map_err(|e| Failure::file(&e))?;
    let facts = PyDict::new(py);
    facts.set_item("kind", info.kind.to_string())?;
    facts.set_item("version", info.version)?;
    facts.set_item("fingerprint", info.fingerprint.to_string())?;
    facts.set_item("identity", info.identity.map(|identity| identity.to_string()))?;
    facts.set_item("payload", info.payload)?;
    Ok(facts)
}
