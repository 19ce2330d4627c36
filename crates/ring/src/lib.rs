//! Residue polynomials: moduli and prime search, negacyclic transforms, base conversion,
//! automorphisms and sampling. Knows nothing of CKKS.
//!
//! A *limb* is one polynomial of Z_q\[X\]/(X^N + 1): N residues of one prime q. At every public border
//! residues are canonical, in \[0, q), and a limb in the *evaluation* (NTT) domain stands in
//! bit-reversed order: word k holds the value at ψ^(2·brv(k)+1), ψ a primitive 2N-th root of unity.

pub mod error;
pub mod lanes;
pub mod modulus;
pub mod primes;
pub mod reference;

pub use error::RingError;
pub use lanes::{Backend, Isa};
pub use modulus::Modulus;
