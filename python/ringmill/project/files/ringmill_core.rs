//! Driver of the compact core: puts limbs and instructions into its memory, runs it, takes the results.
//!
//! Needs `core` alone. A [`Platform`] says how registers and memory are reached; `layout.rs` says what this program
//! needs.

use crate::layout::{Place, Program};
use crate::registers as reg;

/// How registers and memory are reached. Memory is shared with the core. Where caches of the host do not see what the core does
/// there, the platform has [`Platform::clean`] and [`Platform::invalidate`].
pub trait Platform {
    /// What a failed access tells.
    type Error;

    /// Reads a register.
    fn read_register(&mut self, offset: u32) -> Result<u32, Self::Error>;
    /// Writes a register.
    fn write_register(&mut self, offset: u32, value: u32) -> Result<(), Self::Error>;
    /// Waits for the interrupt, or a while; the driver looks at STATUS afterwards.
    fn wait(&mut self) -> Result<(), Self::Error>;
    /// The memory as the host sees it.
    fn memory(&mut self) -> &mut [u64];
    /// The address that the core gives to the first byte of memory, a multiple of 4096.
    fn base(&self) -> u64;
    /// These words of memory were written by the host: writes them back from its caches.
    fn clean(&mut self, _words: core::ops::Range<usize>) {}
    /// The core may have written these words of memory: drops them from the caches.
    fn invalidate(&mut self, _words: core::ops::Range<usize>) {}
}

/// Why a core does not do what it is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Error<E> {
    /// The register ID or the major number of VERSION is another, or its minor number is below the driver's.
    NotACore { id: u32, version: u32 },
    /// The core was built for another word, multiplier, bus, size or degree than the program needs.
    OtherCore { shape: u32, variant: u32 },
    /// Memory is short, or its base is not a multiple of 4096.
    Memory { needed: u64, available: u64 },
    /// No such input or output limb.
    NoLimb { limb: u32 },
    /// A limb of another number of words than N.
    Length { words: usize },
    /// A program was running.
    Busy,
    /// The patience is over and the program is not.
    Timeout,
    /// The core stopped at an instruction with an error code.
    Stopped { at: u32, code: u32 },
    /// The platform failed.
    Platform(E),
}

impl<E> From<E> for Error<E> {
    fn from(error: E) -> Self {
        Self::Platform(error)
    }
}

const ENTRY_BYTES: u32 = 256;
const UNIT: u64 = 64;
const PAGE: u64 = 4096;

/// A core with a program.
#[derive(Debug)]
pub struct Core<P> {
    platform: P,
    program: &'static Program,
}

impl<P: Platform> Core<P> {
    /// Checks that the core is what the program was made for, fills its table of moduli and loads the instructions.
    pub fn open(mut platform: P, program: &'static Program, words: &[u64]) -> Result<Self, Error<P::Error>> {
        let available = 8 * platform.memory().len() as u64;
        if available < program.bytes || platform.base() % PAGE != 0 {
            return Err(Error::Memory { needed: program.bytes, available });
        }
        let mut core = Self { platform, program };
        core.identify()?;
        for (entry, row) in (0..).zip(program.table) {
            for (field, &word) in (0..2 + program.log_n).zip(row) {
                let at = reg::MODULUS + ENTRY_BYTES * entry + 8 * field;
                core.platform.write_register(at, word as u32)?;
                core.platform.write_register(at + 4, (word >> 32) as u32)?;
            }
        }
        core.load(words)?;
        Ok(core)
    }

    fn identify(&mut self) -> Result<(), Error<P::Error>> {
        let p = self.program;
        let id = self.platform.read_register(reg::ID)?;
        let version = self.platform.read_register(reg::VERSION)?;
        let parts = |register| (reg::VERSION_MAJOR.get(register), reg::VERSION_MINOR.get(register));
        let ((major, minor), (needed_major, needed_minor)) = (parts(version), parts(reg::VERSION_VALUE));
        if id != reg::ID_VALUE || major != needed_major || minor < needed_minor {
            return Err(Error::NotACore { id, version });
        }
        let shape = self.platform.read_register(reg::SHAPE)?;
        let variant = self.platform.read_register(reg::VARIANT)?;
        let found = (reg::SHAPE_WORD.get(shape), reg::SHAPE_NBF.get(shape));
        let kind = (reg::VARIANT_KIND.get(variant), reg::VARIANT_BUS.get(variant));
        let fits = reg::SHAPE_LOGN_MAX.get(shape) >= p.log_n
            && reg::SHAPE_MODS.get(shape) as usize >= p.table.len();
        if found != (p.word_bits, p.butterflies) || kind != (p.kind, p.bus_bits) || !fits {
            return Err(Error::OtherCore { shape, variant });
        }
        Ok(())
    }

    /// Addresses in instructions are those of a memory that begins at 0: w0[63:32] where w0[30] is set, w1[31:0]
    /// where w0[31] is set, both in units of 64 bytes.
    fn load(&mut self, words: &[u64]) -> Result<(), Error<P::Error>> {
        let start = (self.program.address / 8) as usize;
        if words.len() as u64 != 4 * self.program.instructions {
            return Err(Error::Length { words: words.len() });
        }
        let units = self.platform.base() / UNIT;
        let to = &mut self.platform.memory()[start..start + words.len()];
        to.copy_from_slice(words);
        for instruction in to.chunks_exact_mut(4) {
            let w0 = instruction[0];
            instruction[0] += if w0 >> 30 & 1 == 1 { units << 32 } else { 0 };
            instruction[1] += if w0 >> 31 & 1 == 1 { units } else { 0 };
        }
        self.platform.clean(start..start + words.len());
        Ok(())
    }

    fn words(&self, place: &Place) -> core::ops::Range<usize> {
        let start = (place.address / 8) as usize;
        start..start + (1 << self.program.log_n)
    }

    /// Puts an input limb, N canonical residues, wherever the program reads it. It stays there for later runs.
    pub fn put(&mut self, limb: u32, words: &[u64]) -> Result<(), Error<P::Error>> {
        let p = self.program;
        if limb >= p.input_limbs {
            return Err(Error::NoLimb { limb });
        }
        if words.len() != 1 << p.log_n {
            return Err(Error::Length { words: words.len() });
        }
        for place in p.inputs.iter().filter(|place| place.limb == limb) {
            let range = self.words(place);
            let to = &mut self.platform.memory()[range.clone()];
            if place.scaled {
                let q = u128::from(p.table[place.modulus as usize][0]);
                let factor = (0..p.factor_bits).fold(1 % q, |x, _| 2 * x % q);
                for (to, &word) in to.iter_mut().zip(words) {
                    *to = (u128::from(word) * factor % q) as u64;
                }
            } else {
                to.copy_from_slice(words);
            }
            self.platform.clean(range);
        }
        Ok(())
    }

    /// Runs the program to its end, looking at most `patience` times; gives the cycles it took.
    pub fn run(&mut self, mut patience: u64) -> Result<u64, Error<P::Error>> {
        let at = (self.platform.base() + self.program.address) / UNIT;
        self.platform.write_register(reg::PROGRAM, at as u32)?;
        self.platform.write_register(reg::LOG_N, reg::LOG_N_VALUE.put(self.program.log_n))?;
        let start = reg::CONTROL_START.put(1) | reg::CONTROL_IRQ_ENABLE.put(1);
        self.platform.write_register(reg::CONTROL, start)?;
        loop {
            patience = patience.checked_sub(1).ok_or(Error::Timeout)?;
            self.platform.wait()?;
            let status = self.platform.read_register(reg::STATUS)?;
            if reg::STATUS_REFUSED.get(status) == 1 {
                return Err(Error::Busy);
            }
            if reg::STATUS_BUSY.get(status) == 1 {
                continue;
            }
            self.platform.write_register(reg::IRQ, reg::IRQ_PENDING.put(1))?;
            if reg::STATUS_ERROR.get(status) == 1 {
                let at = self.platform.read_register(reg::ERROR_PC)?;
                return Err(Error::Stopped { at, code: reg::STATUS_CODE.get(status) });
            }
            return self.counter(0);
        }
    }

    /// Ends a program in the middle, whatever it waits for; looks at most `patience` times until the core stands still.
    pub fn reset(&mut self, mut patience: u64) -> Result<(), Error<P::Error>> {
        self.platform.write_register(reg::CONTROL, reg::CONTROL_SOFT_RESET.put(1))?;
        loop {
            patience = patience.checked_sub(1).ok_or(Error::Timeout)?;
            if reg::STATUS_BUSY.get(self.platform.read_register(reg::STATUS)?) == 0 {
                break;
            }
        }
        Ok(self.platform.write_register(reg::IRQ, reg::IRQ_PENDING.put(1))?)
    }

    /// Takes an output limb.
    pub fn get(&mut self, limb: u32, words: &mut [u64]) -> Result<(), Error<P::Error>> {
        let place = self.program.outputs.get(limb as usize).ok_or(Error::NoLimb { limb })?;
        let range = self.words(place);
        if words.len() != range.len() {
            return Err(Error::Length { words: words.len() });
        }
        self.platform.invalidate(range.clone());
        words.copy_from_slice(&self.platform.memory()[range]);
        Ok(())
    }

    /// Performance counter `i` of the last run, in the order of the register map.
    pub fn counter(&mut self, i: u32) -> Result<u64, Error<P::Error>> {
        let at = reg::COUNTER + reg::COUNTER_STRIDE * i;
        let low = self.platform.read_register(at)?;
        let high = self.platform.read_register(at + 4)?;
        Ok(u64::from(high) << 32 | u64::from(low))
    }
}
