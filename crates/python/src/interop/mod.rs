//! Files of other libraries, for `ringmill.interop`.

pub(crate) mod openfhe;
pub(crate) mod seal;

use std::fs::File;
use std::io::{self, BufRead, Read, Write};
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use ringmill_ckks::Scale;
use ringmill_ckks::file::{FileError, replace_secret_file};
use ringmill_interop::Declared;
use zeroize::Zeroizing;

use crate::error::{Failure, Family};

/// Bytes of a file that are read at once.
const BLOCK: usize = 1 << 20;

/// Where an object is read from.
#[derive(FromPyObject)]
pub(crate) enum Source {
    /// Its bytes.
    Bytes(Vec<u8>),
    /// A file.
    Path(PathBuf),
}

/// A file by blocks. What stood in the block is wiped in the end, since it may be a secret key: `BufReader` leaves it.
pub(crate) struct Blocks {
    file: File,
    block: Zeroizing<Vec<u8>>,
    at: usize,
    end: usize,
}

impl Blocks {
    fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { file: File::open(path)?, block: Zeroizing::new(vec![0; BLOCK]), at: 0, end: 0 })
    }
}

impl Read for Blocks {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let ready = self.fill_buf()?;
        let count = ready.len().min(out.len());
        out[..count].copy_from_slice(&ready[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Blocks {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.end {
            (self.at, self.end) = (0, self.file.read(&mut self.block)?);
        }
        Ok(&self.block[self.at..self.end])
    }

    fn consume(&mut self, count: usize) {
        self.at += count;
    }
}

impl Source {
    /// From its begin.
    pub(crate) fn open(&self) -> Result<Box<dyn BufRead + '_>, Failure> {
        match self {
            Self::Bytes(bytes) => Ok(Box::new(&bytes[..])),
            Self::Path(path) => {
                let unreadable = |e: io::Error| {
                    let message = format!("{} cannot be read: {e}", path.display());
                    Failure::rule(Family::File, "Io", &message)
                };
                Ok(Box::new(Blocks::open(path).map_err(unreadable)?))
            }
        }
    }

    /// What `read` makes of it.
    pub(crate) fn read<T>(
        self,
        read: impl FnOnce(&mut dyn BufRead) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        read(&mut *self.open()?)
    }
}

/// Bytes may be a secret key.
impl Drop for Source {
    fn drop(&mut self) {
        if let Self::Bytes(bytes) = self {
            zeroize::Zeroize::zeroize(bytes);
        }
    }
}

/// Why a secret key was not written.
enum Unsaved {
    File(FileError),
    Content(Failure),
}

impl From<FileError> for Unsaved {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

/// Replaces a file of the owner's alone by what `write` puts out, of which no copy stays in memory.
pub(crate) fn save_secret(
    path: &Path,
    write: impl FnOnce(&mut File) -> Result<(), Failure>,
) -> Result<(), Failure> {
    replace_secret_file(path, |out| write(out).map_err(Unsaved::Content)).map_err(|e| match e {
        Unsaved::File(error) => Failure::file(&error),
        Unsaved::Content(failure) => failure,
    })
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
        Ok::<_, Failure>(bytes)
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
