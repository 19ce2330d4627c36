//! Instructions that no output depends on, removed.
//!
//! # Pass: remove dead limbs
//!
//! - Purpose: no limb is computed that no output depends on.
//! - Requires: a verified limb program.
//! - Guarantees: a verified program with the same inputs and outputs and the same bits, in the old order. Values are numbered anew,
//!   buffers are dropped, and sections keep what stays of them.
//! - Example:
//!
//! ```text
//! limb example : 2^4 {
//!   modulus q0 = 1073741441
//!   input data a : eval q0 q0
//!   output y : eval q0
//!   %0 = add a.0, a.1 : q0 eval
//!   %1 = mul a.0, a.1 : q0 eval
//!   store %0 -> y.0
//! }
//! ```
//!
//! A lowering computes every limb of every value; where a later operation drops to a lower level, the limbs above it
//! were not needed, nor what only they needed.

use super::program::{LimbProgram, Region};
use super::section::Section;
use super::types::{LimbType, Operand, ValueId};

impl LimbProgram {
    /// The program without instructions that no output depends on; values are numbered anew, in the order of their
    /// definitions, and buffers are dropped. Inputs and outputs stay as declared.
    #[must_use]
    pub fn without_dead(&self) -> Self {
        let needed = self.needed();
        let mut out = Self {
            nodes: Vec::with_capacity(self.nodes.len()),
            operands: Vec::with_capacity(self.operands.len()),
            value_types: Vec::new(),
            regions: Vec::new(),
            sections: Vec::new(),
            allocation: None,
            ..self.clone()
        };
        // How many instructions before each one stay.
        let mut kept = vec![0u32; self.len() + 1];
        let mut number = vec![ValueId(0); self.values()];
        let mut regions = self.regions.iter().peekable();
        for i in (0..self.len()).filter(|&i| needed[i]) {
            // Of the regions that began since the last instruction kept, the last one holds this one.
            let begun = std::iter::from_fn(|| regions.next_if(|r| r.first as usize <= i)).last();
            if let Some(region) = begun {
                out.regions.push(Region { label: region.label.clone(), first: out.nodes.len() as u32 });
            }
            let node = self.nodes[i];
            let operands =
                self.operands(i).iter().map(|&o| o.value().map_or(o, |v| number[v.index()].into()));
            let operands: Vec<Operand> = operands.collect();
            let dst = match self.defined(i) {
                Some(v) => {
                    number[v.index()] = define(&mut out.value_types, self.value_type(v));
                    number[v.index()].0
                }
                None => node.dst,
            };
            out.push_node(node.op, dst, operands, node.immediate);
        }
        for (i, &needed) in needed.iter().enumerate() {
            kept[i + 1] = kept[i] + u32::from(needed);
        }
        out.sections = self.moved_sections(&kept);
        out
    }

    /// The sections where instruction i has become instruction `to[i]`; those without instructions are left out.
    pub(crate) fn moved_sections(&self, to: &[u32]) -> Vec<Section> {
        let moved = |s: &Section| Section { first: to[s.first as usize], end: to[s.end as usize], ..*s };
        self.sections.iter().map(moved).filter(|s| s.first < s.end).collect()
    }

    /// Which instructions an output depends on.
    fn needed(&self) -> Vec<bool> {
        let mut value = vec![false; self.values()];
        let mut needed = vec![false; self.len()];
        for i in (0..self.len()).rev() {
            needed[i] = self.defined(i).is_none_or(|v| value[v.index()]);
            if needed[i] {
                for v in self.operands(i).iter().filter_map(|o| o.value()) {
                    value[v.index()] = true;
                }
            }
        }
        needed
    }
}

fn define(types: &mut Vec<LimbType>, ty: LimbType) -> ValueId {
    types.push(ty);
    ValueId(types.len() as u32 - 1)
}

#[cfg(test)]
mod tests {
    use crate::limb::parse;

    #[test]
    fn what_no_output_needs_goes_with_its_region() {
        let head =
            "limb t : 2^4 {\n  modulus q0 = 1073741441\n  input data a : eval q0\n  output y : eval q0\n";
        let text = format!(
            "{head}region one\n%0 = neg a.0 : q0 eval\nregion two\n%1 = neg %0 : q0 eval\n%2 = neg %1 : q0 eval
region three\n%4 = neg a.0 : q0 eval\n%3 = add %0, %4 : q0 eval\nstore %3 -> y.0\nregion four\n}}\n"
        );
        let want = format!(
            "{head}region one\n  %0 = neg a.0 : q0 eval\nregion three\n  %1 = neg a.0 : q0 eval
  %2 = add %0, %1 : q0 eval\n  store %2 -> y.0\n}}\n"
        );
        let program = parse(&text).unwrap().without_dead();
        assert_eq!(program.to_string(), want);
        assert!(program.without_dead() == program);
    }
}
