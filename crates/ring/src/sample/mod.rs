//! Randomness: public polynomials expanded from a seed, and small secret ones.
//!
//! - **Public** ([`uniform`]): a BLAKE3 keyed extendable output, the same on every machine, so that the uniform half
//!   of a key or of a fresh ciphertext is stored as 32 bytes. What must hold is that the output looks random to
//!   someone who knows the seed, so a 128-bit hash serves every security level.
//! - **Secret** ([`SecretRng`]): ChaCha20 with a 256-bit key, wiped on drop. No branch and no address depends on a
//!   value that is handed out.

mod gaussian;
mod secret;
#[cfg(test)]
mod tally;
#[cfg(test)]
mod tests;
mod uniform;

pub use gaussian::{GAUSSIAN_BOUND, SIGMA};
pub use secret::{SecretRng, small_to_residues};
pub use uniform::{Uniform, uniform};

use crate::RingError;
use std::fmt;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// Bytes of a seed.
pub const SEED_BYTES: usize = 32;

/// Seed of public randomness: may be stored, sent and printed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Seed([u8; SEED_BYTES]);

impl Seed {
    /// A fresh seed from the operating system.
    ///
    /// # Errors
    /// [`RingError::Entropy`] if the system has none to give.
    pub fn from_os() -> Result<Self, RingError> {
        let mut bytes = [0; SEED_BYTES];
        fill_from_os(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// The seed with these bytes.
    pub const fn from_bytes(bytes: [u8; SEED_BYTES]) -> Self {
        Self(bytes)
    }

    /// Eight of the bytes, which distinguish it from others.
    pub fn name(&self) -> u64 {
        self.0.iter().take(8).fold(0, |word, &byte| word << 8 | u64::from(byte))
    }

    /// The bytes to store.
    pub const fn as_bytes(&self) -> &[u8; SEED_BYTES] {
        &self.0
    }
}

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(")?;
        self.0.iter().try_for_each(|b| write!(f, "{b:02x}"))?;
        f.write_str(")")
    }
}

/// Seed of secret randomness: wiped on drop, never printed.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct SecretSeed([u8; SEED_BYTES]);

impl SecretSeed {
    /// A fresh seed from the operating system.
    ///
    /// # Errors
    /// [`RingError::Entropy`] if the system has none to give.
    pub fn from_os() -> Result<Self, RingError> {
        let mut seed = Self([0; SEED_BYTES]);
        fill_from_os(&mut seed.0)?;
        Ok(seed)
    }

    /// The seed with these bytes; wipe the original yourself.
    pub const fn from_bytes(bytes: [u8; SEED_BYTES]) -> Self {
        Self(bytes)
    }

    /// The bytes, to be stored with the care that a secret key needs.
    pub const fn expose(&self) -> &[u8; SEED_BYTES] {
        &self.0
    }
}

impl fmt::Debug for SecretSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretSeed(…)")
    }
}

fn fill_from_os(bytes: &mut [u8]) -> Result<(), RingError> {
    getrandom::fill(bytes).map_err(|e| RingError::Entropy { reason: e.to_string() })
}
