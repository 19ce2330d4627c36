//! Exact binary64 arithmetic with fused multiply-add for 2^50 < q < 2^52 + 2^42: that of [`Binary64`] where
//! 53 bits leave little margin.
//!
//! Quotients y·w/q pass 2^51, so that the constant that rounds them is 1.5·2^53, and what it rounds them to is even: b is
//! off by up to 1 in place of 1/2, and t = y·w − b·q by as much of q. Every x is reduced before t is added, and words stay
//! below 7q/4 < 2^53. Six operations on the multipliers and five on the adders a butterfly.

use crate::{
    Modulus,
    lanes::Lanes,
    ntt::{arith::Arith, binary64::Binary64},
};

const TWO52: f64 = (1u64 << 52) as f64;
/// q exceeds 2^52 by less than this.
const BEYOND: u64 = 1 << 42;
/// The bits of 2^52.
const BITS52: u64 = TWO52.to_bits();

/// The arithmetic; `ABOVE`: q lies above 2^52.
#[derive(Clone, Copy)]
pub(super) struct Wide64<L: Lanes, const ABOVE: bool> {
    l: L,
    narrow: Binary64<L>,
    /// 1.5·2^53: adding it rounds numbers below 2^52 to even integers.
    even: L::F,
    q: L::U,
    /// Above 2^52 only: the bits of 2^52 and of 2^84, and 2^84 + 2^52.
    low: L::U,
    high: L::U,
    both: L::F,
    /// The same: what negative residues and others get, as numbers and then as words.
    up: [L::F; 2],
    down: [L::F; 2],
}

impl<L: Lanes, const ABOVE: bool> Wide64<L, ABOVE> {
    /// Whether q has the right size.
    pub(super) const fn serves(q: Modulus) -> bool {
        if ABOVE {
            q.value() > 1 << 52 && q.value() < (1 << 52) + BEYOND
        } else {
            matches!(q.bits(), 51 | 52)
        }
    }

    /// y·w − b·q, exactly, b an even integer next to y·w'. |w'| ≤ 1/2 has an error of 2^−55 at most, so with
    /// |y| = B·q, B < 7/4, the quotient is below 2^52 and the result at most q(1 + B·q·2^−55). Where lanes round the product
    /// y·w' to an integer, the error of 1 is one of 1/2 + B·q·2^−54, which is less for B ≤ 15/8.
    #[inline(always)]
    fn products<const G: usize>(self, y: [L::F; G], w: [[L::F; 2]; G]) -> [L::F; G] {
        self.narrow.products(y, w, self.even)
    }

    /// Canonical words of numbers within ±(q/2 + e), as bits. Above 2^52 a negative one gets q less 2^42, so that the sum stays
    /// below 2^52, and as a word the rest.
    #[inline(always)]
    fn canonical(self, r: L::F) -> L::F {
        if !ABOVE {
            return self.narrow.canonical(r);
        }
        let l = self.l;
        let shifted = l.fadd(r, l.select_sign(r, self.up[0], self.up[1]));
        l.as_f(l.add(l.as_u(shifted), l.as_u(l.select_sign(r, self.down[0], self.down[1]))))
    }
}

impl<L: Lanes, const ABOVE: bool> Arith for Wide64<L, ABOVE> {
    type L = L;
    type V = L::F;
    type C = [L::F; 2];
    const MAX_LOG_RADIX: usize = Binary64::<L>::MAX_LOG_RADIX;
    // On vectors of eight words too: an eighth less time than with one block and one vector at a time.
    const LAST_BLOCKS: usize = Binary64::<L>::LAST_BLOCKS;
    const INTERLEAVED: bool = Binary64::<L>::INTERLEAVED;

    // 7q/4 is below 2^53, and the quotient, at most half of that, below 2^52: q(1 + 2^−10) would be too.
    const MULTIPLIABLE: u64 = 7 << 10;
    const REPRESENTABLE: u64 = 7 << 10;
    const REDUCING: u32 = 0b111;
    const LAST_REDUCING: u32 = 0b11_1111;
    const FIRST_REDUCES: bool = true;
    /// q·2^−55 < 2^−3·(1 + 2^−10).
    fn grow(x: u64, y: u64) -> u64 {
        x + (1 << 12) + y.div_ceil(8) + 1
    }
    fn reduced(_: u64) -> u64 {
        (1 << 11) + 1
    }

    // q(1 + 15/64) after a product of y ≤ 15q/8.
    const INVERSE_FRESH: u32 = 10;
    const INVERSE_REDUCED: u32 = 5;
    const INVERSE_LIMIT: u32 = 15;
    const INVERSE_X: u32 = 5;
    const INVERSE_ENTERED: u32 = 8;
    const INVERSE_STORED: u32 = 10;

    #[inline(always)]
    fn new(l: L, q: Modulus) -> Self {
        let value = q.value() as f64;
        Self {
            l,
            narrow: Binary64::new(l, q),
            even: l.fsplat(3.0 * TWO52),
            q: l.splat(q.value()),
            low: l.splat(BITS52),
            high: l.splat(BITS52 + (32 << 52)),
            both: l.fsplat(TWO52 * 32f64.exp2() + TWO52),
            up: [l.fsplat(TWO52 + (value - BEYOND as f64)), l.fsplat(TWO52)],
            down: [l.as_f(l.splat(BEYOND.wrapping_sub(BITS52))), l.as_f(l.splat(BITS52.wrapping_neg()))],
        }
    }
    #[inline(always)]
    fn lanes(self) -> L {
        self.l
    }
    fn encode(q: Modulus, w: u64) -> [u64; 2] {
        Binary64::<L>::encode(q, w)
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

    /// Above 2^52: the halves in the mantissas of 2^84 and 2^52.
    #[inline(always)]
    fn enter(self, v: L::F, is_y: bool) -> L::F {
        if !ABOVE {
            return self.narrow.enter(v, is_y);
        }
        let (l, v) = (self.l, self.l.as_u(v));
        let high = l.fsub(l.as_f(l.or(l.shr::<32>(v), self.high)), self.both);
        l.fadd(high, l.as_f(l.or(l.and(v, l.splat(0xffff_ffff)), self.low)))
    }
    #[inline(always)]
    fn forward<const G: usize, const REDUCE: bool>(
        self,
        x: [L::F; G],
        y: [L::F; G],
        w: [[L::F; 2]; G],
    ) -> ([L::F; G], [L::F; G]) {
        self.narrow.butterflies::<G, REDUCE>(x, y, w, self.even)
    }
    #[inline(always)]
    fn leave(self, v: L::F) -> L::F {
        self.canonical(self.narrow.reduce(v))
    }
    /// The difference is at most 3q/2 + e.
    #[inline(always)]
    fn leave_difference(self, a: L::F, v: L::F, c: [L::F; 2]) -> L::F {
        let [t] = self.products([self.l.fsub(self.enter(a, false), self.narrow.reduce(v))], [c]);
        self.leave(t)
    }

    /// Words below 2q, which may lie beyond 2^53, to canonical ones first.
    #[inline(always)]
    fn inverse_enter(self, v: L::F) -> L::F {
        self.enter(self.l.as_f(self.l.csub(self.l.as_u(v), self.q)), false)
    }
    #[inline(always)]
    fn inverse<const G: usize>(
        self,
        x: [L::F; G],
        y: [L::F; G],
        w: [[L::F; 2]; G],
    ) -> ([L::F; G], [L::F; G]) {
        self.narrow.inverse_butterflies(x, y, w, self.even)
    }
    #[inline(always)]
    fn inverse_reduce(self, v: L::F) -> L::F {
        self.narrow.reduce(v)
    }
    #[inline(always)]
    fn inverse_leave(self, x: L::F, y: L::F, u: [L::F; 2], w: [L::F; 2]) -> (L::F, L::F) {
        let [a, b] = self.products([self.l.fadd(x, y), self.l.fsub(x, y)], [u, w]);
        (self.leave(a), self.leave(b))
    }
}
