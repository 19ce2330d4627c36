//! Polynomials of an encrypted value in the least depth, with few products of ciphertexts.
//!
//! p = r + q·b_k with k a power of two, b_k = x^k or T_k(x), degrees of q and r below k, applied again to q and r. A
//! part of fewer than m terms that its depth allows is a weighted sum of powers and needs no further products.
//! Paterson and Stockmeyer, *On the number of nonscalar multiplications necessary to evaluate polynomials*
//! (SIAM J. Comput. 2, 1973); Chebyshev form after Han and Ki (CT-RSA 2020, §3); depth as in Bossuat et al.
//! (EUROCRYPT 2021, §3). Derivation and counts: `docs/algorithms/polynomials.md`.

mod emit;
mod plan;

pub use plan::{Plan, Shape};

use std::f64::consts::PI;

use crate::CircuitError;
use crate::write::Writer;
use num_complex::Complex64;
use ringmill_program::he::{Builder, Value};

/// The highest degree that is taken: 12 levels.
pub const DEGREE_MAX: usize = 4095;

/// Chebyshev coefficients so far below the largest are rounding of a fit: together they change a value in [−1, 1] by less
/// than DEGREE_MAX·2^−48 < 2^−36 of the largest coefficient, and each would cost a product.
const NEGLIGIBLE: f64 = 1.0 / (1u64 << 48) as f64;

/// What the coefficients multiply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Basis {
    /// x^i.
    Monomial,
    /// T_i(x), for x in [−1, 1].
    Chebyshev,
}

/// Σ c_i·b_i(x), of degree 1 at least.
#[derive(Debug, Clone, PartialEq)]
pub struct Polynomial {
    basis: Basis,
    coefficients: Vec<Complex64>,
}

impl Polynomial {
    /// A polynomial by its coefficients, that of b_0 first. Leading zeros are dropped, and so are Chebyshev coefficients
    /// that are rounding of the others.
    ///
    /// # Errors
    /// [`CircuitError::Coefficient`] names a number that is not finite; [`CircuitError::ConstantPolynomial`] and
    /// [`CircuitError::Degree`] name degrees out of range.
    pub fn new(basis: Basis, coefficients: &[f64]) -> Result<Self, CircuitError> {
        Self::complex(basis, &coefficients.iter().map(|&c| c.into()).collect::<Vec<_>>())
    }

    /// The same of complex coefficients.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn complex(basis: Basis, coefficients: &[Complex64]) -> Result<Self, CircuitError> {
        if let Some(index) = coefficients.iter().position(|c| !c.is_finite()) {
            let c = coefficients[index];
            return Err(CircuitError::Coefficient {
                index,
                value: if c.re.is_finite() { c.im } else { c.re },
            });
        }
        let mut c = coefficients.to_vec();
        if basis == Basis::Chebyshev {
            let most = c.iter().flat_map(|c| [c.re, c.im]).fold(0.0, |m: f64, c| m.max(c.abs()));
            let parts = c.iter_mut().flat_map(|c| [&mut c.re, &mut c.im]);
            parts.filter(|c| c.abs() <= most * NEGLIGIBLE).for_each(|c| *c = 0.0);
        }
        c.truncate(c.iter().rposition(|&c| c != Complex64::ZERO).map_or(0, |last| last + 1));
        match c.len().saturating_sub(1) {
            0 => Err(CircuitError::ConstantPolynomial),
            degree if degree > DEGREE_MAX => Err(CircuitError::Degree { degree, most: DEGREE_MAX }),
            _ => Ok(Self { basis, coefficients: c }),
        }
    }

    /// What the coefficients multiply.
    pub fn basis(&self) -> Basis {
        self.basis
    }

    /// The coefficients, that of b_0 first; the last is not zero.
    pub fn coefficients(&self) -> &[Complex64] {
        &self.coefficients
    }

    /// The degree, 1 at least.
    pub fn degree(&self) -> usize {
        self.coefficients.len() - 1
    }

    /// Whether no coefficient has an imaginary part.
    pub fn is_real(&self) -> bool {
        self.coefficients.iter().all(|c| c.im == 0.0)
    }

    /// A bound on |p(x)| for x in [−1, 1], for real Chebyshev polynomials: at 16 Chebyshev points a degree a polynomial of that
    /// degree comes within cos(π/32) of its maximum (Ehlich and Zeller 1964).
    pub fn largest(&self) -> Option<f64> {
        if self.basis != Basis::Chebyshev || !self.is_real() {
            return None;
        }
        let points = 16 * self.degree();
        let real: Vec<f64> = self.coefficients.iter().map(|c| c.re).collect();
        let at = |j: usize| clenshaw(&real, (PI * j as f64 / points as f64).cos()).abs();
        Some((0..=points).map(at).fold(0.0, f64::max) / (PI / 32.0).cos())
    }

    /// How it is evaluated, and what that costs.
    pub fn plan(&self) -> Plan {
        Plan::best(self)
    }
}

/// Adds the evaluation of `p` at `x` to a traced program, in the region "polynomial of degree d". For a Chebyshev
/// polynomial x is taken to lie in [−1, 1], and the program states the bounds that follow.
///
/// # Errors
/// [`CircuitError::Program`] if the builder refuses `x`, or is that of a managed program.
pub fn evaluate(b: &mut Builder, x: Value, p: &Polynomial) -> Result<Value, CircuitError> {
    evaluate_by(b, x, p, Turn::Level)
}

/// What a product with i costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Nothing: it is a monomial, and real and imaginary parts of coefficients are numbers.
    Free,
    /// A level, as a product with any complex number.
    Level,
}

/// [`evaluate`], given what a product with i costs.
pub(crate) fn evaluate_by(
    b: &mut Builder,
    x: Value,
    p: &Polynomial,
    turn: Turn,
) -> Result<Value, CircuitError> {
    let plan = p.plan();
    let mut w = Writer::open(b, &format!("polynomial of degree {}", p.degree()));
    let y = emit::write(&mut w, x, (p.basis(), turn), plan.shape())?;
    match p.largest() {
        Some(bound) => Ok(w.within(y, bound)?),
        None => Ok(y),
    }
}

/// Σ c_i·T_i(x) by Clenshaw's recurrence.
fn clenshaw(c: &[f64], x: f64) -> f64 {
    let (mut next, mut after) = (0.0, 0.0);
    for c in c[1..].iter().rev() {
        (next, after) = (c + 2.0 * x * next - after, next);
    }
    c[0] + x * next - after
}
