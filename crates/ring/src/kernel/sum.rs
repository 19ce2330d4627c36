//! Sums of products of two unsigned words, reduced once: behind inner products and base conversion.
//!
//! | sum | operands | operations a product |
//! |---|---|---|
//! | [`Narrow`] | below 2^52, q < 2^50 | 2 (52-bit multiply-add) |
//! | [`Wide`] | below 2^60 | 8, and 2 to split each operand |

use super::field;
use crate::Modulus;
use crate::lanes::{Lanes, Madd52Lanes};

/// How a sum of products is held, extended and reduced.
pub(crate) trait Sum: Copy {
    type L: Lanes;
    /// An operand made ready.
    type Operand: Copy;
    /// The running sum.
    type Acc: Copy;
    fn lanes(self) -> Self::L;
    /// How many products a sum may take between [`Self::start`] and [`Self::fold`].
    fn terms(self) -> usize;
    fn split(self, x: <Self::L as crate::lanes::U64Lanes>::U) -> Self::Operand;
    /// A sum that is a residue.
    fn start(self, residue: <Self::L as crate::lanes::U64Lanes>::U) -> Self::Acc;
    fn add(self, acc: Self::Acc, a: Self::Operand, b: Self::Operand) -> Self::Acc;
    /// The canonical residue of the sum.
    fn fold(self, acc: Self::Acc) -> <Self::L as crate::lanes::U64Lanes>::U;
}

/// A computation over a sum, written once.
pub(crate) trait SumKernel {
    type Output;
    fn run<S: Sum>(self, sum: S) -> Self::Output;
}

/// The prime and the greatest operands of a sum of products.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) modulus: Modulus,
    /// Left factors lie below this, right ones below q.
    pub(crate) bound: u64,
}

/// Runs a [`SumKernel`] on the sum that suits the operands and the backend.
pub(crate) struct OnSum<K>(pub(crate) Shape, pub(crate) K);

impl<K: SumKernel> crate::lanes::Kernel for OnSum<K> {
    type Output = K::Output;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> K::Output {
        let Shape { modulus, bound } = self.0;
        self.1.run(Wide::new(lanes, modulus, bound, modulus.value()))
    }

    #[inline(always)]
    fn run52<L: Lanes + Madd52Lanes>(self, lanes: L) -> K::Output {
        let Shape { modulus, bound } = self.0;
        if modulus.bits() <= field::NARROW_BITS && bound <= 1 << 52 {
            self.1.run(Narrow::new(lanes, modulus, bound))
        } else {
            self.1.run(Wide::new(lanes, modulus, bound, modulus.value()))
        }
    }
}

/// Low and high 52-bit halves of the products, summed apart.
#[derive(Clone, Copy)]
pub(crate) struct Narrow<L: Lanes + Madd52Lanes> {
    field: field::Narrow<L>,
    l: L,
    terms: usize,
}

impl<L: Lanes + Madd52Lanes> Narrow<L> {
    /// Left operands below `bound` ≤ 2^52, right ones below q < 2^50.
    #[inline(always)]
    pub(crate) fn new(l: L, modulus: Modulus, bound: u64) -> Self {
        Self { field: field::Narrow::new(l, modulus), l, terms: narrow_terms(bound, modulus.value()) }
    }
}

/// J products and a residue: Σ low ≤ J·(2^52 − 1) + q, which carries at most J into Σ high ≤ J·⌊(a−1)(b−1)/2^52⌋.
/// The total must stay below 2^52, where the multiplier ends; then Σ low ≤ 2^64 also holds, as J < 2^12.
pub(crate) const fn narrow_terms(a: u64, b: u64) -> usize {
    let high = ((a as u128 - 1) * (b as u128 - 1)) >> 52;
    let terms = ((1u128 << 52) - 1) / (high + 1);
    if terms > 4000 { 4000 } else { terms as usize }
}

impl<L: Lanes + Madd52Lanes> Sum for Narrow<L> {
    type L = L;
    type Operand = L::U;
    type Acc = (L::U, L::U);

    #[inline(always)]
    fn lanes(self) -> L {
        self.l
    }
    #[inline(always)]
    fn terms(self) -> usize {
        self.terms
    }
    #[inline(always)]
    fn split(self, x: L::U) -> L::U {
        x
    }
    #[inline(always)]
    fn start(self, residue: L::U) -> (L::U, L::U) {
        (residue, self.l.splat(0))
    }
    #[inline(always)]
    fn add(self, (low, high): (L::U, L::U), a: L::U, b: L::U) -> (L::U, L::U) {
        (self.l.madd52_lo(low, a, b), self.l.madd52_hi(high, a, b))
    }
    #[inline(always)]
    fn fold(self, (low, high): (L::U, L::U)) -> L::U {
        self.field.carry_and_reduce(low, high)
    }
}

/// Operands split at 2^h; the three columns of the products are summed apart in 64 bits.
#[derive(Clone, Copy)]
pub(crate) struct Wide<L: Lanes> {
    l: L,
    h: u32,
    mask: L::U,
    terms: usize,
    q: L::U,
    /// 2^2h mod q with ⌊2^64·w/q⌋.
    top: (L::U, L::U),
    /// ⌊2^64/q⌋.
    one: L::U,
    /// 2^2h ≤ 4q: what lies below the top column needs no quotient of its own.
    level: bool,
}

impl<L: Lanes> Wide<L> {
    /// Operands below `a` and `b`, at most 2^60 each.
    #[inline(always)]
    pub(crate) fn new(l: L, modulus: Modulus, a: u64, b: u64) -> Self {
        let q = modulus.value();
        let h = wide_split(a, b);
        let top = ((1u128 << (2 * h)) % u128::from(q)) as u64;
        let companion = |w: u64| ((u128::from(w) << 64) / u128::from(q)) as u64;
        Self {
            l,
            h,
            mask: l.splat((1 << h) - 1),
            terms: wide_terms(h),
            q: l.splat(q),
            top: (l.splat(top), l.splat(companion(top))),
            one: l.splat(companion(1)),
            level: 1 << (2 * h) <= 4 * u128::from(q),
        }
    }
}

/// Half the bits of the greater operand, rounded up: at most 30, so that both halves fit the 32-bit multiplier.
pub(crate) const fn wide_split(a: u64, b: u64) -> u32 {
    let greatest = (if a > b { a } else { b }) - 1;
    (u64::BITS - greatest.leading_zeros()).div_ceil(2)
}

/// J products of halves x ≤ 2^h − 1: the low column is ≤ J·x² + q, the middle one ≤ 2J·x² and takes the low one's carry
/// ≤ J·2^h (x² + q/J ≤ 2^2h holds for x = 2^h − 1 as long as q ≤ J·(2^(h+1) − 1); for J = 1 the residue adds at most
/// ⌈q/2^h⌉ ≤ 2^h more, counted by one extra 2^h). The middle column is the fullest and must stay below 2^64.
pub(crate) const fn wide_terms(h: u32) -> usize {
    let x = (1u128 << h) - 1;
    let terms = (u64::MAX as u128 - (1 << (60 - h))) / (2 * x * x + (1 << h));
    if terms > 1 << 20 { 1 << 20 } else { terms as usize }
}

impl<L: Lanes> Sum for Wide<L> {
    type L = L;
    type Operand = (L::U, L::U);
    type Acc = [L::U; 3];

    #[inline(always)]
    fn lanes(self) -> L {
        self.l
    }
    #[inline(always)]
    fn terms(self) -> usize {
        self.terms
    }
    #[inline(always)]
    fn split(self, x: L::U) -> (L::U, L::U) {
        (self.l.and(x, self.mask), self.l.shr_by(x, self.h))
    }
    #[inline(always)]
    fn start(self, residue: L::U) -> [L::U; 3] {
        [residue, self.l.splat(0), self.l.splat(0)]
    }
    #[inline(always)]
    fn add(self, [s0, s1, s2]: [L::U; 3], (a0, a1): (L::U, L::U), (b0, b1): (L::U, L::U)) -> [L::U; 3] {
        let l = self.l;
        let s0 = l.add(s0, l.mul32(a0, b0));
        let s1 = l.add(l.add(s1, l.mul32(a0, b1)), l.mul32(a1, b0));
        [s0, s1, l.add(s2, l.mul32(a1, b1))]
    }
    /// After the carries the sum is s2·2^2h + low with low < 2^2h. Shoup: s2·w − ⌊s2·w'/2^64⌋·q ∈ [0, 2q), and
    /// low < 4q, or low − ⌊low·1'/2^64⌋·q ∈ [0, 2q): below 6q < 2^63.
    #[inline(always)]
    fn fold(self, [s0, s1, s2]: [L::U; 3]) -> L::U {
        let l = self.l;
        let s1 = l.add(s1, l.shr_by(s0, self.h));
        let s2 = l.add(s2, l.shr_by(s1, self.h));
        let low = l.add(l.and(s0, self.mask), shl_by(l, l.and(s1, self.mask), self.h));
        let mut quotient = l.mul_hi(s2, self.top.1);
        if !self.level {
            quotient = l.add(quotient, l.mul_hi(low, self.one));
        }
        let t = l.sub(l.add(l.mul_lo(s2, self.top.0), low), l.mul_lo(quotient, self.q));
        let q2 = l.add(self.q, self.q);
        l.csub(l.csub(l.csub(t, l.add(q2, q2)), q2), self.q)
    }
}

/// x·2^h for x < 2^h, h ≤ 30: the lanes have no left shift by a variable.
#[inline(always)]
fn shl_by<L: Lanes>(l: L, x: L::U, h: u32) -> L::U {
    l.mul32(x, l.splat(1 << h))
}
