//! The algebra of a traced program.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use ringmill_circuits::algebra::{self, Cost};
use ringmill_program::he;

use crate::error::Failure;
use crate::executable::interruptible;

/// What a program costs, by name.
type Costs = BTreeMap<&'static str, usize>;

fn costs(cost: &Cost) -> Costs {
    BTreeMap::from([
        ("depth", cost.depth as usize),
        ("key_switches", cost.key_switches),
        ("rotations", cost.rotations),
        ("products", cost.products),
        ("operations", cost.operations),
    ])
}

/// The cheapest equal program that is found, or `None` if the program stands as it is; what it cost and costs, and the greatest
/// size of its values for inputs up to `magnitude`.
#[pyfunction]
pub(crate) fn fold_algebra(
    py: Python<'_>,
    text: &str,
    magnitude: f64,
    real: bool,
) -> PyResult<(Option<String>, Costs, Costs, f64)> {
    let text = text.to_owned();
    interruptible(py, move || {
        let traced = he::parse(&text).map_err(|e| Failure::he(&e))?;
        let folded = algebra::fold(&traced, magnitude, real).map_err(|e| Failure::he(&e))?;
        let changed = folded.before != folded.after;
        let text = changed.then(|| folded.program.to_string());
        Ok((text, costs(&folded.before), costs(&folded.after), folded.largest))
    })
}
