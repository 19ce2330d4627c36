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
}

/// Runs the instructions of a program through the model.
///
/// # Errors
/// [`CompactError::Watchdog`] if the program never ends.
pub fn simulate(config: &CompactConfig, log_n: u32, program: &[Instruction]) -> Result<Timing, CompactError> {
    let p = Parameters::new(config, log_n);
    let mut model = Model::new(p, program);
    let mut t = 1;
    while !model.step(t) {
        t += 1;
        if t - model.progress > PATIENCE {
            return Err(CompactError::Watchdog { cycles: t });
        }
    }
    model.counters.cycles = t;
    Ok(Timing { counters: model.counters(), spans: model.spans })
}

/// What the dispatcher is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Run,
    /// END was seen: waits until nothing is under way.
    Drain,
}

struct Model<'p> {
    p: Parameters,
    program: &'p [Instruction],
    state: State,
    /// The instruction in the decode register, and how many have been accepted.
    decoded: Option<usize>,
    accepted: usize,
    taken: [u64; Bank::COUNT],
    passed: [u64; Bank::COUNT],
    finished: [u64; Bank::COUNT],
    arithmetic: VecDeque<Waiting>,
    work: Option<Work>,
    /// Banks passed in this cycle: they count from the next on.
    passes: Vec<usize>,
    /// Releases of banks by the cycle from which they count.
    releases: VecDeque<(u64, usize)>,
    /// The cycle from which the arithmetic pipeline is empty.
    drained: u64,
    reads: VecDeque<(u64, u64)>,
    stores: u64,
    reader: Reader,
    writer: Writer,
    lanes: [Lane; 2],
    spans: Vec<Span>,
    counters: Counters,
    progress: u64,
}

/// Which queues can take an instruction in a cycle.
#[derive(Debug, Clone, Copy)]
struct Room {
    arithmetic: bool,
    lanes: [bool; 2],
}

/// What happened in a cycle, for the memory system.
#[derive(Debug, Clone, Copy, Default)]
struct Events {
    issued: bool,
    row: bool,
    stored: bool,
    ask_read: bool,
    ask_write: bool,
    accepted: bool,
    end: bool,
}

impl<'p> Model<'p> {
    fn new(p: Parameters, program: &'p [Instruction]) -> Self {
        let mut reader = Reader::new(&p);
        reader.start();
        Self {
            p,
            program,
            state: State::Run,
            decoded: None,
            accepted: 0,
            taken: [0; Bank::COUNT],
            passed: [0; Bank::COUNT],
            finished: [0; Bank::COUNT],
            arithmetic: VecDeque::new(),
            work: None,
            passes: Vec::new(),
            releases: VecDeque::new(),
            drained: 0,
            reads: VecDeque::new(),
            stores: 0,
            reader,
            writer: Writer::new(&p),
            lanes: [Lane::new(&p), Lane::new(&p)],
            spans: vec![Span::default(); program.len()],
            counters: Counters::default(),
            progress: 0,
        }
    }

    /// Cycle t, the first one busy being 1; whether it is the last.
    fn step(&mut self, t: u64) -> bool {
        for bank in self.passes.drain(..) {
            self.passed[bank] += 1;
        }
        while self.releases.front().is_some_and(|&(from, _)| from <= t) {
            if let Some((_, bank)) = self.releases.pop_front() {
                self.finished[bank] += 1;
            }
        }
        let idle = self.state == State::Drain && self.idle(t);
        // A queue that is full now is full for this cycle's dispatch, even if an entry leaves.
        let room =
            Room { arithmetic: self.arithmetic.len() < QUEUE, lanes: self.lanes.each_ref().map(Lane::ready) };
        let mut events = Events::default();
        self.transforms(t);
        self.issue(t, &mut events);
        self.take(t, &mut events);
        self.dispatch(t, room, &mut events);
        let due = |&(after, from): &(u64, u64)| from <= t && self.writer.done >= after;
        events.ask_read = self.reads.front().is_some_and(due) && self.reader.ready();
        if events.ask_read {
            self.reads.pop_front();
        }
        self.reader.step(t, events.ask_read, events.row, events.accepted, events.end);
        self.writer.step(t, events.stored, events.ask_write);
        idle
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
    fn issue(&mut self, t: u64, events: &mut Events) {
        let Some(mut work) = self.work else { return };
        let i = &self.program[work.index];
        if i.s.is_some() && !self.reader.has_row() {
            self.counters.arithmetic_read += 1;
            return;
        }
        if i.store.is_some() && !self.writer.has_room() {
            self.counters.arithmetic_write += 1;
            return;
        }
        events.issued = true;
        events.row = i.s.is_some();
        events.stored = i.store.is_some();
        if work.row == 0 {
            self.spans[work.index].start = t;
        }
        self.counters.arithmetic_busy += 1;
        (self.progress, self.drained) = (t, t + self.p.depth());
        work.row += 1;
        self.work = Some(work).filter(|w| w.row < self.p.rows);
        if self.work.is_none() {
            self.spans[work.index].end = t + 1;
            for bank in i.banks() {
                self.passes.push(bank.index());
                let from = t + if i.d == Some(bank) { self.p.depth() } else { 1 };
                let at = self.releases.partition_point(|&(other, _)| other <= from);
                self.releases.insert(at, (from, bank.index()));
            }
        }
    }

    /// Takes the next instruction of the queue: its first row can be issued in the next cycle.
    fn take(&mut self, t: u64, events: &mut Events) {
        let (Some(head), None) = (self.arithmetic.front().copied(), self.work) else { return };
        if head.from > t {
            return;
        }
        let chain = self.p.rows >= self.p.depth();
        let due = head.tickets.iter().flatten().all(|&(bank, ticket, permuted)| {
            let count = if chain && !permuted { self.passed[bank] } else { self.finished[bank] };
            count == ticket
        });
        let stores = self.program[head.index].store.is_some();
        if !due {
            self.counters.arithmetic_ticket += u64::from(!events.issued);
        } else if stores && !self.writer.ready() {
            self.counters.arithmetic_write += u64::from(!events.issued);
        } else {
            events.ask_write = stores;
            self.arithmetic.pop_front();
            self.work = Some(Work { index: head.index, row: 0 });
        }
    }

    fn dispatch(&mut self, t: u64, room: Room, events: &mut Events) {
        if self.state != State::Run {
            return;
        }
        let mut fired = false;
        if let Some(index) = self.decoded {
            let i = &self.program[index];
            if i.op == Op::End {
                self.state = State::Drain;
            } else if self.has_queue(i, room) {
                self.enqueue(index, t);
                fired = true;
            }
        }
        if (self.decoded.is_none() || fired)
            && self.reader.has_instruction()
            && self.accepted < self.program.len()
        {
            self.decoded = Some(self.accepted);
            events.accepted = true;
            events.end = self.program[self.accepted].op == Op::End;
            self.accepted += 1;
        } else if fired {
            self.decoded = None;
        }
    }

    fn has_queue(&self, i: &Instruction, room: Room) -> bool {
        if i.op.is_transform() {
            return i.a.and_then(Bank::lane).is_some_and(|lane| room.lanes[lane]);
        }
        room.arithmetic && (i.s.is_none() || self.reads.len() < QUEUE)
    }

    fn enqueue(&mut self, index: usize, t: u64) {
        let i = &self.program[index];
        let mut tickets = [None; 3];
        for (slot, bank) in tickets.iter_mut().zip(i.banks()) {
            let b = bank.index();
            *slot = Some((b, self.taken[b], i.permute.is_some() && i.a == Some(bank)));
            self.taken[b] += 1;
        }
        self.counters.instructions += 1;
        if let (Some(lane), true, Some((bank, ticket, _))) =
            (i.a.and_then(Bank::lane), i.op.is_transform(), tickets[0])
        {
            self.lanes[lane].push(Command { index, bank, ticket, modulus: i.modulus, from: t + 1 });
            return;
        }
        self.arithmetic.push_back(Waiting { index, tickets, from: t + 1 });
        if let Some(s) = i.s {
            let behind = (self.stores as u16).wrapping_sub(s.after) as i16;
            self.reads.push_back((self.stores.saturating_add_signed(-i64::from(behind)), t + 1));
        }
        self.stores += u64::from(i.store.is_some());
    }

    fn idle(&self, t: u64) -> bool {
        self.arithmetic.is_empty()
            && self.work.is_none()
            && t >= self.drained
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
            ..self.counters
        }
    }
}
