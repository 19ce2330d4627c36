//! Modular multiplication with 52-bit multiply-add, q < 2^50.

use super::{Field, NARROW_BITS, Vector};
use crate::kernel::prime::{Factor, Prime};
use crate::lanes::{Lanes, Madd52Lanes};

const _: () = assert!(NARROW_BITS + 2 <= 52, "results below 4q must fit the multiplier");
const MASK: u64 = (1 << 52) - 1;

#[derive(Clone, Copy)]
pub(crate) struct Narrow<L: Lanes + Madd52Lanes> {
    l: L,
    q: L::U,
    /// 2^52 − q: adding its multiples subtracts those of q modulo 2^52.
    minus_q: L::U,
    /// 2^52 mod q and 1, each with ⌊2^52·w/q⌋.
    two52: (L::U, L::U),
    one: L::U,
}

impl<L: Lanes + Madd52Lanes> Narrow<L> {
    /// q < 2^50.
    #[inline(always)]
    pub(crate) fn new(l: L, prime: &Prime) -> Self {
        let q = prime.modulus.value();
        Self {
            l,
            q: l.splat(q),
            minus_q: l.splat((1 << 52) - q),
            two52: (l.splat(prime.two52.0), l.splat(prime.two52.1)),
            one: l.splat(prime.one52),
        }
    }

    /// low + 2^52·high mod q, canonical, for high < 2^52 and low < 2^52.
    ///
    /// With r = 2^52 mod q and w' = ⌊2^52·w/q⌋ the quotient h = ⌊high·r'/2^52⌋ + ⌊low·1'/2^52⌋ falls short of
    /// (high·r + low)/q by less than (1 + high/2^52) + (1 + low/2^52) < 4: so 0 ≤ high·r + low − h·q < 4q ≤ 2^52.
    #[inline(always)]
    pub(crate) fn reduce(self, low: L::U, high: L::U) -> L::U {
        let l = self.l;
        let h = l.madd52_hi(l.splat(0), high, self.two52.1);
        let s = l.madd52_lo(low, high, self.two52.0);
        let h = l.madd52_hi(h, low, self.one);
        let t = l.and(l.madd52_lo(s, h, self.minus_q), l.splat(MASK));
        l.csub(l.csub(t, l.add(self.q, self.q)), self.q)
    }

    /// [`Self::reduce`] for low < 2^64 with high + ⌊low/2^52⌋ < 2^52.
    #[inline(always)]
    pub(crate) fn carry_and_reduce(self, low: L::U, high: L::U) -> L::U {
        let l = self.l;
        self.reduce(l.and(low, l.splat(MASK)), l.add(high, l.shr::<52>(low)))
    }
}

impl<L: Lanes + Madd52Lanes> Field for Narrow<L> {
    type L = L;
    type C = (L::U, L::U);

    #[inline(always)]
    fn lanes(self) -> L {
        self.l
    }
    #[inline(always)]
    fn q(self) -> Vector<Self> {
        self.q
    }
    #[inline(always)]
    fn mul(self, a: L::U, b: L::U) -> L::U {
        let zero = self.l.splat(0);
        self.reduce(self.l.madd52_lo(zero, a, b), self.l.madd52_hi(zero, a, b))
    }
    #[inline(always)]
    fn mac(self, acc: L::U, a: L::U, b: L::U) -> L::U {
        // low < 2^52 + q, high < 2^48.
        self.carry_and_reduce(self.l.madd52_lo(acc, a, b), self.l.madd52_hi(self.l.splat(0), a, b))
    }
    #[inline(always)]
    fn constant(self, c: &Factor) -> (L::U, L::U) {
        (self.l.splat(c.c), self.l.splat(c.c52))
    }
    /// Shoup: the quotient is short by less than 1 + a/2^52 < 2, so the difference lies in \[0, 2q).
    #[inline(always)]
    fn mul_constant(self, a: L::U, c: (L::U, L::U)) -> L::U {
        let (l, zero) = (self.l, self.l.splat(0));
        let h = l.madd52_hi(zero, a, c.1);
        let t = l.madd52_lo(l.madd52_lo(zero, a, c.0), h, self.minus_q);
        l.csub(l.and(t, l.splat(MASK)), self.q)
    }
}
