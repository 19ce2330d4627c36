//! The compact core: two lanes of butterflies, six banks, one arithmetic unit (`docs/compact-machine.md`).
//!
//! | file | what it holds |
//! |---|---|
//! | `machine` | one core, as a design says it |
//! | `cores` | every core for a device |
//! | [`bound`], [`exact`] | cycles: closed form, cycle model |
//! | [`logic`], [`memory`], [`energy`] | what a core takes |
//! | `older` | designs of versions without targets |

pub mod bound;
mod cores;
pub mod energy;
pub mod exact;
pub mod logic;
mod machine;
pub mod memory;
pub(super) mod older;

use std::collections::BTreeMap;

use ringmill_machine::compact::entry::EMULATED;
use ringmill_machine::compact::{CompactConfig, CompactError, CompactLiteral, Multiplier};
use ringmill_machine::registry::Entry;
use ringmill_machine::{MachineError, MachineSpec};
use ringmill_program::limb::LimbProgram;

pub use machine::{BankMemory, LutUnit, Machine, Synthesis, Tile};

use super::{Axis, Column, Core, Key, Place, Plan, Row, Run, Target, Values};
use crate::design::{Built, Figure, OriginKind, PrimeClass, Resource};
use crate::device::Device;
use crate::{ExploreError, Space};
use bound::Demand;

/// Compact cores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompactCores;

/// Entries of the modulus table: a chain of up to 16 primes takes the small one.
const TABLES: [u32; 2] = [16, PRIMES];
/// Primes of the longest chain that a core holds.
const PRIMES: u32 = 32;
/// Passes scheduled in search of a plan while the space is searched: the plan of the rules as they are.
pub const QUICK: usize = 1;
/// Passes scheduled in search of the plan of the design that is chosen.
pub const LONG: usize = 2_000;

/// Multipliers that designs are searched for: [`Multiplier::Ntt`] is for imported chains, and of those that are searched, the other
/// classes of primes have smaller multipliers.
pub const SEARCHED: [Multiplier; 5] = [
    Multiplier::WordMontgomery,
    Multiplier::SparseWordMontgomery,
    Multiplier::PrfFiko,
    Multiplier::Montgomery,
    Multiplier::Barrett,
];

/// [`Multiplier::PrfFiko`] for primes with ones at few places: CASA's shift multiplier for several moduli.
pub const FEW_ONES: &str = "prf-fiko-few-ones";

const MULTIPLIERS: [&str; SEARCHED.len() + 1] = [
    SEARCHED[0].name(),
    SEARCHED[1].name(),
    SEARCHED[2].name(),
    FEW_ONES,
    SEARCHED[3].name(),
    SEARCHED[4].name(),
];

/// Multipliers whose primes are as long as the word allows.
const FILLING: [&str; 3] = [Multiplier::SparseWordMontgomery.name(), Multiplier::PrfFiko.name(), FEW_ONES];

static ROW: Row = Row {
    name: "compact",
    about: "the compact core on a device: butterflies, word, multiplier, bus, memories",
    log_n: [CompactLiteral::LOG_N_MIN, 15],
    log_n_searched: 11,
    primes: PRIMES,
    axes: &[
        Axis { name: "words", one: "word", values: Values::Numbers(&CompactLiteral::WORD_BITS), cut: false },
        Axis {
            name: "butterflies",
            one: "number of butterflies",
            values: Values::Numbers(&CompactLiteral::BUTTERFLIES),
            cut: true,
        },
        Axis { name: "multipliers", one: "multiplier", values: Values::Names(&MULTIPLIERS), cut: false },
        Axis {
            name: "products",
            one: "way of making products",
            values: Values::Names(&machine::PRODUCTS),
            cut: false,
        },
        Axis { name: "buses", one: "bus", values: Values::Numbers(&CompactLiteral::BUS_BITS), cut: false },
        Axis {
            name: "read_rows",
            one: "number of rows read ahead",
            values: Values::Numbers(&CompactLiteral::READ_ROWS),
            cut: false,
        },
    ],
    columns: &[
        Column { field: "word_bits", number: true, heading: "W" },
        Column { field: "butterflies", number: true, heading: "Nbf" },
        Column { field: "multiplier", number: false, heading: "multiplier" },
        Column { field: "tile", number: false, heading: "" },
        Column { field: "lut_unit", number: false, heading: "" },
        Column { field: "banks", number: false, heading: "" },
        Column { field: "bus_bits", number: true, heading: "bus" },
        Column { field: "read_rows", number: true, heading: "" },
    ],
    summary: "{butterflies} × 2 butterflies, {word_bits} bits, {multiplier}, bus {bus_bits}",
    counters: &["transform_busy", "arithmetic_busy", "read_beats", "write_beats", "instructions"],
    cycles_source: "cycle model, which equals the RTL; inputs and keys in memory",
    bound_source: "closed form, a lower bound",
};

/// What the cycle model knows of a core: cores alike in this take the same cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timing {
    butterflies: u32,
    bus_bits: u32,
    read_rows: u32,
    beat_cycles: u32,
    latency: u32,
    /// Stands for the multiplier's latency: the sparse word Montgomery multiplier has that of the other.
    multiplier: u32,
}

impl Timing {
    fn of(config: &CompactConfig) -> Self {
        Self {
            butterflies: config.butterflies(),
            bus_bits: config.bus_bits(),
            read_rows: config.read_rows(),
            beat_cycles: config.timing().beat_cycles,
            latency: config.timing().latency,
            multiplier: match config.multiplier() {
                Multiplier::SparseWordMontgomery => Multiplier::WordMontgomery.code(),
                other => other.code(),
            },
        }
    }
}

impl Key for Timing {
    fn key(&self) -> String {
        let Self { butterflies, bus_bits, read_rows, beat_cycles, latency, multiplier } = self;
        format!("b{butterflies} d{bus_bits} r{read_rows} c{beat_cycles} l{latency} m{multiplier}")
    }

    fn from_key(key: &str) -> Option<Self> {
        let [butterflies, bus_bits, read_rows, beat_cycles, latency, multiplier] =
            crate::space::numbers(key)?;
        Some(Self { butterflies, bus_bits, read_rows, beat_cycles, latency, multiplier })
    }
}

impl Target for CompactCores {
    type Machine = Machine;
    type Timing = Timing;
    type Demand = Demand;

    fn row(&self) -> &'static Row {
        &ROW
    }

    fn entry(&self) -> &'static Entry {
        &EMULATED
    }

    fn check(&self, space: &Space) -> Result<(), ExploreError> {
        // Primes of two multipliers fill their word, whatever `level_bits` is.
        let sized = space.names("multipliers").iter().all(|name| !FILLING.contains(&name.as_str()));
        let words = space.numbers("words");
        if sized && space.level_bits.iter().all(|bits| Some(bits) > words.iter().max()) {
            return Err(ExploreError::Constraint {
                constraint: "level_bits",
                value: format!("{:?} for words of {words:?} bits", space.level_bits),
                right: "at most the bits of a word".into(),
            });
        }
        Ok(())
    }

    fn classes(&self, space: &Space) -> Vec<(PrimeClass, u32)> {
        let named = |wanted: &str| space.names("multipliers").iter().any(|name| name == wanted);
        let has = |kind: Multiplier| named(kind.name());
        let mut all = Vec::new();
        for &word in space.numbers("words") {
            if has(Multiplier::Montgomery) || has(Multiplier::Barrett) {
                all.push((PrimeClass::Any, word));
            }
            if has(Multiplier::WordMontgomery) {
                all.push((PrimeClass::OneMod(word / 2), word));
            }
            if has(Multiplier::SparseWordMontgomery) {
                all.push((PrimeClass::Sparse(word), word));
            }
            if has(Multiplier::PrfFiko) {
                all.push((PrimeClass::PrfFiko(word), word));
            }
            if named(FEW_ONES) {
                all.push((PrimeClass::FewOnes(word), word));
            }
        }
        all
    }

    fn holding(&self, primes: usize) -> u32 {
        TABLES.into_iter().find(|&table| primes <= table as usize).unwrap_or(PRIMES)
    }

    fn enumerate(&self, place: &Place<'_>) -> Result<Vec<Core<Self>>, ExploreError> {
        cores::enumerate(place)
    }

    fn serves(&self, core: &Core<Self>, class: PrimeClass, widest: u32) -> bool {
        let w = core.prime_bits;
        widest <= w
            && match core.machine.config.multiplier() {
                Multiplier::Montgomery | Multiplier::Barrett => class == PrimeClass::Any,
                Multiplier::WordMontgomery => class == PrimeClass::OneMod(w / 2),
                Multiplier::SparseWordMontgomery => class == PrimeClass::Sparse(w),
                Multiplier::PrfFiko if core.machine.config.ones() != 0 => class == PrimeClass::FewOnes(w),
                Multiplier::PrfFiko => class == PrimeClass::PrfFiko(w),
                Multiplier::Ntt => false,
            }
    }

    fn demand(&self, core: &Core<Self>, program: &LimbProgram) -> Option<Demand> {
        Demand::of(&core.machine.config, program).ok()
    }

    fn bound(&self, core: &Core<Self>, demand: &Demand) -> u64 {
        demand.cycles(&core.machine.config)
    }

    fn run(&self, core: &Core<Self>, program: &LimbProgram, plan: Plan) -> Result<Run, ExploreError> {
        let Machine { config, policy, .. } = &core.machine;
        let c = exact::cycles(program, config, *policy, passes(plan))?;
        let transforms = c.transform_busy.iter().sum::<u64>();
        let counts = vec![transforms, c.arithmetic_busy, c.read_beats, c.write_beats, c.instructions];
        Ok(Run { cycles: c.cycles, counts })
    }

    fn resources(&self, core: &Core<Self>) -> BTreeMap<Resource, Figure> {
        let logic = logic::Shape::of(&core.machine).origin();
        let figure = |(&resource, &amount): (&Resource, &f64)| {
            let figure = match resource {
                Resource::Bram36 | Resource::Ebr | Resource::Uram => {
                    Figure::new(amount, OriginKind::Exact, "memories of the core over the shapes of a block")
                }
                Resource::AreaUm2 => {
                    let source = format!("{}; memory: {}", logic.source, memory::SRAM_SOURCE);
                    Figure::new(amount, logic.kind, source)
                }
                _ => Figure { value: amount, origin: logic.clone() },
            };
            (resource, figure)
        };
        core.needs.iter().map(figure).collect()
    }

    fn counts_energy(&self, device: &Device) -> bool {
        energy::is_known(device.family)
    }

    fn energy(&self, device: &Device, core: &Core<Self>, run: &Run) -> Option<Figure> {
        energy::millijoules(device.family, &core.machine.config, run)
    }

    fn write(&self, machine: &Machine, plan: Plan) -> Built {
        Machine { effort: passes(plan), ..*machine }.write()
    }

    fn read(&self, spec: &MachineSpec, built: &Built) -> Result<Machine, ExploreError> {
        Machine::read(spec, built)
    }
}

/// Passes that a plan takes.
const fn passes(plan: Plan) -> usize {
    match plan {
        Plan::Quick => QUICK,
        Plan::Long => LONG,
    }
}

impl From<CompactError> for ExploreError {
    fn from(error: CompactError) -> Self {
        Self::Machine(MachineError::from(error))
    }
}
