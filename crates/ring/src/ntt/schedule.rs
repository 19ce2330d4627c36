//! Which passes a transform makes, in which order, and which of them reduce: decided when the plan is made.

use crate::{lanes::U64Lanes, ntt::arith::Arith, source};

/// What a run does to each of its blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `log_radix` stages through memory. `first`: the root, where words enter (forward) or leave (inverse).
    Pass { log_radix: usize, first: bool, reduce: bool },
    /// The last 2·log2(L) stages of blocks of L·L words, in registers.
    Last,
}

/// `count` neighbouring blocks of `len` words from `offset`; the first is tree node `node`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) kind: Kind,
    pub(super) offset: usize,
    pub(super) len: usize,
    pub(super) node: usize,
    pub(super) count: usize,
}

/// How the runs divide: first those across the whole limb, then those of each region in turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Region {
    /// Runs across the whole limb.
    pub(super) outer: usize,
    /// Words of a region.
    pub(super) words: usize,
    /// Runs of a region.
    pub(super) runs: usize,
}

impl Region {
    /// The division of the runs of N words.
    pub(super) fn of(runs: &[Run], n: usize) -> Self {
        let across = |run: &Run| run.kind != Kind::Last && run.len * run.count == n;
        let outer = runs.iter().take_while(|run| across(run)).count();
        let words = runs.get(outer).map_or(n, |run| run.len * run.count);
        Self { outer, words, runs: (runs.len() - outer) * words / n }
    }
}

/// Blocks of at most this many words are finished before the next is begun.
const REGION: usize = source::BLOCK;

/// log2 of the radices of the passes that do `stages` stages, as even as `max` allows, larger ones first.
fn radices(stages: usize, max: usize) -> Vec<usize> {
    let passes = stages.div_ceil(max);
    (0..passes).map(|i| stages / passes + usize::from(i < stages % passes)).collect()
}

/// The bound after `stages` stages from `bound`, or `None` if an operand would pass its limit on the way.
fn after<A: Arith>(mut bound: u64, stages: usize, reducing: u32) -> Option<u64> {
    for stage in 0..stages {
        let x = if reducing >> stage & 1 == 1 { A::reduced(bound) } else { bound };
        if bound > A::MULTIPLIABLE {
            return None;
        }
        bound = A::grow(x, bound);
        if bound > A::REPRESENTABLE {
            return None;
        }
    }
    Some(bound)
}

/// log2 of the radix and whether to reduce, for each pass before the last one.
fn passes<A: Arith>(log_n: u32) -> Vec<(usize, bool)> {
    let last = 2 * <A::L as U64Lanes>::WIDTH.trailing_zeros() as usize;
    let mut bound = A::CANONICAL;
    let plan: Vec<(usize, bool)> = radices(log_n as usize - last, A::MAX_LOG_RADIX)
        .into_iter()
        .map(|log_radix| {
            // The next pass multiplies half of the words at once.
            let through = |mask| after::<A>(bound, log_radix, mask).filter(|&b| b <= A::MULTIPLIABLE);
            let reduce = through(0).is_none();
            bound = through(if reduce { A::REDUCING } else { 0 }).expect("reduced in bounds; see the tests");
            (log_radix, reduce)
        })
        .collect();
    after::<A>(bound, last, A::LAST_REDUCING).expect("reduced in bounds; see the tests");
    plan
}

/// The runs of the forward transform in order. The inverse makes them backwards.
pub(super) fn runs<A: Arith>(log_n: u32) -> Vec<Run> {
    let (n, block) = (1usize << log_n, <A::L as U64Lanes>::WIDTH * <A::L as U64Lanes>::WIDTH);
    let (mut runs, mut region, mut inner) = (Vec::new(), n, Vec::new());
    for (i, (log_radix, reduce)) in passes::<A>(log_n).into_iter().enumerate() {
        let kind = Kind::Pass { log_radix, first: i == 0, reduce };
        if i == 0 || region > REGION {
            runs.push(Run { kind, offset: 0, len: region, node: n / region, count: n / region });
            region >>= log_radix;
        } else {
            inner.push((kind, log_radix));
        }
    }
    if inner.is_empty() {
        region = n;
    }
    for offset in (0..n).step_by(region) {
        let mut len = region;
        let run = |kind, len| Run { kind, offset, len, node: (n + offset) / len, count: region / len };
        for &(kind, log_radix) in &inner {
            runs.push(run(kind, len));
            len >>= log_radix;
        }
        runs.push(run(Kind::Last, block));
    }
    runs
}
