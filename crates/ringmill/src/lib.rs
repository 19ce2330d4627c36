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
//! let x = [1.0, 2.0, 3.0, 4.0];
//! let plain = e.encode(x.as_slice(), 4, params.max_level(), &params.default_scale())?;
//! let c = secret.encrypt(&plain, &mut Randomness::from_os()?)?;
//!
//! let square = e.square_relinearise_rescale(&c, keys.relin()?)?;
//! let turned = e.rotate(&square, 1, keys.galois())?;
//! let y = e.decode(&secret.decrypt(&turned)?)?;
//! assert!((y[0].re - 4.0).abs() < 1e-5 && (y[3].re - 1.0).abs() < 1e-5);
//! assert!(turned.noise().error(4) < 1e-5, "the prediction comes with the result");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod eager;
mod error;
mod evaluator;
mod kernel;
mod plaintext;
mod prepared;

use std::sync::Arc;

pub use error::Error;
pub use evaluator::Evaluator;
pub use kernel::{Input, Inputs, Kernel};
pub use ringmill_ckks as ckks;
pub use ringmill_machine as machine;
pub use ringmill_machine::Machine;
pub use ringmill_program as program;
pub use ringmill_ring as ring;

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

/// The machine of a name: `cpu` (with so many threads) or `reference`.
///
/// # Errors
/// [`Error::UnknownMachine`]; as [`cpu_machine`].
pub fn machine_by_name(name: &str, threads: usize) -> Result<Arc<dyn Machine>, Error> {
    match name {
        "cpu" => cpu_machine(threads),
        "reference" => Ok(Arc::new(machine::Reference)),
        _ => Err(Error::UnknownMachine { name: name.into(), known: "cpu, reference" }),
    }
}
