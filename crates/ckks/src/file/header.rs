//! Headers: what is stored beside the residues.

use ringmill_ring::sample::Seed;
use serde::{Deserialize, Serialize};

use crate::ciphertext::Meta;
use crate::noise::{Noise, Summary};
use crate::params::Level;
use crate::scale::Scale;

/// More factors than any scale has: one a prime of the longest chain, and 2.
const MAX_FACTORS: usize = 130;

/// Level, scale, slots and the sums of the prediction: every field is a function of the computation and of declared bounds,
/// or fresh randomness. `docs/reference/fields.md` lists them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct MetaHeader {
    level: u32,
    /// (prime, exponent), primes ascending.
    scale: Vec<(u64, i64)>,
    slots: u64,
    magnitude: f64,
    std: f64,
    bias: f64,
    /// The name of an encryption, of a length that does not depend on it.
    fresh: Option<[u8; 8]>,
}

impl MetaHeader {
    pub(super) fn of(meta: &Meta) -> Self {
        let Summary { magnitude, std, bias, fresh } = meta.noise.summary();
        Self {
            level: meta.level.get(),
            scale: meta.scale.factors().to_vec(),
            slots: meta.slots as u64,
            magnitude,
            std,
            bias,
            fresh: fresh.map(u64::to_le_bytes),
        }
    }

    /// The description, or what is wrong with it.
    pub(super) fn meta(&self) -> Result<Meta, String> {
        let (scale, slots) = (scale(&self.scale)?, usize::try_from(self.slots));
        let slots = slots.map_err(|_| format!("{} slots", self.slots))?;
        for (what, value) in
            [("a magnitude", self.magnitude), ("a deviation", self.std), ("a bound on an error", self.bias)]
        {
            if !(value.is_finite() && value.is_sign_positive()) {
                return Err(format!("{what} of {value}"));
            }
        }
        let fresh = self.fresh.map(u64::from_le_bytes);
        let summary = Summary { magnitude: self.magnitude, std: self.std, bias: self.bias, fresh };
        let meta = Meta { level: Level::new(self.level), scale, slots, noise: summary.noise() };
        // One object, one form: deviations between two steps are not written.
        if Self::of(&meta) == *self {
            Ok(meta)
        } else {
            Err("its factors or errors are not in the one form".into())
        }
    }
}

fn scale(factors: &[(u64, i64)]) -> Result<Scale, String> {
    if factors.len() > MAX_FACTORS {
        return Err(format!("a scale of {} factors", factors.len()));
    }
    let mut scale = Scale::ONE;
    for &(base, e) in factors {
        scale = scale.mul(&Scale::prime(base).map_err(|e| e.to_string())?.pow(e));
    }
    Ok(scale)
}

/// The description before version 4, which had every contribution of the error. It is read, never written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct NamedMetaHeader {
    level: u32,
    scale: Vec<(u64, i64)>,
    slots: u64,
    magnitude: f64,
    origin: u64,
    /// (id, galois, std, signed).
    sources: Vec<(u64, u64, f64, bool)>,
}

impl From<NamedMetaHeader> for MetaHeader {
    /// Contributions may be the same ones, so they add linearly.
    fn from(old: NamedMetaHeader) -> Self {
        let std: f64 = old.sources.iter().map(|s| s.2.abs()).sum();
        let Summary { std, .. } = Noise::exact(0.0, 0).plus_rest(std).summary();
        let NamedMetaHeader { level, scale, slots, magnitude, .. } = old;
        Self { level, scale, slots, magnitude, std, bias: 0.0, fresh: None }
    }
}

/// Ciphertext: number of polynomials and their meaning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct CipherHeader {
    pub(super) polys: u8,
    pub(super) meta: MetaHeader,
}

/// As [`CipherHeader`] before version 4.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct NamedCipherHeader {
    polys: u8,
    meta: NamedMetaHeader,
}

impl From<NamedCipherHeader> for CipherHeader {
    fn from(old: NamedCipherHeader) -> Self {
        Self { polys: old.polys, meta: old.meta.into() }
    }
}

/// Half-size ciphertext: a seed in place of c₁.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct SeededHeader {
    pub(super) seed: SeedBytes,
    pub(super) meta: MetaHeader,
}

/// As [`SeededHeader`] before version 4.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct NamedSeededHeader {
    seed: SeedBytes,
    meta: NamedMetaHeader,
}

impl From<NamedSeededHeader> for SeededHeader {
    fn from(old: NamedSeededHeader) -> Self {
        Self { seed: old.seed, meta: old.meta.into() }
    }
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

/// The header of what holds halves of keys: with the other halves beside them, or with seeds alone. Which of both it is, the
/// version of the file shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Keyed<H> {
    pub(super) header: H,
    /// Whether every a is in the file: keys of other libraries expand from no seed of ours.
    #[serde(skip)]
    pub(super) explicit: bool,
}

/// The header of a public key: the seed that a expands from, or the name of an a that is in the file. Which it is, and whether
/// there are residues modulo the first special prime, the version of the file shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct PublicHeader {
    pub(super) seed: SeedBytes,
    #[serde(skip)]
    pub(super) explicit: bool,
    #[serde(skip)]
    pub(super) divides: bool,
}
