//! Keys, network, area and energy of a description.

use super::read::{File, Result, names};
use super::table::{Reader, Whole};
use super::{Area, Description, Energy, Unit};

impl File<'_> {
    pub(super) fn keys(&mut self, units: &[Unit]) -> Result<Option<usize>> {
        let Some(table) = self.table("keys")? else { return Ok(None) };
        let r = Reader::new(self.name, "keys", table, &["seeded", "expand"])?;
        self.note(&r)?;
        let seeded = r.flag("seeded")?.ok_or_else(|| r.missing("seeded", "true or false"))?;
        let Some(name) = r.text("expand", "the name of a unit")? else {
            return if seeded {
                Err(r.missing("expand", "the unit that makes halves of keys"))
            } else {
                Ok(None)
            };
        };
        let at = units.iter().position(|unit| unit.name == name);
        let at = at.ok_or_else(|| r.unknown("expand", "unit", name, units.iter().map(|u| &*u.name)))?;
        Ok(seeded.then_some(at))
    }

    pub(super) fn network(&mut self) -> Result<u64> {
        let Some(table) = self.table("network")? else { return Ok(0) };
        let r = Reader::new(self.name, "network", table, &["cycles"])?;
        self.note(&r)?;
        let range = Whole { least: 0, most: 1 << 32, unit: "cycles" };
        r.whole("cycles", &range)?.ok_or_else(|| r.missing("cycles", range.to_string()))
    }

    pub(super) fn area(&mut self, d: &Description) -> Result<Option<Area>> {
        let Some(table) = self.table("area")? else { return Ok(None) };
        let r = Reader::any(self.name, "area", table);
        self.note(&r)?;
        let node =
            r.text("node", "a process")?.ok_or_else(|| r.missing("node", "the process, as \"7 nm\""))?;
        let mut mm2 = Vec::new();
        for (field, _) in r.fields().filter(|(field, _)| *field != "node") {
            let parts = || names(d).chain(["rest"]);
            if !parts().any(|name| name == field) {
                return Err(r.unknown(field, "unit or memory", field, parts()));
            }
            mm2.push((
                field.to_owned(),
                r.number(field, 0.0, 1e6, "square millimetres")?.unwrap_or_default(),
            ));
        }
        Ok(Some(Area { node: node.into(), mm2 }))
    }

    pub(super) fn energy(&mut self, d: &Description) -> Result<Option<Energy>> {
        let Some(table) = self.table("energy")? else { return Ok(None) };
        let r = Reader::any(self.name, "energy", table);
        self.note(&r)?;
        let node =
            r.text("node", "a process")?.ok_or_else(|| r.missing("node", "the process, as \"7 nm\""))?;
        for (field, _) in r.fields().filter(|(field, _)| *field != "node") {
            let parts = || names(d).chain(["watts"]);
            if !parts().any(|name| name == field) {
                return Err(r.unknown(field, "unit, memory or channel", field, parts()));
            }
        }
        let of = |name: &String| r.number(name, 0.0, 1e9, "picojoules");
        Ok(Some(Energy {
            node: node.into(),
            units: d.units.iter().map(|u| of(&u.name)).collect::<Result<_>>()?,
            memories: d.memories.iter().map(|m| of(&m.name)).collect::<Result<_>>()?,
            channels: d.channels.iter().map(|c| of(&c.name)).collect::<Result<_>>()?,
            watts: r.number("watts", 0.0, 1e6, "watts")?,
        }))
    }
}
