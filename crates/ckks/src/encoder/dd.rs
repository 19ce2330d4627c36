//! Double-double arithmetic: a value is hi + lo with |lo| ≤ ulp(hi)/2, about 104 bits.
//!
//! Products and sums are exact up to a relative 2^−102 of the operands' magnitudes (Joldes, Muller, Popescu 2017,
//! algorithms 5 and 12). Everything is written with fused multiply-adds spelt out, so that all machines get the
//! same bits.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// hi + lo.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Dd {
    pub(super) hi: f64,
    pub(super) lo: f64,
}

/// a + b exactly.
#[inline(always)]
fn two_sum(a: f64, b: f64) -> Dd {
    let hi = a + b;
    let bb = hi - a;
    Dd { hi, lo: (a - (hi - bb)) + (b - bb) }
}

/// a + b exactly, for |a| ≥ |b| or a = 0.
#[inline(always)]
fn quick_two_sum(a: f64, b: f64) -> Dd {
    let hi = a + b;
    Dd { hi, lo: b - (hi - a) }
}

impl Dd {
    pub(super) const ZERO: Self = Self { hi: 0.0, lo: 0.0 };
    pub(super) const ONE: Self = Self { hi: 1.0, lo: 0.0 };

    /// An integer below 2^63 in absolute value, exactly.
    #[inline(always)]
    pub(super) fn from_i64(x: i64) -> Self {
        // Both parts have at most 31 and 32 bits.
        quick_two_sum((x >> 32) as f64 * 4_294_967_296.0, (x & 0xffff_ffff) as f64)
    }

    /// Times a power of two, exactly.
    #[inline(always)]
    pub(super) fn scale(self, power: f64) -> Self {
        Self { hi: self.hi * power, lo: self.lo * power }
    }

    /// √self for self ≥ 0.
    pub(super) fn sqrt(self) -> Self {
        if self.hi == 0.0 {
            return Self::ZERO;
        }
        // One step of Newton's iteration doubles the 53 bits of the first guess.
        let x = Self { hi: self.hi.sqrt(), lo: 0.0 };
        let rest = self - x * x;
        x + Self { hi: rest.hi / (2.0 * x.hi), lo: 0.0 }
    }
}

impl Add for Dd {
    type Output = Self;
    #[inline(always)]
    fn add(self, b: Self) -> Self {
        let s = two_sum(self.hi, b.hi);
        let t = two_sum(self.lo, b.lo);
        let s = quick_two_sum(s.hi, s.lo + t.hi);
        quick_two_sum(s.hi, s.lo + t.lo)
    }
}

impl Neg for Dd {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self { hi: -self.hi, lo: -self.lo }
    }
}

impl Sub for Dd {
    type Output = Self;
    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        self + -b
    }
}

impl Mul for Dd {
    type Output = Self;
    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        let hi = self.hi * b.hi;
        let lo = self.hi.mul_add(b.hi, -hi);
        quick_two_sum(hi, self.lo.mul_add(b.hi, self.hi.mul_add(b.lo, lo)))
    }
}

impl Div for Dd {
    type Output = Self;
    fn div(self, b: Self) -> Self {
        let q = self.hi / b.hi;
        let rest = self - b * Self { hi: q, lo: 0.0 };
        let next = rest.hi / b.hi;
        let rest = rest - b * Self { hi: next, lo: 0.0 };
        quick_two_sum(q, next) + Self { hi: rest.hi / b.hi, lo: 0.0 }
    }
}

/// 2^e, for |e| ≤ 1022.
#[inline(always)]
pub(super) fn pow2(e: i64) -> f64 {
    f64::from_bits(((1023 + e) as u64) << 52)
}

/// mantissa · 2^exponent with 1 ≤ mantissa < 2: positive reals of any size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Dyadic {
    pub(super) mantissa: Dd,
    pub(super) exponent: i64,
}

impl Dyadic {
    pub(super) const ONE: Self = Self { mantissa: Dd::ONE, exponent: 0 };

    /// A positive finite number.
    pub(super) fn new(x: Dd) -> Self {
        // Subnormal numbers are brought into range first.
        let (x, offset) = if x.hi < f64::MIN_POSITIVE { (x.scale(pow2(200)), -200) } else { (x, 0) };
        let exponent = (x.hi.to_bits() >> 52) as i64 - 1023;
        // 2^−1023 is not normal: two steps.
        let half = exponent / 2;
        let mantissa = x.scale(pow2(-half)).scale(pow2(half - exponent));
        Self { mantissa, exponent: exponent + offset }
    }

    /// A positive integer.
    pub(super) fn from_u64(x: u64) -> Self {
        let (high, low) = ((x >> 32) as f64 * 4_294_967_296.0, (x & 0xffff_ffff) as f64);
        Self::new(quick_two_sum(high, low))
    }

    pub(super) fn mul(self, b: Self) -> Self {
        Self::new(self.mantissa * b.mantissa).shifted(self.exponent.saturating_add(b.exponent))
    }

    pub(super) fn recip(self) -> Self {
        Self::new(Dd::ONE / self.mantissa).shifted(self.exponent.saturating_neg())
    }

    /// Any power; an exponent beyond i64 saturates.
    pub(super) fn pow(self, e: i64) -> Self {
        let (mut base, mut rest, mut result) = (self, e.unsigned_abs(), Self::ONE);
        while rest > 0 {
            if rest & 1 == 1 {
                result = result.mul(base);
            }
            base = base.mul(base);
            rest >>= 1;
        }
        if e < 0 { result.recip() } else { result }
    }

    /// Times 2^e.
    pub(super) fn shifted(self, e: i64) -> Self {
        Self { exponent: self.exponent.saturating_add(e), ..self }
    }

    /// Whether self < b.
    pub(super) fn less(self, b: Self) -> bool {
        let key = |x: Self| (x.exponent, x.mantissa.hi, x.mantissa.lo);
        key(self) < key(b)
    }

    pub(super) fn log2(self) -> f64 {
        self.exponent as f64 + self.mantissa.hi.log2()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigInt;

    /// x · 2^1100 as an integer; exact because f64 holds no smaller unit here.
    fn exact(x: Dd) -> BigInt {
        let one = |f: f64| {
            let bits = f.to_bits();
            let e = ((bits >> 52) & 0x7ff) as i64;
            let m = BigInt::from((bits & ((1 << 52) - 1)) | 1 << 52);
            if f == 0.0 { BigInt::ZERO } else { (m << (e - 1075 + 1100)) * if f < 0.0 { -1 } else { 1 } }
        };
        one(x.hi) + one(x.lo)
    }

    fn close(got: BigInt, want: BigInt, bits: u32) -> bool {
        let error = if got > want { &got - &want } else { &want - &got };
        (error << bits) <= if want < BigInt::ZERO { -want } else { want }
    }

    #[test]
    fn operations_keep_a_hundred_bits() {
        let mut x = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = || {
            x = x.wrapping_mul(0xda94_2042_e4dd_58b5).wrapping_add(0x1234_5677);
            let hi = (x >> 11) as f64 / pow2(53) + 0.5;
            x = x.wrapping_mul(0xda94_2042_e4dd_58b5).wrapping_add(0x1234_5677);
            quick_two_sum(hi, ((x >> 11) as f64 / pow2(53) - 0.5) * pow2(-54))
        };
        let unit = BigInt::from(1) << 1100;
        for _ in 0..2000 {
            let (a, b) = (next(), next());
            let (ea, eb) = (exact(a), exact(b));
            assert!(close(exact(a + b), &ea + &eb, 102));
            assert!(close(exact(a * b) * &unit, &ea * &eb, 101));
            assert!(close(exact(a / b) * &eb, &ea * &unit, 100));
            let root = exact(a.sqrt());
            assert!(close(&root * &root, &ea * &unit, 100));
            let difference = exact(a - b);
            let error = &difference - (&ea - &eb);
            assert!(close(&ea + error, ea.clone(), 102), "relative to the operands");
        }
    }

    #[test]
    fn integers_and_powers_are_exact_where_they_fit() {
        for x in [0, 1, -1, i64::MAX / 2, -i64::MAX / 2, 1 << 53 | 1, -(1 << 59) - 3] {
            assert_eq!(exact(Dd::from_i64(x)), BigInt::from(x) << 1100);
        }
        let q = Dyadic::from_u64(0x0020_0000_010c_0001);
        let cube = q.pow(3);
        let want = BigInt::from(0x0020_0000_010c_0001_u64).pow(3);
        assert!(close(exact(cube.mantissa) << cube.exponent, want << 1100, 100));
        let inverse = q.pow(-2).mul(q.pow(2));
        assert!((inverse.mantissa.hi - 1.0).abs() < 1e-30 || (inverse.mantissa.hi - 2.0).abs() < 1e-30);
        assert_eq!(Dyadic::new(Dd { hi: f64::MAX, lo: 0.0 }).exponent, 1023);
        assert_eq!(Dyadic::new(Dd { hi: 5e-324, lo: 0.0 }), Dyadic { mantissa: Dd::ONE, exponent: -1074 });
        assert_eq!(Dyadic::from_u64(2).pow(100_000).exponent, 100_000);
        assert!(
            Dyadic::from_u64(5).less(Dyadic::from_u64(6)) && !Dyadic::from_u64(6).less(Dyadic::from_u64(6))
        );
    }
}
