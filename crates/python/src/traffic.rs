//! What a program moves over the edge of a chip of some capacity.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use ringmill_cycles::{Capacity, Chip, Flow, Graph, RegionTraffic, Reordered, Traffic};
use ringmill_program::he::Program;
use ringmill_program::limb::LimbProgram;
use ringmill_program::lower::lower_by;

use crate::error::{Failure, Family};
use crate::executable::interruptible;
use crate::plan::Plan;
use crate::programs::Program as Given;
use crate::switching::{Costs, method_of};

/// A capacity as Python names it: how much, and whether that is bytes.
pub(crate) fn capacity((amount, in_bytes): (u64, bool)) -> Capacity {
    if in_bytes { Capacity::Bytes(amount) } else { Capacity::Limbs(amount) }
}

/// A chip as Python names it: limbs, or bytes if that is said, whether halves of keys come from seeds, and what goes first.
#[derive(Clone, Copy)]
pub(crate) struct Asked {
    capacity: Capacity,
    seeded: bool,
    by_cost: bool,
    reorder: bool,
}

/// What a program moves; where another order was looked for, the program in that order too.
struct Found {
    traffic: Traffic,
    reordered: Option<Reordered>,
}

impl Asked {
    pub(crate) fn new(amount: u64, in_bytes: bool, seeded: bool, by_cost: bool, reorder: bool) -> Self {
        Self { capacity: capacity((amount, in_bytes)), seeded, by_cost, reorder }
    }

    fn of(self, program: &LimbProgram) -> Result<Found, Failure> {
        let failed = |e| Failure::of(Family::Program, &e);
        let graph_of =
            |program: &LimbProgram| Graph::of(program).map_err(|e| Failure::of(Family::Program, &e));
        let graph = graph_of(program)?;
        let chip = Chip::new(&graph, self.capacity, self.seeded);
        let chip = chip.map(|chip| if self.by_cost { chip.by_cost() } else { chip });
        let chip = chip.map_err(failed)?;
        if !self.reorder {
            return Ok(Found { traffic: chip.traffic(&graph, None).map_err(failed)?, reordered: None });
        }
        let reordered = chip.reorder(program, &graph).map_err(failed)?;
        let traffic = chip.traffic(&graph_of(&reordered.program)?, None).map_err(failed)?;
        Ok(Found { traffic, reordered: Some(reordered) })
    }
}

/// What a limb program moves: see [`reported`].
#[pyfunction]
pub(crate) fn program_traffic<'py>(
    py: Python<'py>,
    program: Given,
    amount: u64,
    in_bytes: bool,
    seeded: bool,
    by_cost: bool,
    reorder: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let program = program.0.read()?;
    let found =
        interruptible(py, move || Asked::new(amount, in_bytes, seeded, by_cost, reorder).of(&program))?;
    reported(py, &found)
}

/// What a plan moves, whose keys are switched as the word says.
pub(crate) fn of_plan<'py>(
    py: Python<'py>,
    plan: &Plan,
    word: &str,
    costs: &Costs,
    asked: Asked,
) -> PyResult<Bound<'py, PyDict>> {
    let found = py.detach(|| -> Result<Found, Failure> {
        let program = &plan.managed.program;
        let method = method_of((&plan.params, program), word, &costs.inner)?;
        let lowered = lower_by(program, &method).map_err(|e| Failure::of(Family::Program, &e))?;
        let mut found = asked.of(&lowered.program)?;
        let regions = std::mem::take(&mut found.traffic.regions);
        found.traffic.regions = RegionTraffic::merged(regions, |label| region(program, &label));
        Ok(found)
    })?;
    reported(py, &found)
}

/// The region of a managed program that a label of its limb program belongs to: labels begin with the value that they compute.
fn region(program: &Program, label: &str) -> String {
    let value = label.split(' ').next().and_then(|word| word.strip_prefix('%')?.parse::<usize>().ok());
    let region = value.and_then(|value| program.instrs().get(value)?.region);
    region.map_or_else(String::new, |region| program.regions()[region.0 as usize].clone())
}

/// As a dictionary.
fn reported<'py>(py: Python<'py>, found: &Found) -> PyResult<Bound<'py, PyDict>> {
    let (out, traffic) = (PyDict::new(py), &found.traffic);
    if let Some(reordered) = &found.reordered {
        out.set_item("program", reordered.program.to_string())?;
        out.set_item("off_chip_as_written", reordered.off_chip.0)?;
        out.set_item("orders", (reordered.kept, reordered.tried))?;
    }
    out.set_item("limbs", traffic.capacity)?;
    out.set_item("least_limbs", traffic.least)?;
    out.set_item("word_bits", traffic.word)?;
    let (bytes, distinct) = (PyDict::new(py), PyDict::new(py));
    for flow in &traffic.flows {
        bytes.set_item(flow.flow.name(), flow.bytes)?;
        distinct.set_item(flow.flow.name(), flow.distinct)?;
        match flow.flow {
            Flow::Spill => out.set_item("spills", flow.limbs)?,
            Flow::Fill => out.set_item("refills", flow.limbs)?,
            _ => {}
        }
    }
    out.set_item("bytes", bytes)?;
    out.set_item("distinct", distinct)?;
    out.set_item("off_chip", traffic.off_chip())?;
    out.set_item("peak_limbs", traffic.live.0)?;
    out.set_item("mean_limbs", traffic.live.1)?;
    let region = |region: &RegionTraffic| -> PyResult<Bound<'py, PyDict>> {
        let row = PyDict::new(py);
        row.set_item("region", &region.label)?;
        row.set_item("instructions", region.instructions)?;
        row.set_item("off_chip", region.off_chip())?;
        row.set_item("spill", region.bytes[Flow::Spill as usize])?;
        row.set_item("fill", region.bytes[Flow::Fill as usize])?;
        row.set_item("peak_limbs", region.peak)?;
        Ok(row)
    };
    let regions: PyResult<Vec<_>> = traffic.regions.iter().map(region).collect();
    out.set_item("regions", regions?)?;
    Ok(out)
}
