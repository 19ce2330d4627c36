//! Files of OpenFHE 1.6, CKKS, in its JSON and its binary form.
//!
//! OpenFHE writes with cereal. Both forms are one walk over the same fields: JSON names them, the binary form has their bytes
//! alone. So each structure is described once ([`model`]) as a walk over an [`Archive`](archive::Archive), of which there are
//! four: a reader and a writer of either form.
//!
//! The file of a key or ciphertext begins with the whole crypto context, so it can be read without another file; what a
//! reader is given is compared with it.

mod archive;
mod binary;
pub mod convert;
mod error;
mod evaluation;
mod json;
mod keys;
mod model;
mod objects;
mod settings;
#[cfg(test)]
mod tests;
mod tree;

pub use error::OpenFheError;
pub use evaluation::{EvalKeys, EvalMultKeys};
pub use keys::{PrivateKey, PublicKey};
pub use model::Context;
pub use objects::{Ciphertext, Form, Object};
pub use settings::{Scaling, Settings};
