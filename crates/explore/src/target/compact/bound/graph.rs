//! What each task takes of the units, and who reads whom.

use ringmill_machine::compact::work::{Pass, Task, TaskKind};

use super::closure::{KINDS, sums};

/// Places in a [`Load`].
pub(super) const TRANSFORMS: usize = 0;
pub(super) const PASSES: usize = 1;
/// Of the passes, those that wait for a limb from memory.
pub(super) const STREAMED: usize = 2;
/// Limbs that memory sends.
pub(super) const READS: usize = 3;
/// Passes that store a limb where none of the task's passes waits for one.
pub(super) const STORES: usize = 4;

/// What a task takes: as many of each.
pub(super) type Load = [u32; KINDS];

/// How a task's result is used.
#[derive(Debug, Clone, Copy, Default)]
struct Uses {
    /// Passes that read it, other than as an operand that comes from memory only.
    passes: u32,
    /// Transforms that take it.
    transforms: u32,
    /// Whether one of the passes reads it in a bank only.
    in_bank: bool,
    /// Whether it is an operand that comes from memory only.
    streamed: bool,
}

/// The tasks of a program, and what all before and all after each of them take.
#[derive(Debug, Clone)]
pub(super) struct Graph {
    pub(super) tasks: Vec<Task>,
    uses: Vec<Uses>,
    pub(super) before: Vec<[u64; KINDS]>,
    pub(super) after: Vec<[u64; KINDS]>,
    /// Limbs written to memory.
    pub(super) writes: u64,
}

impl Graph {
    pub(super) fn new(tasks: Vec<Task>) -> Self {
        let uses = uses(&tasks);
        let mut graph = Self { tasks, uses, before: Vec::new(), after: Vec::new(), writes: 0 };
        let all = 0..graph.tasks.len();
        let from: Vec<Vec<u32>> = graph.tasks.iter().map(operands).collect();
        let loads: Vec<Load> = all.clone().map(|at| graph.load(at)).collect();
        graph.before = sums(&from, &loads);
        // From the end: who reads each task, in reverse numbers, and what brings results to memory beside.
        let last = all.len().saturating_sub(1);
        let mut readers: Vec<Vec<u32>> = vec![Vec::new(); all.len()];
        for (at, from) in from.iter().enumerate() {
            from.iter().for_each(|&x| readers[last - x as usize].push((last - at) as u32));
        }
        let from_the_end = |at: usize| {
            let mut load = loads[at];
            let stored = u32::from(graph.is_stored_apart(at));
            load[PASSES] += stored;
            load[STORES] += stored;
            load
        };
        let reversed: Vec<Load> = all.clone().rev().map(from_the_end).collect();
        graph.after = sums(&readers, &reversed);
        graph.after.reverse();
        graph.writes = all.map(|at| u64::from(graph.written(at))).sum();
        graph
    }

    pub(super) fn is_input(&self, at: u32) -> bool {
        matches!(self.tasks[at as usize].kind, TaskKind::Input)
    }

    pub(super) fn is_transform(&self, at: u32) -> bool {
        matches!(self.tasks[at as usize].kind, TaskKind::Transform(_))
    }

    /// Whether an input is brought into a bank before anything reads it there.
    pub(super) fn is_loaded(&self, at: u32) -> bool {
        self.is_input(at) && self.uses[at as usize].in_bank
    }

    /// Whether an input is read by several passes, from memory or from wherever one of them has put it.
    pub(super) fn is_shared(&self, at: u32) -> bool {
        let uses = self.uses[at as usize];
        self.is_input(at) && !uses.in_bank && uses.transforms == 0 && uses.passes > 1
    }

    /// Whether a transform's limb needs a pass that loads it.
    pub(super) fn loads(&self, x: u32) -> bool {
        self.is_input(x) && !self.is_loaded(x)
    }

    /// Whether a result of a lane takes a pass of its own to memory. What a pass computes goes there on its way.
    pub(super) fn is_stored_apart(&self, at: usize) -> bool {
        self.is_transform(at as u32) && (self.tasks[at].outputs > 0 || self.uses[at].streamed)
    }

    /// Whether a pass waits for a limb that arrives for it: an operand from memory, or an input that nothing else reads.
    pub(super) fn streams(&self, pass: &Pass) -> bool {
        let alone = |x: u32| {
            let uses = self.uses[x as usize];
            self.is_input(x) && !uses.in_bank && uses.transforms == 0 && uses.passes == 1
        };
        pass.streams.is_some() || pass.reads.into_iter().flatten().any(alone)
    }

    /// Whether a task's last pass stores its result while none of them waits for memory.
    pub(super) fn stores_alone(&self, at: usize) -> bool {
        let task = &self.tasks[at];
        let waits = |passes: &[Pass]| passes.iter().any(|p| self.streams(p));
        matches!(&task.kind, TaskKind::Passes(own) if task.stored && !waits(own))
    }

    fn written(&self, at: usize) -> u32 {
        let task = &self.tasks[at];
        task.outputs.max(u32::from(task.stored || self.is_stored_apart(at)))
    }

    fn load(&self, at: usize) -> Load {
        let mut load = [0; KINDS];
        match &self.tasks[at].kind {
            TaskKind::None => {}
            TaskKind::Input if self.is_loaded(at as u32) => load = [0, 1, 1, 1, 0],
            TaskKind::Input => load[READS] = u32::from(self.is_shared(at as u32)),
            TaskKind::Passes(passes) => {
                load[PASSES] = passes.len() as u32;
                load[STREAMED] = passes.iter().filter(|&p| self.streams(p)).count() as u32;
                load[READS] = load[STREAMED];
                load[STORES] = u32::from(self.stores_alone(at));
            }
            &TaskKind::Transform(x) => {
                load = if self.loads(x) { [1, 1, 1, 1, 0] } else { [1, 0, 0, 0, 0] };
            }
        }
        load
    }
}

fn uses(tasks: &[Task]) -> Vec<Uses> {
    let mut uses = vec![Uses::default(); tasks.len()];
    for task in tasks {
        match &task.kind {
            TaskKind::None | TaskKind::Input => {}
            TaskKind::Transform(x) => uses[*x as usize].transforms += 1,
            TaskKind::Passes(passes) => {
                for pass in passes {
                    for x in pass.reads.into_iter().flatten() {
                        uses[x as usize].passes += 1;
                        uses[x as usize].in_bank |= pass.from_bank;
                    }
                    if let Some(s) = pass.streams {
                        uses[s as usize].streamed = true;
                    }
                }
            }
        }
    }
    uses
}

/// Every task that a task waits for.
fn operands(task: &Task) -> Vec<u32> {
    let mut all: Vec<u32> = match &task.kind {
        TaskKind::None | TaskKind::Input => Vec::new(),
        TaskKind::Transform(x) => vec![*x],
        TaskKind::Passes(passes) => {
            passes.iter().flat_map(|p| p.reads.into_iter().chain([p.streams])).flatten().collect()
        }
    };
    all.sort_unstable();
    all.dedup();
    all
}
