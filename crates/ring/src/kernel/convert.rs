//! Base conversion of whole limbs; the semantics stand in [`crate::convert`].

use super::prime::Prime;
use super::sum::{OnSum, Shape, Sum, SumKernel, vectors};
use crate::convert::{QUOTIENT_BITS, SourceBasis};
use crate::lanes::{Kernel, Lanes, U64Lanes};
use crate::{Backend, ConvertConstants, Modulus};

struct Quotient<'a> {
    out: &'a mut [u64],
    y: &'a [&'a [u64]],
    from: &'a SourceBasis,
}

impl Kernel for Quotient<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let heads = self.from.heads();
        for i in (0..self.out.len()).step_by(L::WIDTH) {
            let mut sum = l.splat(1 << (QUOTIENT_BITS - 1));
            for (y, &(shift, r)) in self.y.iter().zip(heads) {
                // SAFETY: `quotient` saw that all limbs are as long as `out`, a multiple of the width.
                let head = l.shr_by(unsafe { l.load_ptr(y.as_ptr().add(i)) }, shift);
                // The head is below 2^14 and R at most 2^15.
                sum = l.add(sum, l.mul32(head, l.splat(r)));
            }
            // SAFETY: as above.
            unsafe { l.store_ptr(self.out.as_mut_ptr().add(i), l.shr::<QUOTIENT_BITS>(sum)) };
        }
    }
}

/// out_i = v of the y_·,i; one `y` a source prime, all as long as `out`.
pub(crate) fn quotient(backend: Backend, out: &mut [u64], y: &[&[u64]], from: &SourceBasis) {
    let words = out.len();
    debug_assert!(y.len() == from.moduli().len() && y.iter().all(|limb| limb.len() == words));
    backend.run(Quotient { out, y, from });
}

/// One target limb: y and, if there is one, v as one more source, whose factor is −S mod m.
struct Convert<'a> {
    out: &'a mut [u64],
    y: &'a [&'a [u64]],
    v: Option<&'a [u64]>,
    factors: &'a [u64],
    /// S mod m, m.
    product: u64,
    modulus: Modulus,
}

impl SumKernel for Convert<'_> {
    type Output = ();
    const BY_CONSTANTS: bool = true;

    #[inline(always)]
    fn run<S: Sum>(mut self, s: S) {
        let mut factors = [s.constant(0); SourceBasis::MAX_PRIMES + 1];
        for (operand, &factor) in
            factors.iter_mut().zip(self.factors.iter().chain([&self.modulus.neg(self.product)]))
        {
            *operand = s.constant(factor);
        }
        let vectors = const { vectors::<S>(1) };
        let (stride, words) = (vectors * S::L::WIDTH, self.out.len());
        let whole = words / stride * stride;
        let start = s.lanes().splat(self.missing(s.offset()));
        for i in (0..whole).step_by(stride) {
            if vectors == 4 {
                self.vectors::<S, 4>(s, start, &factors, i)
            } else {
                self.vectors::<S, 2>(s, start, &factors, i)
            }
        }
        for i in (whole..words).step_by(S::L::WIDTH) {
            self.vectors::<S, 1>(s, start, &factors, i);
        }
    }
}

impl Convert<'_> {
    /// What the sum lacks if its left operands are taken less `offset`.
    fn missing(&self, offset: u64) -> u64 {
        let m = self.modulus;
        let quotient = self.v.map_or(0, |_| m.neg(self.product));
        let factors = self.factors.iter().fold(quotient, |sum, &factor| m.add(sum, factor));
        m.mul(m.reduce(offset), factors)
    }

    #[inline(always)]
    fn vectors<S: Sum, const U: usize>(
        &mut self,
        s: S,
        start: <S::L as U64Lanes>::U,
        factors: &[S::Operand],
        i: usize,
    ) {
        let l = s.lanes();
        let (mut sums, mut room) = ([s.start(start); U], s.terms());
        // The quotient stands for one more source, whose factor follows the others.
        for (y, &factor) in self.y.iter().copied().chain(self.v).zip(factors) {
            if room == 0 {
                for u in 0..U {
                    sums[u] = s.start(s.fold(sums[u]));
                }
                room = s.terms();
            }
            room -= 1;
            for u in 0..U {
                // SAFETY: `convert` saw that all limbs are as long as `out`, and i + U·width ≤ that length.
                let y = unsafe { l.load_ptr(y.as_ptr().add(i + u * S::L::WIDTH)) };
                sums[u] = s.add(sums[u], s.split(y), factor);
            }
        }
        for u in 0..U {
            // SAFETY: i + U·width ≤ out.len().
            unsafe { l.store_ptr(self.out.as_mut_ptr().add(i + u * S::L::WIDTH), s.fold(sums[u])) };
        }
    }
}

/// out_i = Σ_j y_j,i·c_j − v_i·S mod m; one `y` a source prime, all as long as `out`.
pub(crate) fn convert(
    backend: Backend,
    prime: &Prime,
    out: &mut [u64],
    y: &[&[u64]],
    v: Option<&[u64]>,
    constants: &ConvertConstants,
) {
    let words = out.len();
    debug_assert!(y.len() == constants.factors().len() && y.iter().chain(&v).all(|limb| limb.len() == words));
    let (factors, product) = (constants.factors(), constants.product());
    let kernel = Convert { out, y, v, factors, product, modulus: prime.modulus };
    backend.run(OnSum(Shape { prime, bound: constants.source_bound() }, kernel));
}

struct Lift<'a> {
    out: &'a mut [u64],
    y: &'a [u64],
    from: Modulus,
    to: &'a Prime,
}

impl Kernel for Lift<'_> {
    type Output = ();

    /// y ≤ s/2 stands for itself, y > s/2 for y − s. If s < 2m then |y − s| and y ≤ s/2 are below m: y or y − s + m is
    /// canonical. Otherwise y is reduced first (the quotient ⌊y·⌊2^64/m⌋/2^64⌋ is short by at most 1, as y < 2^60, and as had
    /// here by at most 2 more)
    /// and s mod m subtracted.
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let (s, m) = (self.from.value(), self.to.modulus.value());
        let (above_half, modulus) = (l.splat(s / 2 + 1), l.splat(m));
        let near = s < 2 * m;
        let reciprocal = l.splat(self.to.one64);
        // What is added to y > s/2: m − s modulo 2^64, or m − (s mod m) ∈ (0, m\].
        let negative = l.splat(if near { m.wrapping_sub(s) } else { m - s % m });
        for i in (0..self.out.len()).step_by(L::WIDTH) {
            // SAFETY: `lift` saw that both limbs are equally long, a multiple of the width.
            let y = unsafe { l.load_ptr(self.y.as_ptr().add(i)) };
            let offset = l.select_lt(y, above_half, l.splat(0), negative);
            let r = if near {
                l.add(y, offset)
            } else {
                let r = l.sub(y, l.mul_lo(l.mul_hi(y, reciprocal), modulus));
                let r = l.csub(l.csub(r, l.add(modulus, modulus)), modulus);
                l.csub(l.add(r, offset), modulus)
            };
            // SAFETY: as above.
            unsafe { l.store_ptr(self.out.as_mut_ptr().add(i), r) };
        }
    }
}

/// The centred residue of each word; both limbs equally long.
pub(crate) fn lift(backend: Backend, out: &mut [u64], y: &[u64], from: Modulus, to: &Prime) {
    debug_assert_eq!(out.len(), y.len());
    backend.run(Lift { out, y, from, to });
}
