//! Machines as values, and what the CPU offers.

use std::collections::HashMap;
use std::ffi::CString;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use pyo3::exceptions::PyDeprecationWarning;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};

use ringmill::Machine;
use ringmill::machine::parameter::{Allowed, Value};
use ringmill::machine::registry::{self, MACHINES};
use ringmill::machine::{self, MachineError, SpecError};
use ringmill_machine::Cpu;
use ringmill_program::cost::CostTable;
use ringmill_ring::Process;
use ringmill_ring::ceiling::Ceilings;
use ringmill_ring::lanes::Isa;

use crate::argument::Wanted;
use crate::error::{Failure, Family};
use crate::executable::interruptible;
use crate::whole::shown;

/// A machine as a value, as `rm.machines.compact(butterflies=8)`: which one, and values for some of its options.
///
/// Machines are equal that have one name and were given the same. `str()` is the text that reads back as the same machine.
///
/// Args:
///     text: a name, or a name with options: "cpu", "cpu:threads=4", "compact:butterflies=8,word=54". docs/machines.md lists them.
///
/// Raises
/// ------
///     MachineError: a text that names no machine, an option that it has not, or a value that the option cannot have.
#[pyclass(frozen, eq, hash, module = "ringmill._native")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct MachineSpec(pub(crate) machine::MachineSpec);

fn refused(error: SpecError) -> Failure {
    Failure::face(&MachineError::from(error).into())
}

#[pymethods]
impl MachineSpec {
    #[new]
    fn new(#[pyo3(from_py_with = crate::argument::given)] text: &str) -> PyResult<Self> {
        Ok(Self(text.parse().map_err(refused)?))
    }

    /// The same machine with these options set or replaced. An option of value None stays as it is.
    ///
    /// Raises
    /// ------
    ///     MachineError: an option that the machine has not, or a value that the option cannot have.
    #[pyo3(signature = (**options))]
    fn with_options(&self, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut spec = self.0.clone();
        for (option, value) in options.into_iter().flatten().filter(|(_, value)| !value.is_none()) {
            spec = with(spec, &option.extract::<String>()?, &value)?;
        }
        Ok(Self(spec))
    }

    /// Its name, as "compact".
    #[getter]
    fn name(&self) -> &'static str {
        self.0.name()
    }

    /// The options that were given, by name.
    #[getter]
    fn options<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let options = PyDict::new(py);
        for (option, value) in self.0.given() {
            match value {
                Value::Whole(n) => options.set_item(option, n)?,
                Value::Text(text) => options.set_item(option, text)?,
            }
        }
        Ok(options)
    }

    /// The option for a file that must be built before the machine can run a program. `None` if the machine
    /// has no such option, or if it was given.
    #[getter]
    fn to_build(&self) -> Option<&'static str> {
        self.0.entry().built().filter(|option| self.0.get(option).is_none())
    }

    /// Whether runs take memory of this process as far as a program needs it.
    #[getter]
    fn computes_here(&self) -> PyResult<bool> {
        Ok(open(&self.0)?.computes_here())
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("MachineSpec({:?})", self.0.to_string())
    }

    fn __getnewargs__(&self) -> (String,) {
        (self.0.to_string(),)
    }
}

/// A whole number, whatever its size.
fn number(given: &Bound<'_, PyAny>) -> Option<i128> {
    if given.is_instance_of::<PyBool>() { None } else { given.extract().ok() }
}

/// A text, or a number that a parameter may be.
pub(crate) fn plain(given: &Bound<'_, PyAny>) -> Option<Value> {
    if let Ok(text) = given.extract::<String>() {
        return Some(text.into());
    }
    number(given).and_then(|n| u64::try_from(n).ok()).map(Value::Whole)
}

/// What Python gives for an option.
fn read(spec: &machine::MachineSpec, option: &str, given: &Bound<'_, PyAny>) -> Result<Value, Failure> {
    if let Some(value) = plain(given) {
        return Ok(value);
    }
    let settings = spec.entry().options.iter();
    let Some(parameter) = settings.map(|s| s.parameter).find(|p| p.name == option) else {
        // To be refused by its name.
        return Ok(0u64.into());
    };
    if let (Allowed::Path, Ok(path)) = (parameter.allowed, given.extract::<PathBuf>())
        && let Some(path) = path.to_str()
    {
        return Ok(path.into());
    }
    let (machine, option) = (spec.name(), parameter.name);
    let (value, allowed) = (shown(given), parameter.allowed.to_string());
    Err(refused(match number(given) {
        Some(_) => SpecError::OutOfRange { machine, option, value, allowed },
        None => SpecError::BadValue { machine, option, value, allowed },
    }))
}

/// The machine with an option as Python gives it.
pub(crate) fn with(
    spec: machine::MachineSpec,
    option: &str,
    given: &Bound<'_, PyAny>,
) -> Result<machine::MachineSpec, Failure> {
    let value = read(&spec, option, given)?;
    spec.with(option, value).map_err(refused)
}

/// Warns of an option that was given beside a machine.
pub(crate) fn deprecated(py: Python<'_>, option: &str, spec: &machine::MachineSpec) -> PyResult<()> {
    let message = format!("{option}= beside machine= will go: write machine=\"{spec}\"");
    let message = CString::new(message).unwrap_or_default();
    PyErr::warn(py, &py.get_type::<PyDeprecationWarning>(), &message, 1)
}

/// A machine as an argument: a text, or a value.
pub(crate) enum Named {
    /// A text, still to be read.
    Text(String),
    /// A value.
    Spec(MachineSpec),
}

impl Named {
    /// The machine.
    pub(crate) fn spec(self) -> Result<machine::MachineSpec, Failure> {
        match self {
            Self::Text(text) => text.parse().map_err(refused),
            Self::Spec(spec) => Ok(spec.0),
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for Named {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if given.is_instance_of::<PyString>() {
            return given.extract().map(Self::Text);
        }
        Ok(Self::Spec(given.extract::<PyRef<'_, MachineSpec>>()?.clone()))
    }
}

impl Wanted for Named {
    const WORDS: &'static str =
        "a machine, as \"cpu\", \"compact:butterflies=8\" or rm.machines.compact(butterflies=8)";
}

/// A row of the registry for Python: name, description, and the options. Of each option: its name, whether it
/// is a number, the allowed values, the default, and the meaning.
type Row = (&'static str, &'static str, Vec<(&'static str, bool, String, String, &'static str)>);

/// Every machine with its options.
#[pyfunction]
pub(crate) fn machine_table() -> Vec<Row> {
    let option = |s: &registry::Setting| {
        let p = s.parameter;
        let number = matches!(p.allowed, Allowed::Range(..) | Allowed::Numbers(_));
        (p.name, number, p.allowed.to_string(), s.left_out(), p.about)
    };
    MACHINES.map(|e| (e.name, e.about, e.options.iter().map(option).collect())).to_vec()
}

/// The machines and their options as lines of text.
#[pyfunction]
pub(crate) fn machine_help() -> String {
    registry::help()
}

/// What identifies a shared machine: the request, the process of its threads, and the instruction set.
type Shared = (machine::MachineSpec, Process, Isa);

/// The machine of a value. One that has threads, tables and memory is shared by all kernels and evaluators that ask for the same;
/// it goes with the last of them.
pub(crate) fn open(spec: &machine::MachineSpec) -> Result<Arc<dyn Machine>, Failure> {
    static SHARED: LazyLock<Mutex<HashMap<Shared, Weak<dyn Machine>>>> = LazyLock::new(Mutex::default);
    let made = || spec.open().map_err(|e| Failure::face(&e.into()));
    if !spec.entry().shared {
        return made();
    }
    let isa = Isa::detect().map_err(|e| Failure::of(Family::Machine, &e))?;
    let kind = (spec.clone(), Process::current(), isa);
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(machine) = shared.get(&kind).and_then(Weak::upgrade) {
        return Ok(machine);
    }
    let machine = made()?;
    shared.retain(|_, machine| machine.strong_count() > 0);
    shared.insert(kind, Arc::downgrade(&machine));
    Ok(machine)
}

/// The instruction set that kernels use here: detected, or chosen by RINGMILL_ISA.
#[pyfunction]
pub(crate) fn isa() -> PyResult<String> {
    let isa = Isa::detect().map_err(|e| Failure::of(Family::Machine, &e))?;
    Ok(isa.to_string())
}

/// A cost file, and what was timed for it: name, milliseconds, what the costs say.
type Calibration = (String, Vec<(String, f64, f64)>);

/// The CPU's costs at degrees 2^`log_n`, as the text of a cost file; and for each key switch that was timed its name,
/// milliseconds, and what the costs say of it.
#[pyfunction]
#[pyo3(signature = (log_n, name))]
pub(crate) fn calibrate(py: Python<'_>, log_n: Vec<u32>, name: &str) -> PyResult<Calibration> {
    let name = name.to_owned();
    interruptible(py, move || measured(&log_n, &name))
}

fn measured(log_n: &[u32], name: &str) -> Result<Calibration, Failure> {
    let machine = Cpu::new().map_err(|e| Failure::of(Family::Machine, &e))?;
    let (mut all, mut timed) = (Vec::new(), Vec::new());
    for &log_n in log_n {
        let (rates, samples) = ringmill_machine::calibrate::calibrate(&machine, log_n)
            .map_err(|e| Failure::of(Family::Machine, &e))?;
        let table = CostTable::new(name, vec![rates]).map_err(|e| Failure::of(Family::Machine, &e))?;
        timed.extend(samples.iter().map(|sample| {
            let reported = table.nanoseconds(&sample.work, log_n) / 1e6;
            (format!("2^{log_n}: {}", sample.name), sample.time.as_secs_f64() * 1e3, reported)
        }));
        all.push(rates);
    }
    let table = CostTable::new(name, all).map_err(|e| Failure::of(Family::Machine, &e))?;
    Ok((table.to_string(), timed))
}

/// What one core can do at most: words multiplied a second, bytes read from memory a second.
#[pyfunction]
pub(crate) fn ceilings(py: Python<'_>) -> PyResult<(f64, f64)> {
    let found = py.detach(|| Isa::detect().and_then(Ceilings::measure));
    let found = found.map_err(|e| Failure::of(Family::Machine, &e))?;
    Ok((found.multiplications, found.bytes))
}

/// Where the engine looks for the costs of this machine; none without a home.
#[pyfunction]
pub(crate) fn costs_path() -> Option<std::path::PathBuf> {
    ringmill::costs_path()
}
