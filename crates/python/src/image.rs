//! `CoreImage`: all that a compact core needs for one program, and test vectors for it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use num_complex::Complex64;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use ringmill::machine::compact::model::{Timing, simulate, simulate_again};
use ringmill::machine::compact::parameters::{CoreParameter, PARAMETERS};
use ringmill::machine::compact::{
    self, Compact, CompactConfig, CompactError, CompactLiteral, Instruction, Policy, TableEntry,
};
use ringmill::machine::parameter::Value;
use ringmill::machine::{Executable, Machine, MachineError, Reference};
use ringmill::{Declared, Evaluator, Input, Inputs, Kernel};
use ringmill_ckks::{KeyGenerator, Randomness};
use ringmill_program::limb::LimbProgram;
use ringmill_program::lower::lower;
use ringmill_program::manage::Managed;
use ringmill_ring::sample::SecretSeed;

use crate::codec;
use crate::compact::{Span, spans};
use crate::error::{Failure, Family};
use crate::machines;
use crate::plan::Plan;
use crate::whole::shown;

/// One input or output limb: group, limb of the group, class, modulus, stored times 2^R, address.
type Place = (String, usize, String, usize, bool, u64);

/// Input limbs in the order of the limb program, the reference machine's output limbs, decrypted slots by name.
type Vectors<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyDict>);

/// Instructions, memory layout and modulus table of one program on one core.
#[pyclass(frozen, module = "ringmill._native")]
pub(crate) struct CoreImage {
    params: ringmill_ckks::Params,
    managed: Managed,
    config: CompactConfig,
    program: LimbProgram,
    plan: compact::Plan,
    timing: Timing,
    first_cycles: u64,
}

fn failure(error: &compact::CompactError) -> Failure {
    Failure::of(Family::Machine, error)
}

/// A `ringmill.project.Core`, as far as programs and their cycles depend on it: of each parameter what was given, and that as Python
/// writes it.
pub(crate) struct Core(Vec<(Option<Value>, String)>);

impl<'py> FromPyObject<'_, 'py> for Core {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let field = |p: &CoreParameter| {
            let given = given.getattr(p.parameter.field)?;
            Ok((machines::plain(&given), shown(&given)))
        };
        Ok(Self(PARAMETERS.into_iter().map(field).collect::<PyResult<_>>()?))
    }
}

impl Core {
    /// The configuration, if such a core can be built.
    pub(crate) fn config(self) -> Result<CompactConfig, Failure> {
        let mut literal = CompactLiteral::default();
        for (p, (given, shown)) in PARAMETERS.into_iter().zip(self.0) {
            let (name, allowed) = (p.parameter.field, p.parameter.allowed);
            let given = given.filter(|given| allowed.check(given).is_ok());
            let refused = || CompactError::Parameter { name, value: shown, allowed: allowed.to_string() };
            (p.set)(&mut literal, &given.ok_or_else(refused).map_err(|e| failure(&e))?);
        }
        literal.build().map_err(|e| failure(&e))
    }
}

/// CASA's own sequence does not decrypt and is none of them.
pub(crate) fn policy(name: &str) -> Result<Policy, Failure> {
    Policy::by_name(name).ok_or_else(|| {
        let message =
            format!("no policy {name:?}; there are {}", Policy::RUNNABLE.map(Policy::name).join(", "));
        Failure::rule(Family::Machine, "UnknownPolicy", &message)
    })
}

#[pymethods]
impl CoreImage {
    /// Lowers and schedules a plan for a core.
    #[new]
    #[pyo3(signature = (plan, core, *, policy="throughput", effort=8000))]
    fn new(
        py: Python<'_>,
        plan: &Bound<'_, Plan>,
        core: Core,
        policy: &str,
        effort: usize,
    ) -> PyResult<Self> {
        let (policy, config) = (self::policy(policy)?, core.config()?);
        let (params, managed) = (plan.get().params.clone(), plan.get().managed.clone());
        py.detach(|| {
            let lowered = lower(&managed.program).map_err(|e| Failure::of(Family::Program, &e))?;
            let program = lowered.program;
            let machine = Compact::emulated(config).with_effort(effort).with_policy(policy);
            let plan = machine.plan(&program).map_err(|e| failure(&e))?;
            let first = simulate(&config, program.log_n(), &plan.instructions).map_err(|e| failure(&e))?;
            let again =
                simulate_again(&config, program.log_n(), &plan.instructions).map_err(|e| failure(&e))?;
            let first_cycles = first.counters.cycles;
            Ok(Self { params, managed, config, program, plan, timing: again, first_cycles })
        })
    }

    /// The instruction stream, 32 bytes each, little-endian.
    #[getter]
    fn instructions<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let words = self.plan.instructions.iter().flat_map(Instruction::encode);
        PyBytes::new(py, &words.flat_map(u64::to_le_bytes).collect::<Vec<u8>>())
    }

    /// The instructions as text, one a line.
    #[getter]
    fn listing(&self) -> String {
        self.plan.instructions.iter().map(|i| format!("{i}\n")).collect()
    }

    /// The limb program as text.
    #[getter]
    fn limb_program(&self) -> String {
        self.program.to_string()
    }

    /// Cycles of a run by the cycle model, when the core has run this program before.
    #[getter]
    fn cycles(&self) -> u64 {
        self.timing.counters.cycles
    }

    /// Cycles of the first run, which finds no roots in the transform units.
    #[getter]
    fn first_cycles(&self) -> u64 {
        self.first_cycles
    }

    /// Cycles of one transform if nothing were lost.
    #[getter]
    fn slot(&self) -> u64 {
        self.config.slot(self.program.log_n())
    }

    /// What every unit does when: (unit, instruction, first cycle, last cycle).
    #[getter]
    fn spans(&self) -> Vec<Span> {
        spans(&self.plan, &self.timing.spans)
    }

    /// log2 of the ring degree N.
    #[getter]
    fn log_n(&self) -> u32 {
        self.program.log_n()
    }

    /// Byte address of the instructions.
    #[getter]
    fn address(&self) -> u64 {
        self.plan.program
    }

    /// Bytes of memory that the program uses.
    #[getter]
    fn memory(&self) -> u64 {
        self.plan.bytes
    }

    /// R: what the core stores as a factor carries 2^R.
    #[getter]
    fn factor_bits(&self) -> u32 {
        self.config.factor_bits()
    }

    /// The number of the multiplier in the register VARIANT.
    #[getter]
    fn kind(&self) -> u32 {
        self.config.multiplier().code()
    }

    /// The modulus table: q, aux, then the roots of the stages.
    #[getter]
    fn table(&self) -> PyResult<Vec<Vec<u64>>> {
        let entry = |m: &ringmill_program::limb::NamedModulus| {
            let entry = TableEntry::new(&self.config, m.modulus, self.program.log_n());
            entry.map(|e| e.fields().collect()).map_err(|e| failure(&e).into())
        };
        self.program.moduli().iter().map(entry).collect()
    }

    /// Number of input limbs of the limb program.
    #[getter]
    fn input_limbs(&self) -> usize {
        self.program.input_types().len()
    }

    /// The copies of input limbs in memory: (number of the limb, its place). A limb that is a factor as well as a term
    /// has two; one that is never read has none.
    #[getter]
    fn inputs(&self) -> Vec<(u32, Place)> {
        let place = |slot: &compact::plan::InputSlot| {
            let group = self.program.input_group(ringmill_program::limb::InputId(slot.input));
            let limb = (slot.input - group.first.0) as usize;
            let class = group.class.name().to_owned();
            let modulus = group.moduli[limb].index();
            (slot.input, (group.name.clone(), limb, class, modulus, slot.scaled, slot.address))
        };
        self.plan.inputs.iter().map(place).collect()
    }

    /// The output limbs in order.
    #[getter]
    fn outputs(&self) -> Vec<Place> {
        let groups = self.program.outputs().iter();
        let limbs = groups.flat_map(|g| g.moduli.iter().enumerate().map(move |(i, m)| (g, i, m.index())));
        let places = limbs.zip(&self.plan.outputs);
        places.map(|((g, i, m), &at)| (g.name.clone(), i, "result".into(), m, false, at)).collect()
    }

    /// What one run takes and gives, from keys and encryptions drawn from a seed: for tests only, since who knows the
    /// seed knows the secret key. Encrypts `arguments`, slots by input name, and runs the reference machine.
    fn vectors<'py>(
        &self,
        py: Python<'py>,
        arguments: BTreeMap<String, PyReadonlyArray1<'py, Complex64>>,
        seed: [u8; 32],
    ) -> PyResult<Vectors<'py>> {
        let mut slots = BTreeMap::new();
        for (name, values) in arguments {
            slots.insert(name, values.as_slice()?.to_vec());
        }
        let (record, results) = py.detach(|| self.record(&slots, seed))?;
        let decrypted = PyDict::new(py);
        for (name, values) in results {
            decrypted.set_item(name, PyArray1::from_vec(py, values))?;
        }
        Ok((PyBytes::new(py, &record.inputs), PyBytes::new(py, &record.outputs), decrypted))
    }

    /// The output limbs of an emulated core with this image, for input limbs as `vectors` gives them.
    fn emulate<'py>(&self, py: Python<'py>, inputs: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let outputs = py.detach(|| self.emulated(inputs))?;
        Ok(PyBytes::new(py, &outputs))
    }
}

impl CoreImage {
    fn emulated(&self, inputs: &[u8]) -> Result<Vec<u8>, Failure> {
        let (limb, count) = (8 * self.program.n(), self.program.input_types().len());
        if inputs.len() != limb * count {
            let found = inputs.len();
            let message =
                format!("{found} bytes are no inputs of this image: {count} limbs of {limb} bytes each");
            return Err(Failure::rule(Family::Machine, "Inputs", &message));
        }
        let words: Vec<u64> =
            inputs.chunks_exact(8).map(|b| u64::from_le_bytes(b.try_into().expect("eight bytes"))).collect();
        let given: Vec<&[u64]> = words.chunks_exact(self.program.n()).collect();
        let mut out = vec![vec![0; self.program.n()]; self.program.output_types().len()];
        let mut outputs: Vec<&mut [u64]> = out.iter_mut().map(Vec::as_mut_slice).collect();
        let core = Compact::emulated(self.config).load_plan(&self.program, self.plan.clone());
        let run = core.map_err(|e| failure(&e))?.run(&given, &mut outputs);
        run.map_err(|e| Failure::of(Family::Machine, &e))?;
        Ok(out.into_iter().flatten().flat_map(u64::to_le_bytes).collect())
    }

    fn record(
        &self,
        arguments: &BTreeMap<String, Vec<Complex64>>,
        seed: [u8; 32],
    ) -> Result<(Record, BTreeMap<String, Vec<Complex64>>), Failure> {
        let kept = Arc::new(Mutex::new(Record::default()));
        let machine = Arc::new(Recorder { kept: kept.clone() });
        let evaluator = Evaluator::with_machine(&self.params, machine).map_err(|e| Failure::face(&e))?;
        let kernel = Kernel::new(&evaluator, self.managed.clone()).map_err(|e| Failure::face(&e))?;

        let mut randomness = Randomness::from_seed(SecretSeed::from_bytes(seed));
        let drawn = Randomness::from_seed(SecretSeed::from_bytes(seed));
        let mut generator = KeyGenerator::with_randomness(&self.params, drawn);
        let secret = generator.secret_key().map_err(|e| Failure::ckks(&e))?;
        let needs = &self.managed.summary.keys;
        let rotations: Vec<i64> = needs.rotations.iter().map(|&k| k as i64).collect();
        let keys =
            generator.evaluation_keys(&secret, &rotations, needs.conjugate).map_err(|e| Failure::ckks(&e))?;

        let mut ciphers = BTreeMap::new();
        for (name, level, scale) in kernel.cipher_inputs() {
            let Some(values) = arguments.get(name) else {
                let message = format!("no values for input {name:?} of the program");
                return Err(Failure::rule(Family::Program, "MissingInput", &message));
            };
            let slots = kernel.program().slots();
            let real = codec::real(values);
            // Vectors of a self-test are public.
            let declared = Declared::bound(values.iter().map(|z| z.norm()).fold(1.0, f64::max));
            let values = codec::slots(values, real.as_deref());
            let plain = evaluator
                .encode_within(values, declared, slots, level, scale)
                .map_err(|e| Failure::face(&e))?;
            let cipher = secret.encrypt(&plain, &mut randomness).map_err(|e| Failure::ckks(&e))?;
            ciphers.insert(name.to_owned(), cipher);
        }
        let inputs: Inputs<'_> = ciphers.iter().map(|(n, c)| (n.clone(), Input::Cipher(c))).collect();
        let outputs = kernel.run(&inputs, &keys).map_err(|e| Failure::face(&e))?;
        let mut results = BTreeMap::new();
        for (name, cipher) in outputs {
            let plain = secret.decrypt(&cipher).map_err(|e| Failure::ckks(&e))?;
            results.insert(name, evaluator.decode(&plain).map_err(|e| Failure::face(&e))?);
        }
        let record = std::mem::take(&mut *kept.lock().unwrap_or_else(PoisonError::into_inner));
        Ok((record, results))
    }
}

/// Limbs, little-endian words one after the other.
#[derive(Default)]
struct Record {
    inputs: Vec<u8>,
    outputs: Vec<u8>,
}

/// The reference machine, which keeps what its last run took and gave.
struct Recorder {
    kept: Arc<Mutex<Record>>,
}

struct Recording {
    inner: Box<dyn Executable>,
    kept: Arc<Mutex<Record>>,
}

impl Machine for Recorder {
    fn name(&self) -> &str {
        "reference"
    }

    fn prepare(&self, program: &LimbProgram) -> Result<Box<dyn Executable>, MachineError> {
        let inner = Reference.prepare(program)?;
        Ok(Box::new(Recording { inner, kept: self.kept.clone() }))
    }
}

impl Executable for Recording {
    fn program(&self) -> &LimbProgram {
        self.inner.program()
    }

    fn run(&self, inputs: &[&[u64]], outputs: &mut [&mut [u64]]) -> Result<(), MachineError> {
        self.inner.run(inputs, outputs)?;
        let bytes = |limb: &[u64]| limb.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.inputs = inputs.iter().flat_map(|limb| bytes(limb)).collect();
        kept.outputs = outputs.iter().flat_map(|limb| bytes(limb)).collect();
        Ok(())
    }
}
