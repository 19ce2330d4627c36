//! The pipelined key switch beside a processor (`docs/papers/duong-lee.md`): chains of streaming transforms, and pools of transform
//! units in place.
//!
//! | file | what it holds |
//! |---|---|
//! | `machine` | one engine, as a design says it |
//! | `engines` | every engine for a device |
//! | [`bound`] | cycles that no run goes below |
//! | [`parts`] | what an engine is made of: multipliers, memories, and synthesised blocks |

pub mod bound;
mod engines;
mod machine;
pub mod parts;

use std::collections::BTreeMap;

use ringmill_machine::compact::Multiplier;
use ringmill_machine::pipelined::ENTRY;
use ringmill_machine::registry::Entry;
use ringmill_machine::{MachineError, MachineSpec};
use ringmill_program::limb::LimbProgram;

pub use machine::{Build, Machine};

use super::{Axis, Column, Core, Key, Place, Plan, Row, Run, Target, Values};
use crate::design::{Built, Figure, OriginKind, PrimeClass, Resource};
use crate::device::Device;
use crate::{ExploreError, Space};
use bound::Demand;

/// Pipelined engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PipelinedEngines;

/// Most limbs, and most special primes, of an engine.
const MOST: [u32; 2] = [15, 7];

/// Multipliers that designs are searched for: a class of primes each.
const MULTIPLIERS: [Multiplier; 3] =
    [Multiplier::WordMontgomery, Multiplier::SparseWordMontgomery, Multiplier::Montgomery];
const NAMES: [&str; 3] = [MULTIPLIERS[0].name(), MULTIPLIERS[1].name(), MULTIPLIERS[2].name()];

/// The names of the builds.
const STREAMS: &str = "streams";
const POOL: &str = "pool";

static ROW: Row = Row {
    name: "pipelined",
    about: "the pipelined key switch beside a processor: a chain of streams or a pool of units, word, multiplier, keys",
    log_n: [10, 16],
    log_n_searched: 12,
    primes: MOST[0] + MOST[1],
    axes: &[
        Axis { name: "builds", one: "build", values: Values::Names(&[STREAMS, POOL]), cut: false },
        Axis {
            name: "lanes",
            one: "number of lanes",
            values: Values::Numbers(&[2, 4, 8, 16, 32]),
            cut: false,
        },
        Axis { name: "units", one: "number of units", values: Values::Numbers(&[2, 5, 10, 20]), cut: false },
        Axis { name: "feeds", one: "number of feeds", values: Values::Numbers(&[1, 2, 3]), cut: false },
        Axis {
            name: "special",
            one: "number of special primes",
            values: Values::Numbers(&[1, 2, 3, 4]),
            cut: false,
        },
        Axis { name: "words", one: "word", values: Values::Numbers(&[36, 54, 60]), cut: true },
        Axis { name: "multipliers", one: "multiplier", values: Values::Names(&NAMES), cut: false },
        Axis { name: "keys", one: "kind of keys", values: Values::Names(&["whole", "seeded"]), cut: false },
    ],
    columns: &[
        Column { field: "build", number: false, heading: "build" },
        Column { field: "limbs", number: true, heading: "limbs" },
        Column { field: "word_bits", number: true, heading: "W" },
        Column { field: "multiplier", number: false, heading: "multiplier" },
        Column { field: "keys", number: false, heading: "keys" },
    ],
    summary: "{build} of {limbs} limbs, {word_bits} bits, {multiplier}, keys {keys}",
    counters: &["engine_cycles", "host_cycles", "link_bytes", "key_switches"],
    cycles_source: "machine pipelined: the engine start by start, the host by costs of a Zen 4 core as stored, the link by its bytes",
    bound_source: "closed form, a lower bound",
};

/// What cycles depend on beside the program's structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timing([u32; 12]);

impl Timing {
    fn of(machine: &Machine) -> Self {
        let Machine { build, multiplier, seeded, clock, bandwidth, latency, link, link_latency, .. } =
            *machine;
        let [kind, wide, feeds, limbs, special, digits] = match build {
            Build::Streams { limbs, lanes } => [0, lanes, 0, limbs, 1, limbs],
            Build::Pool { limbs, special, digits, units, feeds } => [1, units, feeds, limbs, special, digits],
        };
        // The sparse word Montgomery multiplier has the latency of the other.
        let multiplier = match multiplier {
            Multiplier::SparseWordMontgomery => Multiplier::WordMontgomery.code(),
            other => other.code(),
        };
        let keys = 2 * multiplier + u32::from(seeded);
        Self([kind, wide, feeds, limbs, special, digits, keys, clock, bandwidth, latency, link, link_latency])
    }
}

impl Key for Timing {
    fn key(&self) -> String {
        let letters = "bwfkpdmcrlxy".chars();
        let words: Vec<String> = letters.zip(self.0).map(|(letter, n)| format!("{letter}{n}")).collect();
        words.join(" ")
    }

    fn from_key(key: &str) -> Option<Self> {
        crate::space::numbers(key).map(Self)
    }
}

impl Target for PipelinedEngines {
    type Machine = Machine;
    type Timing = Timing;
    type Demand = Demand;

    fn row(&self) -> &'static Row {
        &ROW
    }

    fn entry(&self) -> &'static Entry {
        &ENTRY
    }

    fn classes(&self, space: &Space) -> Vec<(PrimeClass, u32)> {
        let named = |wanted: Multiplier| space.names("multipliers").iter().any(|name| name == wanted.name());
        let mut all = Vec::new();
        for &word in space.numbers("words") {
            all.extend(MULTIPLIERS.into_iter().filter(|&m| named(m)).map(|m| (class(m, word), word)));
        }
        all
    }

    fn holding(&self, primes: usize) -> u32 {
        primes as u32
    }

    fn enumerate(&self, place: &Place<'_>) -> Result<Vec<Core<Self>>, ExploreError> {
        engines::enumerate(place)
    }

    fn serves(&self, core: &Core<Self>, wanted: PrimeClass, widest: u32) -> bool {
        widest <= core.prime_bits && wanted == class(core.machine.multiplier, core.prime_bits)
    }

    fn demand(&self, _core: &Core<Self>, program: &LimbProgram) -> Option<Demand> {
        Demand::of(program)
    }

    fn bound(&self, core: &Core<Self>, demand: &Demand) -> u64 {
        demand.cycles(&core.machine)
    }

    /// As the machine estimates it. An engine that serves no key switch of a program is no design for it.
    fn run(&self, core: &Core<Self>, program: &LimbProgram, _plan: Plan) -> Result<Run, ExploreError> {
        let machine = core.machine.spec()?.open()?;
        let timing = machine.estimate(program)?;
        let none = || MachineError::Unsupported {
            machine: ROW.name.into(),
            program: program.name().into(),
            reason: "the engine serves none of its key switches; a processor alone does the same".into(),
        };
        let timing = timing.ok_or_else(none)?;
        let count =
            |name: &str| timing.counters.iter().find(|(n, _)| n == name).map_or(0, |(_, count)| *count);
        if count("key_switches") == 0 {
            return Err(none().into());
        }
        Ok(Run {
            cycles: timing.cycles.unwrap_or(0),
            counts: ROW.counters.iter().map(|name| count(name)).collect(),
        })
    }

    /// Which key switches it serves depends on the kernel.
    fn runs_nothing(&self, device: &Device) -> (&'static str, String) {
        let why = format!(
            "no engine on {} serves a key switch of it: it switches no keys, or all its key switches are merged with a rescale or \
             hoisted, which is the host's work. A processor does the same alone; explore the target compact, or run it on the machine cpu",
            device.name
        );
        ("kernel", why)
    }

    fn resources(&self, core: &Core<Self>) -> BTreeMap<Resource, Figure> {
        let figure = |(&resource, &amount): (&Resource, &f64)| {
            let (kind, source) = match resource {
                Resource::Bram36 | Resource::Uram => (OriginKind::Model, parts::MEMORIES),
                Resource::Dsp => (OriginKind::Model, parts::BLOCKS),
                _ => (OriginKind::Assumed, parts::LOGIC),
            };
            (resource, Figure::new(amount, kind, source))
        };
        core.needs.iter().map(figure).collect()
    }

    /// No build of the engine is routed.
    fn clock(&self, device: &Device) -> Figure {
        device.assumed_frequency(
            "no build of the engine is routed; the clock of the device file, which is another machine's: ",
        )
    }

    /// Those of device files are of other machines.
    fn power(&self, _device: &Device) -> Option<Figure> {
        None
    }

    fn write(&self, machine: &Machine, _plan: Plan) -> Built {
        let text = machine.spec().map(|spec| spec.to_string()).unwrap_or_default();
        Built { machine: text, hardware: serde_json::Map::new() }
    }

    fn read(&self, spec: &MachineSpec, built: &Built) -> Result<Machine, ExploreError> {
        if let Some(unknown) = built.hardware.keys().next() {
            let why = format!("hardware: a pipelined engine has no {unknown}; its machine says all of it");
            return Err(ExploreError::DesignFile { why });
        }
        Machine::read(spec)
    }
}

/// The primes that a multiplier of a word serves.
fn class(multiplier: Multiplier, word: u32) -> PrimeClass {
    match multiplier {
        Multiplier::WordMontgomery => PrimeClass::OneMod(word / 2),
        Multiplier::SparseWordMontgomery => PrimeClass::Sparse(word),
        _ => PrimeClass::Any,
    }
}

#[cfg(test)]
mod tests;
