//! Files of other libraries, for `ringmill.interop`.

pub(crate) mod openfhe;
pub(crate) mod seal;

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use ringmill_ckks::Scale;
use ringmill_interop::Declared;

use crate::error::{Failure, Family};

/// Where an object is read from.
#[derive(FromPyObject)]
pub(crate) enum Source {
    /// Its bytes.
    Bytes(Vec<u8>),
    /// A file.
    Path(PathBuf),
}

impl Source {
    /// What `read` makes of it.
    pub(crate) fn read<T>(
        self,
        read: impl FnOnce(&mut dyn BufRead) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        match self {
            Self::Bytes(bytes) => read(&mut &bytes[..]),
            Self::Path(path) => {
                let unreadable = |e: std::io::Error| {
                    let message = format!("{} cannot be read: {e}", path.display());
                    Failure::rule(Family::File, "Io", &message)
                };
                let file = File::open(&path).map_err(unreadable)?;
                read(&mut BufReader::with_capacity(1 << 20, file))
            }
        }
    }
}

/// The bytes that `write` puts out.
pub(crate) fn written<'py>(
    py: Python<'py>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), Failure> + Send,
) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = py.detach(|| {
        let mut bytes = Vec::new();
        write(&mut bytes)?;
        bytes.flush().map_err(|e| Failure::rule(Family::File, "Io", &e.to_string()))?;
        Ok::<_, Failure>(zeroize::Zeroizing::new(bytes))
    })?;
    Ok(PyBytes::new(py, &bytes))
}

/// What a user says of a ciphertext.
pub(crate) fn declared(
    scale: Option<&str>,
    magnitude: Option<f64>,
    error_log2: Option<f64>,
    slots: Option<usize>,
) -> Result<Declared, Failure> {
    let scale: Option<Scale> =
        scale.map(str::parse).transpose().map_err(|e| Failure::of(Family::Encoding, &e))?;
    let positive = |bound: f64| bound.is_finite() && bound > 0.0;
    if magnitude.is_some_and(|bound| !positive(bound)) || error_log2.is_some_and(|error| !error.is_finite()) {
        let message =
            "A magnitude is a positive number, and error_log2 a finite one. Leave out what is not known.";
        return Err(Failure::rule(Family::Encoding, "BadBound", message));
    }
    Ok(Declared { scale, magnitude, error_log2, slots })
}
