//! What a file is, without knowing its parameters.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use ringmill_ckks::file::{self, FileError, Info, inspect};

use crate::argument::given;
use crate::error::Failure;
use crate::params::Params;

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
    facts(py, py.detach(|| inspect(File::open(&path).map_err(unreadable(&path))?)))
}

/// BLAKE3 of a file's bytes, as hexadecimal digits: the name of an object of a service.
#[pyfunction]
pub(crate) fn blake3_file(py: Python<'_>, #[pyo3(from_py_with = given)] path: PathBuf) -> PyResult<String> {
    let hashed = py.detach(|| {
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(File::open(&path)?)?;
        Ok(hasher.finalize().to_hex().to_string())
    });
    Ok(hashed.map_err(unreadable(&path)).map_err(|e| Failure::file(&e))?)
}

/// The keys of a file of evaluation keys, each of which can be written to a file of its own. Without parameters, a file with an
/// encapsulation key is one piece.
///
/// Raises
/// ------
///     FileFormatError: a file that is no whole file of evaluation keys.
///     MismatchError: keys of other parameters.
#[pyclass(frozen, module = "ringmill._native")]
pub(crate) struct KeyPieces {
    path: PathBuf,
    pieces: file::KeyPieces,
}

#[pymethods]
impl KeyPieces {
    #[new]
    #[pyo3(signature = (path, params=None))]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = given)] path: PathBuf,
        params: Option<Bound<'_, Params>>,
    ) -> PyResult<Self> {
        let params = params.map(|params| params.get().inner.clone());
        let found = py
            .detach(|| file::KeyPieces::find(File::open(&path).map_err(unreadable(&path))?, params.as_ref()));
        let pieces = found.map_err(|e| Failure::file(&e))?;
        Ok(Self { path, pieces })
    }

    fn __len__(&self) -> usize {
        self.pieces.len()
    }

    /// Writes one of the pieces, counted from 0, to a file.
    fn write(
        &self,
        py: Python<'_>,
        index: usize,
        #[pyo3(from_py_with = given)] path: PathBuf,
    ) -> PyResult<()> {
        if index >= self.pieces.len() {
            return Err(PyIndexError::new_err(format!(
                "there are {} pieces, none {index}",
                self.pieces.len()
            )));
        }
        let written = py.detach(|| {
            let input = File::open(&self.path).map_err(unreadable(&self.path))?;
            let out = File::create(&path);
            let out = out
                .map_err(|source| FileError::Io { action: format!("writing {}", path.display()), source })?;
            self.pieces.write(index, input, BufWriter::new(out))
        });
        Ok(written.map_err(|e| Failure::file(&e))?)
    }
}

fn unreadable(path: &Path) -> impl FnOnce(std::io::Error) -> FileError {
    move |source| FileError::Io { action: format!("reading {}", path.display()), source }
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
