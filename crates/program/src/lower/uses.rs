//! What the instructions of an HE program are used for: what to leave out, what to merge, how far limbs reach.

use std::collections::HashMap;

use super::{KeyId, Switch};
use crate::he::{Chain, Op, Program, Type, Value};

/// The most limbs of any value (inputs count whether needed or not), and whether there is a key switch.
pub(super) fn reach(he: &Program, chain: &Chain, needed: &[bool]) -> (usize, bool) {
    let limbs = he.values().map(|(_, instr)| limbs(chain, &instr.ty)).max().unwrap_or(0);
    let is_switch = |op: &Op| op.switches_keys() || matches!(op, Op::Raise { .. });
    (limbs, he.values().any(|(v, instr)| needed[v.index()] && is_switch(&instr.op)))
}

/// Limbs of a polynomial of a value.
pub(super) fn limbs(chain: &Chain, ty: &Type) -> usize {
    match ty {
        Type::Ct(t) => chain.limbs(t.level),
        Type::Pt(t) => chain.limbs(t.level),
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
        .filter(|(a, _)| he.instr(*a).op.switches_keys())
        .collect()
}

/// The Galois element of a rotation or a conjugation.
pub(super) fn galois(chain: &Chain, op: &Op) -> Option<u64> {
    match *op {
        Op::Rotate { k, .. } => Some(chain.galois(k as usize)),
        Op::Conj { .. } => Some(chain.galois_conjugate()),
        _ => None,
    }
}

/// The key that an instruction needs, and the operand it switches.
pub(super) fn key_of(chain: &Chain, op: &Op) -> Option<(KeyId, Value)> {
    match *op {
        Op::Relin(a) => Some((KeyId::Relin, a)),
        Op::Rotate { a, .. } | Op::Conj { a, .. } => Some((KeyId::Galois(galois(chain, op)?), a)),
        _ => None,
    }
}

/// The name under which an instruction shares digits.
pub(super) fn hoist_group(op: &Op) -> Option<u32> {
    match *op {
        Op::Rotate { hoist, .. } | Op::Conj { hoist, .. } => hoist,
        _ => None,
    }
}

/// The key switches on which an output depends, in order.
pub(super) fn switches(
    he: &Program,
    chain: &Chain,
    needed: &[bool],
    merged: &HashMap<Value, Value>,
) -> Vec<(Value, Switch)> {
    let found = he.values().filter(|(v, _)| needed[v.index()]).filter_map(|(v, instr)| {
        let (key, operand) = key_of(chain, &instr.op)?;
        Some((v, hoist_group(&instr.op), key, limbs(chain, &he.instr(operand).ty)))
    });
    let found: Vec<_> = found.collect();
    let mut members: HashMap<u32, usize> = HashMap::new();
    for group in found.iter().filter_map(|(_, group, ..)| *group) {
        *members.entry(group).or_default() += 1;
    }
    let switch = |(v, group, key, limbs): (Value, Option<u32>, KeyId, usize)| {
        let hoisted = group.map_or(1, |group| members[&group]);
        (v, Switch { key, limbs, hoisted, rescale: merged.contains_key(&v) })
    };
    found.into_iter().map(switch).collect()
}

/// The key switches of a program on which an output depends, as lowering chooses their methods; none in a traced one.
pub fn key_switches(he: &Program) -> HashMap<Value, Switch> {
    let Some(chain) = he.chain() else { return HashMap::new() };
    let needed = needed(he);
    let merged = merged(he, &needed, &uses(he, &needed));
    switches(he, chain, &needed, &merged).into_iter().collect()
}
