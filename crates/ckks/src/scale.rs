//! The scale of an encoded value, kept exactly.
//!
//! CKKS stores a real m as the integer ⌊m·Δ⌉. Multiplication multiplies scales and rescaling divides by a
//! prime of the chain, so every scale that can arise is a product of integer powers of 2 and of primes.
//! [`Scale`] holds those powers; nothing is rounded, and two scales are equal iff they are the same number.

use std::fmt::{self, Write as _};
use std::str::FromStr;

use ringmill_errors::StructuredError;
use ringmill_ring::Modulus;

/// What is wrong with a scale.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, StructuredError)]
#[non_exhaustive]
pub enum ScaleError {
    /// A base is not a prime, so the product would not be unique.
    #[error("scale base {base} is not prime; write the scale as a product of powers of primes")]
    BaseNotPrime {
        /// The base given.
        base: u64,
    },
    /// The text is not a scale.
    #[error("`{text}` is not a scale; write it like `2^40` or `2^80*1099511590913^-1`")]
    Syntax {
        /// The text given.
        text: String,
    },
}

/// An exact positive scale: a formal product of integer powers of primes.
///
/// Exponents saturate at the ends of `i64`, far above any modulus; such a scale is refused wherever it meets one.
///
/// ```
/// use ringmill_ckks::Scale;
/// let delta = Scale::pow2(40);
/// let q = Scale::prime(1_099_511_590_913)?;
/// let after = delta.mul(&delta).div(&q);
/// assert_eq!(after.to_text(), "2^80*1099511590913^-1");
/// assert_eq!(after.to_text().parse::<Scale>()?, after);
/// assert!((after.log2() - 40.0).abs() < 1e-6);
/// # Ok::<(), ringmill_ckks::ScaleError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Scale {
    /// (prime, exponent), primes ascending, exponents not zero.
    factors: Vec<(u64, i64)>,
}

impl Scale {
    /// The scale 1: the value itself, not scaled.
    pub const ONE: Scale = Scale { factors: Vec::new() };

    /// 2^exponent.
    pub fn pow2(exponent: i64) -> Self {
        Self::of_prime(2, exponent)
    }

    /// The prime `base` itself.
    ///
    /// # Errors
    /// [`ScaleError::BaseNotPrime`].
    pub fn prime(base: u64) -> Result<Self, ScaleError> {
        if is_prime(base) { Ok(Self::of_prime(base, 1)) } else { Err(ScaleError::BaseNotPrime { base }) }
    }

    /// The value of a modulus, which is known to be prime.
    pub fn modulus(q: Modulus) -> Self {
        Self::of_prime(q.value(), 1)
    }

    fn of_prime(base: u64, exponent: i64) -> Self {
        Self { factors: if exponent == 0 { Vec::new() } else { vec![(base, exponent)] } }
    }

    /// The factors as (prime, exponent): primes ascending, no exponent zero.
    pub fn factors(&self) -> &[(u64, i64)] {
        &self.factors
    }

    /// self · other.
    #[must_use]
    pub fn mul(&self, other: &Self) -> Self {
        self.combine(other, 1)
    }

    /// self / other.
    #[must_use]
    pub fn div(&self, other: &Self) -> Self {
        self.combine(other, -1)
    }

    /// self^exponent; negative exponents invert.
    #[must_use]
    pub fn pow(&self, exponent: i64) -> Self {
        let factors = self.factors.iter().map(|&(b, e)| (b, e.saturating_mul(exponent)));
        Self { factors: factors.filter(|f| f.1 != 0).collect() }
    }

    /// The scale whose square is this one, if it is a product of whole powers.
    pub fn sqrt(&self) -> Option<Self> {
        let factors: Option<Vec<_>> =
            self.factors.iter().map(|&(b, e)| (e % 2 == 0).then_some((b, e / 2))).collect();
        factors.map(|factors| Self { factors })
    }

    /// True for the scale 1.
    pub fn is_one(&self) -> bool {
        self.factors.is_empty()
    }

    /// Two scales for a message: as they are shown, or exactly where they would look alike.
    pub fn apart(&self, other: &Self) -> (String, String) {
        let shown = (self.to_string(), other.to_string());
        if shown.0 == shown.1 { (self.to_text(), other.to_text()) } else { shown }
    }

    /// Merges two sorted factor lists; `sign` is +1 for a product and −1 for a quotient.
    fn combine(&self, other: &Self, sign: i64) -> Self {
        let (a, b) = (&self.factors, &other.factors);
        let mut factors = Vec::with_capacity(a.len() + b.len());
        let (mut i, mut j) = (0, 0);
        while i < a.len() || j < b.len() {
            let take_a = j == b.len() || (i < a.len() && a[i].0 <= b[j].0);
            let take_b = i == a.len() || (j < b.len() && b[j].0 <= a[i].0);
            let base = if take_a { a[i].0 } else { b[j].0 };
            let mut e = 0i64;
            if take_a {
                e = e.saturating_add(a[i].1);
                i += 1;
            }
            if take_b {
                e = e.saturating_add(b[j].1.saturating_mul(sign));
                j += 1;
            }
            if e != 0 {
                factors.push((base, e));
            }
        }
        Self { factors }
    }

    /// log2 of the scale as a whole number of octaves and a remainder.
    ///
    /// A base p near 2^k contributes its exponent times k exactly and only log2(p/2^k) in binary64: chains of
    /// squarings have exponents of 2^20 and more that cancel, and a plain sum of logarithms would lose them.
    fn log2_split(&self) -> (i128, f64) {
        let (mut whole, mut rest) = (0i128, 0f64);
        for &(base, e) in &self.factors {
            let k = (base as f64).log2().round();
            let octave = 2u128.pow(k as u32);
            let excess = (i128::from(base) - octave as i128) as f64 / octave as f64;
            whole += i128::from(e) * k as i128;
            rest += e as f64 * excess.ln_1p();
        }
        let rest = rest * std::f64::consts::LOG2_E;
        let carry = rest.round();
        (whole + carry as i128, rest - carry)
    }

    /// log2 of the scale.
    pub fn log2(&self) -> f64 {
        let (whole, rest) = self.log2_split();
        whole as f64 + rest
    }

    /// The scale as binary64, to a few units in the last place; infinite or 0 beyond its range.
    pub fn to_f64(&self) -> f64 {
        let (whole, rest) = self.log2_split();
        let near = rest.exp2();
        // Two steps, so that a result in range is not lost to an intermediate power out of range.
        let whole = whole.clamp(-2200, 2200) as i32;
        near * f64::from(whole / 2).exp2() * f64::from(whole - whole / 2).exp2()
    }

    /// The exact text form, such as `2^80*1099511590913^-1`; [`FromStr`] reads it back.
    pub fn to_text(&self) -> String {
        let mut s = String::new();
        for (i, &(base, e)) in self.factors.iter().enumerate() {
            let dot = if i == 0 { "" } else { "*" };
            let _ = if e == 1 { write!(s, "{dot}{base}") } else { write!(s, "{dot}{base}^{e}") };
        }
        if s.is_empty() { "1".into() } else { s }
    }
}

/// For a reader: `2^40` when exact, else the nearest power of two and the deviation, as in `2^40·(1+1.2e-9)`.
impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.factors[..] {
            [] => return f.write_str("1"),
            [(2, e)] => return write!(f, "2^{e}"),
            _ => {}
        }
        let (whole, rest) = self.log2_split();
        let deviation = (rest * std::f64::consts::LN_2).exp_m1();
        if deviation.abs() < 0.01 {
            write!(f, "2^{whole}·(1{deviation:+.1e})")
        } else {
            write!(f, "2^{:.3}", whole as f64 + rest)
        }
    }
}

impl FromStr for Scale {
    type Err = ScaleError;

    /// Reads what [`Scale::to_text`] writes; factors may come in any order and repeat.
    fn from_str(text: &str) -> Result<Self, ScaleError> {
        let syntax = || ScaleError::Syntax { text: text.chars().take(80).collect() };
        let mut scale = Self::ONE;
        for factor in text.split('*') {
            let (base, e) = factor.trim().split_once('^').unwrap_or((factor.trim(), "1"));
            let base: u64 = base.parse().map_err(|_| syntax())?;
            let e: i64 = e.parse().map_err(|_| syntax())?;
            if base != 1 {
                scale = scale.mul(&Self::prime(base)?.pow(e));
            }
        }
        Ok(scale)
    }
}

/// Trial division below the least size of [`Modulus`], its test above.
fn is_prime(n: u64) -> bool {
    if n >> (Modulus::MIN_BITS - 1) > 0 {
        return Modulus::new(n).is_ok();
    }
    n >= 2 && (2..).take_while(|d| d * d <= n).all(|d| !n.is_multiple_of(d))
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;
    use proptest::prelude::*;

    const PRIMES: [u64; 5] =
        [3, 1_099_511_590_913, 1_099_510_054_913, 1_125_899_903_107_073, 1_152_921_504_606_830_593];

    fn any_scale() -> impl Strategy<Value = Scale> {
        proptest::collection::vec((0usize..6, -9i64..9), 0..6).prop_map(|fs| {
            fs.iter().fold(Scale::ONE, |s, &(i, e)| {
                let base = if i == 5 { Scale::pow2(1) } else { Scale::prime(PRIMES[i]).unwrap() };
                s.mul(&base.pow(e))
            })
        })
    }

    /// The scale as a fraction of integers.
    fn fraction(s: &Scale) -> (BigUint, BigUint) {
        s.factors().iter().fold((BigUint::from(1u8), BigUint::from(1u8)), |(n, d), &(b, e)| {
            let p = BigUint::from(b).pow(e.unsigned_abs() as u32);
            if e > 0 { (n * p, d) } else { (n, d * p) }
        })
    }

    proptest! {
        #[test]
        fn arithmetic_is_that_of_fractions(a in any_scale(), b in any_scale()) {
            let ((an, ad), (bn, bd)) = (fraction(&a), fraction(&b));
            let (n, d) = fraction(&a.mul(&b));
            prop_assert_eq!(&n * &ad * &bd, &d * &an * &bn);
            let (n, d) = fraction(&a.div(&b));
            prop_assert_eq!(&n * &ad * &bn, &d * &an * &bd);
            prop_assert_eq!(a == b, &an * &bd == &bn * &ad);
            prop_assert_eq!(a.mul(&a).sqrt(), Some(a));
        }

        #[test]
        fn text_round_trips(a in any_scale()) {
            prop_assert_eq!(a.to_text().parse::<Scale>().unwrap(), a);
        }
    }

    #[test]
    fn a_chain_of_squarings_keeps_its_accuracy() {
        // Squaring and dividing by the same prime for 20 levels: exponents reach 2^20, the value stays at q.
        let q = Scale::prime(PRIMES[3]).unwrap();
        let mut s = Scale::pow2(50);
        // log2 of (2^50 / q), from the small difference of the two.
        let mut want =
            -((PRIMES[3] as i64 - (1 << 50)) as f64 * 2f64.powi(-50)).ln_1p() / std::f64::consts::LN_2;
        for _ in 0..20 {
            s = s.mul(&s).div(&q);
            want *= 2.0;
        }
        let got = s.div(&q).log2();
        assert!((got - want).abs() < 1e-12, "{got} {want}");
        assert!(((s.to_f64() / PRIMES[3] as f64).log2() - want).abs() < 1e-12);
    }

    #[test]
    fn extremes_neither_panic_nor_wrap() {
        let huge = Scale::pow2(i64::MAX).mul(&Scale::pow2(i64::MAX));
        assert_eq!(huge, Scale::pow2(i64::MAX));
        assert_eq!(huge.to_f64(), f64::INFINITY);
        assert_eq!(Scale::pow2(-5000).to_f64(), 0.0);
        assert_eq!(Scale::pow2(-1070).to_f64(), 2f64.powi(-1070));
        assert_eq!(Scale::ONE.to_f64(), 1.0);
    }

    #[test]
    fn shown_for_a_reader() {
        let q = Scale::prime(PRIMES[1]).unwrap();
        assert_eq!(Scale::pow2(40).to_string(), "2^40");
        assert_eq!(Scale::ONE.to_string(), "1");
        assert_eq!(Scale::pow2(80).div(&q).to_string(), "2^40·(1+3.4e-8)");
        assert_eq!(Scale::prime(3).unwrap().to_string(), "2^1.585");
    }

    #[test]
    fn two_scales_are_distinguished() {
        let q = Scale::prime(PRIMES[1]).unwrap();
        let near = Scale::pow2(80).div(&q);
        let shown = ("2^40".into(), "2^40·(1+3.4e-8)".into());
        assert_eq!(Scale::pow2(40).apart(&near), shown);
        // A factor p/2^60 = 1 − 1.4e-14 is less than what is shown.
        let beside = near.mul(&Scale::prime(PRIMES[4]).unwrap()).div(&Scale::pow2(60));
        assert_eq!(near.to_string(), beside.to_string());
        let exact = ("2^80*1099511590913^-1".into(), "2^20*1099511590913^-1*1152921504606830593".into());
        assert_eq!(near.apart(&beside), exact);
    }

    #[test]
    fn wrong_text_and_composite_bases_are_named() {
        assert_eq!("2^40*15".parse::<Scale>(), Err(ScaleError::BaseNotPrime { base: 15 }));
        assert!(matches!("2^".parse::<Scale>(), Err(ScaleError::Syntax { .. })));
        assert!(matches!("".parse::<Scale>(), Err(ScaleError::Syntax { .. })));
        assert!(matches!(Scale::prime(1 << 40), Err(ScaleError::BaseNotPrime { .. })));
    }
}
