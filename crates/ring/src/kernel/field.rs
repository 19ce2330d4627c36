//! Multiplication of residues on vectors: four ways, one interface, chosen by the prime and by the backend.
//!
//! | field | primes | backends |
//! |---|---|---|
//! | [`Narrow`] | q < 2^50 | with 52-bit multiply-add |
//! | [`Wide52`] | q < 2^60 | with 52-bit multiply-add |
//! | [`Binary64`] | q < 2^50 | other vectors |
//! | [`Wide`] | q < 2^60 | other vectors, scalar; one lane where vectors have no products of 64-bit words |

mod binary64;
mod narrow;
mod wide;
mod wide52;

pub(crate) use binary64::Binary64;
pub(crate) use narrow::Narrow;
pub(crate) use wide::Wide;
pub(crate) use wide52::Wide52;

use super::prime::{Factor, Prime};
use super::sum;
use crate::Modulus;
use crate::lanes::{Kernel, Lanes, Madd52Lanes, Scalar};

/// Primes of [`Narrow`] and [`Binary64`] lie below 2 to this power.
pub(crate) const NARROW_BITS: u32 = Modulus::NARROW_BITS;

/// A vector of a field's lanes.
pub(crate) type Vector<F> = <<F as Field>::L as crate::lanes::U64Lanes>::U;

/// Arithmetic of Z_q on vectors of canonical residues.
pub(crate) trait Field: Copy {
    type L: Lanes;
    /// A constant factor with its companion, in every lane.
    type C: Copy;
    fn lanes(self) -> Self::L;
    /// q in every lane.
    fn q(self) -> Vector<Self>;
    /// a·b.
    fn mul(self, a: Vector<Self>, b: Vector<Self>) -> Vector<Self>;
    /// acc + a·b.
    fn mac(self, acc: Vector<Self>, a: Vector<Self>, b: Vector<Self>) -> Vector<Self>;
    /// A factor in every lane.
    fn constant(self, c: &Factor) -> Self::C;
    /// a·c for a below 2q.
    fn mul_constant(self, a: Vector<Self>, c: Self::C) -> Vector<Self>;

    /// a + b: the sum stays below 2q < 2^61.
    #[inline(always)]
    fn add(self, a: Vector<Self>, b: Vector<Self>) -> Vector<Self> {
        use crate::lanes::U64Lanes;
        let l = self.lanes();
        l.csub(l.add(a, b), self.q())
    }

    /// a − b, from a + (q − b).
    #[inline(always)]
    fn sub(self, a: Vector<Self>, b: Vector<Self>) -> Vector<Self> {
        use crate::lanes::U64Lanes;
        let l = self.lanes();
        l.csub(l.add(a, l.sub(self.q(), b)), self.q())
    }
}

/// A computation over a field, written once.
pub(crate) trait FieldKernel {
    type Output;
    fn run<F: Field>(self, field: F) -> Self::Output;
}

/// Runs a [`FieldKernel`] in the field that suits q and the backend.
pub(crate) struct OnField<'a, K>(pub(crate) &'a Prime, pub(crate) K);

impl<K: FieldKernel> Kernel for OnField<'_, K> {
    type Output = K::Output;

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> K::Output {
        let Self(prime, kernel) = self;
        let bits = prime.modulus.bits();
        // One lane multiplies integers faster than it emulates fused multiply-add.
        if bits <= NARROW_BITS && L::WIDTH > 1 {
            kernel.run(Binary64::new(l, prime))
        } else if L::PRODUCTS64 {
            wide(l, prime, kernel)
        } else {
            wide(Scalar, prime, kernel)
        }
    }

    #[inline(always)]
    fn run52<L: Lanes + Madd52Lanes>(self, l: L) -> K::Output {
        let Self(prime, kernel) = self;
        let bits = prime.modulus.bits();
        if bits <= NARROW_BITS {
            kernel.run(Narrow::new(l, prime))
        } else if bits <= sum::MIDDLE_BITS {
            kernel.run(Wide52::new(l, prime, sum::Middle::new(l, prime)))
        } else {
            kernel.run(Wide52::new(l, prime, sum::Wide::<L, 30>::new(l, prime)))
        }
    }
}

/// On [`Wide`].
#[inline(always)]
fn wide<L: Lanes, K: FieldKernel>(l: L, prime: &Prime, kernel: K) -> K::Output {
    if prime.modulus.bits() <= 56 {
        kernel.run(Wide::<L, 28>::new(l, prime))
    } else {
        kernel.run(Wide::<L, 30>::new(l, prime))
    }
}
