//! Predicted beside measured error.

use pyo3::prelude::*;

use ringmill_ckks::noise;

/// The error of a decrypted ciphertext, as it was predicted and as it is against known values.
#[pyclass(frozen, module = "ringmill._native")]
pub(crate) struct Comparison(pub(crate) noise::Comparison);

#[pymethods]
impl Comparison {
    /// log2 of the predicted error of the worst slot, as `Ciphertext.error_log2`.
    #[getter]
    fn predicted_log2(&self) -> f64 {
        self.0.predicted_log2
    }

    /// log2 of the greatest difference between what was decrypted and what was expected; −∞ if nothing differs.
    #[getter]
    fn measured_log2(&self) -> f64 {
        self.0.measured_log2
    }

    /// The slot where it is, from 0.
    #[getter]
    fn slot(&self) -> usize {
        self.0.slot
    }

    /// Whether the measured error is no greater than the predicted one.
    #[getter]
    fn holds(&self) -> bool {
        self.0.holds()
    }

    fn __repr__(&self) -> String {
        format!("Comparison({})", self.0)
    }
}
