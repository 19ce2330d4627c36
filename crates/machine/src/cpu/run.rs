//! Running one task.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use ringmill_ring::dense::Packing;
use ringmill_ring::ntt::{Difference, DifferenceFactor};
use ringmill_ring::{LimbRing, LimbSource, RingError};
use smallvec::SmallVec;

use super::made::Made;
use super::plan::{Action, Conversion, Plan, Short, Slot, Src, Step, Task};
use super::profile::Probe;
use crate::{MachineError, Watch};

/// A limb that several tasks see, one at a time for writing. Tasks are started in an order in which no lock is ever
/// waited for; the locks make that a matter of speed only.
pub(super) type SharedLimb<'a> = RwLock<&'a mut [u64]>;

/// What all tasks of a run see.
#[derive(Clone, Copy)]
pub(super) struct Context<'r, 's> {
    pub(super) plan: &'r Plan,
    pub(super) inputs: &'r [LimbSource<'r>],
    /// Whether some of them are made as they are read.
    pub(super) makes: bool,
    /// Buffers, then outputs.
    pub(super) shared: &'r [SharedLimb<'s>],
    /// Hears of every task, and ends the run before the next one.
    pub(super) watch: &'r Watch,
}

/// Words between the starts of limbs in memory: N and a little, so that equal words of many limbs do not fall
/// into one cache set.
pub(crate) const fn stride(n: usize) -> usize {
    n + 17 * 8
}

/// Words of scratch that a worker needs.
pub(super) fn scratch_words(plan: &Plan, n: usize) -> usize {
    plan.scratch_limbs * stride(n) + plan.scratch_blocks * stride(plan.block)
}

/// Runs one task.
pub(super) fn run(
    context: Context<'_, '_>,
    task: &Task,
    scratch: &mut [u64],
    probe: &mut impl Probe,
) -> Result<(), MachineError> {
    context.watch.go_on()?;
    let plan = context.plan;
    let n = plan.rings[task.ring].n();
    let block = plan.block.max(task.block).min(n);
    let reads: SmallVec<[_; 72]> = task.reads.iter().map(|&id| read(&context.shared[id as usize])).collect();
    let reads: SmallVec<[&[u64]; 72]> = reads.iter().map(|guard| &***guard).collect();
    let mut guards: SmallVec<[_; 48]> = task.slots.iter().filter_map(|slot| write(context, *slot)).collect();
    let mut guards = guards.iter_mut();
    let (limbs, blocks) = scratch.split_at_mut(plan.scratch_limbs * stride(n));
    let (mut limbs, mut blocks) =
        (limbs.chunks_exact_mut(stride(n)), blocks.chunks_exact_mut(stride(plan.block)));
    let slots = task.slots.iter().filter_map(|slot| match slot {
        Slot::Shared(_) => guards.next().map(|guard| &mut ***guard),
        Slot::Limb(_) => limbs.next().map(|limb| &mut limb[..n]),
        Slot::Block(_) => blocks.next().map(|block| &mut block[..plan.block]),
    });
    let mut running = Running {
        plan,
        rings: &plan.rings,
        ring: &plan.rings[task.ring],
        inputs: context.inputs,
        made: if context.makes {
            Made::of(task, &plan.rings[task.ring], context.inputs, block)
        } else {
            Made::default()
        },
        reads: &reads,
        shorts: &plan.shorts,
        kinds: &task.slots,
        slots: slots.collect(),
    };
    let mut step = |step: &Step, first, words| {
        probe.begin();
        running.made.reach(step, first, first + words);
        running.step(step, first, words)?;
        probe.end(plan, task, step, words)
    };
    task.head.iter().try_for_each(|head| step(head, 0, n))?;
    if !task.blocks.is_empty() {
        for first in (0..n).step_by(block) {
            task.blocks.iter().try_for_each(|blocks| step(blocks, first, block))?;
        }
    }
    task.tail.iter().try_for_each(|tail| step(tail, 0, n))?;
    context.watch.step();
    Ok(())
}

/// One step of a task on zeros, in rings that `twin` makes of the plan's.
pub(super) fn alone(
    plan: &Plan,
    task: &Task,
    step: &Step,
    words: usize,
    twin: &dyn Fn(&LimbRing) -> Result<LimbRing, RingError>,
) -> Result<(), RingError> {
    // Only the rings that the step works in: tables of all of them would take a while.
    let works_in = step.action.rings(task.ring);
    let ring = twin(&plan.rings[works_in[0]])?;
    let mut rings: Vec<LimbRing> = vec![ring.clone(); plan.rings.len()];
    for &i in &works_in[1..] {
        rings[i] = twin(&plan.rings[i])?;
    }
    let mut shorts = plan.shorts.clone();
    if let Action::Short(i) = step.action {
        let short = &mut shorts[i as usize];
        short.plan = ring.plan().subring(short.plan.n().trailing_zeros())?;
    }
    let zeros = vec![0; ring.n()];
    let inputs = step.srcs.iter().map(|src| if let Src::Input(i) = src { *i as usize + 1 } else { 0 });
    let inputs = vec![LimbSource::Words(&zeros); inputs.max().unwrap_or(0)];
    let reads = vec![&zeros[..]; task.reads.len()];
    let mut limbs = vec![vec![0; ring.n()]; task.slots.len()];
    let slots = limbs.iter_mut().map(Vec::as_mut_slice).collect();
    let (inputs, reads, made, kinds) = (&inputs, &reads, Made::default(), &task.slots);
    Running { plan, rings: &rings, ring: &ring, inputs, made, reads, shorts: &shorts, kinds, slots }
        .step(step, 0, words)
}

fn read<'g, 'a>(limb: &'g SharedLimb<'a>) -> RwLockReadGuard<'g, &'a mut [u64]> {
    limb.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<'r, 's>(context: Context<'r, 's>, slot: Slot) -> Option<RwLockWriteGuard<'r, &'s mut [u64]>> {
    let Slot::Shared(id) = slot else { return None };
    Some(context.shared[id as usize].write().unwrap_or_else(PoisonError::into_inner))
}

/// A task under way.
struct Running<'a> {
    plan: &'a Plan,
    rings: &'a [LimbRing],
    ring: &'a LimbRing,
    inputs: &'a [LimbSource<'a>],
    made: Made<'a>,
    reads: &'a [&'a [u64]],
    shorts: &'a [Short],
    kinds: &'a [Slot],
    slots: SmallVec<[&'a mut [u64]; 56]>,
}

/// As many sources as a base conversion takes, with its quotient; longer inner products go to the heap.
type Operands<'s> = SmallVec<[&'s [u64]; 66]>;

impl<'a> Running<'a> {
    /// Words `first` .. `first + words` of an operand.
    fn operand(&self, src: Src, first: usize, words: usize) -> &[u64] {
        match src {
            Src::Input(i) => {
                let there = self.inputs[i as usize].together(first, words);
                there.unwrap_or_else(|| self.made.words(i, first, words))
            }
            Src::Read(i) => &self.reads[i as usize][first..first + words],
            Src::Slot(i) => match self.kinds[i as usize] {
                Slot::Block(_) => &self.slots[i as usize][..words],
                Slot::Limb(_) | Slot::Shared(_) => &self.slots[i as usize][first..first + words],
            },
            Src::Image { slot, permutation } => {
                let image = self.plan.permutations[permutation as usize].image(first, words);
                &self.slots[slot as usize][image..image + words]
            }
        }
    }

    /// The same of all operands of a step.
    fn operands(&self, step: &Step, first: usize, words: usize) -> Operands<'_> {
        step.srcs.iter().map(|&src| self.operand(src, first, words)).collect()
    }

    /// The same of an inner product; how its right factors stand.
    fn factors(&self, step: &Step, first: usize, words: usize) -> (Operands<'_>, Packing) {
        let Some(left) = dense_from(step, self.ring, self.inputs, words) else {
            return (self.operands(step, first, words), Packing::Words);
        };
        let factor = |(i, &src): (usize, &Src)| match src {
            Src::Input(input) if i >= left => {
                self.inputs[input as usize].standing(Packing::Dense, first, words)
            }
            _ => Some(self.operand(src, first, words)),
        };
        (step.srcs.iter().enumerate().filter_map(factor).collect(), Packing::Dense)
    }

    /// The same of operands that will be read later, in the pieces in which they stand, as many as need no heap: more would not
    /// stay in the caches. What is made as it is read cannot be asked for.
    fn ahead(&self, srcs: &[Src], first: usize, words: usize) -> Operands<'_> {
        let mut wanted = Operands::new();
        for &src in srcs {
            let left = wanted.inline_size() - wanted.len();
            match src {
                Src::Input(i) => wanted.extend(self.inputs[i as usize].pieces(first, words).take(left)),
                _ if left > 0 => wanted.push(self.operand(src, first, words)),
                _ => {}
            }
        }
        wanted
    }

    /// The same of the block after the one from `first` on; after the last one nothing comes.
    fn next(&self, srcs: &[Src], first: usize, words: usize) -> Operands<'_> {
        let next = first + words;
        if next < self.ring.n() { self.ahead(srcs, next, words) } else { Operands::new() }
    }

    fn step(&mut self, step: &Step, first: usize, words: usize) -> Result<(), RingError> {
        let dst = step.dst as usize;
        match &step.action {
            Action::DotPair { made, second } => return self.dot_pair(step, *made, *second, first, words),
            Action::Convert(targets) => return self.convert(step, targets, first, words),
            Action::ForwardDifference(factor) => return self.difference(step, factor, first, words),
            _ => {}
        }
        // Steps never read their own slot, so it can be taken out of the table meanwhile.
        let slot = std::mem::take(&mut self.slots[dst]);
        if let Some(done) = self.on_limb(step, slot, first, words) {
            self.slots[dst] = slot;
            return done;
        }
        let start = self.start(dst, first);
        let done = self.kernel(step, &mut slot[start..start + words], first);
        self.slots[dst] = slot;
        done
    }

    /// Where the words from `first` on stand in a slot.
    fn start(&self, slot: usize, first: usize) -> usize {
        if matches!(self.kinds[slot], Slot::Block(_)) { 0 } else { first }
    }

    /// Does some work on slots, which are out of the table meanwhile: steps never read their own.
    fn on_slots<T>(&mut self, slots: &[u32], work: impl FnOnce(&Self, &mut [&'a mut [u64]]) -> T) -> T {
        let take = |&slot: &u32| std::mem::take(&mut self.slots[slot as usize]);
        let mut taken: SmallVec<[&mut [u64]; 8]> = slots.iter().map(take).collect();
        let done = work(self, &mut taken);
        for (&slot, words) in slots.iter().zip(taken) {
            self.slots[slot as usize] = words;
        }
        done
    }

    fn dot_pair(
        &mut self,
        step: &Step,
        made: usize,
        second: u32,
        first: usize,
        words: usize,
    ) -> Result<(), RingError> {
        let dst = [step.dst, second];
        self.on_slots(&dst, |running, slots| {
            let [x, y] = slots else { unreachable!("two were asked for") };
            let starts = dst.map(|dst| running.start(dst as usize, first));
            let out = [&mut x[starts[0]..starts[0] + words], &mut y[starts[1]..starts[1] + words]];
            let (operands, packing) = running.factors(step, first, words);
            let (a, b) = operands.split_at(operands.len() / 3);
            let (b, c) = b.split_at(a.len());
            running.ring.dot_factors(out, a, made, [b, c], packing)
        })
    }

    fn convert(
        &mut self,
        step: &Step,
        targets: &[Conversion],
        first: usize,
        words: usize,
    ) -> Result<(), RingError> {
        let slots: SmallVec<[u32; 8]> = targets.iter().map(|to| to.dst).collect();
        self.on_slots(&slots, |running, slots| {
            let conversions = &running.plan.conversions;
            let operands = running.operands(step, first, words);
            let (y, v) = operands.split_at(conversions[targets[0].constants as usize].factors().len());
            let targets = slots.iter_mut().zip(targets).map(|(slot, to)| {
                let start = running.start(to.dst as usize, first);
                let (ring, constants) =
                    (&running.rings[to.ring as usize], &conversions[to.constants as usize]);
                ring.convert_target(constants, &mut slot[start..start + words])
            });
            let mut targets = targets.collect::<Result<SmallVec<[_; 8]>, _>>()?;
            running.ring.convert_all(&mut targets, y, v.first().copied())
        })
    }

    /// Asks for what it needs of the next block meanwhile.
    fn difference(
        &mut self,
        step: &Step,
        factor: &DifferenceFactor,
        first: usize,
        words: usize,
    ) -> Result<(), RingError> {
        let Src::Slot(limb) = step.srcs[0] else { unreachable!("a transform works in a slot") };
        self.on_slots(&[step.dst, limb], |running, slots| {
            let [out, limb] = slots else { unreachable!("two were asked for") };
            let dst = step.dst as usize;
            let (out, later) = out[running.start(dst, first)..].split_at_mut(words);
            let left = words.min(limb.len() - first - words);
            let mut ahead = running.next(&step.srcs[1..], first, words);
            if matches!(running.kinds[dst], Slot::Shared(_)) {
                ahead.push(&later[..left]);
            }
            let from = running.operand(step.srcs[1], first, words);
            let plus = step.srcs.get(2).map(|&src| running.operand(src, first, words));
            let difference = Difference { out, from, plus, factor };
            running.ring.plan().forward_difference(limb, first, difference, &ahead)
        })
    }

    /// A step of a transform or permutation, which works within the whole limb.
    fn on_limb(
        &self,
        step: &Step,
        limb: &mut [u64],
        first: usize,
        words: usize,
    ) -> Option<Result<(), RingError>> {
        let plan = self.ring.plan();
        let source = step.srcs.first();
        let ahead = |srcs: &[Src], first, words| self.ahead(srcs, first, words);
        Some(match &step.action {
            Action::ForwardHead(lift) => {
                let (&s, ahead) = (source?, ahead(&step.srcs[1..], 0, words));
                if s == Src::Slot(step.dst) {
                    plan.forward_head(limb, &ahead)
                } else {
                    plan.forward_head_from(limb, self.operand(s, 0, words), lift.as_ref(), &ahead)
                }
            }
            Action::ForwardBlocks { factors: false } => {
                plan.forward_blocks(limb, first, words, &ahead(&step.srcs, first, words))
            }
            Action::ForwardBlocks { factors: true } => {
                self.ring.forward_factors(limb, first, words, &ahead(&step.srcs, first, words))
            }
            Action::Short(short) => {
                let whole = self.operand(*source?, 0, limb.len());
                self.shorts[*short as usize].forward(limb, whole)
            }
            Action::InverseBlocks { apart } => {
                let ahead = self.next(&step.srcs[usize::from(*apart)..], first, words);
                match source.filter(|_| *apart) {
                    None => plan.inverse_blocks(limb, first, words, &ahead),
                    Some(&s) => plan.inverse_blocks_from(limb, first, self.operand(s, first, words), &ahead),
                }
            }
            Action::InverseTail(None) => plan.inverse_tail(limb),
            Action::InverseTail(Some(factor)) => plan.inverse_tail_times(limb, factor),
            Action::Scatter(permutation) => {
                let block = self.operand(*source?, first, words);
                let permutation = &self.plan.permutations[*permutation as usize];
                self.ring.automorphism_scatter(limb, block, permutation, first)
            }
            _ => return None,
        })
    }

    fn kernel(&self, step: &Step, out: &mut [u64], first: usize) -> Result<(), RingError> {
        let (ring, words) = (self.ring, out.len());
        let src = |i: usize| self.operand(step.srcs[i], first, words);
        let all = || self.operands(step, first, words);
        match &step.action {
            Action::Copy => {
                out.copy_from_slice(src(0));
                Ok(())
            }
            Action::ForwardHead(_)
            | Action::ForwardBlocks { .. }
            | Action::Short(_)
            | Action::InverseBlocks { .. }
            | Action::InverseTail(_)
            | Action::Scatter(_)
            | Action::ForwardDifference(_)
            | Action::Convert(_)
            | Action::DotPair { .. } => Ok(()),
            Action::Add => ring.add(out, src(0), src(1)),
            Action::Sub => ring.sub(out, src(0), src(1)),
            Action::Neg => ring.neg(out, src(0)),
            Action::Mul => ring.mul(out, src(0), src(1)),
            Action::Mac => {
                out.copy_from_slice(src(0));
                ring.mac(out, src(1), src(2))
            }
            Action::Repeat(log) => {
                let few = self.operand(step.srcs[0], 0, ring.n() >> log);
                repeat(out, &few[first >> log..], *log);
                Ok(())
            }
            Action::MulConst(c) => ring.mul_factor(out, src(0), c),
            Action::AddConst(c) => ring.add_scalar(out, src(0), *c),
            Action::SubMulConst(c) => ring.sub_mul_factor(out, src(0), src(1), c),
            Action::MulAdd(c) => ring.mul_add_factor(out, src(0), src(1), c),
            Action::SubMulAdd(c) => ring.sub_mul_add_factor(out, [src(0), src(1), src(2)], c),
            Action::Lift(from) => ring.lift(out, src(0), *from),
            Action::Quotient(basis) => ring.quotient(out, &all(), &self.plan.bases[*basis as usize]),
            Action::Dot { made } => {
                let (operands, packing) = self.factors(step, first, words);
                let (a, b) = operands.split_at(operands.len() / 2);
                ring.dot_factors([out], a, *made, [b], packing)
            }
            Action::Permute(permutation) => {
                let whole = self.operand(step.srcs[0], 0, ring.n());
                ring.automorphism_block(out, whole, &self.plan.permutations[*permutation as usize], first)
            }
        }
    }
}

/// The operand from which on an inner product reads all in dense form, in blocks of `words` words: the first
/// of its right factors. `None` if it reads none so.
pub(super) fn dense_from(
    step: &Step,
    ring: &LimbRing,
    inputs: &[LimbSource<'_>],
    words: usize,
) -> Option<usize> {
    let left = match step.action {
        Action::Dot { .. } => step.srcs.len() / 2,
        Action::DotPair { .. } => step.srcs.len() / 3,
        _ => return None,
    };
    let stands = |i: u32| inputs[i as usize].standing(Packing::Dense, 0, words).is_some();
    let dense = |src: &Src| matches!(*src, Src::Input(i) if stands(i));
    (ring.packing() == Packing::Dense && step.srcs[left..].iter().all(dense)).then_some(left)
}

impl Short {
    /// The transform of `whole`, in the first words of `limb`.
    fn forward(&self, limb: &mut [u64], whole: &[u64]) -> Result<(), RingError> {
        let (n, to) = (self.plan.n(), self.plan.modulus());
        let few = whole.iter().step_by(whole.len() / n);
        let out = &mut limb[..n];
        match self.from {
            None => out.iter_mut().zip(few).for_each(|(out, &x)| *out = x),
            Some(from) => {
                out.iter_mut().zip(few).for_each(|(out, &x)| *out = to.reduce_i64(from.centred(x)));
            }
        }
        self.plan.forward(out)
    }
}

/// The words of a block, which are those of `few`, 2^`log` times each.
fn repeat(block: &mut [u64], few: &[u64], log: u32) {
    for (out, &word) in block.chunks_mut(1 << log).zip(few) {
        out.fill(word);
    }
}
