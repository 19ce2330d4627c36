//! CKKS parameters, encoder, keys, encryption, error model and files.
//!
//! This crate contains data and what needs the secret key or the parameters alone. Whatever computes on
//! ciphertexts is a program, lowered and run elsewhere.

mod check;
#[cfg(test)]
mod cipher_tests;
pub mod ciphertext;
mod decrypt;
pub mod encoder;
mod encrypt;
pub mod error;
pub mod file;
mod generator;
pub mod keys;
mod library;
mod limbs;
pub mod noise;
pub mod params;
pub mod randomness;
pub mod scale;
#[cfg(test)]
mod testing;

pub use ciphertext::{Ciphertext, Meta, Plaintext, SeededCiphertext};
pub use encoder::{Encoder, EncoderError, Slots};
pub use error::CkksError;
pub use generator::Generator;
pub use keys::{
    EPHEMERAL_WEIGHT, EncapsulationKey, EvaluationKeys, GaloisKeys, KeyForm, KeyGenerator, KeyIdentity,
    KeyLayout, KeyMemory, KlssKey, KlssLayout, LayoutError, PublicKey, RelinKey, SecretKey, SwitchKey,
};
pub use library::{Library, UnknownLibrary};
pub use noise::Noise;
pub use params::{Level, Levels, NamedSet, Need, Params, ParamsError, ParamsLiteral, PrimeSpec, Secret};
pub use randomness::Randomness;
pub use scale::{Scale, ScaleError};
