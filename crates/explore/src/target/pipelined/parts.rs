//! What an engine is made of, on UltraScale+. Multipliers and words are counted, as `rtl/pipelined/schedule.py` and `pool.py` count
//! them. Logic around multipliers is that of synthesised blocks, in proportion to their multipliers and words.

use std::collections::BTreeMap;

use super::machine::{Build, Machine};
use crate::design::Resource;
use crate::device::Device;
use crate::target::compact::memory::{BRAM36, URAM, blocks};
use crate::target::compact::{Tile, logic};
use crate::{ExploreError, device::Family};

/// Where logic comes from.
pub const LOGIC: &str = "multipliers as synthesised and counted; around them, in proportion to multipliers and words, as around those of \
                         rm_ks_bank, rm_ks_lift and rm_streaming_ntt, synthesised at 60 bits; units in place and the special bank are not \
                         synthesised, and taken as the others are";
/// Where blocks of multipliers come from.
pub const BLOCKS: &str = "multipliers counted, blocks of each as synthesised";
/// Where memories come from.
pub const MEMORIES: &str = "words of sums, slots, units and delays counted, over the shapes of a block";

/// LUTs, those that are memories or delays among them, and flip-flops of a block without its multipliers, at 60 bits:
/// `rtl/synth/data`, to which a test holds them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Around {
    pub(super) lut: f64,
    pub(super) ff: f64,
    pub(super) multipliers: f64,
}

/// `rm_ks_bank` of eight words.
pub(super) const BANK: Around = Around { lut: 8174.0, ff: 4955.0, multipliers: 16.0 };
/// `rm_ks_lift` of eight words.
pub(super) const LIFT: Around = Around { lut: 1096.0, ff: 968.0, multipliers: 8.0 };
/// `rm_streaming_ntt` of two words at N = 2^14.
pub(super) const TRANSFORM: Around = Around { lut: 11_543.0, ff: 10_605.0, multipliers: 17.0 };
/// `rm_ks_marks`, and `rm_ks_ring` of eight words and 16,910 rows.
pub(super) const MARKS: [f64; 2] = [158.0, 108.0];
pub(super) const RING: [f64; 2] = [4365.0, 35.0];

/// Words of a row of a pool, butterflies and twiddle multipliers of a unit.
const LANES: u64 = 16;
const UNIT: [u64; 2] = [32, 15];
/// Deepest memory that is made of LUTs.
const LUT_DEPTH: u64 = 64;

/// Multipliers of an engine: in transforms, in lifts or feeds, in sums.
pub fn multipliers(machine: &Machine) -> [u64; 3] {
    let [limbs, special, alpha] = machine.build.most().map(u64::from);
    match machine.build {
        Build::Streams { lanes, .. } => {
            let p = u64::from(lanes);
            let transform = u64::from(machine.log_n) * p / 2 + p + 1;
            [(limbs + 1) * transform, limbs * p, (limbs + 1) * 2 * p]
        }
        Build::Pool { units, feeds, .. } => [
            u64::from(units) * (UNIT[0] + UNIT[1]),
            LANES * u64::from(feeds) * alpha.max(special),
            2 * LANES * u64::from(feeds),
        ],
    }
}

/// A memory: words of a row, rows, and how many there are.
type Memory = (u64, u64, u64);

/// Memories of rows of whole limbs.
fn memories(machine: &Machine) -> Vec<Memory> {
    let [limbs, special, alpha] = machine.build.most().map(u64::from);
    let n = 1 << machine.log_n;
    match machine.build {
        Build::Streams { lanes, .. } => {
            let p = u64::from(lanes);
            let rows = n / p;
            // Through both transforms and the lift, with the longest products.
            let through = 2 * (rows - 1 + u64::from(machine.log_n) * 18) + 16;
            vec![(p, rows, 4 * (limbs + 1)), (p, through, 1)]
        }
        Build::Pool { digits, units, .. } => {
            let rows = n / LANES;
            let slots = (u64::from(digits) + 2) * alpha.max(special);
            // Limbs of sums serve any modulus: `Set::sums` of the machine.
            let sums = 2 * (limbs + 2 * special + 1);
            vec![(LANES, rows, u64::from(units) + slots + sums)]
        }
    }
}

/// Words of all of these, delays of transforms apart.
#[cfg(test)]
pub(super) fn words(machine: &Machine) -> u64 {
    memories(machine).iter().map(|(width, rows, count)| width * rows * count).sum()
}

/// Amounts of every resource.
///
/// # Errors
/// [`ExploreError::Data`] for a multiplier that was not synthesised.
pub fn needs(machine: &Machine, device: &Device) -> Result<BTreeMap<Resource, f64>, ExploreError> {
    let each = logic::multiplier(Family::Xcup, machine.multiplier, Tile::Dsp48e2, machine.word_bits)?;
    let [transforms, lifts, sums] = multipliers(machine).map(|n| n as f64);
    let all = transforms + lifts + sums;
    let word = f64::from(machine.word_bits) / 60.0;
    let around = |count: f64, of: Around| [count * of.lut / of.multipliers, count * of.ff / of.multipliers];
    let mut logic = [[0.0; 2], around(transforms, TRANSFORM), around(lifts, LIFT), around(sums, BANK)]
        .into_iter()
        .fold([0.0; 2], |sum, part| [sum[0] + word * part[0], sum[1] + word * part[1]]);
    let [limbs, special, alpha] = machine.build.most().map(f64::from);
    for (sum, marks) in logic.iter_mut().zip(MARKS) {
        *sum += marks * (limbs + special);
    }
    let ultra = device.amount(Resource::Uram) > 0.0;
    let rows = if ultra { URAM } else { BRAM36 };
    let mut large = 0.0;
    for (width, depth, count) in memories(machine) {
        large += count as f64 * blocks(rows, width * u64::from(machine.word_bits), depth);
    }
    let mut small = 0.0;
    let mut dsp = all * each[2];
    match machine.build {
        Build::Streams { lanes, .. } => {
            for (sum, ring) in logic.iter_mut().zip(RING) {
                *sum += ring * word * f64::from(lanes) / 8.0;
            }
            let stages = machine.log_n - lanes.ilog2();
            let width = u64::from(lanes * machine.word_bits);
            let delays = (0..stages).map(|k| 1 << k).filter(|&depth| depth > LUT_DEPTH);
            let delays: f64 = delays.map(|depth| blocks(BRAM36, width, depth)).sum();
            // And two blocks for the words of twiddle factors, so that no transform takes less than one that was synthesised.
            small += (limbs + 1.0) * (delays + 2.0);
        }
        Build::Pool { feeds, units, .. } => {
            let columns = alpha.max(special);
            // Quotients of several limbs: a product of 14 and 15 bits a feed, column and lane.
            if columns > 1.0 {
                dsp += LANES as f64 * f64::from(feeds) * columns;
            }
            small += f64::from(units);
        }
    }
    let (uram, bram) = if ultra { (large, small) } else { (0.0, large + small) };
    Ok([
        (Resource::Lut, (all * each[0] + logic[0]).ceil()),
        (Resource::Ff, (all * each[1] + logic[1]).ceil()),
        (Resource::Dsp, dsp.ceil()),
        (Resource::Bram36, bram),
        (Resource::Uram, uram),
    ]
    .into())
}
