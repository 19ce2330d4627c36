//! What a program takes on a machine, without running it.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use ringmill::machine::MachineSpec;
use ringmill_program::limb::{LimbProgram, parse};
use ringmill_program::lower::lower_by;

use crate::argument::Arg;
use crate::error::{Failure, Family};
use crate::executable::interruptible;
use crate::machines::{self, Named};
use crate::plan::Plan;
use crate::switching::method_of;

/// What a limb program takes on a machine: `{"cycles", "seconds", "counters", "busy", "parts", "energy", "spans",
/// "by"}`, none where nothing is known; `spans` are (unit, what, first cycle, cycle after the last), `parts` say where all cycles
/// went, `energy` is in joules.
#[pyfunction]
pub(crate) fn estimate_program<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = crate::argument::given)] text: &str,
    machine: Arg<Named>,
) -> PyResult<Bound<'py, PyDict>> {
    let program = parse(text).map_err(|e| Failure::of(Family::Program, &e))?;
    estimated(py, machine.0.spec()?, move || Ok(program))
}

/// The same of a plan, whose keys are switched as the word says.
pub(crate) fn of_plan<'py>(
    py: Python<'py>,
    plan: &Plan,
    switching: &str,
    machine: Named,
) -> PyResult<Bound<'py, PyDict>> {
    let (spec, word) = (machine.spec()?, switching.to_owned());
    let (params, program) = (plan.params.clone(), plan.managed.program.clone());
    let of = spec.clone();
    estimated(py, spec, move || {
        let costs = machines::open(&of)?.costs().map_err(|e| Failure::face(&e.into()))?;
        let method = method_of((&params, &program), &word, &costs)?;
        let lowered = lower_by(&program, &method).map_err(|e| Failure::of(Family::Program, &e))?;
        Ok(lowered.program)
    })
}

fn estimated<'py>(
    py: Python<'py>,
    spec: MachineSpec,
    program: impl FnOnce() -> Result<LimbProgram, Failure> + Send + 'static,
) -> PyResult<Bound<'py, PyDict>> {
    let timing = interruptible(py, move || spec.estimate(&program()?).map_err(|e| Failure::face(&e.into())))?;
    let reported = PyDict::new(py);
    reported.set_item("cycles", timing.cycles)?;
    reported.set_item("seconds", timing.seconds)?;
    for (name, rows) in [("counters", timing.counters), ("busy", timing.busy)] {
        let counts = PyDict::new(py);
        for (name, count) in rows {
            counts.set_item(&*name, count)?;
        }
        reported.set_item(name, counts)?;
    }
    reported.set_item("parts", timing.parts)?;
    reported.set_item("energy", timing.energy)?;
    let spans: Vec<_> = timing.spans.into_iter().map(|s| (s.unit, s.what, s.start, s.end)).collect();
    reported.set_item("spans", spans)?;
    reported.set_item("by", timing.by)?;
    Ok(reported)
}

/// Spans as the JSON that trace viewers such as Perfetto open; a cycle is a microsecond where no clock is known.
#[pyfunction]
#[pyo3(signature = (spans, ghz=None))]
pub(crate) fn trace_events(spans: Vec<(String, String, u64, u64)>, ghz: Option<f64>) -> PyResult<String> {
    let mut out = Vec::new();
    let rows = spans.iter().map(|(unit, what, start, end)| (&**unit, &**what, *start, *end));
    ringmill::machine::timing::trace(&mut out, rows, ghz)?;
    String::from_utf8(out).map_err(|e| pyo3::exceptions::PyValueError::new_err(e.to_string()))
}
