//! A program as this machine runs it: tasks of steps over slots.
//!
//! A *task* is what one thread does without waiting: instructions of one modulus that follow from each other. It has
//! three phases, because in the evaluation domain everything but transforms is word by word:
//!
//! 1. *head*, on whole limbs: what happens to coefficients, and the first stages of transforms;
//! 2. *blocks*, one block of words after the other so that it stays in the cache: the last stages of transforms,
//!    sums, products, the first stages of inverse transforms;
//! 3. *tail*, on whole limbs: the last stages of inverse transforms, and what happens to coefficients after them.

use ringmill_ring::ntt::{self, CentredLift, DifferenceFactor, TailFactor};
use ringmill_ring::{ConvertConstants, Factor, LimbRing, Modulus, Permutation, SourceBasis};
use smallvec::SmallVec;

/// Where a step reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Src {
    /// An input limb.
    Input(u32),
    /// A buffer or output written by an earlier task; index into [`Task::reads`].
    Read(u32),
    /// A slot of this task.
    Slot(u32),
    /// A slot of this task, the block that a permutation takes this one to: asked for, not read.
    Image { slot: u32, permutation: u32 },
}

/// Where a task keeps a limb or block that it writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// A buffer or output that other tasks read; an index into the run's table of [`Plan::buffers`] + outputs.
    Shared(u32),
    /// A limb of the worker's scratch.
    Limb(u32),
    /// A block of the worker's scratch: alive within one block only.
    Block(u32),
}

/// What a step does; operands are [`Step::srcs`] in the order of the instruction table.
#[derive(Debug, Clone)]
pub(super) enum Action {
    Copy,
    /// The stages of a transform across blocks, of the first operand, which may be the step's own slot. The other operands are
    /// read by later steps: they are brought into the caches.
    ForwardHead(Option<CentredLift>),
    /// Those within blocks, in place. The operands are read by later steps: they are brought into the cache. `factors`: inner
    /// products alone read the result, as left factors.
    ForwardBlocks {
        factors: bool,
    },
    /// The same, and [`Self::SubMulConst`] or [`Self::SubMulAdd`] on the way, of the second operand in place of the first.
    /// The first operand, a slot, is that of the transform.
    ForwardDifference(DifferenceFactor),
    /// The transform of an operand of which only every 2^k-th coefficient is used, in the first words of the
    /// slot. Index into [`Plan::shorts`].
    Short(u32),
    /// Each of the words that [`Self::Short`] left, 2^k times.
    Repeat(u32),
    /// The stages of an inverse transform within blocks, of the first operand if it stands apart, or in place. Of the other
    /// operands it is the next block that later steps read: it is brought into the cache.
    InverseBlocks {
        apart: bool,
    },
    /// Those across blocks, in place, and a product by a constant.
    InverseTail(Option<TailFactor>),
    Add,
    Sub,
    Neg,
    Mul,
    Mac,
    MulConst(Factor),
    AddConst(u64),
    SubMulConst(Factor),
    /// The product of the first operand by a constant, plus the second operand.
    MulAdd(Factor),
    /// The difference of the first two operands times a constant, plus the third.
    SubMulAdd(Factor),
    Lift(Modulus),
    /// Index into [`Plan::bases`].
    Quotient(u32),
    /// From the same operands to each of these primes; the first slot is the step's own. If there is one operand more than
    /// source primes, it is the quotient.
    Convert(Box<[Conversion]>),
    /// The first half of the operands times the second half; as many as `made`, the first, are factors that transforms left.
    Dot {
        made: usize,
    },
    /// Two inner products: the first third of the operands times the second and times the third; the slot of the latter.
    DotPair {
        made: usize,
        second: u32,
    },
    /// Index into [`Plan::permutations`]. Reads all over its operand.
    Permute(u32),
    /// The same permutation of an operand that this task makes block by block. Writes all over its slot, which is whole
    /// after the last block.
    Scatter(u32),
}

impl Action {
    /// Indices into [`Plan::rings`] of the rings that a step works in, in a task of ring `own`.
    pub(super) fn rings(&self, own: usize) -> SmallVec<[usize; 8]> {
        match self {
            Self::Convert(all) => all.iter().map(|conversion| conversion.ring as usize).collect(),
            _ => SmallVec::from_slice(&[own]),
        }
    }
}

/// A base conversion, which may stand in a task of another prime.
#[derive(Debug, Clone, Copy)]
pub(super) struct Conversion {
    /// Index into [`Task::slots`].
    pub(super) dst: u32,
    /// Index into [`Plan::conversions`].
    pub(super) constants: u32,
    /// Index into [`Plan::rings`].
    pub(super) ring: u32,
}

/// The transform of a polynomial in X^(N/n).
#[derive(Debug, Clone)]
pub(super) struct Short {
    /// That of degree n.
    pub(super) plan: ntt::Plan,
    /// The modulus of the operand, if it is another one.
    pub(super) from: Option<Modulus>,
}

/// One kernel call.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) action: Action,
    /// Index into [`Task::slots`].
    pub(super) dst: u32,
    pub(super) srcs: Box<[Src]>,
}

/// What one thread does without waiting.
#[derive(Debug, Clone, Default)]
pub(super) struct Task {
    /// Index into [`Plan::rings`].
    pub(super) ring: usize,
    pub(super) slots: Vec<Slot>,
    /// Words of a block; 0: [`Plan::block`].
    pub(super) block: usize,
    /// Shared limbs that other tasks have written.
    pub(super) reads: Vec<u32>,
    pub(super) head: Vec<Step>,
    pub(super) blocks: Vec<Step>,
    pub(super) tail: Vec<Step>,
}

/// The whole program.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) rings: Vec<LimbRing>,
    pub(super) bases: Vec<SourceBasis>,
    pub(super) conversions: Vec<ConvertConstants>,
    pub(super) permutations: Vec<Permutation>,
    pub(super) shorts: Vec<Short>,
    pub(super) tasks: Vec<Task>,
    /// Tasks that wait for each task, and how many tasks each one waits for.
    pub(super) successors: Vec<Vec<u32>>,
    pub(super) waits: Vec<u32>,
    /// Limbs that outlive a task and are no outputs.
    pub(super) buffers: u32,
    /// Greatest number of scratch limbs and blocks of a task.
    pub(super) scratch_limbs: usize,
    pub(super) scratch_blocks: usize,
    /// Words of a block.
    pub(super) block: usize,
}
