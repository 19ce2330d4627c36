//! Level and scale management: from what a kernel says to what is computed.
//!
//! Purpose: give every value of a traced program its level and exact scale, and insert the relinearisations,
//! rescales, level drops and scale corrections that make the operations legal.
//!
//! Precondition: a verified traced program and the chain it shall run on. Guarantee: a verified managed program with
//! the same inputs and outputs, whose slots are those of the traced program up to the error of CKKS.
//!
//! Passes, each in its own file:
//! 1. [`simplify`]: expands `sum`, merges rotations, shares equal values, drops dead ones.
//!    Then `written_out`: complex numbers as vectors, in the order of powers of 3.
//! 2. `levels`: the depth of every value. A product stays *pending* (unrelinearised, unrescaled) until something other
//!    than an addition reads it, so that sums of products are relinearised and rescaled once. A multiplication by a
//!    plaintext is moved down to the level where its result is needed.
//! 3. `place`: which levels those depths are, and the scale of each.
//! 4. `emit`: writes the managed program. All values at rest at one depth have one scale,
//!    Δ_{t+1} = Δ_t²/q, and all pending ones Δ_t²; a plaintext factor is encoded at whatever scale makes its product
//!    land there exactly. A value that must skip levels is multiplied by 1 at the missing scale on its way.
//! 5. `few_keys`: if the keys are limited, rotations as sequences of steps that have a key.
//! 6. `hoist`: marks rotations that share a decomposition.

mod bias;
mod choose;
mod curve;
mod dead;
mod emit;
mod few_keys;
mod hoist;
mod levels;
mod noise;
mod numbering;
mod order;
mod place;
mod ranges;
mod simplify;
mod spread;
mod summary;
mod written_out;

pub use choose::{Accuracy, ChooseError, Plan, choose};
pub use dead::remove_dead;
pub use emit::{Options, least_output_level, manage};
pub use levels::{depth, key_switches};
pub use noise::{Encryption, FLAT_FAILURE, Manners, Promise, predict, predict_fresh};
pub use order::steady;
pub use ranges::ranges;
pub use simplify::simplify;
pub use summary::{KeySet, Summary};

use crate::he::Program;

/// A managed program and what it takes to run it.
#[derive(Debug, Clone, PartialEq)]
pub struct Managed {
    /// The program.
    pub program: Program,
    /// Depth, keys, counts.
    pub summary: Summary,
}
