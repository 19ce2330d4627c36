//! What the instructions of an HE program are used for: what to leave out, what to merge, how far limbs reach.

use std::collections::HashMap;

use crate::he::{Op, Program, Type, Value};

/// The most limbs of any value (inputs count whether needed or not), and whether there is a key switch.
pub(super) fn reach(he: &Program, needed: &[bool]) -> (usize, bool) {
    let limbs = he.values().map(|(_, instr)| limbs(&instr.ty)).max().unwrap_or(0);
    let is_switch = |op: &Op| op.switches_keys() || matches!(op, Op::Raise { .. });
    (limbs, he.values().any(|(v, instr)| needed[v.index()] && is_switch(&instr.op)))
}

pub(super) fn limbs(ty: &Type) -> usize {
    match ty {
        Type::Ct(t) => t.level.limbs(),
        Type::Pt(t) => t.level.limbs(),
        Type::TracedCt | Type::TracedPt => 0,
    }
}

/// `_0`, `_1` and, before relinearisation, `_2`.
pub(super) fn part_suffixes(ty: &Type) -> Vec<String> {
    let parts = if let Type::Ct(t) = ty { t.parts } else { 1 };
    (0..parts).map(|i| format!("_{i}")).collect()
}

/// Which values some output depends on.
pub(super) fn needed(he: &Program) -> Vec<bool> {
    let mut needed = vec![false; he.instrs().len()];
    for out in he.outputs() {
        needed[out.value.index()] = true;
    }
    for (v, instr) in he.values().rev() {
        if needed[v.index()] {
            for a in instr.op.operands().as_slice() {
                needed[a.index()] = true;
            }
        }
    }
    needed
}

/// How often each value is read by what some output needs, or is an output.
pub(super) fn uses(he: &Program, needed: &[bool]) -> Vec<u32> {
    let mut uses = vec![0u32; needed.len()];
    for (_, instr) in he.values().filter(|(v, _)| needed[v.index()]) {
        for a in instr.op.operands().as_slice() {
            uses[a.index()] += 1;
        }
    }
    for out in he.outputs() {
        uses[out.value.index()] += 1;
    }
    uses
}

/// Key switches whose only use is a rescale.
pub(super) fn merged(he: &Program, needed: &[bool], uses: &[u32]) -> HashMap<Value, Value> {
    he.values()
        .filter(|(v, _)| needed[v.index()])
        .filter_map(|(v, instr)| match instr.op {
            Op::Rescale(a) => Some((a, v)),
            _ => None,
        })
        .filter(|(a, _)| uses[a.index()] == 1)
        .filter(|(a, _)| matches!(he.instr(*a).op, Op::Relin(_) | Op::Rotate { .. } | Op::Conj { .. }))
        .collect()
}
