//! The memory system in cycles: two read streams, the write stream, the bus and the memory behind it. Register by
//! register as `rtl/memory/README.md` and `rtl/sim/README.md` state it, without stalls.
//!
//! Everything is first looked at as it stands at the start of a cycle, then stepped once.

use std::collections::VecDeque;

use super::Parameters;

/// Bursts of the streams end at multiples of so many bytes, those of the instructions at multiples of half of it.
const BURST_BYTES: u64 = 1024;
/// Bytes of an instruction.
const INSTRUCTION: u64 = super::super::isa::INSTRUCTION_BYTES;
/// Requests in front of each DMA.
const REQUESTS: usize = 4;
/// Bursts that a direction of the memory holds.
const HELD: usize = 32;
/// Bursts under way in a stream.
const BURSTS: usize = 16;

/// Requests cut into bursts.
#[derive(Debug, Clone, Copy)]
struct Splitter {
    /// Beats of the request that are not cut yet.
    left: u64,
    burst: u64,
}

impl Splitter {
    /// Requests begin at multiples of a burst: limbs do, and programs.
    const fn shown(&self) -> Option<u64> {
        match self.left {
            0 => None,
            left if left < self.burst => Some(left),
            _ => Some(self.burst),
        }
    }
}

/// A read DMA with its FIFO.
#[derive(Debug, Clone)]
struct ReadDma {
    splitter: Splitter,
    credit: u64,
    credits: u64,
    under_way: usize,
    most: usize,
    /// Beats that make an entry, and entries that make rows.
    beats: u64,
    rows: u64,
    beat: u64,
    row: u64,
    stored: u64,
    shown: bool,
}

impl ReadDma {
    fn new(beat_bytes: u64, row_bytes: u64, depth: u64, burst_bytes: u64, most: usize) -> Self {
        let entry = beat_bytes.max(row_bytes);
        let (beats, rows) = (entry / beat_bytes, entry / row_bytes);
        let credits = depth / rows * beats;
        let splitter = Splitter { left: 0, burst: burst_bytes / beat_bytes };
        let shown = false;
        Self {
            splitter,
            credit: credits,
            credits,
            under_way: 0,
            most,
            beats,
            rows,
            beat: 0,
            row: 0,
            stored: 0,
            shown,
        }
    }

    fn burst(&self) -> Option<u64> {
        self.splitter.shown().filter(|&n| self.under_way < self.most && self.credit >= n)
    }

    /// One cycle: a request taken, whether the burst shown goes, whether a beat came (and was a burst's last), whether
    /// a row is taken.
    fn step(&mut self, request: Option<u64>, go: bool, beat: Option<bool>, take: bool) {
        let burst = self.splitter.shown().filter(|_| go).unwrap_or(0);
        self.splitter.left = self.splitter.left - burst + request.unwrap_or(0);
        self.credit -= burst;
        self.under_way += usize::from(go);
        let mut pushed = false;
        if let Some(last) = beat {
            self.under_way -= usize::from(last);
            self.beat = (self.beat + 1) % self.beats;
            pushed = self.beat == 0;
        }
        let mut popped = false;
        if take {
            self.row = (self.row + 1) % self.rows;
            popped = self.row == 0;
        }
        self.credit += if popped { self.beats } else { 0 };
        let read = self.stored > 0 && (!self.shown || popped);
        self.shown = read || (self.shown && !popped);
        self.stored = self.stored + u64::from(pushed) - u64::from(read);
    }

    fn idle(&self) -> bool {
        self.splitter.left == 0 && self.under_way == 0 && self.credit == self.credits
    }
}

/// A rate of beats: a budget that grows by one a cycle up to the cost of a beat.
#[derive(Debug, Clone, Copy)]
struct Budget {
    saved: u64,
    cost: u64,
}

impl Budget {
    fn refill(&mut self) -> bool {
        self.saved = (self.saved + 1).min(self.cost);
        self.saved >= self.cost
    }
}

/// A read burst in the memory.
#[derive(Debug, Clone, Copy)]
struct Burst {
    due: u64,
    left: u64,
    fetch: bool,
}

/// Instructions and the read stream, over one read channel.
#[derive(Debug, Clone)]
pub(super) struct Reader {
    fetch: ReadDma,
    /// Whether instructions are asked for.
    fetching: bool,
    chunk: u64,
    /// Beats still to be thrown away after the end.
    stopped: bool,
    stream: ReadDma,
    requests: usize,
    limb: u64,
    /// The burst in the address register.
    address: Option<(u64, bool)>,
    memory: VecDeque<Burst>,
    budget: Budget,
    latency: u64,
    pub(super) beats: u64,
}

impl Reader {
    pub(super) fn new(p: &Parameters) -> Self {
        let beat = u64::from(p.bus_bits) / 8;
        let row = 8 * p.row_words;
        let depth = (BURST_BYTES / (2 * p.row_words)).max(64);
        Self {
            fetch: ReadDma::new(beat, INSTRUCTION, 32, BURST_BYTES / 2, 4),
            fetching: false,
            chunk: BURST_BYTES / 2 / beat,
            stopped: false,
            stream: ReadDma::new(beat, row, depth, BURST_BYTES, BURSTS),
            requests: 0,
            limb: p.rows * row / beat,
            address: None,
            memory: VecDeque::new(),
            budget: Budget { saved: 0, cost: p.beat_cycles },
            latency: p.latency,
            beats: 0,
        }
    }

    /// Whether a request can be taken.
    pub(super) const fn ready(&self) -> bool {
        self.requests < REQUESTS
    }

    pub(super) const fn has_row(&self) -> bool {
        self.stream.shown
    }

    pub(super) const fn has_instruction(&self) -> bool {
        self.fetch.shown && !self.stopped
    }

    /// Fetching begins in the next cycle.
    pub(super) fn start(&mut self) {
        self.fetching = true;
    }

    /// One cycle, with what was taken and asked for in it, and whether END was taken.
    pub(super) fn step(&mut self, t: u64, ask: bool, row: bool, instruction: bool, end: bool) {
        let open = self.address.is_none() || self.memory.len() < HELD;
        let fetch_burst = self.fetch.burst();
        let fetch_go = open && fetch_burst.is_some();
        let stream_burst = self.stream.burst();
        let stream_go = open && !fetch_go && stream_burst.is_some();
        let beat = self.beat(t);
        let fetched = beat.filter(|&(fetch, _)| fetch).map(|(_, last)| last);
        let streamed = beat.filter(|&(fetch, _)| !fetch).map(|(_, last)| last);
        if self.memory.len() < HELD
            && let Some((left, fetch)) = self.address
        {
            self.memory.push_back(Burst { due: t + self.latency, left, fetch });
        }
        if open {
            let fetch = fetch_burst.filter(|_| fetch_go).map(|n| (n, true));
            self.address = fetch.or_else(|| stream_burst.filter(|_| stream_go).map(|n| (n, false)));
        }
        self.step_fetch(fetch_go, fetched, instruction, end);
        let taken = self.requests > 0 && self.stream.splitter.left == 0;
        self.stream.step(taken.then_some(self.limb), stream_go, streamed, row);
        self.requests = self.requests + usize::from(ask) - usize::from(taken);
    }

    /// The beat of this cycle: of which stream, and whether it ends its burst.
    fn beat(&mut self, t: u64) -> Option<(bool, bool)> {
        let full = self.budget.refill();
        let burst = self.memory.front_mut().filter(|b| full && b.due <= t)?;
        self.budget.saved = 0;
        self.beats += 1;
        burst.left -= 1;
        let beat = (burst.fetch, burst.left == 0);
        if burst.left == 0 {
            self.memory.pop_front();
        }
        Some(beat)
    }

    fn step_fetch(&mut self, go: bool, beat: Option<bool>, instruction: bool, end: bool) {
        if self.stopped {
            // What is still due is thrown away; nothing more is asked for.
            self.fetch.under_way -= usize::from(beat == Some(true));
            return;
        }
        let request = (self.fetching && self.fetch.splitter.left == 0).then_some(self.chunk);
        self.fetch.step(request, go, beat, instruction);
        if end {
            (self.stopped, self.fetching) = (true, false);
            (self.fetch.splitter.left, self.fetch.credit) = (0, self.fetch.credits);
        }
    }

    pub(super) fn idle(&self) -> bool {
        self.stream.idle() && self.requests == 0 && self.fetch.idle()
    }
}

/// The write stream: the core's queue of rows, the DMA, and the memory's write side.
#[derive(Debug, Clone)]
pub(super) struct Writer {
    /// Rows issued, by the cycle from which they stand in the queue.
    flying: VecDeque<u64>,
    queue: u64,
    room: u64,
    stage: u64,
    /// Requests in the core's queue, in front of the DMA, and in it.
    asked: usize,
    requests: usize,
    splitter: Splitter,
    limb: u64,
    address: Option<u64>,
    /// Beats left of the bursts whose lengths the DMA holds.
    lengths: VecDeque<u64>,
    /// Whether each burst without response is the last of its request.
    pending: VecDeque<bool>,
    full: bool,
    gathered: u64,
    cut: u64,
    entry_rows: u64,
    entry_beats: u64,
    memory: VecDeque<u64>,
    responses: VecDeque<u64>,
    budget: Budget,
    latency: u64,
    told: bool,
    /// Stores that the core has counted.
    pub(super) done: u64,
    pub(super) beats: u64,
}

impl Writer {
    pub(super) fn new(p: &Parameters) -> Self {
        let beat = u64::from(p.bus_bits) / 8;
        let row = 8 * p.row_words;
        let entry = beat.max(row);
        Self {
            flying: VecDeque::new(),
            queue: 0,
            room: if p.depth() + 4 > 32 { 64 } else { 32 },
            stage: p.depth(),
            asked: 0,
            requests: 0,
            splitter: Splitter { left: 0, burst: BURST_BYTES / beat },
            limb: p.rows * row / beat,
            address: None,
            lengths: VecDeque::new(),
            pending: VecDeque::new(),
            full: false,
            gathered: 0,
            cut: 0,
            entry_rows: entry / row,
            entry_beats: entry / beat,
            memory: VecDeque::new(),
            responses: VecDeque::new(),
            budget: Budget { saved: 0, cost: p.beat_cycles },
            latency: p.latency,
            told: false,
            done: 0,
            beats: 0,
        }
    }

    /// Whether a row may be issued to memory.
    pub(super) const fn has_room(&self) -> bool {
        self.room > 0
    }

    /// Whether a store can be asked for.
    pub(super) const fn ready(&self) -> bool {
        self.asked < 2
    }

    /// One cycle: a row issued to memory, a store asked for.
    pub(super) fn step(&mut self, t: u64, issued: bool, ask: bool) {
        self.done += u64::from(self.told);
        let held = self.memory.len() + self.responses.len() < HELD;
        let open = self.address.is_none() || held;
        let burst = self
            .splitter
            .shown()
            .filter(|_| open && self.pending.len() < BURSTS && self.lengths.len() < BURSTS);
        let last = burst == Some(self.splitter.left);
        let budget = self.budget.refill();
        let beat = self.full && !self.lengths.is_empty() && !self.memory.is_empty() && budget;
        let response = self.responses.front().is_some_and(|&due| due <= t);
        self.told = response && self.pending.pop_front() == Some(true);
        if response {
            self.responses.pop_front();
        }
        self.step_rows(beat, issued, t);
        if beat {
            self.step_beat(t);
        }
        if held && let Some(left) = self.address.take() {
            self.memory.push_back(left);
        }
        if open {
            self.address = burst;
        }
        if let Some(n) = burst {
            self.splitter.left -= n;
            self.lengths.push_back(n);
            self.pending.push_back(last);
        }
        self.step_requests(ask, burst);
    }

    fn step_requests(&mut self, ask: bool, burst: Option<u64>) {
        let taken = self.requests > 0 && self.splitter.left + burst.unwrap_or(0) == 0;
        let moved = self.asked > 0 && self.requests < REQUESTS;
        self.splitter.left += if taken { self.limb } else { 0 };
        self.requests = self.requests + usize::from(moved) - usize::from(taken);
        self.asked = self.asked + usize::from(ask) - usize::from(moved);
    }

    fn step_rows(&mut self, beat: bool, issued: bool, t: u64) {
        let emptied = beat && self.cut + 1 == self.entry_beats;
        let shown = self.queue > 0 || self.flying.front().is_some_and(|&at| at <= t);
        if self.flying.front().is_some_and(|&at| at <= t) {
            self.flying.pop_front();
            self.queue += 1;
        }
        if shown && (!self.full || emptied) {
            self.queue -= 1;
            self.room += 1;
            self.gathered = (self.gathered + 1) % self.entry_rows;
            self.full = self.gathered == 0;
        } else if emptied {
            self.full = false;
        }
        if issued {
            self.room -= 1;
            self.flying.push_back(t + self.stage);
        }
    }

    fn step_beat(&mut self, t: u64) {
        self.budget.saved = 0;
        self.beats += 1;
        self.cut = (self.cut + 1) % self.entry_beats;
        for (beats, memory) in [(&mut self.lengths, false), (&mut self.memory, true)] {
            let Some(left) = beats.front_mut() else { continue };
            *left -= 1;
            if *left == 0 {
                beats.pop_front();
                if memory {
                    self.responses.push_back(t + self.latency);
                }
            }
        }
    }

    pub(super) fn idle(&self, stores: u64) -> bool {
        let dma = self.splitter.left == 0 && self.pending.is_empty() && self.address.is_none();
        dma && self.asked == 0 && self.requests == 0 && self.done == stores
    }
}
