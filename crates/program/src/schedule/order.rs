//! Orders that keep fewer limbs alive than a given one.
//!
//! [`forward`] and [`backward`] are list schedulers. They take, among the ready instructions, the one that
//! leaves the fewest limbs alive; ties follow the given order. So the order of a lowering, which streams keys
//! and keeps neighbours together, changes only where that saves a limb. [`sink`] only delays definitions.
//! None of them is best for every program (finding the best order is NP-hard: Sethi 1975), so the caller
//! compares.

use std::collections::BTreeSet;

use super::lifetime::{Readers, distinct_values};
use crate::limb::{LimbProgram, ValueId};

/// Position of each instruction in an order.
fn positions(order: &[u32]) -> Vec<u32> {
    let mut position = vec![0; order.len()];
    for (at, &i) in order.iter().enumerate() {
        position[i as usize] = at as u32;
    }
    position
}

/// Ready instructions by what they add to the live limbs, then by preference.
struct Ready {
    queue: BTreeSet<(i32, u32, u32)>,
    /// The key under which an instruction stands in the queue.
    delta: Vec<Option<i32>>,
    preference: Vec<u32>,
}

impl Ready {
    fn new(preference: Vec<u32>) -> Self {
        Self { queue: BTreeSet::new(), delta: vec![None; preference.len()], preference }
    }

    fn push(&mut self, i: usize, delta: i32) {
        self.delta[i] = Some(delta);
        self.queue.insert((delta, self.preference[i], i as u32));
    }

    /// One limb fewer for an instruction, if it is ready.
    fn improve(&mut self, i: usize) {
        if let Some(delta) = self.delta[i] {
            self.queue.remove(&(delta, self.preference[i], i as u32));
            self.push(i, delta - 1);
        }
    }

    fn pop(&mut self) -> Option<usize> {
        let (_, _, i) = self.queue.pop_first()?;
        self.delta[i as usize] = None;
        Some(i as usize)
    }
}

/// The order in which each next instruction adds the fewest live limbs; ties as in `order`.
pub fn forward(program: &LimbProgram, readers: &Readers, order: &[u32]) -> Vec<u32> {
    let mut remaining = readers.counts();
    let mut done = vec![false; program.len()];
    let mut missing: Vec<u32> = vec![0; program.len()];
    for (i, missing) in missing.iter_mut().enumerate() {
        distinct_values(program.operands(i), |_| *missing += 1);
    }
    let delta = |i: usize, remaining: &[u32]| {
        let mut delta = i32::from(program.defined(i).is_some_and(|v| remaining[v.index()] > 0));
        distinct_values(program.operands(i), |v| delta -= i32::from(remaining[v.index()] == 1));
        delta
    };
    let mut ready = Ready::new(positions(order));
    for i in (0..program.len()).filter(|&i| missing[i] == 0) {
        ready.push(i, delta(i, &remaining));
    }
    let mut result = Vec::with_capacity(program.len());
    while let Some(i) = ready.pop() {
        result.push(i as u32);
        done[i] = true;
        distinct_values(program.operands(i), |v| {
            remaining[v.index()] -= 1;
            if remaining[v.index()] == 1 {
                let last = readers.of_value(v).iter().find(|&&reader| !done[reader as usize]);
                last.into_iter().for_each(|&reader| ready.improve(reader as usize));
            }
        });
        let Some(dst) = program.defined(i) else { continue };
        for &reader in readers.of_value(dst) {
            let reader = reader as usize;
            missing[reader] -= 1;
            if missing[reader] == 0 {
                ready.push(reader, delta(reader, &remaining));
            }
        }
    }
    result
}

/// The same from the end: each previous instruction is the one that makes the fewest operands live beyond those that
/// are; ties as in `order`, later ones first.
pub fn backward(program: &LimbProgram, readers: &Readers, order: &[u32]) -> Vec<u32> {
    let count = program.len() as u32;
    let mut pending = readers.counts();
    let mut live = vec![false; program.values()];
    let mut done = vec![false; program.len()];
    let definition = definitions(program);
    let delta = |i: usize, live: &[bool]| {
        let mut delta = -i32::from(program.defined(i).is_some_and(|v| live[v.index()]));
        distinct_values(program.operands(i), |v| delta += i32::from(!live[v.index()]));
        delta
    };
    let mut ready = Ready::new(positions(order).into_iter().map(|at| count - 1 - at).collect());
    let unread = |i: usize| program.defined(i).is_none_or(|v| pending[v.index()] == 0);
    for i in (0..program.len()).filter(|&i| unread(i)) {
        ready.push(i, delta(i, &live));
    }
    let mut result = Vec::with_capacity(program.len());
    while let Some(i) = ready.pop() {
        result.push(i as u32);
        done[i] = true;
        let mut now_ready = Vec::new();
        distinct_values(program.operands(i), |v| {
            if !std::mem::replace(&mut live[v.index()], true) {
                let others = readers.of_value(v).iter().filter(|&&reader| !done[reader as usize]);
                others.for_each(|&reader| ready.improve(reader as usize));
            }
            pending[v.index()] -= 1;
            if pending[v.index()] == 0 {
                now_ready.push(definition[v.index()] as usize);
            }
        });
        for i in now_ready {
            ready.push(i, delta(i, &live));
        }
    }
    result.reverse();
    result
}

/// The given order with each definition delayed until just before its first use, if no operand has to live
/// longer for that. The limbs of a tensor product that a key switch adds at its end are computed there.
pub fn sink(program: &LimbProgram, order: &[u32]) -> Vec<u32> {
    /// Space between two neighbours: this number of bits allows as many insertions before one instruction.
    const SPACE: u32 = 64;
    let count = order.len();
    // A doubly linked list of instructions, `count` being its end, with ascending labels.
    let mut label: Vec<u128> = vec![0; count + 1];
    let (mut before, mut after) = (vec![count; count + 1], vec![count; count + 1]);
    for (at, pair) in order.windows(2).enumerate() {
        let (i, j) = (pair[0] as usize, pair[1] as usize);
        (after[i], before[j]) = (j, i);
        label[j] = (at as u128 + 2) << SPACE;
    }
    if let (Some(&first), Some(&last)) = (order.first(), order.last()) {
        label[first as usize] = 1 << SPACE;
        (after[count], before[count]) = (first as usize, last as usize);
    }
    // Of the readers placed so far: the first one and the label of the last one.
    let mut first_use: Vec<Option<usize>> = vec![None; program.values()];
    let mut last_use = vec![0u128; program.values()];
    for &i in order.iter().rev() {
        let i = i as usize;
        if let Some(reader) = program.defined(i).and_then(|v| first_use[v.index()]) {
            let mut free = true;
            distinct_values(program.operands(i), |v| free &= last_use[v.index()] >= label[reader]);
            let previous = before[reader];
            let floor = if previous == count { 0 } else { label[previous] };
            if free && previous != i && label[reader] - floor > 1 {
                (after[before[i]], before[after[i]]) = (after[i], before[i]);
                (after[previous], before[reader]) = (i, i);
                (before[i], after[i]) = (previous, reader);
                label[i] = floor + (label[reader] - floor) / 2;
            }
        }
        distinct_values(program.operands(i), |v| {
            let first = first_use[v.index()];
            if first.is_none_or(|first| label[i] < label[first]) {
                first_use[v.index()] = Some(i);
            }
            last_use[v.index()] = last_use[v.index()].max(label[i]);
        });
    }
    let mut result = Vec::with_capacity(count);
    let mut at = after[count];
    while at != count {
        result.push(at as u32);
        at = after[at];
    }
    result
}

/// The instruction that defines each value.
fn definitions(program: &LimbProgram) -> Vec<u32> {
    let mut definition = vec![0; program.values()];
    for i in 0..program.len() {
        if let Some(ValueId(v)) = program.defined(i) {
            definition[v as usize] = i as u32;
        }
    }
    definition
}
