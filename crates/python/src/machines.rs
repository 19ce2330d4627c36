//! Machines by name, and what the CPU offers.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use pyo3::prelude::*;

use ringmill::Machine;
use ringmill_machine::Cpu;
use ringmill_program::cost::CostTable;
use ringmill_ring::Process;
use ringmill_ring::ceiling::Ceilings;
use ringmill_ring::lanes::Isa;

use crate::error::{Failure, Family};
use crate::executable::interruptible;

/// The machine of a name with so many threads, all cores if none are named, and butterflies; of a library, the
/// compact core that it simulates.
pub(crate) fn by_name(
    name: &str,
    threads: Option<usize>,
    butterflies: Option<u32>,
    library: Option<&std::path::Path>,
) -> Result<Arc<dyn Machine>, Failure> {
    if let Some(path) = library {
        return ringmill::simulated_machine(path, butterflies).map_err(|e| Failure::face(&e));
    }
    let all = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.unwrap_or_else(all);
    if name == "cpu" && butterflies.is_none() {
        return cpu(threads);
    }
    ringmill::machine_by_name(name, threads, butterflies).map_err(|e| Failure::face(&e))
}

/// What tells CPU machines apart: threads, which live in one process, and instruction set.
type CpuKind = (usize, Process, Isa);

/// The CPU machine that all kernels and evaluators with so many threads share: its threads, its tables and the memory of its
/// runs. It goes with the last of them.
fn cpu(threads: usize) -> Result<Arc<dyn Machine>, Failure> {
    static SHARED: LazyLock<Mutex<HashMap<CpuKind, Weak<dyn Machine>>>> = LazyLock::new(Mutex::default);
    let isa = Isa::detect().map_err(|e| Failure::of(Family::Machine, &e))?;
    let kind = (threads, Process::current(), isa);
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(machine) = shared.get(&kind).and_then(Weak::upgrade) {
        return Ok(machine);
    }
    let machine = ringmill::cpu_machine(threads).map_err(|e| Failure::face(&e))?;
    shared.retain(|_, machine| machine.strong_count() > 0);
    shared.insert(kind, Arc::downgrade(&machine));
    Ok(machine)
}

/// The instruction set that kernels use here: detected, or chosen by RINGMILL_ISA.
#[pyfunction]
pub(crate) fn isa() -> PyResult<String> {
    let isa = Isa::detect().map_err(|e| Failure::of(Family::Machine, &e))?;
    Ok(isa.to_string())
}

/// A cost file, and what was timed for it: name, milliseconds, what the costs say.
type Calibration = (String, Vec<(String, f64, f64)>);

/// The CPU's costs at degrees 2^`log_n`, as the text of a cost file; and for each key switch that was timed its name,
/// milliseconds, and what the costs say of it.
#[pyfunction]
#[pyo3(signature = (log_n, name))]
pub(crate) fn calibrate(py: Python<'_>, log_n: Vec<u32>, name: &str) -> PyResult<Calibration> {
    let name = name.to_owned();
    interruptible(py, move || measured(&log_n, &name))
}

fn measured(log_n: &[u32], name: &str) -> Result<Calibration, Failure> {
    let machine = Cpu::new().map_err(|e| Failure::of(Family::Machine, &e))?;
    let (mut all, mut timed) = (Vec::new(), Vec::new());
    for &log_n in log_n {
        let (rates, samples) = ringmill_machine::calibrate::calibrate(&machine, log_n)
            .map_err(|e| Failure::of(Family::Machine, &e))?;
        let table = CostTable::new(name, vec![rates]).map_err(|e| Failure::of(Family::Machine, &e))?;
        timed.extend(samples.iter().map(|sample| {
            let told = table.nanoseconds(&sample.work, log_n) / 1e6;
            (format!("2^{log_n}: {}", sample.name), sample.time.as_secs_f64() * 1e3, told)
        }));
        all.push(rates);
    }
    let table = CostTable::new(name, all).map_err(|e| Failure::of(Family::Machine, &e))?;
    Ok((table.to_string(), timed))
}

/// What one core can do at most: words multiplied a second, bytes read from memory a second.
#[pyfunction]
pub(crate) fn ceilings(py: Python<'_>) -> PyResult<(f64, f64)> {
    let found = py.detach(|| Isa::detect().and_then(Ceilings::measure));
    let found = found.map_err(|e| Failure::of(Family::Machine, &e))?;
    Ok((found.multiplications, found.bytes))
}

/// Where the engine looks for the costs of this machine; none without a home.
#[pyfunction]
pub(crate) fn costs_path() -> Option<std::path::PathBuf> {
    ringmill::costs_path()
}
