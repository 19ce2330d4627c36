//! Modular multiplication with 52-bit multiply-add, q < 2^60.

use super::{Field, Vector};
use crate::kernel::prime::{Factor, Prime};
use crate::kernel::sum::Sum;
use crate::lanes::{Lanes, Madd52Lanes};

/// Products of two residues are sums of one term.
#[derive(Clone, Copy)]
pub(crate) struct Wide52<L: Lanes + Madd52Lanes, S: Sum<L = L>> {
    l: L,
    q: L::U,
    sum: S,
}

impl<L: Lanes + Madd52Lanes, S: Sum<L = L>> Wide52<L, S> {
    #[inline(always)]
    pub(crate) fn new(l: L, prime: &Prime, sum: S) -> Self {
        Self { l, q: l.splat(prime.modulus.value()), sum }
    }
}

/// A constant w: w_0 = w and w_1 = 2^32·w mod q, each with ⌊2^52·w_i/q⌋.
#[derive(Clone, Copy)]
pub(crate) struct Constant<U> {
    w: [U; 2],
    companion: [U; 2],
}

impl<L: Lanes + Madd52Lanes, S: Sum<L = L>> Field for Wide52<L, S> {
    type L = L;
    type C = Constant<L::U>;

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
        self.mac(self.l.splat(0), a, b)
    }
    #[inline(always)]
    fn mac(self, acc: L::U, a: L::U, b: L::U) -> L::U {
        self.sum.fold(self.sum.add(self.sum.start(acc), self.sum.split(a), self.sum.split(b)))
    }
    #[inline(always)]
    fn constant(self, c: &Factor) -> Constant<L::U> {
        let l = self.l;
        Constant { w: [l.splat(c.c), l.splat(c.upper.0)], companion: [l.splat(c.c52), l.splat(c.upper.1)] }
    }
    /// a = a_1·2^32 + a_0. Shoup, twice: each quotient is short by less than 1 + a_i/2^52 ≤ 1 + 2^−19 (a < 2^61),
    /// so a_0·w_0 + a_1·w_1 less the quotients' multiple of q lies in \[0, 2q + 2^−18·q).
    #[inline(always)]
    fn mul_constant(self, a: L::U, c: Constant<L::U>) -> L::U {
        let l = self.l;
        let (a0, a1) = (l.and(a, l.splat((1 << 32) - 1)), l.shr::<32>(a));
        let h = l.madd52_hi(l.madd52_hi(l.splat(0), a0, c.companion[0]), a1, c.companion[1]);
        let sum = l.add(l.mul_lo(a0, c.w[0]), l.mul_lo(a1, c.w[1]));
        let t = l.sub(sum, l.mul_lo(h, self.q));
        l.csub(l.csub(t, self.q), self.q)
    }
}
