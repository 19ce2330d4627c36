//! The machine `board`: a compact core on a board, behind a serial line or a socket.
//!
//! | file | subject |
//! |---|---|
//! | [`entry`] | its row in the registry |
//! | [`machine`] | plans for the core that answers, and runs what was planned |
//! | `link` | a board that answers: identified, reset, its memory tried; programs and limbs put |
//! | `places` | which programs lie where in its memory |
//! | `bus` | words at addresses, in bytes of a UARTBone or of Etherbone |
//! | `port` | a serial port or a socket |
//! | [`error`] | what goes wrong, and what to do |
//!
//! The core's parameters are read from its registers. Keys, constants and instructions stay in the board's memory; a limb is sent
//! if another one was there. After an error the line is opened anew by the next run, which resets the core.

mod bus;
pub mod entry;
pub mod error;
mod link;
pub mod machine;
mod places;
mod port;

pub use entry::ENTRY;
pub use error::BoardError;
pub use machine::Board;

/// Where registers and memory stand on the bus of a SoC, as `board/soc.py` of a built folder has them.
const REGISTERS: u32 = 0x9000_0000;
const MEMORY: u32 = 0x4000_0000;
/// Bytes of the bus from [`MEMORY`] on that can be memory.
const SPACE: u64 = 1 << 30;
