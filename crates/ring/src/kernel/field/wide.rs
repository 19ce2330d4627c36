//! Modular multiplication on 64-bit integers, q < 2^60.

use super::{Field, Vector};
use crate::kernel::prime::{Factor, Prime};
use crate::kernel::sum::{Sum, Wide as WideSum};
use crate::lanes::Lanes;

#[derive(Clone, Copy)]
pub(crate) struct Wide<L: Lanes, const H: u32> {
    l: L,
    q: L::U,
    sum: WideSum<L, H>,
}

impl<L: Lanes, const H: u32> Wide<L, H> {
    /// q ≤ 2^2H.
    #[inline(always)]
    pub(crate) fn new(l: L, prime: &Prime) -> Self {
        Self { l, q: l.splat(prime.modulus.value()), sum: WideSum::new(l, prime) }
    }
}

impl<L: Lanes, const H: u32> Field for Wide<L, H> {
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
        self.mac(self.l.splat(0), a, b)
    }
    #[inline(always)]
    fn mac(self, acc: L::U, a: L::U, b: L::U) -> L::U {
        self.sum.fold(self.sum.add(self.sum.start(acc), self.sum.split(a), self.sum.split(b)))
    }
    #[inline(always)]
    fn constant(self, c: &Factor) -> (L::U, L::U) {
        (self.l.splat(c.c), self.l.splat(c.c64))
    }
    /// Shoup: the quotient is short by less than 1 + a/2^64 < 2, and `mul_hi` by at most 2, so the difference lies in
    /// \[0, 4q).
    #[inline(always)]
    fn mul_constant(self, a: L::U, c: (L::U, L::U)) -> L::U {
        let l = self.l;
        let h = l.mul_hi(a, c.1);
        let t = l.mul_sub_lo(a, c.0, h, self.q);
        l.csub(l.csub(t, l.add(self.q, self.q)), self.q)
    }
}
