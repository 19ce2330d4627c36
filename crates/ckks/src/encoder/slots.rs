//! The values of slots: what callers hand over, and their way into and out of a transform.

use super::EncoderError;
use super::dd::pow2;
use super::fft::Plan;
use super::ints;
use num_complex::Complex64;
use pulp::Arch;

/// Values to encode.
#[derive(Debug, Clone, Copy)]
pub enum Slots<'a> {
    /// Real numbers.
    Real(&'a [f64]),
    /// Complex numbers.
    Complex(&'a [Complex64]),
}

impl<'a> From<&'a [f64]> for Slots<'a> {
    fn from(values: &'a [f64]) -> Self {
        Self::Real(values)
    }
}

impl<'a> From<&'a [Complex64]> for Slots<'a> {
    fn from(values: &'a [Complex64]) -> Self {
        Self::Complex(values)
    }
}

impl Slots<'_> {
    /// The number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::Real(v) => v.len(),
            Self::Complex(v) => v.len(),
        }
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Real parts, or real and imaginary parts by turns.
    fn parts(&self) -> &[f64] {
        match self {
            Self::Real(v) => v,
            Self::Complex(v) => bytemuck::cast_slice(v),
        }
    }

    /// The index of the first part for which `is` holds, and the value as text.
    pub(super) fn name(&self, is: impl Fn(f64) -> bool) -> (usize, String) {
        let part = self.parts().iter().position(|&x| is(x)).unwrap_or(0);
        match self {
            Self::Real(v) => (part, v.get(part).map(|&x| number(x)).unwrap_or_default()),
            Self::Complex(v) => (part / 2, v.get(part / 2).map(|&z| complex(z)).unwrap_or_default()),
        }
    }
}

/// A number in as few digits as give it back: with an exponent from 10^15 up and below 10^−5.
fn number(x: f64) -> String {
    let plain = x == 0.0 || !x.is_finite() || (1e-5..1e15).contains(&x.abs());
    if plain { x.to_string() } else { format!("{x:e}") }
}

fn complex(z: Complex64) -> String {
    let sign = if z.im.is_sign_negative() && !z.im.is_nan() { '-' } else { '+' };
    format!("{}{sign}{}i", number(z.re), number(z.im.abs()))
}

/// The largest absolute value of a real or imaginary part.
pub(super) fn largest(arch: Arch, values: &Slots<'_>) -> Result<f64, EncoderError> {
    let parts = values.parts();
    // 0·x is 0 for finite x and NaN otherwise; a sum keeps a NaN.
    let finite = arch.dispatch(|| {
        let mut lanes = [0f64; 8];
        let (chunks, rest) = parts.as_chunks::<8>();
        for chunk in chunks {
            for i in 0..8 {
                lanes[i] += 0.0 * chunk[i];
            }
        }
        lanes.iter().chain(rest).all(|&x| (0.0 * x) == 0.0)
    });
    if finite {
        Ok(ints::max_abs(arch, parts))
    } else {
        let (index, value) = values.name(|x| !x.is_finite());
        Err(EncoderError::NotFinite { index, value })
    }
}

/// Values·2^−exponent to their positions, everything else 0.
pub(super) fn scatter(plan: &Plan, values: &Slots<'_>, exponent: i64, planes: &mut [f64]) {
    let n = plan.len();
    // 2^−exponent itself can be out of range.
    let half = exponent / 2;
    let (first, second) = (pow2(-half), pow2(half - exponent));
    planes.fill(0.0);
    let (re, im) = planes.split_at_mut(n);
    let positions = plan.positions().iter().map(|&p| p as usize);
    match values {
        Slots::Real(v) => positions.zip(*v).for_each(|(p, &x)| re[p] = x * first * second),
        Slots::Complex(v) => positions.zip(*v).enumerate().for_each(|(i, (p, z))| {
            let z_im = if plan.conjugated(i) { -z.im } else { z.im };
            (re[p], im[p]) = (z.re * first * second, z_im * first * second);
        }),
    }
}

/// Slots·2^exponent from their positions.
pub(super) fn gather(plan: &Plan, planes: &[f64], exponent: i64, out: &mut [Complex64]) {
    let n = plan.len();
    let exponent = exponent.clamp(-2000, 2000);
    let half = exponent / 2;
    let (first, second) = (pow2(half), pow2(exponent - half));
    for (i, (z, &p)) in out.iter_mut().zip(plan.positions()).enumerate() {
        let p = p as usize;
        let (re, im) = (planes[p] + planes[2 * n + p], planes[n + p] + planes[3 * n + p]);
        let im = if plan.conjugated(i) { -im } else { im };
        *z = Complex64::new(re * first * second, im * first * second);
    }
}
