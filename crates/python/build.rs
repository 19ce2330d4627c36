//! Carries the sources of the core, its simulator's shell, the counting of cells and the register constants into the module, so that
//! `ringmill build` finds them wherever the module is: `docs/decisions/0011-hardware-in-the-module.md`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// What is taken beside the sources of the core.
const SHELL: [&str; 12] = [
    "LICENSE",
    "rtl/bank/ultra/rm_bank_ram.sv",
    "rtl/sim/src/rm_core.h",
    "rtl/sim/src/rm_core_parameters.h",
    "rtl/sim/src/rm_core.cpp",
    "rtl/sim/src/axi_memory.h",
    "rtl/sim/src/axi_memory.cpp",
    "rtl/sim/src/axi_port.h",
    "rtl/sim/src/observer.h",
    "rtl/synth/cells.py",
    "rtl/registers/generated/core_registers.h",
    "crates/machine/src/compact/registers.rs",
];

fn main() -> io::Result<()> {
    let root = PathBuf::from("../..");
    let list = "rtl/compact_core.f";
    let listed = fs::read_to_string(root.join(list))?;
    let sources = listed.lines().filter(|line| !line.starts_with("//")).map(|line| format!("rtl/{line}"));
    let mut names: Vec<String> = sources.collect();
    names.extend(waivers(&root)?);
    names.extend(SHELL.map(str::to_owned));
    println!("cargo::rerun-if-changed=../../{list}");
    let mut table = String::from("pub(crate) const FILES: &[(&str, &str)] = &[\n");
    for name in names {
        println!("cargo::rerun-if-changed=../../{name}");
        let path = root.join(&name).canonicalize()?;
        writeln!(table, "    ({name:?}, include_str!({path:?})),").map_err(io::Error::other)?;
    }
    table.push_str("];\n");
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    fs::write(Path::new(&out).join("hardware.rs"), table)
}

/// The lint waivers that the core file lists.
fn waivers(root: &Path) -> io::Result<Vec<String>> {
    let core = "rtl/compact_core.core";
    println!("cargo::rerun-if-changed=../../{core}");
    let text = fs::read_to_string(root.join(core))?;
    let entries = text.lines().filter_map(|line| line.trim().strip_prefix("- "));
    Ok(entries.filter(|name| name.ends_with(".vlt")).map(|name| format!("rtl/{name}")).collect())
}
