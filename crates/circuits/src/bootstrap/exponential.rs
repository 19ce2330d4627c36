//! e^(2πix), which the multiples of the modulus leave as it is.
//!
//! With y = x/R, e^(2πiRy/2^r) is a polynomial of y with real coefficients at even indices and imaginary ones at odd ones
//! (Jacobi and Anger); r squarings give e^(2πix). It takes the levels of the sine, with a few products more: one value holds both the
//! cosine and the sine.

use std::f64::consts::TAU;

use num_complex::Complex64;
use ringmill_program::he::{Builder, Value};

use super::sine::{NODES, coefficients, radius};
use crate::CircuitError;
use crate::polynomial::{self, Basis, Polynomial, Turn};
use crate::write::Writer;

/// e^(2πix) for |x| ≤ K + 1/2.
#[derive(Debug, Clone, PartialEq)]
pub struct Exponential {
    doublings: u32,
    polynomial: Polynomial,
    error: f64,
}

impl Exponential {
    /// For x up to K + 1/2, the exponential of the 2^r-th part of the angle within `error`.
    ///
    /// # Errors
    /// [`CircuitError::Degree`] if the interval is too wide.
    pub fn new(interval: u32, doublings: u32, error: f64) -> Result<Self, CircuitError> {
        let angle = TAU * radius(interval) / f64::from(doublings).exp2();
        let (real, imaginary) = (coefficients(|y| (angle * y).cos()), coefficients(|y| (angle * y).sin()));
        // Parity is exact but for rounding.
        let c: Vec<Complex64> = (0..NODES)
            .map(|k| if k % 2 == 0 { real[k].into() } else { Complex64::new(0.0, imaginary[k]) })
            .collect();
        let tail = |d: usize| c[d + 1..].iter().map(|c| c.norm()).sum::<f64>();
        let degree = (1..c.len() - 1).find(|&d| tail(d) <= error);
        let Some(degree) = degree.filter(|&d| d < NODES / 2) else {
            return Err(CircuitError::Degree { degree: NODES, most: polynomial::DEGREE_MAX });
        };
        let polynomial = Polynomial::complex(Basis::Chebyshev, &c[..=degree])?;
        Ok(Self { doublings, polynomial, error: tail(degree) })
    }

    /// Levels.
    pub fn depth(&self) -> u32 {
        self.polynomial.plan().depth() + self.doublings
    }

    /// Products of ciphertexts.
    pub fn products(&self) -> usize {
        self.polynomial.plan().products() + self.doublings as usize
    }

    /// Coefficients of e^(2πiRy/2^r) in Chebyshev polynomials of y.
    pub fn coefficients(&self) -> &[Complex64] {
        self.polynomial.coefficients()
    }

    /// Degree in y.
    pub fn degree(&self) -> usize {
        self.polynomial.degree()
    }

    /// How far the result may be from e^(2πix): each squaring doubles the polynomial's error.
    pub fn error(&self) -> f64 {
        self.error * f64::from(self.doublings).exp2()
    }

    /// Adds e^(2πix) of `scaled` = x/R to the program.
    ///
    /// # Errors
    /// What the builder refuses.
    pub(super) fn write(&self, b: &mut Builder, scaled: Value, turn: Turn) -> Result<Value, CircuitError> {
        let mut e = polynomial::evaluate_by(b, scaled, &self.polynomial, turn)?;
        b.promise(e, 1.0)?;
        let mut w = Writer::open(b, "double angle");
        for _ in 0..self.doublings {
            let square = w.mul(e, e)?;
            e = w.within(square, 1.0)?;
        }
        Ok(e)
    }
}
