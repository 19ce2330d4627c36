//! A board that answers: its core identified and reset, its memory tried, programs and limbs put where they stay.

use std::thread::sleep;
use std::time::{Duration, Instant};

use ringmill_ring::LimbSource;

use super::bus::Bus;
use super::machine::Job;
use super::places::Places;
use super::port;
use super::{BoardError, MEMORY, SPACE};
use crate::compact::driver::{self, Registers};
use crate::compact::isa::ADDRESS_UNIT;
use crate::compact::parameters::MULTIPLIER;
use crate::compact::{
    CompactConfig, CompactError, CompactLiteral, Counters, Instruction, Multiplier, check_identity,
    registers as reg,
};
use crate::{MachineError, Watch};

/// Between two looks at a core that runs.
const LOOK: Duration = Duration::from_millis(1);
/// Cycles after which a program counts as hanging: a multiple of its plan's, and a constant.
const LIMIT_FACTOR: u64 = 64;
const LIMIT_MORE: u64 = 1 << 24;
/// The least memory of a board.
pub(super) const LEAST: u64 = 1 << 16;

/// Where a host finds registers and memory. The core finds the memory at [`MEMORY`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Window {
    pub(super) registers: u32,
    pub(super) memory: u32,
}

/// How a board is reached, and what its registers do not say of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Settings {
    pub(super) place: port::Place,
    pub(super) window: Window,
    /// How long it may say nothing.
    pub(super) patience: Duration,
    /// Bytes of its memory; none to find out.
    pub(super) memory: Option<u64>,
    /// Timing, and places of ones of its multipliers.
    pub(super) literal: CompactLiteral,
}

/// A board that answers.
#[derive(Debug)]
pub(super) struct Link {
    bus: Bus,
    window: Window,
    place: String,
    patience: Duration,
    config: CompactConfig,
    places: Places,
    /// The program whose moduli are in the table.
    table: Option<u64>,
}

impl Link {
    /// Opens the line, identifies and resets the core, and tries the memory.
    pub(super) fn open(settings: &Settings) -> Result<Self, MachineError> {
        let bus = Bus::open(&settings.place, settings.patience)?;
        let config = CompactLiteral::default().build()?;
        let (place, patience) = (settings.place.to_string(), settings.patience);
        let mut link = Self {
            bus,
            window: settings.window,
            place,
            patience,
            config,
            places: Places::new(0),
            table: None,
        };
        let literal = link.identify(settings.literal)?;
        link.begin(literal, settings.memory).map_err(|e| link.explained(e))?;
        Ok(link)
    }

    fn begin(&mut self, mut literal: CompactLiteral, memory: Option<u64>) -> Result<(), MachineError> {
        self.reset()?;
        literal.memory_bytes = self.measure(memory)?;
        self.config = literal.build()?;
        self.places = Places::new(literal.memory_bytes);
        Ok(())
    }

    /// The core.
    pub(super) const fn config(&self) -> &CompactConfig {
        &self.config
    }

    /// What the registers say of the core; all else as in `literal`.
    fn identify(&mut self, literal: CompactLiteral) -> Result<CompactLiteral, MachineError> {
        let mut words = [0; 4];
        self.bus.read(self.window.registers + reg::ID, &mut words)?;
        let [id, version, shape, variant] = words;
        let place = self.place.clone();
        check_identity(id, version).map_err(|e| match e {
            CompactError::NotACore { id, expected } => BoardError::NoCore { place, id, expected }.into(),
            CompactError::Version { major, minor, needed_major, needed_minor } => {
                BoardError::OtherVersion { place, major, minor, needed_major, needed_minor }.into()
            }
            other => MachineError::from(other),
        })?;
        let kind = reg::VARIANT_KIND.get(variant);
        let multiplier = Multiplier::ALL.into_iter().find(|m| m.code() == kind);
        Ok(CompactLiteral {
            word_bits: reg::SHAPE_WORD.get(shape),
            butterflies: reg::SHAPE_NBF.get(shape),
            log_n_max: reg::SHAPE_LOGN_MAX.get(shape),
            moduli: reg::SHAPE_MODS.get(shape),
            bus_bits: reg::VARIANT_BUS.get(variant),
            multiplier: multiplier.ok_or_else(|| {
                let allowed = format!("the number of {}", MULTIPLIER.parameter.allowed);
                CompactError::Parameter { name: "multiplier", value: kind.to_string(), allowed }
            })?,
            ..literal
        })
    }

    /// Ends whatever runs, as a load or a program that was interrupted.
    pub(super) fn reset(&mut self) -> Result<(), MachineError> {
        self.write_register(reg::CONTROL, reg::CONTROL_SOFT_RESET.put(1))?;
        let began = Instant::now();
        while reg::STATUS_BUSY.get(self.read_register(reg::STATUS)?) == 1 {
            if began.elapsed() > self.patience {
                return Err(self.stuck());
            }
            sleep(LOOK);
        }
        self.write_register(reg::IRQ, reg::IRQ_PENDING.put(1))
    }

    fn stuck(&self) -> MachineError {
        BoardError::Stuck { place: self.place.clone(), seconds: self.patience.as_secs() }.into()
    }

    /// Bytes of the memory: as stated, if it keeps words all over, or found by words at powers of two, up to the first one that
    /// is not kept or is another word too.
    fn measure(&mut self, stated: Option<u64>) -> Result<u64, MachineError> {
        let most = stated.unwrap_or(SPACE);
        let mut first = Trial::new(0);
        first.write(self)?;
        if !first.holds(self)? {
            return Err(self.forgets(&first));
        }
        let mut size = PAGE;
        while size < most {
            let mut trial = Trial::new(size);
            trial.write(self)?;
            if !trial.holds(self)? || !first.holds(self)? {
                if stated.is_some() || size < LEAST {
                    let broken = if trial.found == trial.written { first } else { trial };
                    return Err(self.forgets(&broken));
                }
                break;
            }
            size *= 2;
        }
        if let Some(stated) = stated {
            let mut last = Trial::new((stated - 4) & !3);
            last.write(self)?;
            if !last.holds(self)? {
                return Err(self.forgets(&last));
            }
            return Ok(stated);
        }
        Ok(size.min(most))
    }

    fn forgets(&self, trial: &Trial) -> MachineError {
        let Trial { address, written, found } = *trial;
        BoardError::Memory { place: self.place.clone(), address, written, found }.into()
    }

    /// Runs a program: what its memory does not hold yet is put there.
    pub(super) fn run(
        &mut self,
        job: &Job,
        inputs: &[LimbSource<'_>],
        outputs: &mut [&mut [u64]],
        watch: &Watch,
    ) -> Result<Counters, MachineError> {
        let plan = &job.plan;
        watch.begin(plan.inputs.len() + outputs.len() + 1);
        let place = self.places.of(job.number, plan.bytes)?;
        let (base, loaded) = (place.base, place.loaded);
        if !loaded {
            let units = ((u64::from(MEMORY) + base) / ADDRESS_UNIT) as u32;
            let moved = plan.instructions.iter().map(|one| moved(one, units));
            let words: Vec<u64> = moved.flat_map(|one| one.encode()).collect();
            self.put(base + plan.program, &words)?;
            self.places.of(job.number, plan.bytes)?.loaded = true;
        }
        for slot in &plan.inputs {
            watch.go_on()?;
            let limb = inputs[slot.input as usize].to_words(job.program.n());
            let hash = blake3::hash(bytemuck::cast_slice(&limb));
            let place = self.places.of(job.number, plan.bytes)?;
            if place.holds.get(&slot.address) != Some(&hash) {
                let stored = slot.stored(&job.program, self.config.factor_bits(), &limb);
                self.put(base + slot.address, &stored)?;
                self.places.of(job.number, plan.bytes)?.holds.insert(slot.address, hash);
            }
            watch.step();
        }
        if self.table != Some(job.number) {
            self.table = None;
            for (index, entry) in job.table.iter().enumerate() {
                let config = self.config;
                driver::set_modulus(self, &config, index, entry)?;
            }
            self.table = Some(job.number);
        }
        let limit = plan.estimate.saturating_mul(LIMIT_FACTOR) + LIMIT_MORE;
        let mut running = Running { link: self, watch, limit, cycles: None, moved: Instant::now() };
        let program = u64::from(MEMORY) + base + plan.program;
        let counters = driver::run(&mut running, program, job.program.log_n())?;
        watch.step();
        for (&address, limb) in plan.outputs.iter().zip(outputs) {
            watch.go_on()?;
            self.get(base + address, limb)?;
            watch.step();
        }
        Ok(counters)
    }

    /// Writes words into memory, and reads them back: nothing on the line says that bytes were lost.
    fn put(&mut self, address: u64, words: &[u64]) -> Result<(), MachineError> {
        let halves: Vec<u32> = words.iter().flat_map(|&word| [word as u32, (word >> 32) as u32]).collect();
        let burst = self.bus.burst();
        let mut back = vec![0; burst];
        for (words, at) in halves.chunks(burst).zip((address..).step_by(4 * burst)) {
            let (at_bus, back) = (self.window.memory + at as u32, &mut back[..words.len()]);
            self.bus.write(at_bus, words)?;
            self.bus.read(at_bus, back)?;
            if let Some(i) = (0..words.len()).find(|&i| words[i] != back[i]) {
                let (place, address) = (self.place.clone(), at + 4 * i as u64);
                return Err(BoardError::Changed { place, address, written: words[i], found: back[i] }.into());
            }
        }
        Ok(())
    }

    fn get(&mut self, address: u64, words: &mut [u64]) -> Result<(), MachineError> {
        let burst = self.bus.burst();
        let mut buffer = vec![0; burst];
        let mut at = self.window.memory + address as u32;
        // A word is two of the bus, the lower one first.
        for words in words.chunks_mut(burst / 2) {
            let halves = &mut buffer[..2 * words.len()];
            self.bus.read(at, halves)?;
            at += 4 * burst as u32;
            for (word, half) in words.iter_mut().zip(halves.as_chunks().0) {
                let [low, high]: [u32; 2] = *half;
                *word = u64::from(low) | u64::from(high) << 32;
            }
        }
        Ok(())
    }

    /// What silence on the line means, once it has answered: bytes were lost if the core still answers.
    pub(super) fn explained(&mut self, error: MachineError) -> MachineError {
        if !matches!(error, MachineError::Board(BoardError::Silent { .. })) {
            return error;
        }
        let answers =
            self.bus.drain().is_ok() && self.read_register(reg::ID).is_ok_and(|id| id == reg::ID_VALUE);
        if answers { self.lost() } else { error }
    }

    fn lost(&self) -> MachineError {
        BoardError::Lost { place: self.place.clone() }.into()
    }
}

impl Registers for Link {
    type Error = MachineError;

    fn read_register(&mut self, address: u32) -> Result<u32, MachineError> {
        let mut word = [0];
        self.bus.read(self.window.registers + address, &mut word)?;
        Ok(word[0])
    }

    fn write_register(&mut self, address: u32, value: u32) -> Result<(), MachineError> {
        Ok(self.bus.write(self.window.registers + address, &[value])?)
    }

    /// Of registers that cannot be read: a command that lost a byte takes bytes of the next one, which is then not answered.
    fn write_registers(&mut self, address: u32, values: &[u32]) -> Result<(), MachineError> {
        let burst = self.bus.burst();
        for (values, at) in values.chunks(burst).zip((address..).step_by(4 * burst)) {
            self.bus.write(self.window.registers + at, values)?;
            if self.read_register(reg::ID)? != reg::ID_VALUE {
                return Err(self.lost());
            }
        }
        Ok(())
    }

    fn wait(&mut self) -> Result<(), MachineError> {
        Ok(())
    }
}

/// A core that runs a program.
struct Running<'l> {
    link: &'l mut Link,
    watch: &'l Watch,
    /// The most cycles.
    limit: u64,
    /// Its cycles when they were read, and when they were others last.
    cycles: Option<u64>,
    moved: Instant,
}

impl Registers for Running<'_> {
    type Error = MachineError;

    fn read_register(&mut self, address: u32) -> Result<u32, MachineError> {
        self.link.read_register(address)
    }

    /// What can be read is read back.
    fn write_register(&mut self, address: u32, value: u32) -> Result<(), MachineError> {
        self.link.write_register(address, value)?;
        let kept = address == reg::CONTROL || self.link.read_register(address)? == value;
        if kept { Ok(()) } else { Err(self.link.lost()) }
    }

    /// Ends a program that shall not go on, or does not end.
    fn wait(&mut self) -> Result<(), MachineError> {
        sleep(LOOK);
        let cycles = driver::counter(self.link, 0)?;
        if self.cycles != Some(cycles) {
            (self.cycles, self.moved) = (Some(cycles), Instant::now());
        }
        let error = match self.watch.go_on() {
            Err(stopped) => stopped,
            Ok(()) if cycles > self.limit => CompactError::Watchdog { cycles: self.limit }.into(),
            Ok(()) if self.moved.elapsed() > self.link.patience => self.link.stuck(),
            Ok(()) => return Ok(()),
        };
        // Roots that were being made are made again after the table was written.
        self.link.table = None;
        self.link.reset()?;
        Err(error)
    }
}

/// Where words begin to be tried: below, all is one page.
const PAGE: u64 = 4096;

/// A word of memory that is tried.
struct Trial {
    address: u64,
    written: u32,
    found: u32,
}

impl Trial {
    /// Words are different at different addresses, and not 0.
    fn new(address: u64) -> Self {
        Self { address, written: (address as u32 / 4 + 1).wrapping_mul(0x9e37_79b9), found: 0 }
    }

    fn write(&self, link: &mut Link) -> Result<(), BoardError> {
        link.bus.write(link.window.memory + self.address as u32, &[self.written])
    }

    fn holds(&mut self, link: &mut Link) -> Result<bool, BoardError> {
        let mut found = [0];
        link.bus.read(link.window.memory + self.address as u32, &mut found)?;
        self.found = found[0];
        Ok(self.found == self.written)
    }
}

/// An instruction whose addresses count from further below, in units of 64 bytes.
fn moved(instruction: &Instruction, units: u32) -> Instruction {
    let mut one = *instruction;
    one.store = one.store.map(|address| address + units);
    if let Some(stream) = &mut one.s {
        stream.address += units;
    }
    one
}
