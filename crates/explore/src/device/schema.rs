//! The keys of a device file, checked before it is read: a slip is named with the key that was meant.

use toml::{Table, Value};

use super::{Device, Family};
use crate::design::{OriginKind, Resource};
use crate::near::hint;

/// Bits of the data of an AXI4 port, from one word on.
const AXI_BITS: [u32; 5] = [64, 128, 256, 512, 1024];

/// A table of the file: its name (empty for the top), its keys, and those of them that may be left out.
struct Section {
    name: &'static str,
    keys: &'static [&'static str],
    optional: &'static [&'static str],
}

const TOP: Section = Section {
    name: "",
    keys: &["schema", "name", "title", "family", "resources", "memory", "channels", "clock", "power", "link"],
    optional: &["channels", "power", "link"],
};

const SECTIONS: [Section; 6] = [
    Section {
        name: "resources",
        keys: &["source", "lut", "ff", "dsp", "bram36", "ebr", "uram", "area_um2"],
        optional: &["lut", "ff", "dsp", "bram36", "ebr", "uram", "area_um2"],
    },
    Section {
        name: "memory",
        keys: &["bytes", "gigabytes_per_second", "bus_bits_max", "latency_ns", "source"],
        optional: &[],
    },
    Section {
        name: "channels",
        keys: &["bytes", "gigabytes_per_second", "latency_ns", "source"],
        optional: &[],
    },
    Section { name: "clock", keys: &["mhz", "kind", "source"], optional: &[] },
    Section { name: "power", keys: &["watts", "kind", "source"], optional: &[] },
    Section { name: "link", keys: &["megabytes_per_second", "latency_ns", "source"], optional: &[] },
];

/// Names, and nothing missing.
pub(super) fn check(table: &Table) -> Result<(), String> {
    section(table, &TOP)?;
    for s in &SECTIONS {
        match table.get(s.name) {
            Some(Value::Table(inner)) => section(inner, s)?,
            Some(_) => return Err(format!("`{0}` must be a table: [{0}]", s.name)),
            None => {}
        }
    }
    Ok(())
}

fn section(table: &Table, s: &Section) -> Result<(), String> {
    let place = if s.name.is_empty() { String::new() } else { format!(" in [{}]", s.name) };
    if let Some(unknown) = table.keys().find(|key| !s.keys.contains(&key.as_str())) {
        let known = s.keys.join(", ");
        return Err(format!(
            "no key `{unknown}`{place}{}; there are {known}",
            hint(unknown, s.keys.iter().copied())
        ));
    }
    match s.keys.iter().find(|key| !s.optional.contains(key) && !table.contains_key(**key)) {
        Some(missing) => Err(format!("the key `{missing}`{place} is missing")),
        None => Ok(()),
    }
}

/// Values that make sense together.
pub(super) fn check_values(d: &Device) -> Result<(), String> {
    let positive = |what: &str, x: f64| match x > 0.0 && x.is_finite() {
        true => Ok(()),
        false => Err(format!("`{what}` is {x}; it must be a positive number")),
    };
    positive("clock.mhz", d.clock.mhz)?;
    positive("memory.gigabytes_per_second", d.memory.gigabytes_per_second)?;
    positive("memory.latency_ns", d.memory.latency_ns)?;
    if !AXI_BITS.contains(&d.memory.bus_bits_max) {
        return Err(format!(
            "`memory.bus_bits_max` is {}; AXI4 ports have 64, 128, 256, 512 or 1024",
            d.memory.bus_bits_max
        ));
    }
    if let Some(all) = &d.channels {
        positive("channels.gigabytes_per_second", all.gigabytes_per_second)?;
        positive("channels.latency_ns", all.latency_ns)?;
        if all.source.trim().is_empty() {
            return Err("an empty `source` in [channels]: every number says where it comes from".into());
        }
    }
    if let Some(power) = &d.power {
        positive("power.watts", power.watts)?;
    }
    if let Some(link) = &d.link {
        positive("link.megabytes_per_second", link.megabytes_per_second)?;
        positive("link.latency_ns", link.latency_ns)?;
        if link.source.trim().is_empty() {
            return Err("an empty `source` in [link]: every number says where it comes from".into());
        }
    }
    let says = |kind: OriginKind, source: &str| kind == OriginKind::Exact || !source.trim().is_empty();
    if d.resources.source.trim().is_empty() || !says(d.clock.kind, &d.clock.source) {
        return Err("an empty `source`: every number says where it comes from".into());
    }
    check_amounts(d.family, d)
}

fn check_amounts(family: Family, d: &Device) -> Result<(), String> {
    let wanted = family.resources();
    let names = || wanted.iter().map(|r| r.name()).collect::<Vec<_>>().join(", ");
    let is_missing = |r: &&Resource| !d.resources.amounts.contains_key(*r);
    if let Some(missing) = wanted.iter().find(is_missing) {
        return Err(format!(
            "`{}` in [resources] is missing; {} has {}",
            missing.name(),
            family.name(),
            names()
        ));
    }
    for (resource, &amount) in &d.resources.amounts {
        if !wanted.contains(resource) {
            return Err(format!("{} has no `{}`; it has {}", family.name(), resource.name(), names()));
        }
        if !(amount >= 0.0 && amount.is_finite()) {
            return Err(format!("`{}` in [resources] is {amount}; it cannot be negative", resource.name()));
        }
    }
    Ok(())
}
