//! Real scalars as integers at an exact scale.

use num_bigint::BigInt;
use num_traits::{One as _, Signed as _, ToPrimitive as _, Zero as _};
use ringmill_ckks::Scale;
use ringmill_ring::Modulus;

use super::LowerError;

/// ⌊c·scale⌉ exactly, halves away from zero: a binary64 number and a scale are both rational.
///
/// # Errors
/// [`LowerError::Scalar`] if c is not finite or the product does not fit into [`MAX_BITS`] bits.
pub fn scaled_integer(c: f64, scale: &Scale) -> Result<BigInt, LowerError> {
    let refused = || LowerError::Scalar { c: c.to_string(), scale: scale.to_text(), bits: MAX_BITS };
    let magnitude = c.abs().log2() + scale.log2();
    let size: f64 =
        scale.factors().iter().map(|&(base, e)| (base as f64).log2() * e.unsigned_abs() as f64).sum();
    if !c.is_finite() || magnitude > f64::from(MAX_BITS) {
        return Err(refused());
    }
    if size > f64::from(MAX_BITS) {
        return Ok(near(c, scale, magnitude.max(0.0) as u64));
    }
    let (mantissa, exponent) = decompose(c);
    let (mut numerator, mut denominator) = (BigInt::from(mantissa), BigInt::one());
    for (base, e) in [(2, exponent)].into_iter().chain(scale.factors().iter().copied()) {
        let power = num_traits::pow(BigInt::from(base), e.unsigned_abs() as usize);
        if e < 0 { denominator *= power } else { numerator *= power }
    }
    let negative = numerator.is_negative();
    let rounded: BigInt = (numerator.abs() * 2 + &denominator) / (denominator * 2);
    Ok(if negative { -rounded } else { rounded })
}

/// m·2^e with m of a fixed number of bits: powers of primes whose exponents double with every level would not end.
struct Near {
    m: BigInt,
    e: i64,
    bits: u64,
}

impl Near {
    fn new(m: BigInt, e: i64, bits: u64) -> Self {
        let excess = m.bits().saturating_sub(bits);
        Self { m: m >> excess, e: e + excess as i64, bits }
    }

    fn mul(&self, other: &Self) -> Self {
        Self::new(&self.m * &other.m, self.e + other.e, self.bits)
    }

    fn inverse(&self) -> Self {
        let shift = self.m.bits() + self.bits;
        Self::new((BigInt::one() << shift) / &self.m, -self.e - shift as i64, self.bits)
    }

    fn pow(&self, exponent: u64) -> Self {
        let mut power = Self::new(BigInt::one(), 0, self.bits);
        for bit in (0..u64::BITS - exponent.leading_zeros()).rev() {
            power = power.mul(&power);
            if exponent >> bit & 1 == 1 {
                power = power.mul(self);
            }
        }
        power
    }
}

/// Bits beyond those of the result. A power by 2^62 loses 63 bits, a scale of a thousand bases ten more: the result is
/// that of exact arithmetic unless c·scale lies within 2^−180 of a half.
const GUARD: u64 = 256;

/// ⌊c·scale⌉ for scales too long to be written out; `whole` is a bound on log2 of the result.
fn near(c: f64, scale: &Scale, whole: u64) -> BigInt {
    let bits = whole + GUARD;
    let (mantissa, exponent) = decompose(c.abs());
    let mut product = Near::new(BigInt::from(mantissa), exponent, bits);
    for &(base, e) in scale.factors() {
        let base = Near::new(BigInt::from(base), 0, bits);
        let base = if e < 0 { base.inverse() } else { base };
        product = product.mul(&base.pow(e.unsigned_abs()));
    }
    let rounded: BigInt = match product.e {
        e if e >= 0 => product.m << e,
        e => ((product.m >> (-e - 1)) + 1) >> 1,
    };
    if c < 0.0 { -rounded } else { rounded }
}

/// Greatest size of a scaled scalar, in bits: above any modulus of the chains in use.
pub const MAX_BITS: u32 = 1 << 14;

/// The mantissa m and exponent e with x = m·2^e, x finite.
fn decompose(x: f64) -> (i64, i64) {
    const FRACTION: u32 = f64::MANTISSA_DIGITS - 1;
    let bits = x.to_bits();
    let (biased, fraction) = ((bits >> FRACTION & 0x7ff) as i64, (bits & ((1 << FRACTION) - 1)) as i64);
    let (m, e) = if biased == 0 { (fraction, -1074) } else { (fraction | 1 << FRACTION, biased - 1075) };
    (if x.is_sign_negative() { -m } else { m }, e)
}

/// x mod q in \[0, q).
pub fn residue(x: &BigInt, q: Modulus) -> u64 {
    let q = BigInt::from(q.value());
    let r: BigInt = x % &q;
    let r = if r.is_negative() { r + q } else { r };
    debug_assert!(r.is_zero() || r.is_positive());
    r.to_u64().unwrap_or_else(|| unreachable!("a residue of a 60-bit modulus fits"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_scales_give_the_same_integers() {
        let q = Scale::prime(1_099_511_590_913).unwrap();
        for (c, k) in [(0.7f64, 3), (-1.25e-3, 100), (1.0, 190), (123.456, 7)] {
            // 2^(40k + 60)/q^k: near 2^60, and short enough for exact arithmetic.
            let scale = Scale::pow2(40 * k + 60).div(&q.pow(k));
            let magnitude = (c.abs().log2() + scale.log2()).max(0.0) as u64;
            assert_eq!(near(c, &scale, magnitude), scaled_integer(c, &scale).unwrap(), "{c} at {scale}");
        }
        // Far beyond it the logarithm still says how large it is.
        let scale = Scale::pow2(40 * 100_000 + 60).div(&q.pow(100_000));
        let got = scaled_integer(0.75, &scale).unwrap().to_f64().unwrap();
        assert!((got.log2() - (0.75f64.log2() + scale.log2())).abs() < 1e-9);
    }

    #[test]
    fn rounding_is_exact_and_away_from_zero_at_halves() {
        let q = Scale::prime(1_099_511_590_913).unwrap();
        let cases = [
            (0.5, Scale::ONE, "1"),
            (-0.5, Scale::ONE, "-1"),
            (0.499_999_999_999_999_94, Scale::ONE, "0"),
            (1.0, Scale::pow2(90), "1237940039285380274899124224"),
            (-3.0, Scale::pow2(1), "-6"),
            (5e-324, Scale::pow2(1074), "1"),
            (1.0, Scale::pow2(80).div(&q), "1099511664639"),
            (0.0, Scale::pow2(40), "0"),
        ];
        for (c, scale, want) in cases {
            assert_eq!(scaled_integer(c, &scale).unwrap().to_string(), want, "{c}·{}", scale.to_text());
        }
        assert!(matches!(scaled_integer(f64::NAN, &Scale::ONE), Err(LowerError::Scalar { .. })));
        assert!(matches!(scaled_integer(1.0, &Scale::pow2(1 << 40)), Err(LowerError::Scalar { .. })));
    }

    #[test]
    fn residues_of_negative_integers_are_canonical() {
        let q = Modulus::new(1_099_511_590_913).unwrap();
        assert_eq!(residue(&BigInt::from(-1), q), q.value() - 1);
        assert_eq!(residue(&BigInt::from(-1_099_511_590_913i64), q), 0);
    }
}
