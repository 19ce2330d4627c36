//! Files of other CKKS libraries: SEAL 4.0 to 4.4 and OpenFHE.
//!
//! Two layers for each library. The format layer ([`seal`], [`openfhe`]) reads and writes objects as the library has them
//! and knows nothing of ours but polynomials. The conversion layer turns them into the types of `ringmill_ckks` and
//! back. Residues are neither permuted nor transformed on the way: all three libraries use the least primitive root and
//! bit-reversed order.
//!
//! Reading is bounded for any bytes: lengths are compared with what the parameters need before anything is allocated,
//! memory grows with what was announced *and* fits, and every residue is checked against its prime. Neither format has a
//! checksum, so damage within the residues goes unnoticed.

mod meaning;
pub mod openfhe;
pub use meaning::Declared;
mod residues;
pub mod scale;
pub mod seal;
