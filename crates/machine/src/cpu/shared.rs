//! Limbs that outlive a task: which buffer they take, and which tasks must wait for which.

use ringmill_program::limb::{OutputId, ValueId};

use super::flow::Flow;
use super::group::Groups;
use super::plan::{Slot, Task};

/// Groups, for each thread, that a buffer rests between two values. Relinearisation at set V, its measured tasks laid out
/// on two threads: 1.65 times as fast as on one at 0, 1.93 at 1, 1.99 at 2 and more.
const REST: usize = 2;

/// Buffers, then outputs, under one numbering.
#[derive(Debug)]
pub(super) struct Shared {
    /// The number of buffers; output i is number `buffers` + i.
    pub(super) buffers: u32,
    outputs: usize,
    of_value: Vec<Option<u32>>,
    /// Whether each value leaves its group.
    leaves: Vec<bool>,
    /// The last group that reads each value.
    last_group: Vec<Option<usize>>,
    /// The instructions that read each value.
    readers: Vec<Vec<usize>>,
}

impl Shared {
    /// Who reads what, and which values leave their groups; they have no buffers yet.
    pub(super) fn new(flow: &Flow<'_>, groups: &Groups) -> Self {
        let values = flow.program.values();
        let mut readers = vec![Vec::new(); values];
        let mut last_group = vec![None; values];
        for (g, group) in groups.list.iter().enumerate() {
            for &i in &group.instructions {
                for v in flow.values(i) {
                    readers[v.index()].push(i);
                    last_group[v.index()] = last_group[v.index()].max(Some(g));
                }
            }
        }
        let all = (0..values as u32).map(ValueId);
        let leaves = all.map(|v| flow.home(v).is_some() || last_group[v.index()] > Some(groups.of(v)));
        Self {
            buffers: 0,
            outputs: flow.program.output_types().len(),
            of_value: vec![None; values],
            leaves: leaves.collect(),
            last_group,
            readers,
        }
    }

    /// Gives every value that leaves its group a buffer. The buffer is reused after the last group that reads
    /// it, or goes to the value's heir if it has one.
    ///
    /// With several threads a buffer stays unused for a few more groups. If it were reused at once, its new
    /// writer would wait for its last readers. The conversions to the next primes would wait for the inner
    /// products of the previous ones, and half of the threads would be idle.
    pub(super) fn allocate(
        &mut self,
        flow: &Flow<'_>,
        groups: &Groups,
        heirs: &[Option<ValueId>],
        threads: usize,
    ) {
        let rest = if threads > 1 { REST * threads } else { 0 };
        let mut inherited: Vec<Option<u32>> = vec![None; heirs.len()];
        let mut free = Vec::new();
        let mut dying: Vec<Vec<u32>> = vec![Vec::new(); groups.list.len()];
        for (g, group) in groups.list.iter().enumerate() {
            for v in group.instructions.iter().filter_map(|&i| flow.program.defined(i)) {
                let left = inherited[v.index()];
                if left.is_none() && (!self.leaves(v) || flow.home(v).is_some()) {
                    continue;
                }
                let buffer = left.or_else(|| free.pop()).unwrap_or_else(|| {
                    self.buffers += 1;
                    self.buffers - 1
                });
                self.of_value[v.index()] = Some(buffer);
                match heirs[v.index()] {
                    Some(heir) => inherited[heir.index()] = Some(buffer),
                    None => dying[self.last_group[v.index()].map_or(g, |last| last.max(g))].push(buffer),
                }
            }
            // What a group reads for the last time is free only after it.
            if let Some(rested) = g.checked_sub(rest) {
                free.append(&mut dying[rested]);
            }
        }
        // Outputs come after the buffers, whose number is known now.
        for v in (0..heirs.len() as u32).map(ValueId) {
            if let Some(output) = flow.home(v) {
                self.of_value[v.index()] = Some(self.output(output));
            }
        }
    }

    /// Whether a value leaves its group.
    pub(super) fn leaves(&self, v: ValueId) -> bool {
        self.leaves[v.index()]
    }

    /// The number of the limb that a value lives in, if it leaves its group or is the heir of one that does.
    pub(super) fn of(&self, v: ValueId) -> Option<u32> {
        self.of_value[v.index()]
    }

    /// The number of an output.
    pub(super) fn output(&self, output: OutputId) -> u32 {
        self.buffers + output.0
    }

    /// The instructions that read a value.
    pub(super) fn readers(&self, v: ValueId) -> &[usize] {
        &self.readers[v.index()]
    }

    /// For each task those that must wait for it, and how many each one waits for: readers for the writer, a writer
    /// for the readers and the writer of what it overwrites.
    pub(super) fn order(&self, tasks: &[Task]) -> (Vec<Vec<u32>>, Vec<u32>) {
        let limbs = self.buffers as usize + self.outputs;
        let (mut writer, mut reading) = (vec![None; limbs], vec![Vec::new(); limbs]);
        let mut successors = vec![Vec::new(); tasks.len()];
        let mut waits = vec![0; tasks.len()];
        for (t, task) in tasks.iter().enumerate() {
            let mut before: Vec<usize> = Vec::new();
            for &id in &task.reads {
                before.extend(writer[id as usize]);
                reading[id as usize].push(t);
            }
            for slot in &task.slots {
                let Slot::Shared(id) = *slot else { continue };
                before.extend(writer[id as usize].replace(t));
                before.append(&mut reading[id as usize]);
            }
            before.sort_unstable();
            before.dedup();
            before.retain(|&other| other != t);
            waits[t] = before.len() as u32;
            for other in before {
                successors[other].push(t as u32);
            }
        }
        (successors, waits)
    }
}
