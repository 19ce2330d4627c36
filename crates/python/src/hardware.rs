//! The compact core: its sources, carried in the module, and what it can be built with.

use std::collections::BTreeMap;

use pyo3::prelude::*;

use ringmill::machine::compact::entry::SIMULATED;
use ringmill::machine::compact::{CompactLiteral, Multiplier};
use ringmill::machine::registry::LeftOut;

include!(concat!(env!("OUT_DIR"), "/hardware.rs"));

/// Every file of the core by its path in the repository: sources in order of compilation, waivers, the shell of the
/// simulator, register constants.
#[pyfunction]
pub(crate) fn hardware_files() -> Vec<(&'static str, &'static str)> {
    FILES.to_vec()
}

/// Sizes that there are, ascending: "words", bits of a word; "butterflies" of a lane; "buses", bits of the memory bus; "log_n", log2 of the
/// greatest degree.
#[pyfunction]
pub(crate) fn core_sizes() -> BTreeMap<&'static str, Vec<u32>> {
    BTreeMap::from([
        ("words", CompactLiteral::WORD_BITS.to_vec()),
        ("butterflies", CompactLiteral::BUTTERFLIES.to_vec()),
        ("buses", CompactLiteral::BUS_BITS.to_vec()),
        ("log_n", (CompactLiteral::LOG_N_MIN..=CompactLiteral::LOG_N_MAX).collect()),
    ])
}

/// The parameters of a core that are options of its machines: name in files and of `ringmill.project.Core`, name of the option.
#[pyfunction]
pub(crate) fn core_options() -> Vec<(&'static str, &'static str)> {
    let options = SIMULATED.options.iter().filter(|s| !matches!(s.left_out, LeftOut::Built(_)));
    options.map(|s| (s.parameter.field, s.parameter.name)).collect()
}

/// Names of the modular multipliers, each at its number in `rm_modmul_pkg`.
#[pyfunction]
pub(crate) fn multipliers() -> Vec<&'static str> {
    Multiplier::ALL.map(Multiplier::name).to_vec()
}
