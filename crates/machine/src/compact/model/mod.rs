//! The cycle model: dispatch, tickets, units, queues and memory, one cycle after the other, without data.
//!
//! It follows the rules that the blocks of `rtl/` state for themselves.

mod lane;
mod memory;

use std::collections::VecDeque;

use super::core::Counters;
use super::isa::{Bank, Instruction, Op};
use super::{CompactConfig, CompactError, Multiplier};
use lane::{Command, Lane};
use memory::{Reader, Writer};

/// What the rules depend on.
#[derive(Debug, Clone, Copy)]
struct Parameters {
    log_n: u32,
    rows: u64,
    row_words: u64,
    bus_bits: u32,
    latency: u64,
    beat_cycles: u64,
    multiplier_latency: u64,
}

impl Parameters {
    fn new(config: &CompactConfig, log_n: u32) -> Self {
        Self {
            log_n,
            rows: config.rows(log_n).into(),
            row_words: config.row_words().into(),
            bus_bits: config.bus_bits(),
            latency: config.timing().latency.into(),
            beat_cycles: config.timing().beat_cycles.into(),
            multiplier_latency: latency(config.multiplier()),
        }
    }

    /// Cycles from the issue of a row to the first in which its result may be read.
    const fn depth(&self) -> u64 {
        self.multiplier_latency + 7
    }
}

/// Cycles of the modular multipliers, `rtl/modmul/README.md`.
const fn latency(multiplier: Multiplier) -> u64 {
    match multiplier {
        Multiplier::WordMontgomery | Multiplier::SparseWordMontgomery => 8,
        Multiplier::PrfFiko => 7,
        Multiplier::Montgomery => 11,
        Multiplier::Barrett => 13,
    }
}

/// When an instruction held its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// First cycle at work.
    pub start: u64,
    /// The cycle after its last row was issued, or its last result written.
    pub end: u64,
}

/// What a program takes.
#[derive(Debug, Clone)]
pub struct Timing {
    /// The counters.
    pub counters: Counters,
    /// When each instruction held its unit; END has none.
    pub spans: Vec<Span>,
}

/// Instructions that the arithmetic unit's queue, and the queue of reads, hold.
const QUEUE: usize = 8;
/// Cycles from the start to the first instruction in the decode register, besides the latency of the memory.
const FETCH: u64 = 8;
/// Cycles without progress after which the model gives up: beyond any transform and any wait for memory.
const PATIENCE: u64 = 1 << 24;

#[derive(Debug, Clone, Copy)]
struct Waiting {
    index: usize,
    tickets: [Option<(usize, u64, bool)>; 3],
    from: u64,
}

#[derive(Debug, Clone, Copy)]
struct Work {
    index: usize,
    row: u64,
    from: u64,
}

/// Runs the instructions of a program through the model.
///
/// # Errors
/// [`CompactError::Watchdog`] if the program never ends.
pub fn simulate(config: &CompactConfig, log_n: u32, program: &[Instruction]) -> Result<Timing, CompactError> {
    let p = Parameters::new(config, log_n);
    let mut model = Model::new(p, program);
    let mut t = 0;
    while !model.step(t) {
        t += 1;
        if t - model.progress > PATIENCE {
            return Err(CompactError::Watchdog { cycles: t });
        }
    }
    model.counters.cycles = t;
    Ok(Timing { counters: model.counters(), spans: model.spans })
}

struct Model<'p> {
    p: Parameters,
    program: &'p [Instruction],
    pc: usize,
    decoded_from: u64,
    taken: [u64; Bank::COUNT],
    passed: [u64; Bank::COUNT],
    finished: [u64; Bank::COUNT],
    arithmetic: VecDeque<Waiting>,
    work: Option<Work>,
    /// Releases of written banks by the cycle from which they count.
    releases: VecDeque<(u64, usize)>,
    reads: VecDeque<(u64, u64)>,
    stores: u64,
    reader: Reader,
    writer: Writer,
    lanes: [Lane; 2],
    spans: Vec<Span>,
    counters: Counters,
    progress: u64,
}

impl<'p> Model<'p> {
    fn new(p: Parameters, program: &'p [Instruction]) -> Self {
        Self {
            p,
            program,
            pc: 0,
            decoded_from: p.latency + FETCH,
            taken: [0; Bank::COUNT],
            passed: [0; Bank::COUNT],
            finished: [0; Bank::COUNT],
            arithmetic: VecDeque::new(),
            work: None,
            releases: VecDeque::new(),
            reads: VecDeque::new(),
            stores: 0,
            reader: Reader::new(&p),
            writer: Writer::new(&p),
            lanes: [Lane::new(&p), Lane::new(&p)],
            spans: vec![Span::default(); program.len()],
            counters: Counters::default(),
            progress: 0,
        }
    }

    /// One cycle; whether the program has ended.
    fn step(&mut self, t: u64) -> bool {
        while self.releases.front().is_some_and(|&(from, _)| from <= t) {
            if let Some((_, bank)) = self.releases.pop_front() {
                self.finished[bank] += 1;
            }
        }
        self.transforms(t);
        self.issue(t);
        self.take(t);
        let ended = self.dispatch(t);
        let due = |&(after, from): &(u64, u64)| from <= t && self.writer.done >= after;
        if self.reads.front().is_some_and(due) && self.reader.ready() {
            self.reads.pop_front();
            self.reader.request(t, self.p.rows);
        }
        self.reader.step(t);
        self.writer.step(t);
        ended
    }

    fn transforms(&mut self, t: u64) {
        for lane in 0..2 {
            if let Some(command) = self.lanes[lane].finished(t) {
                self.passed[command.bank] += 1;
                self.finished[command.bank] += 1;
                self.spans[command.index].end = t;
                self.progress = t;
            }
        }
        let finished = self.finished;
        for lane in &mut self.lanes {
            if let Some(index) = lane.step(t, |bank, ticket| finished[bank] == ticket) {
                self.spans[index].start = t;
            }
        }
    }

    /// Issues a row of the instruction at work.
    fn issue(&mut self, t: u64) {
        let Some(mut work) = self.work.filter(|w| w.from <= t) else { return };
        let i = &self.program[work.index];
        if i.s.is_some() && !self.reader.has_row(t) {
            self.counters.arithmetic_read += 1;
            return;
        }
        if i.store.is_some() && !self.writer.has_room() {
            self.counters.arithmetic_write += 1;
            return;
        }
        if i.s.is_some() {
            self.reader.take_row();
        }
        if i.store.is_some() {
            self.writer.promise(t);
        }
        if work.row == 0 {
            self.spans[work.index].start = t;
        }
        self.counters.arithmetic_busy += 1;
        self.progress = t;
        work.row += 1;
        self.work = Some(work);
        if work.row == self.p.rows {
            self.spans[work.index].end = t + 1;
            for bank in i.banks() {
                self.passed[bank.index()] += 1;
                let written = i.d == Some(bank);
                let from = t + if written { self.p.depth() } else { 1 };
                let at = self.releases.partition_point(|&(other, _)| other <= from);
                self.releases.insert(at, (from, bank.index()));
            }
            self.work = None;
        }
    }

    /// Takes the next instruction of the queue.
    fn take(&mut self, t: u64) {
        let (Some(head), None) = (self.arithmetic.front().copied(), self.work) else { return };
        if head.from > t {
            return;
        }
        let chain = self.p.rows >= self.p.depth();
        let due = head.tickets.iter().flatten().all(|&(bank, ticket, permuted)| {
            let count = if chain && !permuted { self.passed[bank] } else { self.finished[bank] };
            count == ticket
        });
        if !due {
            self.counters.arithmetic_ticket += 1;
            return;
        }
        self.arithmetic.pop_front();
        self.work = Some(Work { index: head.index, row: 0, from: t + 1 });
    }

    fn dispatch(&mut self, t: u64) -> bool {
        if t < self.decoded_from {
            return false;
        }
        let Some(i) = self.program.get(self.pc) else { return self.idle() };
        if i.op == Op::End {
            return self.idle();
        }
        let lane = i.a.and_then(Bank::lane).unwrap_or(0);
        let room = if i.op.is_transform() {
            self.lanes[lane].ready()
        } else {
            self.arithmetic.len() < QUEUE && (i.s.is_none() || self.reads.len() < QUEUE)
        };
        if !room {
            return false;
        }
        let mut tickets = [None; 3];
        for (slot, bank) in tickets.iter_mut().zip(i.banks()) {
            let b = bank.index();
            *slot = Some((b, self.taken[b], i.permute.is_some() && i.a == Some(bank)));
            self.taken[b] += 1;
        }
        let index = self.pc;
        if let (true, Some((bank, ticket, _))) = (i.op.is_transform(), tickets[0]) {
            self.lanes[lane].push(Command { index, bank, ticket, modulus: i.modulus, from: t + 1 });
        } else {
            self.arithmetic.push_back(Waiting { index, tickets, from: t + 1 });
            if let Some(s) = i.s {
                let behind = (self.stores as u16).wrapping_sub(s.after) as i16;
                self.reads.push_back((self.stores.saturating_add_signed(-i64::from(behind)), t + 1));
            }
            self.stores += u64::from(i.store.is_some());
        }
        self.pc += 1;
        self.counters.instructions += 1;
        false
    }

    fn idle(&self) -> bool {
        self.arithmetic.is_empty()
            && self.work.is_none()
            && self.reads.is_empty()
            && self.releases.is_empty()
            && self.lanes.iter().all(Lane::idle)
            && self.reader.idle()
            && self.writer.idle(self.stores)
    }

    fn counters(&self) -> Counters {
        let lanes = self.lanes.each_ref();
        Counters {
            transform_busy: lanes.map(|l| l.busy),
            transform_ticket: lanes.map(|l| l.wait_ticket),
            transform_twiddle: lanes.map(|l| l.wait_twiddle),
            read_beats: self.reader.beats,
            write_beats: self.writer.beats,
            instructions: self.counters.instructions + 1,
            ..self.counters
        }
    }
}
