//! Which instructions pass their unit together, in an order of issue.

use super::Event;
use crate::plan::{NONE, Op, Plan};

/// The passes of an order: instructions that share words and are issued one after the other.
pub(super) struct Passes {
    /// The pass of each instruction; none of those that pass alone.
    of: Vec<u32>,
    /// How many are in each.
    sizes: Vec<u32>,
}

/// The pass that a unit is in.
#[derive(Clone, Copy)]
pub(super) struct Pass {
    pub(super) number: u32,
    /// The last of its instructions, and where it runs.
    pub(super) last: u32,
    pub(super) instance: usize,
    /// What had to end before it, on a machine that does one thing at a time.
    pub(super) turn: (u64, Event),
}

impl Passes {
    pub(super) fn of(plan: &Plan<'_>, order: &[u32]) -> Self {
        let mut passes = Self { of: vec![NONE; plan.ops.len()], sizes: Vec::new() };
        let mut words = NONE;
        for &i in order {
            let op = &plan.ops[i as usize];
            let full = passes.sizes.last().is_none_or(|&size| size == op.together);
            if op.words != NONE && (op.words != words || full) {
                passes.sizes.push(0);
            }
            words = op.words;
            if words != NONE {
                passes.of[i as usize] = passes.sizes.len() as u32 - 1;
                *passes.sizes.last_mut().unwrap_or(&mut 0) += 1;
            }
        }
        passes
    }

    /// The pass of an instruction.
    pub(super) fn number(&self, i: u32) -> u32 {
        self.of[i as usize]
    }

    /// An instruction with the cycles that it holds its unit in its pass.
    pub(super) fn op(&self, plan: &Plan<'_>, i: u32) -> Op {
        let op = plan.ops[i as usize];
        match self.of[i as usize] {
            NONE => op,
            pass => Op { rows: op.shared(self.sizes[pass as usize]), ..op },
        }
    }
}
