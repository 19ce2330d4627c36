//! Writes the operations of a plan.

use std::collections::BTreeMap;

use ringmill_program::he::{HeError, Value};

use super::Basis;
use super::plan::{Shape, halves};
use crate::write::Writer;

/// Writes `shape` at `x`.
pub(super) fn write(w: &mut Writer<'_>, x: Value, basis: Basis, shape: &Shape) -> Result<Value, HeError> {
    let mut e = Emitter { w, basis, powers: BTreeMap::from([(1, x)]) };
    match e.shape(shape)? {
        Sum { value: Some(value), constant } => e.w.add_real(value, constant),
        Sum { value: None, constant } => e.w.real(constant),
    }
}

/// An encrypted part and a constant that is still to be added.
struct Sum {
    value: Option<Value>,
    constant: f64,
}

struct Emitter<'a, 'b> {
    w: &'a mut Writer<'b>,
    basis: Basis,
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

    fn shape(&mut self, shape: &Shape) -> Result<Sum, HeError> {
        match shape {
            Shape::Weighted { constant, terms } => {
                let mut value = None;
                for &(i, c) in terms {
                    let power = self.power(i)?;
                    let term = self.w.mul_real(power, c)?;
                    value = self.join(value, Some(term))?;
                }
                Ok(Sum { value, constant: *constant })
            }
            Shape::Split { k, q, r } => {
                let q = self.shape(q)?;
                let power = self.power(*k)?;
                let product = match q.value {
                    Some(value) => {
                        let whole = self.w.add_real(value, q.constant)?;
                        self.w.mul(whole, power)?
                    }
                    None => self.w.mul_real(power, q.constant)?,
                };
                let r = self.shape(r)?;
                Ok(Sum { value: self.join(Some(product), r.value)?, constant: r.constant })
            }
        }
    }
}
