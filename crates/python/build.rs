//! Carries the sources of the core and of the engines, their simulators' shells, the counting of cells and the register constants into
//! the module, so that `ringmill build` finds them wherever the module is: `docs/decisions/0011-hardware-in-the-module.md`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// What is taken beside the sources of the core.
const SHELL: [&str; 15] = [
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
    "rtl/synth/plain.py",
    "rtl/registers/generated/core_registers.h",
    "rtl/registers/generated/ringmill_core.xml",
    "docs/registers.md",
    "crates/machine/src/compact/registers.rs",
];

/// What shells of engines share.
const ENGINE: [&str; 1] = ["rtl/sim/src/engine.h"];

/// Shells of the encryption engine, and of the two builds of the pipelined key switch.
const ENCRYPTOR: [&str; 2] = ["rtl/encryptor/sim/rm_encryptor.h", "rtl/encryptor/sim/rm_encryptor.cpp"];
const PIPELINED: [&str; 4] = [
    "rtl/pipelined/sim/rm_key_switch.h",
    "rtl/pipelined/sim/shell.h",
    "rtl/pipelined/sim/rm_pool.cpp",
    "rtl/pipelined/sim/rm_chain.cpp",
];

fn main() -> io::Result<()> {
    let root = PathBuf::from("../..");
    let mut core = listed(&root, "rtl/compact_core.f")?;
    core.extend(waivers(&root)?);
    core.extend(SHELL.map(str::to_owned));
    write(&root, "hardware.rs", "FILES", &core)?;
    let engine = |list: &str, shells: &[&str]| -> io::Result<Vec<String>> {
        let mut files = listed(&root, list)?;
        files.extend(ENGINE.iter().chain(shells).map(|&file| file.to_owned()));
        Ok(files)
    };
    let encryptor = engine("rtl/encryptor/encryptor.f", &ENCRYPTOR)?;
    write(&root, "encryptor.rs", "ENCRYPTOR", &encryptor)?;
    let pipelined = engine("rtl/pipelined/pipelined.f", &PIPELINED)?;
    write(&root, "pipelined.rs", "PIPELINED", &pipelined)
}

/// The files of a list.
fn listed(root: &Path, list: &str) -> io::Result<Vec<String>> {
    println!("cargo::rerun-if-changed=../../{list}");
    let text = fs::read_to_string(root.join(list))?;
    let sources = text.lines().filter(|line| !line.starts_with("//"));
    Ok(sources.map(|line| format!("rtl/{line}")).collect())
}

/// Writes a table of files with their texts.
fn write(root: &Path, file: &str, table_name: &str, names: &[String]) -> io::Result<()> {
    let mut table = format!("pub(crate) const {table_name}: &[(&str, &str)] = &[\n");
    for name in names {
        println!("cargo::rerun-if-changed=../../{name}");
        let path = root.join(name).canonicalize()?;
        writeln!(table, "    ({name:?}, include_str!({path:?})),").map_err(io::Error::other)?;
    }
    table.push_str("];\n");
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    fs::write(Path::new(&out).join(file), table)
}

/// The lint waivers that the core file lists.
fn waivers(root: &Path) -> io::Result<Vec<String>> {
    let core = "rtl/compact_core.core";
    println!("cargo::rerun-if-changed=../../{core}");
    let text = fs::read_to_string(root.join(core))?;
    let entries = text.lines().filter_map(|line| line.trim().strip_prefix("- "));
    Ok(entries.filter(|name| name.ends_with(".vlt")).map(|name| format!("rtl/{name}")).collect())
}
