//! Exact modular multiplication with binary64 fused multiply-add, q < 2^50.
//!
//! h = fl(a·b), l = a·b − h exactly (fused), b' = round(h/q) by adding and removing 1.5·2^52 (|h/q| < 2^50 < 2^51),
//! t = (h − b'·q) + l = a·b − b'·q exactly: h − b'·q is an integer with |h − b'·q| ≤ |t| + |l| < 2^50 + 2^47.
//! b' errs by a half for the rounding, by |a·b/q|·(2^−53 + 2^−53 + 2^−106) < 2^50·2^−52 = 1/4 for h and for 1/q, and by 1/8
//! more where lanes round the product h/q. So |t| < 7q/8, and t or t + q is canonical. A constant is centred, |b| ≤ q/2, so a may be as great as 2q.

use super::{Field, NARROW_BITS, Vector};
use crate::kernel::prime::{Factor, Prime};
use crate::lanes::Lanes;

const _: () = assert!(NARROW_BITS <= 50, "the bounds above");
const TWO52: f64 = (1u64 << 52) as f64;

#[derive(Clone, Copy)]
pub(crate) struct Binary64<L: Lanes> {
    l: L,
    q: L::F,
    q_word: L::U,
    reciprocal: L::F,
}

impl<L: Lanes> Binary64<L> {
    /// q < 2^50.
    #[inline(always)]
    pub(crate) fn new(l: L, prime: &Prime) -> Self {
        let q_word = prime.modulus.value();
        let q = q_word as f64;
        Self { l, q: l.fsplat(q), q_word: l.splat(q_word), reciprocal: l.fsplat(1.0 / q) }
    }

    /// An integer below 2^52 as a number.
    #[inline(always)]
    fn number(self, x: L::U) -> L::F {
        self.l.number(x, 0.0)
    }

    /// The residue of a·b, within ±7q/8.
    #[inline(always)]
    fn product(self, a: L::F, b: L::F) -> L::F {
        let (l, magic) = (self.l, self.l.fsplat(1.5 * TWO52));
        let high = l.fmul(a, b);
        let low = l.fms(a, b, high);
        let quotient = l.whole(l.near_whole(high, self.reciprocal, magic), magic);
        l.fadd(l.fnma(quotient, self.q, high), low)
    }

    /// t or t + q, whichever is not negative, as an integer: |t| < q.
    #[inline(always)]
    fn canonical(self, t: L::F) -> L::U {
        let (l, two52) = (self.l, self.l.fsplat(TWO52));
        let positive = l.select_sign(t, l.fadd(t, self.q), t);
        l.xor(l.as_u(l.fadd(positive, two52)), l.as_u(two52))
    }
}

impl<L: Lanes> Field for Binary64<L> {
    type L = L;
    type C = L::F;

    #[inline(always)]
    fn lanes(self) -> L {
        self.l
    }
    #[inline(always)]
    fn q(self) -> Vector<Self> {
        self.q_word
    }
    #[inline(always)]
    fn mul(self, a: L::U, b: L::U) -> L::U {
        self.canonical(self.product(self.number(a), self.number(b)))
    }
    #[inline(always)]
    fn mac(self, acc: L::U, a: L::U, b: L::U) -> L::U {
        self.add(acc, self.mul(a, b))
    }
    #[inline(always)]
    fn constant(self, c: &Factor) -> L::F {
        self.l.fsplat(c.centred)
    }
    #[inline(always)]
    fn mul_constant(self, a: L::U, c: L::F) -> L::U {
        self.canonical(self.product(self.number(a), c))
    }
}
