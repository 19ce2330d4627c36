//! `Executable`: a managed program, lowered for a machine.

use std::collections::BTreeMap;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use ringmill::machine::Watch;
use ringmill::{Evaluator, Input, Kernel, Stated};
use ringmill_machine::cpu::profile::{Kind, Profile, Spent};
use ringmill_machine::{Cpu, Machine, Ordered};
use ringmill_program::manage::Managed;

use crate::argument::{Arg, Told, given};
use crate::cipher::Ciphertext;
use crate::error::{Failure, Family};
use crate::evaluation::EvaluationKeys;
use crate::machines::{self, Named};
use crate::outside::Outside;
use crate::plan::Plan;
use crate::switching;
use crate::traffic;

/// How often a waiting call looks whether it was interrupted.
pub(crate) const PATIENCE: Duration = Duration::from_millis(50);

/// How long an interrupted call waits for a run that was asked to stop: the longest task takes less.
const GRACE: Duration = Duration::from_secs(2);

/// Does `work` in a thread of its own while the caller's thread stays open to Ctrl-C. An interrupted call returns at
/// once; what the thread still computes, which is no more than a plan or a program, is dropped.
pub(crate) fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    attended(py, Duration::ZERO, None, |_| work())
}

/// Like [`interruptible`], for work that ends soon after it is asked to stop: an interrupted call asks it and
/// waits for that end. `reported` is called periodically with the progress, as (steps done, all steps), and at
/// the end, when all steps are done; an exception of it also ends the call.
pub(crate) fn stoppable<T: Send + 'static>(
    py: Python<'_>,
    reported: Option<Py<PyAny>>,
    work: impl FnOnce(&Watch) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    attended(py, GRACE, reported, work)
}

fn attended<T: Send + 'static>(
    py: Python<'_>,
    grace: Duration,
    reported: Option<Py<PyAny>>,
    work: impl FnOnce(&Watch) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    let (sender, mut receiver) = mpsc::channel();
    let watch = Arc::new(Watch::default());
    let theirs = watch.clone();
    let tell = || reported.as_ref().map_or(Ok(()), |reported| reported.call1(py, watch.progress()).map(drop));
    std::thread::spawn(move || sender.send(work(&theirs)));
    loop {
        let waiting = &mut receiver;
        match py.detach(move || waiting.recv_timeout(PATIENCE)) {
            Ok(outcome) => {
                let outcome = outcome?;
                tell()?;
                return Ok(outcome);
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {
                if let Err(interrupt) = py.check_signals().and_then(|()| tell()) {
                    watch.stop();
                    let waiting = &mut receiver;
                    // Neither results that arrive in time nor the error that there are no results is needed
                    // any more.
                    let _ = py.detach(move || waiting.recv_timeout(grace));
                    return Err(interrupt);
                }
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                let message = "the computation stopped without a result; please report this";
                return Err(Failure::rule(Family::Machine, "Stopped", message).into());
            }
        }
    }
}

/// What a result states that may be off by 2^`error_log2` and has slots up to `magnitude`: log2 of its error, and its bound.
#[pyfunction]
pub(crate) fn stated(precision: u32, error_log2: f64, magnitude: f64) -> (f64, f64) {
    let (error, magnitude) = Stated::promised(Some(precision), error_log2.exp2(), magnitude);
    (error.log2(), magnitude)
}

/// A program and what is promised of its values and results.
struct Promised {
    managed: Managed,
    bounds: Vec<f64>,
    real: bool,
    stated: Stated,
}

impl Promised {
    fn of(plan: &Plan, precision: Option<u32>) -> Self {
        // Without a promise the numbers of the program are public.
        let encryption = plan.promise.encryption;
        let promised = |bits| Stated::Promise { bits: Some(bits), encryption };
        let stated = precision.map_or(Stated::Prediction, promised);
        let managed = plan.managed.clone();
        Self { managed, bounds: plan.bounds(), real: plan.promise.real, stated }
    }

    fn kernel(self, evaluator: &Evaluator) -> Result<Kernel, Failure> {
        let kernel = Kernel::new(evaluator, self.managed).map_err(|e| Failure::face(&e))?;
        Ok(kernel.with_bounds(self.bounds, self.real).stating(self.stated))
    }
}

/// A program lowered for one machine; holds no key.
#[pyclass(frozen, module = "ringmill._native")]
pub(crate) struct Executable {
    kernel: Arc<Kernel>,
    machine: String,
    /// What runs took, if they are timed.
    profile: Option<Arc<Profile>>,
}

#[pymethods]
impl Executable {
    /// Lowers a plan for a machine and encodes its constants.
    #[new]
    #[pyo3(signature = (plan, machine = None, switching = "hybrid", precision = None, capacity = None))]
    fn new(
        py: Python<'_>,
        plan: Arg<Bound<'_, Plan>>,
        machine: Option<Arg<Named>>,
        #[pyo3(from_py_with = given)] switching: &str,
        precision: Option<u32>,
        capacity: Option<(u64, bool)>,
    ) -> PyResult<Self> {
        let plan = plan.get();
        let (params, promised) = (plan.params.clone(), Promised::of(plan, precision));
        let spec = machine.map_or_else(|| Named::Text("cpu".into()), |named| named.0).spec()?;
        let word = switching.to_owned();
        let asked = spec.clone();
        let kernel = interruptible(py, move || {
            let machine = machines::open(&asked)?;
            let machine: Arc<dyn Machine> = match capacity {
                Some(held) => Arc::new(Ordered::new(machine, traffic::capacity(held), true)),
                None => machine,
            };
            promised.kernel(&switching::evaluator(&params, machine, &word)?)
        })?;
        Ok(Self { kernel: Arc::new(kernel), machine: spec.to_string(), profile: None })
    }

    /// Lowers a plan for a machine that is a Python function: `outside.rs`.
    #[staticmethod]
    #[pyo3(signature = (plan, run, precision = None))]
    fn through(
        py: Python<'_>,
        plan: Arg<Bound<'_, Plan>>,
        run: Py<PyAny>,
        precision: Option<u32>,
    ) -> PyResult<Self> {
        let plan = plan.get();
        let (params, promised) = (plan.params.clone(), Promised::of(plan, precision));
        let kernel = interruptible(py, move || {
            let machine = Arc::new(Outside::new(run));
            promised.kernel(&Evaluator::with_machine(&params, machine).map_err(|e| Failure::face(&e))?)
        })?;
        Ok(Self { kernel: Arc::new(kernel), machine: "outside".to_owned(), profile: None })
    }

    /// Lowers a plan for the CPU machine, one thread, which times every step.
    #[staticmethod]
    #[pyo3(signature = (plan, switching = "hybrid"))]
    fn profiled(py: Python<'_>, plan: Arg<Bound<'_, Plan>>, switching: &str) -> PyResult<Self> {
        let plan = plan.get();
        let (params, promised) = (plan.params.clone(), Promised::of(plan, None));
        let word = switching.to_owned();
        let profile = Arc::new(Profile::default());
        let watched = profile.clone();
        let kernel = interruptible(py, move || {
            let machine = Cpu::new().map_err(|e| Failure::of(Family::Machine, &e))?.profiled(watched);
            promised.kernel(&switching::evaluator(&params, Arc::new(machine), &word)?)
        })?;
        Ok(Self { kernel: Arc::new(kernel), machine: "cpu".to_owned(), profile: Some(profile) })
    }

    /// What a run took, by kind, each shape of step as in the run that took it the least: name, kernel calls, seconds, bytes, words multiplied; and forgets it. Empty unless
    /// made by `profiled`.
    fn spent(&self) -> Vec<(&'static str, u64, f64, u64, u64)> {
        let Some(profile) = &self.profile else { return Vec::new() };
        let kinds = profile.by_kind();
        profile.reset();
        let row = |(kind, spent): (Kind, Spent)| {
            (kind.name(), spent.steps, spent.time.as_secs_f64(), spent.bytes, spent.multiplications)
        };
        kinds.into_iter().map(row).collect()
    }

    /// Runs on ciphertexts by the names of the program's inputs; returns ciphertexts by the names of its
    /// outputs. Long runs call `progress` periodically with the steps that the machine has done and all
    /// steps; both are 0 on a machine that does not count steps.
    #[pyo3(signature = (inputs, keys, progress = None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        inputs: BTreeMap<String, Py<Ciphertext>>,
        keys: Arg<Bound<'py, EvaluationKeys>>,
        progress: Option<Arg<Told>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (kernel, keys) = (self.kernel.clone(), keys.get().0.clone());
        let whole: Vec<_> = inputs.into_iter().map(|(name, c)| (name, c.get().full().clone())).collect();
        let results = stoppable(py, progress.map(|reported| reported.0.0), move |watch| {
            let inputs = whole.iter().map(|(name, c)| (name.clone(), Input::Cipher(c))).collect();
            kernel
                .run_watched(&inputs, &keys, watch)
                .map_err(|e| Failure::face(&e).all_keys("the kernel's own keygen()"))
        })?;
        let outputs = PyDict::new(py);
        for (name, cipher) in results {
            outputs.set_item(name, Ciphertext::from(cipher))?;
        }
        Ok(outputs)
    }

    /// The machine that it is lowered for, as text.
    #[getter]
    fn machine(&self) -> &str {
        &self.machine
    }

    /// Instructions of the limb program that the machine runs.
    #[getter]
    fn limb_instructions(&self) -> usize {
        self.kernel.limb_program().instructions().len()
    }
}
