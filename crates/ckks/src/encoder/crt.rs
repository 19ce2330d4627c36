//! Residues to real coefficients, exactly: balanced mixed radix.
//!
//! x ≡ x_j mod q_j with |x| < Q/2 has unique digits |d_k| < q_k/2 with x = d_0 + q_0·(d_1 + q_1·(d_2 + …)): d_k is the
//! centred residue modulo q_k of what remains after subtracting and dividing by the primes before. As digits are
//! balanced, small x of either sign leaves nothing after the first few, and the other primes only confirm it.

use super::dd::{Dd, Dyadic, pow2};
use super::{EncoderError, for_each_limb};
use pulp::Arch;
use ringmill_ring::{Buffer, LimbRing, Modulus, Poly, Pool};
use std::borrow::Borrow;

/// Replaces the first limbs of `poly`, in the coefficient domain, by the digits of all coefficients (digit k as a
/// residue modulo q_k) and returns how many digits there are; all others are zero for every coefficient.
pub(super) fn digits<R: Borrow<LimbRing> + Sync>(
    poly: &mut Poly,
    rings: &[R],
    pool: &Pool,
) -> Result<usize, EncoderError> {
    let n = poly.n();
    for k in 0..rings.len() {
        let (done, rest) = poly.words_mut().split_at_mut((k + 1) * n);
        let digit = &done[k * n..];
        // Nothing left in any limb: all digits are known. The last limb alone usually tells.
        if rest.iter().rev().all(|&x| x == 0) && digit.iter().all(|&x| x == 0) {
            return Ok(k);
        }
        let from = rings[k].borrow().modulus();
        for_each_limb(rest, n, &rings[k + 1..], |limb, ring: &R| {
            peel(limb, digit, from, ring.borrow(), pool)
        })?;
    }
    Ok(rings.len())
}

/// limb = (limb − digit)/q_k in its ring.
fn peel(
    limb: &mut [u64],
    digit: &[u64],
    from: Modulus,
    ring: &LimbRing,
    pool: &Pool,
) -> Result<(), EncoderError> {
    let q = ring.modulus();
    let mut lifted = Buffer::unspecified_in(pool, limb.len());
    ring.lift(&mut lifted, digit, from)?;
    ring.sub_mul_scalar_assign(limb, &lifted, q.inv(q.reduce(from.value()))?)?;
    Ok(())
}

/// Writes the coefficients of X^(gap·j), given by one digit a ring, times `factor`, as hi parts followed by lo parts to `planes`, and returns
/// the power of two that they were divided by to stay in the range of binary64.
pub(super) fn reals<R: Borrow<LimbRing>>(
    arch: Arch,
    digits: &[u64],
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
    for (digit, ring) in digits.chunks_exact(digits.len() / rings.len()).zip(rings) {
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
