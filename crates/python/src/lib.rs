//! The native module `ringmill._native`: what Python needs of the Rust crates, with one class an object.
//!
//! Nothing is decided here. The typed facade in `python/ringmill` documents the behaviour; this crate
//! converts values, releases the interpreter's lock in long calls, and turns every Rust error into the
//! exception class of `ringmill.errors` that stands for its family.

// Without the feature, what the module leaves out is no longer called: the linker drops it.
#![cfg_attr(not(feature = "full"), allow(dead_code))]

mod algebra;
mod argument;
mod bootstrap;
mod cipher;
mod circuits;
mod codec;
mod compact;
mod comparison;
#[cfg(feature = "full")]
mod encryptor;
mod error;
mod estimate;
mod evaluation;
mod evaluator;
mod executable;
#[cfg(feature = "full")]
mod explore;
mod files;
#[cfg(feature = "full")]
mod hardware;
mod image;
#[cfg(feature = "full")]
mod interop;
mod keys;
mod literal;
mod machines;
mod outside;
mod packing;
mod params;
#[cfg(feature = "full")]
mod pipelined;
mod plan;
mod programs;
mod security;
mod switching;
mod traffic;
mod whole;

use pyo3::prelude::*;

/// The module; its contents are listed and typed in `python/ringmill/_native.pyi`.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    client(module)?;
    #[cfg(feature = "full")]
    server(module)?;
    Ok(())
}

/// What a client needs: keys, encryption, decryption, files.
fn client(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<params::Params>()?;
    module.add_class::<keys::SecretKey>()?;
    module.add_class::<keys::PublicKey>()?;
    module.add_class::<evaluation::EvaluationKeys>()?;
    module.add_class::<cipher::Ciphertext>()?;
    module.add_class::<comparison::Comparison>()?;
    module.add("DEFAULT_MAGNITUDE", ringmill_ckks::noise::DEFAULT_MAGNITUDE)?;
    module.add_function(wrap_pyfunction!(executable::stated, module)?)?;
    module.add_function(wrap_pyfunction!(machines::isa, module)?)?;
    module.add_function(wrap_pyfunction!(security::security_limit, module)?)?;
    module.add_function(wrap_pyfunction!(switching::form_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(files::identify, module)?)?;
    module.add_function(wrap_pyfunction!(files::identify_file, module)?)?;
    module.add_class::<files::KeyPieces>()?;
    module.add_function(wrap_pyfunction!(files::blake3_file, module)?)?;
    Ok(())
}

/// The rest: compiling, running, exploring.
#[cfg(feature = "full")]
fn server(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<plan::Plan>()?;
    module.add_class::<encryptor::Encryptor>()?;
    module.add_class::<evaluator::Evaluator>()?;
    module.add_class::<executable::Executable>()?;
    module.add_class::<circuits::Circuit>()?;
    module.add_class::<image::CoreImage>()?;
    module.add_class::<switching::Costs>()?;
    module.add("INTEGER_FACTOR_MAX", ringmill_program::he::INTEGER_FACTOR_MAX as u64)?;
    module.add_function(wrap_pyfunction!(algebra::fold_algebra, module)?)?;
    module.add_function(wrap_pyfunction!(bootstrap::bootstrap_rotations, module)?)?;
    module.add_class::<machines::MachineSpec>()?;
    module.add_function(wrap_pyfunction!(machines::machine_table, module)?)?;
    module.add_function(wrap_pyfunction!(machines::machine_help, module)?)?;
    module.add_class::<programs::LimbProgram>()?;
    module.add_function(wrap_pyfunction!(programs::with_tables, module)?)?;
    module.add_function(wrap_pyfunction!(programs::without_tables, module)?)?;
    module.add_function(wrap_pyfunction!(estimate::estimate_program, module)?)?;
    module.add_function(wrap_pyfunction!(estimate::run_program, module)?)?;
    module.add_function(wrap_pyfunction!(traffic::program_traffic, module)?)?;
    module.add_function(wrap_pyfunction!(estimate::trace_events, module)?)?;
    module.add_function(wrap_pyfunction!(machines::calibrate, module)?)?;
    module.add_function(wrap_pyfunction!(machines::ceilings, module)?)?;
    module.add_function(wrap_pyfunction!(machines::costs_path, module)?)?;
    module.add_function(wrap_pyfunction!(compact::compact_cycles, module)?)?;
    module.add_function(wrap_pyfunction!(pipelined::pipelined_files, module)?)?;
    module.add_function(wrap_pyfunction!(pipelined::pipelined_hardware, module)?)?;
    module.add_function(wrap_pyfunction!(pipelined::pool_sums, module)?)?;
    module.add_function(wrap_pyfunction!(pipelined::pool_timetable, module)?)?;
    module.add_function(wrap_pyfunction!(pipelined::pool_search, module)?)?;
    module.add_function(wrap_pyfunction!(pipelined::pool_run, module)?)?;
    module.add_function(wrap_pyfunction!(switching::check_switching, module)?)?;
    module.add_function(wrap_pyfunction!(switching::key_forms, module)?)?;
    module.add_function(wrap_pyfunction!(hardware::hardware_files, module)?)?;
    module.add_function(wrap_pyfunction!(encryptor::encryptor_files, module)?)?;
    module.add_function(wrap_pyfunction!(hardware::core_sizes, module)?)?;
    module.add_function(wrap_pyfunction!(hardware::core_options, module)?)?;
    module.add_function(wrap_pyfunction!(hardware::multipliers, module)?)?;
    interop::openfhe::add(module)?;
    interop::seal::add(module)?;
    module.add_function(wrap_pyfunction!(explore::explore_designs, module)?)?;
    module.add_function(wrap_pyfunction!(explore::explore_targets, module)?)?;
    module.add_function(wrap_pyfunction!(explore::machine_fields, module)?)?;
    module.add_function(wrap_pyfunction!(explore::stored_devices, module)?)?;
    module.add_function(wrap_pyfunction!(explore::check_design, module)?)?;
    Ok(())
}
