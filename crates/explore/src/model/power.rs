//! Power and energy: published energies of operations times what a run does, scaled to the device's node; for a family
//! without them, a published measurement of a board.
//!
//! The estimate leaves out power at rest, clock trees and pins. Its uncertainty is a factor of three either way on FPGAs.

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
    technology(device.family).is_some()
}

/// Watts, where a board was measured.
pub fn watts(device: &Device) -> Option<Figure> {
    device.power.as_ref().map(|p| Figure::new(p.watts, p.kind, p.source.clone()))
}

/// Millijoules of a run that takes `milliseconds`; `None` where no power is known.
pub fn millijoules(device: &Device, milliseconds: f64, work: &Work) -> Option<Figure> {
    if let Some(technology) = technology(device.family) {
        let value = picojoules(work, technology) * 1e-9;
        return Some(Figure::new(value, OriginKind::Published, technology.source));
    }
    let p = device.power.as_ref()?;
    let source = format!("power times time; {}", p.source);
    Some(Figure::new(p.watts * milliseconds, p.kind, source))
}

fn picojoules(work: &Work, technology: Technology) -> f64 {
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
        let mut counters = Counters::default();
        counters.transform_busy[0] = 1;
        let work = Work { word_bits: 64, butterflies: 1, bus_bits: 64, counters };
        // 64 bits: a product of 4·3.1 pJ and a reduction of as much, two sums of 0.2 pJ, four words of 20 pJ.
        let butterfly = |times: f64| times * (2.0 * 12.4 + 2.0 * 0.2) + 80.0;
        let of = |family| picojoules(&work, technology(family).unwrap());
        assert!((of(Family::Asic45) - butterfly(1.0)).abs() < 1e-9);
        assert!((of(Family::Xcup) - 0.198 * butterfly(14.0)).abs() < 1e-9);
        counters.read_beats = 1;
        assert!(
            (picojoules(&Work { counters, ..work }, technology(Family::Xc7).unwrap())
                - 0.652 * butterfly(14.0)
                - 1950.0)
                .abs()
                < 1e-9
        );
    }
}
