//! The parameters of a compact core, declared once.
//!
//! Configurations, texts of machines, the tools of the hardware, the interface of the simulator, Python's class and the pages are
//! made from [`PARAMETERS`], or printed from it and compared (`tests/parameters.rs`).

#[cfg(test)]
pub(super) mod print;

use super::config::{CompactLiteral, Multiplier, Policy};
use crate::parameter::{Allowed, Parameter, Preset, Value};

/// A parameter of a core or of its memory, and where it stands in a configuration.
#[derive(Debug)]
pub struct CoreParameter {
    /// What it is.
    pub parameter: Parameter,
    /// Its value in a configuration.
    pub get: fn(&CompactLiteral) -> Value,
    /// Puts a value that the parameter allows into a configuration.
    pub set: fn(&mut CompactLiteral, &Value),
}

impl CoreParameter {
    /// The number that stands for its value in the hardware: of a name its place among the names.
    pub fn number(&self, literal: &CompactLiteral) -> u64 {
        match (self.parameter.allowed, (self.get)(literal)) {
            (Allowed::Names(all), Value::Text(name)) => {
                all.iter().position(|one| *one == name).unwrap_or_default() as u64
            }
            (_, value) => whole(&value),
        }
    }

    /// Puts the value that a number stands for into a configuration; whether there is one. What a number may be is not checked.
    pub fn set_number(&self, literal: &mut CompactLiteral, number: u64) -> bool {
        let value = match self.parameter.allowed {
            Allowed::Names(all) => {
                usize::try_from(number).ok().and_then(|i| all.get(i)).map(|name| (*name).into())
            }
            _ => Some(Value::Whole(number)),
        };
        value.is_some_and(|value| {
            (self.set)(literal, &value);
            true
        })
    }
}

/// The number in a value that is one.
fn whole(value: &Value) -> u64 {
    match value {
        Value::Whole(n) => *n,
        Value::Text(_) => 0,
    }
}

/// A parameter that is a number in `$place` of a configuration.
macro_rules! number {
    ($parameter:expr, $($place:ident).+: $type:ty) => {
        CoreParameter {
            parameter: $parameter,
            get: |literal| Value::Whole(literal.$($place).+.into()),
            // What is allowed fits.
            set: |literal, value| literal.$($place).+ = whole(value) as $type,
        }
    };
}

const MULTIPLIERS: [&str; Multiplier::ALL.len()] = {
    let mut names = [""; Multiplier::ALL.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = Multiplier::ALL[i].name();
        i += 1;
    }
    names
};

/// How a product is cut for the DSP blocks of a family of devices, as `rm_modmul_pkg` numbers it.
pub const TILES: [&str; 4] = ["lut", "ecp5", "dsp48e1", "dsp48e2"];

/// The parameters of a core and its memory, in the order of its top module.
pub static PARAMETERS: [&CoreParameter; 11] =
    [&WORD, &BUTTERFLIES, &LOG_N, &MODULI, &MULTIPLIER, &ONES, &BUS, &READ_ROWS, &MEMORY, &LATENCY, &BEAT];

/// Bits of a word on chip: primes are below 2^word.
pub static WORD: CoreParameter = number!(
    Parameter {
        name: "word",
        field: "word_bits",
        rtl: Some("W"),
        allowed: Allowed::Numbers(&CompactLiteral::WORD_BITS),
        default: Some(Preset::Whole(54)),
        unit: "bits",
        about: "bits of a word on chip: primes are below 2^word",
    },
    word_bits: u32
);

/// Butterflies of a lane: time halves, multipliers double.
pub static BUTTERFLIES: CoreParameter = number!(
    Parameter {
        name: "butterflies",
        field: "butterflies",
        rtl: Some("NBF"),
        allowed: Allowed::Numbers(&CompactLiteral::BUTTERFLIES),
        default: Some(Preset::Whole(4)),
        unit: "",
        about: "butterflies of a lane: time halves, multipliers double",
    },
    butterflies: u32
);

/// The greatest degree N: six banks of N words.
pub static LOG_N: CoreParameter = number!(
    Parameter {
        name: "log_n",
        field: "log_n_max",
        rtl: Some("LOGN_MAX"),
        allowed: Allowed::Range(CompactLiteral::LOG_N_MIN as u64, CompactLiteral::LOG_N_MAX as u64),
        default: Some(Preset::Whole(13)),
        unit: "log2",
        about: "the greatest degree N: six banks of N words",
    },
    log_n_max: u32
);

/// Entries of the modulus table.
pub static MODULI: CoreParameter = number!(
    Parameter {
        name: "moduli",
        field: "moduli",
        rtl: Some("MODS"),
        allowed: Allowed::Range(2, 32),
        default: Some(Preset::Whole(16)),
        unit: "",
        about: "entries of the modulus table",
    },
    moduli: u32
);

/// The modular multiplier, which says what primes there may be.
pub static MULTIPLIER: CoreParameter = CoreParameter {
    parameter: Parameter {
        name: "multiplier",
        field: "multiplier",
        rtl: Some("KIND"),
        allowed: Allowed::Names(&MULTIPLIERS),
        default: Some(Preset::Name(Multiplier::Montgomery.name())),
        unit: "",
        about: "the modular multiplier, which says what primes there may be",
    },
    get: |literal| literal.multiplier.name().into(),
    set: |literal, value| {
        if let Value::Text(name) = value {
            literal.multiplier = Multiplier::by_name(name).unwrap_or(literal.multiplier);
        }
    },
};

/// Where primes of a PRF-FIKO core have ones: with few places its multipliers are smaller.
pub static ONES: CoreParameter = number!(
    Parameter {
        name: "ones",
        field: "ones",
        rtl: Some("ONES"),
        allowed: Allowed::Range(0, (1 << 30) - 1),
        default: Some(Preset::Whole(0)),
        unit: "",
        about: "of prf-fiko, q = 2^(word-1) + f: where f may have ones, as the bits of a number; 0 for any f",
    },
    ones: u32
);

/// Bits of a beat of the memory bus.
pub static BUS: CoreParameter = number!(
    Parameter {
        name: "bus",
        field: "bus_bits",
        rtl: Some("D"),
        allowed: Allowed::Numbers(&CompactLiteral::BUS_BITS),
        default: Some(Preset::Whole(512)),
        unit: "bits",
        about: "bits of a beat of the memory bus",
    },
    bus_bits: u32
);

/// Rows that wait on chip for the arithmetic unit: what comes in the latency of the memory has to have space.
pub static READ_ROWS: CoreParameter = number!(
    Parameter {
        name: "read_rows",
        field: "read_rows",
        rtl: Some("RD_ROWS"),
        allowed: Allowed::Numbers(&CompactLiteral::READ_ROWS),
        default: Some(Preset::Whole(64)),
        unit: "rows",
        about: "rows of 2·butterflies words that are read ahead: more for memories of long latency",
    },
    read_rows: u32
);

/// Memory beside the core.
pub static MEMORY: CoreParameter = number!(
    Parameter {
        name: "memory",
        field: "memory_bytes",
        rtl: None,
        allowed: Allowed::Range(1 << 16, 1 << 38),
        default: Some(Preset::Whole(4 << 30)),
        unit: "bytes",
        about: "memory beside the core",
    },
    memory_bytes: u64
);

/// From a read request to its first beat, and from the last beat written to its response.
pub static LATENCY: CoreParameter = number!(
    Parameter {
        name: "latency",
        field: "memory_latency",
        rtl: None,
        allowed: Allowed::Range(1, CompactLiteral::LATENCY_MAX as u64),
        default: Some(Preset::Whole(40)),
        unit: "cycles",
        about: "from a read request to its first beat, and from the last beat written to its response",
    },
    timing.latency: u32
);

/// Cycles from one beat to the next in each direction.
pub static BEAT: CoreParameter = number!(
    Parameter {
        name: "beat",
        field: "beat_cycles",
        rtl: None,
        allowed: Allowed::Range(1, CompactLiteral::BEAT_CYCLES_MAX as u64),
        default: Some(Preset::Whole(1)),
        unit: "cycles",
        about: "cycles from one beat to the next in each direction",
    },
    timing.beat_cycles: u32
);

/// What a core has the most of that is to run any program.
pub const ROOMY: [&str; 3] = ["word_bits", "log_n_max", "moduli"];

/// What synthesis alone depends on.
pub static TILE: Parameter = Parameter {
    name: "tile",
    field: "tile",
    rtl: Some("TILE"),
    allowed: Allowed::Names(&TILES),
    default: Some(Preset::Name("dsp48e2")),
    unit: "",
    about: "how a product is cut for the device's DSP blocks",
};

/// Units of a core whose products may have no block where those of the other have, as `rm_modmul_pkg` numbers them.
pub const LUT_UNITS: [&str; 3] = ["none", "transforms", "arithmetic"];

/// The same of one of the two kinds of units alone.
pub static LUT_UNIT: Parameter = Parameter {
    name: "lut_unit",
    field: "lut_unit",
    rtl: Some("LUT_UNIT"),
    allowed: Allowed::Names(&LUT_UNITS),
    default: Some(Preset::Name(LUT_UNITS[0])),
    unit: "",
    about: "the unit whose products are made of LUTs where those of the other have DSP blocks",
};

/// The clock, which changes times and nothing else.
pub static CLOCK: Parameter = Parameter {
    name: "clock",
    field: "clock",
    rtl: None,
    allowed: Allowed::Range(1, 10_000),
    default: None,
    unit: "MHz",
    about: "the clock of the core",
};

/// How plans are made.
pub static POLICY: Parameter = Parameter {
    name: "policy",
    field: "policy",
    rtl: None,
    allowed: Allowed::Names(&[Policy::RUNNABLE[0].name(), Policy::RUNNABLE[1].name()]),
    default: Some(Preset::Name(Policy::Throughput.name())),
    unit: "",
    about: "what plans are made for: few cycles in all, or early results",
};

/// How long plans are searched for.
pub static EFFORT: Parameter = Parameter {
    name: "effort",
    field: "effort",
    rtl: None,
    allowed: Allowed::Range(0, 1 << 30),
    default: Some(Preset::Whole(super::machine::EFFORT as u64)),
    unit: "passes",
    about: "passes scheduled in search of a plan, all attempts together",
};

/// Everything that is declared of a core, its memory and its plans, the hardware's in the order of its top module.
pub static DECLARED: [&Parameter; 16] = [
    &WORD.parameter,
    &BUTTERFLIES.parameter,
    &LOG_N.parameter,
    &MODULI.parameter,
    &MULTIPLIER.parameter,
    &ONES.parameter,
    &TILE,
    &LUT_UNIT,
    &BUS.parameter,
    &READ_ROWS.parameter,
    &MEMORY.parameter,
    &LATENCY.parameter,
    &BEAT.parameter,
    &CLOCK,
    &POLICY,
    &EFFORT,
];
