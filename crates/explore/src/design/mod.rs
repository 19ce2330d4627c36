//! A design: parameters and hardware for one kernel, with everything that is predicted of them.
//!
//! A [`Design`] is self-contained. It carries the traced program and the client's signature, so that
//! building, validating or drawing it needs no other file. Its JSON form has a version, [`SCHEMA`]; older
//! ones are read, newer ones refused.

mod built;
mod figure;
mod parameters;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use built::{Built, Fields};
pub use figure::{Figure, Origin, OriginKind};
pub use parameters::{Parameters, PrimeClass, SecretKind};

use crate::ExploreError;
use crate::target::{self, AnyTarget};

/// Version of the JSON form of designs.
pub const SCHEMA: u32 = 3;

/// A design. See the [module](self).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Design {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The version of Ringmill that made it.
    pub ringmill: String,
    /// What is computed.
    pub kernel: KernelSource,
    /// The device's name.
    pub device: String,
    /// Encryption parameters.
    pub parameters: Parameters,
    /// The text of the machine that it is for: `compact:butterflies=4,…`.
    pub machine: String,
    /// What beside it only its synthesis needs.
    pub hardware: Fields,
    /// What is predicted.
    pub predicted: Predicted,
}

/// A traced kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelSource {
    /// Its name.
    pub name: String,
    /// Which of its packings, for a reader; empty if there is one.
    pub variant: String,
    /// The traced HE program as text.
    pub program: String,
    /// Shapes and packings of arguments and results, as `ringmill.trace.Signature` writes them; opaque here.
    pub signature: serde_json::Value,
    /// Bound on |slot| of the encrypted inputs.
    pub magnitude: f64,
    /// Bound on |slot| of every value.
    pub bound: f64,
    /// Whether inputs are promised to be real.
    pub real: bool,
}

/// A kind of hardware resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// Look-up tables, shift registers and distributed memory in them included.
    Lut,
    /// Flip-flops.
    Ff,
    /// Multiplier blocks.
    Dsp,
    /// Block memories of 36 kbit (Xilinx); a half counts 0.5.
    Bram36,
    /// Block memories of 18 kbit (ECP5).
    Ebr,
    /// Block memories of 288 kbit (UltraScale+).
    Uram,
    /// Square micrometres of standard cells and memory.
    AreaUm2,
}

impl Resource {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Lut, Self::Ff, Self::Dsp, Self::Bram36, Self::Ebr, Self::Uram, Self::AreaUm2];

    /// Its name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lut => "lut",
            Self::Ff => "ff",
            Self::Dsp => "dsp",
            Self::Bram36 => "bram36",
            Self::Ebr => "ebr",
            Self::Uram => "uram",
            Self::AreaUm2 => "area_um2",
        }
    }
}

/// Everything predicted of a design. Every number says where it comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Predicted {
    /// Cycles of one run.
    pub cycles: Figure,
    /// Cycles by the closed form, a lower bound.
    pub cycles_bound: Figure,
    /// Megahertz.
    pub frequency_mhz: Figure,
    /// Milliseconds of one run.
    pub latency_ms: Figure,
    /// Runs a second, where they follow each other without a gap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_second: Option<Figure>,
    /// What the core takes.
    pub resources: BTreeMap<Resource, Figure>,
    /// The part of the device that the machine takes, of the resource that runs out first.
    pub area: Figure,
    /// The error of the worst slot of the worst output, at the confidence that its origin states.
    pub error: Figure,
    /// Bits by interpolation of published tables.
    pub security_bits: Figure,
    /// 128, 192 or 256: the level that the table claims; `None` below 128.
    pub security_level: Option<u32>,
    /// Watts, where something is known.
    pub power_w: Option<Figure>,
    /// Millijoules of one run, where something is known.
    pub energy_mj: Option<Figure>,
    /// What a client stores, sends and computes.
    pub client: Client,
}

/// The client's side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Client {
    /// Bytes of evaluation keys as the core reads them.
    pub evaluation_key_bytes: Figure,
    /// Bytes of the encrypted arguments.
    pub input_bytes: Figure,
    /// Bytes of the encrypted results.
    pub output_bytes: Figure,
    /// Milliseconds to encrypt all arguments, where it was measured.
    pub encrypt_ms: Option<Figure>,
    /// Milliseconds to decrypt all results, where it was measured.
    pub decrypt_ms: Option<Figure>,
}

impl Design {
    /// As JSON for people, ending in a newline; the same design gives the same text.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).map(|text| text + "\n").unwrap_or_default()
    }

    /// Its machine.
    pub fn built(&self) -> Built {
        Built { machine: self.machine.clone(), hardware: self.hardware.clone() }
    }

    /// Everything that it says of its machine, by the names of files: what the text of the machine gives, and what stands beside it.
    ///
    /// # Errors
    /// A machine that its target has not.
    pub fn fields(&self) -> Result<Fields, ExploreError> {
        self.fields_in(&target::TARGETS)
    }

    fn fields_in(&self, targets: &[&'static dyn AnyTarget]) -> Result<Fields, ExploreError> {
        let built = self.built();
        target::named_in(targets, built.target())?.fields(&built)
    }

    /// Reads what [`Self::to_json`] wrote, in this version or before; what comes back is of this version.
    ///
    /// # Errors
    /// [`ExploreError::Schema`] for an unknown version, [`ExploreError::DesignFile`] naming the place that is wrong, and
    /// whatever is wrong with the parameters or the hardware themselves.
    pub fn from_json(text: &str) -> Result<Self, ExploreError> {
        Self::from_json_in(&target::TARGETS, text)
    }

    /// The same with the machines of other targets.
    ///
    /// # Errors
    /// As [`Self::from_json`].
    pub fn from_json_in(targets: &[&'static dyn AnyTarget], text: &str) -> Result<Self, ExploreError> {
        let unreadable = |e: serde_json::Error| ExploreError::DesignFile { why: e.to_string() };
        let mut value: serde_json::Value = serde_json::from_str(text).map_err(unreadable)?;
        let found = value.get("schema").map_or_else(|| "none".to_owned(), ToString::to_string);
        if found == "1" || found == "2" {
            target::upgrade(&mut value)?;
            value["schema"] = SCHEMA.into();
        } else if found != SCHEMA.to_string() {
            let remedy = "explore again with this version, or use the version that made it";
            return Err(ExploreError::Schema { what: "design", found, expected: SCHEMA, remedy });
        }
        let design: Self = serde_json::from_value(value).map_err(unreadable)?;
        design.fields_in(targets)?;
        design.parameters.params()?;
        Ok(design)
    }
}
