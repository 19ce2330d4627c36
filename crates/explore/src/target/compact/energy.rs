//! Energy of a run: published energies of operations times their counts, scaled to the node of the device's family.
//!
//! The estimate leaves out power at rest, clock trees and pins. Its uncertainty is a factor of three either way on FPGAs.

use ringmill_machine::compact::CompactConfig;

use crate::design::{Figure, OriginKind};
use crate::device::Family;
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

/// Energies of a family over those at 45 nm and 0.9 V.
#[derive(Debug, Clone, Copy)]
struct Technology {
    /// Of a switching gate.
    gate: f64,
    /// Of the same logic in the fabric of an FPGA.
    fabric: f64,
    source: &'static str,
}

/// The mean of Kuon and Rose, IEEE TCAD 26 (2007): dynamic power of logic on FPGAs over that of standard cells.
const FABRIC: f64 = 14.0;

/// What is known of a family's node and voltage: quadratic fits of Stillmaker and Baas, Integration 58 (2017). At 28 nm
/// between those of 32 and 20 nm, evenly in logarithms.
fn technology(family: Family) -> Option<Technology> {
    let (gate, fabric, source) = match family {
        Family::Ecp5 => return None,
        Family::Asic45 => (1.0, 1.0, HOROWITZ),
        Family::Xc7 => (
            0.652,
            FABRIC,
            "energies of Horowitz, ISSCC 2014, times counts; at 28 nm and 1.0 V by Stillmaker, Baas 2017; logic 14 \
             times that of cells by Kuon, Rose 2007; DRAM included, power at rest not; within a factor of 3",
        ),
        Family::Xcup => (
            0.198,
            FABRIC,
            "energies of Horowitz, ISSCC 2014, times counts; at 16 nm and 0.85 V by Stillmaker, Baas 2017; logic 14 \
             times that of cells by Kuon, Rose 2007; DRAM included, power at rest not; within a factor of 3",
        ),
    };
    Some(Technology { gate, fabric, source })
}

/// Whether energies are published for a family.
pub(super) fn is_known(family: Family) -> bool {
    technology(family).is_some()
}

/// Millijoules of a run; none without its counts, or for a family of which nothing is known.
pub(super) fn millijoules(family: Family, config: &CompactConfig, run: &Run) -> Option<Figure> {
    let technology = technology(family)?;
    let &[transforms, arithmetic, reads, writes, _] = run.counts.as_slice() else { return None };
    let work = Work {
        word_bits: config.word_bits(),
        butterflies: config.butterflies(),
        bus_bits: config.bus_bits(),
        transforms,
        arithmetic,
        beats: reads + writes,
    };
    Some(Figure::new(picojoules(&work, technology) * 1e-9, OriginKind::Published, technology.source))
}

/// What a run does.
#[derive(Debug, Clone, Copy)]
struct Work {
    word_bits: u32,
    /// Butterflies a lane.
    butterflies: u32,
    /// Bits of a beat.
    bus_bits: u32,
    /// Busy cycles of the lanes in sum.
    transforms: u64,
    /// Busy cycles of the arithmetic unit.
    arithmetic: u64,
    beats: u64,
}

fn picojoules(work: &Work, technology: Technology) -> f64 {
    let width = f64::from(work.word_bits) / 32.0;
    // A butterfly is a modular product (a full one and two reductions of about one) and two additions; a row of the
    // arithmetic unit the same for each of its words with one addition.
    let product = 2.0 * pj::MULTIPLY_32 * width * width;
    let butterflies = work.transforms as f64 * f64::from(work.butterflies);
    let words = work.arithmetic as f64 * 2.0 * f64::from(work.butterflies);
    let compute = butterflies * (product + 2.0 * pj::ADD_32 * width) + words * (product + pj::ADD_32 * width);
    let sram_words = 4.0 * butterflies + 3.0 * words;
    let beats = work.beats as f64 * f64::from(work.bus_bits) / 64.0;
    let memory = sram_words * pj::SRAM_64 * f64::from(work.word_bits) / 64.0;
    // Memories of an FPGA are hard blocks. Those beside it are the same whatever the core is made of.
    technology.gate * (technology.fabric * compute + memory) + beats * pj::DRAM_64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fits again, and one butterfly by hand.
    #[test]
    fn energies_are_those_of_the_publications() {
        let fit = |[a, b, c]: [f64; 3], volts: f64| a * volts * volts + b * volts + c;
        let at_45 = fit([1.018, -0.3107, 0.1539], 0.9);
        let at_16 = fit([0.2958, -0.1241, 0.03024], 0.85);
        let (at_32, at_20) = (fit([0.8367, -0.4341, 0.1701], 1.0), fit([0.373, -0.1582, 0.04104], 1.0));
        let share = (32f64 / 28.0).ln() / (32f64 / 20.0).ln();
        let at_28 = at_32.powf(1.0 - share) * at_20.powf(share);
        for (family, node) in [(Family::Xc7, at_28), (Family::Xcup, at_16), (Family::Asic45, at_45)] {
            let gate = technology(family).unwrap().gate;
            assert!((gate - node / at_45).abs() < 1e-3, "{family:?}: {gate}, {}", node / at_45);
        }
        assert!(technology(Family::Ecp5).is_none());
        let work =
            Work { word_bits: 64, butterflies: 1, bus_bits: 64, transforms: 1, arithmetic: 0, beats: 0 };
        // 64 bits: a product of 4·3.1 pJ and a reduction of as much, two sums of 0.2 pJ, four words of 20 pJ.
        let butterfly = |times: f64| times * (2.0 * 12.4 + 2.0 * 0.2) + 80.0;
        let of = |family| picojoules(&work, technology(family).unwrap());
        assert!((of(Family::Asic45) - butterfly(1.0)).abs() < 1e-9);
        assert!((of(Family::Xcup) - 0.198 * butterfly(14.0)).abs() < 1e-9);
        let read = picojoules(&Work { beats: 1, ..work }, technology(Family::Xc7).unwrap());
        assert!((read - 0.652 * butterfly(14.0) - 1950.0).abs() < 1e-9);
    }
}
