//! The machine `compact`: limb programs on the compact core.
//!
//! | file | subject |
//! |---|---|
//! | [`parameters`] | the parameters of a core, declared once |
//! | [`config`], [`error`] | what a core was built for, and what it refuses |
//! | [`isa`], `text` | instructions and their 32 bytes |
//! | [`table`] | entries of the modulus table |
//! | `product` | one product as each multiplier makes it |
//! | [`core`] | what a driver asks of a core |
//! | `driver` | a run and the modulus table, over registers |
//! | `lower` | from a limb program to nodes: flattened sums, constants moved to where they cost nothing |
//! | [`plan`] | the order of passes, banks, memory |
//! | [`model`] | the cycle model; the way to memory is [`ringmill_cycles::axi`] |
//! | [`costs`] | what it takes for each kind of work, for the choice of key-switch methods |
//! | [`machine`], [`entry`] | the machine, over any core, and its rows in the registry |
//! | [`registers`] | offsets and fields of the core's registers, generated |
//! | [`simulated`] | a core under Verilator |
//! | [`estimate`] | what a program takes, by the model |
//! | [`work`] | what a program asks of a core, whatever the schedule |
//! | [`workload`] | single operations, to count their cycles |
//! | [`emulator`] | the instruction set as an executable specification |

pub mod config;
pub mod core;
pub mod costs;
pub(crate) mod driver;
pub mod emulator;
pub mod entry;
pub mod error;
pub mod estimate;
mod galois;
pub mod isa;
mod lower;
pub mod machine;
pub mod model;
pub mod parameters;
pub mod plan;
mod product;
pub mod registers;
pub mod simulated;
pub mod table;
#[cfg(test)]
mod tests;
mod text;
pub mod work;
pub mod workload;

pub use self::core::{Core, Counters, check_identity};
pub use config::{CompactConfig, CompactLiteral, MemoryTiming, Multiplier, Policy};
pub use emulator::Emulator;
pub use error::{CompactError, IllegalInstruction};
pub use isa::{Bank, Instruction, Op, Stream};
pub use machine::{Compact, Loaded};
pub use plan::Plan;
pub use simulated::{CoreLibrary, Simulated, SimulatedMemory};
pub use table::TableEntry;
