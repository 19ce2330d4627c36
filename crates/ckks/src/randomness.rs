//! Where keys and encryptions take their randomness from.

use std::fmt;

use ringmill_ring::RingError;
use ringmill_ring::sample::{SecretRng, SecretSeed, Seed};
use zeroize::Zeroize;

/// A stream of independent seeds, from the operating system or, for tests, from a given seed.
///
/// Every object drawn takes the next number of the stream; secret and public seeds of one number are independent
/// derivations (BLAKE3 key derivation) of the master seed, which no output reveals.
pub struct Randomness {
    master: SecretSeed,
    next: u64,
}

impl Randomness {
    /// Fresh randomness from the operating system: what everything but a test uses.
    ///
    /// # Errors
    /// [`RingError::Entropy`] if the system has none to give.
    pub fn from_os() -> Result<Self, RingError> {
        Ok(Self { master: SecretSeed::from_os()?, next: 0 })
    }

    /// Reproducible randomness, for tests and golden files.
    ///
    /// Never use one seed twice with real data: two encryptions from one seed and number reveal the difference of
    /// their messages.
    pub fn from_seed(seed: SecretSeed) -> Self {
        Self { master: seed, next: 0 }
    }

    /// A pair for one object: generator of its secret polynomials and seed of its public ones.
    pub(crate) fn next(&mut self) -> (SecretRng, Seed) {
        let mut secret = self.derive("ringmill 2026 randomness: secret polynomials");
        let public = self.derive("ringmill 2026 randomness: public polynomials");
        self.next += 1;
        let rng = SecretRng::new(&SecretSeed::from_bytes(secret), 0);
        secret.zeroize();
        (rng, Seed::from_bytes(public))
    }

    fn derive(&self, context: &str) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key(context);
        hasher.update(self.master.expose()).update(&self.next.to_le_bytes());
        let out = *hasher.finalize().as_bytes();
        hasher.zeroize();
        out
    }
}

impl fmt::Debug for Randomness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Randomness(…)")
    }
}
