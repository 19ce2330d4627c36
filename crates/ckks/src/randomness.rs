//! Where keys and encryptions take their randomness from.

use std::fmt;

use ringmill_ring::RingError;
use ringmill_ring::sample::{SecretRng, SecretSeed, Seed};
use zeroize::{Zeroize, Zeroizing};

/// What an object that is drawn is for. Every purpose has a stream of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Purpose {
    /// A secret key.
    SecretKey,
    /// A public key.
    PublicKey,
    /// A relinearisation key.
    RelinKey,
    /// A relinearisation key of another layout than the base one.
    RelinForm,
    /// A Galois key.
    GaloisKey,
    /// A Galois key of another layout than the base one.
    GaloisForm,
    /// The ephemeral secret and the keys to it and back.
    EncapsulationKey,
    /// An encryption under the secret key.
    SecretEncryption,
    /// An encryption under the public key.
    PublicEncryption,
}

impl Purpose {
    const COUNT: usize = 9;

    #[cfg(test)]
    const ALL: [Self; Self::COUNT] = [
        Self::SecretKey,
        Self::PublicKey,
        Self::RelinKey,
        Self::RelinForm,
        Self::GaloisKey,
        Self::GaloisForm,
        Self::EncapsulationKey,
        Self::SecretEncryption,
        Self::PublicEncryption,
    ];

    /// Its part of a derivation context.
    fn name(self) -> &'static str {
        match self {
            Self::SecretKey => "secret key",
            Self::PublicKey => "public key",
            Self::RelinKey => "relinearisation key",
            Self::RelinForm => "form of a relinearisation key",
            Self::GaloisKey => "Galois key",
            Self::GaloisForm => "form of a Galois key",
            Self::EncapsulationKey => "encapsulation key",
            Self::SecretEncryption => "encryption under the secret key",
            Self::PublicEncryption => "encryption under the public key",
        }
    }
}

/// Label of the expansion of a in a public key.
pub const PUBLIC_KEY_LABEL: &[u8] = b"public key a";

/// Label of the expansion of c₁ in an encryption under the secret key.
pub const CIPHERTEXT_LABEL: &[u8] = b"ciphertext c1";

/// What one object is drawn from.
#[derive(Debug, Clone)]
pub struct Seeds {
    /// Of its secret polynomials.
    pub secret: SecretSeed,
    /// Of its public ones.
    pub public: Seed,
}

impl Seeds {
    /// The generator of the secret polynomials, one after the other.
    pub fn secret_rng(&self) -> SecretRng {
        SecretRng::new(&self.secret, 0)
    }
}

/// Streams of independent seeds, from the operating system or, for tests, from a given seed.
///
/// Every object drawn takes the next number of the stream of its purpose. The secret and public seeds of one
/// purpose and number are independent derivations (BLAKE3 key derivation) of the master seed, which no output
/// reveals.
pub struct Randomness {
    master: SecretSeed,
    next: [u64; Purpose::COUNT],
}

impl Randomness {
    /// Fresh randomness from the operating system: what everything but a test uses.
    ///
    /// # Errors
    /// [`RingError::Entropy`] if the system has none to give.
    pub fn from_os() -> Result<Self, RingError> {
        Ok(Self::from_seed(SecretSeed::from_os()?))
    }

    /// Reproducible randomness, for tests and golden files.
    ///
    /// Each purpose has its own stream: a secret key, a public key, an encryption and so on draw nothing that another of them
    /// draws, and each draws the same whatever else was drawn before.
    ///
    /// Never use one seed twice with real data: two encryptions under one key, from one seed and number, reveal the difference of
    /// their messages.
    pub fn from_seed(seed: SecretSeed) -> Self {
        Self { master: seed, next: [0; Purpose::COUNT] }
    }

    /// The seeds of the next object of a purpose, for a machine that draws it: what [`KeyGenerator`](crate::KeyGenerator) and
    /// the encryptions would draw it from. They are given once.
    pub fn seeds(&mut self, purpose: Purpose) -> Seeds {
        let secret = self.derive(purpose, "secret polynomials");
        let public = self.derive(purpose, "public polynomials");
        self.next[purpose as usize] += 1;
        Seeds { secret: SecretSeed::from_bytes(*secret), public: Seed::from_bytes(*public) }
    }

    /// A pair for one object: generator of its secret polynomials and seed of its public ones.
    pub(crate) fn next(&mut self, purpose: Purpose) -> (SecretRng, Seed) {
        let seeds = self.seeds(purpose);
        (seeds.secret_rng(), seeds.public)
    }

    fn derive(&self, purpose: Purpose, part: &str) -> Zeroizing<[u8; 32]> {
        let context = format!("ringmill 2026-12 randomness: {}: {part}", purpose.name());
        let mut hasher = blake3::Hasher::new_derive_key(&context);
        hasher.update(self.master.expose()).update(&self.next[purpose as usize].to_le_bytes());
        let out = Zeroizing::new(*hasher.finalize().as_bytes());
        hasher.zeroize();
        out
    }
}

impl fmt::Debug for Randomness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Randomness(…)")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const N: usize = 256;

    fn from(seed: u8) -> Randomness {
        Randomness::from_seed(SecretSeed::from_bytes([seed; 32]))
    }

    /// What the next object of a purpose draws: a ternary polynomial as secrets are, and its public seed.
    fn drawn(randomness: &mut Randomness, purpose: Purpose) -> (Vec<i8>, [u8; 32]) {
        let (mut rng, seed) = randomness.next(purpose);
        let mut secret = vec![0; N];
        rng.ternary(&mut secret);
        (secret, *seed.as_bytes())
    }

    #[test]
    fn no_two_purposes_of_one_seed_draw_the_same() {
        for seed in [0, 1, 255] {
            for (i, one) in Purpose::ALL.into_iter().enumerate() {
                for other in &Purpose::ALL[i + 1..] {
                    // From the start of both streams, as keys and encryptions by one seed are made.
                    for number in 0..3 {
                        let [mut a, mut b] = [from(seed), from(seed)];
                        (0..number).for_each(|_| drop((a.next(one), b.next(*other))));
                        let (a, b) = (drawn(&mut a, one), drawn(&mut b, *other));
                        assert_ne!(a.0, b.0, "{one:?} and {other:?}, number {number}");
                        assert_ne!(a.1, b.1, "{one:?} and {other:?}, number {number}");
                    }
                }
            }
        }
    }

    #[test]
    fn everything_that_one_seed_gives_is_different() {
        let (mut randomness, mut all) = (from(7), HashSet::new());
        for _ in 0..4 {
            for purpose in Purpose::ALL {
                let (secret, public) = drawn(&mut randomness, purpose);
                assert!(all.insert(secret.iter().map(|&c| c as u8).collect::<Vec<u8>>()), "{purpose:?}");
                assert!(all.insert(public.to_vec()), "{purpose:?}");
            }
        }
    }

    #[test]
    fn one_seed_and_purpose_give_the_same_whatever_else_is_drawn() {
        for purpose in Purpose::ALL {
            let (mut alone, mut among) = (from(3), from(3));
            for others in [0, 2, 5] {
                Purpose::ALL
                    .into_iter()
                    .filter(|&p| p != purpose)
                    .take(others)
                    .for_each(|p| drop(among.next(p)));
                assert_eq!(drawn(&mut alone, purpose), drawn(&mut among, purpose), "{purpose:?}");
            }
            assert_ne!(drawn(&mut from(3), purpose), drawn(&mut from(4), purpose), "{purpose:?}");
        }
    }
}
