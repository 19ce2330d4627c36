//! `Params`: checked, immutable parameters.

use pyo3::basic::CompareOp;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use ringmill_circuits::bootstrap::{Bootstrap, Need};
use ringmill_ckks as ckks;
use ringmill_ckks::Level;
use ringmill_ckks::file::{params_from_bytes, write_params};
use ringmill_program::he::Chain;

use crate::error::{Failure, Family};
use crate::evaluator::is_near;

/// Checked, immutable CKKS parameters.
#[pyclass(frozen, module = "ringmill._native")]
pub(crate) struct Params {
    pub(crate) inner: ckks::Params,
    rationale: Option<String>,
}

impl Params {
    pub(crate) fn with_rationale(inner: ckks::Params, rationale: Option<String>) -> Self {
        Self { inner, rationale }
    }
}

/// A bootstrapping of full slots.
#[derive(IntoPyObject)]
struct Bootstraps {
    /// Levels that it leaves.
    levels: u32,
    /// Bits to which it is precise in the worst slot, for messages up to 1.
    bits: u32,
    /// The chance that it gives a wrong result.
    failure: f64,
    /// Levels that a ciphertext must have left.
    start: u32,
}

impl From<ckks::Params> for Params {
    fn from(inner: ckks::Params) -> Self {
        Self { inner, rationale: None }
    }
}

fn secret(name: &str, weight: Option<u32>) -> PyResult<ckks::Secret> {
    match (name, weight) {
        ("ternary", None) => Ok(ckks::Secret::Ternary),
        ("ternary", Some(weight)) => Ok(ckks::Secret::TernaryWeight { weight }),
        ("gaussian", None) => Ok(ckks::Secret::Gaussian),
        _ => {
            let message = format!(
                "secret {name:?} with weight {weight:?} is not known: choose \"ternary\", with or without a weight, \
                 or \"gaussian\""
            );
            Err(Failure::rule(Family::Parameter, "UnknownSecret", &message).into())
        }
    }
}

/// A number given as `name`, if it is a whole one from 0 up.
fn whole<T: TryFrom<i64>>(name: &str, given: i64) -> Result<T, Failure> {
    T::try_from(given).map_err(|_| {
        let message = format!("{name} is {given}; give a whole number from 0 up, of a size that makes sense");
        Failure::rule(Family::Parameter, "WholeNumber", &message)
    })
}

#[pymethods]
impl Params {
    /// Parameters from sizes of primes.
    #[staticmethod]
    #[pyo3(signature = (log_n, q_bits, p_bits, dnum, *, secret = "ternary", weight = None, scale_bits = None, insecure = false))]
    #[allow(clippy::too_many_arguments)] // named in Python
    fn from_bits(
        log_n: u32,
        q_bits: Vec<u32>,
        p_bits: Vec<u32>,
        dnum: usize,
        secret: &str,
        weight: Option<u32>,
        scale_bits: Option<u32>,
        insecure: bool,
    ) -> PyResult<Self> {
        let mut literal = ckks::ParamsLiteral::from_bits(log_n, &q_bits, &p_bits, dnum);
        literal.secret = self::secret(secret, weight)?;
        literal.scale_bits = scale_bits.unwrap_or(literal.scale_bits);
        literal.insecure = insecure;
        ckks::Params::new(&literal).map(Self::from).map_err(|e| Failure::of(Family::Parameter, &e).into())
    }

    /// Parameters whose ciphertexts can be bootstrapped, by need.
    #[staticmethod]
    #[pyo3(signature = (
        levels = 9, *, bits = 22, iterations = 1, scale_bits = None, wide_bits = None, slots = None, log_n = 16,
        insecure = false
    ))]
    #[allow(clippy::too_many_arguments)] // named in Python
    fn bootstrapping(
        levels: i64,
        bits: i64,
        iterations: u32,
        scale_bits: Option<u32>,
        wide_bits: Option<u32>,
        slots: Option<usize>,
        log_n: u32,
        insecure: bool,
    ) -> PyResult<Self> {
        let (levels, bits) = (whole("levels", levels)?, whole("bits", bits)?);
        let slots = slots.unwrap_or(1 << log_n.clamp(1, 17) >> 1);
        let chosen = || {
            let need = Need { levels, slots, log_n, insecure, ..Need::default() };
            if scale_bits.is_none() && wide_bits.is_none() {
                return need.arranged(bits, iterations).map(|(params, _)| params);
            }
            let need = need.iterated(bits, iterations)?;
            let scale_bits = scale_bits.unwrap_or(need.scale_bits);
            let need = Need { scale_bits, wide_bits: wide_bits.unwrap_or(need.wide_bits), ..need };
            need.choose(&Bootstrap::default())
        };
        Ok(chosen().map(Self::from).map_err(|e| Failure::circuit(&e))?)
    }

    /// Parameters from primes by value.
    #[staticmethod]
    #[pyo3(signature = (log_n, q, p, dnum, *, scale_bits, secret = "ternary", weight = None, insecure = false))]
    #[allow(clippy::too_many_arguments)] // named in Python
    fn from_primes(
        log_n: u32,
        q: Vec<u64>,
        p: Vec<u64>,
        dnum: usize,
        scale_bits: u32,
        secret: &str,
        weight: Option<u32>,
        insecure: bool,
    ) -> PyResult<Self> {
        let values = |primes: Vec<u64>| primes.into_iter().map(ckks::params::PrimeSpec::Value).collect();
        let literal = ckks::ParamsLiteral {
            log_n,
            q: values(q),
            p: values(p),
            dnum,
            secret: self::secret(secret, weight)?,
            scale_bits,
            insecure,
        };
        ckks::Params::new(&literal).map(Self::from).map_err(|e| Failure::of(Family::Parameter, &e).into())
    }

    /// A named set.
    #[staticmethod]
    fn named(name: &str) -> PyResult<Self> {
        let set: ckks::NamedSet = name.parse().map_err(|e| Failure::of(Family::Parameter, &e))?;
        ckks::Params::named(set).map(Self::from).map_err(|e| Failure::of(Family::Parameter, &e).into())
    }

    /// Names of all named sets.
    #[staticmethod]
    fn names() -> Vec<&'static str> {
        ckks::NamedSet::ALL.iter().map(|set| set.name()).collect()
    }

    /// The smallest ring that meets a need; `rationale` says why it was chosen.
    #[staticmethod]
    #[pyo3(signature = (*, depth, scale_bits = 40, integer_bits = 4, slots = 1, security = 128))]
    fn by_need(depth: i64, scale_bits: i64, integer_bits: i64, slots: i64, security: i64) -> PyResult<Self> {
        let need = ckks::Need {
            depth: whole("depth", depth)?,
            scale_bits: whole("scale_bits", scale_bits)?,
            integer_bits: whole("integer_bits", integer_bits)?,
            slots: whole("slots", slots)?,
            security: whole("security", security)?,
            secret: ckks::Secret::Ternary,
        };
        let choice = need.choose().map_err(|e| Failure::of(Family::Parameter, &e))?;
        Ok(Self { inner: choice.params, rationale: Some(choice.rationale) })
    }

    /// The scale that values at a level have which products led there from the top, as text: s ← s²/q level by level. The default
    /// one where a prime on the way is far from the scale: products keep to none there.
    fn scale_at(&self, level: u32) -> String {
        let (mut scale, chain) = (self.inner.default_scale(), Chain::from(&self.inner));
        for l in (level.saturating_add(1)..=self.inner.max_level().get()).rev() {
            match chain.prime_scale(Level::new(l)) {
                Some(prime) if is_near(&scale, prime) => scale = scale.mul(&scale).div(prime),
                _ => return self.inner.default_scale().to_text(),
            }
        }
        scale.to_text()
    }

    /// The parameters as bytes for a file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut bytes = Vec::new();
        write_params(&self.inner, &mut bytes).map_err(|e| Failure::file(&e))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Reads what `to_bytes` wrote.
    #[staticmethod]
    fn from_bytes(data: &[u8]) -> PyResult<Self> {
        Ok(params_from_bytes(data).map_err(|e| Failure::file(&e))?.into())
    }

    #[getter]
    fn log_n(&self) -> u32 {
        self.inner.log_n()
    }

    #[getter]
    fn slots(&self) -> usize {
        self.inner.slots()
    }

    #[getter]
    fn max_level(&self) -> u32 {
        self.inner.max_level().get()
    }

    #[getter]
    fn dnum(&self) -> usize {
        self.inner.dnum()
    }

    #[getter]
    fn q(&self) -> Vec<u64> {
        self.inner.q_moduli().iter().map(|m| m.value()).collect()
    }

    #[getter]
    fn p(&self) -> Vec<u64> {
        self.inner.p_moduli().iter().map(|m| m.value()).collect()
    }

    #[getter]
    fn log_q(&self) -> f64 {
        self.inner.log_q(self.inner.max_level())
    }

    #[getter]
    fn log_p(&self) -> f64 {
        self.inner.log_p()
    }

    /// What a bootstrapping gives that these primes were laid out for, or `None`.
    #[getter]
    fn bootstraps(&self) -> Option<Bootstraps> {
        let (config, levels) = Bootstrap::laid_out(&self.inner)?;
        let slots = self.inner.slots();
        let (bits, failure, start) = (config.bits, config.failure(slots), config.start(slots));
        Some(Bootstraps { levels, bits, failure, start })
    }

    #[getter]
    fn scale_bits(&self) -> u32 {
        self.inner.literal().scale_bits
    }

    /// Published security level in bits, or `None` below 128.
    #[getter]
    fn security(&self) -> Option<u32> {
        self.inner.security().category()
    }

    /// Interpolated security in bits, for comparison.
    #[getter]
    fn security_estimate(&self) -> f64 {
        self.inner.security().bits()
    }

    #[getter]
    fn insecure(&self) -> bool {
        self.inner.is_insecure()
    }

    /// Why these parameters were chosen, for those chosen by need.
    #[getter]
    fn rationale(&self) -> Option<&str> {
        self.rationale.as_deref()
    }

    #[getter]
    fn fingerprint(&self) -> String {
        self.inner.fingerprint().to_string()
    }

    fn __repr__(&self) -> String {
        format!("Params({})", self.inner)
    }

    fn __richcmp__(&self, other: &Bound<'_, PyAny>, op: CompareOp) -> Option<bool> {
        let other = other.cast::<Self>().ok()?;
        match op {
            CompareOp::Eq => Some(self.inner == other.get().inner),
            CompareOp::Ne => Some(self.inner != other.get().inner),
            _ => None,
        }
    }

    fn __hash__(&self) -> u64 {
        let bytes = self.inner.fingerprint();
        u64::from_le_bytes(bytes.as_bytes()[..8].try_into().unwrap_or([0; 8]))
    }
}
