//! What keys a bootstrapping at the prompt takes.

use std::collections::BTreeSet;

use pyo3::prelude::*;

use ringmill::circuits::bootstrap::Content;

use crate::error::Failure;
use crate::params::Params;

pub(crate) fn content(real: bool) -> Content {
    if real { Content::Real } else { Content::Complex }
}

/// Rotations whose keys the bootstrapping of a ciphertext of `slots` slots needs.
#[pyfunction]
pub(crate) fn bootstrap_rotations(
    py: Python<'_>,
    params: &Bound<'_, Params>,
    slots: usize,
    real: bool,
) -> PyResult<BTreeSet<usize>> {
    let params = params.get().inner.clone();
    let keys = py.detach(|| ringmill::bootstrap_keys(&params, slots, content(real)));
    Ok(keys.map_err(|e| Failure::face(&e))?.rotations)
}
