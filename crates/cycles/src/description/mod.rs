//! Machines as data: units, memories, channels off chip, and which unit runs what.
//!
//! A description is a TOML file. Those of `machines/` come with the program; a path names one of a user's own. Names of units stand
//! in descriptions only, and every number says where it comes from. The fields are listed in `docs/large-machines.md`.

mod base;
mod read;
mod read_more;
mod shipped;
mod table;
#[cfg(test)]
mod tests;

use std::path::Path;

use crate::error::DescriptionError;
use crate::expression::Expression;
use crate::graph::{Class, Kind};

/// A machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// The name to ask for it by.
    pub name: String,
    /// For a reader.
    pub title: String,
    /// Bits of a word on chip: primes are below 2^word_bits.
    pub word_bits: u32,
    /// 10^9 cycles a second.
    pub ghz: f64,
    /// Whether units work at the same time.
    pub mode: Mode,
    /// Groups of units; a unit that belongs to one works there.
    pub clusters: u32,
    /// The process, where it is known.
    pub technology: Option<String>,
    /// What computes.
    pub units: Vec<Unit>,
    /// How each kind of instruction is run, in the order of [`Kind::ALL`]; none of what the machine cannot run.
    pub runs: [Option<Run>; Kind::COUNT],
    /// Where limbs are on chip.
    pub memories: Vec<Memory>,
    /// What limbs come and go through.
    pub channels: Vec<Channel>,
    /// The unit that makes uniform halves of keys from seeds; none where they come from off chip.
    pub expand: Option<usize>,
    /// Cycles from a result in one cluster to a reader in another.
    pub network: u64,
    /// What it takes on a chip.
    pub area: Option<Area>,
    /// What work takes.
    pub energy: Option<Energy>,
    /// Where each number comes from: table, field and source.
    pub sources: Vec<Origin>,
}

/// Where a number comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The table of the file.
    pub table: String,
    /// The field.
    pub field: String,
    /// The source.
    pub source: String,
}

impl Origin {
    /// Whether nobody has measured or published the number.
    pub fn is_assumed(&self) -> bool {
        self.source.starts_with("assumed")
    }
}

/// Whether units work at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// All at once.
    Parallel,
    /// One instruction at a time.
    Serial,
}

/// What computes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// Its name.
    pub name: String,
    /// How many there are, in each cluster if it belongs to one.
    pub count: u32,
    /// Cycles that an instruction holds it.
    pub rows: Expression,
    /// Cycles from the start of an instruction to the first row of its result.
    pub first: Expression,
    /// Cycles from the start of an instruction to the last row of its result.
    pub last: Expression,
    /// Words, or products of a sum, that it computes in a cycle at most.
    pub width: u64,
    /// Words that it reads in a cycle at most.
    pub reads: Option<u64>,
    /// Words that it writes in a cycle at most.
    pub writes: Option<u64>,
    /// Terms of the longest sum that it computes.
    pub accumulators: Option<u32>,
    /// Sums or conversions of the same words that one pass makes at most; `rows` is what a pass takes.
    pub together: u32,
    /// Whether it takes the rows of an operand in the order in which they leave another unit; otherwise it waits for the last one.
    pub chained: bool,
    /// Results that wait in it until memory has space for them.
    pub buffers: u32,
    /// Whether each cluster has its own, which works on whole limbs; otherwise a limb is spread over all clusters.
    pub in_clusters: bool,
}

/// How a kind of instruction is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Run {
    /// By a unit.
    On(usize),
    /// In no time.
    Free,
    /// As part of an instruction of this kind before or behind it, and otherwise by a unit.
    With(Kind, usize),
}

/// Where limbs are on chip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub bytes: u64,
    /// Parts that are read and written on their own; a limb is in one.
    pub banks: u32,
    /// Bytes that all banks together read and write in a cycle; none where that limits nothing.
    pub bytes_per_cycle: Option<u64>,
    /// The classes of limbs that it holds.
    pub holds: Vec<Class>,
}

/// What limbs come and go through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Channel {
    /// Its name.
    pub name: String,
    /// A thousand times the bytes that it moves in a cycle.
    pub millibytes_per_cycle: u64,
    /// Cycles from the last byte moved to the limb being there.
    pub latency: u64,
    /// Bytes that are moved at once.
    pub beat: u64,
    /// How long words are outside.
    pub pack: Pack,
    /// Limbs asked for ahead of the instruction that reads them, at most; none where memory alone limits that.
    pub queue: Option<u32>,
    /// The classes of limbs that it moves.
    pub carries: Vec<Class>,
}

/// How long words are off chip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pack {
    /// As long as their prime.
    Prime,
    /// As long as a word on chip.
    Word,
}

/// What a machine takes on a chip.
#[derive(Debug, Clone, PartialEq)]
pub struct Area {
    /// The process of the figures.
    pub node: String,
    /// Square millimetres by unit, memory or `rest`.
    pub mm2: Vec<(String, f64)>,
}

impl Area {
    /// All of it.
    pub fn total(&self) -> f64 {
        self.mm2.iter().map(|(_, mm2)| mm2).sum()
    }
}

/// What work takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Energy {
    /// The process of the figures.
    pub node: String,
    /// Picojoules of a word or product, by unit.
    pub units: Vec<Option<f64>>,
    /// Picojoules of a byte read or written, by memory.
    pub memories: Vec<Option<f64>>,
    /// Picojoules of a byte moved, by channel.
    pub channels: Vec<Option<f64>>,
    /// Watts that are drawn whether anything works or not.
    pub watts: Option<f64>,
}

impl Description {
    /// The names of the descriptions that come with the program.
    pub fn shipped() -> impl Iterator<Item = &'static str> {
        shipped::ALL.iter().map(|(name, _)| *name)
    }

    /// The machine of a name, or of a file if the name ends in `.toml`.
    ///
    /// # Errors
    /// [`DescriptionError`], naming what is wrong and what would be right.
    pub fn named(name: &str) -> Result<Self, DescriptionError> {
        if Path::new(name).extension().is_some_and(|e| e == "toml") {
            let text = shipped::file(Path::new(name), name)?;
            return Self::from_toml(name, &text);
        }
        Self::from_toml(name, shipped::text(name)?)
    }

    /// Reads and checks a description; `file` is for messages, and a base of a relative path is looked for beside it.
    ///
    /// # Errors
    /// [`DescriptionError`], naming what is wrong and what would be right.
    pub fn from_toml(file: &str, text: &str) -> Result<Self, DescriptionError> {
        read::read(file, &base::merged(file, text)?)
    }

    /// The unit of a name.
    pub fn unit(&self, name: &str) -> Option<&Unit> {
        self.units.iter().find(|unit| unit.name == name)
    }

    /// The numbers that nobody has measured or published.
    pub fn assumed(&self) -> impl Iterator<Item = &Origin> {
        self.sources.iter().filter(|origin| origin.is_assumed())
    }

    /// How a kind of instruction is run, by its own row or that of the kind that it is a case of.
    pub fn run_of(&self, kind: Kind) -> Option<Run> {
        self.runs[kind as usize].or_else(|| self.runs[kind.otherwise()? as usize])
    }
}
