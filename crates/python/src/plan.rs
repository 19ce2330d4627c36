//! `Plan`: a traced program, managed for parameters.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use ringmill_ckks::Secret;
use ringmill_program::he::{self, Chain};
use ringmill_program::manage::{self, Accuracy, ChooseError, Managed};

use crate::error::{Family, raise, raise_he};
use crate::params::Params;

/// A program with its parameters, levels and scales: what the evaluator runs.
#[pyclass(frozen, module = "ringmill._native")]
pub(crate) struct Plan {
    pub(crate) params: ringmill_ckks::Params,
    pub(crate) managed: Managed,
    rationale: Option<String>,
}

fn choose_error(error: &ChooseError) -> PyErr {
    match error {
        ChooseError::Program(e) => raise_he(e),
        other => raise(Family::Parameter, other),
    }
}

#[pymethods]
impl Plan {
    /// Chooses the smallest parameters for a program's depth and the accuracy wanted of its results.
    #[staticmethod]
    fn choose(py: Python<'_>, text: &str, precision: u32, magnitude: f64, security: u32) -> PyResult<Self> {
        let want = Accuracy { bits: precision, magnitude, security, secret: Secret::Ternary };
        py.detach(|| {
            let traced = he::parse(text).map_err(|e| raise_he(&e))?;
            let plan = manage::choose(&traced, &want).map_err(|e| choose_error(&e))?;
            Ok(Self { params: plan.params, managed: plan.managed, rationale: Some(plan.rationale) })
        })
    }

    /// Manages a program for given parameters.
    #[staticmethod]
    fn with_params(py: Python<'_>, text: &str, params: &Bound<'_, Params>) -> PyResult<Self> {
        let params = params.get().inner.clone();
        py.detach(|| {
            let traced = he::parse(text).map_err(|e| raise_he(&e))?;
            let chain = Chain::from(&params);
            let managed =
                manage::manage(&traced, &chain, &manage::Options::default()).map_err(|e| raise_he(&e))?;
            Ok(Self { params, managed, rationale: None })
        })
    }

    #[getter]
    fn params(&self) -> Params {
        Params::with_rationale(self.params.clone(), self.rationale.clone())
    }

    /// Why these parameters were chosen.
    #[getter]
    fn rationale(&self) -> Option<&str> {
        self.rationale.as_deref()
    }

    /// The managed program as text.
    #[getter]
    fn text(&self) -> String {
        self.managed.program.to_string()
    }

    #[getter]
    fn depth(&self) -> u32 {
        self.managed.summary.depth
    }

    /// Level at which inputs are encrypted.
    #[getter]
    fn input_level(&self) -> u32 {
        self.managed.summary.input_level.get()
    }

    /// Level at which the first operation runs.
    #[getter]
    fn start_level(&self) -> u32 {
        self.managed.summary.start_level.get()
    }

    #[getter]
    fn output_level(&self) -> u32 {
        self.managed.summary.output_level.get()
    }

    /// Whether a relinearisation key is needed.
    #[getter]
    fn needs_relin(&self) -> bool {
        self.managed.summary.keys.relin
    }

    /// Whether a conjugation key is needed.
    #[getter]
    fn needs_conjugation(&self) -> bool {
        self.managed.summary.keys.conjugate
    }

    /// Rotations, in slots to the left, that need keys.
    #[getter]
    fn rotations(&self) -> Vec<usize> {
        self.managed.summary.keys.rotations.iter().copied().collect()
    }

    /// Bytes of the expanded evaluation keys.
    #[getter]
    fn key_bytes(&self) -> u64 {
        self.managed.summary.key_bytes
    }

    /// Key switches that share another's decomposition.
    #[getter]
    fn hoisted(&self) -> usize {
        self.managed.summary.hoisted
    }

    /// How often each operation occurs, by its word in the program text.
    #[getter]
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counts = PyDict::new(py);
        for (kind, count) in &self.managed.summary.counts {
            counts.set_item(kind.word(), count)?;
        }
        Ok(counts)
    }
}
