//! A target as somebody would add it, by the steps of docs/how-to/add-a-target.md: its folder and its row.
//!
//! Its machines are the toy machine of the machine crate at several paces: the shorter the pace, the more LUTs.

use std::collections::BTreeMap;

use ringmill_explore::design::{Built, Figure, OriginKind, PrimeClass, Resource};
use ringmill_explore::target::{Axis, Column, Core, Key, Place, Plan, Row, Run, Values};
use ringmill_explore::{ExploreError, Space, Target};
use ringmill_machine::MachineSpec;
use ringmill_machine::registry::Entry;
use ringmill_program::limb::LimbProgram;

use super::machine;

/// The target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Toys;

/// Bits of its primes.
const PRIME_BITS: u32 = 40;
/// LUTs of a machine of pace 1.
const LUTS: f64 = 8000.0;

/// The row.
static ROW: Row = Row {
    name: "toy",
    about: "an example of a target",
    log_n: [10, 12],
    log_n_searched: 10,
    primes: 8,
    axes: &[Axis { name: "paces", one: "pace", values: Values::Numbers(&[1, 2, 4, 8]), cut: true }],
    columns: &[Column { field: "pace", number: true, heading: "pace" }],
    summary: "an instruction in {pace} cycles",
    counters: &["instructions"],
    cycles_source: "its pace",
    bound_source: "its pace",
};

/// What its cycles depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Pace(u32);

impl Key for Pace {
    fn key(&self) -> String {
        self.0.to_string()
    }

    fn from_key(key: &str) -> Option<Self> {
        key.parse().ok().map(Self)
    }
}

impl Target for Toys {
    type Machine = u32;
    type Timing = Pace;
    /// Instructions.
    type Demand = u64;

    fn row(&self) -> &'static Row {
        &ROW
    }

    fn entry(&self) -> &'static Entry {
        &machine::ENTRY
    }

    fn classes(&self, _space: &Space) -> Vec<(PrimeClass, u32)> {
        vec![(PrimeClass::Any, PRIME_BITS)]
    }

    fn holding(&self, _primes: usize) -> u32 {
        ROW.primes
    }

    fn enumerate(&self, place: &Place<'_>) -> Result<Vec<Core<Self>>, ExploreError> {
        let of = |&pace: &u32| {
            let needs = BTreeMap::from([(Resource::Lut, LUTS / f64::from(pace))]);
            Core {
                machine: pace,
                prime_bits: PRIME_BITS,
                share: place.device.share(&needs),
                timing: Pace(pace),
                binding: place.device.binding(&needs),
                needs,
            }
        };
        Ok(place.space.numbers("paces").iter().map(of).collect())
    }

    fn serves(&self, core: &Core<Self>, class: PrimeClass, widest: u32) -> bool {
        class == PrimeClass::Any && widest <= core.prime_bits
    }

    fn demand(&self, _core: &Core<Self>, program: &LimbProgram) -> Option<u64> {
        Some(program.len() as u64)
    }

    fn bound(&self, core: &Core<Self>, instructions: &u64) -> u64 {
        u64::from(core.machine) * instructions
    }

    fn run(&self, core: &Core<Self>, program: &LimbProgram, _plan: Plan) -> Result<Run, ExploreError> {
        let spec = MachineSpec::new(&machine::ENTRY).with("pace", u64::from(core.machine));
        let timing = spec.map_err(ringmill_machine::MachineError::from)?.estimate(program)?;
        Ok(Run { cycles: timing.cycles.unwrap_or(0), counts: vec![program.len() as u64] })
    }

    fn resources(&self, core: &Core<Self>) -> BTreeMap<Resource, Figure> {
        let figure = |&amount: &f64| Figure::new(amount, OriginKind::Assumed, "an example");
        core.needs.iter().map(|(&resource, amount)| (resource, figure(amount))).collect()
    }

    fn write(&self, pace: &u32, _plan: Plan) -> Built {
        Built { machine: format!("toy:pace={pace}"), hardware: serde_json::Map::new() }
    }

    fn read(&self, spec: &MachineSpec, built: &Built) -> Result<u32, ExploreError> {
        if let Some(unknown) = built.hardware.keys().next() {
            return Err(ExploreError::DesignFile { why: format!("a toy has no {unknown} to be built with") });
        }
        Ok(spec.whole("pace").map_or(10, |pace| pace as u32))
    }
}
