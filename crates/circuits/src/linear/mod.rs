//! Linear maps of the slots of one ciphertext.
//!
//! y = Σ_d diag_d ⊙ rot(x, d), diag_d\[i\] = M\[i, (i + d) mod S\], with baby and giant steps:
//! y = Σ_g rot(Σ_b rot(diag_{g+b}, −g) ⊙ rot(x, b), g). All baby steps rotate x: they share one decomposition (hoisting).
//! Giant steps follow Horner's rule, so that equal steps share one key.
//! Halevi and Shoup, *Algorithms in HElib* (CRYPTO 2014, §4.3) and *Faster homomorphic linear transformations in
//! HElib* (CRYPTO 2018). Choice of steps, keys and packings: `docs/algorithms/linear-transforms.md`.

mod convolution;
mod diagonals;
mod emit;
mod matrix;
mod plan;
mod product;

pub use convolution::{Grid, Kernel, convolution};
pub use diagonals::Diagonals;
pub use matrix::{MatrixPlan, Packing, matrix_vector, plan_matrix_vector};
pub use plan::{Keys, Plan, Step};
pub use product::{Matrix, block_side, matrix_product};

use crate::CircuitError;
use crate::write::Writer;
use ringmill_program::he::{Builder, Value};

/// Adds the linear map to a traced program, in the region "linear map, n diagonals".
///
/// # Errors
/// [`CircuitError::ZeroMap`] for a map without a diagonal, [`CircuitError::SlotCount`] for another number of slots than
/// the program's, [`CircuitError::Program`] if the builder refuses `x`.
pub fn apply(b: &mut Builder, x: Value, map: &Diagonals, keys: Keys) -> Result<Value, CircuitError> {
    let plan = map.plan(keys)?;
    let mut w = Writer::open(b, &format!("linear map, {} diagonals", map.len()));
    emit::write(&mut w, x, map, &plan)
}
