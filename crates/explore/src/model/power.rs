//! Power and energy: a published measurement of a board, or published energies of 45 nm operations.

use ringmill_machine::compact::Counters;

use crate::design::{Figure, Hardware, OriginKind};
use crate::device::{Device, Family};

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

/// What a run does.
#[derive(Debug, Clone, Copy)]
pub struct Work {
    /// Bits of a word.
    pub word_bits: u32,
    /// Butterflies a lane.
    pub butterflies: u32,
    /// Bits of a beat.
    pub bus_bits: u32,
    /// Counters of the run.
    pub counters: Counters,
}

impl Work {
    /// A run on a core.
    pub fn of(hardware: &Hardware, counters: Counters) -> Self {
        let Hardware { word_bits, butterflies, bus_bits, .. } = *hardware;
        Self { word_bits, butterflies, bus_bits, counters }
    }
}

/// Whether anything is known of the energy of a run.
pub fn is_known(device: &Device) -> bool {
    device.power.is_some() || is_counted(device)
}

/// Whether it is counted operation by operation, so that the least time need not take the least energy.
pub fn is_counted(device: &Device) -> bool {
    device.power.is_none() && device.family == Family::Asic45
}

/// Watts, where a board was measured.
pub fn watts(device: &Device) -> Option<Figure> {
    device.power.as_ref().map(|p| Figure::new(p.watts, p.kind, p.source.clone()))
}

/// Millijoules of a run that takes `milliseconds`; `None` where no power is known.
pub fn millijoules(device: &Device, milliseconds: f64, work: &Work) -> Option<Figure> {
    if let Some(p) = &device.power {
        let source = format!("power times time; {}", p.source);
        return Some(Figure::new(p.watts * milliseconds, p.kind, source));
    }
    is_counted(device).then(|| Figure::new(asic(work) * 1e-9, OriginKind::Published, HOROWITZ))
}

/// Picojoules.
fn asic(work: &Work) -> f64 {
    let width = f64::from(work.word_bits) / 32.0;
    let c = &work.counters;
    // A butterfly is a modular product (a full one and two reductions of about one) and two additions; a row of the
    // arithmetic unit the same for each of its words with one addition.
    let product = 2.0 * pj::MULTIPLY_32 * width * width;
    let butterflies = c.transform_busy.iter().sum::<u64>() as f64 * f64::from(work.butterflies);
    let words = c.arithmetic_busy as f64 * 2.0 * f64::from(work.butterflies);
    let compute = butterflies * (product + 2.0 * pj::ADD_32 * width) + words * (product + pj::ADD_32 * width);
    let sram_words = 4.0 * butterflies + 3.0 * words;
    let beats = (c.read_beats + c.write_beats) as f64 * f64::from(work.bus_bits) / 64.0;
    compute + sram_words * pj::SRAM_64 * f64::from(work.word_bits) / 64.0 + beats * pj::DRAM_64
}
