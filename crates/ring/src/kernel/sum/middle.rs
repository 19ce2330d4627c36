//! Sums of operands below 2^55 with 52-bit multiply-add: the products modulo 2^64, and roughly their heads.
//!
//! Operands a, b < 2^(52+s), s = 3. Low words: L = Σ a·b mod 2^64. Heads: H = Σ ⌊⌊a/2^s⌋·⌊b/2^s⌋ / 2^52⌋. In units of
//! U = 2^(52+2s) each head falls short of a·b/U by less than a/2^(52+s) + b/2^(52+s) + 1 ≤ 3, so the sum T of J products
//! lies in \[H·U, H·U + 3J·U). Let 2^g be the least power of two above U/q and ρ = ⌊2^(52−g)·U/q⌋ < 2^52. With
//! H = H1·2^52 + H0 take X = H1·ρ + ⌊H0·ρ/2^52⌋, which falls short of 2^−g·H·U/q by less than H/2^52 + 1 ≤ J + 1.
//! So T − X·2^g·q is less than 3J·U + (J + 1)·2^g·q ≤ (5J + 2)·U, as 2^g·q ≤ 2U. While that is at most 2^64 it is
//! L − X·2^g·q modulo 2^64 exactly. A residue r < q ≤ 2^(52+s) = U/2^s that starts the sum is taken with one more unit.

use super::Sum;
use crate::kernel::prime::Prime;
use crate::lanes::{Lanes, Madd52Lanes};

/// s.
const SHIFT: u32 = 3;
/// Operands and moduli have at most this many bits.
pub(crate) const MIDDLE_BITS: u32 = 52 + SHIFT;
/// log2 U.
pub(crate) const UNIT: u32 = 52 + 2 * SHIFT;
/// J with (5J + 3)·U ≤ 2^64.
const TERMS: usize = ((1 << (64 - UNIT)) - 3) / 5;
const _: () = assert!(TERMS >= 12, "a conversion from eight primes with its quotient is one sum");

#[derive(Clone, Copy)]
pub(crate) struct Middle<L: Lanes + Madd52Lanes> {
    l: L,
    q: L::U,
    /// ρ.
    rho: L::U,
    /// 2^g·q modulo 2^64.
    q_g: L::U,
    /// ⌊2^64/q⌋.
    reciprocal: L::U,
}

impl<L: Lanes + Madd52Lanes> Middle<L> {
    /// Operands and q below 2^[`MIDDLE_BITS`].
    #[inline(always)]
    pub(crate) fn new(l: L, prime: &Prime) -> Self {
        let (q, (g, rho)) = (prime.modulus.value(), prime.ratio);
        Self { l, q: l.splat(q), rho: l.splat(rho), q_g: l.splat(q << g), reciprocal: l.splat(prime.one64) }
    }
}

impl<L: Lanes + Madd52Lanes> Sum for Middle<L> {
    type L = L;
    type Operand = (L::U, L::U);
    type Acc = (L::U, L::U);

    #[inline(always)]
    fn lanes(self) -> L {
        self.l
    }
    #[inline(always)]
    fn terms(self) -> usize {
        TERMS
    }
    #[inline(always)]
    fn split(self, x: L::U) -> (L::U, L::U) {
        (x, self.l.shr::<SHIFT>(x))
    }
    #[inline(always)]
    fn start(self, residue: L::U) -> (L::U, L::U) {
        (residue, self.l.splat(0))
    }
    #[inline(always)]
    fn add(self, (low, high): (L::U, L::U), a: (L::U, L::U), b: (L::U, L::U)) -> (L::U, L::U) {
        let l = self.l;
        (l.add(low, l.mul_lo(a.0, b.0)), l.madd52_hi(high, a.1, b.1))
    }
    /// t = T − X·2^g·q < 2^64; then ⌊⌊t/2^12⌋·⌊2^64/q⌋ / 2^52⌋ falls short of t/q by less than
    /// 2^12/q + ⌊t/2^12⌋/2^52 + 1 < 3 (q ≥ 2^20).
    #[inline(always)]
    fn fold(self, (low, high): (L::U, L::U)) -> L::U {
        let l = self.l;
        let x = l.madd52_hi(l.mul_lo(l.shr::<52>(high), self.rho), high, self.rho);
        let t = l.sub(low, l.mul_lo(x, self.q_g));
        let quotient = l.madd52_hi(l.splat(0), l.shr::<12>(t), self.reciprocal);
        let t = l.sub(t, l.mul_lo(quotient, self.q));
        l.csub(l.csub(t, l.add(self.q, self.q)), self.q)
    }
}
