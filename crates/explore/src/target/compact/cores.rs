//! Every core for a device, by the axes of the space.

use ringmill_machine::compact::{CompactLiteral, MemoryTiming, Multiplier, Policy};

use super::machine::{BankMemory, LutUnit, Machine, Synthesis, Tile};
use super::memory::Memories;
use super::{CompactCores, FEW_ONES, QUICK, Timing, logic};
use crate::ExploreError;
use crate::design::Resource;
use crate::device::Device;
use crate::space::few_ones;
use crate::target::{Core, Place};

/// Every core for limbs of 2^`log_n` words and `primes` moduli, fitting or not, in a fixed order.
///
/// # Errors
/// A memory that no core waits for; a bus that the device has not; synthesis data that lack a multiplier.
pub(super) fn enumerate(place: &Place<'_>) -> Result<Vec<Core<CompactCores>>, ExploreError> {
    let Place { space, device, .. } = *place;
    let mut all = Vec::new();
    let buses = buses(place)?;
    let latency = latency_cycles(device)?;
    let products = products(place)?;
    for name in space.names("multipliers") {
        let few = name == FEW_ONES;
        let Some(multiplier) = (if few { Some(Multiplier::PrfFiko) } else { Multiplier::by_name(name) })
        else {
            continue;
        };
        for (&word_bits, &butterflies) in pairs(space.numbers("words"), space.numbers("butterflies")) {
            for &(bus_bits, beat_cycles, read_rows) in &rows_of(place, &buses, latency, butterflies) {
                let literal = CompactLiteral {
                    word_bits,
                    butterflies,
                    log_n_max: place.log_n,
                    moduli: place.primes,
                    multiplier,
                    ones: if few { few_ones(word_bits, place.log_n) } else { 0 },
                    bus_bits,
                    read_rows,
                    memory_bytes: device.memory.bytes,
                    timing: MemoryTiming { latency, beat_cycles },
                };
                for &(tile, lut_unit) in &products {
                    for &banks in memories(device) {
                        let synthesis = Synthesis { family: device.family, tile, lut_unit, banks };
                        let (policy, config) = (Policy::Throughput, literal.build()?);
                        let machine = Machine { config, policy, effort: QUICK, synthesis };
                        all.push(core(machine, place)?);
                    }
                }
            }
        }
    }
    Ok(all)
}

/// The ways in which products are made that the device has blocks for.
fn products(place: &Place<'_>) -> Result<Vec<(Tile, LutUnit)>, ExploreError> {
    let names = place.space.names("products");
    let found: Vec<_> = names.iter().filter_map(|n| Synthesis::products(place.device.family, n)).collect();
    if found.is_empty() {
        return Err(ExploreError::Constraint {
            constraint: "products",
            value: names.join(", "),
            right: format!("lut, since {} has no blocks that multiply", place.device.family.name()),
        });
    }
    Ok(found)
}

/// Widths of the bus that the device allows, each with the cycles between its beats.
fn buses(place: &Place<'_>) -> Result<Vec<(u32, u32)>, ExploreError> {
    let (device, buses) = (place.device, place.space.numbers("buses"));
    let narrow = |&b: &u32| b <= device.memory.bus_bits_max;
    let beat = |b: u32| {
        let cycles = device.beat_cycles(b);
        (cycles <= CompactLiteral::BEAT_CYCLES_MAX.into()).then_some((b, cycles as u32))
    };
    let fed: Vec<(u32, u32)> = buses.iter().copied().filter(narrow).filter_map(beat).collect();
    if !fed.is_empty() {
        return Ok(fed);
    }
    if buses.iter().any(narrow) {
        let right = "a rate, a clock and a bus at which a core waits 64 cycles for a beat at most";
        return Err(ExploreError::Constraint {
            constraint: "memory",
            value: memory(device),
            right: right.into(),
        });
    }
    Err(ExploreError::Constraint {
        constraint: "buses",
        value: format!("{buses:?}"),
        right: "no wider than the device's memory.bus_bits_max in at least one case".into(),
    })
}

/// Each bus with the numbers of rows that are read ahead of it: up to the first that covers the latency of the memory, since more
/// would change nothing.
fn rows_of(place: &Place<'_>, buses: &[(u32, u32)], latency: u32, butterflies: u32) -> Vec<(u32, u32, u32)> {
    let mut all = Vec::new();
    for &(bus_bits, beat_cycles) in buses {
        // Rows whose beats come between a request and its first answer, with the cycles that requests and rows wait on chip.
        let beats = u64::from(latency + WAY).div_ceil(beat_cycles.into());
        let covering = beats * u64::from(bus_bits) / (64 * 2 * u64::from(butterflies));
        let numbers = place.space.numbers("read_rows");
        let enough = numbers.iter().copied().filter(|&rows| u64::from(rows) >= covering).min();
        let useful = numbers.iter().filter(|&&rows| enough.is_none_or(|most| rows <= most));
        all.extend(useful.map(|&rows| (bus_bits, beat_cycles, rows)));
    }
    all
}

/// Cycles from a request of the core to the memory, and from a beat to the arithmetic unit, at most.
const WAY: u32 = 16;

/// Cycles from a request to its first beat.
fn latency_cycles(device: &Device) -> Result<u32, ExploreError> {
    let cycles = device.latency_cycles();
    if cycles <= CompactLiteral::LATENCY_MAX.into() {
        return Ok(cycles as u32);
    }
    let right = "a latency and a clock at which a core waits 100,000 cycles at most";
    Err(ExploreError::Constraint { constraint: "memory", value: memory(device), right: right.into() })
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

fn core(machine: Machine, place: &Place<'_>) -> Result<Core<CompactCores>, ExploreError> {
    let Machine { config, synthesis, .. } = machine;
    let memories = Memories {
        word_bits: config.word_bits().into(),
        butterflies: config.butterflies().into(),
        log_n_max: config.log_n_max(),
        bus_bits: config.bus_bits().into(),
        read_rows: config.read_rows().into(),
    };
    let mut needs = memories.needs(place.device.family, synthesis.banks);
    for (resource, amount) in logic::Shape::of(&machine).needs()? {
        *needs.entry(resource).or_insert(0.0) += amount;
    }
    Ok(place.core(machine, config.word_bits(), Timing::of(&config), needs))
}
