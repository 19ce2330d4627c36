//! Machines by name, and what the CPU offers.

use std::sync::Arc;

use pyo3::prelude::*;

use ringmill::Machine;
use ringmill_ring::lanes::Isa;

use crate::error::{Failure, Family};

/// The machine of a name with so many threads, all cores if none are named, and butterflies.
pub(crate) fn by_name(
    name: &str,
    threads: Option<usize>,
    butterflies: Option<u32>,
) -> Result<Arc<dyn Machine>, Failure> {
    let all = || std::thread::available_parallelism().map_or(1, usize::from);
    ringmill::machine_by_name(name, threads.unwrap_or_else(all), butterflies).map_err(|e| Failure::face(&e))
}

/// The instruction set that kernels use here: detected, or chosen by RINGMILL_ISA.
#[pyfunction]
pub(crate) fn isa() -> PyResult<String> {
    let isa = Isa::detect().map_err(|e| Failure::of(Family::Machine, &e))?;
    Ok(isa.to_string())
}
