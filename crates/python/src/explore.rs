//! Exploring: a request as JSON in, an outcome as JSON out.

use std::path::PathBuf;
use std::sync::mpsc;

use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

use ringmill_explore::design::{Built, Fields, KernelSource};
use ringmill_explore::target::{self, TARGETS};
use ringmill_explore::{
    Constraints, Design, Device, ExploreError, Kernel, Outcome, Progress, Request, Space, Stop, Store,
    explore,
};
use ringmill_ring::lanes::Isa;

use crate::error::{Failure, Family};
use crate::executable::PATIENCE;

/// What Python asks for; `ringmill.explorer` says what each means.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    kernels: Vec<KernelSource>,
    target: String,
    device: String,
    mhz: Option<f64>,
    #[serde(rename = "wishes")]
    constraints: Constraints,
    space: serde_json::Value,
    seconds: f64,
    seed: u64,
    results: Option<PathBuf>,
}

impl Asked {
    fn request(self, stop: Stop) -> Result<(Request, Option<PathBuf>), ExploreError> {
        let target = target::named(&self.target)?;
        let mut device = Device::named(&self.device)?;
        if let Some(mhz) = self.mhz {
            if !(mhz > 0.0 && mhz.is_finite()) {
                return Err(ExploreError::NotPositive { what: "mhz", value: mhz });
            }
            device = device.at_mhz(mhz);
        }
        let kernels = self.kernels.iter().cloned().map(Kernel::new).collect::<Result<_, _>>()?;
        let Self { constraints, seconds, seed, results, .. } = self;
        let space = Space::read(target.row(), self.space)?;
        if seconds.is_nan() {
            return Err(ExploreError::NotPositive { what: "seconds", value: seconds });
        }
        Ok((Request { kernels, target, device, constraints, space, seconds, seed, stop }, results))
    }
}

/// Messages from the thread of a search to the calling thread.
enum Said {
    /// How far it is; it waits for whether to go on.
    Progress(Progress, mpsc::SyncSender<bool>),
    /// It is done.
    Found(Box<Result<Outcome, ExploreError>>),
}

/// Explores; `progress` is called with stage, simulations done, candidates open and the best so far, and returns whether
/// to go on. An interrupt ends the search with what it has; a second one does not wait for that.
#[pyfunction]
#[pyo3(signature = (request, progress = None))]
pub(crate) fn explore_designs(
    py: Python<'_>,
    request: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    // Chains without rings would count as chains that no kernel runs on.
    Isa::detect().map_err(|e| Failure::of(Family::Machine, &e))?;
    let asked: Asked = serde_json::from_str(request)
        .map_err(|e| Failure::explore(&ExploreError::DesignFile { why: e.to_string() }))?;
    let (stop, (sender, mut receiver)) = (Stop::default(), mpsc::channel());
    let theirs = stop.clone();
    std::thread::spawn(move || {
        let found = search(asked, theirs, &mut |p| ask(&sender, p));
        // The caller may have gone.
        let _ = sender.send(Said::Found(Box::new(found)));
    });
    loop {
        let waiting = &mut receiver;
        match py.detach(move || waiting.recv_timeout(PATIENCE)) {
            Ok(Said::Progress(reported, answer)) => {
                // A search that waits no more was stopped.
                let _ = answer.send(go_on(py, progress.as_ref(), &reported));
            }
            Ok(Said::Found(found)) => return json(&(*found).map_err(|e| Failure::explore(&e))?),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                let message = "the search stopped without a result; please report this";
                return Err(Failure::rule(Family::Explore, "Lost", message).into());
            }
        }
        if let Err(interrupt) = py.check_signals() {
            if stop.is_stopped() {
                return Err(interrupt);
            }
            stop.stop();
        }
    }
}

fn search(
    asked: Asked,
    stop: Stop,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Outcome, ExploreError> {
    let (request, results) = asked.request(stop)?;
    let mut store = results.map(|path| Store::open(&path, &request)).transpose()?;
    explore(&request, store.as_mut(), progress)
}

/// Asks the thread that waits whether to go on; not if nobody waits.
fn ask(sender: &mpsc::Sender<Said>, p: &Progress) -> bool {
    let (answer, answered) = mpsc::sync_channel(1);
    sender.send(Said::Progress(p.clone(), answer)).is_ok() && answered.recv().unwrap_or(false)
}

/// Whether the search goes on: not if the callback fails or says no.
fn go_on(py: Python<'_>, progress: Option<&Py<PyAny>>, p: &Progress) -> bool {
    let Some(f) = progress else { return true };
    f.call1(py, (p.stage, p.done, p.open, p.best)).and_then(|r| r.extract::<bool>(py)).unwrap_or(false)
}

fn json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value)
        .map_err(|e| Failure::explore(&ExploreError::DesignFile { why: e.to_string() }).into())
}

/// What can be explored, a row each, as JSON; the first is what is explored unless another is named.
#[pyfunction]
pub(crate) fn explore_targets() -> PyResult<String> {
    json(&TARGETS.map(|target| target.row()))
}

/// What a design says of its machine, by the names of its fields, as JSON: of the text of the machine and the JSON of what beside
/// it only its synthesis needs.
#[pyfunction]
pub(crate) fn machine_fields(machine: String, hardware: &str) -> PyResult<String> {
    let read = |why: serde_json::Error| ExploreError::DesignFile { why: why.to_string() };
    let fields = |hardware: Fields| {
        let built = Built { machine, hardware };
        target::named(built.target())?.fields(&built)
    };
    let hardware = serde_json::from_str(hardware).map_err(|e| Failure::explore(&read(e)))?;
    json(&fields(hardware).map_err(|e| Failure::explore(&e))?)
}

/// Every stored device as JSON.
#[pyfunction]
pub(crate) fn stored_devices() -> PyResult<String> {
    json(&Device::stored().map_err(|e| Failure::explore(&e))?)
}

/// Checks the text of a design and gives it back in its one form.
#[pyfunction]
pub(crate) fn check_design(text: &str) -> PyResult<String> {
    Ok(Design::from_json(text).map_err(|e| Failure::explore(&e))?.to_json())
}
