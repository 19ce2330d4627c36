//! A core's way to memory in cycles, exactly: instruction fetch, read stream, write stream, one AXI4 port and the
//! memory behind it, without data.
//!
//! Repeats `rtl/memory` and the memory of `rtl/sim` register by register; their READMEs state the rules. Both sides
//! replay the traces in `rtl/memory/test/traces`, so neither changes alone. Bus errors are not part of it: a program
//! that meets one stops.
//!
//! In every cycle: look at [`Bus::outputs`], decide what the core does, then [`Bus::step`].

mod dma;
mod memory;

use std::collections::VecDeque;

use self::dma::{Arbiter, ReadDma, WriteDma};
pub use self::memory::Settings;
use self::memory::{Master, Memory, Slave};

/// Bytes of the unit in which requests count addresses.
const UNIT: u64 = 64;
/// Words of an instruction.
const INSTRUCTION_WORDS: u64 = 4;
/// Bytes of a burst of the instruction fetch, which is also one of its requests.
const FETCH_BURST: u64 = 512;

/// Sizes of the memory system, as `rm_mem_system` is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Words of a row, 2·NBF.
    pub row_words: u64,
    /// Bits of a beat.
    pub bus_bits: u64,
    /// Bursts of the streams end at multiples of this number of bytes.
    pub burst_bytes: u64,
    /// Rows that the read stream holds ahead, unless a burst has more.
    pub read_rows: u64,
    /// Requests that wait before each DMA.
    pub queue: usize,
    /// Instructions read ahead.
    pub fetch_depth: u64,
}

impl Shape {
    /// As the core is built for this row, bus and number of rows read ahead.
    pub const fn new(row_words: u64, bus_bits: u64, read_rows: u64) -> Self {
        Self { row_words, bus_bits, burst_bytes: 1024, read_rows, queue: 4, fetch_depth: 32 }
    }

    /// Rows that the read stream holds ahead.
    pub const fn read_depth(&self) -> u64 {
        let rows = self.burst_bytes / (2 * self.row_words);
        if rows > self.read_rows { rows } else { self.read_rows }
    }

    /// Bursts of the read stream that may be under way: as many as it has space for, and 16 at least.
    const fn read_bursts(&self) -> u64 {
        let bursts = self.read_depth() * 8 * self.row_words / self.burst_bytes;
        if bursts > 16 { bursts } else { 16 }
    }
}

/// A transfer that the core asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Address in units of 64 bytes.
    pub unit: u32,
    /// Rows, whole beats of them.
    pub rows: u32,
}

/// What the core does in a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Inputs {
    /// A program begins at this unit; only while fetch is idle.
    pub fetch_start: Option<u32>,
    /// Instructions are not wanted.
    pub fetch_stop: bool,
    /// An instruction would be taken.
    pub instruction_ready: bool,
    /// The instruction that is shown is END.
    pub instruction_is_end: bool,
    /// A request offered to the read stream.
    pub read: Option<Request>,
    /// A row would be taken.
    pub read_row_ready: bool,
    /// A request offered to the write stream.
    pub write: Option<Request>,
    /// A row is offered to the write stream.
    pub write_row_valid: bool,
}

/// What the core sees in a cycle: all of it stands before the core decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Outputs {
    /// An instruction is shown.
    pub instruction_valid: bool,
    /// Nothing of the fetch is under way.
    pub fetch_idle: bool,
    /// A read request would be taken.
    pub read_ready: bool,
    /// A row is shown.
    pub read_row_valid: bool,
    /// Nothing of the read stream is under way.
    pub read_idle: bool,
    /// A beat arrives, of instructions or rows.
    pub read_beat: bool,
    /// A write request would be taken.
    pub write_ready: bool,
    /// A row would be taken.
    pub write_row_ready: bool,
    /// The oldest store is complete.
    pub write_done: bool,
    /// Nothing of the write stream is under way.
    pub write_idle: bool,
    /// A beat leaves.
    pub write_beat: bool,
}

/// Instruction fetch: a read DMA that asks for itself.
#[derive(Debug, Clone)]
struct Fetch {
    dma: ReadDma,
    active: bool,
    unit: u32,
}

/// The memory system with its memory.
#[derive(Debug, Clone)]
pub struct Bus {
    fetch: Fetch,
    read: ReadDma,
    write: WriteDma,
    arbiter: Arbiter,
    reads: VecDeque<Request>,
    writes: VecDeque<Request>,
    queue: usize,
    memory: Memory,
    slave: Slave,
}

impl Bus {
    /// Everything idle, in cycle 0 of the memory's clock.
    pub fn new(shape: Shape, settings: Settings) -> Self {
        let beat = shape.bus_bits / 8;
        let stream = dma::Geometry::new(shape.row_words, beat, shape.burst_bytes);
        let code = dma::Geometry::new(INSTRUCTION_WORDS, beat, FETCH_BURST);
        let mut bus = Self {
            fetch: Fetch { dma: ReadDma::new(code, shape.fetch_depth, 4), active: false, unit: 0 },
            read: ReadDma::new(stream, shape.read_depth(), shape.read_bursts()),
            write: WriteDma::new(stream, 16),
            arbiter: Arbiter::default(),
            reads: VecDeque::new(),
            writes: VecDeque::new(),
            queue: shape.queue,
            memory: Memory::new(settings),
            slave: Slave::default(),
        };
        bus.slave = bus.memory.drive(&bus.master());
        bus
    }

    /// The AXI signals that registers show.
    fn master(&self) -> Master {
        Master { ar: self.arbiter.address(), aw: self.write.address(), w: self.write.beat_valid() }
    }

    /// What the core sees in this cycle.
    pub fn outputs(&self) -> Outputs {
        Outputs {
            instruction_valid: self.fetch.dma.row_valid(),
            fetch_idle: !self.fetch.active && self.fetch.dma.idle(),
            read_ready: self.reads.len() < self.queue,
            read_row_valid: self.read.row_valid(),
            read_idle: self.read.idle() && self.reads.is_empty(),
            read_beat: self.slave.r.is_some(),
            write_ready: self.writes.len() < self.queue,
            write_row_ready: self.write.row_ready(self.slave.w_ready),
            write_done: self.write.done(),
            write_idle: self.write.idle() && self.writes.is_empty(),
            write_beat: self.write.beat_valid() && self.slave.w_ready,
        }
    }

    /// Whether an address waits on AR and on AW.
    pub fn addresses(&self) -> (bool, bool) {
        (self.arbiter.address().is_some(), self.write.address().is_some())
    }

    /// On to the next cycle.
    pub fn step(&mut self, inputs: &Inputs) {
        let (now, slave, master) = (self.outputs(), self.slave, self.master());
        let r = slave.r;
        let open = self.arbiter.open(slave.ar_ready);
        let (code, stream) = (self.fetch.dma.burst(), self.read.burst());
        self.arbiter.step(open, code, stream);

        let ended = now.instruction_valid && inputs.instruction_ready && inputs.instruction_is_end;
        self.fetch.step(inputs, ended || inputs.fetch_stop, open, r.filter(|beat| !beat.stream));

        let taken = self.read.step(&dma::ReadInputs {
            flush: false,
            request: self.reads.front().copied(),
            burst_ready: open && code.is_none(),
            beat: r.filter(|beat| beat.stream).map(|beat| beat.last),
            row_ready: inputs.read_row_ready,
        });
        queue(&mut self.reads, taken, inputs.read.filter(|_| now.read_ready));

        let taken = self.write.step(&dma::WriteInputs {
            request: self.writes.front().copied(),
            row: inputs.write_row_valid,
            aw_ready: slave.aw_ready,
            w_ready: slave.w_ready,
            response: slave.b,
        });
        queue(&mut self.writes, taken, inputs.write.filter(|_| now.write_ready));

        self.memory.advance(&master, &slave);
        self.slave = self.memory.drive(&self.master());
    }
}

fn queue(waiting: &mut VecDeque<Request>, taken: bool, new: Option<Request>) {
    if taken {
        waiting.pop_front();
    }
    waiting.extend(new);
}

impl Fetch {
    fn step(&mut self, inputs: &Inputs, flush: bool, open: bool, beat: Option<memory::Beat>) {
        let rows = (FETCH_BURST / (8 * INSTRUCTION_WORDS)) as u32;
        let taken = self.dma.step(&dma::ReadInputs {
            flush,
            request: self.active.then_some(Request { unit: self.unit, rows }),
            burst_ready: open,
            beat: beat.map(|beat| beat.last),
            row_ready: inputs.instruction_ready,
        });
        if taken {
            self.unit = self.unit.wrapping_add((FETCH_BURST / UNIT) as u32);
        }
        if let Some(unit) = inputs.fetch_start {
            self.unit = unit;
            self.active = true;
        }
        self.active &= !flush;
    }
}

#[cfg(test)]
mod tests;
