//! What others read of the declaration, printed: a table for the tools of the hardware, the C interface of the simulator, Python's
//! class and the page on the hardware. A test compares each with its file, and the declaration with the top module.

use std::fmt::Write as _;

use super::{DECLARED, LUT_UNIT, PARAMETERS, TILE};
use crate::parameter::{Allowed, Parameter, Preset};

/// Where each is declared, for the first lines of files.
const ORIGIN: &str = "crates/machine/src/compact/parameters.rs by `RINGMILL_BLESS=1 cargo test -p ringmill-machine parameters`";

/// The number that stands for a default in the hardware: of a name its place in the list.
fn number(p: &Parameter) -> u64 {
    match (p.allowed, p.default) {
        (Allowed::Names(all), Some(Preset::Name(name))) => {
            all.iter().position(|one| *one == name).unwrap_or_default() as u64
        }
        (_, Some(Preset::Whole(n))) => n,
        _ => 0,
    }
}

/// `rtl/core/parameters.json`.
pub(crate) fn table() -> String {
    let mut rows = Vec::new();
    for p in DECLARED.iter().filter(|p| p.default.is_some()) {
        let mut row = format!("    \"name\": {:?},\n    \"field\": {:?},\n", p.name, p.field);
        if let Some(rtl) = p.rtl {
            let _ = writeln!(row, "    \"rtl\": {rtl:?},\n    \"number\": {},", number(p));
            // What synthesis alone depends on, a simulation does without.
            let _ = writeln!(row, "    \"simulated\": {},", ![TILE.field, LUT_UNIT.field].contains(&p.field));
        }
        let _ = match p.default {
            Some(Preset::Name(name)) => writeln!(row, "    \"default\": {name:?},"),
            Some(Preset::Whole(n)) => writeln!(row, "    \"default\": {n},"),
            None => Ok(()),
        };
        let _ = match p.allowed {
            Allowed::Range(least, most) => writeln!(row, "    \"least\": {least},\n    \"most\": {most},"),
            Allowed::Numbers(all) => writeln!(row, "    \"values\": {all:?},"),
            Allowed::Names(all) => writeln!(row, "    \"values\": {all:?},"),
            Allowed::Path | Allowed::HostPort => Ok(()),
        };
        let _ = write!(row, "    \"unit\": {:?},\n    \"about\": {:?}", p.unit, p.about);
        rows.push(format!("  {{\n{row}\n  }}"));
    }
    format!(
        "{{\n\"origin\": {:?},\n\"parameters\": [\n{}\n]\n}}\n",
        format!("Made from {ORIGIN}."),
        rows.join(",\n")
    )
}

/// `rtl/sim/src/rm_core_parameters.h`.
pub(crate) fn c_header() -> String {
    let mut out = format!(
        "/* What a simulated core is built for: X(field of rm_core_parameters, the macro that holds its value).\n *\n * Made from {ORIGIN}.\n */\n#ifndef RM_CORE_PARAMETERS_H\n#define RM_CORE_PARAMETERS_H\n\n#define RM_CORE_PARAMETERS(X)"
    );
    for rtl in PARAMETERS.iter().filter_map(|p| p.parameter.rtl) {
        let _ = write!(out, " \\\n  X({}, P_{rtl})", rtl.to_lowercase());
    }
    out.push_str("\n\n#endif\n");
    out
}

/// `python/ringmill/project/parameters.py`.
pub(crate) fn python() -> String {
    let declared = || DECLARED.iter().filter(|p| p.default.is_some());
    let mut out = format!(
        "\"\"\"The parameters of a compact core, its memory and its plans.\n\nMade from\n{ORIGIN}.\n\"\"\"\n\nfrom __future__ import annotations\n\nfrom dataclasses import dataclass\n\n\n@dataclass(frozen=True, slots=True)\nclass Parameters:\n    \"\"\"Every parameter with its default.\n\n    Attributes\n    ----------\n"
    )
    .replace("rs by `RINGMILL", "rs by\n`RINGMILL");
    for p in declared() {
        let _ = writeln!(out, "        {}: {}.", p.field, p.about);
    }
    out.push_str("    \"\"\"\n\n");
    for p in declared() {
        let (kind, default) = match p.default {
            Some(Preset::Name(name)) => ("str", format!("{name:?}")),
            _ => ("int", number(p).to_string()),
        };
        let _ = writeln!(out, "    {}: {kind} = {default}", p.field);
    }
    out.push_str("\n\n#: What the top module calls them, in its order.\nRTL = {\n");
    for p in declared() {
        if let Some(rtl) = p.rtl {
            let _ = writeln!(out, "    {:?}: {rtl:?},", p.field);
        }
    }
    out.push_str("}\n#: Names, each at the number that stands for it in the hardware.\nNAMES = {\n");
    for p in declared().filter(|p| p.rtl.is_some()) {
        if let Allowed::Names(all) = p.allowed {
            let names: Vec<_> = all.iter().map(|name| format!("        {name:?},\n")).collect();
            let _ = writeln!(out, "    {:?}: (\n{}    ),", p.field, names.concat());
        }
    }
    out.push_str("}\n");
    out
}

/// The table of `docs/hardware.md`.
pub(crate) fn page() -> String {
    let mut out =
        String::from("| parameter | as built by default | values | what it is |\n|---|---|---|---|\n");
    for p in DECLARED.iter().filter(|p| p.rtl.is_some()) {
        let values = match p.allowed {
            Allowed::Names(all) => {
                let numbered = all.iter().enumerate().map(|(i, name)| format!("{i} {name}"));
                numbered.collect::<Vec<_>>().join(", ")
            }
            other => other.to_string(),
        };
        let _ = writeln!(out, "| `{}` | {} | {values} | {} |", p.rtl.unwrap_or_default(), number(p), p.about);
    }
    out
}
