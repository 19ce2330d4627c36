//! The pipelined key switch of `rtl/pipelined` beside a host: it takes the key switches with one special prime and a digit a limb,
//! the host everything else.

mod entry;
mod schedule;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;

use ringmill_program::cost::CostTable;
use ringmill_program::limb::split::{From, Part, Split, To};
use ringmill_program::limb::{LimbProgram, SectionKind, SplitError, SwitchEnd, SwitchMethod, split};

pub use entry::ENTRY;
use schedule::{Chain, Job, Part as Slot};

use crate::compact::CompactConfig;
use crate::compact::model::latency;
use crate::timing::{Span, Timing};
use crate::{Cpu, Executable, Machine, MachineError, Offload, client};

/// What the chain was built for.
#[derive(Debug, Clone, Copy)]
struct Built {
    /// Word and multiplier, checked as those of a core are.
    products: CompactConfig,
    /// Most limbs of an operand, besides the special prime.
    limbs: u32,
    /// log2 of the words of a row.
    log_p: u32,
    /// log2 of the greatest N.
    log_n_max: u32,
}

/// log2 of the smallest N of every chain.
const LOG_N_MIN: u32 = 10;

impl Built {
    /// Whether the chain does this: key switching with one special prime and a digit a limb, and no merged division. Its lifts
    /// read digits, and what the division subtracts, centred or not: those of the engine, of SEAL and of OpenFHE. An
    /// automorphism of operands and keys (SEAL) or of results is an order of rows; OpenFHE's stands inside, in front of the division.
    fn serves(&self, kind: &SectionKind) -> bool {
        let SectionKind::KeySwitch { shape, end: SwitchEnd::Divide, hoisted: false, galois } = kind else {
            return false;
        };
        let method = match shape.method {
            SwitchMethod::Hybrid | SwitchMethod::Seal => true,
            SwitchMethod::OpenFhe => galois.is_none(),
            SwitchMethod::Klss => false,
        };
        method && shape.special == 1 && shape.alpha == 1 && shape.limbs <= self.limbs
    }

    /// Why it cannot run a section that it serves by its shape.
    fn check(&self, program: &LimbProgram) -> Result<(), String> {
        let (log_n, most) = (program.log_n(), self.log_n_max);
        if !(LOG_N_MIN..=most).contains(&log_n) {
            return Err(format!(
                "the chain was built for N = 2^{LOG_N_MIN} to 2^{most}; the program has N = 2^{log_n}"
            ));
        }
        program
            .moduli()
            .iter()
            .try_for_each(|m| self.products.check_modulus(m.modulus))
            .map_err(|e| e.to_string())
    }

    fn chain(&self, log_n: u32) -> Chain {
        let multiplier = latency(self.products.multiplier(), self.products.word_bits());
        Chain { log_p: self.log_p, log_n, log_n_max: self.log_n_max, multiplier }
    }
}

/// The machine: a host, and the chain that takes its key switches.
#[derive(Debug, Clone)]
pub struct Pipelined {
    built: Built,
    clock_mhz: Option<f64>,
    both: Offload,
}

const NAME: &str = "pipelined";

impl Pipelined {
    fn new(built: Built, clock_mhz: Option<f64>, host: Arc<dyn Machine>) -> Self {
        let chain: Arc<dyn Machine> = Arc::new(Engine { built, arithmetic: host.clone() });
        Self { built, clock_mhz, both: Offload::new(host, chain, Arc::new(move |kind| built.serves(kind))) }
    }

    /// With the processor of this computer as the host.
    fn beside_cpu(built: Built, clock_mhz: Option<f64>) -> Result<Self, MachineError> {
        Ok(Self::new(built, clock_mhz, Arc::new(Cpu::new()?)))
    }

    fn unsupported(program: &LimbProgram, reason: String) -> MachineError {
        MachineError::Unsupported { machine: NAME.into(), program: program.name().into(), reason }
    }

    fn split(&self, program: &LimbProgram) -> Result<Split, MachineError> {
        match split(program, |kind| self.built.serves(kind)) {
            Err(SplitError::NoSections { .. }) => Ok(Split::whole(program)),
            other => other.map_err(|e| Self::unsupported(program, e.to_string())),
        }
    }

    /// The table of the chain holds the moduli of all its key switches.
    fn check_moduli(&self, program: &LimbProgram, parts: &[Part]) -> Result<(), MachineError> {
        let served = parts.iter().filter(|part| part.served.is_some());
        let mut moduli: Vec<u64> =
            served.flat_map(|part| part.program.moduli().iter().map(|m| m.modulus.value())).collect();
        moduli.sort_unstable();
        moduli.dedup();
        let (found, most) = (moduli.len(), self.built.limbs as usize + 1);
        if found <= most {
            return Ok(());
        }
        let reason = format!(
            "its key switches are modulo {found} primes; the chain's table holds {most}, give limbs={}",
            found - 1
        );
        Err(Self::unsupported(program, reason))
    }
}

impl Machine for Pipelined {
    fn name(&self) -> &str {
        NAME
    }

    /// Those of the host, which chooses methods.
    fn costs(&self) -> Result<CostTable, MachineError> {
        self.both.costs()
    }

    fn computes_here(&self) -> bool {
        self.both.computes_here()
    }

    fn accepts(&self, program: &LimbProgram) -> Result<(), MachineError> {
        client::check(self, program)?;
        self.both.accepts(program)?;
        self.check_moduli(program, &self.split(program)?.parts)
    }

    /// The cycles of the chain. What the host does takes no time here.
    fn estimate(&self, program: &LimbProgram) -> Result<Option<Timing>, MachineError> {
        self.accepts(program)?;
        let parts = self.split(program)?.parts;
        Ok(Some(self.timing(program, &parts)))
    }

    fn prepare(&self, program: &LimbProgram) -> Result<Box<dyn Executable>, MachineError> {
        self.accepts(program)?;
        self.both.prepare(program)
    }
}

/// The key switches of a program's parts, and which of them each one waits for: directly, or by what the host does between them.
fn jobs(parts: &[Part]) -> Vec<Job> {
    let mut jobs: Vec<Job> = Vec::new();
    // The key switches on which each limb between parts depends.
    let mut behind: HashMap<usize, Vec<usize>> = HashMap::new();
    for part in parts {
        let mut after: Vec<usize> = Vec::new();
        for from in &part.inputs {
            if let From::Between(number) = from {
                after.extend(&behind[number]);
            }
        }
        after.sort_unstable();
        after.dedup();
        if let Some(SectionKind::KeySwitch { shape, .. }) = part.served {
            jobs.push(Job { level: shape.limbs, after });
            after = vec![jobs.len() - 1];
        }
        for to in &part.outputs {
            if let To::Between(number) = to {
                behind.insert(*number, after.clone());
            }
        }
    }
    jobs
}

impl Pipelined {
    fn timing(&self, program: &LimbProgram, parts: &[Part]) -> Timing {
        let (jobs, chain) = (jobs(parts), self.built.chain(program.log_n()));
        let starts = chain.starts(&jobs);
        let cycles = chain.end(&starts);
        let switches =
            program.sections().iter().filter(|s| matches!(s.kind, SectionKind::KeySwitch { .. })).count();
        let limb_bytes = 8 * program.n() as u64;
        let of = |limbs: fn(u64) -> u64| jobs.iter().map(|job| limbs(job.level.into())).sum::<u64>();
        let slots = starts.len() as u64;
        let host =
            parts.iter().filter(|part| part.served.is_none()).map(|part| part.program.len() as u64).sum();
        let span = |s: &schedule::Start| {
            let what = match s.part {
                Slot::Digit(digit) => format!("key switch {}, digit {digit}", s.job),
                Slot::Down(component) => format!("key switch {}, down {component}", s.job),
            };
            Span { unit: "chain".into(), what, start: s.cycle, end: s.cycle + chain.rows() }
        };
        Timing {
            cycles: Some(cycles),
            seconds: self.clock_mhz.map(|mhz| cycles as f64 / (mhz * 1e6)),
            counters: vec![
                ("key_switches".into(), jobs.len() as u64),
                ("key_switches_of_host".into(), (switches - jobs.len()) as u64),
                ("instructions_of_host".into(), host),
                ("slots".into(), slots),
                ("slot".into(), chain.rows()),
                // Operand, addends and results are ℓ limbs each, two of the latter; a digit's keys 2·(ℓ + 1).
                ("key_bytes".into(), limb_bytes * of(|l| 2 * l * (l + 1))),
                ("ciphertext_bytes".into(), limb_bytes * of(|l| 5 * l)),
            ],
            busy: vec![("chain".into(), slots * chain.rows())],
            parts: Vec::new(),
            energy: Vec::new(),
            spans: starts.iter().map(span).collect(),
            by: "the schedule of the pipelined key switch; what the host does takes no time, and no memory makes it wait".to_owned(),
        }
    }
}

/// The chain alone: it runs key switches of its shape, each a program.
#[derive(Clone)]
struct Engine {
    built: Built,
    /// Computes the program of a section: the bits are those of its instructions.
    arithmetic: Arc<dyn Machine>,
}

impl Machine for Engine {
    fn name(&self) -> &str {
        NAME
    }

    fn accepts(&self, program: &LimbProgram) -> Result<(), MachineError> {
        client::check(self, program)?;
        self.built.check(program).map_err(|reason| Pipelined::unsupported(program, reason))
    }

    fn prepare(&self, program: &LimbProgram) -> Result<Box<dyn Executable>, MachineError> {
        self.accepts(program)?;
        self.arithmetic.prepare(program)
    }
}
