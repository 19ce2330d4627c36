//! From groups to tasks: where every value lives, and the steps that compute it.

use ringmill_program::limb::{Instruction, LimbProgram, ModulusId, Opcode, Operand, Source, ValueId};
use ringmill_ring::source::BLOCK;
use ringmill_ring::{LimbRing, Modulus, RingError};

use super::absorb::Absorb;
use super::ahead::ahead;
use super::flow::Flow;
use super::group::{Groups, Phase};
use super::plan::{Action, Conversion, Plan, Slot, Src, Step, Task};
use super::shared::Shared;
use super::tables::Tables;

/// Words of a block of conversions, whose sources share the second cache: 32 KiB each.
const CONVERTED: usize = 4096;

/// Plans a program for `threads` threads, on the rings of its moduli, one a modulus in the order of the
/// table.
pub(super) fn plan(program: &LimbProgram, rings: Vec<LimbRing>, threads: usize) -> Result<Plan, RingError> {
    let flow = Flow::new(program);
    let groups = Groups::new(&flow);
    let mut shared = Shared::new(&flow, &groups);
    let heirs = Absorb { flow: &flow, groups: &groups, shared: &shared, rings: &rings }.heirs();
    shared.allocate(&flow, &groups, &heirs, threads);
    let mut tables = Tables::default();
    let mut tasks = Vec::with_capacity(groups.list.len());
    for g in 0..groups.list.len() {
        tasks.push(Builder::new(&flow, &groups, &shared, &rings, &mut tables, g).build()?);
    }
    let (successors, waits) = shared.order(&tasks);
    let count = |kind: fn(&Slot) -> bool| {
        tasks.iter().map(|t| t.slots.iter().filter(|slot| kind(slot)).count()).max().unwrap_or(0)
    };
    Ok(Plan {
        buffers: shared.buffers,
        scratch_limbs: count(|slot| matches!(slot, Slot::Limb(_))),
        scratch_blocks: count(|slot| matches!(slot, Slot::Block(_))),
        block: rings.iter().map(|ring| ring.plan().block_words()).fold(BLOCK, usize::max).min(program.n()),
        bases: tables.bases,
        conversions: tables.conversions,
        permutations: tables.permutations,
        shorts: tables.shorts,
        rings,
        tasks,
        successors,
        waits,
    })
}

/// Two inner products with the same left factors as one step: whether `second` became a part of `first`.
fn pair(first: &mut Step, second: &Step) -> bool {
    let (&Action::Dot { made }, Action::Dot { .. }) = (&first.action, &second.action) else { return false };
    let (a, b) = first.srcs.split_at(first.srcs.len() / 2);
    let (c, d) = second.srcs.split_at(second.srcs.len() / 2);
    let same = a == c && !d.contains(&Src::Slot(first.dst));
    if same {
        first.srcs = [a, b, d].concat().into();
        first.action = Action::DotPair { made, second: second.dst };
    }
    same
}

/// Conversions of the same operands as one step, likewise.
fn together(first: &mut Step, second: &Step) -> bool {
    let (Action::Convert(all), Action::Convert(more)) = (&mut first.action, &second.action) else {
        return false;
    };
    let same = first.srcs == second.srcs && !first.srcs.contains(&Src::Slot(second.dst));
    if same {
        *all = [&**all, &**more].concat().into();
    }
    same
}

struct Builder<'a> {
    flow: &'a Flow<'a>,
    groups: &'a Groups,
    shared: &'a Shared,
    rings: &'a [LimbRing],
    tables: &'a mut Tables,
    g: usize,
    task: Task,
    /// The slots of the group's values.
    slots: Vec<(ValueId, u32)>,
    limbs: u32,
    blocks: u32,
}

impl<'a> Builder<'a> {
    fn new(
        flow: &'a Flow<'a>,
        groups: &'a Groups,
        shared: &'a Shared,
        rings: &'a [LimbRing],
        tables: &'a mut Tables,
        g: usize,
    ) -> Self {
        // Quotients have no modulus; any ring of the backend computes them.
        let ring = groups.list[g].modulus.map_or(0, ModulusId::index);
        let task = Task { ring, ..Task::default() };
        Self { flow, groups, shared, rings, tables, g, task, slots: Vec::new(), limbs: 0, blocks: 0 }
    }

    fn build(mut self) -> Result<Task, RingError> {
        let groups = self.groups;
        let instructions = &groups.list[self.g].instructions;
        // Last first, so that a transform has its slot before its operand, which may want the same one.
        for &i in instructions.iter().rev() {
            if let Some(v) = self.flow.program.defined(i) {
                self.settle(i, v);
            }
        }
        for &i in instructions {
            if self.flow.program.defined(i).is_none_or(|v| self.absorb().by(v).is_none()) {
                self.emit(i)?;
            }
        }
        ahead(&mut self.task);
        let shared = self.task.slots.iter().all(|slot| matches!(slot, Slot::Shared(_)));
        if shared && groups.list[self.g].modulus.is_none() {
            self.task.block = CONVERTED;
        }
        Ok(self.task)
    }

    fn absorb(&self) -> Absorb<'a> {
        let Self { flow, groups, shared, rings, .. } = *self;
        Absorb { flow, groups, shared, rings }
    }

    /// Gives the value of instruction i a slot.
    fn settle(&mut self, i: usize, v: ValueId) {
        if let Some(reader) = self.absorb().by(v) {
            // A transform that is absorbed works where its product stands; the other values stand nowhere.
            if let Some(w) = self.flow.program.defined(reader) {
                let slot = self.slot(w);
                self.slots.push((v, slot));
            }
            return;
        }
        let slot = if let Some(id) = self.shared.of(v) {
            Slot::Shared(id)
        } else if let Some(transform) = self.only_transform(v) {
            // The transform works in place.
            let slot = self.slot(transform);
            self.slots.push((v, slot));
            return;
        } else if self.groups.ready(v) == Phase::Blocks
            && (self.flow.program.opcode(i) != Opcode::Ntt || self.absorb().short_transform(i).is_some())
        {
            self.blocks += 1;
            Slot::Block(self.blocks - 1)
        } else {
            self.limbs += 1;
            Slot::Limb(self.limbs - 1)
        };
        self.task.slots.push(slot);
        self.slots.push((v, self.task.slots.len() as u32 - 1));
    }

    /// The value that a transform in this group makes of v, if nothing else reads v.
    fn only_transform(&self, v: ValueId) -> Option<ValueId> {
        let [reader] = self.shared.readers(v) else { return None };
        let program = self.flow.program;
        let transform = matches!(program.opcode(*reader), Opcode::Ntt | Opcode::Intt);
        program.defined(*reader).filter(|&w| transform && self.groups.of(w) == self.g)
    }

    fn slot(&self, v: ValueId) -> u32 {
        let found = self.slots.iter().find(|&&(w, _)| w == v);
        found.map_or_else(|| unreachable!("every value of a group has a slot"), |&(_, slot)| slot)
    }

    fn src(&mut self, source: Source) -> Src {
        match source {
            Source::Input(i) => Src::Input(i.0),
            Source::Value(v) if self.groups.of(v) == self.g => Src::Slot(self.slot(v)),
            Source::Value(v) => {
                let id =
                    self.shared.of(v).unwrap_or_else(|| unreachable!("values that leave a group are shared"));
                // What is left to a value of this group stands where that one is made.
                match self.task.slots.iter().position(|&slot| slot == Slot::Shared(id)) {
                    Some(slot) => Src::Slot(slot as u32),
                    None => Src::Read(self.read(id)),
                }
            }
        }
    }

    fn read(&mut self, id: u32) -> u32 {
        let reads = &mut self.task.reads;
        let at = reads.iter().position(|&other| other == id).unwrap_or_else(|| {
            reads.push(id);
            reads.len() - 1
        });
        at as u32
    }

    /// Appends the steps of instruction i.
    fn emit(&mut self, i: usize) -> Result<(), RingError> {
        let flow = self.flow;
        let program = flow.program;
        let srcs: Box<[Src]> = flow.operands(i).map(|o| self.src(o)).collect();
        let absorbed = flow.values(i).find(|&v| self.absorb().by(v) == Some(i)).map(|v| flow.definer(v));
        let Some(v) = program.defined(i) else {
            return self.emit_store(i, srcs);
        };
        let dst = self.slot(v);
        match program.opcode(i) {
            Opcode::Ntt => match self.absorb().short_transform(i) {
                Some(log_n) => self.emit_short(dst, absorbed.unwrap_or(i), log_n)?,
                None => self.emit_ntt(v, srcs, absorbed),
            },
            Opcode::Intt => self.emit_intt(dst, srcs, None),
            Opcode::Dot => self.emit_dot(i, v, &srcs),
            _ => match absorbed {
                Some(before) => self.emit_with(before, i, dst, srcs),
                None if self.ends_in(i) => self.emit_difference(i, dst, srcs.into_vec()),
                None => {
                    let action = self.action(i, dst)?;
                    let scatters = matches!(action, Action::Scatter(_));
                    let phase = if scatters { Phase::Blocks } else { self.groups.ready(v) };
                    self.push(phase, Step { action, dst, srcs });
                }
            },
        }
        Ok(())
    }

    fn emit_ntt(&mut self, v: ValueId, mut srcs: Box<[Src]>, lift: Option<usize>) {
        let dst = self.slot(v);
        let mut centred = None;
        if let Some(i) = lift {
            let Instruction::Lift { src, .. } = self.flow.program.instruction(i) else {
                unreachable!("a transform absorbs lifts only")
            };
            centred = self.rings[self.task.ring].plan().centred_lift(self.modulus(src));
            srcs = self.flow.operands(i).map(|o| self.src(o)).collect();
        }
        self.push(Phase::Head, Step { action: Action::ForwardHead(centred), dst, srcs });
        let action = Action::ForwardBlocks { factors: self.is_factor(v) };
        self.push(Phase::Blocks, Step { action, dst, srcs: Box::default() });
    }

    /// Whether v is a transform that inner products alone read, as a left factor.
    fn is_factor(&self, v: ValueId) -> bool {
        let program = self.flow.program;
        let of = self.flow.definer(v);
        let as_left = |&i: &usize| {
            let right = program.operands(i).len() / 2;
            program.opcode(i) == Opcode::Dot
                && self.flow.operands(i).skip(right).all(|operand| operand != Source::Value(v))
        };
        program.opcode(of) == Opcode::Ntt
            && self.absorb().short_transform(of).is_none()
            && !self.shared.leaves(v)
            && self.shared.readers(v).iter().all(as_left)
    }

    /// An inner product, its factors that are transforms before the others: the order makes no difference to the sum.
    fn emit_dot(&mut self, i: usize, v: ValueId, srcs: &[Src]) {
        let (a, b) = srcs.split_at(srcs.len() / 2);
        let is_made = |source: Source| matches!(source, Source::Value(w) if self.is_factor(w));
        let made: Vec<bool> = self.flow.operands(i).take(a.len()).map(is_made).collect();
        let mut order: Vec<usize> = (0..a.len()).collect();
        order.sort_by_key(|&j| !made[j]);
        let srcs = order.iter().map(|&j| a[j]).chain(order.iter().map(|&j| b[j])).collect();
        let action = Action::Dot { made: made.iter().filter(|&&made| made).count() };
        self.push(self.groups.ready(v), Step { action, dst: self.slot(v), srcs });
    }

    /// The transform of an input of 2^`log_n` coefficients that matter, which instruction i reads: it or a lift before it.
    fn emit_short(&mut self, dst: u32, i: usize, log_n: u32) -> Result<(), RingError> {
        let from = match self.flow.program.instruction(i) {
            Instruction::Lift { src, .. } => Some(self.modulus(src)),
            _ => None,
        };
        let whole = self.rings[self.task.ring].plan();
        let short = self.tables.short(whole, log_n, from)?;
        let log_repeat = self.rings[self.task.ring].log_n() - log_n;
        let srcs = self.flow.operands(i).map(|o| self.src(o)).collect();
        self.limbs += 1;
        self.task.slots.push(Slot::Limb(self.limbs - 1));
        let few = self.task.slots.len() as u32 - 1;
        self.push(Phase::Head, Step { action: Action::Short(short), dst: few, srcs });
        let srcs = [Src::Slot(few)].into();
        self.push(Phase::Blocks, Step { action: Action::Repeat(log_repeat), dst, srcs });
        Ok(())
    }

    fn emit_intt(&mut self, dst: u32, srcs: Box<[Src]>, factor: Option<u64>) {
        let factor = factor.map(|c| self.rings[self.task.ring].plan().tail_factor(c));
        let srcs = self.unless_there(dst, srcs);
        let action = Action::InverseBlocks { apart: !srcs.is_empty() };
        self.push(Phase::Blocks, Step { action, dst, srcs });
        self.push(Phase::Tail, Step { action: Action::InverseTail(factor), dst, srcs: Box::default() });
    }

    /// Instruction i together with instruction `before`, which it absorbs.
    fn emit_with(&mut self, before: usize, i: usize, dst: u32, srcs: Box<[Src]>) {
        let flow = self.flow;
        let ring = &self.rings[self.task.ring];
        let mut first: Vec<Src> = flow.operands(before).map(|o| self.src(o)).collect();
        let value = flow.program.defined(before).map(Source::Value);
        let action = match (flow.program.instruction(before), flow.program.instruction(i)) {
            (Instruction::Intt { .. }, Instruction::MulConst { constant, .. }) => {
                return self.emit_intt(dst, first.into(), Some(constant));
            }
            (Instruction::MulConst { constant, .. }, _) => Action::MulAdd(ring.factor(constant)),
            (Instruction::SubMulConst { constant, .. }, _) => Action::SubMulAdd(ring.factor(constant)),
            _ => unreachable!("`Absorb` admits no other pair"),
        };
        let others = flow.operands(i).zip(&srcs).filter(|&(o, _)| Some(o) != value);
        first.extend(others.map(|(_, &src)| src));
        if self.ends_in(before) {
            return self.emit_difference(before, dst, first);
        }
        let phase = flow.program.defined(i).map_or(Phase::Blocks, |v| self.groups.ready(v));
        self.push(phase, Step { action, dst, srcs: first.into() });
    }

    /// Whether instruction i is a product of a difference whose second operand is a transform that nothing else reads: the
    /// transform ends with it then.
    fn ends_in(&self, i: usize) -> bool {
        let program = self.flow.program;
        let mut operands = self.flow.operands(i);
        let (from, Some(Source::Value(v))) = (operands.next(), operands.next()) else { return false };
        let transform = self.flow.definer(v);
        program.opcode(i) == Opcode::SubMulConst
            && program.opcode(transform) == Opcode::Ntt
            && self.absorb().short_transform(transform).is_none()
            && self.shared.readers(v) == [i]
            && !self.shared.leaves(v)
            && from != Some(Source::Value(v))
    }

    /// What [`Self::ends_in`] says of instruction i; `srcs` are its operands, and a summand if there is one.
    fn emit_difference(&mut self, i: usize, dst: u32, mut srcs: Vec<Src>) {
        let Instruction::SubMulConst { constant, .. } = self.flow.program.instruction(i) else {
            unreachable!("`ends_in` admits no other")
        };
        srcs.swap(0, 1);
        let Src::Slot(limb) = srcs[0] else { unreachable!("the transform is of this task") };
        let in_place = |step: &Step| matches!(step.action, Action::ForwardBlocks { .. }) && step.dst == limb;
        self.task.blocks.retain(|step| !in_place(step));
        let factor = self.rings[self.task.ring].plan().difference_factor(constant);
        self.task.blocks.push(Step { action: Action::ForwardDifference(factor), dst, srcs: srcs.into() });
    }

    /// A store of an input, or a second store of a value: a copy.
    fn emit_store(&mut self, i: usize, srcs: Box<[Src]>) -> Result<(), RingError> {
        let Instruction::Store { output, .. } = self.flow.program.instruction(i) else {
            unreachable!("only stores define no value")
        };
        self.task.slots.push(Slot::Shared(self.shared.output(output)));
        let dst = self.task.slots.len() as u32 - 1;
        let inside = self.flow.values(i).find(|&v| self.groups.of(v) == self.g);
        let phase = inside.map_or(Phase::Blocks, |v| self.groups.ready(v));
        self.push(phase, Step { action: Action::Copy, dst, srcs });
        Ok(())
    }

    /// The operand of a transform, unless it works in place.
    fn unless_there(&self, dst: u32, srcs: Box<[Src]>) -> Box<[Src]> {
        if *srcs == [Src::Slot(dst)] { Box::default() } else { srcs }
    }

    fn push(&mut self, phase: Phase, step: Step) {
        let steps = match phase {
            Phase::Head => &mut self.task.head,
            Phase::Blocks => &mut self.task.blocks,
            Phase::Tail => &mut self.task.tail,
        };
        if !steps.last_mut().is_some_and(|last| pair(last, &step) || together(last, &step)) {
            steps.push(step);
        }
    }

    /// What instruction i does, whose result has slot `dst`.
    fn action(&mut self, i: usize, dst: u32) -> Result<Action, RingError> {
        let ring = &self.rings[self.task.ring];
        Ok(match self.flow.program.instruction(i) {
            Instruction::Add { .. } => Action::Add,
            Instruction::Sub { .. } => Action::Sub,
            Instruction::Neg { .. } => Action::Neg,
            Instruction::Mul { .. } => Action::Mul,
            Instruction::Mac { .. } => Action::Mac,
            Instruction::MulConst { constant, .. } => Action::MulConst(ring.factor(constant)),
            Instruction::AddConst { constant, .. } => Action::AddConst(constant),
            Instruction::SubMulConst { constant, .. } => Action::SubMulConst(ring.factor(constant)),
            Instruction::Lift { src, .. } => Action::Lift(self.modulus(src)),
            Instruction::Quotient { sources, .. } => {
                let moduli: Vec<_> = sources.iter().map(|&o| self.modulus(o)).collect();
                Action::Quotient(self.tables.basis(&moduli)?)
            }
            Instruction::Convert { sources, .. } => {
                let moduli: Vec<_> = sources.iter().map(|&o| self.modulus(o)).collect();
                let ring =
                    self.flow.program.defined(i).and_then(|v| self.flow.program.value_type(v).modulus());
                let ring = ring.map_or(0, ModulusId::index);
                let constants = self.tables.conversion(&moduli, self.rings[ring].modulus())?;
                Action::Convert([Conversion { dst, constants, ring: ring as u32 }].into())
            }
            Instruction::Automorphism { dst: image, galois, .. } => {
                let permutation = self.tables.permutation(ring.log_n(), galois)?;
                match self.groups.ready(image) {
                    Phase::Tail => Action::Scatter(permutation),
                    _ => Action::Permute(permutation),
                }
            }
            Instruction::Load { .. }
            | Instruction::Store { .. }
            | Instruction::Ntt { .. }
            | Instruction::Intt { .. }
            | Instruction::Dot { .. } => Action::Copy,
        })
    }

    fn modulus(&self, operand: Operand) -> Modulus {
        let program = self.flow.program;
        let id = program.operand_type(operand).modulus();
        id.map_or_else(|| unreachable!("the verifier admits residues only"), |id| program.modulus(id))
    }
}
