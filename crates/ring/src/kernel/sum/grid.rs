//! Sums of products on binary64 with fused multiply-add, operands below 2^50: heads on a grid, tails beside them.
//!
//! The heads start at 1.5·2^52·G, G = 2^g, and stay within a factor of two of it: so their last place is worth G, whatever
//! is added. Of a product a·b the fused multiply-add takes in the multiple d of G that is nearest, by what the sum was
//! before; the difference of the two sums is d, and a·b − d, at most G/2, goes to the tails. Nothing is lost: d, the tail
//! and the sums are exact. Two operations on the multipliers and two on the adders a product, and one to make a number of
//! each operand.
//!
//! Constants are centred, and the words that they multiply taken less half their bound, which makes products a quarter as
//! large.

use super::Sum;
use crate::form::Form;
use crate::kernel::prime::Prime;
use crate::lanes::Lanes;

/// Operands and moduli have at most this many bits.
pub(crate) const GRID_BITS: u32 = 50;
const TWO52: f64 = (1u64 << 52) as f64;

/// How sums are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    /// g.
    grid: u32,
    /// What left operands are taken less.
    offset: u64,
    /// Products of one sum.
    terms: usize,
}

impl Layout {
    /// What left operands are taken less.
    pub(crate) fn offset(self) -> u64 {
        self.offset
    }

    /// For residues on both sides. (Of greater moduli no sum is laid out like this.)
    pub(crate) fn of_residues(q: u64) -> Self {
        let greatest = q.min(1 << GRID_BITS) - 1;
        Self::new(greatest, greatest)
    }

    /// For left operands below `bound`, taken less half of it, and centred constants modulo q.
    pub(crate) fn of_constants(bound: u64, q: u64) -> Self {
        let (bound, q) = (bound.min(1 << GRID_BITS), q.min(1 << GRID_BITS));
        let offset = bound / 2;
        Self { offset, ..Self::new(bound - offset, q / 2) }
    }

    /// For factors up to a and b ≤ q < 2^50 in magnitude, neither 0. J products of them
    /// - leave the heads within 2^51·G of where they start: J·a·b ≤ 2^(51+g);
    /// - leave tails up to J·G/2 ≤ 2^52;
    /// - hold q at most 2^52 times: J·a·b/q ≤ J·a ≤ 2^52.
    const fn new(a: u64, b: u64) -> Self {
        let product = a as u128 * b as u128;
        let bits = u128::BITS - product.leading_zeros();
        // Where the first two bounds meet: 2^(51 + g − bits) = 2^(53 − g).
        let grid = bits.div_ceil(2) + 1;
        let heads = (1u128 << (51 + grid)) / product;
        let others = if a >> 40 == 0 { 1 << 12 } else { (1u64 << 52) / a };
        let tails = if grid < 41 { 1 << 12 } else { 1u64 << (53 - grid) };
        let least = if others < tails { others } else { tails };
        Self { grid, offset: 0, terms: if heads < least as u128 { heads as usize } else { least as usize } }
    }
}
const _: () = {
    assert!(Layout::new(1 << 49, (1 << 49) - 1).terms == 8, "seven primes and their quotient are one sum");
    assert!(Layout::new((1 << 49) - 1, (1 << 49) - 1).terms == 8, "eight digits of 49 bits are one sum");
    assert!(Layout::new((1 << 50) - 1, (1 << 50) - 1).terms == 4);
};

/// The sums; `LESS`: left operands are taken less the offset of the layout.
#[derive(Clone, Copy)]
pub(crate) struct Grid<L: Lanes, const LESS: bool> {
    l: L,
    modulus: crate::Modulus,
    q: L::F,
    /// 1/q.
    reciprocal: L::F,
    /// Where heads start: 1.5·2^52·G.
    heads: L::F,
    layout: Layout,
}

impl<L: Lanes, const LESS: bool> Grid<L, LESS> {
    /// Operands within the layout, q < 2^50.
    #[inline(always)]
    pub(crate) fn new(l: L, prime: &Prime, layout: Layout) -> Self {
        let q = prime.modulus.value() as f64;
        Self {
            l,
            modulus: prime.modulus,
            q: l.fsplat(q),
            reciprocal: l.fsplat(1.0 / q),
            heads: l.fsplat(1.5 * TWO52 * (1u64 << layout.grid) as f64),
            layout,
        }
    }

    /// x less the multiple of q that rounding x/q to a multiple of `unit` gives: exact, if it is below 2^53.
    #[inline(always)]
    fn remainder(self, x: L::F, unit: f64) -> L::F {
        let (l, magic) = (self.l, self.l.fsplat(1.5 * TWO52 * unit));
        let quotient = l.whole(l.near_whole(x, self.reciprocal, magic), magic);
        l.fnma(quotient, self.q, x)
    }
}

impl<L: Lanes, const LESS: bool> Sum for Grid<L, LESS> {
    type L = L;
    type Operand = L::F;
    /// Heads and tails.
    type Acc = [L::F; 2];
    const LESS: bool = LESS;
    const FORM: Option<u32> = Some(0);
    /// The layout of residues also represents numbers within ±q.
    const FACTORS: Form = Form::Number;
    #[inline(always)]
    fn factor(self, x: L::U) -> L::F {
        self.l.as_f(x)
    }
    #[inline(always)]
    fn words(self, operand: L::F) -> L::U {
        self.l.as_u(operand)
    }
    #[inline(always)]
    fn operand(self, words: L::U) -> L::F {
        self.l.as_f(words)
    }

    #[inline(always)]
    fn lanes(self) -> L {
        self.l
    }
    #[inline(always)]
    fn terms(self) -> usize {
        self.layout.terms
    }
    #[inline(always)]
    fn split(self, x: L::U) -> L::F {
        self.l.number(x, if LESS { self.layout.offset as f64 } else { 0.0 })
    }
    #[inline(always)]
    fn constant(self, c: u64) -> L::F {
        self.l.fsplat(self.modulus.centred(c) as f64)
    }
    #[inline(always)]
    fn start(self, residue: L::U) -> [L::F; 2] {
        [self.heads, self.l.number(residue, 0.0)]
    }
    #[inline(always)]
    fn add(self, [heads, tails]: [L::F; 2], a: L::F, b: L::F) -> [L::F; 2] {
        let l = self.l;
        let sum = l.fma(a, b, heads);
        [sum, l.fadd(tails, l.fma(a, b, l.fsub(heads, sum)))]
    }
    /// Heads up to 2^52·q are divided to an even quotient, or to an integer by way of a rounded product: its error is at most 1
    /// for that and 1/2 for 1/q. They leave
    /// at most 3q/2 < 2^51, with tails up to 2^52 and a residue less than 2^53. A second division of this
    /// leaves at most q(1/2 + 2^−18), because the quotient is below 2^33 (q ≥ 2^20). That, or q more, is
    /// canonical.
    #[inline(always)]
    fn fold(self, [heads, tails]: [L::F; 2]) -> L::U {
        let l = self.l;
        let high = self.remainder(l.fsub(heads, self.heads), 2.0);
        let r = self.remainder(l.fadd(high, tails), 1.0);
        let two52 = l.fsplat(TWO52);
        let word = l.select_sign(r, l.fadd(r, l.fadd(two52, self.q)), l.fadd(r, two52));
        l.xor(l.as_u(word), l.as_u(two52))
    }
}
