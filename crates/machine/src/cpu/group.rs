//! Which instructions make a task together.
//!
//! Groups are numbered as they appear, and an instruction joins no group before those of its operands, so that
//! groups in order of their numbers respect all dependencies.

use ringmill_program::limb::{Domain, ModulusId, Opcode, ValueId};

use super::convert::{Conversions, is_conversion};
use super::flow::Flow;

/// The phase of a task in which a value is ready; in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    Head,
    Blocks,
    Tail,
}

/// Transforms in one task at most: each takes a limb of scratch.
const MAX_TRANSFORMS: usize = 24;
/// Instructions in one task at most.
const MAX_INSTRUCTIONS: usize = 48;

/// The instructions of one task, in program order.
#[derive(Debug, Clone)]
pub(super) struct Group {
    /// None for quotients, and for conversions to several moduli.
    pub(super) modulus: Option<ModulusId>,
    pub(super) instructions: Vec<usize>,
    transforms: usize,
}

/// The program cut into groups.
#[derive(Debug)]
pub(super) struct Groups {
    pub(super) list: Vec<Group>,
    /// The group of each value, and the phase in which it is ready there.
    of_value: Vec<(usize, Phase)>,
    /// Values that wait for the instruction that reads them.
    waiting: Vec<bool>,
    /// Values that have a group.
    placed: Vec<bool>,
}

impl Groups {
    pub(super) fn new(flow: &Flow<'_>) -> Self {
        let values = flow.program.values();
        let mut groups = Self {
            list: Vec::new(),
            of_value: vec![(0, Phase::Head); values],
            waiting: super::sink::sink(flow),
            placed: vec![false; values],
        };
        let mut conversions = Conversions::new(flow);
        let mut last = None;
        for i in flow.instructions() {
            // Conversions to a prime come before its first instruction: what follows from either may make one task.
            let modulus = groups.modulus(flow, i);
            let begins = std::mem::replace(&mut last, modulus) != modulus;
            let known = |i: usize| flow.values(i).all(|v| groups.placed[v.index()]);
            if conversions.open(i) || begins && conversions.next_to(flow, modulus, known) {
                let sets = conversions.take(flow, known);
                sets.iter().for_each(|set| groups.place_together(flow, set));
            }
            if is_conversion(flow, i) && conversions.taken(i) {
                continue;
            }
            if flow.program.defined(i).is_none_or(|v| !groups.waiting[v.index()]) {
                groups.place(flow, i);
            }
        }
        groups
    }

    /// The group that defines a value.
    pub(super) fn of(&self, v: ValueId) -> usize {
        self.of_value[v.index()].0
    }

    /// The phase in which a value is ready.
    pub(super) fn ready(&self, v: ValueId) -> Phase {
        self.of_value[v.index()].1
    }

    /// A group of conversions from the same sources, made block by block.
    fn place_together(&mut self, flow: &Flow<'_>, set: &[usize]) {
        self.list.push(Group { modulus: None, instructions: Vec::new(), transforms: 0 });
        let g = self.list.len() - 1;
        set.iter().for_each(|&i| self.put(flow, i, g, Phase::Blocks));
    }

    /// The modulus of what an instruction defines or stores.
    fn modulus(&self, flow: &Flow<'_>, i: usize) -> Option<ModulusId> {
        let program = flow.program;
        match program.defined(i) {
            Some(v) => program.value_type(v).modulus(),
            None => program.operand_type(program.operands(i)[0]).modulus(),
        }
    }

    fn place(&mut self, flow: &Flow<'_>, i: usize) {
        let modulus = self.modulus(flow, i);
        let latest = flow.values(i).filter(|v| !self.waiting[v.index()]).map(|v| self.of(v)).max();
        // The newest group, or else that of the newest operand.
        let candidates = [self.list.len().checked_sub(1), latest];
        let mut joined = candidates.into_iter().flatten().filter(|&g| Some(g) >= latest);
        let joined = joined.find_map(|g| Some((g, self.joins(flow, i, modulus, g)?)));
        let (g, phase) = joined.unwrap_or_else(|| {
            self.list.push(Group { modulus, instructions: Vec::new(), transforms: 0 });
            let g = self.list.len() - 1;
            // Nothing is inside yet, so no operand forbids a phase.
            (g, self.phase(flow, i, g).unwrap_or(Phase::Head))
        });
        self.put(flow, i, g, phase);
    }

    /// Puts instruction i, ready in `phase`, into group g, and before it what waits for it.
    fn put(&mut self, flow: &Flow<'_>, i: usize, g: usize, mut phase: Phase) {
        for v in flow.values(i) {
            if std::mem::take(&mut self.waiting[v.index()]) {
                self.put(flow, flow.definer(v), g, Phase::Blocks);
                phase = phase.max(Phase::Blocks);
            }
        }
        let group = &mut self.list[g];
        group.instructions.push(i);
        group.transforms += usize::from(is_transform(flow.program.opcode(i)));
        if let Some(v) = flow.program.defined(i) {
            self.of_value[v.index()] = (g, phase);
            self.placed[v.index()] = true;
        }
    }

    /// Instruction i and those that wait for it.
    fn count(&self, flow: &Flow<'_>, i: usize) -> usize {
        let waiting = flow.values(i).filter(|v| self.waiting[v.index()]);
        1 + waiting.map(|v| self.count(flow, flow.definer(v))).sum::<usize>()
    }

    /// The phase of instruction i in group g, if it may join.
    fn joins(&self, flow: &Flow<'_>, i: usize, modulus: Option<ModulusId>, g: usize) -> Option<Phase> {
        let group = &self.list[g];
        let full = group.instructions.len() + self.count(flow, i) > MAX_INSTRUCTIONS
            || is_transform(flow.program.opcode(i)) && group.transforms >= MAX_TRANSFORMS;
        if modulus.is_none() || group.modulus != modulus || full {
            return None;
        }
        self.phase(flow, i, g)
    }

    /// The phase of instruction i in group g, if its operands allow one.
    fn phase(&self, flow: &Flow<'_>, i: usize, g: usize) -> Option<Phase> {
        let program = flow.program;
        let known = flow.values(i).filter(|v| !self.waiting[v.index()]);
        let inside = known.filter(|&v| self.of(v) == g).map(|v| self.ready(v)).max();
        match program.opcode(i) {
            // A transform ends among the blocks, before any tail.
            Opcode::Ntt => (inside.unwrap_or(Phase::Head) == Phase::Head).then_some(Phase::Blocks),
            Opcode::Intt => (inside != Some(Phase::Tail)).then_some(Phase::Tail),
            // It moves words between blocks: its operand is whole before the task, or its result is after the blocks.
            Opcode::Automorphism => match inside {
                None => Some(Phase::Blocks),
                Some(Phase::Tail) => None,
                Some(_) => Some(Phase::Tail),
            },
            _ => {
                let domain = match program.defined(i) {
                    Some(v) => program.value_type(v).domain(),
                    None => program.operand_type(program.operands(i)[0]).domain(),
                };
                match (domain, inside) {
                    // Whole limbs again, after an automorphism: blocks of a task of their own.
                    (Domain::Eval, Some(Phase::Tail)) => None,
                    (Domain::Eval, _) => Some(Phase::Blocks),
                    (_, inside) => Some(inside.unwrap_or(Phase::Head)),
                }
            }
        }
    }
}

fn is_transform(op: Opcode) -> bool {
    matches!(op, Opcode::Ntt | Opcode::Intt)
}
