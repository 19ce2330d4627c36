//! The canonical embedding in exact arithmetic: fixed-point integers of 400 bits, straight from the definition.

use num_bigint::BigInt;
use num_complex::Complex64;

/// Fractional bits of the oracle.
pub(super) const BITS: u32 = 400;

/// The oracle's e^(iπj/2n'), j = 0..4n', as fixed-point integers, from exact square roots.
pub(super) struct Oracle {
    points: Vec<[BigInt; 2]>,
}

fn fixed_mul(a: &BigInt, b: &BigInt) -> BigInt {
    (a * b) >> BITS
}

fn complex_mul(a: &[BigInt; 2], b: &[BigInt; 2]) -> [BigInt; 2] {
    [fixed_mul(&a[0], &b[0]) - fixed_mul(&a[1], &b[1]), fixed_mul(&a[0], &b[1]) + fixed_mul(&a[1], &b[0])]
}

/// An f64 as a fixed-point integer, exactly (|x| > 2^−300 or 0).
fn fixed(x: f64) -> BigInt {
    let bits = x.abs().to_bits();
    let (e, m) = ((bits >> 52) as i64, BigInt::from((bits & ((1 << 52) - 1)) | (1 << 52)));
    let shift = e - 1075 + i64::from(BITS);
    let magnitude = if x == 0.0 {
        BigInt::ZERO
    } else if shift >= 0 {
        m << shift
    } else {
        m >> -shift
    };
    if x < 0.0 { -magnitude } else { magnitude }
}

/// A fixed-point integer as f64.
pub(super) fn float(x: &BigInt) -> f64 {
    let digits = x.magnitude().bits() as i64;
    let shift = (digits - 60).max(0);
    let top: i64 = (x.magnitude() >> shift).try_into().unwrap();
    let value = top as f64 * 2f64.powi((shift - i64::from(BITS)) as i32);
    if x < &BigInt::ZERO { -value } else { value }
}

impl Oracle {
    /// For n slots.
    pub(super) fn new(n: usize) -> Self {
        let one = BigInt::from(1) << BITS;
        // The step e^(iπ/2n) by halving the right angle.
        let mut step = [BigInt::ZERO, one.clone()];
        for _ in 0..n.trailing_zeros() {
            let cos = ((((&one + &step[0]) >> 1usize) << BITS).magnitude().sqrt()).into();
            let sin = (&step[1] << (BITS - 1)) / &cos;
            step = [cos, sin];
        }
        let mut points = vec![[one, BigInt::ZERO]];
        (1..4 * n).for_each(|_| points.push(complex_mul(points.last().unwrap(), &step)));
        Self { points }
    }

    /// Coefficients c_j and c_(j + n) of the embedding's inverse times scale, exactly.
    pub(super) fn coefficient(
        &self,
        values: &[Complex64],
        n: usize,
        j: usize,
        scale: &BigInt,
    ) -> [BigInt; 2] {
        let mut sum = [BigInt::ZERO, BigInt::ZERO];
        let mut power = 1;
        for z in values {
            let point = &self.points[(4 * n - power * j % (4 * n)) % (4 * n)];
            let term = complex_mul(&[fixed(z.re), fixed(z.im)], point);
            sum[0] += &term[0];
            sum[1] += &term[1];
            power = power * 5 % (4 * n);
        }
        sum.map(|s| s * scale / n)
    }

    /// Slot i of the integer coefficients, as a fixed-point integer before division by the scale.
    pub(super) fn slot(&self, coefficients: &[BigInt], i: usize) -> [BigInt; 2] {
        let n = coefficients.len() / 2;
        let power = (0..i).fold(1, |p, _| p * 5 % (4 * n));
        let mut sum = [BigInt::ZERO, BigInt::ZERO];
        for (j, c) in coefficients.iter().enumerate() {
            let point = &self.points[power * j % (4 * n)];
            sum[0] += c * &point[0];
            sum[1] += c * &point[1];
        }
        sum
    }
}
