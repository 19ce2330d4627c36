//! Dead code removal.
//!
//! # Pass: remove dead values
//!
//! - Purpose: nothing is computed that no output depends on.
//! - Requires: a verified HE program, traced or managed.
//! - Guarantees: a verified program with the same outputs, instruction by instruction in the old order. Encrypted inputs stay,
//!   since they are its interface.
//! - Example:
//!
//! ```text
//! he @example traced slots 8
//! %x = input "x"
//! %y = input "y"
//! %a = rotate %x, 3
//! %b = add %x, %x
//! output "z", %b
//! end
//! ```

use crate::he::{Like, Op, Output, Program, Value};

/// The program without values that no output depends on. Encrypted inputs stay: they are its interface.
pub fn remove_dead(p: &Program) -> Program {
    let mut live = vec![false; p.instrs().len()];
    for out in p.outputs() {
        live[out.value.index()] = true;
    }
    for (v, instr) in p.values().rev() {
        live[v.index()] |= matches!(instr.op, Op::Input(_));
        if live[v.index()] {
            let like = instr.like.map(|like| like.value);
            for a in instr.op.operands().as_slice().iter().copied().chain(like) {
                live[a.index()] = true;
            }
        }
    }
    let mut new = vec![Value(0); live.len()];
    let mut instrs = Vec::with_capacity(live.len());
    for (v, instr) in p.values().filter(|(v, _)| live[v.index()]) {
        new[v.index()] = Value(instrs.len() as u32);
        let mut instr = instr.clone();
        instr.op = instr.op.map_operands(|a| new[a.index()]);
        instr.like = instr.like.map(|like| Like { value: new[like.value.index()], ..like });
        instrs.push(instr);
    }
    let outputs = p.outputs().iter().map(|o| Output { value: new[o.value.index()], ..o.clone() }).collect();
    Program { instrs, outputs, ..p.clone() }
}
