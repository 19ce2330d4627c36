//! Real coefficients to integers and integers to residues.

use super::dd::{Dd, Dyadic, pow2};
use super::number::Number;
use pulp::Arch;
use ringmill_ring::{Buffer, LimbRing, Pool, RingError};

/// Rounded coefficients, N of them.
pub(super) enum Integers {
    /// Below 2^62 in absolute value, as words modulo 2^63.
    Short {
        words: Buffer,
        /// None exceeds this.
        bound: u64,
    },
    /// (low + 2^62·high)·2^shift.
    Long {
        /// As i64, at most 2^62 in absolute value.
        low: Buffer,
        /// As i64.
        high: Buffer,
        /// Common power of two, for coefficients beyond 2^124: they carry 104 bits at most.
        shift: u32,
    },
}

/// Bits of a low part, and of integers that are one word.
pub(super) const LOW_BITS: i64 = 62;
/// The bits of such a word.
const SHORT: u64 = (1 << 63) - 1;
/// Bits of both parts together.
pub(super) const BOTH_BITS: i64 = 2 * LOW_BITS;

/// Rounds `factor`·coefficient to integers, words modulo 2^63; `planes` are those of `N`.
///
/// All |factor·coefficient| < 2^62.
pub(super) fn round_short<N: Number>(arch: Arch, planes: &[f64], factor: Dyadic, words: &mut [u64]) {
    let power = pow2(factor.exponent);
    let f = factor.mantissa.scale(power);
    if N::PLANES == 2 {
        arch.dispatch(|| {
            for (x, out) in planes.iter().zip(words) {
                *out = (x * f.hi).round_ties_even() as i64 as u64 & SHORT;
            }
        });
    } else {
        let (hi, lo) = planes.split_at(planes.len() / 2);
        arch.dispatch(|| {
            for ((&hi, &lo), out) in hi.iter().zip(lo).zip(words) {
                let x = Dd { hi, lo } * f;
                *out = nearest(x.hi, x.lo) as u64 & SHORT;
            }
        });
    }
}

/// An integer that no `factor`·coefficient exceeds once rounded; `top` is the largest high part of a coefficient.
///
/// All |factor·coefficient| < 2^62.
pub(super) fn short_bound(top: f64, factor: Dyadic) -> u64 {
    // Three roundings and what a low part adds are relative errors of 2^−51 together; half a unit is that of the integer.
    let bound = top * factor.mantissa.hi * pow2(factor.exponent) * (1.0 + pow2(-50));
    (bound as u64).saturating_add(1)
}

/// Rounds `factor`·coefficient to a low and a high part; `planes` are those of [`Double`](super::number::Double).
///
/// All |factor·coefficient| < 2^124.
pub(super) fn round_both(arch: Arch, planes: &[f64], factor: Dyadic, low: &mut [i64], high: &mut [i64]) {
    let (mantissa, power) = (factor.mantissa, pow2(factor.exponent));
    let (his, los) = planes.split_at(planes.len() / 2);
    arch.dispatch(|| {
        for (((&hi, &lo), low), high) in his.iter().zip(los).zip(low).zip(high) {
            let x = (Dd { hi, lo } * mantissa).scale(power);
            // Both parts leave a remainder of at most 2^61 that is exact: it has no more bits than they had.
            let upper = (x.hi * pow2(-LOW_BITS)).round_ties_even();
            let lower = (x.lo * pow2(-LOW_BITS)).round_ties_even();
            let rest = x.hi - upper * pow2(LOW_BITS);
            *high = upper as i64 + lower as i64;
            *low = nearest(rest, x.lo - lower * pow2(LOW_BITS));
        }
    });
}

/// The integer nearest to hi + lo; |hi|, |lo| < 2^62.
#[inline(always)]
fn nearest(hi: f64, lo: f64) -> i64 {
    let whole = hi.round_ties_even();
    // The fraction of hi is 0 or below 1/2 and lo then below 2^−1, or lo has a whole part and hi none.
    let (upper, rest) = (whole as i64, (hi - whole) + lo);
    upper + rest.round_ties_even() as i64
}

/// Largest absolute value of a slice.
pub(super) fn max_abs(arch: Arch, values: &[f64]) -> f64 {
    arch.dispatch(|| {
        let mut lanes = [0f64; 8];
        let (chunks, rest) = values.as_chunks::<8>();
        for chunk in chunks {
            for i in 0..8 {
                lanes[i] = if chunk[i].abs() > lanes[i] { chunk[i].abs() } else { lanes[i] };
            }
        }
        lanes.iter().chain(rest).fold(0f64, |m, x| m.max(x.abs()))
    })
}

impl Integers {
    /// The transform of all coefficients to `out`, N words.
    ///
    /// # Errors
    /// [`RingError::Length`] if the lengths do not fit the ring.
    pub(super) fn transform(
        &self,
        arch: Arch,
        ring: &LimbRing,
        out: &mut [u64],
        pool: &Pool,
    ) -> Result<(), RingError> {
        let plan = ring.plan();
        if let Self::Short { words, bound } = self
            && let Some(lift) = plan.integer_lift(*bound)
        {
            plan.forward_head_from(out, words, Some(&lift), &[])?;
            return plan.forward_blocks(out, 0, ring.n(), &[]);
        }
        self.residues(arch, ring, out, pool)?;
        ring.forward(out)
    }

    /// The residues of all coefficients to `out`, N words.
    ///
    /// # Errors
    /// [`RingError::Length`] if the lengths do not fit the ring.
    pub(super) fn residues(
        &self,
        arch: Arch,
        ring: &LimbRing,
        out: &mut [u64],
        pool: &Pool,
    ) -> Result<(), RingError> {
        let q = ring.modulus();
        let (low, high, shift) = match self {
            Self::Short { words, .. } => {
                reduce(arch, words, |word| (word ^ 1 << 62) as i64 - (1 << 62), q.value(), out);
                return Ok(());
            }
            Self::Long { low, high, shift } => (low, high, *shift),
        };
        let signed = |word: u64| word as i64;
        let mut residues = Buffer::unspecified_in(pool, out.len());
        reduce(arch, low, signed, q.value(), out);
        reduce(arch, high, signed, q.value(), &mut residues);
        ring.mul_scalar_assign(&mut residues, q.reduce(1 << LOW_BITS))?;
        ring.add_assign(out, &residues)?;
        if shift > 0 {
            ring.mul_scalar_assign(out, q.pow(2, shift.into()))?;
        }
        Ok(())
    }
}

/// Residues of the integers that words stand for, below 2^63 in absolute value, modulo q of 20 to 60 bits.
fn reduce(arch: Arch, words: &[u64], integer: impl Fn(u64) -> i64, q: u64, out: &mut [u64]) {
    /// Adding it rounds a binary64 below 2^51 to an integer in the lower bits.
    const MAGIC: f64 = 6_755_399_441_055_744.0;
    let (inverse, q) = (1.0 / q as f64, q as i64);
    arch.dispatch(|| {
        for (&word, out) in words.iter().zip(out) {
            let x = integer(word);
            // |x/q| < 2^44, known to a relative 2^−51: the quotient is off by at most 1/2 + 2^−7, so |r| < q.
            let quotient = (x as f64).mul_add(inverse, MAGIC).to_bits() as i64 - MAGIC.to_bits() as i64;
            let r = x.wrapping_sub(quotient.wrapping_mul(q));
            *out = (r + (q & (r >> 63))) as u64;
        }
    });
}
