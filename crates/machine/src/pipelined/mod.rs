//! The pipelined key switch of `rtl/pipelined` beside a host: the engine takes key switches, the host everything else. One build is
//! the chain of streaming transforms, for one special prime and a digit a limb; the other the pool of transform units in place, for any
//! numbers up to its own.

mod chain;
mod entry;
mod estimate;
pub mod hardware;
mod host;
mod memory;
pub mod pool;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;

use ringmill_program::cost::CostTable;
use ringmill_program::limb::split::{From, Part, Split, To};
use ringmill_program::limb::{
    LimbProgram, SectionKind, SplitError, SwitchEnd, SwitchMethod, SwitchShape, split,
};

pub use entry::ENTRY;
use host::Link;
use pool::Set;

use crate::compact::CompactConfig;
use crate::compact::model::latency;
use crate::timing::Timing;
use crate::{Cpu, Executable, Machine, MachineError, Offload, client};

/// What the engine was built for.
#[derive(Debug, Clone, Copy)]
struct Built {
    /// Word and multiplier, checked as those of a core are.
    products: CompactConfig,
    /// log2 of the greatest N.
    log_n_max: u32,
    build: Build,
}

/// The two builds.
#[derive(Debug, Clone, Copy)]
enum Build {
    /// The chain of streaming transforms.
    Streams {
        /// Most limbs of an operand, besides the special prime.
        limbs: u32,
        /// log2 of the words of a row.
        log_p: u32,
    },
    /// The pool of transform units in place.
    Pool {
        /// Most limbs of an operand, most special primes, most limbs of a digit.
        most: Set,
        /// Most digits.
        digits: u32,
        units: u32,
        feeds: u32,
    },
}

/// log2 of the smallest N of every build.
const LOG_N_MIN: u32 = 10;

impl Built {
    /// Whether the engine does this: hybrid key switching without a merged division. Its lifts read digits, and what the division
    /// subtracts, centred or not: those of the engine, of SEAL and of OpenFHE. An automorphism of operands and keys (SEAL) or of
    /// results is an order of rows; OpenFHE's stands inside, in front of the division. The chain does one special prime and a
    /// digit a limb, and leaves the rest to the host; who builds a pool says for which sets, and [`Self::fits`] refuses others.
    fn serves(&self, kind: &SectionKind) -> bool {
        let SectionKind::KeySwitch { shape, end: SwitchEnd::Divide, hoisted: false, galois } = kind else {
            return false;
        };
        let method = match shape.method {
            SwitchMethod::Hybrid | SwitchMethod::Seal => true,
            SwitchMethod::OpenFhe => galois.is_none(),
            SwitchMethod::Klss => false,
        };
        method
            && match self.build {
                Build::Streams { limbs, .. } => {
                    shape.special == 1 && shape.alpha == 1 && shape.limbs <= limbs
                }
                Build::Pool { .. } => true,
            }
    }

    /// Why a key switch is too large for a pool.
    fn fits(&self, set: Set) -> Result<(), String> {
        let Build::Pool { most, digits, .. } = self.build else { return Ok(()) };
        let sizes = [
            ("limbs", "limbs", set.limbs, most.limbs),
            ("special primes", "special", set.special, most.special),
            ("limbs a digit", "alpha", set.alpha.min(set.limbs), most.alpha),
            ("digits", "digits", set.digits(), digits),
        ];
        match sizes.into_iter().find(|(_, _, found, most)| found > most) {
            Some((what, option, found, most)) => Err(format!(
                "a key switch has {found} {what}; the pool was built for {most}, give {option}={found}"
            )),
            None => Ok(()),
        }
    }

    /// Why it cannot run a section that it serves by its shape.
    fn check(&self, program: &LimbProgram) -> Result<(), String> {
        self.check_degree(program.log_n())?;
        program
            .moduli()
            .iter()
            .try_for_each(|m| self.products.check_modulus(m.modulus))
            .map_err(|e| e.to_string())
    }

    fn check_degree(&self, log_n: u32) -> Result<(), String> {
        let most = self.log_n_max;
        if (LOG_N_MIN..=most).contains(&log_n) {
            return Ok(());
        }
        Err(format!(
            "the {} was built for N = 2^{LOG_N_MIN} to 2^{most}; the program has N = 2^{log_n}",
            self.build.name()
        ))
    }

    /// Most moduli of all key switches together, and the options that say so.
    const fn moduli(&self) -> (usize, &'static str) {
        match self.build {
            Build::Streams { limbs, .. } => (limbs as usize + 1, "limbs"),
            Build::Pool { most, .. } => (most.moduli() as usize, "limbs or special"),
        }
    }

    fn multiplier(&self) -> u64 {
        latency(self.products.multiplier(), self.products.word_bits())
    }
}

impl Build {
    /// As messages call it.
    const fn name(&self) -> &'static str {
        match self {
            Self::Streams { .. } => "chain",
            Self::Pool { .. } => "pool",
        }
    }
}

/// The machine: a host, and the engine that takes its key switches.
#[derive(Debug, Clone)]
pub struct Pipelined {
    built: Built,
    beside: Beside,
    /// Costs of the host that were named; those of this computer otherwise.
    costs: Option<CostTable>,
    both: Offload,
}

/// What stands beside the engine, as estimates count it.
#[derive(Debug, Clone, Copy)]
struct Beside {
    clock_mhz: Option<u64>,
    link: Link,
    /// Bytes in a thousand cycles, of a memory that is waited for.
    bytes_in_1000: Option<u64>,
    latency: u64,
    /// Whether halves of keys are expanded on chip.
    seeded: bool,
}

const NAME: &str = "pipelined";

impl Pipelined {
    fn new(built: Built, beside: Beside, costs: Option<CostTable>, host: Arc<dyn Machine>) -> Self {
        let engine: Arc<dyn Machine> = Arc::new(Engine { built, arithmetic: host.clone() });
        let both = Offload::new(host, engine, Arc::new(move |kind| built.serves(kind)));
        Self { built, beside, costs, both }
    }

    /// With the processor of this computer as the host.
    fn beside_cpu(built: Built, beside: Beside, costs: Option<CostTable>) -> Result<Self, MachineError> {
        Ok(Self::new(built, beside, costs, Arc::new(Cpu::new()?)))
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

    /// Every key switch fits the engine, whose table holds the moduli of all of them.
    fn check_parts(&self, program: &LimbProgram, parts: &[Part]) -> Result<(), MachineError> {
        let refused = |reason| Self::unsupported(program, reason);
        jobs(parts).iter().try_for_each(|job| self.built.fits(job.set)).map_err(refused)?;
        let served = parts.iter().filter(|part| part.served.is_some());
        let mut moduli: Vec<u64> =
            served.flat_map(|part| part.program.moduli().iter().map(|m| m.modulus.value())).collect();
        moduli.sort_unstable();
        moduli.dedup();
        let (found, (most, option)) = (moduli.len(), self.built.moduli());
        if found <= most {
            return Ok(());
        }
        let name = self.built.build.name();
        Err(refused(format!(
            "its key switches are modulo {found} primes; the {name}'s table holds {most}, give a greater {option}"
        )))
    }
}

impl Machine for Pipelined {
    fn name(&self) -> &str {
        NAME
    }

    /// Those of the host, which chooses methods.
    fn costs(&self) -> Result<CostTable, MachineError> {
        self.costs.clone().map_or_else(|| self.both.costs(), Ok)
    }

    fn computes_here(&self) -> bool {
        self.both.computes_here()
    }

    fn accepts(&self, program: &LimbProgram) -> Result<(), MachineError> {
        client::check(self, program)?;
        self.both.accepts(program)?;
        self.check_parts(program, &self.split(program)?.parts)
    }

    /// The cycles of host, link and engine together; where no clock says what the host's time is in cycles, those of the engine alone.
    fn estimate(&self, program: &LimbProgram) -> Result<Option<Timing>, MachineError> {
        self.accepts(program)?;
        let parts = self.split(program)?.parts;
        Ok(Some(self.timing(program, &parts)?))
    }

    fn prepare(&self, program: &LimbProgram) -> Result<Box<dyn Executable>, MachineError> {
        self.accepts(program)?;
        self.both.prepare(program)
    }
}

/// When the operands of a key switch are with the engine; none while that depends on one without an end. The function says the cycle
/// after the last row of a key switch that has one.
type Arrival<'a> = &'a mut dyn FnMut(usize, &dyn Fn(usize) -> Option<u64>) -> Option<u64>;

/// Operands that are there when the key switches that make them have ended; `of` says which these are.
fn after<'a>(
    of: impl Fn(usize) -> &'a [usize],
) -> impl FnMut(usize, &dyn Fn(usize) -> Option<u64>) -> Option<u64> {
    move |job, ended| of(job).iter().try_fold(0, |at: u64, &before| Some(at.max(ended(before)?)))
}

/// A key switch that is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Job {
    set: Set,
    /// The earlier ones whose results it needs.
    after: Vec<usize>,
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
            let SwitchShape { limbs, special, alpha, .. } = shape;
            jobs.push(Job { set: Set { limbs, special, alpha }, after });
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

/// The engine alone: it runs key switches of its shape, each a program.
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
