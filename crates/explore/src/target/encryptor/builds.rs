//! Builds of the engine that were synthesised, and their cycles: `data/encryptor.json`, which `python -m rtl.encryptor.figures`
//! writes from `rtl/synth/data` and from the schedule that the RTL is held to.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;

use super::engine::Engine;
use crate::ExploreError;
use crate::design::Resource;

/// Where the amounts come from.
pub(super) const SOURCE: &str = "every module as Yosys 0.70 synthesised it, as often as it is there; not placed, nothing merged with its \
                                 neighbour; memories of keys, messages and results beside the engine are not counted";

const FILE: &str = "encryptor.json";

#[derive(Debug, Deserialize)]
struct Data {
    schema: u32,
    builds: Vec<Build>,
}

type Amounts = BTreeMap<Resource, f64>;

/// One build, for any number of limbs.
#[derive(Debug, Deserialize)]
pub(super) struct Build {
    /// How its client encrypts.
    pub(super) mode: String,
    /// The order of its values.
    pub(super) order: String,
    /// Words a cycle of every limb.
    pub(super) lanes: u32,
    /// log2 of the greatest degree.
    pub(super) log_n_max: u32,
    /// Limbs of the build that was synthesised.
    limbs: u32,
    /// What is there once.
    once: Amounts,
    /// The top itself, which has rows of every limb.
    rows: Amounts,
    /// A limb of each width.
    limb: Vec<Limb>,
    /// Cycles at each degree.
    cycles: Vec<Cycles>,
}

#[derive(Debug, Deserialize)]
struct Limb {
    bits: u32,
    #[serde(flatten)]
    amounts: Amounts,
}

/// Cycles of encryptions at a degree.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct Cycles {
    log_n: u32,
    /// From one to the next, when operands wait.
    pub(super) interval: u64,
    /// From the job to the last word, nothing drawn ahead, for the mean number of refused bytes.
    pub(super) cold: u64,
}

/// All of them.
///
/// # Errors
/// [`ExploreError::Data`].
pub(super) fn all() -> Result<&'static [Build], ExploreError> {
    static DATA: OnceLock<Result<Data, String>> = OnceLock::new();
    let read = || {
        let data: Data = serde_json::from_str(include_str!("../../../data/encryptor.json"))
            .map_err(|e: serde_json::Error| e.to_string())?;
        if data.schema == 1 { Ok(data) } else { Err(format!("its schema is {}, not 1", data.schema)) }
    };
    let data = DATA.get_or_init(read).as_ref();
    data.map(|data| data.builds.as_slice()).map_err(|why| ExploreError::Data { file: FILE, why: why.clone() })
}

impl Build {
    /// Widths of its limbs.
    pub(super) fn widths(&self) -> impl Iterator<Item = u32> {
        self.limb.iter().map(|limb| limb.bits)
    }

    /// Cycles at a degree; none above the greatest.
    pub(super) fn cycles(&self, log_n: u32) -> Option<Cycles> {
        self.cycles.iter().copied().find(|c| c.log_n == log_n)
    }

    /// What an engine takes of this build.
    ///
    /// # Errors
    /// [`ExploreError::Data`] for a width that was not synthesised.
    pub(super) fn needs(&self, engine: &Engine) -> Result<Amounts, ExploreError> {
        let limb = |bits: u32| {
            let found = self.limb.iter().find(|limb| limb.bits == bits);
            let why = || format!("no limb of {bits} bits for encryptions that are {}", self.mode);
            found.map(|l| &l.amounts).ok_or_else(|| ExploreError::Data { file: FILE, why: why() })
        };
        let (first, rest) = (limb(engine.word)?, limb(engine.rest)?);
        // Of a build of more limbs the top was not synthesised: it grows with them at most.
        let grown = (f64::from(engine.limbs) / f64::from(self.limbs)).max(1.0);
        let of = |amounts: &Amounts, resource| amounts.get(&resource).copied().unwrap_or(0.0);
        let amount = |&resource: &Resource| {
            let fixed = of(&self.once, resource) + (grown * of(&self.rows, resource)).ceil();
            let rest = f64::from(engine.limbs - 1) * of(rest, resource);
            (resource, fixed + of(first, resource) + rest)
        };
        Ok(self.once.keys().map(amount).collect())
    }
}
