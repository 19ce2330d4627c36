//! Writes the operations of a plan.

use std::collections::BTreeMap;

use num_complex::Complex64;
use ringmill_program::he::{HeError, Numbers, Value};

use super::{Diagonals, Plan, Step};
use crate::CircuitError;
use crate::write::Writer;

/// Writes the map of `x`.
pub(super) fn write(
    w: &mut Writer<'_>,
    x: Value,
    map: &Diagonals,
    plan: &Plan,
) -> Result<Value, CircuitError> {
    if w.slots() != map.slots() {
        return Err(CircuitError::SlotCount { found: map.slots(), slots: w.slots() });
    }
    let babies = babies(w, x, plan)?;
    let mut giants: BTreeMap<i64, Value> = BTreeMap::new();
    for (giant, steps) in plan.giants() {
        giants.insert(giant, inner(w, map, &babies, giant, &steps)?);
    }
    let above = chain(w, giants.iter().rev().filter(|(g, _)| **g >= 0))?;
    let below = chain(w, giants.iter().filter(|(g, _)| **g < 0))?;
    match (above, below) {
        (Some(a), Some(b)) => Ok(w.add(a, b)?),
        (a, b) => a.or(b).ok_or(CircuitError::ZeroMap),
    }
}

/// rot(x, b) for every baby step.
fn babies(w: &mut Writer<'_>, x: Value, plan: &Plan) -> Result<BTreeMap<i64, Value>, HeError> {
    plan.babies().into_iter().map(|b| Ok((b, w.rotate(x, b)?))).collect()
}

/// Σ_b rot(diag_{g+b}, −g) ⊙ rot(x, b).
fn inner(
    w: &mut Writer<'_>,
    map: &Diagonals,
    babies: &BTreeMap<i64, Value>,
    giant: i64,
    steps: &[Step],
) -> Result<Value, CircuitError> {
    let mut total = None;
    for step in steps {
        let (Some(diagonal), Some(&x)) = (map.get(step.shift), babies.get(&step.baby)) else { continue };
        let term = weighted(w, x, diagonal, giant)?;
        total = Some(match total {
            Some(sum) => w.add(sum, term)?,
            None => term,
        });
    }
    total.ok_or(CircuitError::ZeroMap)
}

/// x ⊙ rot(diagonal, −giant).
fn weighted(w: &mut Writer<'_>, x: Value, diagonal: &[Complex64], giant: i64) -> Result<Value, HeError> {
    let slots = diagonal.len() as i64;
    let moved: Vec<Complex64> =
        (0..slots).map(|i| diagonal[(i - giant).rem_euclid(slots) as usize]).collect();
    let real = moved.iter().all(|z| z.im == 0.0);
    if real && moved.iter().all(|z| *z == moved[0]) {
        return w.mul_real(x, moved[0].re);
    }
    let numbers =
        if real { Numbers::Real(moved.iter().map(|z| z.re).collect()) } else { Numbers::Complex(moved) };
    w.mul_vector(x, numbers)
}

/// Σ_g rot(inner_g, g) by Horner's rule; the giant steps come in order towards zero and are all on one side of it.
fn chain<'a>(
    w: &mut Writer<'_>,
    giants: impl Iterator<Item = (&'a i64, &'a Value)>,
) -> Result<Option<Value>, HeError> {
    let mut sum: Option<(i64, Value)> = None;
    for (&giant, &inner) in giants {
        sum = Some(match sum {
            Some((at, value)) => {
                let moved = w.rotate(value, at - giant)?;
                (giant, w.add(inner, moved)?)
            }
            None => (giant, inner),
        });
    }
    sum.map(|(at, value)| w.rotate(value, at)).transpose()
}
