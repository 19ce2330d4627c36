//! The space of designs: parameters ([`chains`]) times hardware ([`cores`]).

pub mod chains;
pub mod cores;
mod pool;

use ringmill_machine::compact::{CompactLiteral, Multiplier};
use serde::{Deserialize, Serialize};

use crate::ExploreError;
use crate::design::SecretKind;

/// log2 of the largest N of a core.
pub const LOG_N_MAX: u32 = 15;

/// The axes. A narrower space is a faster answer to a narrower question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Space {
    /// log2 N.
    pub log_n: Vec<u32>,
    /// Bits of the primes that rescaling removes.
    pub level_bits: Vec<u32>,
    /// log2 of the scale less these bits. Other than 0 only where one rescale follows: a distance doubles with each.
    pub scale_offsets: Vec<i32>,
    /// Bits by which special primes exceed the largest digit: from 6 on, a key switch adds nothing but its rounding.
    pub special_extra: Vec<u32>,
    /// Distributions of secrets.
    pub secrets: Vec<SecretKind>,
    /// Bits of a word.
    pub words: Vec<u32>,
    /// Butterflies a lane.
    pub butterflies: Vec<u32>,
    /// Names of multipliers.
    pub multipliers: Vec<String>,
    /// Bits of the memory bus.
    pub buses: Vec<u32>,
}

/// Multipliers that designs are searched for. [`Multiplier::Ntt`] is for imported chains.
pub const SEARCHED: [Multiplier; 5] = [
    Multiplier::WordMontgomery,
    Multiplier::SparseWordMontgomery,
    Multiplier::PrfFiko,
    Multiplier::Montgomery,
    Multiplier::Barrett,
];

impl Default for Space {
    fn default() -> Self {
        Self {
            log_n: (11..=LOG_N_MAX).collect(),
            level_bits: (20..=60).collect(),
            scale_offsets: vec![-1, 0, 1, 2],
            special_extra: vec![1, 2, 3, 4, 6],
            secrets: vec![SecretKind::Ternary, SecretKind::Gaussian],
            words: CompactLiteral::WORD_BITS.to_vec(),
            butterflies: CompactLiteral::BUTTERFLIES.to_vec(),
            multipliers: SEARCHED.map(|m| m.name().to_owned()).to_vec(),
            buses: CompactLiteral::BUS_BITS.to_vec(),
        }
    }
}

/// Multipliers whose primes are as long as the word allows.
const FILLING: [&str; 2] = ["sparse-word-montgomery", "prf-fiko"];

impl Space {
    /// Checks every axis.
    ///
    /// # Errors
    /// [`ExploreError::Constraint`] for an empty axis or a value that nothing can have.
    pub fn check(&self) -> Result<(), ExploreError> {
        let axes: [(&'static str, &[u32], &[u32], &'static str); 4] = [
            ("log_n", &self.log_n, &[10, 11, 12, 13, 14, LOG_N_MAX], "10 to 15"),
            ("words", &self.words, &CompactLiteral::WORD_BITS, "36, 52, 54, 60"),
            ("butterflies", &self.butterflies, &CompactLiteral::BUTTERFLIES, "1, 2, 4, 8, 16"),
            ("buses", &self.buses, &CompactLiteral::BUS_BITS, "64, 128, 256, 512, 1024"),
        ];
        for (constraint, given, allowed, right) in axes {
            if given.is_empty() || given.iter().any(|x| !allowed.contains(x)) {
                return Err(ExploreError::Constraint { constraint, value: format!("{given:?}"), right });
            }
        }
        if self.level_bits.is_empty() || self.level_bits.iter().any(|b| !(20..=60).contains(b)) {
            let value = format!("{:?}", self.level_bits);
            return Err(ExploreError::Constraint { constraint: "level_bits", value, right: "20 to 60" });
        }
        for name in &self.multipliers {
            crate::design::multiplier_by_name(name)?;
        }
        let empty = [
            ("scale_offsets", self.scale_offsets.is_empty()),
            ("special_extra", self.special_extra.is_empty()),
            ("secrets", self.secrets.is_empty()),
            ("multipliers", self.multipliers.is_empty()),
        ];
        if let Some((constraint, _)) = empty.into_iter().find(|e| e.1) {
            return Err(ExploreError::Constraint {
                constraint,
                value: "empty".into(),
                right: "at least one value",
            });
        }
        // Primes of the other two multipliers fill their word, whatever `level_bits` is.
        let sized = self.multipliers.iter().all(|name| !FILLING.contains(&name.as_str()));
        let widest = self.words.iter().max();
        if sized && self.level_bits.iter().all(|bits| Some(bits) > widest) {
            let value = format!("{:?} for words of {:?} bits", self.level_bits, self.words);
            let right = "at most the bits of a word";
            return Err(ExploreError::Constraint { constraint: "level_bits", value, right });
        }
        Ok(())
    }
}

/// The numbers of a key of words of one letter and a number each.
fn numbers<const N: usize>(key: &str) -> Option<[u32; N]> {
    let numbers: Option<Vec<u32>> = key.split(' ').map(|word| word.get(1..)?.parse().ok()).collect();
    numbers?.try_into().ok()
}
