//! The second pass: when each instruction and transfer begins, with memories of finite size.
//!
//! Instructions are taken in their order; units issue in order. What is not on chip comes through a channel, which works through a
//! queue that runs ahead of the units as far as free memory allows. Where memory is full, the limb whose next use is farthest away
//! goes (Belady 1966), and is written if no copy is off chip. All durations are known, so every time follows from earlier ones: each
//! start is the latest of some times, and the one that it equals is kept as its cause.

mod channel;
mod ledger;
mod memory;
mod moves;
mod pass;
mod run;
mod state;
#[cfg(test)]
mod tests;

use crate::graph::{Class, Value};
use crate::plan::Plan;

pub(crate) use run::replay;

/// What a schedule makes use of. Each can be left out, to see what it is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// A unit reads the rows of a result of another one while they leave it.
    pub chaining: bool,
    /// Bandwidth and banks of memories limit units, where a description states them.
    pub banks: bool,
    /// Results wait in their unit until memory has space, where a unit has buffers.
    pub buffers: bool,
    /// Limbs are asked for before the unit that reads them is free.
    pub fetch_ahead: bool,
    /// The limb with the farthest next use goes first, not the one that was used least recently.
    pub next_use: bool,
    /// What is cheap to bring back goes first: halves of keys that are made from seeds before all else, and the next use of a limb
    /// with a copy off chip counts as twice as far away. A limb that has to be written moves twice.
    pub by_cost: bool,
    /// A limb of which there is a copy off chip goes without being written again.
    pub clean: bool,
    /// Results are written off chip; otherwise they stay where they are.
    pub write_results: bool,
}

impl Default for Options {
    /// All of them, and Belady's choice as he stated it.
    fn default() -> Self {
        Self {
            chaining: true,
            banks: true,
            buffers: true,
            fetch_ahead: true,
            next_use: true,
            by_cost: false,
            clean: true,
            write_results: true,
        }
    }
}

/// Something that happens: an instruction by its place in the plan, then transfers in the order of their queues.
pub(crate) type Event = u32;

/// No event: the start of the run.
pub(crate) const START: Event = u32::MAX;

/// What passes between chip and memory, and what is made from seeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Flow {
    /// Limbs of keys.
    Key,
    /// Uniform limbs of keys that come from off chip.
    SeededKey,
    /// Plaintexts.
    Plain,
    /// Ciphertexts.
    Data,
    /// Results of instructions that had to go and come back.
    Fill,
    /// Results of instructions that have to go.
    Spill,
    /// Results of the program.
    Result,
    /// Uniform limbs of keys, made on chip.
    Expanded,
}

impl Flow {
    /// All of them, in order.
    pub const ALL: [Self; 8] = [
        Self::Key,
        Self::SeededKey,
        Self::Plain,
        Self::Data,
        Self::Fill,
        Self::Spill,
        Self::Result,
        Self::Expanded,
    ];

    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::SeededKey => "seeded key",
            Self::Plain => "plain",
            Self::Data => "data",
            Self::Fill => "fill",
            Self::Spill => "spill",
            Self::Result => "result",
            Self::Expanded => "expanded",
        }
    }

    /// What a limb of a class is when it comes.
    pub(crate) const fn of(class: Class) -> Self {
        match class {
            Class::Value => Self::Fill,
            Class::Key => Self::Key,
            Class::SeededKey => Self::SeededKey,
            Class::Plain => Self::Plain,
            Class::Data => Self::Data,
        }
    }
}

/// Why a unit waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Wait {
    /// For results of other instructions.
    Operands,
    /// For limbs from off chip, or made from seeds.
    OffChip,
    /// For space in memory.
    Space,
    /// For its turn, on a machine that does one thing at a time.
    Turn,
    /// For nothing: it has no work left.
    Over,
}

impl Wait {
    /// All of them, in order.
    pub const ALL: [Self; 5] = [Self::Operands, Self::OffChip, Self::Space, Self::Turn, Self::Over];

    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Operands => "operands",
            Self::OffChip => "off chip",
            Self::Space => "space",
            Self::Turn => "turn",
            Self::Over => "no work left",
        }
    }
}

/// A limb that comes, goes or is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Transfer {
    pub(crate) flow: Flow,
    /// The channel; of what is made, the unit.
    pub(crate) by: u16,
    pub(crate) value: Value,
    /// Where in its memory it comes to or goes from.
    pub(crate) slot: u32,
    /// The instruction that it is for.
    pub(crate) op: u32,
    pub(crate) start: u64,
    /// When the last byte has moved, and when the limb can be read.
    pub(crate) end: u64,
    pub(crate) there: u64,
    pub(crate) cause: Event,
}

/// An instruction in a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Issue {
    pub(crate) start: u64,
    /// When it leaves the unit, and when all of its result can be read.
    pub(crate) end: u64,
    pub(crate) done: u64,
    pub(crate) cause: Event,
    pub(crate) instance: u32,
    /// Cycles that it holds the unit by itself.
    pub(crate) rows: u32,
    /// Where in its memory the result goes.
    pub(crate) slot: u32,
}

/// What a unit did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Work {
    pub(crate) instructions: u64,
    /// Cycles of all instances in which one worked, and in which memory was too slow for it.
    pub(crate) busy: u64,
    pub(crate) slowed: u64,
    pub(crate) waiting: [u64; Wait::ALL.len()],
    /// Words or products that it computed.
    pub(crate) used: u64,
}

/// When everything happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Schedule {
    pub(crate) cycles: u64,
    /// What ends last.
    pub(crate) last: Event,
    pub(crate) issues: Vec<Issue>,
    /// Where each operand is when it is read, in the order of the plan's operands.
    pub(crate) operand_slots: Vec<u32>,
    pub(crate) transfers: Vec<Transfer>,
    pub(crate) work: Vec<Work>,
    /// Bytes and limbs of each kind of transfer.
    pub(crate) flows: [(u64, u64); Flow::ALL.len()],
    /// Cycles in which each channel moved bytes, in its ticks.
    pub(crate) moving: Vec<u64>,
    /// Bytes read and written in each memory.
    pub(crate) memory_bytes: Vec<u64>,
    /// Most limbs at once in each memory.
    pub(crate) resident: Vec<u64>,
}

impl Schedule {
    pub(crate) fn transfer(&self, plan: &Plan<'_>, event: Event) -> Option<&Transfer> {
        (event as usize).checked_sub(plan.ops.len()).and_then(|i| self.transfers.get(i))
    }
}
