//! 52-bit multiply-add for primes next to a power of two, 2^b up to 2^49: nothing is reduced before it is multiplied.
//!
//! Shoup's products with 52 bits: for a constant w let w' = ⌈w·2^52/q⌉ and k = ⌊y·w'/2^52⌋. For 0 ≤ y < 2^52 the
//! quotient k is at most one too great and never too small, so t = y·w − k·q lies in (−q, q). It is computed as the sum
//! of two low halves, y·w and k·(2^52 − q): t modulo 2^52.
//!
//! So a word is right in its low 52 bits only, and those are all that the multiplier reads: words may take any
//! representatives in [0, 8·2^b) and carry anything above. Sums x ± t move by less than q whatever y was, so that the
//! window holds three stages. Then x is brought back to its middle: bits b − 1 to b + 2 choose one of 16 multiples of q
//! by a table in two registers. Three multiply-adds and two additions a butterfly, and in one of three stages a shift,
//! a look-up and an addition, none of which the multiplier does.

use crate::{
    Modulus,
    lanes::{Lanes, Madd52Lanes},
    ntt::{arith::Arith, fold52::Shape},
};

/// The greatest b: the window 8·2^b must lie within the 52 bits that are multiplied.
pub(super) const MAX_B: u32 = 49;
const MASK52: u64 = (1 << 52) - 1;

// Bounds in units of q/2^12. δ ≤ 2^(b−11), so 2^b and q differ by at most 2 units, the window and 8q by 17.
const WINDOW: u64 = (8 << 12) - 17;
/// A word of the window with index j is less than 2^(b−1) away from ⌈j/2⌉·2^b, that is from ⌈j/2⌉·q but for 8·δ.
const NEAR: u64 = (1 << 11) + 1 + 17;
/// Stages that words may make between two reductions.
const STAGES: u64 = 3;
/// Reduced words lie around this multiple of q.
const MIDDLE: u64 = 4;
/// What canonical words get that are x in the first stage.
const ENTRY: u64 = 3;
const _: () =
    assert!((MIDDLE << 12) >= NEAR + (STAGES << 12) && (MIDDLE << 12) + NEAR + (STAGES << 12) <= WINDOW);
const _: () = assert!(ENTRY >= STAGES && (ENTRY + 1 + STAGES) << 12 <= WINDOW);

/// Whether 8q lies beyond the 52 bits.
pub(super) fn is_tight(shape: Shape) -> bool {
    shape.above && shape.b == MAX_B
}

/// The arithmetic; `TIGHT`: see [`is_tight`].
#[derive(Clone, Copy)]
pub(super) struct Window52<L: Lanes + Madd52Lanes, const TIGHT: bool> {
    l: L,
    q: L::U,
    /// 2^52 − q.
    minus_q: L::U,
    /// ENTRY·q and MIDDLE·q.
    entry: L::U,
    middle: L::U,
    /// Brings words to (MIDDLE ± 1/2)·q.
    to_middle: Steps<L>,
    /// Brings words of at most 8q, or less than 2^52, below 2q.
    to_start: Steps<L>,
    /// 2^(52 − b), the factor whose high products are the bits from b on.
    high: L::U,
    /// What those start from: 0 for q below 2^b and −1 above, where they may be too great by one.
    start: L::U,
    mask: L::U,
}

/// What is added to words, by four of their bits.
#[derive(Clone, Copy)]
struct Steps<L: Lanes> {
    /// Where the four bits begin, in each lane.
    shift: L::U,
    table: [L::U; 2],
}

impl<L: Lanes> Steps<L> {
    /// `multiple(j)`·q for words x with ⌊x/2^shift⌋ ≡ j mod 16.
    #[inline(always)]
    fn new(l: L, q: u64, shift: u32, multiple: impl Fn(i64) -> i64) -> Self {
        let mut words = [0; 16];
        for (j, word) in (0..).zip(&mut words) {
            *word = (multiple(j) as u64).wrapping_mul(q);
        }
        // The shift is hidden from the compiler, which would otherwise take the slower kind for equal lanes.
        let shift = l.load(&std::hint::black_box([u64::from(shift); 8]));
        Self { shift, table: [l.load(&words[..8]), l.load(&words[8..])] }
    }
}

/// The steps to the middle, half ones to the nearest multiple of q, and those to the start. Below 2^b these are whole ones to
/// the multiple that lies below, by three bits, as 8q is less than 8·2^b and above that there may be anything; above 2^b by
/// four, because words next to 8q reach beyond 8·2^b. Both need 52 bits; if tight, the words end half a step before.
#[inline(always)]
fn steps<L: Lanes>(l: L, q: u64, shape: Shape) -> (Steps<L>, Steps<L>) {
    let b = shape.b;
    let halves = |to: i64| Steps::new(l, q, b - 1, move |j| to - (j + 1) / 2);
    let to_start = match shape.above {
        _ if is_tight(shape) => halves(1),
        true => Steps::new(l, q, b, |j| 1 - j),
        false => Steps::new(l, q, b, |j| -(j % 8)),
    };
    (halves(MIDDLE as i64), to_start)
}

impl<L: Lanes + Madd52Lanes, const TIGHT: bool> Window52<L, TIGHT> {
    /// A word plus the multiple of q of its index.
    #[inline(always)]
    fn moved(self, x: L::U, steps: Steps<L>) -> L::U {
        self.l.add(x, self.l.lookup(steps.table, self.l.shr_each(x, steps.shift)))
    }

    /// start + y·w, in (start − q, start + q) modulo 2^52, for y in [0, 2^52) modulo 2^52.
    #[inline(always)]
    fn products<const G: usize>(self, y: [L::U; G], w: [[L::U; 2]; G], start: L::U) -> [L::U; G] {
        let (mut k, mut t) = (y, y);
        for g in 0..G {
            k[g] = self.l.madd52_hi(self.l.splat(0), y[g], w[g][1]);
        }
        for g in 0..G {
            t[g] = self.l.madd52_lo(start, y[g], w[g][0]);
        }
        for g in 0..G {
            t[g] = self.l.madd52_lo(t[g], k[g], self.minus_q);
        }
        t
    }

    /// Words in [0, 2q) modulo 2^52 to canonical ones.
    #[inline(always)]
    fn canonical(self, x: L::U) -> L::U {
        self.l.csub(self.l.and(x, self.mask), self.q)
    }
}

impl<L: Lanes + Madd52Lanes, const TIGHT: bool> Arith for Window52<L, TIGHT> {
    type L = L;
    type V = L::U;
    type C = [L::U; 2];
    const MAX_LOG_RADIX: usize = 3;
    const LAST_BLOCKS: usize = 2;
    const INTERLEAVED: bool = true;

    // A bound counts the stages since words were reduced or canonical, from 1 on; the window holds STAGES.
    const MULTIPLIABLE: u64 = (STAGES + 1) << 12;
    const REPRESENTABLE: u64 = Self::MULTIPLIABLE;
    const REDUCING: u32 = 1;
    const LAST_REDUCING: u32 = 0b001_001;
    fn grow(x: u64, _: u64) -> u64 {
        x + (1 << 12)
    }
    fn reduced(_: u64) -> u64 {
        1 << 12
    }

    // Products from q lie in (0, 2q), reduced words in [0, q + 9δ), (q − 8δ, 2q) or, if tight, q ± NEAR.
    const INVERSE_FRESH: u32 = 16;
    const INVERSE_REDUCED: u32 = if TIGHT { 13 } else { 16 };
    // Below 8q, or below 8q − q/4.
    const INVERSE_LIMIT: u32 = if TIGHT { 62 } else { 64 };
    const INVERSE_STORED: u32 = Self::INVERSE_LIMIT / 2;

    fn new(l: L, q: Modulus) -> Self {
        let shape = Shape::of(q).unwrap_or(Shape { b: q.bits(), above: false });
        let (q, b) = (q.value(), shape.b);
        let (to_middle, to_start) = steps(l, q, shape);
        Self {
            l,
            q: l.splat(q),
            minus_q: l.splat((1 << 52) - q),
            entry: l.splat(ENTRY * q),
            middle: l.splat(MIDDLE * q),
            to_middle,
            to_start,
            high: l.splat(1 << (52 - b)),
            start: l.splat(if shape.above { u64::MAX } else { 0 }),
            mask: l.splat(MASK52),
        }
    }
    #[inline(always)]
    fn lanes(self) -> L {
        self.l
    }
    fn encode(q: Modulus, w: u64) -> [u64; 2] {
        let quotient = (u128::from(w) << 52).div_ceil(u128::from(q.value()));
        [w, quotient as u64]
    }
    #[inline(always)]
    fn constant(self, words: [L::U; 2]) -> [L::U; 2] {
        words
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
    fn enter(self, v: L::U, is_y: bool) -> L::U {
        if is_y { v } else { self.l.add(v, self.entry) }
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
                *x = self.moved(*x, self.to_middle);
            }
        }
        let t = self.products(y, w, self.l.splat(0));
        let (mut a, mut b) = (x, x);
        for g in 0..G {
            a[g] = self.l.add(x[g], t[g]);
            b[g] = self.l.sub(x[g], t[g]);
        }
        (a, b)
    }
    /// With k = ⌊x/2^b⌋, x − k·q lies in [0, q + 9δ) for q below 2^b, and x − (k − 1)·q in (q − 8δ, 2q) above.
    #[inline(always)]
    fn leave(self, v: L::U) -> L::U {
        let k = self.l.madd52_hi(self.start, v, self.high);
        self.canonical(self.l.madd52_lo(v, k, self.minus_q))
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
        let (mut sum, mut difference) = (x, x);
        for g in 0..G {
            sum[g] = self.l.add(x[g], y[g]);
            difference[g] = self.l.sub(self.l.add(y[g], self.middle), x[g]);
        }
        (sum, self.products(difference, w, self.q))
    }
    #[inline(always)]
    fn inverse_reduce(self, v: L::U) -> L::U {
        self.moved(v, self.to_start)
    }
    #[inline(always)]
    fn inverse_leave(self, x: L::U, y: L::U, u: [L::U; 2], w: [L::U; 2]) -> (L::U, L::U) {
        let difference = self.l.sub(self.l.add(x, self.middle), y);
        let [a, b] = self.products([self.l.add(x, y), difference], [u, w], self.q);
        (self.canonical(a), self.canonical(b))
    }
}

// What the inverse relies on: x and y are at most MIDDLE·q each; then y + MIDDLE·q, a sum of two, is what the limit allows.
const _: () = assert!(64 == 16 * MIDDLE && (62 << 9) <= WINDOW && (1 << 12) + NEAR <= 13 << 9);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::{Emulated, U64Lanes};

    /// The extremes of each shape: beside the power of two, and as far from it as the shape allows. Primality is not asked for.
    fn moduli() -> impl Iterator<Item = (u64, u32, bool)> {
        [20, 30, 48, 49].into_iter().flat_map(|b: u32| {
            let (power, delta) = (1u64 << b, 1u64 << (b - 11));
            [(power - 1, b, false), (power - delta, b, false), (power + 1, b, true), (power + delta, b, true)]
        })
    }

    #[test]
    fn products_are_within_q_whatever_is_multiplied() {
        for (q, ..) in moduli() {
            let constants = [0, 1, 2, q / 3, q / 2, q - 2, q - 1];
            let words = [0, 1, q - 1, q, 3 * q + 5, (1 << 51) + 12_345, (1 << 52) - 2, (1 << 52) - 1];
            for (w, y) in constants.into_iter().flat_map(|w| words.map(|y| (w, y))) {
                let (y, w, q) = (u128::from(y), u128::from(w), u128::from(q));
                let quotient = (y * (w << 52).div_ceil(q)) >> 52;
                assert!((y * w).abs_diff(quotient * q) < q, "{y}·{w} mod {q}");
            }
        }
    }

    #[test]
    fn steps_bring_words_where_the_bounds_say() {
        let l = Emulated::<8>;
        let moved = |x: u64, steps: Steps<Emulated<8>>| {
            l.add([x; 8], l.lookup(steps.table, l.shr_each([x; 8], steps.shift)))[0] & MASK52
        };
        for (q, b, above) in moduli() {
            let (middle, start) = steps(l, q, Shape { b, above });
            let tight = is_tight(Shape { b, above });
            // Whatever stands above the 52 bits.
            for (j, high) in (0..=16u64).flat_map(|j| [0, 1, 5].map(|high| (j, high << 52))) {
                for x in [(j << (b - 1)).saturating_sub(1), j << (b - 1), (j << (b - 1)) + 1] {
                    if x < 8 << b {
                        let to = moved(x | high, middle);
                        assert_eq!(to % q, x % q, "{x} to the middle, {q}");
                        assert!((to.abs_diff(MIDDLE * q) << 12).div_ceil(q) <= NEAR, "{x} to {to}, {q}");
                    }
                    if x <= if tight { 8 * q - q / 4 } else { 8 * q - 1 } {
                        let to = moved(x | high, start);
                        assert_eq!(to % q, x % q, "{x} to the start, {q}");
                        assert!(to * 8 <= if tight { 13 * q } else { 16 * q }, "{x} to {to}, {q}");
                    }
                }
            }
        }
    }
}
