//! Programs apart from kernels: limb programs as values and files, HE programs without their vectors.

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use ringmill_ckks::file::FileError;
use ringmill_program::he::{self, Outline, Tables, TablesError};
use ringmill_program::limb::{self, BinaryError, parse};

use crate::argument::{Arg, Wanted, given};
use crate::error::{Failure, Family};
use crate::executable::interruptible;

/// A text is shorter than this: half a gigabyte is 9 million instructions.
const TEXT_MAX: u64 = 1 << 29;

/// With what the compact form begins.
const COMPACT: &[u8] = b"RMLIMB";

/// A limb program, verified: operations on residue polynomials, as docs/limb-program.md describes them.
#[pyclass(frozen, module = "ringmill._native")]
pub(crate) struct LimbProgram(pub(crate) Arc<limb::LimbProgram>);

fn of_text(text: &str) -> Result<limb::LimbProgram, Failure> {
    parse(text).map_err(|e| Failure::of(Family::Program, &e))
}

fn of_compact(from: impl Read) -> Result<limb::LimbProgram, Failure> {
    limb::LimbProgram::read_binary(from).map_err(|e| match e {
        BinaryError::Verify { .. } | BinaryError::Declarations { .. } => Failure::of(Family::Program, &e),
        _ => Failure::of(Family::File, &e),
    })
}

fn io(doing: &str, path: &Path) -> impl FnOnce(std::io::Error) -> Failure {
    let action = format!("{doing} {}", path.display());
    |source| Failure::file(&FileError::Io { action, source })
}

#[pymethods]
impl LimbProgram {
    /// Reads the text form.
    ///
    /// Raises
    /// ------
    ///     ProgramError: what is wrong, with its line.
    #[staticmethod]
    fn parse(py: Python<'_>, #[pyo3(from_py_with = given)] text: &str) -> PyResult<Self> {
        let text = text.to_owned();
        interruptible(py, move || Ok(Self(Arc::new(of_text(&text)?))))
    }

    /// Reads the compact form.
    ///
    /// Raises
    /// ------
    ///     FileFormatError: what is wrong, with its byte.
    ///     ProgramError: a program that breaks a rule.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, #[pyo3(from_py_with = given)] data: &[u8]) -> PyResult<Self> {
        let data = data.to_vec();
        interruptible(py, move || Ok(Self(Arc::new(of_compact(data.as_slice())?))))
    }

    /// Reads a file of either form: the compact one as a stream.
    ///
    /// Raises
    /// ------
    ///     FileFormatError: a file that is not there, is neither form, or is damaged.
    ///     ProgramError: a program that breaks a rule.
    #[staticmethod]
    fn load(py: Python<'_>, #[pyo3(from_py_with = given)] path: PathBuf) -> PyResult<Self> {
        interruptible(py, move || {
            let mut file = File::open(&path).map_err(io("reading", &path))?;
            let mut first = Vec::new();
            (&mut file).take(COMPACT.len() as u64).read_to_end(&mut first).map_err(io("reading", &path))?;
            let compact = first == COMPACT;
            let all = std::io::Cursor::new(first).chain(file);
            if compact {
                return Ok(Self(Arc::new(of_compact(all)?)));
            }
            let mut bytes = Vec::new();
            all.take(TEXT_MAX).read_to_end(&mut bytes).map_err(io("reading", &path))?;
            let whole = (bytes.len() as u64) < TEXT_MAX;
            let text = String::from_utf8(bytes).ok().filter(|text| whole && begins(text)).ok_or_else(|| {
                let message = format!(
                    "{} is no limb program: neither its text, which begins with the word limb, nor the compact form",
                    path.display()
                );
                Failure::rule(Family::File, "NoProgram", &message)
            })?;
            Ok(Self(Arc::new(of_text(&text)?)))
        })
    }

    /// The text form.
    fn to_text(&self, py: Python<'_>) -> PyResult<String> {
        let program = self.0.clone();
        interruptible(py, move || Ok(program.to_string()))
    }

    /// The compact form.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let program = self.0.clone();
        let bytes = interruptible(py, move || {
            let mut bytes = Vec::new();
            program.write_binary(&mut bytes).map_err(io("writing", Path::new("memory")))?;
            Ok(bytes)
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Writes a file in the compact form, or with `text` as text, as a stream; whatever stood there is replaced. Gives its bytes.
    ///
    /// Raises
    /// ------
    ///     FileFormatError: a place that cannot be written.
    #[pyo3(signature = (path, text = false))]
    fn write(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = given)] path: PathBuf,
        #[pyo3(from_py_with = given)] text: bool,
    ) -> PyResult<u64> {
        let program = self.0.clone();
        interruptible(py, move || {
            let wrong = || io("writing", &path);
            let mut out = BufWriter::new(File::create(&path).map_err(wrong())?);
            match text {
                true => write!(out, "{program}").map_err(wrong())?,
                false => program.write_binary(&mut out).map_err(wrong())?,
            }
            let file = out.into_inner().map_err(|e| wrong()(e.into_error()))?;
            file.sync_all().map_err(wrong())?;
            Ok(file.metadata().map_err(wrong())?.len())
        })
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// log2 of the ring degree.
    #[getter]
    fn log_n(&self) -> u32 {
        self.0.log_n()
    }

    /// The primes, in the order of their numbers.
    #[getter]
    fn moduli(&self) -> Vec<u64> {
        self.0.moduli().iter().map(|m| m.modulus.value()).collect()
    }

    /// Groups of input limbs: name, class, how many limbs.
    #[getter]
    fn inputs(&self) -> Vec<(String, String, usize)> {
        let row = |g: &limb::InputGroup| (g.name.clone(), g.class.to_string(), g.moduli.len());
        self.0.inputs().iter().map(row).collect()
    }

    /// Groups of output limbs: name, how many limbs.
    #[getter]
    fn outputs(&self) -> Vec<(String, usize)> {
        self.0.outputs().iter().map(|g| (g.name.clone(), g.moduli.len())).collect()
    }

    /// How many buffers it runs in; `None` before it is scheduled.
    #[getter]
    fn buffers(&self) -> Option<u32> {
        self.0.allocation().map(|a| a.buffers)
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().0 == self.0)
    }

    fn __hash__(&self) -> u64 {
        self.0.len() as u64
    }

    fn __repr__(&self) -> String {
        let (p, inputs) = (&self.0, self.0.input_types().len());
        format!(
            "LimbProgram({}, N = 2^{}; {} instructions, {} primes, {inputs} input limbs, {} output limbs)",
            p.name(),
            p.log_n(),
            p.len(),
            p.moduli().len(),
            p.output_types().len()
        )
    }
}

/// Whether a text's first line that says something begins a limb program.
fn begins(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.next().is_some_and(|line| line.starts_with("limb "))
}

/// A limb program as functions take it.
pub(crate) enum Given {
    Text(String),
    Program(Arc<limb::LimbProgram>),
}

impl Given {
    /// The program.
    pub(crate) fn read(self) -> Result<Arc<limb::LimbProgram>, Failure> {
        match self {
            Self::Text(text) => of_text(&text).map(Arc::new),
            Self::Program(program) => Ok(program),
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for Given {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(program) = given.cast::<LimbProgram>() {
            return Ok(Self::Program(program.get().0.clone()));
        }
        if given.is_instance_of::<PyString>() {
            return given.extract().map(Self::Text);
        }
        Err(PyTypeError::new_err("no program"))
    }
}

impl Wanted for Given {
    const WORDS: &'static str = "a LimbProgram, or the text of one";
}

fn tables(e: &TablesError) -> Failure {
    Failure::of(Family::File, e)
}

/// An HE program's text as one without its vectors, and the file of tables that holds them.
pub(crate) fn apart(program: &he::Program) -> Result<(String, Vec<u8>), Failure> {
    let mut bytes = Vec::new();
    Tables::of(program).write(&mut bytes).map_err(io("writing", Path::new("memory")))?;
    Ok((Outline(program).to_string(), bytes))
}

/// The text of an HE program that names its vectors, with the vectors of a file of tables in it.
#[pyfunction]
pub(crate) fn with_tables(
    py: Python<'_>,
    #[pyo3(from_py_with = given)] text: &str,
    #[pyo3(from_py_with = given)] data: &[u8],
) -> PyResult<String> {
    let (text, data) = (text.to_owned(), data.to_vec());
    interruptible(py, move || {
        let found = Tables::read(data.as_slice()).map_err(|e| tables(&e))?;
        let program = he::parse_with_tables(&text, &found).map_err(|e| Failure::he(&e))?;
        Ok(program.to_string())
    })
}

/// The text of an HE program without its vectors, and the file of tables that holds them.
#[pyfunction]
pub(crate) fn without_tables<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = given)] text: &str,
) -> PyResult<(String, Bound<'py, PyBytes>)> {
    let text = text.to_owned();
    let (text, bytes) = interruptible(py, move || apart(&he::parse(&text).map_err(|e| Failure::he(&e))?))?;
    Ok((text, PyBytes::new(py, &bytes)))
}

/// What several functions read.
pub(crate) type Program = Arg<Given>;
