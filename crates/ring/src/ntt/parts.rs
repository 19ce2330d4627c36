//! Transforms in parts, so that what stands before and after them is done while a block is in the cache.

use std::ops::Range;

use crate::{
    Modulus, RingError,
    ntt::{
        engine::{self, Lift},
        plan::{Direction, Plan},
        schedule::Region,
    },
};

/// See [`Plan::centred_lift`].
#[derive(Debug, Clone, Copy)]
pub struct CentredLift(Lift);

/// See [`Plan::tail_factor`].
#[derive(Debug, Clone, Copy)]
pub struct TailFactor([[u64; 2]; 2]);

/// See [`Plan::difference_factor`].
#[derive(Debug, Clone, Copy)]
pub struct DifferenceFactor([u64; 2]);

/// What [`Plan::forward_difference`] makes of a block: (`from` − the transform)·`factor` + `plus`, all of `out`'s length.
#[derive(Debug)]
pub struct Difference<'a> {
    /// The result.
    pub out: &'a mut [u64],
    /// Canonical.
    pub from: &'a [u64],
    /// Canonical.
    pub plus: Option<&'a [u64]>,
    /// Of the same plan.
    pub factor: &'a DifferenceFactor,
}

/// What stands around a part of a transform.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ends<'a> {
    /// What is read in place of the limb that is written, from word `first` of the limb on.
    pub(super) source: Option<&'a [u64]>,
    pub(super) first: usize,
    pub(super) lift: Option<Lift>,
    pub(super) scale: Option<[[u64; 2]; 2]>,
    pub(super) difference: Option<engine::Difference>,
    pub(super) factors: bool,
    /// What will be read soon, and what will be written of the limb itself: words from the first number on, as many as
    /// the second says.
    pub(super) ahead: &'a [&'a [u64]],
    pub(super) own: (usize, usize),
}

impl Plan {
    /// The words that the last stages of a transform keep to themselves: [`Self::forward_blocks`] takes multiples of it.
    /// At most N, a power of two.
    pub fn block_words(&self) -> usize {
        self.tables.region().words
    }
    /// The stages of [`Self::forward`] that reach across blocks; [`Self::forward_blocks`] on all blocks completes it. What
    /// stands in `ahead` is brought into the caches meanwhile.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn forward_head(&self, a: &mut [u64], ahead: &[&[u64]]) -> Result<(), RingError> {
        self.run_part(Direction::Forward, a, 0..self.tables.region().outer, Ends { ahead, ..Ends::default() })
    }
    /// [`Self::forward_head`] of the words of `source`, lifted on the way if they belong to another prime.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn forward_head_from(
        &self,
        a: &mut [u64],
        source: &[u64],
        lift: Option<&CentredLift>,
        ahead: &[&[u64]],
    ) -> Result<(), RingError> {
        self.check(source)?;
        let ends = Ends { source: Some(source), lift: lift.map(|l| l.0), ahead, ..Ends::default() };
        self.run_part(Direction::Forward, a, 0..self.tables.region().outer, ends)
    }
    /// How [`Self::forward_head_from`] takes words that are canonical modulo `from` to centred residues; none if `from`
    /// is not below four times the prime, where that takes more than two additions.
    pub fn centred_lift(&self, from: Modulus) -> Option<CentredLift> {
        let (s, m) = (from.value(), self.modulus().value());
        let lift = |offset: u64, less| {
            CentredLift(Lift { above_half: s / 2 + 1, offset: offset.wrapping_sub(s), less })
        };
        if s < 2 * m {
            // y ≤ s/2 < m stands for itself, y > s/2 for y − s > −m.
            Some(lift(m, None))
        } else {
            // y ≤ s/2 < 2m, and −2m < y − s for y > s/2: both are below 2m with 2m added to the latter.
            (s < 4 * m).then(|| lift(2 * m, Some(m)))
        }
    }
    /// How [`Self::forward_head_from`] takes integers of at most `bound` in absolute value, as words modulo 2^63; none if `bound`
    /// is not below twice the prime, or not below 2^62.
    pub fn integer_lift(&self, bound: u64) -> Option<CentredLift> {
        let m = self.modulus().value();
        let lift = |offset: u64, less| {
            CentredLift(Lift { above_half: 1 << 62, offset: offset.wrapping_sub(1 << 63), less })
        };
        // −m < x < 0 becomes x + m; −2m < x < 0 becomes x + 2m, and then m is taken from what is not below it.
        match bound {
            _ if bound >= 1 << 62 => None,
            _ if bound < m => Some(lift(m, None)),
            _ if bound < 2 * m => Some(lift(2 * m, Some(m))),
            _ => None,
        }
    }
    /// The other stages of [`Self::forward`] on `words` words from `first` on. What stands in `ahead` is brought into the
    /// cache meanwhile.
    ///
    /// # Errors
    /// [`RingError::Length`], also if `first` or `words` is no multiple of [`Self::block_words`] or beyond the limb.
    pub fn forward_blocks(
        &self,
        a: &mut [u64],
        first: usize,
        words: usize,
        ahead: &[&[u64]],
    ) -> Result<(), RingError> {
        self.forward_ending(a, (first, words), false, ahead)
    }
    /// [`Self::forward_blocks`], to words in the form of [`Self::factors`] if `factors`.
    ///
    /// # Errors
    /// As [`Self::forward_blocks`].
    pub(crate) fn forward_ending(
        &self,
        a: &mut [u64],
        (first, words): (usize, usize),
        factors: bool,
        ahead: &[&[u64]],
    ) -> Result<(), RingError> {
        let runs = self.inner_runs(first, words)?;
        self.run_part(Direction::Forward, a, runs, Ends { ahead, factors, ..Ends::default() })
    }
    /// [`Self::forward_blocks`] on the words from `first` on, as many as there are in `difference.out`, which gets the
    /// result: what is left in `a` has no meaning.
    ///
    /// # Errors
    /// As [`Self::forward_blocks`]; [`RingError::Length`] if the operands of the difference are not equally long.
    pub fn forward_difference(
        &self,
        a: &mut [u64],
        first: usize,
        difference: Difference<'_>,
        ahead: &[&[u64]],
    ) -> Result<(), RingError> {
        let Difference { out, from, plus, factor } = difference;
        let words = out.len();
        let runs = self.inner_runs(first, words)?;
        for got in [from.len(), plus.map_or(words, <[u64]>::len)] {
            if got != words {
                return Err(RingError::Length { what: "operand of a difference", expected: words, got });
            }
        }
        let difference = engine::Difference {
            out: out.as_mut_ptr().wrapping_sub(first),
            from: from.as_ptr().wrapping_sub(first),
            plus: plus.map(|plus| plus.as_ptr().wrapping_sub(first)),
            factor: factor.0,
            q: self.modulus().value(),
        };
        let ends = Ends { difference: Some(difference), ahead, ..Ends::default() };
        self.run_part(Direction::Forward, a, runs, ends)
    }
    /// A constant made ready for [`Self::forward_difference`]; any 64-bit c.
    pub fn difference_factor(&self, c: u64) -> DifferenceFactor {
        DifferenceFactor(self.tables.encoded(self.modulus(), self.modulus().reduce(c)))
    }
    /// The stages of [`Self::inverse`] that stay within blocks, on `words` words from `first` on;
    /// [`Self::inverse_tail`] completes it. What stands in `ahead` is brought into the cache meanwhile.
    ///
    /// # Errors
    /// As [`Self::forward_blocks`].
    pub fn inverse_blocks(
        &self,
        a: &mut [u64],
        first: usize,
        words: usize,
        ahead: &[&[u64]],
    ) -> Result<(), RingError> {
        let runs = self.inner_runs(first, words)?;
        self.run_part(Direction::Inverse, a, runs, Ends { ahead, ..Ends::default() })
    }
    /// [`Self::inverse_blocks`] of the words of `source`, a block that belongs at `first`. The block that follows where it
    /// is written is brought into the cache too.
    ///
    /// # Errors
    /// As [`Self::forward_blocks`].
    pub fn inverse_blocks_from(
        &self,
        a: &mut [u64],
        first: usize,
        source: &[u64],
        ahead: &[&[u64]],
    ) -> Result<(), RingError> {
        let runs = self.inner_runs(first, source.len())?;
        let end = first + source.len();
        let own = (end, source.len().min(self.n() - end));
        self.run_part(
            Direction::Inverse,
            a,
            runs,
            Ends { source: Some(source), first, ahead, own, ..Ends::default() },
        )
    }
    /// The stages of [`Self::inverse`] that reach across blocks.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn inverse_tail(&self, a: &mut [u64]) -> Result<(), RingError> {
        self.run_part(Direction::Inverse, a, 0..self.tables.region().outer, Ends::default())
    }
    /// [`Self::inverse_tail`] and a multiplication by a constant, which costs nothing there.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn inverse_tail_times(&self, a: &mut [u64], factor: &TailFactor) -> Result<(), RingError> {
        let ends = Ends { scale: Some(factor.0), ..Ends::default() };
        self.run_part(Direction::Inverse, a, 0..self.tables.region().outer, ends)
    }
    /// A constant made ready for [`Self::inverse_tail_times`]; any 64-bit c.
    pub fn tail_factor(&self, c: u64) -> TailFactor {
        TailFactor(self.tables.scaled(self.modulus(), self.modulus().reduce(c)))
    }
    /// The runs on `words` words from `first` on.
    fn inner_runs(&self, first: usize, words: usize) -> Result<Range<usize>, RingError> {
        let Region { outer, words: region, runs } = self.tables.region();
        let whole = first.is_multiple_of(region) && words.is_multiple_of(region);
        if !whole || first.saturating_add(words) > self.n() {
            return Err(RingError::Length { what: "block of a transform", expected: region, got: words });
        }
        Ok(outer + first / region * runs..outer + (first + words) / region * runs)
    }
}
