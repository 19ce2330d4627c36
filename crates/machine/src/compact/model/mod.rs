//! The cycle model: fetch, dispatch, tickets, units, queues and memory, one cycle after the other, without data.
//!
//! It follows the rules that the blocks of `rtl/` state for themselves: `rtl/core/README.md`, "Cycle by cycle", for what
//! is here, `rtl/ntt` for [`lane`], `rtl/memory` and `rtl/sim` for [`ringmill_cycles::axi`]. Everything is decided from the
//! registers of a cycle; then they change.

mod lane;
mod rules;

use std::collections::VecDeque;

use ringmill_cycles::axi::{Bus, Inputs, Outputs, Request, Settings, Shape};

use super::core::Counters;
use super::isa::{Bank, Instruction, Op};
use super::{CompactConfig, CompactError};
use lane::{Command, Lane, Left};
use rules::Parameters;

pub use rules::Steps;
pub(crate) use rules::latency;

/// When an instruction held its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// First cycle at work.
    pub start: u64,
    /// The cycle after its last row was issued, or its last result written.
    pub end: u64,
}

/// The roots that stand in the tables of both transform units. They stay from program to program, until the table of
/// moduli is written or N is another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Roots([Left; 2]);

impl Roots {
    /// What a program leaves behind, after nothing or after itself.
    pub fn left_by(program: &[Instruction]) -> Self {
        let mut left = Self::default();
        for i in program.iter().filter(|i| i.op.is_in_lane()) {
            for lane in i.a.into_iter().flat_map(Bank::parts).filter_map(Bank::lane) {
                left.0[lane].command(i.modulus, i.op == Op::Roots);
            }
        }
        left
    }
}

/// What a program takes.
#[derive(Debug, Clone)]
pub struct Timing {
    /// The counters.
    pub counters: Counters,
    /// When each instruction held its unit; END and ROOTS have none.
    pub spans: Vec<Span>,
}

/// Instructions that the arithmetic unit's queue, and the queue of reads, hold besides their heads.
const QUEUE: usize = 8;
/// Stores whose request waits for the write stream.
const STORES: usize = 2;
/// The cycle of the memory's clock in which the start pulse stands, `rtl/sim/README.md`.
const START: u64 = 2;
/// Cycles without progress after which the model gives up: beyond any transform and any wait for memory.
const PATIENCE: u64 = 1 << 24;

/// A queue whose oldest entry stands in a register, the head: `rm_unit_queue`.
#[derive(Debug, Clone)]
struct Queue<T> {
    waiting: VecDeque<T>,
    head: Option<T>,
}

impl<T> Queue<T> {
    const fn new() -> Self {
        Self { waiting: VecDeque::new(), head: None }
    }

    fn has_room(&self) -> bool {
        self.waiting.len() < QUEUE
    }

    fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.head.is_none()
    }

    /// At the end of a cycle, before what comes in it: an empty or taken head is filled.
    fn advance(&mut self) {
        if self.head.is_none() {
            self.head = self.waiting.pop_front();
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Waiting {
    index: usize,
    /// Of each bank that it uses the ticket, and whether it is read permuted.
    tickets: [Option<(u64, bool)>; Bank::COUNT],
}

#[derive(Debug, Clone, Copy)]
struct Work {
    index: usize,
    row: u64,
}

/// Runs the instructions of a program, which lie at a multiple of 512 bytes, through the model; the memory is steady and
/// no roots are there.
///
/// # Errors
/// [`CompactError::Watchdog`] if the program never ends.
pub fn simulate(config: &CompactConfig, log_n: u32, program: &[Instruction]) -> Result<Timing, CompactError> {
    simulate_on(config, log_n, program, steady(config), Roots::default())
}

/// The second run of the program: the roots that its first run left are present.
///
/// # Errors
/// [`CompactError::Watchdog`] if the program never ends.
pub fn simulate_again(
    config: &CompactConfig,
    log_n: u32,
    program: &[Instruction],
) -> Result<Timing, CompactError> {
    simulate_on(config, log_n, program, steady(config), Roots::left_by(program))
}

fn steady(config: &CompactConfig) -> Settings {
    let timing = config.timing();
    Settings::steady(timing.latency.into(), timing.beat_cycles.into())
}

/// The same with a memory of any timing, and any roots.
///
/// # Errors
/// [`CompactError::Watchdog`] if the program never ends.
pub fn simulate_on(
    config: &CompactConfig,
    log_n: u32,
    program: &[Instruction],
    memory: Settings,
    roots: Roots,
) -> Result<Timing, CompactError> {
    let p = Parameters::new(config, log_n);
    let mut model = Model::new(p, program, memory, roots);
    let mut t = 0;
    while !model.step(t) {
        t += 1;
        if t - model.progress > PATIENCE {
            return Err(CompactError::Watchdog { cycles: t });
        }
    }
    model.counters.cycles = t + 1;
    Ok(Timing { counters: model.counters(), spans: model.spans })
}

struct Model<'p> {
    p: Parameters,
    program: &'p [Instruction],
    bus: Bus,
    /// Instructions taken from the stream.
    fetched: usize,
    /// The one in the decode register, and whether it was found ready in the cycle before.
    decoded: Option<usize>,
    ready: bool,
    drain: bool,
    taken: [u64; Bank::COUNT],
    passed: [u64; Bank::COUNT],
    finished: [u64; Bank::COUNT],
    arithmetic: Queue<Waiting>,
    /// Whether the head's tickets were due in the cycle before, and there was space for its store.
    due: bool,
    go: bool,
    work: Option<Work>,
    /// Written banks by the cycle from which they count as finished.
    releases: VecDeque<(u64, usize)>,
    /// Rows of results by the cycle from which they stand at the end of the pipeline; true: for memory.
    flying: VecDeque<(u64, bool)>,
    /// Rows in the write queue, and rows that may still be promised to it.
    rows: u64,
    room: u64,
    reads: Queue<(u32, u16)>,
    writes: VecDeque<u32>,
    /// Stores dispatched and stores done.
    sent: u64,
    stored: u64,
    lanes: [Lane; 2],
    spans: Vec<Span>,
    counters: Counters,
    progress: u64,
}

impl<'p> Model<'p> {
    /// In the first cycle after the start pulse.
    fn new(p: Parameters, program: &'p [Instruction], memory: Settings, roots: Roots) -> Self {
        let mut bus = Bus::new(Shape::new(p.row_words, p.bus_bits.into(), p.read_rows), memory);
        for t in 0..=START {
            bus.step(&Inputs {
                fetch_start: (t == START).then_some(0),
                fetch_stop: t != START,
                ..Inputs::default()
            });
        }
        Self {
            p,
            program,
            bus,
            fetched: 0,
            decoded: None,
            ready: false,
            drain: false,
            taken: [0; Bank::COUNT],
            passed: [0; Bank::COUNT],
            finished: [0; Bank::COUNT],
            arithmetic: Queue::new(),
            due: false,
            go: false,
            work: None,
            releases: VecDeque::new(),
            flying: VecDeque::new(),
            rows: 0,
            room: if p.depth() > 28 { 64 } else { 32 },
            reads: Queue::new(),
            writes: VecDeque::new(),
            sent: 0,
            stored: 0,
            lanes: roots.0.map(|left| Lane::new(&p, left)),
            spans: vec![Span::default(); program.len()],
            counters: Counters::default(),
            progress: 0,
        }
    }

    fn is_end(&self, index: usize) -> bool {
        self.program.get(index).is_none_or(|i| i.op == Op::End)
    }

    /// One cycle; whether it is the last one in which the core is busy.
    fn step(&mut self, t: u64) -> bool {
        self.settle(t);
        let o = self.bus.outputs();
        let idle = self.drain && self.idle(&o);

        // Decisions, all from what stands in registers.
        let fire = self.ready && !self.drain;
        self.ready = !fire && self.is_ready(t);
        let ready = !self.drain && (self.decoded.is_none() || fire);
        let issue = self.issues(&o);
        let take = self.takes(issue);
        let (due, go) = self.is_due();
        (self.due, self.go) = (due && !take, go && !take);
        let request =
            self.reads.head.filter(|&(_, after)| (self.stored as u16).wrapping_sub(after) < 1 << 15);
        let rows = self.p.rows as u32;
        let inputs = Inputs {
            fetch_start: None,
            fetch_stop: self.drain,
            instruction_ready: ready,
            instruction_is_end: self.is_end(self.fetched),
            read: request.map(|(unit, _)| Request { unit, rows }),
            read_row_ready: issue && self.work.is_some_and(|w| self.program[w.index].s.is_some()),
            write: self.writes.front().map(|&unit| Request { unit, rows }),
            write_row_valid: self.rows > 0,
        };

        // Registers.
        self.transforms(t);
        if inputs.read.is_some() && o.read_ready {
            self.reads.head = None;
        }
        if inputs.write.is_some() && o.write_ready {
            self.writes.pop_front();
        }
        if inputs.write_row_valid && o.write_row_ready {
            self.rows -= 1;
            self.room += 1;
        }
        if issue {
            self.issue(t);
        }
        if take {
            self.take();
        }
        self.arithmetic.advance();
        self.reads.advance();
        self.decode(t, fire, o.instruction_valid && ready);
        self.stored += u64::from(o.write_done);
        self.counters.read_beats += u64::from(o.read_beat);
        self.counters.write_beats += u64::from(o.write_beat);
        self.bus.step(&inputs);
        idle
    }

    /// What earlier cycles have sent on its way arrives.
    fn settle(&mut self, t: u64) {
        while let Some((_, bank)) = self.releases.pop_front_if(|&mut (from, _)| from <= t) {
            self.finished[bank] += 1;
        }
        while let Some((_, to_memory)) = self.flying.pop_front_if(|&mut (from, _)| from <= t) {
            self.rows += u64::from(to_memory);
        }
        for lane in 0..2 {
            if let Some(bank) = self.lanes[lane].passed(t) {
                self.passed[bank] += 1;
            }
            if let Some(command) = self.lanes[lane].finished(t) {
                self.finished[command.bank] += 1;
                self.spans[command.index].end = t;
                self.progress = t;
            }
        }
    }

    fn transforms(&mut self, t: u64) {
        let finished = self.finished;
        let due = |bank: usize, ticket| finished[bank] == ticket;
        let ready = self.lanes.each_mut().map(|lane| lane.ready_to_start(t, due));
        // A ganged transform starts on both lanes or not at all.
        let together = ready.iter().all(|r| r.is_some_and(|c| c.gang));
        for (lane, command) in self.lanes.iter_mut().zip(ready) {
            if let Some(command) = command.filter(|c| together || !c.gang) {
                lane.start(t);
                self.spans[command.index].start = t;
            }
        }
    }

    /// Whether the decoded instruction may be dispatched from the next cycle on.
    fn is_ready(&self, t: u64) -> bool {
        let Some(index) = self.decoded.filter(|&index| !self.drain && !self.is_end(index)) else {
            return false;
        };
        let i = &self.program[index];
        if i.op.is_in_lane() {
            i.a.into_iter().flat_map(Bank::parts).filter_map(Bank::lane).all(|lane| self.lanes[lane].ready(t))
        } else {
            self.arithmetic.has_room() && (i.s.is_none() || self.reads.has_room())
        }
    }

    /// Whether the instruction at work issues a row.
    fn issues(&mut self, o: &Outputs) -> bool {
        let Some(work) = self.work else { return false };
        let i = &self.program[work.index];
        if i.s.is_some() && !o.read_row_valid {
            self.counters.arithmetic_read += 1;
            return false;
        }
        if i.store.is_some() && self.room == 0 {
            self.counters.arithmetic_write += 1;
            return false;
        }
        true
    }

    /// Whether the head of the queue is taken.
    fn takes(&mut self, issue: bool) -> bool {
        if self.arithmetic.head.is_none() {
            return false;
        }
        let last = self.work.is_some_and(|w| issue && w.row + 1 == self.p.rows);
        if self.work.is_some() && !last {
            return false;
        }
        self.counters.arithmetic_ticket += u64::from(!issue && !self.due);
        self.counters.arithmetic_write += u64::from(!issue && self.due && !self.go);
        self.go
    }

    /// Whether the tickets of the head are due, and there is space for its store too.
    fn is_due(&self) -> (bool, bool) {
        let Some(head) = &self.arithmetic.head else { return (false, false) };
        let chain = self.p.chains();
        let due = head.tickets.iter().enumerate().all(|(bank, ticket)| {
            ticket.is_none_or(|(ticket, permuted)| {
                ticket == if chain && !permuted { self.passed[bank] } else { self.finished[bank] }
            })
        });
        let room = self.program[head.index].store.is_none() || self.writes.len() < STORES;
        (due, due && room)
    }

    fn issue(&mut self, t: u64) {
        let Some(mut work) = self.work else { return };
        let i = &self.program[work.index];
        if work.row == 0 {
            self.spans[work.index].start = t;
        }
        self.counters.arithmetic_busy += 1;
        self.progress = t;
        self.room -= u64::from(i.store.is_some());
        self.flying.push_back((t + self.p.depth(), i.store.is_some()));
        work.row += 1;
        self.work = (work.row < self.p.rows).then_some(work);
        if self.work.is_none() {
            self.spans[work.index].end = t + 1;
            for bank in i.banks() {
                self.passed[bank.index()] += 1;
                let from = t + if i.d.is_some_and(|d| d.overlaps(bank)) { self.p.depth() } else { 1 };
                let at = self.releases.partition_point(|&(other, _)| other <= from);
                self.releases.insert(at, (from, bank.index()));
            }
        }
    }

    fn take(&mut self) {
        let Some(head) = self.arithmetic.head.take() else { return };
        self.work = Some(Work { index: head.index, row: 0 });
        self.writes.extend(self.program[head.index].store);
    }

    /// The decode register: its instruction goes to its queue, another one comes.
    fn decode(&mut self, t: u64, fire: bool, accept: bool) {
        if let Some(index) = self.decoded {
            self.drain |= self.is_end(index);
            if fire {
                self.dispatch(t, index);
                self.decoded = None;
            }
        }
        if accept {
            self.decoded = Some(self.fetched);
            self.fetched += 1;
        }
    }

    fn dispatch(&mut self, t: u64, index: usize) {
        let i = &self.program[index];
        let mut tickets = [None; Bank::COUNT];
        for bank in i.banks() {
            let b = bank.index();
            tickets[b] = Some((self.taken[b], i.permute.is_some() && i.a.is_some_and(|a| a.overlaps(bank))));
            self.taken[b] += 1;
        }
        if i.op.is_in_lane() {
            let (modulus, roots, gang) = (i.modulus, i.op == Op::Roots, i.is_ganged());
            for bank in i.a.into_iter().flat_map(Bank::parts) {
                let (ticket, _) = tickets[bank.index()].unwrap_or_default();
                let command =
                    Command { index, bank: bank.index(), ticket, modulus, roots, gang, from: t + 2 };
                self.lanes[bank.lane().unwrap_or(0)].push(command);
            }
        } else {
            self.arithmetic.waiting.push_back(Waiting { index, tickets });
            self.reads.waiting.extend(i.s.map(|s| (s.address, s.after)));
            self.sent += u64::from(i.store.is_some());
        }
        self.counters.instructions += 1;
        self.progress = t;
    }

    fn idle(&self, o: &Outputs) -> bool {
        self.arithmetic.is_empty()
            && self.work.is_none()
            && self.reads.is_empty()
            && self.writes.is_empty()
            && self.releases.is_empty()
            && self.flying.is_empty()
            && self.lanes.iter().all(Lane::idle)
            && o.fetch_idle
            && o.read_idle
            && o.write_idle
            && self.stored == self.sent
    }

    fn counters(&self) -> Counters {
        let lanes = self.lanes.each_ref();
        Counters {
            transform_busy: lanes.map(|l| l.busy),
            transform_ticket: lanes.map(|l| l.wait_ticket),
            transform_twiddle: lanes.map(|l| l.wait_twiddle),
            ..self.counters
        }
    }
}
