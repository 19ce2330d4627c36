//! Orders of a program that move fewer bytes over the edge of a chip.
//!
//! The search begins with the order of the program. At each place where an operation begins, windows of some lengths are put prime by
//! prime ([`by_primes`]); an order is kept if it moves fewer bytes. So the result is never worse than the program, by the bytes
//! that [`Chip::traffic`] counts. Orders have the same instructions, so that transforms and all other work stay.

use ringmill_program::limb::{LimbProgram, Opcode};
use ringmill_program::schedule::{Reach, by_primes, in_order};

use super::{Chip, off_chip};
use crate::error::CapacityError;
use crate::graph::Graph;
use crate::outcome::live;
use crate::plan::Plan;
use crate::replay::replay;

/// Lengths of windows, in instructions: a key switch, a map's rotations, and these with its sums at N = 2^16.
const WINDOWS: [usize; 3] = [400, 1500, 4000];

/// How often the program is gone through: what one change saves may make space for another.
const ROUNDS: usize = 2;

/// Of the capacity: live limbs above this part of it are what a change has to make fewer before it is replayed. The rest is for keys
/// and plaintexts.
const FULL: (u64, u64) = (3, 4);

/// A program in another order, and what that is worth.
#[derive(Debug, Clone, PartialEq)]
pub struct Reordered {
    /// The program. Sections and buffers are dropped where the order is another one.
    pub program: LimbProgram,
    /// Bytes over the edge before and behind.
    pub off_chip: (u64, u64),
    /// Changes that were kept.
    pub kept: u32,
    /// Orders that were replayed.
    pub tried: u32,
}

impl Chip {
    /// The program in an order that moves fewer bytes over the edge of this chip, as far as one is found; else as it is.
    ///
    /// # Errors
    /// [`CapacityError::Refused`] for programs that are larger than what is counted.
    pub fn reorder(&self, program: &LimbProgram, graph: &Graph) -> Result<Reordered, CapacityError> {
        let plan = Plan::new(&self.machine, graph)?;
        let mut search = Search::new(self, &plan, program);
        for _ in 0..ROUNDS {
            let before = search.kept;
            starts(program).into_iter().for_each(|first| search.improve(first));
            if search.kept == before {
                break;
            }
        }
        let (before, tried) = (search.first, search.tried);
        if search.kept > 0 {
            let other = in_order(program, &search.order);
            // Limbs are numbered anew, and of two that are read equally late the number decides which one goes.
            let graph = Graph::of(&other)?;
            let after = self.traffic(&graph, None)?.off_chip();
            if after < before {
                return Ok(Reordered { program: other, off_chip: (before, after), kept: search.kept, tried });
            }
        }
        Ok(Reordered { program: program.clone(), off_chip: (before, before), kept: 0, tried })
    }
}

/// The instructions with which operations begin: where the first word of a label changes.
fn starts(program: &LimbProgram) -> Vec<u32> {
    let mut last = "";
    let mut all = vec![0];
    for region in program.regions() {
        let name = region.label.split(' ').next().unwrap_or_default();
        if std::mem::replace(&mut last, name) != name && (region.first as usize) < program.len() {
            all.push(region.first);
        }
    }
    all.dedup();
    all
}

struct Search<'a> {
    chip: &'a Chip,
    plan: &'a Plan<'a>,
    program: &'a LimbProgram,
    /// The place of each instruction in the plan; none of loads and stores.
    places: Vec<Option<u32>>,
    order: Vec<u32>,
    first: u64,
    bytes: u64,
    excess: u64,
    kept: u32,
    tried: u32,
}

impl<'a> Search<'a> {
    fn new(chip: &'a Chip, plan: &'a Plan<'a>, program: &'a LimbProgram) -> Self {
        let mut next = 0..;
        let place = |i| !matches!(program.opcode(i), Opcode::Load | Opcode::Store);
        let places = (0..program.len()).map(|i| place(i).then(|| next.next()).flatten()).collect();
        let order: Vec<u32> = (0..program.len() as u32).collect();
        let mut search =
            Self { chip, plan, program, places, order, first: 0, bytes: 0, excess: 0, kept: 0, tried: 0 };
        let ops = search.ops(&search.order);
        (search.bytes, search.excess) = (search.moved(&ops), search.excess(&ops));
        search.first = search.bytes;
        search
    }

    /// An order of instructions as one of the plan.
    fn ops(&self, order: &[u32]) -> Vec<u32> {
        order.iter().filter_map(|&i| self.places[i as usize]).collect()
    }

    fn moved(&self, ops: &[u32]) -> u64 {
        let schedule = replay(self.plan, ops, &self.chip.options, u64::MAX);
        schedule.map_or(u64::MAX, |schedule| off_chip(&schedule.flows))
    }

    /// Live limbs above what is full, summed over instructions.
    fn excess(&self, ops: &[u32]) -> u64 {
        let full = self.chip.limbs * FULL.0 / FULL.1;
        live(self.plan, ops).iter().map(|live| live.most.saturating_sub(full)).sum()
    }

    /// Tries the windows that begin with an instruction.
    fn improve(&mut self, first: u32) {
        for length in WINDOWS {
            for reach in [Reach::Pointwise, Reach::Raised] {
                let Some(at) = self.order.iter().position(|&i| i == first) else { return };
                let end = (at + length).min(self.order.len());
                let Some(window) = by_primes(self.program, &self.order, at..end, reach) else { continue };
                let mut order = self.order.clone();
                order[at..end].copy_from_slice(&window);
                let ops = self.ops(&order);
                let excess = self.excess(&ops);
                if excess >= self.excess {
                    continue;
                }
                self.tried += 1;
                let bytes = self.moved(&ops);
                if bytes < self.bytes {
                    (self.order, self.bytes, self.excess) = (order, bytes, excess);
                    self.kept += 1;
                }
            }
        }
    }
}
