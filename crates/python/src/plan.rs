//! `Plan`: a traced program, managed for parameters.

use std::collections::BTreeMap;
use std::ops::Deref;

use num_complex::Complex64;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use ringmill::PlanOptions;
use ringmill_ckks::{Level, Secret};
use ringmill_program::he::{self, Type, Value, Vectors, evaluate_clear};
use ringmill_program::lower::Switch;
use ringmill_program::manage::{Accuracy, Encryption, Promise};

use crate::argument::{Arg, given};
use crate::error::{Failure, Family};
use crate::estimate;
use crate::executable::interruptible;
use crate::machines::Named;
use crate::params::Params;
use crate::programs::{self, LimbProgram};
use crate::switching::{self, Costs};
use crate::traffic;

/// A program with its parameters, every value with its level and exact scale: what machines run. Holds no key and no input.
#[pyclass(frozen, module = "ringmill._native")]
pub(crate) struct Plan(ringmill::Plan);

impl Deref for Plan {
    type Target = ringmill::Plan;

    fn deref(&self) -> &ringmill::Plan {
        &self.0
    }
}

fn encryption_of(name: &str) -> PyResult<Encryption> {
    let refused = || {
        let names = Encryption::ALL.map(Encryption::name).join(", ");
        Failure::rule(
            Family::Parameter,
            "Encryption",
            &format!("the argument encryption is {name:?}; give one of {names}"),
        )
    };
    Ok(Encryption::by_name(name).ok_or_else(refused)?)
}

#[pymethods]
impl Plan {
    /// Chooses the smallest parameters for a program's depth and the accuracy wanted of its results; of those that bootstrap if
    /// it asks for that or no others do.
    #[staticmethod]
    #[pyo3(signature = (text, precision, magnitude, bound, real, security, rotation_keys = None, encryption = "public", word = None))]
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
        encryption: &str,
        word: Option<u32>,
    ) -> PyResult<Self> {
        let want = Accuracy {
            bits: precision,
            inputs: Some(magnitude),
            real,
            magnitude: bound,
            security,
            secret: Secret::Ternary,
            rotation_keys,
            encryption: encryption_of(encryption)?,
            word,
        };
        let text = text.to_owned();
        interruptible(py, move || {
            let traced = he::parse(&text).map_err(|e| Failure::he(&e))?;
            ringmill::Plan::choose(&traced, &want).map(Self).map_err(|e| Failure::face(&e))
        })
    }

    /// Manages a program for given parameters; its outputs at `output_level` or above, what holds them if None; with
    /// `rotation_keys` at most, as many as are fastest if None.
    #[staticmethod]
    #[pyo3(
        signature = (text, params, magnitude, bound, real, output_level = None, rotation_keys = None, encryption = "public")
    )]
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
        encryption: &str,
    ) -> PyResult<Self> {
        let params = params.get().inner.clone();
        // Run-time plaintexts are as large as inputs.
        let encryption = encryption_of(encryption)?;
        let promise = Promise { inputs: magnitude, plain: magnitude, values: bound, real, encryption };
        let options = PlanOptions {
            output_level: output_level.map(Level::new),
            rotation_keys,
            ..PlanOptions::default()
        };
        let text = text.to_owned();
        interruptible(py, move || {
            let traced = he::parse(&text).map_err(|e| Failure::he(&e))?;
            let plan = ringmill::Plan::with_params(&traced, &params, promise, &options);
            plan.map(Self).map_err(|e| Failure::face(&e))
        })
    }

    /// The parameters that it is managed for.
    #[getter]
    fn params(&self) -> Params {
        Params::with_rationale(self.0.params.clone(), self.0.rationale.clone())
    }

    /// Why these parameters were chosen; `None` for parameters that were given.
    #[getter]
    fn rationale(&self) -> Option<&str> {
        self.0.rationale.as_deref()
    }

    /// How inputs are encrypted: "public", "undivided" or "secret".
    #[getter]
    fn encryption(&self) -> &'static str {
        self.promise.encryption.name()
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
        self.0.bootstraps.iter().map(ToString::to_string).collect()
    }

    /// Rotations, in slots to the left, that need keys.
    #[getter]
    fn rotations(&self) -> Vec<usize> {
        self.managed.summary.keys.rotations.iter().copied().collect()
    }

    /// How many rotation keys it may take; `None` for as many as are fastest.
    #[getter]
    fn rotation_keys(&self) -> Option<usize> {
        self.0.rotation_keys
    }

    /// Bytes of the evaluation keys that it needs, every residue a word.
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

    /// A bound on the size of every slot of each output, by its name, for arguments within their bounds. It follows from the
    /// numbers that the program holds; results do not carry it.
    #[getter]
    fn output_bounds(&self) -> BTreeMap<String, f64> {
        let bounds = self.0.bounds();
        let row = |o: &he::Output| (o.name.clone(), bounds[o.value.index()]);
        self.managed.program.outputs().iter().map(row).collect()
    }

    /// log2 of the predicted error of the worst slot of every output. Assumes inputs of the greatest size,
    /// encrypted as `encryption` says, and the key-switching method `switching`. Exceeded with
    /// probability `failure`, by default 2^−20.
    #[pyo3(signature = (failure = ringmill_ckks::noise::FAILURE, switching = "hybrid"))]
    fn predicted_error(
        &self,
        #[pyo3(from_py_with = given)] failure: f64,
        #[pyo3(from_py_with = given)] switching: &str,
    ) -> PyResult<BTreeMap<String, f64>> {
        if !(failure > 0.0 && failure < 1.0) {
            let message = format!("the argument failure is {failure:?}; give a probability between 0 and 1");
            return Err(Failure::rule(Family::Parameter, "Probability", &message).into());
        }
        let method =
            switching::method_of((&self.params, &self.managed.program), switching, &switching::costs()?)?;
        let manners = |switch: &Switch| method(switch).manner();
        Ok(self.errors(failure, &manners).map_err(|e| Failure::face(&e))?)
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
        let reported = PyDict::new(py);
        for (name, values) in found {
            reported.set_item(name, PyArray1::from_vec(py, values))?;
        }
        Ok(reported)
    }

    /// What one run takes on a machine of such costs, by counting the limb program: `switching.rs`.
    fn work<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = given)] switching: &str,
        costs: Arg<Bound<'py, Costs>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        switching::work(py, self, switching, &costs.get().inner)
    }

    /// What one run moves over the edge of a chip of a capacity, in limbs or in bytes, as it is or in a better order: `traffic.rs`.
    #[allow(clippy::too_many_arguments)] // the facade in Python names them
    fn traffic<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = given)] switching: &str,
        costs: Arg<Bound<'py, Costs>>,
        amount: u64,
        in_bytes: bool,
        seeded: bool,
        by_cost: bool,
        reorder: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let asked = traffic::Asked::new(amount, in_bytes, seeded, by_cost, reorder);
        traffic::of_plan(py, self, switching, costs.get(), asked)
    }

    /// The estimated time of one run on a machine, without running it: `estimate.rs`.
    #[pyo3(signature = (switching, machine, capacity = None))]
    fn estimate<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = given)] switching: &str,
        machine: Arg<Named>,
        capacity: Option<(u64, bool)>,
    ) -> PyResult<Bound<'py, PyDict>> {
        estimate::of_plan(py, self, switching, machine.0, capacity.map(traffic::capacity))
    }

    /// The limb program that a machine is given, as text.
    fn limb_program(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = given)] switching: &str,
        machine: Arg<Named>,
    ) -> PyResult<String> {
        estimate::text_of_plan(py, self, switching, machine.0)
    }

    /// The limb program that a machine is given; with a capacity, in the way that moves fewest bytes over the edge of such a chip,
    /// and the ways that were counted.
    #[pyo3(signature = (switching, machine, capacity = None))]
    fn lowered<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = given)] switching: &str,
        machine: Arg<Named>,
        capacity: Option<(u64, bool)>,
    ) -> PyResult<(LimbProgram, Vec<Bound<'py, PyDict>>)> {
        estimate::of_plan_lowered(py, self, switching, machine.0, capacity.map(traffic::capacity))
    }

    /// The managed program as text without its vectors, and the file of tables that holds them.
    fn apart<'py>(&self, py: Python<'py>) -> PyResult<(String, Bound<'py, PyBytes>)> {
        let program = self.managed.program.clone();
        let (text, bytes) = interruptible(py, move || programs::apart(&program))?;
        Ok((text, PyBytes::new(py, &bytes)))
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
