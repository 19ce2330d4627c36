//! What a driver asks of a compact core, be it emulated, simulated or on a board.

use super::registers as reg;
use super::{CompactConfig, CompactError, TableEntry};

/// A core with its memory.
pub trait Core: Send {
    /// What it was built for.
    fn config(&self) -> &CompactConfig;

    /// Writes words into memory; `address` in bytes, a multiple of 64.
    ///
    /// # Errors
    /// [`CompactError::Unaligned`], [`CompactError::Address`].
    fn write(&mut self, address: u64, words: &[u64]) -> Result<(), CompactError>;

    /// Reads words from memory; `address` in bytes, a multiple of 64.
    ///
    /// # Errors
    /// As [`Self::write`].
    fn read(&mut self, address: u64, words: &mut [u64]) -> Result<(), CompactError>;

    /// Writes an entry of the modulus table.
    ///
    /// # Errors
    /// [`CompactError::TooManyModuli`] for an index beyond the table.
    fn set_modulus(&mut self, index: usize, entry: &TableEntry) -> Result<(), CompactError>;

    /// Runs the instructions at `program`, in bytes, on limbs of 2^`log_n` words, until END.
    ///
    /// # Errors
    /// Whatever stopped the core, [`CompactError::Watchdog`] if nothing did.
    fn run(&mut self, program: u64, log_n: u32) -> Result<Counters, CompactError>;
}

/// Refuses what the registers ID and VERSION do not show to be a core that understands this driver: a later minor
/// number adds registers and instructions, another major number changes them.
///
/// # Errors
/// [`CompactError::NotACore`], [`CompactError::Version`].
pub fn check_identity(id: u32, version: u32) -> Result<(), CompactError> {
    if id != reg::ID_VALUE {
        return Err(CompactError::NotACore { id, expected: reg::ID_VALUE });
    }
    let parts = |register| (reg::VERSION_MAJOR.get(register), reg::VERSION_MINOR.get(register));
    let ((major, minor), (needed_major, needed_minor)) = (parts(version), parts(reg::VERSION_VALUE));
    if major == needed_major && minor >= needed_minor {
        return Ok(());
    }
    Err(CompactError::Version { major, minor, needed_major, needed_minor })
}

/// The performance counters after a run; all 0 where time means nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Cycles from start to done.
    pub cycles: u64,
    /// Cycles in which each transform unit worked.
    pub transform_busy: [u64; 2],
    /// Cycles in which the arithmetic unit issued a row.
    pub arithmetic_busy: u64,
    /// Cycles in which it waited for the ticket of a bank.
    pub arithmetic_ticket: u64,
    /// Cycles in which it waited for rows from memory.
    pub arithmetic_read: u64,
    /// Cycles in which it waited for space in the write path.
    pub arithmetic_write: u64,
    /// Cycles in which each transform unit waited for the ticket of a bank.
    pub transform_ticket: [u64; 2],
    /// Cycles in which each transform unit waited for its roots.
    pub transform_twiddle: [u64; 2],
    /// Beats read.
    pub read_beats: u64,
    /// Beats written.
    pub write_beats: u64,
    /// Instructions dispatched; END is not.
    pub instructions: u64,
}

impl Counters {
    /// Number of counters in the register file.
    pub const COUNT: usize = 14;

    /// From the register file's order.
    pub const fn from_registers(r: [u64; Self::COUNT]) -> Self {
        Self {
            cycles: r[0],
            transform_busy: [r[1], r[2]],
            arithmetic_busy: r[3],
            arithmetic_ticket: r[4],
            arithmetic_read: r[5],
            arithmetic_write: r[6],
            transform_ticket: [r[7], r[8]],
            transform_twiddle: [r[9], r[10]],
            read_beats: r[11],
            write_beats: r[12],
            instructions: r[13],
        }
    }
}
