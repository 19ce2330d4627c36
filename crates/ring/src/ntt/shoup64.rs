//! 64-bit integers with Shoup's multiplication by a constant, for every modulus up to 60 bits.
//!
//! W = ⌊2^64·w/q⌋, h ≈ y·W/2^64 from below, t = y·w − h·q modulo 2^64: if h falls short of y·w/q by less than 4, t lies
//! in [0, 4q), for any 64-bit y; so y is never reduced. How h is had depends on the multiplier: see [`High`].
//! Words stay below 16q < 2^64: x is brought below 8q in every other stage.

use std::marker::PhantomData;

use crate::{
    Modulus,
    lanes::{Lanes, Madd52Lanes, U64Lanes},
    ntt::arith::Arith,
};

/// The high half of a product by a constant.
pub(super) trait High: Copy {
    /// The lanes it runs on.
    type L: Lanes;
    /// What the constant W is made into.
    type Parts: Copy;
    /// The parts of W.
    fn parts(l: Self::L, w: <Self::L as U64Lanes>::U) -> Self::Parts;
    /// y·W/2^64 less a number in [0, 3); so it falls short of y·w/q, which exceeds y·W/2^64 by less than y/2^64, by less than 4.
    fn high(l: Self::L, y: <Self::L as U64Lanes>::U, parts: Self::Parts) -> <Self::L as U64Lanes>::U;
}

/// [`U64Lanes::mul_hi`], short by at most 2, and of what is no integer by less than 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plain<L>(PhantomData<L>);
impl<L: Lanes> High for Plain<L> {
    type L = L;
    type Parts = L::U;
    #[inline(always)]
    fn parts(_: L, w: L::U) -> L::U {
        w
    }
    #[inline(always)]
    fn high(l: L, y: L::U, w: L::U) -> L::U {
        l.mul_hi(y, w)
    }
}

/// y1·W1 by a 32-bit product, ⌊y1·W0/2^32⌋ and ⌊y0·⌊W/2^12⌋/2^52⌋ added by 52-bit multiply-adds. The two floors lose
/// less than 1 each, and the 12 bits dropped from W less than y0/2^52 ≤ 2^−20.
#[derive(Debug, Clone, Copy)]
pub(super) struct Products52<L>(PhantomData<L>);
impl<L: Lanes + Madd52Lanes> High for Products52<L> {
    type L = L;
    /// W1, 2^20·W0 (the multiplier ignores what stands above bit 52) and ⌊W/2^12⌋.
    type Parts = [L::U; 3];
    #[inline(always)]
    fn parts(l: L, w: L::U) -> [L::U; 3] {
        [l.shr::<32>(w), l.shl::<20>(w), l.shr::<12>(w)]
    }
    #[inline(always)]
    fn high(l: L, y: L::U, [w1, w0, w]: [L::U; 3]) -> L::U {
        let (y1, y0) = (l.shr::<32>(y), l.and(y, l.splat(0xffff_ffff)));
        l.madd52_hi(l.madd52_hi(l.mul32(y1, w1), y1, w0), y0, w)
    }
}

/// The arithmetic.
#[derive(Clone, Copy)]
pub(super) struct Shoup64<H: High> {
    l: H::L,
    q: <H::L as U64Lanes>::U,
    q2: <H::L as U64Lanes>::U,
    q4: <H::L as U64Lanes>::U,
    q8: <H::L as U64Lanes>::U,
}

/// A constant: w and the parts of W.
type Constant<H> = (<<H as High>::L as U64Lanes>::U, <H as High>::Parts);

impl<H: High> Shoup64<H> {
    /// Whether these are vectors.
    const VECTORS: bool = <H::L as U64Lanes>::WIDTH > 1;
    /// y·w modulo q, in [0, 4q).
    #[inline(always)]
    fn products<const G: usize>(
        self,
        y: [<H::L as U64Lanes>::U; G],
        w: [Constant<H>; G],
    ) -> [<H::L as U64Lanes>::U; G] {
        let l = self.l;
        let (mut h, mut t) = (y, y);
        for g in 0..G {
            h[g] = H::high(l, y[g], w[g].1);
        }
        for g in 0..G {
            t[g] = l.mul_sub_lo(y[g], w[g].0, h[g], self.q);
        }
        t
    }
    /// From below 16q to below 8q.
    #[inline(always)]
    fn halve(self, x: <H::L as U64Lanes>::U) -> <H::L as U64Lanes>::U {
        self.l.csub(x, self.q8)
    }
    /// From below 8q to below 2q.
    #[inline(always)]
    fn quarter(self, x: <H::L as U64Lanes>::U) -> <H::L as U64Lanes>::U {
        self.l.csub(self.l.csub(x, self.q4), self.q2)
    }
}

impl<H: High> Arith for Shoup64<H> {
    type L = H::L;
    type V = <H::L as U64Lanes>::U;
    type C = Constant<H>;
    const MAX_LOG_RADIX: usize = if <H::L as U64Lanes>::WIDTH == 8 { 3 } else { 2 };
    // One block is too long a chain to fill the multipliers; two spill some and win all the same.
    const LAST_BLOCKS: usize = if Self::VECTORS { 2 } else { 1 };
    const INTERLEAVED: bool = Self::VECTORS;
    const PIPED_LAST: bool = Self::SPLIT;

    const MULTIPLIABLE: u64 = 16 << 12;
    const REPRESENTABLE: u64 = 16 << 12;
    const REDUCING: u32 = 0b101;
    const LAST_REDUCING: u32 = 0b01_0101;
    fn grow(x: u64, _: u64) -> u64 {
        x + (4 << 12)
    }
    fn reduced(x: u64) -> u64 {
        x.min(8 << 12)
    }

    const INVERSE_FRESH: u32 = 32;
    const INVERSE_REDUCED: u32 = 16;
    // x and y at most 4q each, so that x − y + 4q is not negative.
    const INVERSE_LIMIT: u32 = 64;
    const INVERSE_STORED: u32 = 32;

    #[inline(always)]
    fn new(l: H::L, q: Modulus) -> Self {
        let q = q.value();
        Self { l, q: l.splat(q), q2: l.splat(2 * q), q4: l.splat(4 * q), q8: l.splat(8 * q) }
    }
    #[inline(always)]
    fn lanes(self) -> H::L {
        self.l
    }
    fn encode(q: Modulus, w: u64) -> [u64; 2] {
        [w, ((u128::from(w) << 64) / u128::from(q.value())) as u64]
    }
    #[inline(always)]
    fn constant(self, [w, quotient]: [Self::V; 2]) -> Self::C {
        (w, H::parts(self.l, quotient))
    }
    #[inline(always)]
    fn register(self, v: Self::V) -> Self::V {
        v
    }
    #[inline(always)]
    fn words(self, v: Self::V) -> Self::V {
        v
    }

    #[inline(always)]
    fn enter(self, v: Self::V, _: bool) -> Self::V {
        v
    }
    #[inline(always)]
    fn forward<const G: usize, const REDUCE: bool>(
        self,
        mut x: [Self::V; G],
        y: [Self::V; G],
        w: [Self::C; G],
    ) -> ([Self::V; G], [Self::V; G]) {
        if REDUCE {
            for x in &mut x {
                *x = self.halve(*x);
            }
        }
        let t = self.products(y, w);
        let (mut a, mut b) = (x, x);
        for g in 0..G {
            a[g] = self.l.add(x[g], t[g]);
            b[g] = self.l.sub(self.l.add(x[g], self.q4), t[g]);
        }
        (a, b)
    }
    #[inline(always)]
    fn leave(self, v: Self::V) -> Self::V {
        self.l.csub(self.quarter(self.halve(v)), self.q)
    }
    #[inline(always)]
    fn leave_difference(self, a: Self::V, v: Self::V, c: Self::C) -> Self::V {
        // Half way suffices: a − v + 8q stays positive, and any word may be multiplied.
        let [t] = self.products([self.l.sub(self.l.add(a, self.q8), self.halve(v))], [c]);
        self.l.csub(self.l.csub(t, self.q2), self.q)
    }

    #[inline(always)]
    fn inverse_enter(self, v: Self::V) -> Self::V {
        v
    }
    #[inline(always)]
    fn inverse<const G: usize>(
        self,
        x: [Self::V; G],
        y: [Self::V; G],
        w: [Self::C; G],
    ) -> ([Self::V; G], [Self::V; G]) {
        let (mut sum, mut difference) = (x, x);
        for g in 0..G {
            sum[g] = self.l.add(x[g], y[g]);
            difference[g] = self.l.sub(self.l.add(y[g], self.q4), x[g]);
        }
        (sum, self.products(difference, w))
    }
    #[inline(always)]
    fn inverse_reduce(self, v: Self::V) -> Self::V {
        self.quarter(v)
    }
    #[inline(always)]
    fn inverse_leave(self, x: Self::V, y: Self::V, u: Self::C, w: Self::C) -> (Self::V, Self::V) {
        let [a, b] = self.products([self.l.add(x, y), self.l.sub(self.l.add(x, self.q4), y)], [u, w]);
        let canonical = |l: H::L, v| l.csub(l.csub(v, self.q2), self.q);
        (canonical(self.l, a), canonical(self.l, b))
    }
}
