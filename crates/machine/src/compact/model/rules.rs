//! What the rules of a core depend on, and what single steps take by them.

use super::lane::{Lane, Left};
use crate::compact::{CompactConfig, Multiplier, config};

/// What the rules depend on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parameters {
    pub(super) log_n: u32,
    pub(super) rows: u64,
    pub(super) row_words: u64,
    pub(super) bus_bits: u32,
    pub(super) read_rows: u64,
    pub(super) multiplier_latency: u64,
}

impl Parameters {
    pub(super) fn new(config: &CompactConfig, log_n: u32) -> Self {
        Self {
            log_n,
            rows: config.rows(log_n).into(),
            row_words: config.row_words().into(),
            bus_bits: config.bus_bits(),
            read_rows: config.read_rows().into(),
            multiplier_latency: latency(config.multiplier(), config.word_bits()),
        }
    }

    /// Cycles from the issue of a row to the first in which its result may be read.
    pub(super) const fn depth(&self) -> u64 {
        self.multiplier_latency + 7
    }

    /// Whether limbs are long enough for a pass to follow, row by row, the pass or the transform before it.
    pub(super) const fn chains(&self) -> bool {
        self.rows >= 2 * self.depth()
    }
}

/// Cycles of the modular multipliers, `rtl/modmul/README.md`.
pub(crate) const fn latency(multiplier: Multiplier, word_bits: u32) -> u64 {
    match multiplier {
        Multiplier::WordMontgomery | Multiplier::SparseWordMontgomery => 8,
        Multiplier::PrfFiko | Multiplier::Montgomery => 11,
        Multiplier::Barrett => 13,
        Multiplier::Ntt => 4 + 2 * word_bits.div_ceil(config::NTT_WORD) as u64,
    }
}

/// What single steps take, on a core that does nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Steps {
    /// A transform holds its unit.
    pub transform: u64,
    /// A transform of both lanes together holds both units.
    pub ganged: u64,
    /// From there to the first cycle in which passes of its limb may follow it row by row.
    pub pass: u64,
    /// From there to its result being there for others.
    pub drain: u64,
    /// From the last row of a pass to its result being complete.
    pub depth: u64,
    /// Making a table of roots, which the first transform of a run from nothing waits for.
    pub roots: u64,
}

impl Steps {
    /// Of a core, for limbs of 2^`log_n` words.
    pub fn of(config: &CompactConfig, log_n: u32) -> Self {
        let p = Parameters::new(config, log_n);
        let [transform, ganged, pass, drain, roots] = Lane::new(&p, Left::default()).steps();
        // What is shorter than twice the pipeline waits for all of the result.
        let pass = if p.chains() { pass } else { drain };
        Self { transform, ganged, pass, drain, depth: p.depth(), roots }
    }
}
