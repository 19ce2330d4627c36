//! Writes the operations of a plan.

use std::collections::BTreeMap;

use num_complex::Complex64;
use ringmill_program::he::{HeError, Value};

use super::plan::{Shape, halves};
use super::{Basis, Turn};
use crate::write::Writer;

/// Writes `shape` at `x`.
pub(super) fn write(
    w: &mut Writer<'_>,
    x: Value,
    (basis, turn): (Basis, Turn),
    shape: &Shape,
) -> Result<Value, HeError> {
    let mut e = Emitter { w, basis, turn, powers: BTreeMap::from([(1, x)]) };
    match e.shape(shape)? {
        Sum { value: Some(value), constant } => e.w.add_number(value, constant),
        Sum { value: None, constant } => e.w.number(constant),
    }
}

/// An encrypted part and a constant that is still to be added.
struct Sum {
    value: Option<Value>,
    constant: Complex64,
}

struct Emitter<'a, 'b> {
    w: &'a mut Writer<'b>,
    basis: Basis,
    turn: Turn,
    powers: BTreeMap<usize, Value>,
}

impl Emitter<'_, '_> {
    /// b_i, i ≥ 1.
    fn power(&mut self, i: usize) -> Result<Value, HeError> {
        if let Some(&known) = self.powers.get(&i) {
            return Ok(known);
        }
        let (a, b) = halves(i);
        let (x, y) = (self.power(a)?, self.power(b)?);
        let mut value = self.w.mul(x, y)?;
        if self.basis == Basis::Chebyshev {
            // T_{a+b} = 2·T_a·T_b − T_{a−b}. An integer factor costs no level.
            value = self.w.mul_real(value, 2.0)?;
            value = match a - b {
                0 => self.w.add_real(value, -1.0)?,
                d => {
                    let lower = self.power(d)?;
                    self.w.sub(value, lower)?
                }
            };
            // |T_i| ≤ 1 for x in [−1, 1]; interval arithmetic finds it for powers of two alone.
            value = self.w.within(value, 1.0)?;
        }
        self.powers.insert(i, value);
        Ok(value)
    }

    fn join(&mut self, a: Option<Value>, b: Option<Value>) -> Result<Option<Value>, HeError> {
        match (a, b) {
            (Some(a), Some(b)) => Ok(Some(self.w.add(a, b)?)),
            (a, b) => Ok(a.or(b)),
        }
    }

    /// Σ c·b_i. Where i costs nothing, the sum of the imaginary parts is multiplied by it once.
    fn weighted(&mut self, terms: &[(usize, Complex64)]) -> Result<Option<Value>, HeError> {
        let (mut value, mut imaginary) = (None, None);
        for &(i, c) in terms {
            let power = self.power(i)?;
            if self.turn == Turn::Level {
                let term = self.w.mul_number(power, c)?;
                value = self.join(value, Some(term))?;
                continue;
            }
            for (part, sum) in [(c.re, &mut value), (c.im, &mut imaginary)] {
                if part != 0.0 {
                    let term = self.w.mul_real(power, part)?;
                    *sum = match *sum {
                        Some(sum) => Some(self.w.add(sum, term)?),
                        None => Some(term),
                    };
                }
            }
        }
        let turned = imaginary.map(|sum| self.w.mul_number(sum, Complex64::I)).transpose()?;
        self.join(value, turned)
    }

    fn shape(&mut self, shape: &Shape) -> Result<Sum, HeError> {
        match shape {
            Shape::Weighted { constant, terms } => {
                Ok(Sum { value: self.weighted(terms)?, constant: *constant })
            }
            Shape::Split { k, q, r } => {
                // The remainder first: b_k, the highest power, is then made when the lower ones have been read for the last time.
                let r = self.shape(r)?;
                let q = self.shape(q)?;
                let product = match q.value {
                    Some(value) => {
                        let power = self.power(*k)?;
                        let whole = self.w.add_number(value, q.constant)?;
                        Some(self.w.mul(whole, power)?)
                    }
                    None => self.weighted(&[(*k, q.constant)])?,
                };
                Ok(Sum { value: self.join(product, r.value)?, constant: r.constant })
            }
        }
    }
}
