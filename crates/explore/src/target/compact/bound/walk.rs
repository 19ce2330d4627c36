//! Heads, tails and windows of a program on a core.

use ringmill_machine::compact::work::{Pass, TaskKind};

use super::Core;
use super::graph::{Graph, PASSES, READS, TRANSFORMS};
use super::window::Job;

/// A program on a core.
pub(super) struct Walk<'a> {
    pub(super) graph: &'a Graph,
    pub(super) core: Core,
}

impl Walk<'_> {
    /// For each task the earliest cycle: of passes that the last row is issued in, of transforms that the result can be
    /// read in, of inputs that they can arrive in.
    pub(super) fn heads(&self) -> Vec<u64> {
        let Core { rows, steps, .. } = self.core;
        let mut heads = Vec::with_capacity(self.graph.tasks.len());
        for (at, task) in self.graph.tasks.iter().enumerate() {
            let before = &self.graph.before[at];
            // All before it went through the units.
            let passes = self.core.first() + self.core.passes(before);
            let reads = self.core.first() + before[READS] * self.core.memory;
            let lanes = match before[TRANSFORMS] {
                0 => 0,
                some => self.core.first_transform() + self.core.lanes(some) + steps.pass,
            };
            heads.push(match &task.kind {
                TaskKind::None => 0,
                TaskKind::Input => self.core.first(),
                TaskKind::Passes(own) => {
                    let mut jobs: Vec<(u64, u64)> =
                        own.iter().map(|p| (self.start(&heads, p), self.length(p))).collect();
                    jobs.sort_unstable();
                    let whole: u64 = jobs.iter().map(|j| j.1).sum();
                    let chain = jobs.iter().fold(0, |end: u64, &(start, length)| end.max(start) + length);
                    // One of them, the last, stores: it is one that takes no longer alone.
                    let storing = self.storing(at);
                    (chain + storing).max(passes + whole + storing).max(reads).max(lanes + rows)
                }
                &TaskKind::Transform(x) => {
                    let passes = passes + steps.depth;
                    let start = self.limb(&heads, x).max(passes).max(lanes).max(self.core.first_transform());
                    start + self.core.transform()
                }
            });
        }
        heads
    }

    /// When the limb of a transform is there.
    fn limb(&self, heads: &[u64], x: u32) -> u64 {
        if self.graph.is_input(x) {
            return self.core.first() + self.core.streamed + self.core.steps.depth;
        }
        let depth = if self.graph.is_transform(x) { 0 } else { self.core.steps.depth };
        heads[x as usize] + depth
    }

    /// When a pass can start.
    fn start(&self, heads: &[u64], pass: &Pass) -> u64 {
        let read = |x: u32| match () {
            () if self.graph.is_input(x) && pass.from_bank => {
                self.core.first() + self.core.streamed + self.core.readable(pass.permuted)
            }
            () if self.graph.is_input(x) || self.graph.is_transform(x) => heads[x as usize],
            () => heads[x as usize] + self.core.readable(pass.permuted),
        };
        let in_banks = pass.reads.into_iter().flatten().map(read).max().unwrap_or(0);
        in_banks.max(pass.streams.map_or(0, |s| heads[s as usize] + self.through_memory(s)))
    }

    /// From a task's result to its first row from memory.
    fn through_memory(&self, x: u32) -> u64 {
        match () {
            () if self.graph.is_input(x) => 0,
            () if self.graph.is_transform(x) => self.core.storing + self.core.through_memory(),
            () => self.core.through_memory(),
        }
    }

    fn length(&self, pass: &Pass) -> u64 {
        self.core.pass(self.graph.streams(pass))
    }

    /// What storing its result adds to the last pass of a task.
    fn storing(&self, at: usize) -> u64 {
        if self.graph.stores_alone(at) { self.core.storing - self.core.rows } else { 0 }
    }

    /// For each task the least from there to the end.
    pub(super) fn tails(&self) -> Vec<u64> {
        let mut tails = vec![0; self.graph.tasks.len()];
        for (at, task) in self.graph.tasks.iter().enumerate().rev() {
            tails[at] = tails[at].max(self.least_after(at));
            let tail = tails[at];
            let mut raise = |x: u32, by: u64| tails[x as usize] = tails[x as usize].max(by + tail);
            match &task.kind {
                TaskKind::None | TaskKind::Input => {}
                &TaskKind::Transform(x) => {
                    let depth = if self.graph.is_transform(x) { 0 } else { self.core.steps.depth };
                    raise(x, depth + self.core.transform());
                }
                TaskKind::Passes(passes) => {
                    for pass in passes {
                        let length = self.length(pass);
                        for x in pass.reads.into_iter().flatten() {
                            let apart =
                                self.graph.is_transform(x) || (self.graph.is_input(x) && !pass.from_bank);
                            raise(x, length + if apart { 0 } else { self.core.readable(pass.permuted) });
                        }
                        if let Some(s) = pass.streams {
                            raise(s, length + self.through_memory(s));
                        }
                    }
                }
            }
        }
        tails
    }

    /// What follows a task by itself: its way out, or all that rests on it.
    fn least_after(&self, at: usize) -> u64 {
        let after = &self.graph.after[at];
        let out = match (self.graph.tasks[at].outputs, self.graph.is_transform(at as u32)) {
            (0, _) => 0,
            (_, false) => self.core.stored(),
            (_, true) => self.core.storing + self.core.stored(),
        };
        let passes = if after[PASSES] > 0 { self.core.passes(after) + self.core.stored() } else { 0 };
        let reads = (after[READS] * self.core.memory).saturating_sub(self.core.ahead);
        let lanes = match after[TRANSFORMS] {
            0 => 0,
            // The last result leaves its lane by a pass.
            some => self.core.lanes(some) + self.core.steps.pass + self.core.rows + self.core.stored(),
        };
        out.max(passes).max(reads).max(lanes)
    }

    /// What the lanes, the arithmetic unit and memory have to do, each with its window.
    pub(super) fn jobs(&self, heads: &[u64], tails: &[u64]) -> [Vec<Job>; 3] {
        let Core { steps, memory, streamed, storing, .. } = self.core;
        let (first, last) = (self.core.first(), self.core.stored());
        let [mut lanes, mut passes, mut reads] = [const { Vec::new() }; 3];
        for (at, task) in self.graph.tasks.iter().enumerate() {
            let (head, tail) = (heads[at], tails[at]);
            match &task.kind {
                TaskKind::None => {}
                TaskKind::Input if self.graph.is_loaded(at as u32) => {
                    passes.push((first, streamed, tail));
                    reads.push((first, memory, tail));
                }
                TaskKind::Input if self.graph.is_shared(at as u32) => reads.push((first, memory, last)),
                TaskKind::Input => {}
                &TaskKind::Transform(x) => {
                    lanes.push((head - self.core.transform(), self.core.shared, steps.pass + tail));
                    if self.graph.loads(x) {
                        let after = steps.depth + self.core.transform() + tail;
                        passes.push((first, streamed, after));
                        reads.push((first, memory, after));
                    }
                    if self.graph.is_stored_apart(at) {
                        passes.push((head, storing, last));
                    }
                }
                TaskKind::Passes(own) => {
                    let storing = self.storing(at);
                    if storing > 0 {
                        passes.push((head - storing, storing, tail));
                    }
                    for pass in own {
                        passes.push((self.start(heads, pass), self.length(pass), tail));
                        if self.graph.streams(pass) {
                            let from =
                                pass.streams.map_or(first, |s| heads[s as usize] + self.through_memory(s));
                            reads.push((from, memory, tail));
                        }
                    }
                }
            }
        }
        [lanes, passes, reads]
    }
}
