//! The Rust face: an evaluator whose every operation is a small HE program.
//!
//! What `ringmill_ckks` holds is data; what can be done with it is here. An operation on ciphertexts is checked at the
//! door, written as an HE program, lowered once a shape to a limb program, and run on a [`Machine`]. Whole programs
//! take the same road.
//!
//! ```
//! use ringmill::Evaluator;
//! use ringmill::ckks::{KeyGenerator, Need, Randomness};
//!
//! let params = Need { depth: 1, scale_bits: 40, slots: 4, ..Need::default() }.choose()?.params;
//! let mut generator = KeyGenerator::new(&params)?;
//! let secret = generator.secret_key()?;
//! let keys = generator.evaluation_keys(&secret, &[1], false)?;
//!
//! let e = Evaluator::new(&params)?;
//! let x = [0.25, 0.5, 0.75, 1.0];
//! let plain = e.encode(x.as_slice(), 4, params.max_level(), &params.default_scale())?;
//! let c = secret.encrypt(&plain, &mut Randomness::from_os()?)?;
//!
//! let square = e.square_relinearise_rescale(&c, keys.relin()?)?;
//! let turned = e.rotate(&square, 1, keys.galois())?;
//! let y = e.decode(&secret.decrypt(&turned)?)?;
//! assert!((y[0].re - 0.25).abs() < 1e-5 && (y[3].re - 0.0625).abs() < 1e-5);
//! assert!(turned.noise().error(4) < 1e-5, "the prediction comes with the result");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bootstrap;
mod costs;
mod eager;
mod error;
mod evaluator;
mod kernel;
mod plaintext;
mod plan;
mod prepared;
mod recent;
mod runner;
mod stated;

use std::sync::Arc;

pub use bootstrap::{Bootstrapper, bootstrap_keys};
pub use costs::{costs, costs_of, costs_path};
pub use error::Error;
pub use evaluator::Evaluator;
pub use kernel::{Input, Inputs, Kernel};
pub use plaintext::{Declared, Number, decode, encode};
pub use plan::{Place, Plan, PlanOptions};
pub use ringmill_circuits as circuits;
pub use ringmill_ckks as ckks;
pub use ringmill_machine as machine;
pub use ringmill_machine::Machine;
pub use ringmill_program as program;
pub use ringmill_ring as ring;
pub use runner::Runner;
pub use stated::Stated;

/// The machine that computes unless another is asked for: `cpu` in the calling thread, on the instruction set that
/// suits it best or the one that `RINGMILL_ISA` names.
///
/// # Errors
/// An instruction set that does not exist or that this CPU lacks.
pub fn default_machine() -> Result<Arc<dyn Machine>, Error> {
    Ok(Arc::new(machine::Cpu::new()?))
}

/// The machine `cpu` on a pool of `threads` threads; results do not depend on their number.
///
/// # Errors
/// As [`default_machine`]; [`Error::Threads`] if the system refuses the threads.
pub fn cpu_machine(threads: usize) -> Result<Arc<dyn Machine>, Error> {
    let cpu = machine::Cpu::new()?;
    if threads <= 1 {
        return Ok(Arc::new(cpu));
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|e| Error::Threads { threads, why: e.to_string() })?;
    Ok(Arc::new(cpu.on_pool(Arc::new(pool))))
}

/// The machine `compact`: a core with so many butterflies in each of its two lanes, four if none are named.
///
/// It is simulated by the library that `RINGMILL_CORE_LIBRARY` names (`python -m rtl.sim.build` makes one), with what
/// that library was built for; without one its instructions are emulated. The bits are the same.
///
/// # Errors
/// A number of butterflies that no core has, or that the library was not built for; a library that cannot be loaded.
pub fn compact_machine(butterflies: Option<u32>) -> Result<Arc<dyn Machine>, Error> {
    use machine::compact::{Compact, CompactLiteral};
    if let Some(path) = std::env::var_os("RINGMILL_CORE_LIBRARY") {
        return simulated_machine(path.as_ref(), butterflies);
    }
    let default = CompactLiteral::default();
    let literal = CompactLiteral { butterflies: butterflies.unwrap_or(default.butterflies), ..default };
    Ok(Arc::new(Compact::emulated(literal.build().map_err(|e| Error::Machine(e.into()))?)))
}

/// The machine `compact` simulated by the library at `path`, with what that library was built for.
///
/// # Errors
/// A library that cannot be loaded, or has another number of butterflies.
pub fn simulated_machine(
    path: &std::path::Path,
    butterflies: Option<u32>,
) -> Result<Arc<dyn Machine>, Error> {
    use machine::compact::{Compact, CompactError, CoreLibrary, SimulatedMemory};
    let compact = |e: CompactError| Error::Machine(e.into());
    let library = CoreLibrary::load(path).map_err(compact)?;
    let config = library.config().map_err(compact)?;
    match butterflies {
        Some(wanted) if wanted != config.butterflies() => {
            let reason =
                format!("its core has {} butterflies a lane, {wanted} are asked for", config.butterflies());
            Err(compact(CompactError::Simulator { reason }))
        }
        _ => Ok(Arc::new(Compact::simulated(config, library, SimulatedMemory::of(&config)))),
    }
}

/// The machine of a name: `cpu` (with so many threads), `reference`, or `compact` (with so many butterflies).
///
/// # Errors
/// [`Error::UnknownMachine`]; [`Error::NoButterflies`]; as [`cpu_machine`] and [`compact_machine`].
pub fn machine_by_name(
    name: &str,
    threads: usize,
    butterflies: Option<u32>,
) -> Result<Arc<dyn Machine>, Error> {
    match name {
        "compact" => compact_machine(butterflies),
        "cpu" | "reference" if butterflies.is_some() => Err(Error::NoButterflies { name: name.into() }),
        "cpu" => cpu_machine(threads),
        "reference" => Ok(Arc::new(machine::Reference)),
        _ => Err(Error::UnknownMachine {
            name: name.into(),
            known: "cpu, reference, compact; in Python also verilator",
        }),
    }
}
