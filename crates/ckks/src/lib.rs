//! CKKS parameters, encoder, keys, encryption, error model and files.
//!
//! What lives here is data and what needs the secret key or the parameters alone. Whatever computes on
//! ciphertexts is a program, lowered and run elsewhere.

pub mod params;
pub mod scale;

pub use params::{Level, NamedSet, Need, Params, ParamsError, ParamsLiteral, PrimeSpec, Secret};
pub use scale::{Scale, ScaleError};
