//! Order, lifetimes and buffers: a limb program for a given memory.
//!
//! # Pass: schedule
//!
//! - Purpose: a program runs in the buffers that a machine has.
//! - Requires: a verified limb program, and a memory: as written, the least, or a number of buffers.
//! - Guarantees: a verified program with the same inputs and outputs and the same bits, whose buffers number exactly the limbs
//!   that live at once. An input limb that an instruction reads where the caller keeps it takes no buffer. If no order is found that
//!   fits, the program is refused with the number that it needs.
//! - Example, for the least memory:
//!
//! ```text
//! limb example : 2^4 {
//!   modulus q0 = 1073741441
//!   input data a : eval q0 q0
//!   input key k : eval q0
//!   output y : eval q0
//!   %0 = mul a.0, k.0 : q0 eval
//!   %1 = mul a.1, k.0 : q0 eval
//!   %2 = add %0, %1 : q0 eval
//!   store %2 -> y.0
//! }
//! ```
//!
//! | file | subject |
//! |---|---|
//! | [`lifetime`] | who reads each value, and how many limbs live at once |
//! | [`order`] | orders that keep fewer limbs alive |
//! | [`mod@allocate`] | buffers for the values of an order |
//! | [`mod@by_primes`] | instructions prime by prime |
//! | [`mod@recompute`] | products of inputs computed again where they are read |
//! | [`loads`] | explicit loads, for machines that compute on local memory only |
//! | [`statistics`] | what a program costs |

pub mod allocate;
pub mod by_primes;
pub mod lifetime;
pub mod loads;
pub mod order;
pub mod recompute;
pub mod statistics;

pub use allocate::in_order;
pub use by_primes::{Reach, by_primes};
pub use loads::load_inputs;
pub use recompute::recompute;
pub use statistics::Statistics;

use crate::limb::LimbProgram;
use lifetime::Readers;
use ringmill_errors::StructuredError;

/// The memory to schedule for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// Keep the order; take as many buffers as it needs.
    AsWritten,
    /// The fewest buffers that the scheduler finds an order for.
    Least,
    /// At most this many buffers: the order as written if it fits, otherwise one that does.
    Buffers(u32),
}

/// Why a program has no schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, StructuredError)]
#[non_exhaustive]
pub enum ScheduleError {
    /// Too little memory.
    #[error(
        "program {program} needs {needed} buffers of {words} words and the machine has {available}; lower the level, \
         take smaller digits, or a machine with more memory"
    )]
    Memory {
        /// The program.
        program: String,
        /// The fewest buffers of any order found.
        needed: u32,
        /// Buffers given.
        available: u32,
        /// N.
        words: usize,
    },
}

/// Orders the program for a memory and gives every value a buffer.
///
/// # Errors
/// [`ScheduleError::Memory`] if no order found fits.
pub fn schedule(program: &LimbProgram, memory: Memory) -> Result<LimbProgram, ScheduleError> {
    let readers = Readers::of(program);
    let written: Vec<u32> = (0..program.len() as u32).collect();
    let peak = lifetime::peak(program, &readers, &written);
    match memory {
        Memory::AsWritten => return Ok(allocate::allocate(program, &readers, &written)),
        Memory::Buffers(available) if peak <= available => {
            return Ok(allocate::allocate(program, &readers, &written));
        }
        Memory::Least | Memory::Buffers(_) => {}
    }
    let sunk = order::sink(program, &written);
    let forward = order::forward(program, &readers, &sunk);
    let backward = order::backward(program, &readers, &written);
    let both = order::forward(program, &readers, &backward);
    let candidates =
        [written, sunk, forward, backward, both].map(|o| (lifetime::peak(program, &readers, &o), o));
    // The first of equal ones: the nearest to the order as written.
    let (needed, best) = candidates.into_iter().min_by_key(|c| c.0).unwrap_or_default();
    match memory {
        Memory::Buffers(available) if needed > available => {
            let (program, words) = (program.name().to_owned(), program.n());
            Err(ScheduleError::Memory { program, needed, available, words })
        }
        _ => Ok(allocate::allocate(program, &readers, &best)),
    }
}
