//! `pipelined` in the registry.

use std::sync::Arc;

use super::{Built, LOG_N_MIN, Pipelined};
use crate::compact::parameters::{CLOCK, MULTIPLIER, WORD};
use crate::compact::{CompactLiteral, Multiplier};
use crate::parameter::{Allowed, Parameter, Preset};
use crate::registry::{Entry, Estimates, LeftOut, Setting};
use crate::spec::MachineSpec;
use crate::{Machine, MachineError};

static LIMBS: Parameter = Parameter {
    name: "limbs",
    field: "limbs",
    rtl: Some("Limbs"),
    allowed: Allowed::Range(1, 15),
    default: Some(Preset::Whole(4)),
    unit: "",
    about: "most limbs that are switched: as many forward transforms stand side by side",
};

static LANES: Parameter = Parameter {
    name: "lanes",
    field: "lanes",
    rtl: None,
    allowed: Allowed::Numbers(&[2, 4, 8, 16, 32]),
    default: Some(Preset::Whole(8)),
    unit: "words",
    about: "words of a row, which each transform takes every cycle",
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

/// The machine `pipelined`.
pub static ENTRY: Entry = Entry {
    name: "pipelined",
    about: "this computer's processor, with key switches on the chain of streaming transforms",
    runs: "all; the chain takes key switches with one special prime, a digit a limb and no merged rescale",
    estimates: Estimates::Cycles,
    simulates: "as `cpu`",
    shared: false,
    options: &[
        Setting::default(&LIMBS),
        Setting::default(&LANES),
        Setting::default(&LOG_N),
        Setting::or(&WORD.parameter, LeftOut::Most),
        Setting::default(&MULTIPLIER.parameter),
        Setting::or(&CLOCK, LeftOut::Words("not known: cycles alone")),
    ],
    open,
};

fn open(spec: &MachineSpec) -> Result<Arc<dyn Machine>, MachineError> {
    let mut literal = CompactLiteral::roomy();
    // The ranges of the options fit.
    let number = |p: &Parameter| match (spec.whole(p.name), p.default) {
        (Some(n), _) | (None, Some(Preset::Whole(n))) => n as u32,
        _ => 0,
    };
    if let Some(word) = spec.whole(WORD.parameter.name) {
        literal.word_bits = word as u32;
    }
    if let Some(kind) = spec.text(MULTIPLIER.parameter.name).and_then(Multiplier::by_name) {
        literal.multiplier = kind;
    }
    let built = Built {
        products: literal.build()?,
        limbs: number(&LIMBS),
        log_p: number(&LANES).ilog2(),
        log_n_max: number(&LOG_N),
    };
    let clock = spec.whole(CLOCK.name).map(|mhz| mhz as f64);
    Ok(Arc::new(Pipelined::beside_cpu(built, clock)?))
}
