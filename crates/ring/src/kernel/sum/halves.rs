//! Sums of products by constants on binary64 with fused multiply-add, operands below 2^50: halves, added exactly.
//!
//! x = x_1 + x_0 with x_1 the nearest multiple of 2^25, so |x_0| ≤ 2^24. The columns Σ a_0·b_0, Σ (a_0·b_1 + a_1·b_0) and
//! Σ a_1·b_1 are multiples of 1, 2^25 and 2^50: every addition is exact while none passes 2^53 times its unit. So a product
//! takes four operations, and only the sum is reduced. Constants are split once, and centred, which halves their x_1.
//! (Splitting both factors costs more than the columns of [`super::Wide`]: inner products gain nothing.)

use super::Sum;
use crate::kernel::prime::Prime;
use crate::lanes::Lanes;

/// log2 of the unit of the middle column.
const HALF: u32 = 25;
/// Operands and moduli have at most this many bits.
pub(crate) const HALVES_BITS: u32 = 2 * HALF;
const TWO52: f64 = (1u64 << 52) as f64;
const UNIT: f64 = (1u64 << HALF) as f64;
/// Added and taken away again, each rounds numbers below 2^51 units of its column to whole units.
const MAGIC: [f64; 3] = [1.5 * TWO52, 1.5 * TWO52 * UNIT, 1.5 * TWO52 * UNIT * UNIT];

#[derive(Clone, Copy)]
pub(crate) struct Halves<L: Lanes> {
    l: L,
    modulus: crate::Modulus,
    q: L::F,
    /// 1/q.
    reciprocal: L::F,
    /// The same in units of 2^50.
    q_top: L::F,
    reciprocal_top: L::F,
    /// 2^50 mod q, centred, divided by 2^50: makes numbers of multiples of 2^50.
    top: L::F,
    terms: usize,
}

/// J products of operands up to a and b in magnitude, and a residue below 2^50. With A and B the greatest a_1 and b_1 in
/// units of 2^25, the columns stay within J·2^48 + 2^50 ≤ 2^52 (room is left for what the middle one does not carry),
/// J·2^24·(A + B) ≤ 2^53 and J·A·B ≤ 2^53 units.
const fn halves_terms(a: u64, b: u64) -> usize {
    let (a, b) = ((a + (1 << (HALF - 1))) >> HALF, (b + (1 << (HALF - 1))) >> HALF);
    let (middle, top) = ((1 << (HALF - 1)) * (a + b), a * b);
    let fullest = if middle > top { middle } else { top };
    let low = ((1u64 << 52) - (1 << 50)) >> (2 * (HALF - 1));
    if fullest * low <= 1 << 53 { low as usize } else { ((1 << 53) / fullest) as usize }
}
const _: () =
    assert!(halves_terms((1 << 50) - 1, 1 << 49) == 10, "eight primes and their quotient are one sum");

impl<L: Lanes> Halves<L> {
    /// Left operands below `bound` ≤ 2^50; right ones are constants, q < 2^50.
    #[inline(always)]
    pub(crate) fn new(l: L, prime: &Prime, bound: u64) -> Self {
        let q = prime.modulus.value();
        let (number, square) = (q as f64, UNIT * UNIT);
        Self {
            l,
            modulus: prime.modulus,
            q: l.fsplat(number),
            reciprocal: l.fsplat(1.0 / number),
            q_top: l.fsplat(number * square),
            reciprocal_top: l.fsplat(1.0 / number / square),
            top: l.fsplat(prime.two50 / square),
            terms: halves_terms(bound - 1, q / 2),
        }
    }

    /// x rounded to whole units of a column.
    #[inline(always)]
    fn whole<const COLUMN: usize>(self, x: L::F) -> L::F {
        let magic = self.l.fsplat(MAGIC[COLUMN]);
        self.l.fsub(self.l.fadd(x, magic), magic)
    }

    /// x − round(x/q)·q for an integer |x| < 2^53: at most q(1/2 + 2^−18), because |x|/q < 2^33 (q ≥ 2^20) is had with a
    /// relative error of 2^−52.
    #[inline(always)]
    fn remainder(self, x: L::F, q: L::F, reciprocal: L::F) -> L::F {
        let (l, magic) = (self.l, self.l.fsplat(MAGIC[0]));
        let quotient = l.fsub(l.fma(x, reciprocal, magic), magic);
        l.fnma(quotient, q, x)
    }

    /// An integer below 2^52 as a number.
    #[inline(always)]
    fn number(self, x: L::U) -> L::F {
        let two52 = self.l.fsplat(TWO52);
        self.l.fsub(self.l.as_f(self.l.or(x, self.l.as_u(two52))), two52)
    }
}

impl<L: Lanes> Sum for Halves<L> {
    type L = L;
    type Operand = [L::F; 2];
    /// The middle column in two parts: its multiply-adds would wait for each other.
    type Acc = [L::F; 4];

    #[inline(always)]
    fn lanes(self) -> L {
        self.l
    }
    #[inline(always)]
    fn terms(self) -> usize {
        self.terms
    }
    #[inline(always)]
    fn split(self, x: L::U) -> [L::F; 2] {
        let x = self.number(x);
        let high = self.whole::<1>(x);
        [self.l.fsub(x, high), high]
    }
    #[inline(always)]
    fn constant(self, c: u64) -> [L::F; 2] {
        let c = self.modulus.centred(c) as f64;
        let high = c + MAGIC[1] - MAGIC[1];
        [self.l.fsplat(c - high), self.l.fsplat(high)]
    }
    #[inline(always)]
    fn start(self, residue: L::U) -> [L::F; 4] {
        let zero = self.l.fsplat(0.0);
        [self.number(residue), zero, zero, zero]
    }
    #[inline(always)]
    fn add(self, [s0, m0, m1, s2]: [L::F; 4], [a0, a1]: [L::F; 2], [b0, b1]: [L::F; 2]) -> [L::F; 4] {
        let l = self.l;
        [l.fma(a0, b0, s0), l.fma(a0, b1, m0), l.fma(a1, b0, m1), l.fma(a1, b1, s2)]
    }
    /// The middle column carries at most 2^28 + 1 units of 2^50 and leaves at most 2^49. The remainder of the top column,
    /// at most q(1/2 + 2^−18), with that carry is multiplied by 2^50 mod q as in [`crate::kernel::field::Binary64`]:
    /// |product|/q ≤ (q/2 + 2^29)/2 < 2^49, so the quotient errs by 1/2 + 1/8 at most and |t| ≤ 5q/8. Then t, the low
    /// column and what is left of the middle one are below 2^53 together. The last remainder is canonical, or q more is.
    #[inline(always)]
    fn fold(self, [s0, m0, m1, s2]: [L::F; 4]) -> L::U {
        let l = self.l;
        let s1 = l.fadd(m0, m1);
        let carry = self.whole::<2>(s1);
        let low = l.fadd(s0, l.fsub(s1, carry));
        let high = l.fadd(self.remainder(s2, self.q_top, self.reciprocal_top), carry);
        let (magic, product) = (l.fsplat(MAGIC[0]), l.fmul(high, self.top));
        let rest = l.fms(high, self.top, product);
        let quotient = l.fsub(l.fma(product, self.reciprocal, magic), magic);
        let t = l.fadd(l.fnma(quotient, self.q, product), rest);
        let r = self.remainder(l.fadd(t, low), self.q, self.reciprocal);
        let (two52, r) = (l.fsplat(TWO52), l.select_sign(r, l.fadd(r, self.q), r));
        l.xor(l.as_u(l.fadd(r, two52)), l.as_u(two52))
    }
}
