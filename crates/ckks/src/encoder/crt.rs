//! Residues to real coefficients, exactly: balanced mixed radix.
//!
//! x ≡ x_j mod q_j with |x| < Q/2 has unique digits |d_k| < q_k/2 with x = d_0 + q_0·(d_1 + q_1·(d_2 + …)): d_k is the
//! centred residue modulo q_k of what remains after subtracting and dividing by the primes before. As digits are
//! balanced, small x of either sign leaves nothing after the first few, and the other primes only confirm it.

use super::EncoderError;
use super::dd::{Dd, Dyadic, pow2};
use crate::limbs::parallel;
use pulp::Arch;
use rayon::prelude::*;
use ringmill_ring::{Buffer, Domain, LimbRing, Poly, Pool};
use smallvec::SmallVec;
use std::borrow::Borrow;
use std::ops::Range;

/// A polynomial in either domain, and what its digits are computed with.
pub(super) struct Residues<'a, R> {
    pub(super) poly: &'a Poly,
    pub(super) rings: &'a [R],
    pub(super) pool: &'a Pool,
}

/// One a ring, as far as they are not zero for every coefficient: as many as the numbers need.
pub(super) type Digits = SmallVec<[Buffer; 8]>;

impl<R: Borrow<LimbRing> + Sync> Residues<'_, R> {
    /// The digits of all coefficients, digit k as residues modulo q_k; those that are left out are zero for every
    /// coefficient. They are all that is kept: of the other limbs, one a thread at a time.
    pub(super) fn digits(&self) -> Result<Digits, EncoderError> {
        let Some(last) = self.rings.len().checked_sub(1) else { return Ok(Digits::new()) };
        let mut digits = Digits::new();
        // The remainder of the last limb usually shows whether all digits are known.
        let mut witness = self.remainder(last, &digits)?;
        while digits.len() < last {
            let k = digits.len();
            if is_zero(&witness) && self.is_known(k..last, &digits)? {
                return Ok(digits);
            }
            let digit = self.remainder(k, &digits)?;
            self.peel(&mut witness, &digit, k, last)?;
            digits.push(digit);
        }
        if !is_zero(&witness) {
            digits.push(witness);
        }
        Ok(digits)
    }

    /// Whether the digits leave nothing of these limbs.
    fn is_known(&self, limbs: Range<usize>, digits: &[Buffer]) -> Result<bool, EncoderError> {
        // Stops at the first limb that says no: an error without a cause.
        let check = |i| match self.remainder(i, digits) {
            Ok(remainder) if is_zero(&remainder) => Ok(()),
            Ok(_) => Err(None),
            Err(error) => Err(Some(error)),
        };
        let checked = if parallel() {
            limbs.into_par_iter().try_for_each(check)
        } else {
            limbs.into_iter().try_for_each(check)
        };
        match checked {
            Ok(()) => Ok(true),
            Err(None) => Ok(false),
            Err(Some(error)) => Err(error),
        }
    }

    /// Limb i of what remains after the first digits are subtracted and their primes divided away.
    fn remainder(&self, i: usize, digits: &[Buffer]) -> Result<Buffer, EncoderError> {
        let mut limb = Buffer::unspecified_in(self.pool, self.poly.n()).wiped();
        limb.copy_from_slice(self.poly.limb(i));
        if self.poly.domain() == Domain::Evaluation {
            self.rings[i].borrow().inverse(&mut limb)?;
        }
        for (k, digit) in digits.iter().enumerate() {
            self.peel(&mut limb, digit, k, i)?;
        }
        Ok(limb)
    }

    /// limb = (limb − digit k)/q_k modulo q_i.
    fn peel(&self, limb: &mut [u64], digit: &[u64], k: usize, i: usize) -> Result<(), EncoderError> {
        let (from, ring) = (self.rings[k].borrow().modulus(), self.rings[i].borrow());
        let q = ring.modulus();
        let mut lifted = Buffer::unspecified_in(self.pool, limb.len()).wiped();
        ring.lift(&mut lifted, digit, from)?;
        ring.sub_mul_scalar_assign(limb, &lifted, q.inv(q.reduce(from.value()))?)?;
        Ok(())
    }
}

fn is_zero(words: &[u64]) -> bool {
    words.iter().all(|&x| x == 0)
}

/// Writes the coefficients of X^(gap·j), given by one digit a ring, times `factor` to `planes`: hi parts
/// followed by lo parts. Returns the power of two that they were divided by to stay in the range of binary64.
pub(super) fn reals<R: Borrow<LimbRing>>(
    arch: Arch,
    digits: &[Buffer],
    rings: &[R],
    factor: Dyadic,
    gap: usize,
    planes: &mut [f64],
) -> i64 {
    planes.fill(0.0);
    let (hi, lo) = planes.split_at_mut(planes.len() / 2);
    let next = |weight: Dyadic, ring: &R| weight.mul(Dyadic::from_u64(ring.borrow().modulus().value()));
    let Some((_, below)) = rings.split_last() else { return 0 };
    // The weight of the last digit.
    let exponent = below.iter().fold(factor, next).exponent;
    let mut weight = factor;
    for (digit, ring) in digits.iter().zip(rings) {
        // Weights a thousand bits below the greatest add nothing to a hundred bits.
        let power = weight.exponent - exponent;
        if power > -1000 {
            let q = ring.borrow().modulus().value() as i64;
            accumulate(arch, digit, gap, q, weight.mantissa.scale(pow2(power)), hi, lo);
        }
        weight = next(weight, ring);
    }
    exponent
}

/// (hi, lo) += centred digit · weight.
fn accumulate(arch: Arch, digit: &[u64], gap: usize, q: i64, weight: Dd, hi: &mut [f64], lo: &mut [f64]) {
    #[inline(always)]
    fn one(d: u64, q: i64, weight: Dd, hi: &mut f64, lo: &mut f64) {
        let d = d as i64;
        // The mask is −1 for d > q/2.
        let d = d - (q & ((q / 2 - d) >> 63));
        let sum = Dd { hi: *hi, lo: *lo } + Dd::from_i64(d) * weight;
        (*hi, *lo) = (sum.hi, sum.lo);
    }
    if gap == 1 {
        arch.dispatch(|| {
            for ((&d, hi), lo) in digit.iter().zip(hi).zip(lo) {
                one(d, q, weight, hi, lo);
            }
        });
    } else {
        for ((&d, hi), lo) in digit.iter().step_by(gap).zip(hi).zip(lo) {
            one(d, q, weight, hi, lo);
        }
    }
}
