//! Headers: what is stored beside the residues.

use ringmill_ring::sample::Seed;
use serde::{Deserialize, Serialize};

use crate::ciphertext::Meta;
use crate::noise::{Noise, Source};
use crate::params::Level;
use crate::scale::Scale;

/// More factors than any scale has: one a prime of the longest chain, and 2.
const MAX_FACTORS: usize = 130;

/// Level, scale, slots and error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct MetaHeader {
    level: u32,
    /// (prime, exponent), primes ascending.
    scale: Vec<(u64, i64)>,
    slots: u64,
    magnitude: f64,
    origin: u64,
    /// (id, galois, std, signed).
    sources: Vec<(u64, u64, f64, bool)>,
}

impl MetaHeader {
    pub(super) fn of(meta: &Meta) -> Self {
        let noise = &meta.noise;
        Self {
            level: meta.level.get(),
            scale: meta.scale.factors().to_vec(),
            slots: meta.slots as u64,
            magnitude: noise.magnitude(),
            origin: noise.origin(),
            sources: noise.sources().iter().map(|s| (s.id, s.galois, s.std, s.signed)).collect(),
        }
    }

    /// The description, or what is wrong with it.
    pub(super) fn meta(&self) -> Result<Meta, String> {
        if self.scale.len() > MAX_FACTORS {
            return Err(format!("a scale of {} factors", self.scale.len()));
        }
        let mut scale = Scale::ONE;
        for &(base, e) in &self.scale {
            scale = scale.mul(&Scale::prime(base).map_err(|e| e.to_string())?.pow(e));
        }
        let slots = usize::try_from(self.slots).map_err(|_| format!("{} slots", self.slots))?;
        if !self.magnitude.is_finite() {
            return Err(format!("a magnitude of {}", self.magnitude));
        }
        if let Some(s) = self.sources.iter().find(|s| !s.2.is_finite()) {
            return Err(format!("an error of standard deviation {}", s.2));
        }
        let sources =
            self.sources.iter().map(|&(id, galois, std, signed)| Source { id, galois, std, signed });
        let noise = Noise::from_parts(sources.collect(), self.magnitude, self.origin);
        let meta = Meta { level: Level::new(self.level), scale, slots, noise };
        // Bit patterns, so that a −0 counts as the difference it is.
        let again = postcard::to_stdvec(&Self::of(&meta)).map_err(|e| e.to_string())?;
        let given = postcard::to_stdvec(self).map_err(|e| e.to_string())?;
        if again == given { Ok(meta) } else { Err("its factors or error sources are not in order".into()) }
    }
}

/// Ciphertext: number of polynomials and their meaning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct CipherHeader {
    pub(super) polys: u8,
    pub(super) meta: MetaHeader,
}

/// Half-size ciphertext: a seed in place of c₁.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct SeededHeader {
    pub(super) seed: SeedBytes,
    pub(super) meta: MetaHeader,
}

/// Keys of one set: the seed of the relinearisation key, (Galois element, seed) of the others. Element 1, which turns
/// nothing, stands for the encapsulation key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct KeysHeader {
    pub(super) relin: Option<SeedBytes>,
    pub(super) galois: Vec<(u64, SeedBytes)>,
}

/// A public seed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct SeedBytes([u8; 32]);

impl From<&Seed> for SeedBytes {
    fn from(seed: &Seed) -> Self {
        Self(*seed.as_bytes())
    }
}

impl From<SeedBytes> for Seed {
    fn from(bytes: SeedBytes) -> Self {
        Self::from_bytes(bytes.0)
    }
}
