//! Instructions that pass a unit together: sums of the same words with other keys, conversions of the same sources to other primes.
//!
//! An array that meets one word with several factors in a cycle is used in full only where a program has as many sums of that word.
//! A pass takes the cycles of one of them alone, and each an equal part of it.

use std::collections::HashMap;

use super::{FREE, Op, Plan};
use crate::graph::{Class, Kind, Value};

/// Words that nothing shares, and no pass.
pub(crate) const NONE: u32 = u32::MAX;

impl Op {
    /// Cycles that it holds its unit in a pass of `many`.
    pub(crate) fn shared(&self, many: u32) -> u32 {
        self.rows.div_ceil(many).max(self.ports)
    }
}

/// Finds the words that instructions share, and how many of these a pass holds.
pub(super) fn find(plan: &mut Plan<'_>) {
    let mut known: HashMap<(u16, u32, Vec<Value>), u32> = HashMap::new();
    let mut sizes: Vec<u32> = Vec::new();
    for i in 0..plan.ops.len() {
        let op = &plan.ops[i];
        if op.unit == FREE || plan.machine.units[usize::from(op.unit)].together == 1 {
            continue;
        }
        let words = words(plan, op);
        if words.is_empty() {
            continue;
        }
        let number = *known.entry((op.unit, op.terms, words)).or_insert(sizes.len() as u32);
        if number as usize == sizes.len() {
            sizes.push(0);
        }
        sizes[number as usize] += 1;
        plan.ops[i].words = number;
    }
    for op in plan.ops.iter_mut().filter(|op| op.words != NONE) {
        op.together = plan.machine.units[usize::from(op.unit)].together.min(sizes[op.words as usize]);
    }
}

/// What an instruction reads that others can read with it, in order; nothing of what passes alone.
fn words(plan: &Plan<'_>, op: &Op) -> Vec<Value> {
    let reads = plan.reads(op);
    let limb = |v: &Value| plan.graph.limbs[*v as usize];
    match op.kind {
        Kind::DotKey => {
            let key = |v: &Value| matches!(limb(v).class, Class::Key | Class::SeededKey);
            reads.iter().copied().filter(|v| !key(v)).collect()
        }
        Kind::DotPlain => reads.iter().copied().filter(|v| !limb(v).plain).collect(),
        // The quotient of a conversion stands behind its sources.
        Kind::Quotient | Kind::Convert | Kind::ConvertFast => {
            reads[..reads.len().min(op.terms as usize)].to_vec()
        }
        _ => Vec::new(),
    }
}
