//! Residue polynomials: moduli and prime search, negacyclic transforms, base conversion,
//! automorphisms and sampling. Knows nothing of CKKS.
//!
//! A *limb* is one polynomial of Z_q\[X\]/(X^N + 1): N residues of one prime q. At every public border
//! residues are canonical, in \[0, q), and a limb in the *evaluation* (NTT) domain stands in
//! bit-reversed order: word k holds the value at ψ^(2·brv(k)+1), ψ a primitive 2N-th root of unity.

mod ahead;
pub mod buffer;
pub mod ceiling;
pub mod convert;
pub mod dense;
pub mod error;
mod first_cache;
mod form;
pub mod galois;
pub mod interleaved;
mod kernel;
pub mod lanes;
pub mod limb_ring;
pub mod modulus;
pub mod ntt;
pub mod packed;
pub mod pool;
pub mod primes;
pub mod process;
pub mod reference;
pub mod sample;
pub mod source;

pub use buffer::{Buffer, Domain, Poly};
pub use convert::{ConvertConstants, SourceBasis};
pub use error::RingError;
pub use galois::GaloisElement;
pub use interleaved::Interleaved;
pub use kernel::{automorphism::Permutation, prime::Factor};
pub use lanes::{Backend, Isa};
pub use limb_ring::{ConvertTarget, LimbRing};
pub use modulus::Modulus;
pub use pool::Pool;
pub use process::Process;
pub use source::{LimbReader, LimbSource};
