//! What a file is, without knowing its parameters.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use ringmill_ckks::file::inspect;

use crate::error::Failure;

/// Kind, format version, fingerprint of the parameters, identity of the secret key (`None` where it is not known or there is
/// none) and bytes of residues of a key, ciphertext or parameter file, after its checksum was verified.
#[pyfunction]
pub(crate) fn identify<'py>(py: Python<'py>, data: &[u8]) -> PyResult<Bound<'py, PyDict>> {
    let info = inspect(data).map_err(|e| Failure::file(&e))?;
    let facts = PyDict::new(py);
    facts.set_item("kind", info.kind.to_string())?;
    facts.set_item("version", info.version)?;
    facts.set_item("fingerprint", info.fingerprint.to_string())?;
    facts.set_item("identity", info.identity.map(|identity| identity.to_string()))?;
    facts.set_item("payload", info.payload)?;
    Ok(facts)
}
