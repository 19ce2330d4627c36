//! 52-bit multiply-add for primes next to a power of two: q = 2^b − δ or 2^b + δ with δ ≤ 2^(b−11).
//!
//! Reduction by Montgomery with a carry that is known. For a constant w let ŵ ≡ w·2^52 mod q, *odd*, below 2q, and
//! w″ = −ŵ·q⁻¹ mod 2^52. With m = y·w″ mod 2^52 the sum y·ŵ + m·q is divisible by 2^52, and
//! t = (y·ŵ + m·q)/2^52 = ⌊y·ŵ/2^52⌋ + ⌊m·q/2^52⌋ + 1 ≡ y·w: the two low halves add up to exactly 2^52 unless
//! y·ŵ ≡ 0 mod 2^52, which for odd ŵ and 0 < y < 2^52 never happens. So a product takes three multiply-adds, whose
//! accumulators also take the 1 and a multiple of q, and no subtraction.
//!
//! Words grow freely in 64 bits; only y is folded, just before it is multiplied: with k = ⌊y/2^b⌋ the integer
//! y − k·q lies in (0, q + k·δ] for q below 2^b, and y − (k−1)·q lies in (0, 2q) for q above. It is computed
//! modulo 2^52, because the multiplier ignores the bits above. Seven operations a butterfly, eight for q above 2^b,
//! four of them on the multiplier: no comparison and no mask.

use crate::{
    Modulus,
    form::Form,
    lanes::{Lanes, Madd52Lanes},
    ntt::arith::Arith,
};

/// Offset, in q, that keeps all words positive.
const OFFSET: u64 = 20;
/// The greatest k = ⌊y/2^b⌋ that the proofs below allow.
const MAX_FOLD: u64 = 64;
const MASK52: u64 = (1 << 52) - 1;

/// The shape of a prime that this arithmetic serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    /// q lies next to 2^b.
    pub(super) b: u32,
    /// q lies above it.
    pub(super) above: bool,
}

impl Shape {
    /// The shape of q, if it lies within 2^(b−11) of 2^b for some b ≤ 51, or ≤ 50 from above.
    pub(super) fn of(q: Modulus) -> Option<Self> {
        let (q, bits) = (q.value(), q.bits());
        let near = |b: u32| q.abs_diff(1 << b) <= 1 << (b - 11);
        if bits <= 51 && near(bits) {
            Some(Self { b: bits, above: false })
        } else if bits <= 51 && near(bits - 1) {
            Some(Self { b: bits - 1, above: true })
        } else {
            None
        }
    }
}

// The bounds, in units of q/2^12. δ ≤ 2^(b−11) and k ≤ MAX_FOLD make k·δ ≤ q/16 or so:
const _: () = assert!(MAX_FOLD * ((1 << 12) / (1 << 11)) <= (1 << 12) / 31);
/// Folded y is at most q(1 + 1/31) below a power of two, and below 2q above one.
/// |t| for t = y·w − (0 or 1)q: ŵ·y/2^52 + m·q/2^52 − q lies in (−q, ŵ·y/2^52).
/// Below, b ≤ 51: ŵ·y/2^52 < 2q·q(1 + 1/31)/2^52 ≤ q(1 + 1/31). Above, b ≤ 50: < 2q·2q/2^52 ≤ q(1 + 2^−10).
const GROWTH: u64 = (1 << 12) + (1 << 12) / 31 + 1;
/// Words start in [OFFSET·q, (OFFSET+1)·q); after 17 stages they are still positive, and k is still in range
/// (k ≤ y/2^b ≤ (y/q)(1 + 2^−11)).
const _: () = assert!(17 * GROWTH < OFFSET << 12);
const _: () = assert!(3 * OFFSET < MAX_FOLD - 1);
const _: () = assert!(((OFFSET + 1) << 12) + 17 * GROWTH < (MAX_FOLD - 1) << 12);

/// The arithmetic; `ABOVE`: q lies above 2^b.
#[derive(Clone, Copy)]
pub(super) struct Fold52<L: Lanes + Madd52Lanes, const ABOVE: bool> {
    l: L,
    q: L::U,
    /// 2^52 − q.
    minus_q: L::U,
    /// OFFSET·q.
    offset: L::U,
    /// 1 − q and 1: what the products start from.
    start: L::U,
    one: L::U,
    /// 2^b − 1.
    mask: L::U,
    /// |2^b − q|.
    delta: L::U,
    /// b, in each lane.
    b: L::U,
}

impl<L: Lanes + Madd52Lanes, const ABOVE: bool> Fold52<L, ABOVE> {
    /// y, positive and at most MAX_FOLD·2^b, to a number modulo 2^52 that the multiplier may read.
    #[inline(always)]
    fn fold_y(self, y: L::U) -> L::U {
        let k = self.l.shr_each(y, self.b);
        let y = if ABOVE { self.l.add(y, self.q) } else { y };
        self.l.madd52_lo(y, k, self.minus_q)
    }

    /// x, up to MAX_FOLD·2^b, to [0, q + q/16) below and to (0, 2q) above, in all 64 bits.
    #[inline(always)]
    fn fold_x(self, x: L::U) -> L::U {
        let k = self.l.shr_each(x, self.b);
        let low = self.l.and(x, self.mask);
        if ABOVE {
            let less = self.l.madd52_lo(self.l.splat(0), k, self.delta);
            self.l.sub(self.l.add(low, self.q), less)
        } else {
            self.l.madd52_lo(low, k, self.delta)
        }
    }

    /// Words below 3q to canonical ones.
    #[inline(always)]
    fn canonical(self, v: L::U) -> L::U {
        self.l.csub(self.l.csub(v, self.q), self.q)
    }

    /// start − 1 + (folded y)·w, in (start, start + 2.1q).
    #[inline(always)]
    fn products<const G: usize>(self, mut y: [L::U; G], w: [[L::U; 2]; G], start: L::U) -> [L::U; G] {
        let mut m = y;
        let mut t = y;
        for y in &mut y {
            *y = self.fold_y(*y);
        }
        for g in 0..G {
            m[g] = self.l.madd52_lo(self.l.splat(0), y[g], w[g][1]);
        }
        for g in 0..G {
            t[g] = self.l.madd52_hi(start, y[g], w[g][0]);
        }
        for g in 0..G {
            t[g] = self.l.madd52_hi(t[g], m[g], self.q);
        }
        t
    }
}

/// x + t and x − t.
#[inline(always)]
pub(super) fn butterflies<L: Lanes + Madd52Lanes, const G: usize>(
    l: L,
    x: [L::U; G],
    t: [L::U; G],
) -> ([L::U; G], [L::U; G]) {
    let (mut sum, mut difference) = (x, x);
    for g in 0..G {
        sum[g] = l.add(x[g], t[g]);
        difference[g] = l.sub(x[g], t[g]);
    }
    (sum, difference)
}

/// x + y and y − x, which `offset` keeps from going below zero.
#[inline(always)]
pub(super) fn inverse_butterflies<L: Lanes + Madd52Lanes, const G: usize>(
    l: L,
    x: [L::U; G],
    y: [L::U; G],
    offset: L::U,
) -> ([L::U; G], [L::U; G]) {
    let (mut sum, mut difference) = (x, x);
    for g in 0..G {
        sum[g] = l.add(x[g], y[g]);
        difference[g] = l.sub(l.add(y[g], offset), x[g]);
    }
    (sum, difference)
}

impl<L: Lanes + Madd52Lanes, const ABOVE: bool> Arith for Fold52<L, ABOVE> {
    type L = L;
    type V = L::U;
    type C = [L::U; 2];
    const MAX_LOG_RADIX: usize = 3;
    const LAST_BLOCKS: usize = 2;
    const INTERLEAVED: bool = true;

    // The forward transform never reduces: the assertions above bound all 17 stages.
    const MULTIPLIABLE: u64 = u64::MAX;
    const REPRESENTABLE: u64 = u64::MAX;
    const REDUCING: u32 = 0;
    const LAST_REDUCING: u32 = 0;
    fn grow(x: u64, _: u64) -> u64 {
        x + GROWTH
    }
    fn reduced(x: u64) -> u64 {
        x
    }

    // A product from `one`: below, t < q + 1.04q; above, t < q + 1.01q.
    const INVERSE_FRESH: u32 = 17;
    const INVERSE_REDUCED: u32 = if ABOVE { 16 } else { 9 };
    // y < OFFSET·q keeps x − y + OFFSET·q positive; that and, in the last stage, x + y + OFFSET·q stay below 3·OFFSET·q.
    const INVERSE_LIMIT: u32 = 2 * 8 * OFFSET as u32;
    // Three stages bring 5q to 40q; what was multiplied one stage before the end of a pass needs no reduction.
    const INVERSE_STORED: u32 = 40;

    #[inline(always)]
    fn new(l: L, q: Modulus) -> Self {
        let b = Shape::of(q).map_or(q.bits(), |s| s.b);
        let q = q.value();
        Self {
            l,
            q: l.splat(q),
            minus_q: l.splat((1 << 52) - q),
            offset: l.splat(OFFSET * q),
            start: l.splat(1u64.wrapping_sub(q)),
            one: l.splat(1),
            mask: l.splat((1 << b) - 1),
            delta: l.splat(q.abs_diff(1 << b)),
            // Hidden from the compiler, which would otherwise turn the shifts of equal lanes into the slower kind.
            b: l.load(&std::hint::black_box([u64::from(b); 8])),
        }
    }
    #[inline(always)]
    fn lanes(self) -> L {
        self.l
    }
    fn encode(q: Modulus, w: u64) -> [u64; 2] {
        let hat = q.mul(w, q.reduce(1 << 52));
        let hat = if hat & 1 == 0 { hat + q.value() } else { hat };
        // q·inverse ≡ 1 modulo 2^3 at first; each step doubles the bits.
        let mut inverse = q.value();
        for _ in 0..5 {
            inverse = inverse.wrapping_mul(2u64.wrapping_sub(q.value().wrapping_mul(inverse)));
        }
        [hat, hat.wrapping_mul(inverse).wrapping_neg() & MASK52]
    }
    #[inline(always)]
    fn constant(self, words: [L::U; 2]) -> [L::U; 2] {
        words
    }
    const LEAF_WORDS: usize = 1;
    /// w″ = −ŵ·q⁻¹ modulo 2^52, and ŵ < 2q < 2^52: it is the low half of w″·(2^52 − q).
    #[inline(always)]
    fn first_word(self, second: L::U) -> L::U {
        self.l.madd52_lo(self.l.splat(0), second, self.minus_q)
    }
    #[inline(always)]
    fn register(self, v: L::U) -> L::U {
        v
    }
    #[inline(always)]
    fn words(self, v: L::U) -> L::U {
        v
    }

    /// x + OFFSET·q, and y + q, because y must not be 0.
    #[inline(always)]
    fn enter(self, v: L::U, is_y: bool) -> L::U {
        self.l.add(v, if is_y { self.q } else { self.offset })
    }
    #[inline(always)]
    fn forward<const G: usize, const REDUCE: bool>(
        self,
        x: [L::U; G],
        y: [L::U; G],
        w: [[L::U; 2]; G],
    ) -> ([L::U; G], [L::U; G]) {
        let t = self.products(y, w, self.start);
        butterflies(self.l, x, t)
    }
    #[inline(always)]
    fn leave(self, v: L::U) -> L::U {
        self.l.csub(self.fold_x(v), self.q)
    }
    const FACTORS: Form = Form::Low52;
    #[inline(always)]
    fn leave_factor(self, v: L::U) -> L::U {
        self.fold_y(v)
    }
    /// The difference lies between (OFFSET − 2)q and (OFFSET + 1)q.
    #[inline(always)]
    fn leave_difference(self, a: L::U, v: L::U, c: [L::U; 2]) -> L::U {
        let difference = self.l.sub(self.l.add(a, self.offset), self.fold_x(v));
        let [t] = self.products([difference], [c], self.one);
        self.canonical(t)
    }

    #[inline(always)]
    fn inverse_enter(self, v: L::U) -> L::U {
        v
    }
    #[inline(always)]
    fn inverse<const G: usize>(
        self,
        x: [L::U; G],
        y: [L::U; G],
        w: [[L::U; 2]; G],
    ) -> ([L::U; G], [L::U; G]) {
        let (sum, difference) = inverse_butterflies(self.l, x, y, self.offset);
        (sum, self.products(difference, w, self.one))
    }
    #[inline(always)]
    fn inverse_reduce(self, v: L::U) -> L::U {
        self.fold_x(v)
    }
    /// The sum may be 0, so it too gets the offset. Products from `one` lie in (0, 2.04q): two subtractions.
    #[inline(always)]
    fn inverse_leave(self, x: L::U, y: L::U, u: [L::U; 2], w: [L::U; 2]) -> (L::U, L::U) {
        let x = self.l.add(x, self.offset);
        let [a, b] = self.products([self.l.add(x, y), self.l.sub(x, y)], [u, w], self.one);
        (self.canonical(a), self.canonical(b))
    }
}
