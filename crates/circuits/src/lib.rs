//! What is built from HE operations.
//!
//! A circuit adds operations to the [`he::Builder`](ringmill_program::he::Builder) of a traced program and returns the
//! value of its result. It knows neither levels nor scales (management puts them in) nor machines; [`bootstrap`] alone lays out
//! chains of primes for what it needs. Each circuit
//! is planned first: the plan says what it costs, and the operations written are those of the plan.
//!
//! | module | what | page |
//! |---|---|---|
//! | [`algebra`] | an equal program with fewer levels and key switches | `docs/algorithms/algebra.md` |
//! | [`bootstrap`] | from the bottom of the chain near its top | `docs/algorithms/bootstrapping.md` |
//! | [`linear`] | M·x by diagonals with baby and giant steps | `docs/algorithms/linear-transforms.md` |
//! | [`polynomial`] | Σ c_i x^i and Σ c_i T_i(x) in least depth | `docs/algorithms/polynomials.md` |

pub mod algebra;
pub mod bootstrap;
mod error;
pub mod linear;
pub mod polynomial;
mod write;

pub use error::CircuitError;
