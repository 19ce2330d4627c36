//! Cycles that no run goes below: the engine's transforms, its memory's bytes, the link's bytes, the host's work, each alone.

use ringmill_machine::pipelined::pool::{Set, Unit};
use ringmill_program::cost::{CostTable, Work};
use ringmill_program::limb::{InputClass, LimbProgram, SectionKind, SwitchEnd, SwitchShape, split};

use super::machine::{Build, Machine};

/// A key switch that some engine may serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Switch {
    set: Set,
    /// Limbs over the link: operands and addends; results.
    up: u64,
    down: u64,
}

/// What a program asks for, whatever the engine.
#[derive(Debug, Clone, PartialEq)]
pub struct Demand {
    log_n: u32,
    switches: Vec<Switch>,
    /// Nanoseconds of work that is always the host's.
    host: f64,
}

impl Demand {
    /// Of a program; none where it cannot be split.
    pub fn of(program: &LimbProgram) -> Option<Self> {
        let may_serve = |kind: &SectionKind| {
            matches!(kind, SectionKind::KeySwitch { end: SwitchEnd::Divide, hoisted: false, .. })
        };
        let parts = split(program, may_serve).ok()?.parts;
        let costs = CostTable::shipped();
        let mut demand = Self { log_n: program.log_n(), switches: Vec::new(), host: 0.0 };
        for part in &parts {
            let Some(SectionKind::KeySwitch { shape: SwitchShape { limbs, special, alpha, .. }, .. }) =
                part.served
            else {
                demand.host += costs.nanoseconds(&Work::of(&part.program), program.log_n());
                continue;
            };
            let groups = part.program.inputs().iter().filter(|group| group.class != InputClass::Key);
            let up = groups.map(|group| group.moduli.len() as u64).sum();
            let set = Set { limbs, special, alpha };
            demand.switches.push(Switch { set, up, down: part.outputs.len() as u64 });
        }
        Some(demand)
    }

    /// Of a run on an engine. Key switches that it does not serve are the host's, and count nothing here.
    pub fn cycles(&self, machine: &Machine) -> u64 {
        let [limbs, special, alpha] = machine.build.most();
        let served: Vec<&Switch> = self
            .switches
            .iter()
            .filter(|s| match machine.build {
                Build::Streams { .. } => s.set.special == 1 && s.set.alpha == 1 && s.set.limbs <= limbs,
                Build::Pool { .. } => {
                    s.set.limbs <= limbs && s.set.special <= special && s.set.alpha.min(s.set.limbs) <= alpha
                }
            })
            .collect();
        let sum = |of: &dyn Fn(&Switch) -> u64| served.iter().map(|s| of(s)).sum::<u64>();
        let engine = match machine.build {
            // A slot of the chain is N/P cycles.
            Build::Streams { lanes, .. } => {
                sum(&|s| u64::from(s.set.limbs + 2)) * ((1 << self.log_n) / u64::from(lanes))
            }
            // A transform holds its unit, with the fastest products.
            Build::Pool { units, .. } => {
                let unit = Unit { log_n: self.log_n, multiplier: 1 };
                sum(&|s| s.set.transforms().into()) * unit.interval() / u64::from(units)
            }
        };
        let (clock, limb) = (u64::from(machine.clock), 8 << self.log_n);
        let cycles = |bytes: u64, megabytes: u32| bytes * clock / u64::from(megabytes);
        let keys =
            sum(&|s| u64::from(2 * s.set.digits() * s.set.moduli())) / if machine.seeded { 2 } else { 1 };
        // The operand once, addends and results, and all of that over the link.
        let others = 2 * sum(&|s| u64::from(5 * s.set.limbs));
        let memory = cycles(limb * (keys + others), machine.bandwidth);
        let up = cycles(limb * sum(&|s| s.up), machine.link);
        let down = cycles(limb * sum(&|s| s.down), machine.link);
        let host = (self.host * clock as f64 / 1e3) as u64;
        [engine, memory, up, down, host].into_iter().max().unwrap_or(0)
    }
}
