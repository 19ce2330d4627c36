//! Sums of products of two unsigned words, reduced once: behind inner products and base conversion.
//!
//! | sum | operands | operations a product |
//! |---|---|---|
//! | [`Narrow`] | below 2^52, q < 2^50 | 2 with 52-bit multiply-add |
//! | [`Middle`] | below 2^55 | 3 with 52-bit multiply-add, and 1 to split each operand |
//! | [`Wide`] | below 2^60 | 8, and 2 to split each operand |

mod middle;
mod narrow;
mod wide;

pub(crate) use middle::{MIDDLE_BITS, Middle, UNIT};
pub(crate) use narrow::{Narrow, narrow_terms};
pub(crate) use wide::Wide;

use super::field;
use super::prime::Prime;
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
pub(crate) struct Shape<'a> {
    pub(crate) prime: &'a Prime,
    /// Left factors lie below this, right ones below q.
    pub(crate) bound: u64,
}

/// Runs a [`SumKernel`] on the sum that suits the operands and the backend.
pub(crate) struct OnSum<'a, K>(pub(crate) Shape<'a>, pub(crate) K);

impl<K: SumKernel> OnSum<'_, K> {
    #[inline(always)]
    fn wide<L: Lanes>(self, l: L) -> K::Output {
        let Shape { prime, bound } = self.0;
        let greatest = bound.max(prime.modulus.value());
        if greatest <= 1 << 52 {
            self.1.run(Wide::<L, 26>::new(l, prime))
        } else if greatest <= 1 << 56 {
            self.1.run(Wide::<L, 28>::new(l, prime))
        } else {
            self.1.run(Wide::<L, 30>::new(l, prime))
        }
    }
}

impl<K: SumKernel> crate::lanes::Kernel for OnSum<'_, K> {
    type Output = K::Output;

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> K::Output {
        self.wide(l)
    }

    #[inline(always)]
    fn run52<L: Lanes + Madd52Lanes>(self, l: L) -> K::Output {
        let Shape { prime, bound } = self.0;
        if prime.modulus.bits() <= field::NARROW_BITS && bound <= 1 << 52 {
            self.1.run(Narrow::new(l, prime, bound))
        } else if bound.max(prime.modulus.value()) <= 1 << MIDDLE_BITS {
            self.1.run(Middle::new(l, prime))
        } else {
            self.wide(l)
        }
    }
}
