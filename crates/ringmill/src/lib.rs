//! The Rust face: an evaluator whose every operation is a small HE program.
//!
//! What `ringmill_ckks` holds is data; what can be done with it is here. An operation on ciphertexts is checked at the
//! door, written as an HE program, lowered once a shape to a limb program, and run on a [`Machine`]. Whole programs
//! take the same road.

mod eager;
mod error;
mod evaluator;
mod prepared;

use std::sync::Arc;

pub use error::Error;
pub use evaluator::Evaluator;
pub use ringmill_ckks as ckks;
pub use ringmill_machine as machine;
pub use ringmill_machine::Machine;
pub use ringmill_program as program;
pub use ringmill_ring as ring;

/// The machine that computes unless another is asked for.
pub fn default_machine() -> Arc<dyn Machine> {
    Arc::new(ringmill_machine::Reference)
}
