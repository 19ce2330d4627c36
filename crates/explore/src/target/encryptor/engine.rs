//! One engine, and its text: `encryptor:mode=divided,lanes=2,order=eval,limbs=4,word=60,rest=48,log_n=14`.

use std::sync::Arc;

use ringmill_machine::parameter::{Allowed, Parameter, Preset};
use ringmill_machine::registry::{Entry, Estimates, Setting};
use ringmill_machine::{Machine, MachineError, MachineSpec};
use serde_json::Map;

use super::{LIMBS, MODES, builds};
use crate::ExploreError;
use crate::design::Built;

/// An engine: which build, how many limbs, how wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Engine {
    /// Which of [`MODES`]: how its client encrypts.
    pub mode: usize,
    /// Words a cycle of every limb.
    pub lanes: u32,
    /// Limbs of a ciphertext.
    pub limbs: u32,
    /// Bits of the first limb, and of the extra prime.
    pub word: u32,
    /// Bits of the other limbs.
    pub rest: u32,
    /// log2 of the greatest degree.
    pub log_n_max: u32,
}

static MODE: Parameter = Parameter {
    name: "mode",
    field: "mode",
    rtl: None,
    allowed: Allowed::Names(&MODES),
    default: Some(Preset::Name(MODES[0])),
    unit: "",
    about: "how it encrypts: divided by an extra prime, undivided, or symmetric, which makes public keys as well",
};

static LANES: Parameter = Parameter {
    name: "lanes",
    field: "lanes",
    rtl: None,
    allowed: Allowed::Numbers(&[2, 4, 8]),
    default: Some(Preset::Whole(2)),
    unit: "words",
    about: "words a cycle of every limb",
};

static ORDER: Parameter = Parameter {
    name: "order",
    field: "value_order",
    rtl: None,
    allowed: Allowed::Names(&["eval", "pipeline"]),
    default: Some(Preset::Name("eval")),
    unit: "",
    about: "the order of values: with two lanes that of eval",
};

static OF_LIMBS: Parameter = Parameter {
    name: "limbs",
    field: "limbs",
    rtl: Some("Limbs"),
    allowed: Allowed::Range(1, LIMBS as u64),
    default: Some(Preset::Whole(4)),
    unit: "",
    about: "limbs of a ciphertext",
};

static WORD: Parameter = Parameter {
    name: "word",
    field: "word_bits",
    rtl: Some("W"),
    allowed: Allowed::Range(36, 60),
    default: Some(Preset::Whole(60)),
    unit: "bits",
    about: "bits of the first limb and of the extra prime",
};

static REST: Parameter = Parameter {
    name: "rest",
    field: "rest_bits",
    rtl: Some("WRest"),
    allowed: Allowed::Range(36, 60),
    default: Some(Preset::Whole(60)),
    unit: "bits",
    about: "bits of the other limbs",
};

static LOG_N: Parameter = Parameter {
    name: "log_n",
    field: "log_n_max",
    rtl: Some("LogNMax"),
    allowed: Allowed::Range(10, 15),
    default: Some(Preset::Whole(14)),
    unit: "log2",
    about: "the greatest degree N",
};

/// The engine as designs name it. It stands in no table of machines that run programs: it encrypts what they compute on.
pub static ENTRY: Entry = Entry {
    name: "encryptor",
    about: "the encryption engine of a client",
    runs: "no programs: it encrypts their arguments",
    estimates: Estimates::No,
    simulates: "in Python, machine=\"encryptor\" of encrypt and decrypt",
    shared: false,
    options: &[
        Setting::default(&MODE),
        Setting::default(&LANES),
        Setting::default(&ORDER),
        Setting::default(&OF_LIMBS),
        Setting::default(&WORD),
        Setting::default(&REST),
        Setting::default(&LOG_N),
    ],
    open,
};

fn open(spec: &MachineSpec) -> Result<Arc<dyn Machine>, MachineError> {
    Err(MachineError::Unsupported {
        machine: spec.to_string(),
        program: "of limbs".into(),
        reason:
            "it encrypts arguments and decrypts results; give machine=\"encryptor\" to encrypt and decrypt"
                .into(),
    })
}

impl Engine {
    /// Its build.
    ///
    /// # Errors
    /// [`ExploreError::DesignFile`] for one that was not synthesised.
    pub(super) fn build(&self) -> Result<&'static builds::Build, ExploreError> {
        let same = |b: &&builds::Build| {
            (b.mode.as_str(), b.lanes, b.log_n_max) == (MODES[self.mode], self.lanes, self.log_n_max)
        };
        builds::all()?.iter().find(same).ok_or_else(|| {
            let why = format!(
                "no encryption engine that is {} with {} lanes up to N = 2^{} was synthesised",
                MODES[self.mode], self.lanes, self.log_n_max
            );
            ExploreError::DesignFile { why }
        })
    }

    /// As a design says it.
    pub(super) fn write(&self) -> Built {
        let order = self.build().map_or("eval", |build| build.order.as_str());
        let Self { mode, lanes, limbs, word, rest, log_n_max } = self;
        let machine = format!(
            "{}:mode={},lanes={lanes},order={order},limbs={limbs},word={word},rest={rest},log_n={log_n_max}",
            ENTRY.name, MODES[*mode]
        );
        Built { machine, hardware: Map::new() }
    }

    /// The engine of a design.
    ///
    /// # Errors
    /// [`ExploreError::DesignFile`] for one that was not synthesised, or in another order than its build has.
    pub(super) fn read(spec: &MachineSpec, built: &Built) -> Result<Self, ExploreError> {
        if let Some(unknown) = built.hardware.keys().next() {
            let why = format!("an encryption engine has no {unknown} to be built with; leave it out");
            return Err(ExploreError::DesignFile { why });
        }
        let whole = |p: &Parameter, default: u32| spec.whole(p.name).map_or(default, |n| n as u32);
        let mode = spec.text(MODE.name).and_then(|name| MODES.iter().position(|&m| m == name));
        let engine = Self {
            mode: mode.unwrap_or(0),
            lanes: whole(&LANES, 2),
            limbs: whole(&OF_LIMBS, 4),
            word: whole(&WORD, 60),
            rest: whole(&REST, 60),
            log_n_max: whole(&LOG_N, 14),
        };
        let build = engine.build()?;
        if spec.text(ORDER.name).is_some_and(|order| order != build.order) {
            let why = format!("{} lanes hand out values in the order {}", engine.lanes, build.order);
            return Err(ExploreError::DesignFile { why });
        }
        build.needs(&engine).map(|_| engine)
    }
}
