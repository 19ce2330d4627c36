//! Cycles of single operations on the compact core, by the model.

use std::borrow::Cow;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use ringmill_machine::compact::workload::{Counted, Operation, Sequence, Workload, WorkloadError};
use ringmill_machine::compact::{
    self, CompactConfig, CompactLiteral, MemoryTiming, Multiplier, estimate, model,
};
use ringmill_program::lower::single::UnknownOperation;

use crate::error::{Failure, Family};
use crate::image;

/// `{"cycles", "first_cycles", "slot", "spans", …}` of an operation on a core, run again and for the first time; `spans` are (unit, what, start, end).
#[pyfunction]
#[pyo3(signature = (operation, *, log_n, butterflies, limbs, special, dnum, sequence="hybrid", times=1, word_bits=54, bus_bits=512, read_rows=64, latency=40, beat_cycles=1, effort=8000, policy="throughput"))]
#[expect(clippy::too_many_arguments, reason = "keywords of a Python function")]
pub(crate) fn compact_cycles<'py>(
    py: Python<'py>,
    operation: &str,
    log_n: u32,
    butterflies: u32,
    limbs: usize,
    special: usize,
    dnum: usize,
    sequence: &str,
    times: usize,
    word_bits: u32,
    bus_bits: u32,
    read_rows: u32,
    latency: u32,
    beat_cycles: u32,
    effort: usize,
    policy: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let operation: Operation =
        operation.parse().map_err(|e: UnknownOperation| PyValueError::new_err(e.to_string()))?;
    let policy = image::policy(policy)?;
    let sequence = match sequence {
        "hybrid" => Sequence::Hybrid,
        "casa" => Sequence::Casa,
        other => {
            return Err(PyValueError::new_err(format!("no sequence {other:?}; there are hybrid and casa")));
        }
    };
    let literal = CompactLiteral {
        word_bits,
        butterflies,
        multiplier: Multiplier::WordMontgomery,
        bus_bits,
        read_rows,
        timing: MemoryTiming { latency, beat_cycles },
        ..CompactLiteral::roomy()
    };
    let workload = Workload { operation, log_n, limbs, special, dnum, sequence, times };
    let counted = py
        .detach(|| -> Result<(CompactConfig, Counted), WorkloadError> {
            let config = literal.build()?;
            let counted = workload.count(&config, policy, effort)?;
            Ok((config, counted))
        })
        .map_err(|e| Failure::of(Family::Machine, &e))?;
    reported(py, &counted.1)
}

fn reported<'py>(py: Python<'py>, counted: &Counted) -> PyResult<Bound<'py, PyDict>> {
    let c = counted.timing.counters;
    let reported = PyDict::new(py);
    reported.set_item("cycles", c.cycles)?;
    reported.set_item("first_cycles", counted.first_cycles)?;
    reported.set_item("slot", counted.slot)?;
    reported.set_item("transform_busy", c.transform_busy)?;
    reported.set_item("arithmetic_busy", c.arithmetic_busy)?;
    reported.set_item("read_beats", c.read_beats)?;
    reported.set_item("write_beats", c.write_beats)?;
    reported.set_item("instructions", c.instructions)?;
    reported.set_item("output_ends", counted.plan.output_ends(&counted.timing.spans))?;
    reported.set_item("spans", spans(&counted.plan, &counted.timing.spans))?;
    Ok(reported)
}

/// (unit, instruction, first cycle, last cycle).
pub(crate) type Span = (Cow<'static, str>, String, u64, u64);

/// When each instruction of a plan held its units.
pub(crate) fn spans(plan: &compact::Plan, spans: &[model::Span]) -> Vec<Span> {
    let spans = estimate::spans(plan, spans);
    spans.into_iter().map(|s| (s.unit, s.what, s.start, s.end)).collect()
}
