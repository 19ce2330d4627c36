//! The sources of the compact core, carried in the module.

use pyo3::prelude::*;

include!(concat!(env!("OUT_DIR"), "/hardware.rs"));

/// Every file of the core by its path in the repository: sources in order of compilation, waivers, the shell of the
/// simulator, register constants.
#[pyfunction]
pub(crate) fn hardware_files() -> Vec<(&'static str, &'static str)> {
    FILES.to_vec()
}
