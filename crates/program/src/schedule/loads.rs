//! Explicit loads, for machines that compute on local memory only.
//!
//! # Pass: load inputs
//!
//! - Purpose: a machine that computes on local memory alone reads no limb where the caller keeps it.
//! - Requires: a verified limb program, and the classes of inputs that are to be loaded.
//! - Guarantees: a verified program with the same inputs and outputs and the same bits. Each input limb of these classes is loaded
//!   once, before its first use, and no other instruction reads it. The order stays; an allocation is dropped.
//! - Example, for data:
//!
//! ```text
//! limb example : 2^4 {
//!   modulus q0 = 1073741441
//!   input data a : eval q0
//!   input key k : eval q0
//!   output y : eval q0
//!   %0 = mul a.0, k.0 : q0 eval
//!   %1 = add %0, a.0 : q0 eval
//!   store %1 -> y.0
//! }
//! ```

use std::collections::HashMap;

use crate::limb::{InputClass, LimbProgram, LimbType, Opcode, Operand, Region, Source, ValueId};

/// The program with every input limb of the given classes copied into a value by `load`, once, before its first use.
/// Allocation and order of the old program are dropped and kept, respectively.
pub fn load_inputs(program: &LimbProgram, classes: &[InputClass]) -> LimbProgram {
    let mut out = program.emptied();
    let mut loaded: HashMap<Operand, Operand> = HashMap::new();
    let mut regions = program.regions().iter().peekable();
    for i in 0..program.len() {
        while let Some(r) = regions.next_if(|r| r.first as usize <= i) {
            out.regions.push(Region { label: r.label.clone(), first: out.nodes.len() as u32 });
        }
        let mut operands = program.operands(i).to_vec();
        if program.opcode(i) != Opcode::Load {
            for operand in &mut operands {
                let Source::Input(input) = operand.source() else { continue };
                if classes.contains(&program.input_group(input).class) {
                    let ty = program.operand_type(*operand);
                    *operand = *loaded.entry(*operand).or_insert_with_key(|&input| load(&mut out, input, ty));
                }
            }
        }
        let node = program.nodes[i];
        out.push_node(node.op, node.dst, operands, node.immediate);
    }
    out.regions.extend(regions.map(|r| Region { label: r.label.clone(), first: out.nodes.len() as u32 }));
    out
}

fn load(out: &mut LimbProgram, input: Operand, ty: LimbType) -> Operand {
    let dst = ValueId(out.value_types.len() as u32);
    out.value_types.push(ty);
    out.push_node(Opcode::Load, dst.0, [input], 0);
    dst.into()
}
