//! Designs of version 1, whose hardware says no family.

use serde_json::Value;

use crate::device::{Device, Family};

/// Adds to a design of version 1 what version 2 adds: the family. A block that only one family has identifies
/// it, otherwise the name of a stored device. A core without such a block on a device of the user's own
/// counts as UltraScale+.
pub(super) fn upgrade(design: &mut Value) {
    let family = family(design);
    if let Some(hardware) = design.get_mut("hardware").and_then(Value::as_object_mut) {
        hardware.insert("family".into(), family.name().into());
    }
    design["schema"] = super::SCHEMA.into();
}

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
