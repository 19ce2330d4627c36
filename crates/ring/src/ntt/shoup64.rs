//! 64-bit integers with Shoup's multiplication by a constant, for every modulus up to 60 bits.
//!
//! w' = ⌊2^64·w/q⌋, h = ⌊y·w'/2^64⌋, t = y·w − h·q lies in [0, 2q) for any 64-bit y, so y is never reduced.
//! Words stay below 16q < 2^64: x is reduced to 8q in every fourth stage at the latest.

use crate::{Modulus, lanes::Lanes, ntt::arith::Arith};

/// The arithmetic.
#[derive(Clone, Copy)]
pub(super) struct Shoup64<L: Lanes> {
    l: L,
    q: L::U,
    q2: L::U,
    q4: L::U,
    q8: L::U,
}

impl<L: Lanes> Shoup64<L> {
    #[inline(always)]
    fn products<const G: usize>(self, y: [L::U; G], w: [[L::U; 2]; G]) -> [L::U; G] {
        let l = self.l;
        let mut t = y;
        for g in 0..G {
            let h = l.mul_hi(y[g], w[g][1]);
            t[g] = l.sub(l.mul_lo(y[g], w[g][0]), l.mul_lo(h, self.q));
        }
        t
    }
    /// x − c if x ≥ c, for x below 2^64 and c = 8q ≤ 2^63: `csub` takes 63-bit words, so the comparison is made on
    /// the difference: x − 8q as a signed number is negative exactly if x < 8q, because x < 16q ≤ 8q + 2^63.
    #[inline(always)]
    fn halve(self, x: L::U) -> L::U {
        self.l.csub(x, self.q8)
    }
}

impl<L: Lanes> Arith for Shoup64<L> {
    type L = L;
    type V = L::U;
    const MAX_LOG_RADIX: usize = 2;
    const LAST_BLOCKS: usize = 1;

    const MULTIPLIABLE: u64 = 16 << 12;
    const REPRESENTABLE: u64 = 16 << 12;
    const REDUCING: u32 = 1;
    const LAST_REDUCING: u32 = 0b01_0001;
    fn grow(x: u64, _: u64) -> u64 {
        x + (2 << 12)
    }
    fn reduced(x: u64) -> u64 {
        x.min(8 << 12)
    }

    const INVERSE_FRESH: u32 = 16;
    const INVERSE_REDUCED: u32 = 16;
    const INVERSE_LIMIT: u32 = 64;
    const INVERSE_STORED: u32 = 16;

    fn new(l: L, q: Modulus) -> Self {
        let q = q.value();
        Self { l, q: l.splat(q), q2: l.splat(2 * q), q4: l.splat(4 * q), q8: l.splat(8 * q) }
    }
    #[inline(always)]
    fn lanes(self) -> L {
        self.l
    }
    fn encode(q: Modulus, w: u64) -> [u64; 2] {
        [w, ((u128::from(w) << 64) / u128::from(q.value())) as u64]
    }
    #[inline(always)]
    fn register(self, v: L::U) -> L::U {
        v
    }
    #[inline(always)]
    fn words(self, v: L::U) -> L::U {
        v
    }

    #[inline(always)]
    fn enter(self, v: L::U, _: bool) -> L::U {
        v
    }
    #[inline(always)]
    fn forward<const G: usize, const REDUCE: bool>(
        self,
        mut x: [L::U; G],
        y: [L::U; G],
        w: [[L::U; 2]; G],
    ) -> ([L::U; G], [L::U; G]) {
        if REDUCE {
            for x in &mut x {
                *x = self.halve(*x);
            }
        }
        let t = self.products(y, w);
        let (mut a, mut b) = (x, x);
        for g in 0..G {
            a[g] = self.l.add(x[g], t[g]);
            b[g] = self.l.sub(self.l.add(x[g], self.q2), t[g]);
        }
        (a, b)
    }
    #[inline(always)]
    fn leave<const CANONICAL: bool>(self, v: L::U) -> L::U {
        let v = self.halve(v);
        let v = self.l.csub(self.l.csub(v, self.q4), self.q2);
        if CANONICAL { self.l.csub(v, self.q) } else { v }
    }

    #[inline(always)]
    fn inverse_enter(self, v: L::U) -> L::U {
        v
    }
    /// x and y at most 4q each.
    #[inline(always)]
    fn inverse<const G: usize>(
        self,
        x: [L::U; G],
        y: [L::U; G],
        w: [[L::U; 2]; G],
    ) -> ([L::U; G], [L::U; G]) {
        let (mut sum, mut difference) = (x, x);
        for g in 0..G {
            sum[g] = self.l.add(x[g], y[g]);
            difference[g] = self.l.sub(self.l.add(x[g], self.q4), y[g]);
        }
        (sum, self.products(difference, w))
    }
    /// From below 8q to below 2q.
    #[inline(always)]
    fn inverse_reduce(self, v: L::U) -> L::U {
        self.l.csub(self.l.csub(v, self.q4), self.q2)
    }
    #[inline(always)]
    fn inverse_leave(self, x: L::U, y: L::U, u: [L::U; 2], w: [L::U; 2]) -> (L::U, L::U) {
        let [a, b] = self.products([self.l.add(x, y), self.l.sub(self.l.add(x, self.q4), y)], [u, w]);
        (self.l.csub(a, self.q), self.l.csub(b, self.q))
    }
}
