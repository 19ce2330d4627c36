//! Instructions that are part of others: a scaling that the transform before it does, a lift that the transform behind it does, a
//! quotient that its conversions make.

use super::{Op, Plan};
use crate::description::Run;
use crate::error::Refused;
use crate::graph::{Kind, Value};

/// No instruction.
const NONE: u32 = u32::MAX;

/// What is known of each limb, in the order of the graph.
struct Limbs {
    /// The instruction that makes it.
    maker: Vec<u32>,
    readers: Vec<u32>,
    /// The kind of all of its readers; none where they differ or it is a result of the program.
    read_by: Vec<Option<Kind>>,
}

/// Fills in the instructions of a plan.
pub(super) fn fuse(plan: &mut Plan<'_>) -> Result<(), Refused> {
    let graph = plan.graph;
    let limbs = Limbs::of(plan);
    // The limb that stands for each: itself, or the operand of an instruction that its reader does as well.
    let mut stands: Vec<Value> = (0..graph.limbs.len() as u32).collect();
    // The result that an instruction leaves, where the one behind it is part of it.
    let mut leaves: Vec<Option<Value>> = vec![None; graph.len()];
    let mut dropped = vec![false; graph.len()];
    // Quotients that no memory holds.
    let mut inside = vec![false; graph.limbs.len()];
    for (i, node) in graph.nodes.iter().enumerate() {
        let run = plan.run_of(node.kind)?;
        let converted = limbs.read_by[node.result as usize] == Some(Kind::Convert);
        let free = node.kind == Kind::Quotient && run == Run::Free;
        if free && converted && plan.run_of(Kind::Convert)? != Run::Free {
            inside[node.result as usize] = true;
            dropped[i] = true;
        }
        let Run::With(with, _) = run else { continue };
        let [operand] = *graph.reads(node) else { continue };
        let maker = limbs.maker[operand as usize];
        let alone = limbs.readers[operand as usize] == 1 && limbs.read_by[operand as usize].is_some();
        if maker != NONE
            && alone
            && graph.nodes[maker as usize].kind == with
            && leaves[maker as usize].is_none()
        {
            leaves[maker as usize] = Some(node.result);
            dropped[i] = true;
        } else if limbs.read_by[node.result as usize] == Some(with) {
            stands[node.result as usize] = stands[operand as usize];
            dropped[i] = true;
        }
    }
    let mut operands = Vec::new();
    for (i, node) in graph.nodes.iter().enumerate().filter(|(i, _)| !dropped[*i]) {
        let unit = match plan.run_of(node.kind)? {
            Run::On(unit) | Run::With(_, unit) => Some(unit),
            Run::Free => None,
        };
        operands.clear();
        let read = graph.reads(node).iter().filter(|&&v| !inside[v as usize]);
        operands.extend(read.map(|&v| stands[v as usize]));
        let op = plan.op(i as u32, node, unit)?;
        plan.push(Op { result: leaves[i].unwrap_or(op.result), ..op }, &operands);
    }
    Ok(())
}

impl Limbs {
    fn of(plan: &Plan<'_>) -> Self {
        let graph = plan.graph;
        let count = graph.limbs.len();
        let mut all = Self { maker: vec![NONE; count], readers: vec![0; count], read_by: vec![None; count] };
        for (i, node) in graph.nodes.iter().enumerate() {
            all.maker[node.result as usize] = i as u32;
            for &v in graph.reads(node) {
                let (readers, read_by) = (&mut all.readers[v as usize], &mut all.read_by[v as usize]);
                *read_by = if *readers == 0 { Some(node.kind) } else { read_by.filter(|k| *k == node.kind) };
                *readers += 1;
            }
        }
        graph.results.iter().for_each(|&v| all.read_by[v as usize] = None);
        all
    }
}
