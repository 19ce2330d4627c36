//! Encoding by its definition: slot i of n is the value at ζ^(5^i), in n·2n steps of binary64.

use num_bigint::BigInt;
use num_traits::{FromPrimitive, ToPrimitive};

/// A complex number: real and imaginary part.
pub(crate) type Complex = (f64, f64);

pub(crate) fn mul(a: Complex, b: Complex) -> Complex {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

pub(crate) fn add(a: Complex, b: Complex) -> Complex {
    (a.0 + b.0, a.1 + b.1)
}

/// Powers of ζ = exp(iπ/N), all 2N of them.
fn roots(n: usize) -> Vec<Complex> {
    (0..2 * n).map(|k| (std::f64::consts::PI * k as f64 / n as f64).sin_cos()).map(|(s, c)| (c, s)).collect()
}

fn points(n: usize, slots: usize) -> Vec<usize> {
    std::iter::successors(Some(1usize), |g| Some(g * 5 % (2 * n))).take(slots).collect()
}

/// Integer coefficients of the polynomial in X^(N/2·slots) whose slots are z·scale.
pub(crate) fn encode(z: &[Complex], n: usize, scale: f64) -> Vec<BigInt> {
    let (roots, points, gap) = (roots(n), points(n, z.len()), n / 2 / z.len());
    let mut out = vec![BigInt::default(); n];
    for j in 0..2 * z.len() {
        // m_j = (1/n)·Re Σ z_i·conj(ζ_i)^(j·gap), the inverse of the evaluation map.
        let term = |(zi, g): (&Complex, &usize)| {
            let (c, s) = roots[g * j * gap % (2 * n)];
            zi.0 * c + zi.1 * s
        };
        let sum: f64 = z.iter().zip(&points).map(term).sum();
        out[j * gap] = BigInt::from_f64((sum / z.len() as f64 * scale).round()).unwrap();
    }
    out
}

/// Slots of integer coefficients: only the powers of X^(N/2·slots) count.
pub(crate) fn decode(coefficients: &[BigInt], slots: usize, scale: f64) -> Vec<Complex> {
    let n = coefficients.len();
    let (roots, gap) = (roots(n), n / 2 / slots);
    let c: Vec<f64> = coefficients.iter().step_by(gap).map(|c| c.to_f64().unwrap() / scale).collect();
    points(n, slots)
        .iter()
        .map(|g| {
            c.iter().enumerate().fold((0.0, 0.0), |sum, (j, &x)| {
                let r = roots[g * j * gap % (2 * n)];
                (sum.0 + x * r.0, sum.1 + x * r.1)
            })
        })
        .collect()
}
