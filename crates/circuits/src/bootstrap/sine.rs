//! x mod 1 near integers, as sin(2πx)/2π.
//!
//! With y = (x − 1/4)/R, cos(2πRy/2^r) is even in y, so it is a polynomial of half the degree in t = T_2(y); r times c → 2c² − 1
//! gives cos(2π(x − 1/4)) = sin(2πx) (Han and Ki, CT-RSA 2020).

use std::f64::consts::{PI, TAU};

use ringmill_program::he::{Builder, Value};

use crate::CircuitError;
use crate::polynomial::{self, Basis, Polynomial};
use crate::write::Writer;

/// Points at which the cosine is interpolated: far above any degree that is kept.
const NODES: usize = 256;

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

    /// Adds sin(2πx) of `scaled` = x/R to the program.
    ///
    /// # Errors
    /// What the builder refuses.
    pub fn write(&self, b: &mut Builder, scaled: Value) -> Result<Value, CircuitError> {
        let mut w = Writer::open(b, "cosine");
        let y = w.add_real(scaled, -0.25 / self.radius())?;
        let y = w.within(y, 1.0)?;
        let t = doubled(&mut w, y)?;
        drop(w);
        let mut c = polynomial::evaluate(b, t, &self.polynomial)?;
        let mut w = Writer::open(b, "double angle");
        for _ in 0..self.doublings {
            c = doubled(&mut w, c)?;
        }
        Ok(c)
    }
}

fn radius(interval: u32) -> f64 {
    f64::from(interval) + MARGIN
}

/// 2c² − 1.
fn doubled(w: &mut Writer<'_>, c: Value) -> Result<Value, CircuitError> {
    let square = w.mul(c, c)?;
    let twice = w.mul_real(square, 2.0)?;
    let value = w.add_real(twice, -1.0)?;
    Ok(w.within(value, 1.0)?)
}

/// Chebyshev coefficients of f on [−1, 1] by interpolation.
fn coefficients(f: impl Fn(f64) -> f64) -> Vec<f64> {
    let angle = |j: usize| PI * (j as f64 + 0.5) / NODES as f64;
    let values: Vec<f64> = (0..NODES).map(|j| f(angle(j).cos())).collect();
    (0..NODES)
        .map(|k| {
            let sum: f64 = values.iter().enumerate().map(|(j, v)| v * (k as f64 * angle(j)).cos()).sum();
            sum * if k == 0 { 1.0 } else { 2.0 } / NODES as f64
        })
        .collect()
}
