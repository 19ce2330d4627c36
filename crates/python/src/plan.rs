//! `Plan`: a traced program, managed for parameters.

use std::collections::BTreeMap;

use num_complex::Complex64;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use ringmill_circuits::bootstrap::{ITERATIONS_MAX, LEAST_BITS, Need, most_bits};
use ringmill_ckks::params::MIN_LOG_N;
use ringmill_ckks::{KeyLayout, Level, ParamsError, Secret};
use ringmill_program::he::{self, Chain, Type, Value, Vectors, evaluate_clear};
use ringmill_program::lower::Switch;
use ringmill_program::manage::{self, Accuracy, ChooseError, Managed, Promise};

use crate::argument::given;
use crate::bootstrap;
use crate::error::{Failure, Family};
use crate::executable::interruptible;
use crate::params::Params;
use crate::switching;

/// A program with its parameters, every value with its level and exact scale: what machines run. Holds no key and no input.
#[pyclass(frozen, module = "ringmill._native")]
pub(crate) struct Plan {
    pub(crate) params: ringmill_ckks::Params,
    pub(crate) managed: Managed,
    rationale: Option<String>,
    /// What is known of its values; run-time plaintexts are as large as inputs.
    promise: Promise,
    /// Where it bootstraps and why.
    bootstraps: Vec<String>,
    /// Rotation keys that it may take.
    rotation_keys: Option<usize>,
}

impl Plan {
    /// Bound on |slot| of every value of the managed program.
    pub(crate) fn bounds(&self) -> Vec<f64> {
        self.promise.bounds(&self.managed.program)
    }
}

/// Levels between bootstrappings, at most, of chains that are chosen: as many as `B16` leaves.
const LEVELS_MOST: u32 = 9;

/// Slots that any arrangement bootstraps.
const SLOTS_LEAST: usize = 4;

/// Most bits that one round of the choice adds.
const STEP_MOST: f64 = 6.0;

impl Plan {
    /// Chooses parameters that bootstrap: the levels of the longest way between bootstrappings that the program asks for, and as many
    /// bits as bring the predicted error below what is wanted.
    fn bootstrapped(
        traced: &he::Program,
        want: &Accuracy,
        promise: Promise,
        why: &str,
    ) -> Result<Self, Failure> {
        if want.security > 128 {
            return Err(Failure::rule(
                Family::Parameter,
                "BootstrapSecurity",
                &format!(
                    "parameters that bootstrap are chosen for 128 bits of security, not for {}; give security=128",
                    want.security
                ),
            ));
        }
        let simple = manage::simplify(traced).map_err(|e| Failure::he(&e))?;
        let levels = manage::depth(&simple).clamp(1, LEVELS_MOST);
        let slots = traced.slots().max(SLOTS_LEAST);
        let need = Need { levels, slots, log_n: MIN_LOG_N, ..Need::default() };
        let most = most_bits(ITERATIONS_MAX);
        let mut next = Some(want.bits.max(LEAST_BITS)).filter(|&bits| bits <= most);
        while let Some(bits) = next {
            let iterations = if bits > most_bits(1) { ITERATIONS_MAX } else { 1 };
            let (params, _) = need.arranged(bits, iterations).map_err(|e| Failure::circuit(&e))?;
            let (managed, bootstraps) = managed(traced, &params, &promise, None, want.rotation_keys)?;
            let mut plan = Self {
                params,
                managed,
                rationale: None,
                promise,
                bootstraps,
                rotation_keys: want.rotation_keys,
            };
            let base = KeyLayout::base(&plan.params);
            let errors = plan.errors(ringmill_ckks::noise::FAILURE, &|_| base)?;
            let error = errors.into_values().fold(f64::NEG_INFINITY, f64::max);
            let lacking = f64::from(want.bits) + error;
            if lacking <= 0.0 {
                plan.rationale = Some(format!(
                    "{} bits of accuracy for values up to {} by {} bootstrapping(s) precise to {bits} bits, {levels} level(s) \
                     after each: predicted error 2^{error:.1}. Why bootstrapping: {why}",
                    want.bits,
                    want.magnitude,
                    plan.bootstraps.len(),
                ));
                return Ok(plan);
            }
            let step = (lacking.ceil().min(STEP_MOST) as u32).max(1);
            next = (bits < most).then_some((bits + step).min(most));
        }
        Err(Failure::rule(
            Family::Parameter,
            "BootstrapAccuracy",
            &format!(
                "{} bits of accuracy are not reached by bootstrappings precise to {most} bits; ask for fewer, promise closer bounds \
                 with rm.within, or give params=rm.Params.bootstrapping(levels, bits=…, slots={slots}), which holds results to none",
                want.bits
            ),
        ))
    }

    /// log2 of the predicted error of the worst slot of every output, exceeded with probability `failure`.
    fn errors(
        &self,
        failure: f64,
        layouts: &dyn Fn(&Switch) -> KeyLayout,
    ) -> Result<BTreeMap<String, f64>, Failure> {
        let program = &self.managed.program;
        let all = manage::predict_fresh(program, &self.params, &self.promise, layouts)
            .map_err(|e| Failure::of(Family::Machine, &e))?;
        let outputs = program.outputs().iter();
        Ok(outputs
            .map(|o| (o.name.clone(), all[o.value.index()].error_at(program.slots(), failure).log2()))
            .collect())
    }
}

/// Of inputs and plaintexts up to `magnitude`, and values up to `bound`.
fn promise(magnitude: f64, bound: f64, real: bool) -> Promise {
    Promise { inputs: magnitude, plain: magnitude, values: bound, real }
}

/// A program that needs every level of its chain, if the bounds on its values say that none wraps around: management
/// alone keeps outputs where the modulus exceeds the scale by two bits, whatever they are.
fn to_the_end(
    traced: &he::Program,
    params: &ringmill_ckks::Params,
    refused: &he::HeError,
    promise: &Promise,
    rotation_keys: Option<usize>,
) -> Option<Managed> {
    let he::Rule::Depth { needed, .. } = *refused.rule else { return None };
    let floor = params.max_level().get().checked_sub(needed)?;
    let output_level = Some(Level::new(floor));
    let options = manage::Options { output_level, rotation_keys, ..manage::Options::default() };
    let managed = manage::manage(traced, &Chain::from(params), &options).ok()?;
    let p = &managed.program;
    let base = |_: &Switch| KeyLayout::base(params);
    let noises = manage::predict_fresh(p, params, promise, &base).ok()?;
    let fits = p.values().all(|(v, instr)| match &instr.ty {
        // Written so that what is not a number does not fit.
        Type::Ct(t) => noises[v.index()].headroom_log2(params, t.level, &t.scale) >= 0.0,
        _ => true,
    });
    fits.then_some(managed)
}

/// The program managed for given parameters, bootstrapped where it asks for that or its levels run out; says where and why.
fn managed(
    traced: &he::Program,
    params: &ringmill_ckks::Params,
    promise: &Promise,
    output_level: Option<u32>,
    rotation_keys: Option<usize>,
) -> Result<(Managed, Vec<String>), Failure> {
    let output_level = output_level.map(Level::new);
    let options = manage::Options { output_level, rotation_keys, ..manage::Options::default() };
    let refused = match manage::manage(traced, &Chain::from(params), &options) {
        Ok(managed) => return Ok((managed, Vec::new())),
        Err(refused) => refused,
    };
    // Programs that bootstrap end above the levels that it needs anyway.
    if output_level.is_some() && !asks(traced) {
        return Err(Failure::he(&refused));
    }
    match to_the_end(traced, params, &refused, promise, rotation_keys) {
        Some(bounded) => Ok((bounded, Vec::new())),
        None => bootstrap::managed(traced, params, promise, refused, rotation_keys),
    }
}

/// Whether a program asks to be bootstrapped.
fn asks(traced: &he::Program) -> bool {
    traced.instrs().iter().any(|i| matches!(i.op, he::Op::Bootstrap(_)))
}

#[pymethods]
impl Plan {
    /// Chooses the smallest parameters for a program's depth and the accuracy wanted of its results; of those that bootstrap if
    /// it asks for that or no others do.
    #[staticmethod]
    #[pyo3(signature = (text, precision, magnitude, bound, real, security, rotation_keys = None))]
    #[allow(clippy::too_many_arguments)] // the facade in Python names them
    fn choose(
        py: Python<'_>,
        text: &str,
        precision: u32,
        magnitude: f64,
        bound: f64,
        real: bool,
        security: u32,
        rotation_keys: Option<usize>,
    ) -> PyResult<Self> {
        let want = Accuracy {
            bits: precision,
            inputs: Some(magnitude),
            real,
            magnitude: bound,
            security,
            secret: Secret::Ternary,
            rotation_keys,
        };
        let text = text.to_owned();
        interruptible(py, move || {
            let traced = he::parse(&text).map_err(|e| Failure::he(&e))?;
            let promise = promise(magnitude, bound, real);
            if asks(&traced) {
                return Self::bootstrapped(&traced, &want, promise, "the program asks for it");
            }
            let plan = match manage::choose(&traced, &want) {
                Ok(plan) => plan,
                Err(refused @ ChooseError::Params { source: ParamsError::Unmet { .. }, .. }) => {
                    return Self::bootstrapped(&traced, &want, promise, &refused.to_string())
                        .map_err(|why| Failure::choose(&refused).nor(&why));
                }
                Err(refused) => return Err(Failure::choose(&refused)),
            };
            Ok(Self {
                params: plan.params,
                managed: plan.managed,
                rationale: Some(plan.rationale),
                promise,
                bootstraps: Vec::new(),
                rotation_keys,
            })
        })
    }

    /// Manages a program for given parameters; its outputs at `output_level` or above, what holds them if None; with
    /// `rotation_keys` at most, as many as are fastest if None.
    #[staticmethod]
    #[pyo3(signature = (text, params, magnitude, bound, real, output_level = None, rotation_keys = None))]
    #[allow(clippy::too_many_arguments)] // the facade in Python names them
    fn with_params(
        py: Python<'_>,
        text: &str,
        params: &Bound<'_, Params>,
        magnitude: f64,
        bound: f64,
        real: bool,
        output_level: Option<u32>,
        rotation_keys: Option<usize>,
    ) -> PyResult<Self> {
        let (params, promise) = (params.get().inner.clone(), promise(magnitude, bound, real));
        let text = text.to_owned();
        interruptible(py, move || {
            let traced = he::parse(&text).map_err(|e| Failure::he(&e))?;
            let (managed, bootstraps) = managed(&traced, &params, &promise, output_level, rotation_keys)?;
            Ok(Self { params, managed, rationale: None, promise, bootstraps, rotation_keys })
        })
    }

    /// The parameters that it is managed for.
    #[getter]
    fn params(&self) -> Params {
        Params::with_rationale(self.params.clone(), self.rationale.clone())
    }

    /// Why these parameters were chosen; `None` for parameters that were given.
    #[getter]
    fn rationale(&self) -> Option<&str> {
        self.rationale.as_deref()
    }

    /// Bound on the size of the inputs, which are encrypted and checked with it.
    #[getter]
    fn magnitude(&self) -> f64 {
        self.promise.inputs
    }

    /// Bound on the size of every value, which predictions and the choice of parameters rely on.
    #[getter]
    fn bound(&self) -> f64 {
        self.promise.values
    }

    /// The managed program as text.
    #[getter]
    fn text(&self) -> String {
        self.managed.program.to_string()
    }

    /// Rescales in a row from an input to an output, at most.
    #[getter]
    fn depth(&self) -> u32 {
        self.managed.summary.depth
    }

    /// Level at which inputs are encrypted.
    #[getter]
    fn input_level(&self) -> u32 {
        self.managed.summary.input_level.get()
    }

    /// The exact scale at which inputs are encrypted, as text.
    #[getter]
    fn input_scale(&self) -> String {
        let mut inputs = self.managed.program.inputs();
        let own = inputs.find_map(|(_, _, ty)| match ty {
            Type::Ct(t) => Some(t.scale.to_text()),
            _ => None,
        });
        own.unwrap_or_else(|| self.params.default_scale().to_text())
    }

    /// Level at which the first operation runs.
    #[getter]
    fn start_level(&self) -> u32 {
        self.managed.summary.start_level.get()
    }

    /// Level of the outputs: products that they still allow.
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

    /// Whether the encapsulation key is needed.
    #[getter]
    fn needs_encapsulation(&self) -> bool {
        self.managed.summary.keys.encapsulation
    }

    /// Where the program bootstraps, and why, one line each.
    #[getter]
    fn bootstraps(&self) -> Vec<String> {
        self.bootstraps.clone()
    }

    /// Rotations, in slots to the left, that need keys.
    #[getter]
    fn rotations(&self) -> Vec<usize> {
        self.managed.summary.keys.rotations.iter().copied().collect()
    }

    /// How many rotation keys it may take; `None` for as many as are fastest.
    #[getter]
    fn rotation_keys(&self) -> Option<usize> {
        self.rotation_keys
    }

    /// Bytes of the evaluation keys that it needs, expanded.
    #[getter]
    fn key_bytes(&self) -> u64 {
        self.managed.summary.key_bytes
    }

    /// Key switches that share another's decomposition.
    #[getter]
    fn hoisted(&self) -> usize {
        self.managed.summary.hoisted
    }

    /// Names of the encrypted inputs.
    #[getter]
    fn inputs(&self) -> Vec<String> {
        self.managed.program.inputs().map(|(_, name, _)| name.to_owned()).collect()
    }

    /// Names of the outputs.
    #[getter]
    fn outputs(&self) -> Vec<String> {
        self.managed.program.outputs().iter().map(|o| o.name.clone()).collect()
    }

    /// log2 of the predicted error of the worst slot of every output, for inputs of the greatest size, encrypted
    /// under the public key, with keys switched as `switching` says; exceeded with probability `failure`, 2^−20 unless
    /// told otherwise.
    #[pyo3(signature = (failure = ringmill_ckks::noise::FAILURE, switching = "hybrid"))]
    fn predicted_error(
        &self,
        #[pyo3(from_py_with = given)] failure: f64,
        #[pyo3(from_py_with = given)] switching: &str,
    ) -> PyResult<BTreeMap<String, f64>> {
        let method = switching::method_of(&self.params, switching)?;
        Ok(self.errors(failure, &|switch: &Switch| method(switch).layout())?)
    }

    /// What the program gives for vectors in the clear, all slots by output name.
    fn clear<'py>(
        &self,
        py: Python<'py>,
        arguments: BTreeMap<String, PyReadonlyArray1<'py, Complex64>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let mut vectors = Vectors::new();
        for (name, values) in arguments {
            vectors.insert(name, values.as_slice()?.to_vec());
        }
        let found = evaluate_clear(&self.managed.program, &vectors).map_err(|e| Failure::he(&e))?;
        let told = PyDict::new(py);
        for (name, values) in found {
            told.set_item(name, PyArray1::from_vec(py, values))?;
        }
        Ok(told)
    }

    /// What one run takes, by counting the limb program: `switching.rs`.
    #[pyo3(signature = (switching = "hybrid"))]
    fn work<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = given)] switching: &str,
    ) -> PyResult<Bound<'py, PyDict>> {
        switching::work(py, self, switching)
    }

    /// Level of every value, one after the other as the program runs, constants left out: level, operation, region.
    fn levels(&self) -> Vec<(u32, &'static str, Option<String>)> {
        let program = &self.managed.program;
        let region = |instr: &he::Instr| instr.region.map(|r| program.regions()[r.0 as usize].clone());
        let row = |(_, instr): (Value, &he::Instr)| match &instr.ty {
            Type::Ct(t) => Some((t.level.get(), instr.op.kind().word(), region(instr))),
            _ => None,
        };
        program.values().filter_map(row).collect()
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

    fn __repr__(&self) -> String {
        let (program, summary) = (&self.managed.program, &self.managed.summary);
        let names = |all: Vec<String>| if all.is_empty() { "nothing".into() } else { all.join(", ") };
        format!(
            "Plan({} → {}; {} instructions on {} slots, depth {}, levels {} to {}; {})",
            names(self.inputs()),
            names(self.outputs()),
            summary.counts.values().sum::<usize>(),
            program.slots(),
            summary.depth,
            summary.input_level,
            summary.output_level,
            self.params
        )
    }
}
