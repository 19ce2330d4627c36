//! Sums of products by constants on 64-bit integers, operands below 2^60: three columns, reduced from below.
//!
//! Operands a = a1·2^H + a0. The columns are Σ a0·c0, Σ (a0 + a1)·(c0 + c1) and Σ a1·c1 (Karatsuba): three products where there
//! are four, and the middle one less the others is Σ (a0·c1 + a1·c0). Constants stand for c·2^2H mod q, so that the sum is
//! reduced by adding to each of the two lower columns the multiple of q that makes it divisible by 2^H (Montgomery), which
//! takes no high half of a product.

use super::Sum;
use crate::Modulus;
use crate::kernel::prime::{Prime, times};
use crate::lanes::Lanes;

/// Operands and q at most 2^2H ≤ 2^60. H is known when the code is compiled, as in [`super::Wide`].
#[derive(Clone, Copy)]
pub(crate) struct Columns<L: Lanes, const H: u32> {
    l: L,
    modulus: Modulus,
    /// 2^2H mod q with ⌊2^64·w/q⌋.
    top: (u64, u64),
    q: L::U,
    /// The halves of q.
    halves: [L::U; 2],
    /// −1/q mod 2^H.
    inverse: L::U,
    terms: usize,
}

/// Products of a sum whose left operands are below `bound`. J of them:
/// - fill the middle column up to J·2^(2H+2) ≤ 2^64 (a residue beside them may carry it beyond: it is exact once the others are
///   taken away);
/// - are J·bound·q/2^2H ≤ 6q after the division by 2^2H, to which a residue and a multiple of q add less than 2q.
const fn terms(h: u32, bound: u64) -> usize {
    let quotients = 6 * ((1 << (2 * h)) / bound);
    let column = 1 << (62 - 2 * h);
    if quotients < column { quotients as usize } else { column as usize }
}
const _: () = assert!(terms(30, 1 << 60) == 4 && terms(28, 1 << 56) == 6 && terms(28, 1 << 55) == 12);

impl<L: Lanes, const H: u32> Columns<L, H> {
    const MASK: u64 = {
        assert!(H <= 30, "sums of halves must fit the 32-bit multiplier");
        (1 << H) - 1
    };

    /// Left operands below `bound` ≤ 2^2H, q ≤ 2^2H.
    #[inline(always)]
    pub(crate) fn new(l: L, prime: &Prime, bound: u64) -> Self {
        let q = prime.modulus.value();
        Self {
            l,
            modulus: prime.modulus,
            top: prime.top::<H>(),
            q: l.splat(q),
            halves: [l.splat(q & Self::MASK), l.splat(q >> H)],
            inverse: l.splat(prime.negated_inverse & Self::MASK),
            terms: terms(H, bound),
        }
    }

    /// x with the multiple of q that makes it divisible by 2^H: the quotient, and what it adds to the next column.
    #[inline(always)]
    fn divide(self, x: L::U) -> (L::U, L::U) {
        let l = self.l;
        let m = l.and(l.mul32(x, self.inverse), l.splat(Self::MASK));
        (l.shr::<H>(l.add(x, l.mul32(m, self.halves[0]))), l.mul32(m, self.halves[1]))
    }
}

impl<L: Lanes, const H: u32> Sum for Columns<L, H> {
    type L = L;
    /// The halves, of which the lower may have anything above 32 bits, and their sum, likewise.
    type Operand = [L::U; 3];
    type Acc = [L::U; 3];
    const FORM: Option<u32> = Some(H);

    #[inline(always)]
    fn lanes(self) -> L {
        self.l
    }
    #[inline(always)]
    fn terms(self) -> usize {
        self.terms
    }
    #[inline(always)]
    fn split(self, x: L::U) -> [L::U; 3] {
        let (low, high) = (self.l.and(x, self.l.splat(Self::MASK)), self.l.shr::<H>(x));
        [low, high, self.l.add(low, high)]
    }
    #[inline(always)]
    fn constant(self, c: u64) -> [L::U; 3] {
        self.split(self.l.splat(times(c, self.top, self.modulus.value())))
    }
    /// The halves, 32 bits each.
    #[inline(always)]
    fn words(self, [low, high, _]: [L::U; 3]) -> L::U {
        self.l.or(low, self.l.shl::<32>(high))
    }
    #[inline(always)]
    fn operand(self, words: L::U) -> [L::U; 3] {
        let high = self.l.shr::<32>(words);
        [words, high, self.l.add(words, high)]
    }
    #[inline(always)]
    fn start(self, residue: L::U) -> [L::U; 3] {
        // In the column that is not divided; the middle one has what it is less.
        [self.l.splat(0), residue, residue]
    }
    #[inline(always)]
    fn add(self, [s0, s1, s2]: [L::U; 3], a: [L::U; 3], c: [L::U; 3]) -> [L::U; 3] {
        let l = self.l;
        [l.add(s0, l.mul32(a[0], c[0])), l.add(s1, l.mul32(a[2], c[2])), l.add(s2, l.mul32(a[1], c[1]))]
    }
    /// Of J products the columns are at most J·2^2H, 2J·2^2H and J·2^2H, and what a division adds to one is at most 2^2H and to
    /// the next 2^2H and a carry: below 2^64.
    #[inline(always)]
    fn fold(self, [s0, s1, s2]: [L::U; 3]) -> L::U {
        let l = self.l;
        let middle = l.sub(l.sub(s1, s0), s2);
        let (carry, more) = self.divide(s0);
        let (carry, more) = self.divide(l.add(l.add(middle, carry), more));
        let t = l.add(l.add(s2, carry), more);
        let q2 = l.add(self.q, self.q);
        l.csub(l.csub(l.csub(t, l.add(q2, q2)), q2), self.q)
    }
}
