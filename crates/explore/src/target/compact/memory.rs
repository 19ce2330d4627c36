//! Which block memories a core takes, exactly, by family.
//!
//! Memories of the core: six banks of one row (2·Nbf words) times N/(2·Nbf) rows; two tables of roots a lane,
//! each Nbf memories of one word times N/Nbf; and the read FIFO. A FIFO at most 64 deep is in LUTs. A memory
//! of `width` × `depth` bits takes the fewest blocks over the shapes that a block can have.

use std::collections::BTreeMap;

use ringmill_cycles::axi::Shape;
use ringmill_machine::compact::Bank;

use super::machine::BankMemory;
use crate::design::Resource;
use crate::device::Family;

/// Banks of a core.
const BANKS: u64 = Bank::COUNT as u64;
/// Tables of roots: two a lane.
const TABLES: u64 = 4;
/// Deepest memory that is made of LUTs.
const LUT_DEPTH: u64 = 64;
/// Square micrometres of a bit of memory at 45 nm.
pub const SRAM_UM2_PER_BIT: f64 = 0.7;
/// Why.
pub const SRAM_SOURCE: &str = "0.7 um2 a bit assumed: twice the published 0.346 um2 of a 45 nm cell (Mistry et al., IEDM 2007), \
                               for a second port and periphery";

/// A core's memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Memories {
    /// Bits of a word.
    pub word_bits: u64,
    /// Butterflies a lane.
    pub butterflies: u64,
    /// log2 of the greatest N.
    pub log_n_max: u32,
    /// Bits of the bus.
    pub bus_bits: u64,
    /// Rows that are read ahead.
    pub read_rows: u64,
}

/// Width and depth of the shapes of a block, and of half a block beside it (none for a family without halves).
pub(crate) type Shapes = &'static [(u64, u64, u64)];

/// RAMB36 as simple dual port, with the width of a RAMB18 of the same depth (AMD UG473, UG573).
pub(crate) const BRAM36: Shapes =
    &[(72, 512, 36), (36, 1024, 18), (18, 2048, 9), (9, 4096, 4), (4, 8192, 2), (2, 16384, 1), (1, 32768, 0)];

/// DP16KD and PDPW16KD (Lattice FPGA-TN-02204).
const EBR: Shapes = &[(36, 512, 0), (18, 1024, 0), (9, 2048, 0), (4, 4096, 0), (2, 8192, 0), (1, 16384, 0)];

/// URAM288, of one shape (AMD UG573).
pub(crate) const URAM: Shapes = &[(72, 4096, 0)];

/// Fewest blocks of a memory, halves counted 0.5.
pub(crate) fn blocks(shapes: Shapes, width: u64, depth: u64) -> f64 {
    let one = |&(w, d, half): &(u64, u64, u64)| {
        let (full, rest) = (width / w, width % w);
        let last = match rest {
            0 => 0.0,
            r if r <= half => 0.5,
            _ => 1.0,
        };
        (full as f64 + last) * depth.div_ceil(d) as f64
    };
    shapes.iter().map(one).fold(f64::INFINITY, f64::min)
}

impl Memories {
    fn rows(&self) -> u64 {
        (1 << self.log_n_max) / (2 * self.butterflies)
    }

    /// Width and depth of the read FIFO.
    fn fifo(&self) -> (u64, u64) {
        let (row_words, beat_words) = (2 * self.butterflies, self.bus_bits / 64);
        let entry = row_words.max(beat_words);
        let depth = Shape::new(row_words, self.bus_bits, self.read_rows).read_depth();
        (entry * self.word_bits, depth / (entry / row_words))
    }

    /// Bits of all memories.
    pub fn bits(&self) -> u64 {
        let (width, depth) = self.fifo();
        ((BANKS + TABLES) << self.log_n_max) * self.word_bits + width * depth
    }

    /// Blocks of each kind; of an ASIC the area.
    pub fn needs(&self, family: Family, banks: BankMemory) -> BTreeMap<Resource, f64> {
        let row = 2 * self.butterflies * self.word_bits;
        let table_depth = (1 << self.log_n_max) / self.butterflies;
        let (fifo_width, fifo_depth) = self.fifo();
        let beside_banks = |shapes| {
            let tables = (TABLES * self.butterflies) as f64 * blocks(shapes, self.word_bits, table_depth);
            let fifo = if fifo_depth > LUT_DEPTH { blocks(shapes, fifo_width, fifo_depth) } else { 0.0 };
            tables + fifo
        };
        let in_banks = |shapes| BANKS as f64 * blocks(shapes, row, self.rows());
        match (family, banks) {
            (Family::Asic45, _) => [(Resource::AreaUm2, self.bits() as f64 * SRAM_UM2_PER_BIT)].into(),
            (Family::Ecp5, _) => [(Resource::Ebr, in_banks(EBR) + beside_banks(EBR))].into(),
            (Family::Xcup, BankMemory::Ultra) => {
                [(Resource::Uram, in_banks(URAM)), (Resource::Bram36, beside_banks(BRAM36))].into()
            }
            _ => [(Resource::Bram36, in_banks(BRAM36) + beside_banks(BRAM36))].into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against yosys: `rtl/synth/data`.
    #[test]
    fn blocks_are_those_that_synthesis_takes() {
        let core = Memories { word_bits: 54, butterflies: 4, log_n_max: 13, bus_bits: 512, read_rows: 64 };
        assert_eq!(core.needs(Family::Xcup, BankMemory::Block)[&Resource::Bram36], 120.0);
        // Two tables of one lane: `rm_ntt_unit` at N = 2^13, W = 54 on 7-series, N = 2^12, W = 36 on ECP5.
        assert_eq!(2.0 * blocks(BRAM36, 54, 1 << 13), 24.0);
        assert_eq!(2.0 * blocks(EBR, 36, 1 << 12), 16.0);
    }

    #[test]
    fn a_memory_never_takes_less_than_its_bits() {
        for width in 1..=200 {
            for depth in [16, 512, 1000, 1024, 4096, 40_000] {
                assert!(blocks(BRAM36, width, depth) * 36_864.0 >= (width * depth) as f64, "{width} {depth}");
                assert!(blocks(EBR, width, depth) * 18_432.0 >= (width * depth) as f64, "{width} {depth}");
                assert!(blocks(URAM, width, depth) * 294_912.0 >= (width * depth) as f64, "{width} {depth}");
            }
        }
    }

    #[test]
    fn ultra_memory_frees_block_memory() {
        let core = Memories { word_bits: 60, butterflies: 4, log_n_max: 14, bus_bits: 512, read_rows: 64 };
        let (block, ultra) =
            (core.needs(Family::Xcup, BankMemory::Block), core.needs(Family::Xcup, BankMemory::Ultra));
        assert!(ultra[&Resource::Bram36] < block[&Resource::Bram36] && ultra[&Resource::Uram] > 0.0);
    }
}
