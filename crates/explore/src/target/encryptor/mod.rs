//! The encryption engine of a client (`rtl/encryptor`): a run encrypts all arguments of the kernel, one after the other.
//!
//! | file | what it holds |
//! |---|---|
//! | `engine` | one engine, as a design says it |
//! | `builds` | builds that were synthesised: what a limb takes, what is there once, cycles |
//!
//! The memory off chip gives a message and the keys of each encryption, and takes its result; polynomials are whole in memories
//! beside the engine before it begins. With n encryptions, R and W cycles to read and write what one takes, it is bound by
//!
//! > latency + R + cold + (n − 1)·max(interval, R, W) + max(0, W − N/P)
//!
//! Nothing is counted twice as fast for keys that could stay on chip.

mod builds;
mod engine;

use std::collections::BTreeMap;

use ringmill_machine::MachineSpec;
use ringmill_machine::registry::Entry;
use ringmill_program::limb::{InputClass, LimbProgram};
use ringmill_program::manage::Encryption;

use builds::Build;
pub use engine::{ENTRY, Engine};

use super::{Axis, Column, Core, Key, Place, Plan, Row, Run, Target, Values};
use crate::design::{Built, Figure, OriginKind, PrimeClass, Resource, SecretKind};
use crate::device::{Device, Family};
use crate::space::chains::Shape;
use crate::{ExploreError, Space};

/// Encryption engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Encryptors;

/// Limbs of the longest ciphertext that is composed.
const LIMBS: u32 = 32;
/// Bits of the first limb and of the extra prime, in every build.
const WORD: u32 = 60;
/// Bytes of a word in memory.
const WORD_BYTES: u64 = 8;
/// How clients encrypt: under a public key that divides by an extra prime, or does not, or under the secret key from a seed.
const MODES: [&str; 3] = ["divided", "undivided", "symmetric"];
const DIVIDED: usize = 0;
const UNDIVIDED: usize = 1;

static ROW: Row = Row {
    name: ENTRY.name,
    about: "the encryption engine of a client, for a kernel's arguments: mode, words a cycle, widths of limbs",
    log_n: [10, 14],
    log_n_searched: 11,
    primes: LIMBS,
    axes: &[
        Axis { name: "modes", one: "mode", values: Values::Names(&MODES), cut: false },
        Axis { name: "lanes", one: "number of lanes", values: Values::Numbers(&[2]), cut: true },
        Axis {
            name: "rests",
            one: "width of the other limbs",
            values: Values::Numbers(&[48, 60]),
            cut: false,
        },
    ],
    columns: &[
        Column { field: "mode", number: false, heading: "mode" },
        Column { field: "lanes", number: true, heading: "P" },
        Column { field: "value_order", number: false, heading: "" },
        Column { field: "word_bits", number: true, heading: "" },
        Column { field: "rest_bits", number: true, heading: "W" },
    ],
    summary: "{lanes} words a cycle in the order {value_order}, {limbs} limbs of {word_bits} and {rest_bits} bits, {mode}",
    counters: &["encryptions", "interval", "read", "written"],
    cycles_source: "schedule that equals the RTL, from the first job to the last word, with the memory's rate; keys are read for every \
                    encryption",
    bound_source: "the same in closed form",
};

/// What cycles depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timing {
    mode: u32,
    lanes: u32,
    log_n_max: u32,
    /// Bytes that the memory moves in each direction in 1,000 cycles.
    kilo: u32,
    /// Cycles from a request to its first bytes.
    latency: u32,
}

impl Key for Timing {
    fn key(&self) -> String {
        let Self { mode, lanes, log_n_max, kilo, latency } = self;
        format!("m{mode} p{lanes} n{log_n_max} k{kilo} l{latency}")
    }

    fn from_key(key: &str) -> Option<Self> {
        let [mode, lanes, log_n_max, kilo, latency] = crate::space::numbers(key)?;
        Some(Self { mode, lanes, log_n_max, kilo, latency })
    }
}

/// Arguments to encrypt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Demand {
    log_n: u32,
    encryptions: u64,
    limbs: u64,
}

impl Demand {
    /// Of a program: ciphertexts of two parts. None where nothing is encrypted, or where arguments are of several levels, for which
    /// there are several engines.
    fn of(program: &LimbProgram) -> Option<Self> {
        let parts: Vec<usize> =
            program.inputs().iter().filter(|g| g.class == InputClass::Data).map(|g| g.moduli.len()).collect();
        let limbs = *parts.first()?;
        let alike = parts.iter().all(|&part| part == limbs) && parts.len().is_multiple_of(2);
        let encryptions = parts.len() as u64 / 2;
        alike.then_some(Self { log_n: program.log_n(), encryptions, limbs: limbs as u64 })
    }

    /// Cycles and counts of all of them.
    fn run(&self, engine: &Engine, timing: &Timing) -> Option<Run> {
        let cycles = engine.build().ok()?.cycles(self.log_n)?;
        let limb = WORD_BYTES << self.log_n;
        let (keys, parts) = match engine.mode {
            DIVIDED => (2 * (self.limbs + 1), 2),
            UNDIVIDED => (2 * self.limbs, 2),
            _ => (0, 1),
        };
        let (read, written) = ((self.limbs + keys) * limb, parts * self.limbs * limb);
        let moved = |bytes: u64| (bytes * 1_000).div_ceil(timing.kilo.into());
        let interval = cycles.interval.max(moved(read)).max(moved(written));
        let last = moved(written).saturating_sub((1 << self.log_n) / u64::from(engine.lanes));
        let first = u64::from(timing.latency) + moved(read) + cycles.cold;
        Some(Run {
            cycles: first + self.encryptions.saturating_sub(1) * interval + last,
            counts: vec![self.encryptions, interval, self.encryptions * read, self.encryptions * written],
        })
    }
}

/// Bytes in 1,000 cycles, and cycles of the latency.
fn memory(device: &Device) -> Result<(u32, u32), ExploreError> {
    let kilo = device.memory.gigabytes_per_second * 1e6 / device.clock.mhz;
    let latency = device.latency_cycles();
    if kilo < 1.0 || kilo > f64::from(u32::MAX) || latency > u32::MAX.into() {
        return Err(ExploreError::Constraint {
            constraint: "memory",
            value: format!("{} GB/s at {} MHz", device.memory.gigabytes_per_second, device.clock.mhz),
            right: "a rate of a byte in 1,000 cycles at least, and a latency below 2^32 cycles".into(),
        });
    }
    Ok((kilo as u32, latency as u32))
}

impl Target for Encryptors {
    type Machine = Engine;
    type Timing = Timing;
    type Demand = Demand;

    fn row(&self) -> &'static Row {
        &ROW
    }

    fn entry(&self) -> &'static Entry {
        &ENTRY
    }

    fn check(&self, space: &Space) -> Result<(), ExploreError> {
        let modes = space.names("modes");
        if !builds::all()?.iter().any(|build| modes.contains(&build.mode)) {
            return Err(ExploreError::Constraint {
                constraint: "modes",
                value: format!("{modes:?}"),
                right: format!("one at least whose engine was synthesised: {}", synthesised()?.join(", ")),
            });
        }
        let fail = |constraint, value, right| Err(ExploreError::Constraint { constraint, value, right });
        let rests = space.numbers("rests");
        if !space.level_bits.iter().any(|bits| rests.contains(bits)) {
            let right = format!("one at least of the widths of limbs, {rests:?}");
            return fail("level_bits", format!("{:?}", space.level_bits), right);
        }
        if !space.secrets.contains(&SecretKind::Ternary) {
            let right = "ternary among them: engines hold secret keys of 0 and ±1".into();
            return fail("secrets", "gaussian alone".into(), right);
        }
        Ok(())
    }

    fn classes(&self, space: &Space) -> Vec<(PrimeClass, u32)> {
        space.numbers("rests").iter().map(|&rest| (PrimeClass::Ntt15(rest), WORD)).collect()
    }

    fn holding(&self, primes: usize) -> u32 {
        primes as u32
    }

    fn size(&self, shape: &Shape) -> u32 {
        self.holding(shape.limbs)
    }

    fn narrowed(&self, space: &Space) -> Space {
        Space { secrets: vec![SecretKind::Ternary], ..space.clone() }
    }

    fn encryption(&self, space: &Space) -> Encryption {
        let has = |mode: usize| space.names("modes").iter().any(|name| name == MODES[mode]);
        // That of the mode with the most error.
        match () {
            () if has(UNDIVIDED) => Encryption::Undivided,
            () if has(DIVIDED) => Encryption::Public,
            () => Encryption::Secret,
        }
    }

    fn enumerate(&self, place: &Place<'_>) -> Result<Vec<Core<Self>>, ExploreError> {
        let Place { space, device, log_n, primes: limbs, .. } = *place;
        if device.family != Family::Xcup {
            return Err(ExploreError::Constraint {
                constraint: "device",
                value: format!("{}, of the family {}", device.name, device.family.name()),
                right: format!(
                    "one of the family {}: the engine was synthesised for no other",
                    Family::Xcup.name()
                ),
            });
        }
        let (kilo, latency) = memory(device)?;
        let mut all = Vec::new();
        for (mode, name) in MODES.into_iter().enumerate() {
            if !space.names("modes").iter().any(|asked| asked == name) {
                continue;
            }
            for build in builds::all()?.iter().filter(|build| build.mode == name) {
                let Build { lanes, log_n_max, .. } = *build;
                if build.cycles(log_n).is_none() || !space.numbers("lanes").contains(&lanes) {
                    continue;
                }
                for rest in build.widths().filter(|bits| space.numbers("rests").contains(bits)) {
                    let machine = Engine { mode, lanes, limbs, word: WORD, rest, log_n_max };
                    let needs = build.needs(&machine)?;
                    let timing = Timing { mode: mode as u32, lanes, log_n_max, kilo, latency };
                    all.push(place.core(machine, WORD, timing, needs));
                }
            }
        }
        Ok(all)
    }

    fn serves(&self, core: &Core<Self>, class: PrimeClass, widest: u32) -> bool {
        class == PrimeClass::Ntt15(core.machine.rest) && widest <= core.prime_bits
    }

    fn demand(&self, _core: &Core<Self>, program: &LimbProgram) -> Option<Demand> {
        Demand::of(program)
    }

    fn bound(&self, core: &Core<Self>, demand: &Demand) -> u64 {
        demand.run(&core.machine, &core.timing).map_or(0, |run| run.cycles)
    }

    fn run(&self, core: &Core<Self>, program: &LimbProgram, _plan: Plan) -> Result<Run, ExploreError> {
        let run = Demand::of(program).and_then(|demand| demand.run(&core.machine, &core.timing));
        run.ok_or_else(|| ExploreError::Kernel {
            name: program.name().into(),
            why: "an encryption engine takes encrypted arguments of one level".into(),
        })
    }

    fn resources(&self, core: &Core<Self>) -> BTreeMap<Resource, Figure> {
        let figure = |&amount: &f64| Figure::new(amount, OriginKind::Model, builds::SOURCE);
        core.needs.iter().map(|(&resource, amount)| (resource, figure(amount))).collect()
    }

    fn clock(&self, device: &Device) -> Figure {
        device.assumed_frequency("no encryption engine was routed; the device's file has it from: ")
    }

    fn power(&self, _device: &Device) -> Option<Figure> {
        // Boards were measured with other machines.
        None
    }

    fn per_second(&self, device: &Device, _core: &Core<Self>, run: &Run) -> Option<Figure> {
        let clock = self.clock(device);
        let interval = *run.counts.get(1)?;
        let source =
            format!("encryptions, one in {interval} cycles, at {} MHz: {}", clock.value, clock.origin.source);
        Some(Figure::new(clock.value * 1e6 / interval as f64, clock.origin.kind, source))
    }

    fn write(&self, machine: &Engine, _plan: Plan) -> Built {
        machine.write()
    }

    fn read(&self, spec: &MachineSpec, built: &Built) -> Result<Engine, ExploreError> {
        Engine::read(spec, built)
    }
}

/// Modes whose engines were synthesised.
fn synthesised() -> Result<Vec<String>, ExploreError> {
    Ok(builds::all()?.iter().map(|build| build.mode.clone()).collect())
}
