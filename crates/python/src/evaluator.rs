//! Operations one by one: each is a small HE program, lowered once a shape.

use std::sync::Arc;

use num_complex::Complex64;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use ringmill_ckks as ckks;
use ringmill_ckks::{Level, Scale};
use ringmill_program::he::is_free_factor;

use crate::bootstrap::Bootstraps;
use crate::cipher::Ciphertext;
use crate::codec::{self, Target};
use crate::error::Failure;
use crate::keys::EvaluationKeys;
use crate::machines;
use crate::params::Params;

/// Computes on ciphertexts of one parameter set with the keys it was given.
#[pyclass(frozen, module = "ringmill._native")]
pub(crate) struct Evaluator {
    face: ringmill::Evaluator,
    keys: Arc<ckks::EvaluationKeys>,
    bootstraps: Bootstraps,
}

type Outcome = Result<ckks::Ciphertext, ringmill::Error>;

impl Evaluator {
    pub(crate) fn keys(&self) -> &ckks::EvaluationKeys {
        &self.keys
    }

    /// Runs without the interpreter's lock.
    fn run(
        &self,
        py: Python<'_>,
        operation: impl FnOnce(&ringmill::Evaluator) -> Outcome + Send,
    ) -> PyResult<Ciphertext> {
        py.detach(|| operation(&self.face)).map(Ciphertext::from).map_err(|e| Failure::face(&e).into())
    }

    /// The scale of a plaintext factor: that of `a`, so that all products at a level have one scale, or the prime that a
    /// rescale divides by where it is [far](is_near) from it: the scale of `a` then stays.
    fn factor_scale(&self, a: &ckks::Ciphertext) -> Result<Scale, Failure> {
        let prime = self.face.factor_scale(a).map_err(|e| Failure::face(&e))?;
        Ok(if is_near(a.scale(), &prime) { a.scale().clone() } else { prime })
    }

    fn plain(
        &self,
        a: &ckks::Ciphertext,
        values: &[Complex64],
        scale: Scale,
        magnitude: f64,
    ) -> Result<ckks::Plaintext, Failure> {
        let target = Target { level: a.level(), scale, slots: a.slots(), magnitude };
        codec::encode(self.face.params(), values, &target)
    }
}

/// Whether a scale and a prime are within a factor of two: a product of two such values that the prime divides has hardly another
/// scale than they.
pub(crate) fn is_near(scale: &Scale, prime: &Scale) -> bool {
    (scale.log2() - prime.log2()).abs() < 1.0
}

fn largest(values: &[Complex64]) -> f64 {
    values.iter().map(|z| z.norm()).fold(0.0, f64::max)
}

#[pymethods]
impl Evaluator {
    #[new]
    #[pyo3(signature = (keys, machine = "cpu", threads = None))]
    fn new(keys: &Bound<'_, EvaluationKeys>, machine: &str, threads: Option<usize>) -> PyResult<Self> {
        let keys = keys.get().0.clone();
        let face = ringmill::Evaluator::with_machine(
            keys.params(),
            machines::by_name(machine, threads, None, None)?,
        )
        .map_err(|e| Failure::face(&e))?;
        Ok(Self { face, keys, bootstraps: Bootstraps::default() })
    }

    /// Whether its keys are those of another evaluator, as far as both have them.
    fn agrees(&self, other: &Bound<'_, Self>) -> bool {
        let other = &other.get().keys;
        Arc::ptr_eq(&self.keys, other) || self.keys.agrees(other)
    }

    #[getter]
    fn params(&self) -> Params {
        self.face.params().clone().into()
    }

    fn add(
        &self,
        py: Python<'_>,
        a: &Bound<'_, Ciphertext>,
        b: &Bound<'_, Ciphertext>,
    ) -> PyResult<Ciphertext> {
        let (a, b) = (a.get().full(), b.get().full());
        self.run(py, |e| e.add(a, b))
    }

    fn sub(
        &self,
        py: Python<'_>,
        a: &Bound<'_, Ciphertext>,
        b: &Bound<'_, Ciphertext>,
    ) -> PyResult<Ciphertext> {
        let (a, b) = (a.get().full(), b.get().full());
        self.run(py, |e| e.sub(a, b))
    }

    fn negate(&self, py: Python<'_>, a: &Bound<'_, Ciphertext>) -> PyResult<Ciphertext> {
        let a = a.get().full();
        self.run(py, |e| e.negate(a))
    }

    /// The product, relinearised and rescaled: one level less.
    fn multiply(
        &self,
        py: Python<'_>,
        a: &Bound<'_, Ciphertext>,
        b: &Bound<'_, Ciphertext>,
    ) -> PyResult<Ciphertext> {
        let (a, b) = (a.get().full(), b.get().full());
        self.run(py, |e| e.multiply_relinearise_rescale(a, b, self.keys.relin()?))
    }

    fn add_plain(
        &self,
        py: Python<'_>,
        a: &Bound<'_, Ciphertext>,
        values: PyReadonlyArray1<'_, Complex64>,
    ) -> PyResult<Ciphertext> {
        let (a, values) = (a.get().full(), values.as_slice()?.to_vec());
        let plain = py.detach(|| self.plain(a, &values, a.scale().clone(), largest(&values)))?;
        self.run(py, |e| e.add_plain(a, &plain))
    }

    /// The product with plaintext numbers, rescaled: one level less.
    fn multiply_plain(
        &self,
        py: Python<'_>,
        a: &Bound<'_, Ciphertext>,
        values: PyReadonlyArray1<'_, Complex64>,
    ) -> PyResult<Ciphertext> {
        let (a, values) = (a.get().full(), values.as_slice()?.to_vec());
        let scale = self.factor_scale(a)?;
        let plain = py.detach(|| self.plain(a, &values, scale, largest(&values)))?;
        self.run(py, |e| e.rescale(&e.multiply_plain(a, &plain)?))
    }

    fn add_scalar(&self, py: Python<'_>, a: &Bound<'_, Ciphertext>, c: f64) -> PyResult<Ciphertext> {
        let a = a.get().full();
        self.run(py, |e| e.add_scalar(a, c))
    }

    /// The product with a real number, rescaled; a [free factor](is_free_factor) costs no level.
    fn multiply_scalar(&self, py: Python<'_>, a: &Bound<'_, Ciphertext>, c: f64) -> PyResult<Ciphertext> {
        let a = a.get().full();
        if is_free_factor(c) {
            return self.run(py, |e| e.multiply_integer(a, c as i32));
        }
        let scale = self.factor_scale(a)?;
        self.run(py, |e| e.rescale(&e.multiply_scalar_at(a, c, scale)?))
    }

    fn rotate(&self, py: Python<'_>, a: &Bound<'_, Ciphertext>, steps: i64) -> PyResult<Ciphertext> {
        let a = a.get().full();
        self.run(py, |e| e.rotate(a, steps, self.keys.galois()))
    }

    fn conjugate(&self, py: Python<'_>, a: &Bound<'_, Ciphertext>) -> PyResult<Ciphertext> {
        let a = a.get().full();
        self.run(py, |e| e.conjugate(a, self.keys.galois()))
    }

    /// Every slot becomes the sum of `count` slots from it on.
    fn sum(&self, py: Python<'_>, a: &Bound<'_, Ciphertext>, count: usize) -> PyResult<Ciphertext> {
        let a = a.get().full();
        self.run(py, |e| e.sum(a, count, 1, self.keys.galois()))
    }

    fn rescale(&self, py: Python<'_>, a: &Bound<'_, Ciphertext>) -> PyResult<Ciphertext> {
        let a = a.get().full();
        self.run(py, |e| e.rescale(a))
    }

    fn drop_level(&self, py: Python<'_>, a: &Bound<'_, Ciphertext>, level: u32) -> PyResult<Ciphertext> {
        let a = a.get().full();
        self.run(py, |e| e.drop_level(a, Level::new(level)))
    }

    /// The same slots with fresh levels.
    fn bootstrap(
        &self,
        py: Python<'_>,
        a: &Bound<'_, Ciphertext>,
        real: bool,
        iterations: u32,
    ) -> PyResult<Ciphertext> {
        let a = a.get().full();
        let result = py.detach(|| self.bootstraps.run(&self.face, &self.keys, a, (real, iterations)))?;
        Ok(Ciphertext::from(result))
    }

    /// `a` at the exact scale of `b` and at `level`, which is below that of `a`: a product with 1 at the scale that is missing.
    fn aligned(
        &self,
        py: Python<'_>,
        a: &Bound<'_, Ciphertext>,
        b: &Bound<'_, Ciphertext>,
        level: u32,
    ) -> PyResult<Ciphertext> {
        let (a, b, level) = (a.get().full(), b.get().full(), Level::new(level));
        let above = Level::new(level.get() + 1);
        self.run(py, |e| {
            let a = if a.level() > above { e.drop_level(a, above)? } else { (**a).clone() };
            let factor = b.scale().mul(&e.factor_scale(&a)?).div(a.scale());
            let ones = vec![Complex64::new(1.0, 0.0); a.slots()];
            let target = Target { level: above, scale: factor, slots: a.slots(), magnitude: 1.0 };
            match codec::encode(e.params(), &ones, &target) {
                Ok(one) => e.rescale(&e.multiply_plain(&a, &one)?),
                // A factor that cannot be encoded: let the operation itself say that the scales differ.
                Err(_) => e.drop_level(&a, level),
            }
        })
    }
}
