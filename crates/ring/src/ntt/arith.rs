//! What the transform asks of an arithmetic modulo q.

use crate::{
    Modulus,
    form::Form,
    lanes::{Lanes, U64Lanes},
};

/// Modular arithmetic on vectors in a *working form*: any representatives, within bounds that are counted.
///
/// Forward, every word obeys one bound at a time; [`Self::grow`] says what a stage does to it and
/// [`crate::ntt::schedule`] decides from that which passes reduce. Inverse, sums double: the engine counts a bound
/// for each register while it is compiled, in units of q/8, and reduces where [`Self::INVERSE_LIMIT`] would be passed.
pub(super) trait Arith: Copy {
    /// The lanes it runs on.
    type L: Lanes;
    /// A vector in working form.
    type V: Copy;
    /// A constant w in registers.
    type C: Copy;

    /// Stages that one pass through memory does at most, so that its registers suffice.
    const MAX_LOG_RADIX: usize;
    /// Blocks of the last pass that are interleaved, 1 or 2.
    const LAST_BLOCKS: usize;
    /// Whether the last pass goes over two blocks at a time twice, above the transpose and below it. Sixteen registers hold
    /// no third block that would fill the waits of these two, so the processor must look ahead to the next ones: half a
    /// chain is half as far to look.
    const SPLIT: bool = Self::LAST_BLOCKS == 2 && <Self::L as U64Lanes>::WIDTH == 4;
    /// Whether the other passes interleave two vectors.
    const INTERLEAVED: bool;
    /// Whether forward passes of two stages do the second stage of a vector beside the first of the next: with sixteen
    /// registers, for the reason of [`Self::SPLIT`].
    const PIPED: bool = Self::INTERLEAVED && <Self::L as U64Lanes>::WIDTH == 4;
    /// The same for the lower half of a split last pass, in place of two blocks at a time.
    const PIPED_LAST: bool = false;

    /// Bounds are in units of q/2^12; this is the bound of canonical words.
    const CANONICAL: u64 = 1 << 12;
    /// The bound that words must obey to be multiplied, inclusive.
    const MULTIPLIABLE: u64;
    /// The bound that words must obey at all times, inclusive.
    const REPRESENTABLE: u64;
    /// Stages of a reducing pass (bit s: stage s) in which x is reduced first.
    const REDUCING: u32;
    /// The same for the last pass, which always reduces.
    const LAST_REDUCING: u32;
    /// Whether the first pass may reduce too.
    const FIRST_REDUCES: bool = false;
    /// The bound after x ± y·w, for x and y with these bounds.
    fn grow(x: u64, y: u64) -> u64;
    /// The bound after x is reduced.
    fn reduced(x: u64) -> u64;

    /// Inverse: the bound of a product, in units of q/8.
    const INVERSE_FRESH: u32;
    /// Inverse: the bound of words that were reduced.
    const INVERSE_REDUCED: u32;
    /// Inverse: the greatest bound of x + y, and so of y − x before it is multiplied.
    const INVERSE_LIMIT: u32;
    /// Inverse: the greatest bound of x; y may have the rest.
    const INVERSE_X: u32 = Self::INVERSE_LIMIT / 2;
    /// Inverse: the bound of words that entered, from below 2q.
    const INVERSE_ENTERED: u32 = 16;
    /// Inverse: the greatest bound of words in memory.
    const INVERSE_STORED: u32;

    /// The constants for one modulus.
    fn new(lanes: Self::L, q: Modulus) -> Self;
    /// The lanes.
    fn lanes(self) -> Self::L;
    /// A constant w, canonical, as two table words.
    fn encode(q: Modulus, w: u64) -> [u64; 2];
    /// The two words of a constant, in registers, to what the butterflies use.
    fn constant(self, words: [Self::V; 2]) -> Self::C;
    /// Words that the table of the last stages holds of a constant, which is most of all tables: two, or the second alone
    /// where [`Self::first_word`] makes the first.
    const LEAF_WORDS: usize = 2;
    /// The first word of a constant from the second.
    #[inline(always)]
    fn first_word(self, second: Self::V) -> Self::V {
        second
    }
    /// Words to a register, as they stand.
    fn register(self, v: <Self::L as U64Lanes>::U) -> Self::V;
    /// A register to words, as they stand.
    fn words(self, v: Self::V) -> <Self::L as U64Lanes>::U;

    /// Forward: canonical words that are x, or y, in the first stage, to working form.
    fn enter(self, v: Self::V, is_y: bool) -> Self::V;
    /// G independent butterflies (x, y) → (x + y·w, x − y·w), breadth first; `REDUCE`: x is reduced before.
    fn forward<const G: usize, const REDUCE: bool>(
        self,
        x: [Self::V; G],
        y: [Self::V; G],
        w: [Self::C; G],
    ) -> ([Self::V; G], [Self::V; G]);
    /// Forward: working form to canonical words.
    fn leave(self, v: Self::V) -> Self::V;
    /// What [`Self::leave_factor`] makes.
    const FACTORS: Form = Form::Canonical;
    /// Forward, in place of [`Self::leave`]: working form to a left factor of inner products.
    #[inline(always)]
    fn leave_factor(self, v: Self::V) -> Self::V {
        self.leave(v)
    }
    /// Forward, in place of [`Self::leave`]: (a − v)·c, canonical, for canonical words a.
    fn leave_difference(self, a: Self::V, v: Self::V, c: Self::C) -> Self::V;

    /// Inverse: words below 2q to working form.
    fn inverse_enter(self, v: Self::V) -> Self::V;
    /// G independent butterflies (x, y) → (x + y, (y − x)·w), breadth first: w is the negated constant.
    fn inverse<const G: usize>(
        self,
        x: [Self::V; G],
        y: [Self::V; G],
        w: [Self::C; G],
    ) -> ([Self::V; G], [Self::V; G]);
    /// Inverse: reduces from `INVERSE_LIMIT` to `INVERSE_REDUCED`.
    fn inverse_reduce(self, v: Self::V) -> Self::V;
    /// The last stage of the inverse: (x + y)·u, (x − y)·w, canonical.
    fn inverse_leave(self, x: Self::V, y: Self::V, u: Self::C, w: Self::C) -> (Self::V, Self::V);
}
