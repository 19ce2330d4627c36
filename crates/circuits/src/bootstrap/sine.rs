//! x mod 1 near integers, by sin(2πx) and, if wanted, the cubic term of its inverse.
//!
//! With y = (x − 1/4)/R, cos(2πRy/2^r) is even in y, so it is a polynomial of half the degree in t = T_2(y); r times c → 2c² − 1
//! gives cos(2π(x − 1/4)) = sin(2πx) (Han and Ki, CT-RSA 2020). A factor f of the result costs nothing: f^(1/2^r)
//! multiplies the polynomial's coefficients, and c → 2c² − f^(2^i/2^r) doubles.

use std::f64::consts::{PI, TAU};

use num_complex::Complex64;
use ringmill_program::he::{Builder, Constant, Op, Value};

use super::parts::times_i;
use crate::CircuitError;
use crate::polynomial::{self, Basis, Polynomial};
use crate::write::Writer;

/// Points at which the cosine is interpolated: far above any degree that is kept.
pub(super) const NODES: usize = 256;

/// Beyond the outermost integer an argument may lie by a quarter for the shift and as much for the message.
const MARGIN: f64 = 0.5;

/// sin(2πx) for |x| ≤ K + 1/4.
#[derive(Debug, Clone, PartialEq)]
pub struct Sine {
    interval: u32,
    doublings: u32,
    polynomial: Polynomial,
    error: f64,
}

impl Sine {
    /// For x within 1/4 of the integers −K … K, the cosine of the 2^r-th part of the angle within `error`.
    ///
    /// # Errors
    /// [`CircuitError::Degree`] if the interval is too wide.
    pub fn new(interval: u32, doublings: u32, error: f64) -> Result<Self, CircuitError> {
        let angle = TAU * radius(interval) / f64::from(doublings).exp2();
        // cos(A·y) as a function of t = 2y² − 1.
        let c = coefficients(|t| (angle * ((1.0 + t) / 2.0).sqrt()).cos());
        let tail = |d: usize| c[d + 1..].iter().map(|c| c.abs()).sum::<f64>();
        let most = polynomial::DEGREE_MAX;
        let degree = (1..c.len() - 1).find(|&d| tail(d) <= error);
        let Some(degree) = degree.filter(|&d| d < NODES / 2) else {
            return Err(CircuitError::Degree { degree: NODES, most });
        };
        let polynomial = Polynomial::new(Basis::Chebyshev, &c[..=degree])?;
        Ok(Self { interval, doublings, polynomial, error: tail(degree) })
    }

    /// R: arguments are divided by it.
    pub fn radius(&self) -> f64 {
        radius(self.interval)
    }

    /// Levels.
    pub fn depth(&self) -> u32 {
        1 + self.polynomial.plan().depth() + self.doublings
    }

    /// Products of ciphertexts.
    pub fn products(&self) -> usize {
        1 + self.polynomial.plan().products() + self.doublings as usize
    }

    /// Degree in t.
    pub fn degree(&self) -> usize {
        self.polynomial.degree()
    }

    /// How far the result may be from sin(2πx): each doubling multiplies the polynomial's error by 4 at most.
    pub fn error(&self) -> f64 {
        self.error * f64::from(self.doublings * 2).exp2()
    }

    /// Adds `factor`·sin(2πx) of `scaled` = x/R to the program, for a positive factor.
    ///
    /// # Errors
    /// What the builder refuses.
    pub fn write(&self, b: &mut Builder, scaled: Value, factor: f64) -> Result<Value, CircuitError> {
        let mut w = Writer::open(b, "cosine");
        let y = w.add_real(scaled, -0.25 / self.radius())?;
        let y = w.within(y, 1.0)?;
        let t = doubled(&mut w, y, 1.0)?;
        drop(w);
        let root = factor.powf(0.5f64.powi(self.doublings as i32));
        let coefficients: Vec<_> = self.polynomial.coefficients().iter().map(|c| c * root).collect();
        let mut c = polynomial::evaluate(b, t, &Polynomial::complex(Basis::Chebyshev, &coefficients)?)?;
        let mut w = Writer::open(b, "double angle");
        let mut size = root;
        for _ in 0..self.doublings {
            c = doubled(&mut w, c, size)?;
            size *= size;
        }
        Ok(c)
    }
}

/// x near zero from sin(2πx): `first`·s + `third`·s³ of s = sin(2πx), `third` zero for the line alone.
///
/// The Taylor polynomial of arcsin(s)/2π for |s| ≤ m with its first missing term replaced by the best polynomial of lower degree:
/// s³ ≈ 3m²s/4 leaves m³/4, s⁵ ≈ 5m²s³/4 − 5m⁴s/16 leaves m⁵/16.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Inverse {
    first: f64,
    third: f64,
    /// How far the result may be from x.
    pub(super) error: f64,
}

impl Inverse {
    /// For |x| ≤ `reach`, with the cubic term or without.
    pub(super) fn new(reach: f64, cubic: bool) -> Self {
        let m = (TAU * reach).sin();
        // Terms of arcsin: 1, 1/6, 3/40.
        let (first, third) = match cubic {
            false => (1.0 + m.powi(2) / 8.0, 0.0),
            true => {
                (1.0 - 3.0 / 40.0 * 5.0 / 16.0 * m.powi(4), 1.0 / 6.0 + 3.0 / 40.0 * 5.0 / 4.0 * m.powi(2))
            }
        };
        // Greatest at the ends, where the terms beyond have the sign of the one replaced.
        let error = (first * m + third * m.powi(3) - TAU * reach).abs();
        Self { first: first / TAU, third: third / TAU, error: error / TAU }
    }

    /// Levels beyond the sine's.
    pub(super) fn depth(&self) -> u32 {
        if self.third == 0.0 { 0 } else { 2 }
    }

    /// Adds `factor`·x to the program, of x/R in the interval of `sine`; times i where that is said.
    pub(super) fn write(
        &self,
        b: &mut Builder,
        sine: &Sine,
        scaled: Value,
        (factor, turned): (f64, bool),
    ) -> Result<Value, CircuitError> {
        if self.third == 0.0 {
            let x = sine.write(b, scaled, factor * self.first)?;
            return if turned { times_i(b, x, 1.0) } else { Ok(x) };
        }
        // With w = √third·s: s·(first + w²), the factor s brought to the level of the square by the product that scales it.
        let root = (factor * self.third).sqrt();
        let weighted = sine.write(b, scaled, root)?;
        let turn = Op::Const(Constant::Complex(Complex64::new(0.0, 1.0 / root)));
        let turn = if turned { Some(b.push(turn)?) } else { None };
        let mut w = Writer::open(b, "arcsine");
        let square = w.mul(weighted, weighted)?;
        let sum = w.add_real(square, factor * self.first)?;
        let s = match turn {
            Some(turn) => w.mul(weighted, turn)?,
            None => w.mul_real(weighted, 1.0 / root)?,
        };
        Ok(w.mul(sum, s)?)
    }
}

pub(super) fn radius(interval: u32) -> f64 {
    f64::from(interval) + MARGIN
}

/// `size`²·cos 2a of c = `size`·cos a: 2c² − size².
fn doubled(w: &mut Writer<'_>, c: Value, size: f64) -> Result<Value, CircuitError> {
    let square = w.mul(c, c)?;
    let twice = w.mul_real(square, 2.0)?;
    let value = w.add_real(twice, -size * size)?;
    Ok(w.within(value, size * size)?)
}

/// Chebyshev coefficients of f on [−1, 1] by interpolation.
pub(super) fn coefficients(f: impl Fn(f64) -> f64) -> Vec<f64> {
    let angle = |j: usize| PI * (j as f64 + 0.5) / NODES as f64;
    let values: Vec<f64> = (0..NODES).map(|j| f(angle(j).cos())).collect();
    (0..NODES)
        .map(|k| {
            let sum: f64 = values.iter().enumerate().map(|(j, v)| v * (k as f64 * angle(j)).cos()).sum();
            sum * if k == 0 { 1.0 } else { 2.0 } / NODES as f64
        })
        .collect()
}
