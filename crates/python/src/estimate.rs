//! What a program takes on a machine, without running it.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use ringmill::machine::{Bindings, MachineError, MachineSpec};
use ringmill_cycles::capacity::{Choice, choose};
use ringmill_cycles::{Capacity, CapacityError};
use ringmill_program::limb::LimbProgram;
use ringmill_program::lower::lower_by;

use crate::argument::Arg;
use crate::error::{Failure, Family};
use crate::executable::interruptible;
use crate::machines::{self, Named};
use crate::plan::Plan;
use crate::programs::{self, Program};
use crate::switching::method_of;

/// What a limb program takes on a machine: `{"cycles", "seconds", "counters", "busy", "parts", "energy", "spans",
/// "by"}`, none where nothing is known; `spans` are (unit, what, first cycle, cycle after the last), `parts` say where all cycles
/// went, `energy` is in joules.
#[pyfunction]
pub(crate) fn estimate_program<'py>(
    py: Python<'py>,
    program: Program,
    machine: Arg<Named>,
) -> PyResult<Bound<'py, PyDict>> {
    let program = program.0;
    estimated(py, machine.0.spec()?, move || program.read())
}

/// The same of a plan, whose keys are switched as the word says.
pub(crate) fn of_plan<'py>(
    py: Python<'py>,
    plan: &Plan,
    switching: &str,
    machine: Named,
    capacity: Option<Capacity>,
) -> PyResult<Bound<'py, PyDict>> {
    let spec = machine.spec()?;
    let lowered = lowering(plan, switching, spec.clone(), capacity);
    estimated(py, spec, move || lowered().map(|(program, _)| Arc::new(program)))
}

/// The limb program of a plan, whose keys are switched as the word says.
fn lowering(
    plan: &Plan,
    switching: &str,
    machine: MachineSpec,
    capacity: Option<Capacity>,
) -> impl FnOnce() -> Result<(LimbProgram, Option<Choice>), Failure> + Send + 'static {
    let word = switching.to_owned();
    let (params, program) = (plan.params.clone(), plan.managed.program.clone());
    move || {
        let costs = machines::open(&machine)?.costs().map_err(|e| Failure::face(&e.into()))?;
        let method = method_of((&params, &program), &word, &costs)?;
        let lowered = lower_by(&program, &method).map_err(|e| Failure::of(Family::Program, &e))?;
        let Some(capacity) = capacity else { return Ok((lowered.program, None)) };
        let failed = |e: CapacityError| Failure::of(Family::Program, &e);
        let choice = choose(&lowered.program, capacity, true).map_err(failed)?;
        Ok((choice.program.clone(), Some(choice)))
    }
}

/// What a machine is given of a plan, as a value and the ways that were counted for it: see [`ways`].
pub(crate) fn of_plan_lowered<'py>(
    py: Python<'py>,
    plan: &Plan,
    switching: &str,
    machine: Named,
    capacity: Option<Capacity>,
) -> PyResult<(programs::LimbProgram, Vec<Bound<'py, PyDict>>)> {
    let lowered = lowering(plan, switching, machine.spec()?, capacity);
    let (program, choice) = interruptible(py, lowered)?;
    let ways = choice.map_or_else(|| Ok(Vec::new()), |choice| ways(py, &choice))?;
    Ok((programs::LimbProgram(Arc::new(program)), ways))
}

/// The ways to run a program that were counted for a capacity, each a dictionary.
fn ways<'py>(py: Python<'py>, choice: &Choice) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let row = |(at, way): (usize, &ringmill_cycles::capacity::Candidate)| {
        let row = PyDict::new(py);
        row.set_item("recompute", way.recompute)?;
        row.set_item("by_primes", way.by_primes)?;
        row.set_item("by_cost", way.by_cost)?;
        row.set_item("instructions", way.instructions)?;
        row.set_item("off_chip", way.off_chip)?;
        row.set_item("spilled_and_refilled", way.spilled)?;
        row.set_item("peak_limbs", way.peak)?;
        row.set_item("chosen", at == choice.chosen)?;
        Ok(row)
    };
    choice.candidates.iter().enumerate().map(row).collect()
}

/// As text, what a machine is given of a plan.
pub(crate) fn text_of_plan(py: Python<'_>, plan: &Plan, switching: &str, machine: Named) -> PyResult<String> {
    let lowered = lowering(plan, switching, machine.spec()?, None);
    interruptible(py, move || Ok(lowered()?.0.to_string()))
}

/// What a limb program gives on a machine: limbs of little-endian words, in the order of the program, as they come.
#[pyfunction]
pub(crate) fn run_program(
    py: Python<'_>,
    program: Program,
    machine: Arg<Named>,
    inputs: Vec<Vec<u8>>,
) -> PyResult<Vec<Py<PyBytes>>> {
    let program = program.0.read()?;
    let machine = machines::open(&machine.0.spec()?)?;
    let found = interruptible(py, move || {
        let failed = |e: MachineError| Failure::face(&e.into());
        let words = |bytes: &Vec<u8>| -> Vec<u64> {
            let (whole, _) = bytes.as_chunks();
            whole.iter().map(|&word| u64::from_le_bytes(word)).collect()
        };
        let limbs: Vec<_> = inputs.iter().map(words).collect();
        let limbs: Vec<&[u64]> = limbs.iter().map(Vec::as_slice).collect();
        Bindings::check_canonical(&program, &limbs).map_err(failed)?;
        let mut outputs = vec![vec![0; program.n()]; program.output_types().len()];
        let mut places: Vec<_> = outputs.iter_mut().map(Vec::as_mut_slice).collect();
        machine.prepare(&program).and_then(|e| e.run(&limbs, &mut places)).map_err(failed)?;
        Ok(outputs)
    })?;
    let bytes = |limb: &Vec<u64>| limb.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    Ok(found.iter().map(|limb| PyBytes::new(py, &bytes(limb)).unbind()).collect())
}

fn estimated<'py>(
    py: Python<'py>,
    spec: MachineSpec,
    program: impl FnOnce() -> Result<Arc<LimbProgram>, Failure> + Send + 'static,
) -> PyResult<Bound<'py, PyDict>> {
    let timing = interruptible(py, move || {
        let program = program()?;
        spec.estimate(&program).map_err(|e| Failure::face(&e.into()))
    })?;
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
