//! The core of a design.

use ringmill_machine::compact::{CompactConfig, CompactLiteral, MemoryTiming, Multiplier, Policy};
use serde::{Deserialize, Serialize};

use crate::ExploreError;
use crate::device::Family;
use crate::near::hint;

/// What multiplies, as the RTL's parameter TILE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tile {
    /// Booth rows in LUTs or cells, no block.
    Lut,
    /// 18×18, MULT18X18D.
    Ecp5,
    /// 24×17, DSP48E1.
    Dsp48e1,
    /// 26×17, DSP48E2.
    Dsp48e2,
}

impl Tile {
    /// The number of the RTL's parameter.
    pub const fn code(self) -> u32 {
        self as u32
    }

    /// Its name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lut => "lut",
            Self::Ecp5 => "ecp5",
            Self::Dsp48e1 => "dsp48e1",
            Self::Dsp48e2 => "dsp48e2",
        }
    }
}

/// Which block memories hold the six banks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BankMemory {
    /// The device's ordinary block memory.
    Block,
    /// UltraRAM.
    Ultra,
}

/// Build-time parameters of a core, its memory, and the policy of its schedules.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hardware {
    /// Family of the device that it is for.
    pub family: Family,
    /// W, bits of a word on chip.
    pub word_bits: u32,
    /// Butterflies of a lane.
    pub butterflies: u32,
    /// Lanes: two.
    pub lanes: u32,
    /// Name of the modular multiplier.
    pub multiplier: String,
    /// What multiplies.
    pub tile: Tile,
    /// What holds the banks.
    pub banks: BankMemory,
    /// log2 of the greatest N.
    pub log_n_max: u32,
    /// Entries of the modulus table.
    pub moduli: u32,
    /// Bits of a beat of the memory bus.
    pub bus_bits: u32,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Cycles to the first beat.
    pub memory_latency: u32,
    /// Cycles from one beat to the next.
    pub beat_cycles: u32,
    /// Name of the policy of schedules: throughput or low-latency.
    pub policy: String,
    /// Passes scheduled in search of a plan.
    pub effort: usize,
}

/// Lanes of every core.
pub const LANES: u32 = 2;

impl Hardware {
    /// What the core is built for.
    ///
    /// # Errors
    /// A name that stands for nothing, or a number that no core has.
    pub fn config(&self) -> Result<CompactConfig, ExploreError> {
        policy_by_name(&self.policy)?;
        if self.lanes != LANES {
            return Err(ExploreError::DesignFile {
                why: format!("lanes is {}; the compact core has {LANES}", self.lanes),
            });
        }
        if !self.family.tiles().contains(&self.tile) {
            let (family, tile) = (self.family.name(), self.tile.name());
            let has = self.family.tiles().iter().map(|t| t.name()).collect::<Vec<_>>().join(", ");
            return Err(ExploreError::DesignFile {
                why: format!("tile is {tile}, which {family} has not; it has {has}"),
            });
        }
        let literal = CompactLiteral {
            word_bits: self.word_bits,
            butterflies: self.butterflies,
            log_n_max: self.log_n_max,
            moduli: self.moduli,
            multiplier: multiplier_by_name(&self.multiplier)?,
            bus_bits: self.bus_bits,
            memory_bytes: self.memory_bytes,
            timing: MemoryTiming { latency: self.memory_latency, beat_cycles: self.beat_cycles },
        };
        Ok(literal.build()?)
    }

    /// The policy of its schedules.
    ///
    /// # Errors
    /// A name that stands for nothing.
    pub fn policy(&self) -> Result<Policy, ExploreError> {
        policy_by_name(&self.policy)
    }
}

/// The multiplier of a name.
///
/// # Errors
/// [`ExploreError::UnknownWord`].
pub fn multiplier_by_name(word: &str) -> Result<Multiplier, ExploreError> {
    let names = || Multiplier::ALL.into_iter().map(Multiplier::name);
    Multiplier::by_name(word).ok_or_else(|| ExploreError::UnknownWord {
        what: "multiplier",
        word: word.to_owned(),
        hint: hint(word, names()),
        known: names().collect::<Vec<_>>().join(", "),
    })
}

/// The policy of a name; CASA's own cannot be run, so it has no name here.
///
/// # Errors
/// [`ExploreError::UnknownWord`].
pub fn policy_by_name(word: &str) -> Result<Policy, ExploreError> {
    let known = Policy::RUNNABLE.map(Policy::name);
    Policy::by_name(word).ok_or_else(|| ExploreError::UnknownWord {
        what: "policy",
        word: word.to_owned(),
        hint: hint(word, known),
        known: known.join(", "),
    })
}
