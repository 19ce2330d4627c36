//! `pipelined` in the registry.

use std::path::Path;
use std::sync::Arc;

use ringmill_program::cost::CostTable;

use super::host::Link;
use super::pool::Set;
use super::{Beside, Build, Built, LOG_N_MIN, Pipelined};
use crate::compact::parameters::{CLOCK, MULTIPLIER, WORD};
use crate::compact::{CompactLiteral, Multiplier};
use crate::cpu::costs;
use crate::parameter::{Allowed, Parameter, Preset};
use crate::registry::{Entry, Estimates, LeftOut, Setting};
use crate::spec::{MachineSpec, SpecError};
use crate::{Machine, MachineError};

const STREAMS: &str = "streams";
const POOL: &str = "pool";

static BUILD: Parameter = Parameter {
    name: "build",
    field: "build",
    rtl: None,
    allowed: Allowed::Names(&[STREAMS, POOL]),
    default: Some(Preset::Name(STREAMS)),
    unit: "",
    about: "streams: a chain, for one special prime and a digit a limb; pool: units in place, for any numbers up to its own",
};

static LIMBS: Parameter = Parameter {
    name: "limbs",
    field: "limbs",
    rtl: Some("Limbs"),
    allowed: Allowed::Range(1, 15),
    default: Some(Preset::Whole(4)),
    unit: "",
    about: "most limbs that are switched; of streams, as many forward transforms stand side by side",
};

static LANES: Parameter = Parameter {
    name: "lanes",
    field: "lanes",
    rtl: None,
    allowed: Allowed::Numbers(&[2, 4, 8, 16, 32]),
    default: Some(Preset::Whole(8)),
    unit: "words",
    about: "of streams, words of a row, which each transform takes every cycle; a pool has 16",
};

static SPECIAL: Parameter = Parameter {
    name: "special",
    field: "special",
    rtl: Some("Special"),
    allowed: Allowed::Range(1, 7),
    default: Some(Preset::Whole(1)),
    unit: "",
    about: "of a pool, most special primes",
};

static DIGITS: Parameter = Parameter {
    name: "digits",
    field: "digits",
    rtl: Some("Digits"),
    allowed: Allowed::Range(1, 15),
    default: None,
    unit: "",
    about: "of a pool, most digits of an operand",
};

static ALPHA: Parameter = Parameter {
    name: "alpha",
    field: "alpha",
    rtl: Some("Alpha"),
    allowed: Allowed::Range(1, 7),
    default: None,
    unit: "",
    about: "of a pool, most limbs of a digit; not below its special primes",
};

static UNITS: Parameter = Parameter {
    name: "units",
    field: "units",
    rtl: Some("Units"),
    allowed: Allowed::Range(1, 31),
    default: Some(Preset::Whole(10)),
    unit: "",
    about: "of a pool, transform units, of 32 butterflies each",
};

static FEEDS: Parameter = Parameter {
    name: "feeds",
    field: "feeds",
    rtl: Some("Feeds"),
    allowed: Allowed::Range(1, 8),
    default: Some(Preset::Whole(3)),
    unit: "",
    about: "of a pool, transforms whose rows can enter at once",
};

static LOG_N: Parameter = Parameter {
    name: "log_n",
    field: "log_n_max",
    rtl: Some("LogNMax"),
    allowed: Allowed::Range(LOG_N_MIN as u64, 16),
    default: Some(Preset::Whole(16)),
    unit: "log2",
    about: "the greatest degree N",
};

static BANDWIDTH: Parameter = Parameter {
    name: "bandwidth",
    field: "bandwidth",
    rtl: None,
    allowed: Allowed::Range(1, 100_000_000),
    default: None,
    unit: "MB/s",
    about: "what the memory off chip moves, read and written together; it needs the clock",
};

static LATENCY: Parameter = Parameter {
    name: "latency",
    field: "latency",
    rtl: None,
    allowed: Allowed::Range(0, 100_000),
    default: Some(Preset::Whole(0)),
    unit: "cycles",
    about: "from a request to that memory to its first bytes",
};

const WHOLE: &str = "whole";
const SEEDED: &str = "seeded";

static KEYS: Parameter = Parameter {
    name: "keys",
    field: "keys",
    rtl: None,
    allowed: Allowed::Names(&[WHOLE, SEEDED]),
    default: Some(Preset::Name(WHOLE)),
    unit: "",
    about: "whether both halves of keys come from memory, or one is expanded on chip from its seed, which is counted, not built",
};

static LINK: Parameter = Parameter {
    name: "link",
    field: "link",
    rtl: None,
    allowed: Allowed::Range(1, 1_000_000),
    default: Some(Preset::Whole(12_000)),
    unit: "MB/s",
    about: "what the link to the host carries each way; 12,000 is assumed of the 15,754 of PCIe 3.0 x16, whose packets have heads",
};

static LINK_LATENCY: Parameter = Parameter {
    name: "link_latency",
    field: "link_latency",
    rtl: None,
    allowed: Allowed::Range(0, 1_000_000),
    default: Some(Preset::Whole(1_000)),
    unit: "ns",
    about: "from the last byte that leaves to its use at the other end; assumed",
};

const SHIPPED: &str = "shipped";

static COSTS: Parameter = Parameter {
    name: "costs",
    field: "costs",
    rtl: None,
    allowed: Allowed::Path,
    default: None,
    unit: "",
    about: "what the host takes: a file of `ringmill calibrate`, or `shipped`, the stored profile of a Zen 4 core",
};

/// The machine `pipelined`.
pub static ENTRY: Entry = Entry {
    name: "pipelined",
    about: "this computer's processor, with key switches on a pipelined engine",
    runs: "all; the engine takes key switches without a merged rescale: a chain those with one special prime and a digit a limb, a pool \
           all that fit it",
    estimates: Estimates::Cycles,
    simulates: "as `cpu`",
    shared: false,
    options: &[
        Setting::default(&BUILD),
        Setting::default(&LIMBS),
        Setting::default(&LANES),
        Setting::default(&SPECIAL),
        Setting::or(&DIGITS, LeftOut::Words("as limbs")),
        Setting::or(&ALPHA, LeftOut::Words("what limbs, digits and special need")),
        Setting::default(&UNITS),
        Setting::default(&FEEDS),
        Setting::default(&LOG_N),
        Setting::or(&WORD.parameter, LeftOut::Most),
        Setting::default(&MULTIPLIER.parameter),
        Setting::or(&CLOCK, LeftOut::Words("not known: cycles alone")),
        Setting::or(&BANDWIDTH, LeftOut::Words("no memory makes it wait")),
        Setting::default(&LATENCY),
        Setting::default(&KEYS),
        Setting::default(&LINK),
        Setting::default(&LINK_LATENCY),
        Setting::or(&COSTS, LeftOut::Words("as measured on this computer, else as shipped")),
    ],
    open,
};

/// A combination that there is not.
fn refused(spec: &MachineSpec, option: &'static str, allowed: impl Into<String>) -> MachineError {
    let value = spec.get(option).map(ToString::to_string).unwrap_or_default();
    SpecError::OutOfRange { machine: ENTRY.name, option, value, allowed: allowed.into() }.into()
}

/// The number of an option, or its default. The ranges of the options fit.
fn number(spec: &MachineSpec, p: &Parameter) -> u32 {
    match (spec.whole(p.name), p.default) {
        (Some(n), _) | (None, Some(Preset::Whole(n))) => n as u32,
        _ => 0,
    }
}

/// What the options say of the engine itself.
pub(super) fn built(spec: &MachineSpec) -> Result<Built, MachineError> {
    let mut literal = CompactLiteral::roomy();
    let number = |p: &Parameter| number(spec, p);
    if let Some(word) = spec.whole(WORD.parameter.name) {
        literal.word_bits = word as u32;
    }
    if let Some(kind) = spec.text(MULTIPLIER.parameter.name).and_then(Multiplier::by_name) {
        literal.multiplier = kind;
    }
    let is_pool = spec.text(BUILD.name) == Some(POOL);
    let others: &[&Parameter] =
        if is_pool { &[&LANES] } else { &[&SPECIAL, &DIGITS, &ALPHA, &UNITS, &FEEDS] };
    if let Some(other) = others.iter().find(|p| spec.get(p.name).is_some()) {
        let build = if is_pool { STREAMS } else { POOL };
        return Err(refused(spec, other.name, format!("it with build={build} alone")));
    }
    let limbs = number(&LIMBS);
    let build = if is_pool {
        let special = number(&SPECIAL);
        let digits = spec.whole(DIGITS.name).map_or(limbs, |n| n as u32);
        if digits > limbs {
            return Err(refused(spec, DIGITS.name, format!("1 to {limbs}, as many as limbs")));
        }
        let least = limbs.div_ceil(digits).max(special);
        let alpha = spec.whole(ALPHA.name).map_or(least, |n| n as u32);
        if least > 7 {
            return Err(refused(
                spec,
                DIGITS.name,
                format!("{} or more: a digit has 7 limbs at most", limbs.div_ceil(7)),
            ));
        }
        if alpha < least {
            return Err(refused(spec, ALPHA.name, format!("{least} to 7")));
        }
        let most = Set { limbs, special, alpha };
        Build::Pool { most, digits, units: number(&UNITS), feeds: number(&FEEDS) }
    } else {
        Build::Streams { limbs, log_p: number(&LANES).ilog2() }
    };
    Ok(Built { products: literal.build()?, log_n_max: number(&LOG_N), build })
}

/// The machine for parameters with primes of some bits. What its options leave out is what these need: the chain where it serves them,
/// else the pool.
pub(super) fn for_set(
    spec: &MachineSpec,
    log_n: u32,
    set: Set,
    bits: u32,
) -> Result<MachineSpec, MachineError> {
    // What is beyond an option's greatest value, the engine refuses by its name.
    let bounded = |p: &Parameter, n: u32| match p.allowed {
        Allowed::Range(least, most) => u64::from(n).clamp(least, most),
        _ => n.into(),
    };
    let left_out = |made: MachineSpec, p: &'static Parameter, value: u64| match made.get(p.name) {
        None => made.with(p.name, value),
        Some(_) => Ok(made),
    };
    let word = CompactLiteral::WORD_BITS.into_iter().find(|&word| word >= bits).unwrap_or(60);
    let mut made = spec.clone();
    if made.get(BUILD.name).is_none() {
        let chain = set.special == 1 && set.alpha == 1;
        made = made.with(BUILD.name, if chain { STREAMS } else { POOL })?;
    }
    made = left_out(made, &LIMBS, bounded(&LIMBS, set.limbs))?;
    made = left_out(made, &LOG_N, bounded(&LOG_N, log_n))?;
    made = left_out(made, &WORD.parameter, word.into())?;
    if made.text(BUILD.name) == Some(POOL) {
        made = left_out(made, &SPECIAL, bounded(&SPECIAL, set.special))?;
        let limbs = number(&made, &LIMBS);
        made = left_out(made, &DIGITS, bounded(&DIGITS, set.digits().min(limbs)))?;
        let least = number(&made, &SPECIAL).max(limbs.div_ceil(number(&made, &DIGITS)));
        made = left_out(made, &ALPHA, bounded(&ALPHA, set.alpha.min(set.limbs).max(least)))?;
    }
    Ok(made)
}

fn open(spec: &MachineSpec) -> Result<Arc<dyn Machine>, MachineError> {
    let number = |p: &Parameter| number(spec, p);
    let built = built(spec)?;
    let clock = spec.whole(CLOCK.name);
    let bytes_in_1000 = match (spec.whole(BANDWIDTH.name), clock) {
        (Some(megabytes), Some(mhz)) => Some((megabytes * 1000).div_euclid(mhz).max(1)),
        (Some(_), None) => {
            return Err(refused(spec, BANDWIDTH.name, "clock too, which says what it is in a cycle"));
        }
        (None, _) if spec.get(LATENCY.name).is_some() => {
            return Err(refused(
                spec,
                LATENCY.name,
                "bandwidth too: without it no memory makes the engine wait",
            ));
        }
        (None, _) => None,
    };
    if let (None, Some(option)) =
        (clock, [&LINK, &LINK_LATENCY].into_iter().find(|p| spec.get(p.name).is_some()))
    {
        return Err(refused(spec, option.name, "clock too: without it the host's time has no cycles"));
    }
    let costs = match spec.text(COSTS.name) {
        Some(SHIPPED) => Some(CostTable::shipped()),
        Some(path) => Some(costs::read(Path::new(path))?),
        None => None,
    };
    let beside = Beside {
        clock_mhz: clock,
        link: Link { megabytes: number(&LINK).into(), latency_ns: number(&LINK_LATENCY).into() },
        bytes_in_1000,
        latency: number(&LATENCY).into(),
        seeded: spec.text(KEYS.name) == Some(SEEDED),
    };
    Ok(Arc::new(Pipelined::beside_cpu(built, beside, costs)?))
}
