//! Energy of a run at 45 nm: published energies of operations times their counts.

use ringmill_machine::compact::CompactConfig;

use crate::design::{Figure, OriginKind};
use crate::target::Run;

/// Picojoules at 45 nm, 0.9 V: Horowitz, "Computing's energy problem", ISSCC 2014, figure 1.1.9.
mod pj {
    /// 32-bit integer multiplication; others by the square of the width.
    pub(super) const MULTIPLY_32: f64 = 3.1;
    /// 32-bit integer addition; others by the width.
    pub(super) const ADD_32: f64 = 0.1;
    /// 64 bits of an on-chip memory of 32 KiB.
    pub(super) const SRAM_64: f64 = 20.0;
    /// 64 bits of DRAM, the middle of 1.3 to 2.6 nJ.
    pub(super) const DRAM_64: f64 = 1950.0;
}

/// The source of these numbers, as text.
const HOROWITZ: &str =
    "Horowitz, ISSCC 2014 (45 nm, 0.9 V), energies of operations times their counts; DRAM included";

/// Millijoules of a run; none without its counts.
pub(super) fn millijoules(config: &CompactConfig, run: &Run) -> Option<Figure> {
    let &[transforms, arithmetic, reads, writes, _] = run.counts.as_slice() else { return None };
    let joules = picojoules(config, transforms, arithmetic, reads + writes) * 1e-9;
    Some(Figure::new(joules, OriginKind::Published, HOROWITZ))
}

/// Picojoules of busy cycles of the lanes in sum, of the arithmetic unit, and of beats.
fn picojoules(config: &CompactConfig, transforms: u64, arithmetic: u64, beats: u64) -> f64 {
    let width = f64::from(config.word_bits()) / 32.0;
    // A butterfly is a modular product (a full one and two reductions of about one) and two additions; a row of the
    // arithmetic unit the same for each of its words with one addition.
    let product = 2.0 * pj::MULTIPLY_32 * width * width;
    let butterflies = transforms as f64 * f64::from(config.butterflies());
    let words = arithmetic as f64 * 2.0 * f64::from(config.butterflies());
    let compute = butterflies * (product + 2.0 * pj::ADD_32 * width) + words * (product + pj::ADD_32 * width);
    let sram_words = 4.0 * butterflies + 3.0 * words;
    let beats = beats as f64 * f64::from(config.bus_bits()) / 64.0;
    compute + sram_words * pj::SRAM_64 * f64::from(config.word_bits()) / 64.0 + beats * pj::DRAM_64
}
