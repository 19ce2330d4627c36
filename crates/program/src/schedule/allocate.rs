//! Buffers for the values of an order.
//!
//! All buffers are alike, so a value takes any free one at its definition and frees it at its last use. That
//! needs exactly as many buffers as values live at once (an interval graph is coloured optimally in the order
//! of its left ends). The buffer freed last is taken first, while it is still in a cache.

use super::lifetime::{Readers, distinct_values, reusable};
use crate::limb::{Allocation, BufferId, LimbProgram, Operand, Region};

/// The program in the given order, every value with its buffer. `order` must be a permutation of the instructions that
/// keeps definitions before uses, as the functions of [`super::order`] give.
pub fn allocate(program: &LimbProgram, readers: &Readers, order: &[u32]) -> LimbProgram {
    let mut out = in_order(program, order);
    let mut remaining = readers.counts();
    let mut buffer_of = vec![BufferId(0); program.values()];
    let (mut free, mut buffers) = (Vec::new(), 0u32);
    for i in 0..out.len() {
        let reuse = reusable(&out, i, |v| remaining[v.index()] == 1);
        let reused = reuse.and_then(|k| out.operands(i)[k].value());
        if let Some(k) = reuse {
            // Only sums and products reuse another operand than the first, and for them the order does not matter.
            let first = out.nodes[i].first as usize;
            out.operands.swap(first, first + k);
        }
        if let Some(dst) = out.defined(i) {
            let fresh = || {
                buffers += 1;
                BufferId(buffers - 1)
            };
            buffer_of[dst.index()] =
                reused.map_or_else(|| free.pop().unwrap_or_else(fresh), |v| buffer_of[v.index()]);
        }
        distinct_values(out.operands(i), |v| {
            remaining[v.index()] -= 1;
            if remaining[v.index()] == 0 && reused != Some(v) {
                free.push(buffer_of[v.index()]);
            }
        });
        if let Some(dst) = out.defined(i).filter(|dst| remaining[dst.index()] == 0) {
            free.push(buffer_of[dst.index()]);
        }
    }
    out.allocation = Some(Allocation { buffers, buffer_of });
    out
}

/// The program in the given order, which must be one as [`allocate`] takes. Regions begin anew where the order enters them; sections
/// and buffers are dropped.
pub fn in_order(program: &LimbProgram, order: &[u32]) -> LimbProgram {
    let mut out = program.emptied();
    out.nodes.reserve_exact(program.len());
    out.operands.reserve_exact(program.operands.len());
    let region_of = regions(program);
    let mut region = None;
    for &i in order {
        let i = i as usize;
        if region_of[i] != region {
            region = region_of[i];
            let label = region.map_or_else(|| "-".to_owned(), |r| program.regions[r as usize].label.clone());
            out.regions.push(Region { label, first: out.nodes.len() as u32 });
        }
        let node = program.nodes[i];
        out.push_node(node.op, node.dst, program.operands(i).iter().copied(), node.immediate);
    }
    out
}

/// The region of each instruction.
fn regions(program: &LimbProgram) -> Vec<Option<u32>> {
    let mut of = vec![None; program.len()];
    for (r, region) in program.regions.iter().enumerate() {
        let end = program.regions.get(r + 1).map_or(program.len(), |next| next.first as usize);
        of[region.first as usize..end].fill(Some(r as u32));
    }
    of
}

/// The buffer an operand is read from; none for an input limb, or before allocation.
pub fn buffer(program: &LimbProgram, operand: Operand) -> Option<BufferId> {
    let value = operand.value()?;
    Some(program.allocation()?.buffer_of[value.index()])
}
