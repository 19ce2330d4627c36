//! Designs of versions 1 and 2: their hardware lists every parameter of the core, and version 1 says no family.

use ringmill_machine::compact::{CompactLiteral, MemoryTiming, Multiplier, Policy};
use serde::Deserialize;
use serde_json::Value;

use super::machine::{BankMemory, LutUnit, Machine, Synthesis, Tile};
use crate::ExploreError;
use crate::device::{Device, Family};
use crate::near::hint;

/// Lanes of every core.
const LANES: u32 = 2;

/// The hardware of version 2.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Hardware {
    family: Family,
    word_bits: u32,
    butterflies: u32,
    lanes: u32,
    multiplier: String,
    tile: Tile,
    banks: BankMemory,
    log_n_max: u32,
    moduli: u32,
    bus_bits: u32,
    memory_bytes: u64,
    memory_latency: u32,
    beat_cycles: u32,
    policy: String,
    effort: usize,
}

/// Makes a design of version 1 or 2 one of version 3. A name or a number that no core has is refused.
pub(in crate::target) fn upgrade(design: &mut Value) -> Result<(), ExploreError> {
    if design.get("schema").and_then(Value::as_u64) == Some(1) {
        let family = family(design);
        if let Some(hardware) = design.get_mut("hardware").and_then(Value::as_object_mut) {
            hardware.insert("family".into(), family.name().into());
        }
    }
    let wrong = |why: String| ExploreError::DesignFile { why };
    let hardware = design.get("hardware").cloned().unwrap_or_default();
    let before: Hardware = serde_json::from_value(hardware).map_err(|e| wrong(format!("hardware: {e}")))?;
    let built = before.machine()?.write();
    if let Some(design) = design.as_object_mut() {
        design.insert("machine".into(), built.machine.into());
        design.insert("hardware".into(), built.hardware.into());
    }
    Ok(())
}

impl Hardware {
    fn machine(self) -> Result<Machine, ExploreError> {
        if self.lanes != LANES {
            let why = format!("lanes is {}; the compact core has {LANES}", self.lanes);
            return Err(ExploreError::DesignFile { why });
        }
        let literal = CompactLiteral {
            word_bits: self.word_bits,
            butterflies: self.butterflies,
            log_n_max: self.log_n_max,
            moduli: self.moduli,
            multiplier: by_name("multiplier", &self.multiplier, Multiplier::ALL, Multiplier::name)?,
            ones: 0,
            bus_bits: self.bus_bits,
            read_rows: CompactLiteral::READ_ROWS[0],
            memory_bytes: self.memory_bytes,
            timing: MemoryTiming { latency: self.memory_latency, beat_cycles: self.beat_cycles },
        };
        let (family, tile, banks) = (self.family, self.tile, self.banks);
        let synthesis = Synthesis { family, tile, lut_unit: LutUnit::None, banks };
        synthesis.check()?;
        let policy = by_name("policy", &self.policy, Policy::RUNNABLE, Policy::name)?;
        Ok(Machine { config: literal.build()?, policy, effort: self.effort, synthesis })
    }
}

/// What a name stands for.
fn by_name<T: Copy, const N: usize>(
    what: &'static str,
    word: &str,
    all: [T; N],
    name: fn(T) -> &'static str,
) -> Result<T, ExploreError> {
    all.into_iter().find(|&one| name(one) == word).ok_or_else(|| ExploreError::UnknownWord {
        what,
        word: word.to_owned(),
        hint: hint(word, all.map(name)),
        known: all.map(name).join(", "),
    })
}

/// The family of a design of version 1. A block that only one family has identifies it, otherwise the name of a stored device. A
/// core without such a block on a device of the user's own counts as UltraScale+.
fn family(design: &Value) -> Family {
    let by_block = [
        ("/predicted/resources/ebr", Family::Ecp5),
        ("/predicted/resources/area_um2", Family::Asic45),
        ("/predicted/resources/uram", Family::Xcup),
    ];
    if let Some((_, family)) = by_block.into_iter().find(|(place, _)| design.pointer(place).is_some()) {
        return family;
    }
    match design.pointer("/hardware/tile").and_then(Value::as_str) {
        Some("ecp5") => Family::Ecp5,
        Some("dsp48e1") => Family::Xc7,
        Some("dsp48e2") => Family::Xcup,
        _ => {
            let name = design.pointer("/device").and_then(Value::as_str).unwrap_or_default();
            Device::named(name).map_or(Family::Xcup, |device| device.family)
        }
    }
}
