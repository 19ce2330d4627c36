//! What a program moves over the edge of a chip of some capacity: the second pass without times.
//!
//! Every instruction takes no time, and every limb one place. What is left of [`replay`](crate::replay) is Belady's choice (1966): where
//! there is no place, the limb with the farthest next use goes, and is written if no copy is off chip. Operands and result of an
//! instruction are there at once, so it takes a place for each. Results of the program are written once.

mod choose;
mod search;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

pub use choose::{Candidate, Choice, choose};
pub use search::Reordered;

use crate::description::{Channel, Description, Memory, Mode, Pack, Run, Unit};
use crate::error::CapacityError;
use crate::expression::Expression;
use crate::graph::{Class, Graph, Kind};
use crate::outcome::{FlowBytes, Live, flows, live, most_and_mean};
use crate::plan::Plan;
use crate::replay::{Flow, Options, Schedule, replay};

/// How much a chip holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capacity {
    /// A number of limbs.
    Limbs(u64),
    /// A number of bytes, of limbs whose words are as long as the longest prime of the program.
    Bytes(u64),
}

/// A chip without times.
#[derive(Debug, Clone)]
pub struct Chip {
    machine: Description,
    word: u32,
    limbs: u64,
    least: u64,
    options: Options,
}

/// What a program moves over the edge of a chip.
#[derive(Debug, Clone, PartialEq)]
pub struct Traffic {
    /// Limbs that the chip holds.
    pub capacity: u64,
    /// Bits of a word on chip.
    pub word: u32,
    /// The least capacity, in limbs: what one instruction reads and writes.
    pub least: u64,
    /// Bytes and limbs of each kind. Those that are expanded from seeds come from nowhere.
    pub flows: Vec<FlowBytes>,
    /// Most results of instructions that are still to be read, and the mean over instructions.
    pub live: (u64, f64),
    /// The same by label, in the order in which labels first stand in the program.
    pub regions: Vec<RegionTraffic>,
}

/// What a region of a program moves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegionTraffic {
    /// Its label; empty before the first one.
    pub label: String,
    /// Its instructions.
    pub instructions: u64,
    /// Bytes of each kind, in the order of [`Flow::ALL`].
    pub bytes: [u64; Flow::ALL.len()],
    /// Most results that are still to be read at one of its instructions.
    pub peak: u64,
}

impl RegionTraffic {
    /// A region that does nothing.
    pub const fn named(label: String) -> Self {
        Self { label, instructions: 0, bytes: [0; Flow::ALL.len()], peak: 0 }
    }

    /// Both together, under the label of the first.
    pub fn merge(&mut self, other: &Self) {
        self.instructions += other.instructions;
        self.bytes.iter_mut().zip(other.bytes).for_each(|(all, one)| *all += one);
        self.peak = self.peak.max(other.peak);
    }

    /// Regions under other labels, each label once, in the order in which labels first occur; those without instructions are left out.
    pub fn merged(all: Vec<Self>, name: impl Fn(String) -> String) -> Vec<Self> {
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut merged: Vec<Self> = Vec::new();
        for region in all.into_iter().filter(|region| region.instructions > 0) {
            let label = name(region.label.clone());
            let place = *places.entry(label.clone()).or_insert(merged.len());
            match merged.get_mut(place) {
                Some(into) => into.merge(&region),
                None => merged.push(Self { label, ..region }),
            }
        }
        merged
    }

    /// Bytes that pass the edge.
    pub fn off_chip(&self) -> u64 {
        let passes = |(flow, _): &(Flow, u64)| *flow != Flow::Expanded;
        Flow::ALL.into_iter().zip(self.bytes).filter(passes).map(|(_, bytes)| bytes).sum()
    }
}

impl Traffic {
    /// Bytes of a kind.
    pub fn bytes(&self, flow: Flow) -> u64 {
        self.flows.iter().find(|f| f.flow == flow).map_or(0, |f| f.bytes)
    }

    /// Bytes that pass the edge of the chip.
    pub fn off_chip(&self) -> u64 {
        self.flows.iter().filter(|f| f.flow != Flow::Expanded).map(|f| f.bytes).sum()
    }
}

/// A machine of these words and of a memory of this size, whose times count for nothing.
fn machine(word: u32, bytes: u64, seeded: bool) -> Description {
    let once = || Expression::fixed(1);
    let seeds = Unit {
        name: "seeds".into(),
        count: 1,
        rows: once(),
        first: once(),
        last: once(),
        width: 1,
        reads: None,
        writes: None,
        accumulators: None,
        together: 1,
        chained: true,
        buffers: 0,
        in_clusters: false,
    };
    let memory =
        Memory { name: "limbs".into(), bytes, banks: 1, bytes_per_cycle: None, holds: Class::ALL.into() };
    let edge = Channel {
        name: "edge".into(),
        millibytes_per_cycle: 1000,
        latency: 0,
        beat: 1,
        pack: Pack::Prime,
        queue: None,
        carries: Class::ALL.into(),
    };
    Description {
        name: "capacity".into(),
        title: "a chip without times".into(),
        word_bits: word,
        ghz: 1.0,
        mode: Mode::Parallel,
        clusters: 1,
        technology: None,
        units: vec![seeds],
        runs: [Some(Run::Free); Kind::COUNT],
        memories: vec![memory],
        channels: vec![edge],
        expand: seeded.then_some(0),
        network: 0,
        area: None,
        energy: None,
        sources: Vec::new(),
    }
}

impl Chip {
    /// A chip for a program. With `seeded` the uniform halves of keys are made on chip, and take no bytes.
    ///
    /// # Errors
    /// [`CapacityError::Least`] for a chip that does not hold what one instruction reads and writes.
    pub fn new(graph: &Graph, capacity: Capacity, seeded: bool) -> Result<Self, CapacityError> {
        let word = graph.limbs.iter().map(|limb| u32::from(limb.bits)).max().unwrap_or(1).max(1);
        let limb_bits = u128::from(graph.n()) * u128::from(word);
        let limbs = match capacity {
            Capacity::Limbs(limbs) => limbs,
            Capacity::Bytes(bytes) => (u128::from(bytes) * 8 / limb_bits) as u64,
        };
        let widest = graph.nodes.iter().max_by_key(|node| node.len);
        let least = widest.map_or(0, |node| u64::from(node.len) + 1);
        if limbs < least {
            return Err(CapacityError::Least {
                program: graph.name().into(),
                limbs,
                least,
                kind: widest.map_or("", |node| node.kind.name()),
                bytes: (u128::from(least) * limb_bits).div_ceil(8) as u64,
            });
        }
        let bytes = u64::try_from((u128::from(limbs) * limb_bits).div_ceil(8)).unwrap_or(u64::MAX);
        let machine = machine(word, bytes, seeded);
        Ok(Self { machine, word, limbs, least, options: Options::default() })
    }

    /// The same chip where what is cheap to bring back goes first: [`Options::by_cost`].
    #[must_use]
    pub fn by_cost(self) -> Self {
        Self { options: Options { by_cost: true, ..self.options }, ..self }
    }

    /// What a program moves if its instructions run in an order that it allows; in its own if none is given.
    ///
    /// # Errors
    /// [`CapacityError::Least`] where one instruction needs more limbs, [`CapacityError::Refused`] for a graph that the machine does not
    /// run.
    pub fn traffic(&self, graph: &Graph, order: Option<&[u32]>) -> Result<Traffic, CapacityError> {
        let plan = Plan::new(&self.machine, graph)?;
        let own: Vec<u32>;
        let order = match order {
            Some(order) => order,
            None => {
                own = (0..plan.ops.len() as u32).collect();
                &own
            }
        };
        let Some(schedule) = replay(&plan, order, &self.options, u64::MAX) else {
            unreachable!("no run takes longer than all time")
        };
        let each = live(&plan, order);
        Ok(Traffic {
            capacity: self.limbs,
            word: self.word,
            least: self.least,
            flows: flows(&plan, &schedule),
            live: most_and_mean(&each),
            regions: regions(&plan, &schedule, order, &each),
        })
    }
}

/// Bytes of transfers that pass the edge, in the order of [`Flow::ALL`].
fn off_chip(flows: &[(u64, u64); Flow::ALL.len()]) -> u64 {
    let each = Flow::ALL.into_iter().zip(flows);
    each.filter(|(flow, _)| *flow != Flow::Expanded).map(|(_, (bytes, _))| bytes).sum()
}

/// What each region moves. A limb is moved for the instruction that needs it, or that needs its place.
fn regions(plan: &Plan<'_>, schedule: &Schedule, order: &[u32], live: &[Live]) -> Vec<RegionTraffic> {
    let labels = &plan.graph.regions;
    let of = |op: u32| plan.graph.region_of(plan.ops[op as usize].node).map_or(0, |region| region + 1);
    let mut all: Vec<RegionTraffic> = Vec::with_capacity(labels.len() + 1);
    all.push(RegionTraffic::named(String::new()));
    all.extend(labels.iter().map(|(label, _)| RegionTraffic::named(label.clone())));
    for (&op, live) in order.iter().zip(live) {
        let region = &mut all[of(op)];
        region.instructions += 1;
        region.peak = region.peak.max(live.most);
    }
    for t in &schedule.transfers {
        // A result that never was on chip, an input that leaves again, is of no instruction.
        let region = if (t.op as usize) < plan.ops.len() { of(t.op) } else { 0 };
        all[region].bytes[t.flow as usize] += plan.homes[t.value as usize].bytes;
    }
    RegionTraffic::merged(all, |label| label)
}
