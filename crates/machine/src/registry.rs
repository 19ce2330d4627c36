//! Every machine that there is, a row each: the one table from which texts are read, and help, pages and Python's functions made.

use std::fmt::Write as _;
use std::sync::Arc;

use crate::parameter::Parameter;
use crate::spec::MachineSpec;
use crate::{Machine, MachineError, board, compact, cpu, file, pipelined, reference, taiyi};

/// The machines. Each stands in the folder that makes it.
pub static MACHINES: [&Entry; 8] = [
    &cpu::ENTRY,
    &reference::ENTRY,
    &compact::entry::EMULATED,
    &compact::entry::SIMULATED,
    &board::ENTRY,
    &pipelined::ENTRY,
    &taiyi::ENTRY,
    &file::ENTRY,
];

/// A machine: its name, its options, and what it can do.
#[derive(Debug)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// Which limb programs it runs, as text.
    pub runs: &'static str,
    /// How it estimates what a program takes.
    pub estimates: Estimates,
    /// How it comes to its results, as text.
    pub simulates: &'static str,
    /// Whether all that asks for it with the same options is to get one: it has threads, tables and memory to share.
    pub shared: bool,
    /// What can be chosen.
    pub options: &'static [Setting],
    /// Makes it.
    pub open: fn(&MachineSpec) -> Result<Arc<dyn Machine>, MachineError>,
}

/// How a machine estimates what a program takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Estimates {
    /// Not at all.
    No,
    /// Seconds, by measured costs of each kind of work.
    Seconds,
    /// Cycles and counters, by a model that goes cycle by cycle.
    Cycles,
    /// Cycles and counters, by a static schedule of all instructions.
    Schedule,
}

impl Estimates {
    /// As text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::No => "no",
            Self::Seconds => "seconds, by measured costs",
            Self::Cycles => "cycles, by a model of each",
            Self::Schedule => "cycles, by a static schedule",
        }
    }
}

/// An option of a machine: a parameter, and what it is where it is left out.
#[derive(Debug)]
pub struct Setting {
    /// The parameter.
    pub parameter: &'static Parameter,
    /// What it is unless it is given.
    pub left_out: LeftOut,
    /// Whether its value can stand without its name, as `file:PATH`.
    pub unnamed: bool,
}

/// What an option is where it is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftOut {
    /// The parameter's default.
    Default,
    /// The greatest that there is.
    Most,
    /// What the words say.
    Words(&'static str),
    /// The file is built for the program that is to run, by who can build it.
    Built(&'static str),
}

impl Setting {
    /// An option that has the parameter's default.
    pub const fn default(parameter: &'static Parameter) -> Self {
        Self { parameter, left_out: LeftOut::Default, unnamed: false }
    }

    /// An option that is otherwise where it is left out.
    pub const fn or(parameter: &'static Parameter, left_out: LeftOut) -> Self {
        Self { parameter, left_out, unnamed: false }
    }

    /// What it is where it is left out, as text.
    pub fn left_out(&self) -> String {
        match self.left_out {
            LeftOut::Default => self.parameter.default.map(|d| d.to_string()).unwrap_or_default(),
            LeftOut::Most => self.parameter.allowed.most().map(|m| m.to_string()).unwrap_or_default(),
            LeftOut::Words(words) | LeftOut::Built(words) => words.to_owned(),
        }
    }
}

impl Entry {
    /// The names of its options, for messages.
    pub(crate) fn known(&self) -> String {
        let names: Vec<_> = self.options.iter().map(|setting| setting.parameter.name).collect();
        if names.is_empty() { "none".into() } else { names.join(", ") }
    }

    /// The option whose file is to be built where it is left out.
    pub fn built(&self) -> Option<&'static str> {
        let built = |s: &&Setting| matches!(s.left_out, LeftOut::Built(_));
        self.options.iter().find(built).map(|s| s.parameter.name)
    }
}

/// The names of machines that estimate programs, for messages.
pub(crate) fn that_estimate() -> String {
    let names = MACHINES.iter().filter(|e| e.estimates != Estimates::No).map(|e| e.name);
    names.collect::<Vec<_>>().join(", ")
}

/// What can stand for a machine on the command line: a line each machine, its options below.
pub fn help() -> String {
    help_of(&MACHINES)
}

/// The same of other machines.
pub fn help_of(machines: &[&'static Entry]) -> String {
    let mut out = String::new();
    for entry in machines {
        let _ = writeln!(out, "{:<10} {}", entry.name, entry.about);
        for Setting { parameter: p, .. } in entry.options {
            let _ = writeln!(out, "  {:<12} {}: {}", p.name, p.about, p.allowed);
        }
    }
    out
}

/// `docs/machines.md`: what there is to choose from, and what each can do.
pub fn page() -> String {
    page_of(&MACHINES)
}

/// The same of other machines.
pub fn page_of(machines: &[&'static Entry]) -> String {
    let mut out = String::from(HEAD);
    for e in machines {
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} | {} |",
            e.name,
            e.about,
            e.runs,
            e.estimates.name(),
            e.simulates
        );
    }
    out.push_str(TEXTS);
    for e in machines {
        let _ = write!(out, "\n## `{}`\n\n", e.name);
        if e.options.is_empty() {
            out.push_str("It has no options.\n");
            continue;
        }
        out.push_str("| option | values | unit | left out | what it is |\n|---|---|---|---|---|\n");
        for s in e.options {
            let p = s.parameter;
            let unit = if p.unit.is_empty() { "–" } else { p.unit };
            let _ =
                writeln!(out, "| `{}` | {} | {unit} | {} | {} |", p.name, p.allowed, s.left_out(), p.about);
        }
    }
    out
}

const HEAD: &str = "\
# Machines

After this page you know the machines, what each can do, and its options.

A program runs on any of these, and the bits are the same. `file` alone computes nothing: it estimates. `machine=` in
Python and `--machine` on the command line take the
text of one. This page is printed from the registry in `crates/machine/src/registry.rs`; a test compares (`RINGMILL_BLESS=1
cargo test -p ringmill-machine registry` rewrites it).

| machine | what it is | limb programs that it runs | estimate | how it computes |
|---|---|---|---|---|
";

const TEXTS: &str = r#"
The text of a machine is its name, or its name with options: `cpu:threads=4`, `compact:butterflies=8,word=54`. A value in
double quotes may hold commas, spaces and quotes: `verilator:library="a, b.so"`; in the quotes `\"` is a quote and `\\` a
backslash. In Python `rm.machines.compact(butterflies=8, word=54)` is the same as a value: options are completed and
described by the editor, and checked at once. In Rust `MachineSpec::parse` reads the text, and `open` makes the machine.
"#;

#[cfg(test)]
mod tests;
