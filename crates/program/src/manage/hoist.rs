//! Marks key switches of one operand: it is decomposed once for all of them.
//!
//! # Pass: mark rotations that share digits
//!
//! - Purpose: what several rotations of one value have in common is computed once: the digits of the value, and their raising.
//! - Requires: a managed program.
//! - Guarantees: the same program, where rotations and conjugations of one value have one group number if there are at least two.
//!   Bits do not depend on it.
//! - Example:
//!
//! ```text
//! he @example traced slots 8
//! %x = input "x"
//! %a = rotate %x, 1
//! %b = rotate %x, 2
//! %c = conj %a
//! %d = add %b, %c
//! output "y", %d
//! end
//! ```

use std::collections::BTreeMap;

use crate::he::{Op, Program, Value};

/// Numbers the groups of at least two rotations or conjugations with one operand.
pub(super) fn mark(p: &mut Program) {
    let mut members: BTreeMap<Value, Vec<usize>> = BTreeMap::new();
    for (v, instr) in p.values() {
        if let Op::Rotate { a, .. } | Op::Conj { a, .. } = instr.op {
            members.entry(a).or_default().push(v.index());
        }
    }
    for (group, members) in members.values().filter(|m| m.len() > 1).enumerate() {
        for &i in members {
            if let Op::Rotate { hoist, .. } | Op::Conj { hoist, .. } = &mut p.instrs[i].op {
                *hoist = Some(group as u32);
            }
        }
    }
}
