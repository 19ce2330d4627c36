//! Exact binary64 arithmetic with fused multiply-add, for q < 2^50.
//!
//! Residues are signed integers held as binary64. With the constant w centred (|w| ≤ q/2) and w' = w/q rounded,
//! h = −fl(y·w), l = h + y·w, b = round(y·w'), t = l − (b·q + h): every step but the two roundings is exact, because
//! t = y·w − b·q is an integer below 2^53. Four operations on the multipliers and four on the adders a butterfly. Tables hold
//! −w, so that both fused operations add to a register: NEON has no others. A zero t is positive: neither l nor b·q + h is a
//! negative zero, because b is none and h is negative only where y·w is positive.

use crate::{Modulus, form::Form, lanes::Lanes, ntt::arith::Arith};

const TWO52: f64 = (1u64 << 52) as f64;

/// The arithmetic for q < 2^50; `STAGES`: how many stages fit the registers at once.
#[derive(Clone, Copy)]
pub(super) struct Binary64<L: Lanes> {
    l: L,
    q: L::F,
    q_inverse: L::F,
    /// 1.5·2^52: adding it rounds numbers below 2^51 to integers.
    magic: L::F,
    two52: L::F,
    two52_plus_q: L::F,
}

impl<L: Lanes> Binary64<L> {
    /// Whether q is small enough.
    pub(super) const fn serves(q: Modulus) -> bool {
        q.bits() <= 50
    }

    /// y·w − round(y·w')·q, exactly, for constants [−w, w']. The quotient must stay below 2^51, so |y| ≤ 2^52, which 4q is.
    /// |w'| ≤ 1/2 has an error of 2^−55 at most: with |y| = B·q the result is at most q(1/2 + B·q·2^−55), or where the
    /// product y·w' is rounded, by 2^−54·B·q at most, q(1/2 + 3·B·q·2^−55).
    #[inline(always)]
    pub(super) fn products<const G: usize>(self, y: [L::F; G], w: [[L::F; 2]; G], magic: L::F) -> [L::F; G] {
        let l = self.l;
        let (mut b, mut h, mut low) = (y, y, y);
        for g in 0..G {
            b[g] = l.near_whole(y[g], w[g][1], magic);
            h[g] = l.fmul(y[g], w[g][0]);
        }
        for g in 0..G {
            b[g] = l.whole(b[g], magic);
            low[g] = l.fnma(y[g], w[g][0], h[g]);
        }
        for g in 0..G {
            h[g] = l.fma(b[g], self.q, h[g]);
        }
        for g in 0..G {
            h[g] = l.fsub(low[g], h[g]);
        }
        h
    }

    /// x ± y·w, of x reduced first if `REDUCE`.
    #[inline(always)]
    pub(super) fn butterflies<const G: usize, const REDUCE: bool>(
        self,
        mut x: [L::F; G],
        y: [L::F; G],
        w: [[L::F; 2]; G],
        magic: L::F,
    ) -> ([L::F; G], [L::F; G]) {
        if REDUCE {
            for x in &mut x {
                *x = self.reduce(*x);
            }
        }
        let t = self.products(y, w, magic);
        let (mut sum, mut difference) = (x, x);
        for g in 0..G {
            sum[g] = self.l.fadd(x[g], t[g]);
            difference[g] = self.l.fsub(x[g], t[g]);
        }
        (sum, difference)
    }

    /// x + y and (y − x)·w.
    #[inline(always)]
    pub(super) fn inverse_butterflies<const G: usize>(
        self,
        x: [L::F; G],
        y: [L::F; G],
        w: [[L::F; 2]; G],
        magic: L::F,
    ) -> ([L::F; G], [L::F; G]) {
        let (mut sum, mut difference) = (x, x);
        for g in 0..G {
            sum[g] = self.l.fadd(x[g], y[g]);
            difference[g] = self.l.fsub(y[g], x[g]);
        }
        (sum, self.products(difference, w, magic))
    }

    /// x − round(x/q)·q, exactly: |x| ≤ 8q < 2^53 in, at most q(1/2 + 2^−48) out.
    #[inline(always)]
    pub(super) fn reduce(self, x: L::F) -> L::F {
        let k = self.l.whole(self.l.near_whole(x, self.q_inverse, self.magic), self.magic);
        self.l.fnma(k, self.q, x)
    }

    /// Canonical words of numbers within ±q, as bits: r gets q where it is negative, then the mantissa of 2^52 + r is r.
    #[inline(always)]
    pub(super) fn canonical(self, r: L::F) -> L::F {
        let l = self.l;
        let r = l.select_sign(r, l.fadd(r, self.two52_plus_q), l.fadd(r, self.two52));
        l.as_f(l.xor(l.as_u(r), l.as_u(self.two52)))
    }
}

impl<L: Lanes> Arith for Binary64<L> {
    type L = L;
    type V = L::F;
    type C = [L::F; 2];
    const MAX_LOG_RADIX: usize = if L::WIDTH == 8 { 3 } else { 2 };
    // On vectors of eight words too: a seventh less time than with one block and one vector at a time.
    const LAST_BLOCKS: usize = if L::PAIRS { 1 } else { 2 };
    const INTERLEAVED: bool = !L::PAIRS;

    const MULTIPLIABLE: u64 = 4 << 12;
    const REPRESENTABLE: u64 = 8 << 12;
    const REDUCING: u32 = 1;
    const LAST_REDUCING: u32 = 1;
    /// q·2^−55 < 2^−5, or three times that.
    fn grow(x: u64, y: u64) -> u64 {
        x + (1 << 11) + (if L::ROUNDS { 3 * y } else { y }).div_ceil(32)
    }
    fn reduced(_: u64) -> u64 {
        (1 << 11) + 1
    }

    // q(1/2 + 4/32) = 5q/8 after a product of y ≤ 4q, or q(1/2 + 3·4/32) = 7q/8.
    const INVERSE_FRESH: u32 = if L::ROUNDS { 7 } else { 5 };
    const INVERSE_REDUCED: u32 = 5;
    const INVERSE_LIMIT: u32 = 32;
    const INVERSE_STORED: u32 = 16;

    #[inline(always)]
    fn new(l: L, q: Modulus) -> Self {
        let q = q.value() as f64;
        Self {
            l,
            q: l.fsplat(q),
            q_inverse: l.fsplat(1.0 / q),
            magic: l.fsplat(1.5 * TWO52),
            two52: l.fsplat(TWO52),
            two52_plus_q: l.fsplat(TWO52 + q),
        }
    }
    #[inline(always)]
    fn lanes(self) -> L {
        self.l
    }
    fn encode(q: Modulus, w: u64) -> [u64; 2] {
        let w = q.centred(w) as f64;
        [(-w).to_bits(), (w / q.value() as f64).to_bits()]
    }
    #[inline(always)]
    fn constant(self, words: [L::F; 2]) -> [L::F; 2] {
        words
    }
    #[inline(always)]
    fn register(self, v: L::U) -> L::F {
        self.l.as_f(v)
    }
    #[inline(always)]
    fn words(self, v: L::F) -> L::U {
        self.l.as_u(v)
    }

    #[inline(always)]
    fn enter(self, v: L::F, _: bool) -> L::F {
        self.l.number(self.l.as_u(v), 0.0)
    }
    #[inline(always)]
    fn forward<const G: usize, const REDUCE: bool>(
        self,
        x: [L::F; G],
        y: [L::F; G],
        w: [[L::F; 2]; G],
    ) -> ([L::F; G], [L::F; G]) {
        self.butterflies::<G, REDUCE>(x, y, w, self.magic)
    }
    /// From at most 8q.
    #[inline(always)]
    fn leave(self, v: L::F) -> L::F {
        self.canonical(self.reduce(v))
    }
    const FACTORS: Form = Form::Number;
    #[inline(always)]
    fn leave_factor(self, v: L::F) -> L::F {
        self.reduce(v)
    }
    /// The difference is at most 3q/2 + e, its product 7q/8.
    #[inline(always)]
    fn leave_difference(self, a: L::F, v: L::F, c: [L::F; 2]) -> L::F {
        let [t] = self.products([self.l.fsub(self.enter(a, false), self.reduce(v))], [c], self.magic);
        self.canonical(t)
    }

    #[inline(always)]
    fn inverse_enter(self, v: L::F) -> L::F {
        self.enter(v, false)
    }
    #[inline(always)]
    fn inverse<const G: usize>(
        self,
        x: [L::F; G],
        y: [L::F; G],
        w: [[L::F; 2]; G],
    ) -> ([L::F; G], [L::F; G]) {
        self.inverse_butterflies(x, y, w, self.magic)
    }
    #[inline(always)]
    fn inverse_reduce(self, v: L::F) -> L::F {
        self.reduce(v)
    }
    #[inline(always)]
    fn inverse_leave(self, x: L::F, y: L::F, u: [L::F; 2], w: [L::F; 2]) -> (L::F, L::F) {
        let [a, b] = self.products([self.l.fadd(x, y), self.l.fsub(x, y)], [u, w], self.magic);
        // Products are at most 7q/8, so the sign alone says which multiple of q is missing.
        (self.canonical(a), self.canonical(b))
    }
}
