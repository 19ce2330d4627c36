//! A schedule as a machine that keeps it needs it: what begins when, where operands are, and where results go.

use crate::graph::Value;
use crate::plan::{FREE, Plan};
use crate::replay::{Flow, Schedule};

/// When everything begins, and where everything is.
///
/// Limbs are numbered as in the graph: inputs in order, then results in the order of the instructions. Cycles count from 0. Slots
/// are places for one limb in the memory of its class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timetable {
    /// Cycles of the run.
    pub cycles: u64,
    /// Instructions in the order of issue.
    pub issues: Vec<Issued>,
    /// Transfers, those of a channel in its order.
    pub transfers: Vec<Carried>,
}

/// An instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issued {
    /// Its number among the graph's.
    pub instruction: usize,
    /// Its unit among the description's; none of what takes no time.
    pub unit: Option<usize>,
    /// Which of several such units.
    pub instance: u32,
    /// The cycle in which it begins, in which the first row of its result can be read, and by which all have been there.
    pub start: u64,
    /// See `start`.
    pub first: u64,
    /// See `start`.
    pub done: u64,
    /// What it reads, each limb once, and the slot of each.
    pub operands: Vec<(Value, u32)>,
    /// What it makes, and where.
    pub result: (Value, u32),
}

/// A limb that comes, goes or is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carried {
    /// Why.
    pub flow: Flow,
    /// Its channel among the description's; of what is made, the unit.
    pub by: usize,
    /// The limb.
    pub value: Value,
    /// Where it comes to or goes from.
    pub slot: u32,
    /// The first cycle, and the one after the last.
    pub start: u64,
    /// See `start`.
    pub end: u64,
    /// When all of a limb that comes can be read.
    pub there: u64,
}

impl Timetable {
    pub(crate) fn of(plan: &Plan<'_>, order: &[u32], s: &Schedule) -> Self {
        let issued = |&i: &u32| {
            let (op, issue) = (&plan.ops[i as usize], &s.issues[i as usize]);
            let slots = &s.operand_slots[op.first as usize..(op.first + op.len) as usize];
            Issued {
                instruction: op.node as usize,
                unit: (op.unit != FREE).then_some(op.unit.into()),
                instance: issue.instance,
                start: issue.start,
                first: issue.start + u64::from(op.head),
                done: issue.done,
                operands: plan.reads(op).iter().copied().zip(slots.iter().copied()).collect(),
                result: (op.result, issue.slot),
            }
        };
        let carried = |t: &crate::replay::Transfer| Carried {
            flow: t.flow,
            by: t.by.into(),
            value: t.value,
            slot: t.slot,
            start: t.start,
            end: t.end,
            there: t.there,
        };
        Self {
            cycles: s.cycles,
            issues: order.iter().map(issued).collect(),
            transfers: s.transfers.iter().map(carried).collect(),
        }
    }
}
