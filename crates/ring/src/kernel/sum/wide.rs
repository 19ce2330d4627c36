//! Sums on 64-bit integers, operands below 2^60: three columns.

use super::Sum;
use crate::kernel::prime::Prime;
use crate::lanes::Lanes;

/// Operands below 2^2H ≤ 2^60 split at 2^H; the three columns of the products are summed apart in 64 bits.
/// H is known when the code is compiled, or the compiler would not see that halves fit the 32-bit multiplier.
#[derive(Clone, Copy)]
pub(crate) struct Wide<L: Lanes, const H: u32> {
    l: L,
    q: L::U,
    /// 2^2H mod q with ⌊2^64·w/q⌋.
    top: (L::U, L::U),
    /// ⌊2^64/q⌋.
    one: L::U,
    /// 2^2H ≤ 4q: what lies below the top column needs no quotient of its own.
    level: bool,
}

impl<L: Lanes, const H: u32> Wide<L, H> {
    const MASK: u64 = {
        assert!(H <= 30, "both halves must fit the 32-bit multiplier");
        (1 << H) - 1
    };

    #[inline(always)]
    pub(crate) fn new(l: L, prime: &Prime) -> Self {
        let (q, top) = (prime.modulus.value(), prime.top::<H>());
        Self {
            l,
            q: l.splat(q),
            top: (l.splat(top.0), l.splat(top.1)),
            one: l.splat(prime.one64),
            level: 1 << (2 * H) <= 4 * q,
        }
    }
}

/// J products of halves x ≤ 2^h − 1 and a residue below 2^60: the low column is ≤ J·x² + 2^60 and carries at most
/// J·2^h + 2^(60−h) into the middle one, which is ≤ 2J·x² without it. The middle column is the fullest; it must stay
/// below 2^64.
pub(crate) const fn wide_terms(h: u32) -> usize {
    let x = (1u128 << h) - 1;
    let terms = (u64::MAX as u128 - (1 << (60 - h))) / (2 * x * x + (1 << h));
    terms as usize
}
const _: () = assert!(wide_terms(30) == 8 && wide_terms(28) == 128);

impl<L: Lanes, const H: u32> Sum for Wide<L, H> {
    type L = L;
    type Operand = (L::U, L::U);
    type Acc = [L::U; 3];

    #[inline(always)]
    fn lanes(self) -> L {
        self.l
    }
    #[inline(always)]
    fn terms(self) -> usize {
        const { wide_terms(H) }
    }
    #[inline(always)]
    fn split(self, x: L::U) -> (L::U, L::U) {
        (self.l.and(x, self.l.splat(Self::MASK)), self.l.shr::<H>(x))
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
    /// After the carries the sum is s2·2^2H + low with low < 2^2H. Shoup, with a quotient short by less than
    /// 2 + 2 (`mul_hi` is short by at most 2): s2·w − h·q ∈ [0, 4q), and low ≤ 4q, or low − h'·q ∈ [0, 4q): below 8q < 2^63.
    #[inline(always)]
    fn fold(self, [s0, s1, s2]: [L::U; 3]) -> L::U {
        let l = self.l;
        let mask = l.splat(Self::MASK);
        let s1 = l.add(s1, l.shr::<H>(s0));
        let s2 = l.add(s2, l.shr::<H>(s1));
        let low = l.or(l.and(s0, mask), l.shl::<H>(l.and(s1, mask)));
        let mut quotient = l.mul_hi(s2, self.top.1);
        if !self.level {
            quotient = l.add(quotient, l.mul_hi(low, self.one));
        }
        let t = l.sub(l.add(l.mul_lo(s2, self.top.0), low), l.mul_lo(quotient, self.q));
        let q2 = l.add(self.q, self.q);
        l.csub(l.csub(l.csub(t, l.add(q2, q2)), q2), self.q)
    }
}
