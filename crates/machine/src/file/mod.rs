//! Machines that are described by a file: they state when everything happens, and compute no data.

mod entry;
#[cfg(test)]
mod tests;

use ringmill_cycles::{Description, Graph, Outcome, Refused, Settings, Wait, accepts, simulate};
use ringmill_program::cost::CostTable;
use ringmill_program::limb::LimbProgram;

pub use entry::ENTRY;

use crate::timing::{Span, Timing};
use crate::{Executable, Machine, MachineError, client};

/// A machine of a description.
#[derive(Debug, Clone)]
pub struct Described {
    description: Description,
}

impl Described {
    /// The machine of a name or file, as [`Description::named`] reads it.
    ///
    /// # Errors
    /// What is wrong with the description.
    pub fn named(name: &str) -> Result<Self, MachineError> {
        Ok(Self { description: Description::named(name).map_err(Box::new)? })
    }

    /// The machine of a description.
    pub const fn new(description: Description) -> Self {
        Self { description }
    }

    /// Its description.
    pub const fn description(&self) -> &Description {
        &self.description
    }

    fn unsupported(&self, program: &LimbProgram, reason: impl Into<String>) -> MachineError {
        let (machine, program) = (self.description.name.clone(), program.name().into());
        MachineError::Unsupported { machine, program, reason: reason.into() }
    }

    fn graph(&self, program: &LimbProgram) -> Result<Graph, MachineError> {
        Graph::of(program).map_err(|e| self.unsupported(program, e.to_string()))
    }

    /// All results of a simulation.
    ///
    /// # Errors
    /// [`MachineError::Unsupported`].
    pub fn simulate(&self, program: &LimbProgram, settings: &Settings) -> Result<Outcome, MachineError> {
        let refused = |e: Refused| self.unsupported(program, e.to_string());
        simulate(&self.description, &self.graph(program)?, settings).map_err(refused)
    }
}

impl Machine for Described {
    fn name(&self) -> &str {
        &self.description.name
    }

    /// Nothing is measured of it: those that ship, so that it does the same everywhere.
    fn costs(&self) -> Result<CostTable, MachineError> {
        Ok(CostTable::shipped())
    }

    fn accepts(&self, program: &LimbProgram) -> Result<(), MachineError> {
        client::check(self, program)?;
        let graph = self.graph(program)?;
        accepts(&self.description, &graph).map_err(|e| self.unsupported(program, e.to_string()))
    }

    fn estimate(&self, program: &LimbProgram) -> Result<Option<Timing>, MachineError> {
        client::check(self, program)?;
        let reported = self.simulate(program, &Settings { spans: true, ..Settings::default() })?;
        Ok(Some(timing(reported)))
    }

    fn prepare(&self, program: &LimbProgram) -> Result<Box<dyn Executable>, MachineError> {
        client::check(self, program)?;
        let reason = "it estimates time and computes no data; run the program on another machine, as cpu";
        Err(self.unsupported(program, reason))
    }
}

/// What every machine reports, from an outcome.
fn timing(reported: Outcome) -> Timing {
    let mut counters = vec![
        ("instructions".into(), reported.instructions),
        ("bound_work".into(), reported.bounds.work),
        ("bound_off_chip".into(), reported.bounds.off_chip),
        ("bound_critical_path".into(), reported.bounds.critical_path),
        ("live_limbs_peak".into(), reported.live.0),
        ("live_limbs_mean".into(), reported.live.1.round() as u64),
    ];
    for flow in &reported.flows {
        let name = flow.flow.name().replace(' ', "_");
        counters.push((format!("bytes_{name}").into(), flow.bytes));
        counters.push((format!("bytes_{name}_distinct").into(), flow.distinct));
    }
    for memory in &reported.memories {
        counters.push((format!("{}_limbs", memory.name).into(), memory.slots));
        counters.push((format!("{}_limbs_peak", memory.name).into(), memory.most));
        counters.push((format!("{}_bytes", memory.name).into(), memory.bytes));
    }
    for unit in &reported.units {
        let name = &unit.name;
        counters.push((format!("{name}_instructions").into(), unit.instructions));
        counters.push((format!("{name}_used").into(), unit.used));
        counters.push((format!("{name}_offered").into(), unit.offered));
        for &(wait, cycles) in unit.waiting.iter().filter(|(wait, _)| *wait != Wait::Turn) {
            counters.push((format!("{name}_waits_{}", wait.name().replace(' ', "_")).into(), cycles));
        }
    }
    let units = reported.units.iter().map(|u| (u.name.clone().into(), u.busy.div_ceil(u.instances.max(1))));
    let channels = reported.channels.iter().map(|c| (c.name.clone().into(), c.busy));
    let assumed = match reported.assumed.len() {
        0 => String::new(),
        count => format!("; {count} of its numbers are assumed"),
    };
    let by = format!("a static schedule on {}, issued in {}{assumed}", reported.machine, reported.order);
    let span = |s: ringmill_cycles::Span| Span {
        unit: s.unit.as_ref().to_owned().into(),
        what: s.what,
        start: s.start,
        end: s.end,
    };
    Timing {
        cycles: Some(reported.cycles),
        seconds: Some(reported.seconds),
        busy: units.chain(channels).collect(),
        counters,
        parts: reported.parts,
        energy: reported.energy,
        spans: reported.spans.into_iter().map(span).collect(),
        by,
    }
}
