//! Complex numbers that stand in every slot, in the order of powers of 3.
//!
//! Products with i are products with vectors there: the program keeps its values, with a list in place of each number with an
//! imaginary part.
//!
//! In the order of powers of 5 the number i in all slots is the polynomial X^(N/2), and a product with it costs no level.
//! X^(N/2) is i^(3^j) in slot j of the other order, by turns i and −i. The polynomial of i is none with integers there, and rounding it
//! to the scale 1 leaves nothing of it.

use std::sync::Arc;

use crate::he::{Builder, Constant, HeError, Like, Numbers, Op, Program, Value};

/// The program with complex numbers as vectors.
///
/// # Errors
/// None for a verified traced program.
pub(super) fn written_out(p: &Program) -> Result<Program, HeError> {
    let complex = |op: &Op| matches!(op, Op::Const(Constant::Complex(z)) if z.im != 0.0);
    if !p.instrs().iter().any(|instr| complex(&instr.op)) {
        return Ok(p.clone());
    }
    let mut b = Builder::traced(p.name(), p.slots())?;
    for table in p.tables() {
        b.table(&table.name, table.numbers.clone())?;
    }
    let mut new: Vec<Value> = Vec::with_capacity(p.instrs().len());
    for instr in p.instrs() {
        b.region(instr.region.map_or("", |r| &p.regions()[r.0 as usize]));
        b.source(instr.source.clone());
        let value = b.push(match instr.op.map_operands(|v: Value| new[v.index()]) {
            Op::Const(Constant::Complex(z)) if z.im != 0.0 => {
                Op::Const(Constant::List(Arc::new(Numbers::Complex(vec![z; p.slots()]))))
            }
            op => op,
        })?;
        if let Some(bound) = instr.within {
            b.promise(value, bound)?;
        }
        if let Some(like) = instr.like {
            b.resemble(value, Like { value: new[like.value.index()], ..like })?;
        }
        new.push(value);
    }
    for out in p.outputs() {
        b.source(out.source.clone());
        b.output(&out.name, new[out.value.index()])?;
    }
    b.finish()
}
