//! The Rust facade: an evaluator whose every operation is a small HE program.
//!
//! What `ringmill_ckks` holds is data; what can be done with it is here. An operation on ciphertexts checks
//! its arguments, is written as an HE program, lowered once a shape to a limb program, and run on a
//! [`Machine`]. Whole programs take the same path.
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
pub mod bundle;
mod eager;
pub mod encryptor;
mod error;
mod evaluator;
mod kernel;
pub mod kernel_file;
mod plaintext;
mod plan;
mod prepared;
mod recent;
mod runner;
mod sanitise;
mod stated;

use std::sync::Arc;

pub use bootstrap::{Bootstrapper, bootstrap_keys};
pub use encryptor::Encryptor;
pub use error::Error;
pub use evaluator::Evaluator;
pub use kernel::{Input, Inputs, Kernel};
pub use plaintext::{Declared, Number, decode, encode};
pub use plan::{Place, Plan, PlanOptions};
pub use ringmill_circuits as circuits;
pub use ringmill_ckks as ckks;
pub use ringmill_machine as machine;
pub use ringmill_machine::Machine;
pub use ringmill_machine::cpu::costs::{costs, costs_path};
pub use ringmill_program as program;
pub use ringmill_ring as ring;
pub use runner::Runner;
pub use sanitise::Flooding;
pub use stated::Stated;

/// The machine that computes unless another is asked for: `cpu` in the calling thread, on the instruction set that
/// suits it best or the one that `RINGMILL_ISA` names.
///
/// # Errors
/// An instruction set that does not exist or that this CPU lacks.
pub fn default_machine() -> Result<Arc<dyn Machine>, Error> {
    Ok(Arc::new(machine::Cpu::new()?))
}

/// The machine that a text names, as `cpu`, `cpu:threads=4` or `compact:butterflies=8`: [`machine::spec`] says how it is written,
/// [`machine::registry`] what there is. Left out, the threads of `cpu` are as many as there are cores.
///
/// # Errors
/// [`machine::SpecError`] for a text that names none; what prevents the machine from being there.
pub fn open_machine(text: &str) -> Result<Arc<dyn Machine>, Error> {
    let spec: machine::MachineSpec = text.parse().map_err(machine::MachineError::from)?;
    Ok(spec.open()?)
}
