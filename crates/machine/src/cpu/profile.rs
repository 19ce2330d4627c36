//! Where the time of a run goes: every step timed, its traffic and its multiplications counted.
//!
//! A step is one kernel call on a limb or a block. Its *bytes* are those of operands that come from the inputs or from
//! another task, and of results that leave the task: what stays in a worker's scratch is not counted. Its
//! *multiplications* are counted by the plain-code twin of its kernel ([`ringmill_ring::lanes::multiplications`]),
//! once for each shape, so that no formula can be out of step with a kernel.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::mem::{Discriminant, discriminant};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ringmill_ring::lanes::multiplications;
use ringmill_ring::{LimbRing, RingError};
use smallvec::SmallVec;

use super::plan::{Action, Plan, Slot, Src, Step, Task};
use super::run;

/// A kind of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// Coefficients to evaluations, with what is lifted on the way.
    Ntt,
    /// Evaluations to coefficients, with the constant they are multiplied by.
    Intt,
    /// Inner products: those with keys, and others of a sum of products.
    InnerProduct,
    /// Base conversions with their quotients and lifts.
    Conversion,
    /// Sums, differences and products of two limbs or of a limb and a constant.
    Pointwise,
    /// Permutations of words.
    Automorphism,
    /// Limbs moved as they are.
    Copy,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 7] = [
        Self::Ntt,
        Self::Intt,
        Self::InnerProduct,
        Self::Conversion,
        Self::Pointwise,
        Self::Automorphism,
        Self::Copy,
    ];

    /// Its name, as text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ntt => "transform",
            Self::Intt => "inverse transform",
            Self::InnerProduct => "inner product",
            Self::Conversion => "base conversion",
            Self::Pointwise => "sum or product",
            Self::Automorphism => "automorphism",
            Self::Copy => "copy",
        }
    }

    fn of(action: &Action) -> Self {
        match action {
            Action::ForwardHead(_)
            | Action::ForwardBlocks { .. }
            | Action::ForwardDifference(_)
            | Action::Short(_)
            | Action::Repeat(_) => Self::Ntt,
            Action::InverseBlocks { .. } | Action::InverseTail(_) => Self::Intt,
            Action::Dot { .. } | Action::DotPair { .. } => Self::InnerProduct,
            Action::Quotient(_) | Action::Convert(_) | Action::Lift(_) => Self::Conversion,
            Action::Permute(_) | Action::Scatter(_) => Self::Automorphism,
            Action::Copy => Self::Copy,
            Action::Add
            | Action::Sub
            | Action::Neg
            | Action::Mul
            | Action::Mac
            | Action::MulConst(_)
            | Action::AddConst(_)
            | Action::SubMulConst(_)
            | Action::MulAdd(_)
            | Action::SubMulAdd(_) => Self::Pointwise,
        }
    }
}

/// What the steps of one kind took.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spent {
    /// Kernel calls.
    pub steps: u64,
    /// Without the clock's own part.
    pub time: Duration,
    /// Bytes read from and written to memory outside of a worker's scratch.
    pub bytes: u64,
    /// Words that multiplying instructions take.
    pub multiplications: u64,
}

/// Steps of one shape take the same multiplications.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Shape {
    kind: Kind,
    action: Discriminant<Action>,
    /// Whether a transform lifts or multiplies on the way.
    extra: bool,
    /// See [`Action::rings`].
    rings: SmallVec<[usize; 8]>,
    operands: usize,
    words: usize,
}

impl Shape {
    fn of(step: &Step, ring: usize, words: usize) -> Self {
        let action = &step.action;
        Self {
            kind: Kind::of(action),
            action: discriminant(action),
            extra: matches!(action, Action::ForwardHead(Some(_)) | Action::InverseTail(Some(_))),
            rings: action.rings(ring),
            operands: step.srcs.len(),
            words,
        }
    }
}

/// The profile of one program: for each shape of step the run that took it the least, which others disturbed least.
#[derive(Debug, Default)]
pub struct Profile(Mutex<Best>);

#[derive(Debug, Default)]
struct Best {
    runs: u64,
    rows: HashMap<Shape, Spent>,
    /// Multiplications of one step, counted in the first run that has it.
    each: HashMap<Shape, u64>,
}

impl Profile {
    fn best(&self) -> MutexGuard<'_, Best> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What each kind took, in the order of [`Kind::ALL`]; kinds that did not occur are left out.
    pub fn by_kind(&self) -> Vec<(Kind, Spent)> {
        let mut kinds: BTreeMap<Kind, Spent> = BTreeMap::new();
        for (shape, spent) in &self.best().rows {
            let sum = kinds.entry(shape.kind).or_default();
            sum.steps += spent.steps;
            sum.time += spent.time;
            sum.bytes += spent.bytes;
            sum.multiplications += spent.multiplications;
        }
        kinds.into_iter().collect()
    }

    /// Forgets what was timed, as after a run that only made memory.
    pub fn reset(&self) {
        let mut best = self.best();
        best.runs = 0;
        best.rows.clear();
    }

    /// Runs that were timed.
    pub fn runs(&self) -> u64 {
        self.best().runs
    }

    /// For a run.
    pub(super) fn timer(&self) -> Timer {
        Timer::new(self.best().each.clone())
    }

    pub(super) fn add(&self, timer: Timer) {
        let mut best = self.best();
        best.runs += 1;
        best.each.extend(timer.each);
        for (shape, spent) in timer.rows {
            let known = best.rows.entry(shape).or_insert(spent);
            if spent.time < known.time {
                *known = spent;
            }
        }
    }
}

/// Sees the steps of a run as they end.
pub(super) trait Probe {
    /// A step is about to begin.
    fn begin(&mut self);
    /// It has ended, on `words` words.
    fn end(&mut self, plan: &Plan, task: &Task, step: &Step, words: usize) -> Result<(), RingError>;
}

/// Sees nothing and costs nothing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Blind;

impl Probe for Blind {
    #[inline(always)]
    fn begin(&mut self) {}
    #[inline(always)]
    fn end(&mut self, _: &Plan, _: &Task, _: &Step, _: usize) -> Result<(), RingError> {
        Ok(())
    }
}

/// Times every step.
#[derive(Debug)]
pub(super) struct Timer {
    began: Instant,
    /// What a look at the clock takes.
    clock: Duration,
    rows: HashMap<Shape, Spent>,
    /// Multiplications of one step of each shape that is known.
    each: HashMap<Shape, u64>,
}

impl Timer {
    fn new(each: HashMap<Shape, u64>) -> Self {
        const LOOKS: u32 = 1000;
        let began = Instant::now();
        for _ in 0..LOOKS {
            std::hint::black_box(Instant::now());
        }
        Self { began, clock: began.elapsed() / LOOKS, rows: HashMap::new(), each }
    }
}

impl Probe for Timer {
    fn begin(&mut self) {
        self.began = Instant::now();
    }

    fn end(&mut self, plan: &Plan, task: &Task, step: &Step, words: usize) -> Result<(), RingError> {
        let time = self.began.elapsed().saturating_sub(self.clock);
        let shape = Shape::of(step, task.ring, words);
        let each = match self.each.entry(shape.clone()) {
            Entry::Occupied(each) => *each.get(),
            Entry::Vacant(each) => *each.insert(counted(plan, task, step, words)?),
        };
        let spent = self.rows.entry(shape).or_default();
        spent.steps += 1;
        spent.time += time;
        spent.bytes += bytes(task, step, words);
        spent.multiplications += each;
        Ok(())
    }
}

/// Bytes of a step that do not stay within its task.
fn bytes(task: &Task, step: &Step, words: usize) -> u64 {
    // A transform asks for operands of later steps, beside its own in the first stages: they count where they are read.
    let operands = match step.action {
        Action::ForwardBlocks { .. } => 0,
        Action::ForwardHead(_) => step.srcs.len().min(1),
        Action::InverseBlocks { apart } => usize::from(apart),
        _ => step.srcs.len(),
    };
    let outside = |src: &&Src| matches!(src, Src::Input(_) | Src::Read(_));
    let read = step.srcs[..operands].iter().filter(outside).count();
    let leaves = |slot: u32| matches!(task.slots[slot as usize], Slot::Shared(_));
    let others = match &step.action {
        Action::DotPair { second, .. } => usize::from(leaves(*second)),
        Action::Convert(all) => all[1..].iter().filter(|to| leaves(to.dst)).count(),
        _ => 0,
    };
    let written = usize::from(leaves(step.dst)) + others;
    8 * words as u64 * (read + written) as u64
}

/// Multiplications of a step, counted by running it on the plain-code twin.
fn counted(plan: &Plan, task: &Task, step: &Step, words: usize) -> Result<u64, RingError> {
    let twin = |ring: &LimbRing| LimbRing::with_isa(ring.log_n(), ring.modulus(), ring.isa().twin());
    let before = multiplications();
    run::alone(plan, task, step, words, &twin)?;
    Ok(multiplications() - before)
}
