//! Devices as data: what a chip has, how fast a core on it may be, and what its memory brings.
//!
//! Every device is a TOML file. Those of `devices/` come with the program; a path names one of a user's own. A file is
//! checked key by key before it is read, so that a slip is named with the key that was meant.

mod schema;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::ExploreError;
use crate::design::{Figure, OriginKind, Resource};
use crate::near::hint;

/// Version of device files.
pub const SCHEMA: u32 = 1;

/// The family of a device: which synthesis data hold for it, and which blocks it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// Lattice ECP5.
    Ecp5,
    /// Xilinx 7-series.
    Xc7,
    /// Xilinx UltraScale+.
    Xcup,
    /// Standard cells of 45 nm.
    Asic45,
}

impl Family {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Ecp5, Self::Xc7, Self::Xcup, Self::Asic45];

    /// Its name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ecp5 => "ecp5",
            Self::Xc7 => "xc7",
            Self::Xcup => "xcup",
            Self::Asic45 => "asic45",
        }
    }

    /// The resources that limit it.
    pub const fn resources(self) -> &'static [Resource] {
        match self {
            Self::Ecp5 => &[Resource::Lut, Resource::Ff, Resource::Dsp, Resource::Ebr],
            Self::Xc7 => &[Resource::Lut, Resource::Ff, Resource::Dsp, Resource::Bram36],
            Self::Xcup => &[Resource::Lut, Resource::Ff, Resource::Dsp, Resource::Bram36, Resource::Uram],
            Self::Asic45 => &[Resource::AreaUm2],
        }
    }
}

/// A device and the board that it sits on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// Version of the form.
    pub schema: u32,
    /// The name to ask for it by.
    pub name: String,
    /// For a reader.
    pub title: String,
    /// Its family.
    pub family: Family,
    /// What it has.
    pub resources: Budget,
    /// Memory beside it.
    pub memory: Memory,
    /// All memory for machines with ports of their own to every channel, where that is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channels: Option<Channels>,
    /// How fast a core may be clocked.
    pub clock: Clock,
    /// What it takes, where something is known.
    pub power: Option<Power>,
    /// How a host is connected, for machines that have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<Link>,
}

/// How much of each resource there is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// Which document says so.
    pub source: String,
    /// The amounts.
    #[serde(flatten)]
    pub amounts: BTreeMap<Resource, f64>,
}

/// Memory beside the core, through one AXI4 port.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Bytes.
    pub bytes: u64,
    /// 10^9 bytes a second in each direction, at most.
    pub gigabytes_per_second: f64,
    /// Bits of the widest bus that the port takes.
    pub bus_bits_max: u32,
    /// Nanoseconds from a request to its first beat.
    pub latency_ns: f64,
    /// Where the numbers come from.
    pub source: String,
}

/// All channels of a board's fastest memory together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Channels {
    /// Bytes.
    pub bytes: u64,
    /// 10^9 bytes a second, read and written together, at most.
    pub gigabytes_per_second: f64,
    /// Nanoseconds from a request to its first bytes.
    pub latency_ns: f64,
    /// Where the numbers come from.
    pub source: String,
}

/// The clock of a core.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clock {
    /// Megahertz.
    pub mhz: f64,
    /// What kind of knowledge that is.
    pub kind: OriginKind,
    /// Where it comes from.
    pub source: String,
}

/// Power of the device with a core at work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Power {
    /// Watts while a core runs.
    pub watts: f64,
    /// What kind of knowledge that is.
    pub kind: OriginKind,
    /// Where it comes from.
    pub source: String,
}

/// What of a device a machine takes: a device is full when the first of its resources is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// The resource that runs out first.
    pub resource: Resource,
    /// The part of it that is taken; infinite where the device has none of it.
    pub greatest: f64,
    /// The parts of all resources together: of two machines with the same greatest part, the less is the smaller.
    pub sum: f64,
}

impl Share {
    /// The smaller machine first.
    pub fn compare(&self, other: &Self) -> Ordering {
        self.greatest.total_cmp(&other.greatest).then(self.sum.total_cmp(&other.sum))
    }
}

/// A link to a host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// 10^6 bytes a second each way.
    pub megabytes_per_second: f64,
    /// Nanoseconds from the last byte that leaves to its use at the other end.
    pub latency_ns: f64,
    /// Where the numbers come from.
    pub source: String,
}

/// Files that come with the program.
const STORED: [&str; 14] = [
    include_str!("../../devices/ecp5-25.toml"),
    include_str!("../../devices/ecp5-45.toml"),
    include_str!("../../devices/ecp5-85.toml"),
    include_str!("../../devices/ecpix5.toml"),
    include_str!("../../devices/artix7-35t.toml"),
    include_str!("../../devices/artix7-100t.toml"),
    include_str!("../../devices/artix7-200t.toml"),
    include_str!("../../devices/zynq-7020.toml"),
    include_str!("../../devices/kintex7-325t.toml"),
    include_str!("../../devices/zcu104.toml"),
    include_str!("../../devices/zcu102.toml"),
    include_str!("../../devices/alveo-u250.toml"),
    include_str!("../../devices/alveo-u280.toml"),
    include_str!("../../devices/asic45.toml"),
];

impl Device {
    /// All devices that come with the program, the smallest first within a family.
    ///
    /// # Errors
    /// None while the tests pass.
    pub fn stored() -> Result<Vec<Self>, ExploreError> {
        STORED.iter().map(|text| Self::from_toml("a stored device", text)).collect()
    }

    /// The device of a name, or of a file if the name ends in `.toml`.
    ///
    /// # Errors
    /// [`ExploreError::UnknownDevice`], [`ExploreError::DeviceFile`].
    pub fn named(name: &str) -> Result<Self, ExploreError> {
        if Path::new(name).extension().is_some_and(|e| e == "toml") {
            let text = std::fs::read_to_string(name)
                .map_err(|e| ExploreError::DeviceFile { file: name.into(), why: e.to_string() })?;
            return Self::from_toml(name, &text);
        }
        let all = Self::stored()?;
        let names: Vec<String> = all.iter().map(|d| d.name.clone()).collect();
        all.into_iter().find(|d| d.name == name).ok_or_else(|| ExploreError::UnknownDevice {
            name: name.into(),
            hint: hint(name, names.iter().map(String::as_str)),
            known: names.join(", "),
        })
    }

    /// Reads and checks a device; `file` is for messages.
    ///
    /// # Errors
    /// [`ExploreError::DeviceFile`] naming the key; [`ExploreError::Schema`].
    pub fn from_toml(file: &str, text: &str) -> Result<Self, ExploreError> {
        let fail = |why: String| ExploreError::DeviceFile { file: file.into(), why };
        let table: toml::Table = text.parse().map_err(|e: toml::de::Error| fail(e.to_string()))?;
        let found = table.get("schema").map_or_else(|| "none".to_owned(), ToString::to_string);
        if found != SCHEMA.to_string() {
            let remedy = "write `schema = 1` and the keys that docs/explorer.md lists";
            return Err(ExploreError::Schema { what: "device file", found, expected: SCHEMA, remedy });
        }
        schema::check(&table).map_err(fail)?;
        let device: Self = toml::from_str(text).map_err(|e| fail(e.to_string()))?;
        schema::check_values(&device).map_err(fail)?;
        Ok(device)
    }

    /// As TOML.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).unwrap_or_default()
    }

    /// How much there is of a resource; nothing of those it does not name.
    pub fn amount(&self, resource: Resource) -> f64 {
        self.resources.amounts.get(&resource).copied().unwrap_or(0.0)
    }

    /// The clock with its origin.
    pub fn frequency(&self) -> Figure {
        Figure::new(self.clock.mhz, self.clock.kind, self.clock.source.clone())
    }

    /// The clock for a machine that it is not known of: assumed, unless the user said it. `why` stands before where it comes from.
    pub fn assumed_frequency(&self, why: &str) -> Figure {
        match self.clock.kind {
            OriginKind::User => self.frequency(),
            _ => Figure::new(self.clock.mhz, OriginKind::Assumed, format!("{why}{}", self.clock.source)),
        }
    }

    /// The same device at another clock, as a user says.
    #[must_use]
    pub fn at_mhz(mut self, mhz: f64) -> Self {
        self.clock = Clock { mhz, kind: OriginKind::User, source: "given by the user".into() };
        self
    }

    /// The fewest cycles of a machine between beats of `bus_bits` bits that the memory's bandwidth allows, at least one.
    pub fn beat_cycles(&self, bus_bits: u32) -> u64 {
        let beats_per_second = self.memory.gigabytes_per_second * 8e9 / f64::from(bus_bits);
        (self.clock.mhz * 1e6 / beats_per_second).ceil().max(1.0) as u64
    }

    /// Cycles of a machine from a request to its first beat, at least one.
    pub fn latency_cycles(&self) -> u64 {
        self.cycles_of(self.memory.latency_ns)
    }

    /// 10^6 bytes a second, and cycles to the first of them, for a machine with ports to every channel.
    pub fn all_channels(&self) -> (f64, u64) {
        let Memory { gigabytes_per_second, latency_ns, .. } = self.memory;
        let (rate, latency) = self
            .channels
            .as_ref()
            .map_or((gigabytes_per_second, latency_ns), |all| (all.gigabytes_per_second, all.latency_ns));
        (rate * 1e3, self.cycles_of(latency))
    }

    fn cycles_of(&self, nanoseconds: f64) -> u64 {
        (nanoseconds * self.clock.mhz / 1e3).ceil().max(1.0) as u64
    }

    /// What of the device a machine of these resources takes.
    pub fn share(&self, needed: &BTreeMap<Resource, f64>) -> Share {
        let part = |(&resource, &need): (&Resource, &f64)| {
            let have = self.amount(resource);
            (resource, if need > 0.0 { need / have } else { 0.0 })
        };
        let mut share = Share { resource: self.family.resources()[0], greatest: 0.0, sum: 0.0 };
        for (resource, part) in needed.iter().map(part) {
            share.sum += part;
            if part > share.greatest {
                (share.resource, share.greatest) = (resource, part);
            }
        }
        share
    }

    /// Whether a core of these resources fits, and if not, which resource binds most: the one with the greatest share.
    pub fn binding(&self, needed: &BTreeMap<Resource, f64>) -> Option<(Resource, f64, f64)> {
        let over = |(&resource, &need): (&Resource, &f64)| {
            let have = self.amount(resource);
            (need > have).then_some((resource, need, have))
        };
        let share = |&(_, need, have): &(Resource, f64, f64)| need / have.max(f64::MIN_POSITIVE);
        needed.iter().filter_map(over).max_by(|a, b| share(a).total_cmp(&share(b)))
    }
}
