//! 52-bit multiply-add for primes next to a power of two, 2^b up to 2^49: nothing is reduced before it is multiplied.
//!
//! Shoup's products with 52 bits: for a constant w let w' = ⌈w·2^52/q⌉ and k = ⌊y·w'/2^52⌋. For 0 ≤ y < 2^52 the
//! quotient k is at most one too great and never too small, so t = y·w − k·q lies in (−q, q). It is computed as the sum
//! of two low halves, y·w and k·(2^52 − q): t modulo 2^52.
//!
//! So a word is right in its low 52 bits only, and those are all that the multiplier reads: words may take any
//! representatives in a window [0, 8·2^b), or [0, 16·2^b) for b up to 48, and carry anything above. Sums x ± t move by
//! less than q whatever y was, so that the window holds three stages, or seven, of which six are made. Then x is brought
//! back to its middle: four of its bits choose one of 16 multiples of q by a table in two registers. Three multiply-adds
//! and two additions a butterfly, and in one of three or six stages a shift, a look-up and an addition, none of which the
//! multiplier does.

use crate::{
    Modulus,
    form::Form,
    lanes::{Lanes, Madd52Lanes},
    ntt::{
        arith::Arith,
        fold52::{Shape, butterflies, inverse_butterflies},
    },
};

/// The greatest b: the window 8·2^b must lie within the 52 bits that are multiplied.
pub(super) const MAX_B: u32 = 49;
const MASK52: u64 = (1 << 52) - 1;

/// The margin that the 52 bits leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Window {
    /// 16·2^b.
    Wide,
    /// 8·2^b, and q lies below 2^b.
    Narrow,
    /// 8·2^b, and 8q lies beyond it.
    Tight,
}

impl Window {
    /// That of a shape with b up to [`MAX_B`].
    pub(super) const fn of(shape: Shape) -> Self {
        match shape {
            Shape { b, .. } if b < MAX_B => Self::Wide,
            Shape { above: false, .. } => Self::Narrow,
            Shape { above: true, .. } => Self::Tight,
        }
    }
}
pub(super) const WIDE: u8 = Window::Wide as u8;
pub(super) const NARROW: u8 = Window::Narrow as u8;
pub(super) const TIGHT: u8 = Window::Tight as u8;

/// Half the window: words are reduced to that multiple of q, or to the one before and up to it.
const fn half(window: u8) -> u64 {
    if window == WIDE { 8 } else { 4 }
}
/// Stages that words may make between two reductions.
const fn stages(window: u8) -> u64 {
    if window == WIDE { 6 } else { 3 }
}
/// Reduced words lie between these, in units of q/2^12: within the step of their index, a half one around `half` or a whole
/// one before it, less or more what 16 times 2^b and q differ, as δ ≤ 2^(b−11) is 3 units at most: 48.
const fn reduced(window: u8) -> [u64; 2] {
    let middle = half(window) << 12;
    if window == WIDE {
        [middle - (1 << 12) - 48, middle + 48]
    } else {
        [middle - (1 << 11) - 48, middle + (1 << 11) + 48]
    }
}
/// Whether words stay in the window, those that were reduced and those that entered as canonical ones.
const fn holds(window: u8) -> bool {
    let ([low, high], moved, window) = (reduced(window), stages(window) << 12, (half(window) << 13) - 48);
    let enter = (window >> 13) << 12;
    low >= moved && high + moved <= window && enter >= moved && enter + (1 << 12) + moved <= window
}
const _: () = assert!(holds(WIDE) && holds(NARROW) && holds(TIGHT));

/// The forward transform of a wide window ends six stages after words were reduced. A canonical word less such a one, plus
/// this many q, stays in the window.
const OVER: u64 = 15;
const _: () = {
    let ([low, high], moved) = (reduced(WIDE), 6 << 12);
    assert!(high + moved <= OVER << 12 && ((OVER + 1) << 12) - (low - moved) <= (16 << 12) - 48);
};

/// The inverse, in units of q/8: what sums may be, and x alone.
const fn inverse_bounds(window: u8) -> [u32; 2] {
    match window {
        // 16q and 8q may lie beyond the window.
        WIDE => [127, 64],
        TIGHT => [62, 31],
        _ => [64, 32],
    }
}
/// Whether sums, and y + half a window from which x is taken, stay in the window; below 2^b it holds 8q.
const fn inverse_holds(window: u8) -> bool {
    let ([sum, x], half) = (inverse_bounds(window), 8 * half(window) as u32);
    let y = sum - x;
    let most = (if sum > y + half { sum } else { y + half }) as u64;
    x <= half && (most << 9) + (if window == NARROW { 0 } else { 48 }) <= (2 * half as u64) << 9
}
const _: () = assert!(inverse_holds(WIDE) && inverse_holds(NARROW) && inverse_holds(TIGHT));

/// The arithmetic for one [`Window`].
#[derive(Clone, Copy)]
pub(super) struct Window52<L: Lanes + Madd52Lanes, const WINDOW: u8> {
    l: L,
    q: L::U,
    /// 2^52 − q.
    minus_q: L::U,
    /// What canonical words get that are x in the first stage: a step less than half the window.
    entry: L::U,
    /// Half the window, in q.
    half: L::U,
    /// What a − v gets, v a word that the forward transform ends with, so that it stays in the window: if wide.
    over: L::U,
    /// Brings words to the middle.
    to_middle: Steps<L>,
    /// Brings words of at most [`Arith::INVERSE_LIMIT`], below 8q if narrow, to `INVERSE_REDUCED`.
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

/// The steps to the middle and those to the start. Four bits hold sixteen half steps of a window of eight, which go to the
/// nearest multiple of q, or whole ones of a window of sixteen, which go to the multiple below. To the start narrow windows
/// too take whole ones, by three bits: 8q is less than 8·2^b there.
#[inline(always)]
fn steps<L: Lanes>(l: L, q: u64, shape: Shape) -> [Steps<L>; 2] {
    let b = shape.b;
    let whole = |to: i64, size: i64| Steps::new(l, q, b, move |j| to - j % size);
    let halves = |to: i64| Steps::new(l, q, b - 1, move |j| to - (j + 1) / 2);
    match Window::of(shape) {
        Window::Wide => [whole(7, 16), whole(i64::from(shape.above), 16)],
        Window::Narrow => [halves(4), whole(0, 8)],
        Window::Tight => [halves(4), halves(1)],
    }
}

impl<L: Lanes + Madd52Lanes, const WINDOW: u8> Window52<L, WINDOW> {
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

impl<L: Lanes + Madd52Lanes, const WINDOW: u8> Arith for Window52<L, WINDOW> {
    type L = L;
    type V = L::U;
    type C = [L::U; 2];
    const MAX_LOG_RADIX: usize = 3;
    const LAST_BLOCKS: usize = 2;
    const INTERLEAVED: bool = true;

    // A bound counts the stages since words were reduced or canonical, from 1 on.
    const MULTIPLIABLE: u64 = (stages(WINDOW) + 1) << 12;
    const REPRESENTABLE: u64 = Self::MULTIPLIABLE;
    const REDUCING: u32 = 1;
    const LAST_REDUCING: u32 = if WINDOW == WIDE { 0b000_001 } else { 0b001_001 };
    fn grow(x: u64, _: u64) -> u64 {
        x + (1 << 12)
    }
    fn reduced(_: u64) -> u64 {
        1 << 12
    }

    // Products from q lie in (0, 2q), reduced words in [0, q + 17δ), (q − 16δ, 2q) or, if tight, q(1 ± 1/2) ± 8δ.
    const INVERSE_FRESH: u32 = 16;
    const INVERSE_REDUCED: u32 = if WINDOW == TIGHT { 13 } else { 16 };
    const INVERSE_LIMIT: u32 = inverse_bounds(WINDOW)[0];
    const INVERSE_X: u32 = inverse_bounds(WINDOW)[1];
    const INVERSE_STORED: u32 = if WINDOW == TIGHT { 31 } else { 32 };

    #[inline(always)]
    fn new(l: L, q: Modulus) -> Self {
        let shape = Shape::of(q).unwrap_or(Shape { b: q.bits(), above: false });
        let (q, b) = (q.value(), shape.b);
        let [to_middle, to_start] = steps(l, q, shape);
        Self {
            l,
            q: l.splat(q),
            minus_q: l.splat((1 << 52) - q),
            entry: l.splat((half(WINDOW) - 1) * q),
            half: l.splat(half(WINDOW) * q),
            over: l.splat(OVER * q),
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
    const LEAF_WORDS: usize = 1;
    /// w' = w·2^52/q + e with 0 ≤ e < 1: w'·q/2^52 lies between w and w + q/2^52 < w + 1.
    #[inline(always)]
    fn first_word(self, second: L::U) -> L::U {
        self.l.madd52_hi(self.l.splat(0), second, self.q)
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
        butterflies(self.l, x, t)
    }
    /// With k = ⌊x/2^b⌋, x − k·q lies in [0, q + 17δ) for q below 2^b, and x − (k − 1)·q in (q − 16δ, 2q) above.
    #[inline(always)]
    fn leave(self, v: L::U) -> L::U {
        let k = self.l.madd52_hi(self.start, v, self.high);
        self.canonical(self.l.madd52_lo(v, k, self.minus_q))
    }
    /// Words are right in their low 52 bits at all times.
    const FACTORS: Form = Form::Low52;
    #[inline(always)]
    fn leave_factor(self, v: L::U) -> L::U {
        v
    }
    #[inline(always)]
    fn leave_difference(self, a: L::U, v: L::U, c: [L::U; 2]) -> L::U {
        let difference = if WINDOW == WIDE {
            self.l.sub(self.l.add(a, self.over), v)
        } else {
            // At most 7q + q/2 + 48 units: less than `to_start` takes.
            self.l.sub(self.l.add(a, self.half), self.moved(v, self.to_start))
        };
        let [t] = self.products([difference], [c], self.q);
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
        let (sum, difference) = inverse_butterflies(self.l, x, y, self.half);
        (sum, self.products(difference, w, self.q))
    }
    #[inline(always)]
    fn inverse_reduce(self, v: L::U) -> L::U {
        self.moved(v, self.to_start)
    }
    #[inline(always)]
    fn inverse_leave(self, x: L::U, y: L::U, u: [L::U; 2], w: [L::U; 2]) -> (L::U, L::U) {
        let difference = self.l.sub(self.l.add(x, self.half), y);
        let [a, b] = self.products([self.l.add(x, y), difference], [u, w], self.q);
        (self.canonical(a), self.canonical(b))
    }
}

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
            let shape = Shape { b, above };
            let ([middle, start], window) = (steps(l, q, shape), Window::of(shape));
            let (size, most, least) = match window {
                Window::Wide => (16, 127 * q / 8, 16 * q),
                Window::Narrow => (8, 8 * q - 1, 16 * q),
                Window::Tight => (8, 62 * q / 8, 13 * q),
            };
            let [low, high] = reduced(window as u8);
            // Whatever stands above the 52 bits.
            for (j, above) in (0..=32u64).flat_map(|j| [0, 1, 5].map(|above| (j, above << 52))) {
                for x in [(j << (b - 1)).saturating_sub(1), j << (b - 1), (j << (b - 1)) + 1] {
                    if x < size << b {
                        let to = moved(x | above, middle);
                        assert_eq!(to % q, x % q, "{x} to the middle, {q}");
                        let at = u128::from(to) << 12;
                        assert!(
                            at >= u128::from(low) * u128::from(q) && at <= u128::from(high) * u128::from(q),
                            "{x} to {to}, {q}"
                        );
                    }
                    if x <= most {
                        let to = moved(x | above, start);
                        assert_eq!(to % q, x % q, "{x} to the start, {q}");
                        assert!(to * 8 <= least, "{x} to {to}, {q}");
                    }
                }
            }
        }
    }
}
