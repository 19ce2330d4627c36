//! The driver of a core behind its registers, be it simulated or on a board.

use super::core::Counters;
use super::isa::ADDRESS_UNIT;
use super::{CompactConfig, CompactError, TableEntry, registers as reg};

/// Bytes of an entry of the modulus window.
const ENTRY: u32 = 256;

/// How registers are reached.
pub(crate) trait Registers {
    /// The error of a failed access.
    type Error: From<CompactError>;

    /// Reads a register.
    fn read_register(&mut self, address: u32) -> Result<u32, Self::Error>;

    /// Writes a register.
    fn write_register(&mut self, address: u32, value: u32) -> Result<(), Self::Error>;

    /// Writes registers that follow each other, the first one first.
    fn write_registers(&mut self, address: u32, values: &[u32]) -> Result<(), Self::Error> {
        (address..).step_by(4).zip(values).try_for_each(|(at, &value)| self.write_register(at, value))
    }

    /// Starts the program.
    fn start(&mut self) -> Result<(), Self::Error> {
        self.write_register(reg::CONTROL, reg::CONTROL_START.put(1))
    }

    /// Waits until the core may stand still.
    fn wait(&mut self) -> Result<(), Self::Error>;
}

/// Writes an entry of the modulus table.
pub(crate) fn set_modulus<R: Registers>(
    core: &mut R,
    config: &CompactConfig,
    index: usize,
    entry: &TableEntry,
) -> Result<(), R::Error> {
    let index = u32::try_from(index).unwrap_or(u32::MAX);
    if index >= config.moduli() {
        let (found, max) = (index as usize + 1, config.moduli());
        return Err(CompactError::TooManyModuli { found, max }.into());
    }
    let halves: Vec<u32> = entry.fields().flat_map(|word| [word as u32, (word >> 32) as u32]).collect();
    core.write_registers(reg::MODULUS + ENTRY * index, &halves)
}

/// Runs the instructions at `program`, in bytes, on limbs of 2^`log_n` words, until END.
pub(crate) fn run<R: Registers>(core: &mut R, program: u64, log_n: u32) -> Result<Counters, R::Error> {
    if !program.is_multiple_of(ADDRESS_UNIT) {
        return Err(CompactError::Unaligned { address: program, unit: ADDRESS_UNIT }.into());
    }
    core.write_register(reg::PROGRAM, (program / ADDRESS_UNIT) as u32)?;
    core.write_register(reg::LOG_N, reg::LOG_N_VALUE.put(log_n))?;
    core.start()?;
    // The interrupt may still be that of a program before, which nobody waited for.
    let mut status = reg::STATUS_BUSY.put(1);
    while reg::STATUS_BUSY.get(status) == 1 {
        core.wait()?;
        status = core.read_register(reg::STATUS)?;
    }
    if reg::STATUS_REFUSED.get(status) == 1 {
        return Err(CompactError::Busy.into());
    }
    if reg::STATUS_ERROR.get(status) == 1 {
        let code = reg::STATUS_CODE.get(status) as u8;
        let index = core.read_register(reg::ERROR_PC)?;
        let meaning = meaning(code);
        if matches!(code, 9..=11) {
            let address = u64::from(core.read_register(reg::BUS_ERROR_ADDR)?) * ADDRESS_UNIT;
            return Err(CompactError::Bus { index, code, meaning, address }.into());
        }
        return Err(CompactError::Stopped { index, code, meaning }.into());
    }
    counters(core)
}

fn counters<R: Registers>(core: &mut R) -> Result<Counters, R::Error> {
    let mut values = [0; Counters::COUNT];
    for (value, i) in values.iter_mut().zip(0..) {
        *value = counter(core, i)?;
    }
    Ok(Counters::from_registers(values))
}

/// A performance counter, by its number in the register map.
pub(crate) fn counter<R: Registers>(core: &mut R, number: u32) -> Result<u64, R::Error> {
    let address = reg::COUNTER + number * reg::COUNTER_STRIDE;
    let (low, high) = (core.read_register(address)?, core.read_register(address + 4)?);
    Ok(u64::from(low) | u64::from(high) << 32)
}

/// What an error code of the core means, `rtl/core/README.md`.
const fn meaning(code: u8) -> &'static str {
    match code {
        1 => "no such opcode",
        2 => "an accumulator to transform, or a pair of banks beside one of its own",
        3 => "no such modulus",
        4 => "operands that the opcode does not take",
        5 => "a permutation of this kind is impossible",
        6 => "an address that is not aligned to the memory bus",
        7 => "a wait for stores that never come",
        8 => "a degree that the core was not built for",
        9 => "a bus error under an instruction",
        10 => "a bus error in a read",
        11 => "a bus error in a write",
        12 => "reset in the middle",
        _ => "an unknown error",
    }
}
