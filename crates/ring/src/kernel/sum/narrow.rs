//! Sums with 52-bit multiply-add, q < 2^50: the low and the high halves of the products apart.

use super::Sum;
use crate::form::Form;
use crate::kernel::field;
use crate::kernel::prime::Prime;
use crate::lanes::{Lanes, Madd52Lanes};

/// Low and high 52-bit halves of the products, summed apart.
#[derive(Clone, Copy)]
pub(crate) struct Narrow<L: Lanes + Madd52Lanes> {
    field: field::Narrow<L>,
    l: L,
    terms: usize,
}

impl<L: Lanes + Madd52Lanes> Narrow<L> {
    /// Left operands up to 2^52, right ones below q < 2^50; [`narrow_terms`] of them.
    #[inline(always)]
    pub(crate) fn new(l: L, prime: &Prime, terms: usize) -> Self {
        Self { field: field::Narrow::new(l, prime), l, terms }
    }
}

/// J products and a residue: Σ low ≤ J·(2^52 − 1) + q, which carries at most J into Σ high ≤ J·⌊(a−1)(b−1)/2^52⌋.
/// The total must stay below 2^52, where the multiplier ends; then Σ low ≤ 2^64 also holds, as J < 2^12.
pub(crate) const fn narrow_terms(a: u64, b: u64) -> usize {
    let high = ((a as u128 - 1) * (b as u128 - 1)) >> 52;
    let terms = ((1u128 << 52) - 1) / (high + 1);
    if terms > 4000 { 4000 } else { terms as usize }
}

impl<L: Lanes + Madd52Lanes> Sum for Narrow<L> {
    type L = L;
    type Operand = L::U;
    type Acc = (L::U, L::U);

    const FACTORS: Form = Form::Low52;

    #[inline(always)]
    fn lanes(self) -> L {
        self.l
    }
    #[inline(always)]
    fn terms(self) -> usize {
        self.terms
    }
    #[inline(always)]
    fn split(self, x: L::U) -> L::U {
        x
    }
    #[inline(always)]
    fn start(self, residue: L::U) -> (L::U, L::U) {
        (residue, self.l.splat(0))
    }
    #[inline(always)]
    fn add(self, (low, high): (L::U, L::U), a: L::U, b: L::U) -> (L::U, L::U) {
        (self.l.madd52_lo(low, a, b), self.l.madd52_hi(high, a, b))
    }
    #[inline(always)]
    fn fold(self, (low, high): (L::U, L::U)) -> L::U {
        self.field.carry_and_reduce(low, high)
    }
}
