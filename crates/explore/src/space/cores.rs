//! Hardware of the space: every core that fits a device.

use std::collections::BTreeMap;

use ringmill_machine::compact::{CompactConfig, Multiplier, Policy};

use super::Space;
use crate::design::{BankMemory, Hardware, LANES, PrimeClass, Resource, multiplier_by_name};
use crate::device::{Device, overall};
use crate::model::logic;
use crate::model::memory::Memories;
use crate::{Constraints, ExploreError};

/// Entries of the modulus table: a chain of up to 16 primes takes the small one.
const TABLES: [u32; 2] = [16, PRIMES_MAX];
/// Primes of the longest chain that a core holds.
pub const PRIMES_MAX: u32 = 32;
/// Passes scheduled in search of a plan while the space is searched: the plan of the rules as they are.
pub const QUICK: usize = 1;

/// What the cycle model knows of a core: cores alike in this take the same cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timing {
    /// Butterflies a lane.
    pub butterflies: u32,
    /// Bits of the bus.
    pub bus_bits: u32,
    /// Cycles from one beat to the next.
    pub beat_cycles: u32,
    /// Cycles to the first beat.
    pub latency: u32,
    /// Stands for the multiplier's latency: the sparse word Montgomery multiplier has that of the other.
    pub multiplier: u32,
}

impl Timing {
    /// As text, for files.
    pub fn key(&self) -> String {
        let Self { butterflies, bus_bits, beat_cycles, latency, multiplier } = self;
        format!("b{butterflies} d{bus_bits} c{beat_cycles} l{latency} m{multiplier}")
    }

    /// From what [`Self::key`] writes.
    pub fn from_key(key: &str) -> Option<Self> {
        let [butterflies, bus_bits, beat_cycles, latency, multiplier] = super::numbers(key)?;
        Some(Self { butterflies, bus_bits, beat_cycles, latency, multiplier })
    }
}

/// A core that may be built.
#[derive(Debug, Clone, PartialEq)]
pub struct Core {
    /// Its parameters.
    pub hardware: Hardware,
    /// The same, checked.
    pub config: CompactConfig,
    /// Its multiplier.
    pub multiplier: Multiplier,
    /// What it takes.
    pub needs: BTreeMap<Resource, f64>,
    /// One number for that.
    pub area: f64,
    /// What its cycles depend on.
    pub timing: Timing,
    /// Whether it fits, and if not, the resource that binds, the amount needed and what there is.
    pub binding: Option<(Resource, f64, f64)>,
}

impl Core {
    /// Whether its multiplier serves primes of a class and a number of bits.
    pub fn serves(&self, class: PrimeClass, widest: u32) -> bool {
        let w = self.hardware.word_bits;
        widest <= w
            && match self.multiplier {
                Multiplier::Montgomery | Multiplier::Barrett => class == PrimeClass::Any,
                Multiplier::WordMontgomery => class == PrimeClass::OneMod(w / 2),
                Multiplier::SparseWordMontgomery => class == PrimeClass::Sparse(w),
                Multiplier::PrfFiko => class == PrimeClass::PrfFiko(w),
                // For imported chains; of those that are searched, the classes above have smaller multipliers.
                Multiplier::Ntt => false,
            }
    }

    /// The logic's shape, for the origin of its amounts.
    pub fn shape(&self) -> logic::Shape {
        logic::Shape {
            family: self.hardware.family,
            multiplier: self.multiplier,
            tile: self.hardware.tile,
            word_bits: self.hardware.word_bits,
            butterflies: self.hardware.butterflies,
            bus_bits: self.hardware.bus_bits,
        }
    }
}

/// Every core for limbs of 2^`log_n` words and `moduli` moduli, fitting or not, in a fixed order.
///
/// # Errors
/// Synthesis data that lack a multiplier.
pub fn enumerate(
    space: &Space,
    device: &Device,
    constraints: &Constraints,
    log_n: u32,
    moduli: usize,
) -> Result<Vec<Core>, ExploreError> {
    let mut all = Vec::new();
    let table = TABLES.into_iter().find(|&t| moduli <= t as usize).unwrap_or(TABLES[1]);
    let narrow = |&b: &u32| b <= device.memory.bus_bits_max;
    let beat = |b: u32| device.beat_cycles(b).map(|cycles| (b, cycles));
    let buses: Vec<(u32, u32)> = space.buses.iter().copied().filter(narrow).filter_map(beat).collect();
    let Some(memory_latency) = device.latency_cycles() else {
        let right = "a latency and a clock at which a core waits 100,000 cycles at most";
        return Err(ExploreError::Constraint { constraint: "memory", value: memory(device), right });
    };
    if buses.is_empty() && space.buses.iter().any(narrow) {
        let right = "a rate, a clock and a bus at which a core waits 64 cycles for a beat at most";
        return Err(ExploreError::Constraint { constraint: "memory", value: memory(device), right });
    }
    if buses.is_empty() {
        let right = "no wider than the device's memory.bus_bits_max in at least one case";
        return Err(ExploreError::Constraint {
            constraint: "buses",
            value: format!("{:?}", space.buses),
            right,
        });
    }
    let multipliers: Result<Vec<_>, _> = space.multipliers.iter().map(|m| multiplier_by_name(m)).collect();
    for multiplier in multipliers? {
        for (&word_bits, &butterflies) in pairs(&space.words, &space.butterflies) {
            for &(bus_bits, beat_cycles) in &buses {
                for &tile in device.family.tiles() {
                    for &banks in memories(device) {
                        let hardware = Hardware {
                            family: device.family,
                            word_bits,
                            butterflies,
                            lanes: LANES,
                            multiplier: multiplier.name().into(),
                            tile,
                            banks,
                            log_n_max: log_n,
                            moduli: table,
                            bus_bits,
                            memory_bytes: device.memory.bytes,
                            memory_latency,
                            beat_cycles,
                            policy: Policy::Throughput.name().into(),
                            effort: QUICK,
                        };
                        all.push(core(hardware, multiplier, device, constraints)?);
                    }
                }
            }
        }
    }
    Ok(all)
}

fn memory(device: &Device) -> String {
    let memory = &device.memory;
    format!("{} GB/s after {} ns at {} MHz", memory.gigabytes_per_second, memory.latency_ns, device.clock.mhz)
}

fn pairs<'a>(a: &'a [u32], b: &'a [u32]) -> impl Iterator<Item = (&'a u32, &'a u32)> {
    a.iter().flat_map(move |x| b.iter().map(move |y| (x, y)))
}

/// What can hold the banks.
fn memories(device: &Device) -> &'static [BankMemory] {
    match device.amount(Resource::Uram) > 0.0 {
        true => &[BankMemory::Block, BankMemory::Ultra],
        false => &[BankMemory::Block],
    }
}

fn core(
    hardware: Hardware,
    multiplier: Multiplier,
    device: &Device,
    constraints: &Constraints,
) -> Result<Core, ExploreError> {
    let config = hardware.config()?;
    let memories = Memories {
        word_bits: hardware.word_bits.into(),
        butterflies: hardware.butterflies.into(),
        log_n_max: hardware.log_n_max,
        bus_bits: hardware.bus_bits.into(),
    };
    let timing = Timing {
        butterflies: hardware.butterflies,
        bus_bits: hardware.bus_bits,
        beat_cycles: hardware.beat_cycles,
        latency: hardware.memory_latency,
        multiplier: match multiplier {
            Multiplier::SparseWordMontgomery => Multiplier::WordMontgomery.code(),
            other => other.code(),
        },
    };
    let mut core = Core {
        config,
        multiplier,
        needs: memories.needs(device.family, hardware.banks),
        area: 0.0,
        timing,
        binding: None,
        hardware,
    };
    for (resource, amount) in core.shape().needs()? {
        *core.needs.entry(resource).or_insert(0.0) += amount;
    }
    let scaled = core.needs.iter().map(|(&r, &x)| (r, x / constraints.utilisation)).collect();
    core.binding = device.binding(&scaled);
    core.area = overall(&core.needs);
    Ok(core)
}
