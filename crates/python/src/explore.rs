//! Exploring: a request as JSON in, an outcome as JSON out.

use std::path::PathBuf;

use pyo3::prelude::*;
use serde::Deserialize;

use ringmill_explore::design::KernelSource;
use ringmill_explore::{
    Design, Device, ExploreError, Kernel, Progress, Request, Space, Store, Wishes, explore,
};

use crate::error::Failure;

/// What Python asks for; `ringmill.explorer` says what each means.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    kernels: Vec<KernelSource>,
    device: String,
    mhz: Option<f64>,
    wishes: Wishes,
    space: Space,
    seconds: f64,
    seed: u64,
    results: Option<PathBuf>,
}

impl Asked {
    fn request(self) -> Result<(Request, Option<PathBuf>), ExploreError> {
        let mut device = Device::named(&self.device)?;
        if let Some(mhz) = self.mhz {
            if !(mhz > 0.0 && mhz.is_finite()) {
                return Err(ExploreError::NotPositive { what: "mhz", value: mhz });
            }
            device = device.at_mhz(mhz);
        }
        let kernels = self.kernels.iter().cloned().map(Kernel::new).collect::<Result<_, _>>()?;
        let Self { wishes, space, seconds, seed, results, .. } = self;
        if seconds.is_nan() {
            return Err(ExploreError::NotPositive { what: "seconds", value: seconds });
        }
        Ok((Request { kernels, device, wishes, space, seconds, seed }, results))
    }
}

/// Explores; `progress` is called with stage, simulations done, candidates open and the best so far, and returns whether
/// to go on. An interrupt ends the search with what it has.
#[pyfunction]
#[pyo3(signature = (request, progress = None))]
pub(crate) fn explore_designs(
    py: Python<'_>,
    request: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let asked: Asked = serde_json::from_str(request)
        .map_err(|e| Failure::explore(&ExploreError::DesignFile { why: e.to_string() }))?;
    let found = py.detach(|| {
        let (request, results) = asked.request()?;
        let mut store = results.map(|path| Store::open(&path, &request)).transpose()?;
        explore(&request, store.as_mut(), &mut |p| go_on(progress.as_ref(), p))
    });
    let outcome = found.map_err(|e| Failure::explore(&e))?;
    serde_json::to_string(&outcome)
        .map_err(|e| Failure::explore(&ExploreError::DesignFile { why: e.to_string() }).into())
}

/// Whether the search goes on: not after an interrupt, nor if the callback fails or says no.
fn go_on(progress: Option<&Py<PyAny>>, p: &Progress) -> bool {
    Python::attach(|py| {
        if py.check_signals().is_err() {
            return false;
        }
        let Some(f) = progress else { return true };
        f.call1(py, (p.stage, p.done, p.open, p.best)).and_then(|r| r.extract::<bool>(py)).unwrap_or(false)
    })
}

/// Every stored device as JSON.
#[pyfunction]
pub(crate) fn stored_devices() -> PyResult<String> {
    let all = Device::stored().map_err(|e| Failure::explore(&e))?;
    serde_json::to_string(&all)
        .map_err(|e| Failure::explore(&ExploreError::DesignFile { why: e.to_string() }).into())
}

/// Checks the text of a design and gives it back in its one form.
#[pyfunction]
pub(crate) fn check_design(text: &str) -> PyResult<String> {
    Ok(Design::from_json(text).map_err(|e| Failure::explore(&e))?.to_json())
}
