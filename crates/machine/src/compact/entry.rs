//! The machines of compact cores in the registry: `compact`, whose instructions are emulated, and `verilator`, whose hardware is
//! simulated.

use std::path::Path;
use std::sync::Arc;

use super::parameters::{self, CLOCK, EFFORT, PARAMETERS, POLICY};
use super::{Compact, CompactConfig, CompactError, CompactLiteral, CoreLibrary, Policy, SimulatedMemory};
use crate::parameter::{Allowed, Parameter};
use crate::registry::{Entry, Estimates, LeftOut, Setting};
use crate::spec::MachineSpec;
use crate::{Machine, MachineError};

static LIBRARY: Parameter = Parameter {
    name: "library",
    field: "library",
    rtl: None,
    allowed: Allowed::Path,
    default: None,
    unit: "",
    about: "the simulated core, as `python -m rtl.sim.build` makes it; all else is as it was built",
};

/// The machine `compact`.
pub static EMULATED: Entry = Entry {
    name: "compact",
    about: "the hardware core, its instructions emulated one by one",
    runs: RUNS,
    estimates: Estimates::Cycles,
    simulates: "scalar arithmetic, instruction by instruction",
    shared: false,
    options: &[
        Setting::or(&parameters::WORD.parameter, LeftOut::Most),
        Setting::default(&parameters::BUTTERFLIES.parameter),
        Setting::or(&parameters::LOG_N.parameter, LeftOut::Most),
        Setting::or(&parameters::MODULI.parameter, LeftOut::Most),
        Setting::default(&parameters::MULTIPLIER.parameter),
        Setting::default(&parameters::ONES.parameter),
        Setting::default(&parameters::BUS.parameter),
        Setting::default(&parameters::MEMORY.parameter),
        Setting::default(&parameters::LATENCY.parameter),
        Setting::default(&parameters::BEAT.parameter),
        Setting::or(&CLOCK, UNKNOWN),
        Setting::default(&POLICY),
        Setting::default(&EFFORT),
    ],
    open: |spec| match std::env::var_os("RINGMILL_CORE_LIBRARY") {
        Some(path) => simulated(spec, path.as_ref()),
        None => Ok(Arc::new(searching(spec, Compact::emulated(config(spec)?)))),
    },
};

/// What the clock is where it is left out.
const UNKNOWN: LeftOut = LeftOut::Words("not known: cycles alone; costs are given for 100");

/// What the cores run.
const RUNS: &str = "N from 2^10 to 2^15, at most 32 primes of 60 bits; a smaller core fewer";

/// What an option of a core is where it is left out, of a core that is built for a program.
const NEEDED: LeftOut = LeftOut::Words("as the program needs");

/// The machine `verilator`.
pub static SIMULATED: Entry = Entry {
    name: "verilator",
    about: "the hardware core, its RTL simulated",
    runs: RUNS,
    estimates: Estimates::Cycles,
    simulates: "the RTL under Verilator, cycle by cycle",
    shared: false,
    options: &[
        Setting::or(&parameters::WORD.parameter, NEEDED),
        Setting::default(&parameters::BUTTERFLIES.parameter),
        Setting::or(&parameters::LOG_N.parameter, NEEDED),
        Setting::or(&parameters::MODULI.parameter, LeftOut::Most),
        Setting::default(&parameters::MULTIPLIER.parameter),
        Setting::default(&parameters::ONES.parameter),
        Setting::default(&parameters::BUS.parameter),
        Setting::default(&parameters::LATENCY.parameter),
        Setting::default(&parameters::BEAT.parameter),
        Setting::or(&CLOCK, UNKNOWN),
        Setting::default(&POLICY),
        Setting::default(&EFFORT),
        Setting::or(&LIBRARY, LeftOut::Built("built once and kept, by Python")),
    ],
    open: |spec| match spec.text("library") {
        Some(path) => simulated(spec, path.as_ref()),
        None => {
            let open = |_: &CompactConfig, _| Err(CompactError::Simulator { reason: NO_LIBRARY.into() });
            Ok(Arc::new(searching(spec, Compact::new(config(spec)?, Arc::new(open)))))
        }
    },
};

/// Why `verilator` prepares nothing.
const NO_LIBRARY: &str =
    "no library of it is named; give library=PATH, which `python -m rtl.sim.build` makes";

/// The core that a text describes: what it leaves out is such that the core runs most programs.
fn config(spec: &MachineSpec) -> Result<CompactConfig, CompactError> {
    literal(spec).build()
}

/// The same, unchecked.
pub fn literal(spec: &MachineSpec) -> CompactLiteral {
    asked(spec, CompactLiteral::roomy())
}

/// A literal with what a text gives.
pub(crate) fn asked(spec: &MachineSpec, mut literal: CompactLiteral) -> CompactLiteral {
    for p in PARAMETERS {
        if let Some(value) = spec.get(p.parameter.name) {
            (p.set)(&mut literal, value);
        }
    }
    literal
}

/// The machine of a library, if that is the core that the text describes as far as it does.
fn simulated(spec: &MachineSpec, path: &Path) -> Result<Arc<dyn Machine>, MachineError> {
    let library = CoreLibrary::load(path)?;
    let built = *library.config()?.literal();
    let asked = asked(spec, built);
    for p in PARAMETERS.iter().filter(|p| p.parameter.rtl.is_some()) {
        let (wanted, found, name) = ((p.get)(&asked), (p.get)(&built), p.parameter.name);
        if wanted != found {
            let reason = format!("its core was built for {name}={found}, and {name}={wanted} is asked for");
            return Err(CompactError::Simulator { reason }.into());
        }
    }
    let config = asked.build()?;
    let memory = SimulatedMemory::of(&config);
    Ok(Arc::new(searching(spec, Compact::simulated(config, library, memory))))
}

/// A machine with the clock that the text gives, whose plans are searched for as it says.
pub(crate) fn searching(spec: &MachineSpec, mut machine: Compact) -> Compact {
    if let Some(mhz) = spec.whole(CLOCK.name) {
        machine = machine.with_clock(mhz as f64);
    }
    if let Some(policy) = spec.text(POLICY.name).and_then(Policy::by_name) {
        machine = machine.with_policy(policy);
    }
    match spec.whole(EFFORT.name) {
        // The range of the option fits.
        Some(effort) => machine.with_effort(effort as usize),
        None => machine,
    }
}
