//! Products of inputs that are computed again where they are read, rather than kept.
//!
//! # Pass: compute products again
//!
//! - Purpose: products of inputs that several regions read take no memory between them.
//! - Requires: a verified limb program.
//! - Guarantees: a verified program with the same inputs and outputs and the same bits. Such a product is computed once in every
//!   region that reads it; an allocation is dropped, and everything else keeps its order.
//! - Example:
//!
//! ```text
//! limb example : 2^4 {
//!   modulus q0 = 1073741441
//!   input data a : eval q0 q0
//!   output y : eval q0
//!   output z : eval q0
//! region first
//!   %0 = mul a.0, a.1 : q0 eval
//!   %1 = add %0, a.0 : q0 eval
//!   store %1 -> y.0
//! region second
//!   %2 = add %0, a.1 : q0 eval
//!   store %2 -> z.0
//! }
//! ```
//!
//! The third part of a product of two ciphertexts is read twice: its inverse transform opens the key switch, and its
//! limbs as they are enter the inner products, one by one, until the last prime. Kept, they are ℓ + 1 limbs
//! alive all the way, written once and read again from memory. A multiplication is cheaper than that.

use std::collections::HashMap;

use super::lifetime::Readers;
use crate::limb::{LimbProgram, Opcode, Operand, Region, Source, ValueId};

/// The program with each product of two inputs computed once in every region that reads it, before its first reader
/// there. An allocation is dropped; everything else keeps its order.
pub fn recompute(program: &LimbProgram) -> LimbProgram {
    let regions = regions_of(program);
    let repeated = repeated(program, &regions);
    let mut out = program.emptied();
    // The region and the value of the last copy.
    let mut copies: HashMap<ValueId, (usize, ValueId)> = HashMap::new();
    let mut begun = 0;
    for (i, &region) in regions.iter().enumerate() {
        for region in &program.regions()[begun..region] {
            out.regions.push(Region { label: region.label.clone(), first: out.nodes.len() as u32 });
        }
        begun = begun.max(region);
        if program.defined(i).is_some_and(|v| repeated.contains_key(&v)) {
            continue;
        }
        let mut operands = program.operands(i).to_vec();
        for operand in &mut operands {
            let Some((v, &factors)) = operand.value().and_then(|v| Some((v, repeated.get(&v)?))) else {
                continue;
            };
            let copy = match copies.get(&v) {
                Some(&(last, copy)) if last == region => copy,
                before => {
                    let copy = before.map_or(v, |_| ValueId(out.value_types.len() as u32));
                    if before.is_some() {
                        out.value_types.push(program.value_type(v));
                    }
                    out.push_node(Opcode::Mul, copy.0, factors, 0);
                    copies.insert(v, (region, copy));
                    copy
                }
            };
            *operand = copy.into();
        }
        let node = program.nodes[i];
        out.push_node(node.op, node.dst, operands, node.immediate);
    }
    for region in &program.regions()[begun..] {
        out.regions.push(Region { label: region.label.clone(), first: out.nodes.len() as u32 });
    }
    out
}

/// For each instruction, how many regions have begun with it.
fn regions_of(program: &LimbProgram) -> Vec<usize> {
    let mut begun = 0;
    let regions = program.regions();
    (0..program.len())
        .map(|i| {
            begun += regions[begun..].iter().take_while(|region| region.first as usize <= i).count();
            begun
        })
        .collect()
}

/// The factors of the products of two inputs that several regions read.
fn repeated(program: &LimbProgram, regions: &[usize]) -> HashMap<ValueId, [Operand; 2]> {
    let readers = Readers::of(program);
    let product = |i: usize| {
        let v = program.defined(i).filter(|_| program.opcode(i) == Opcode::Mul)?;
        let &[a, b] = program.operands(i) else { return None };
        let inputs = [a, b].iter().all(|factor| matches!(factor.source(), Source::Input(_)));
        let mut read_in = readers.of_value(v).iter().map(|&reader| regions[reader as usize]);
        let first = read_in.next()?;
        (inputs && read_in.any(|region| region != first)).then_some((v, [a, b]))
    };
    (0..program.len()).filter_map(product).collect()
}
