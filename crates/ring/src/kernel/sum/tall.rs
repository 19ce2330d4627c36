//! Sums with 52-bit multiply-add of left operands below 2^60 by constants, q < 2^50: a long word is two short ones, the upper
//! of which is multiplied by c·2^48 mod q.

use super::{Narrow, Sum};
use crate::kernel::prime::{Prime, TALL, times};
use crate::lanes::{Lanes, Madd52Lanes};

/// A [`Narrow`] sum of the short products.
#[derive(Clone, Copy)]
pub(crate) struct Tall<L: Lanes + Madd52Lanes> {
    short: Narrow<L>,
    q: u64,
    /// 2^48 mod q with ⌊2^64·w/q⌋.
    two48: (u64, u64),
}

/// J products, of which a short one is below 2^[`super::SHORT_BITS`]·q and a long one adds at most as much to Σ high, as 2^48 + 2^12 is
/// less: with the two low halves of each, Σ low carries at most 2J into J·⌊(2^50 − 1)(q − 1)/2^52⌋. The total must stay below
/// 2^52; Σ low stays below 2^64, as J ≤ 1000.
pub(crate) const fn tall_terms(q: u64) -> usize {
    let high = (((1u128 << super::SHORT_BITS) - 1) * (q as u128 - 1)) >> 52;
    let terms = ((1u128 << 52) - 1) / (high + 2);
    if terms > 1000 { 1000 } else { terms as usize }
}
const _: () =
    assert!(tall_terms(1 << 50) == 15, "a conversion from nine primes with its quotient is one sum");

impl<L: Lanes + Madd52Lanes> Tall<L> {
    /// Left operands up to 2^60, right ones below q < 2^50; [`tall_terms`] of q.
    #[inline(always)]
    pub(crate) fn new(l: L, prime: &Prime, terms: usize) -> Self {
        Self { short: Narrow::new(l, prime, terms), q: prime.modulus.value(), two48: prime.two48 }
    }
}

impl<L: Lanes + Madd52Lanes> Sum for Tall<L> {
    type L = L;
    /// The lower 48 bits and those above; a constant, and that times 2^48.
    type Operand = (L::U, L::U);
    type Acc = (L::U, L::U);
    const SHORT: bool = true;

    #[inline(always)]
    fn lanes(self) -> L {
        self.short.lanes()
    }
    #[inline(always)]
    fn terms(self) -> usize {
        self.short.terms()
    }
    #[inline(always)]
    fn split(self, x: L::U) -> (L::U, L::U) {
        let l = self.lanes();
        (l.and(x, l.splat((1 << TALL) - 1)), l.shr::<TALL>(x))
    }
    #[inline(always)]
    fn constant(self, c: u64) -> (L::U, L::U) {
        let l = self.lanes();
        (l.splat(c), l.splat(times(c, self.two48, self.q)))
    }
    #[inline(always)]
    fn start(self, residue: L::U) -> (L::U, L::U) {
        self.short.start(residue)
    }
    #[inline(always)]
    fn add(self, acc: (L::U, L::U), a: (L::U, L::U), c: (L::U, L::U)) -> (L::U, L::U) {
        self.short.add(self.short.add(acc, a.0, c.0), a.1, c.1)
    }
    #[inline(always)]
    fn add_short(self, acc: (L::U, L::U), a: L::U, c: (L::U, L::U)) -> (L::U, L::U) {
        self.short.add(acc, a, c.0)
    }
    #[inline(always)]
    fn fold(self, acc: (L::U, L::U)) -> L::U {
        self.short.fold(acc)
    }
}
