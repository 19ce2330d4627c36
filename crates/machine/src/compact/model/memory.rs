//! The memory system in cycles: bursts, credit, rows. Rules: `rtl/memory/README.md`, `rtl/sim/README.md`.

use std::collections::VecDeque;

use super::Parameters;

/// Bursts end at multiples of so many bytes.
const BURST_BYTES: u64 = 1024;
/// Bursts under way in each direction.
const BURSTS: usize = 16;
/// Requests that a DMA holds.
const REQUESTS: usize = 4;
/// Cycles from a request to its first address on the bus, less the one in which its burst is granted.
const REQUEST: u64 = 2;

/// A rate of beats, as the memory keeps it.
#[derive(Debug, Clone, Copy)]
struct Budget {
    cycles: u64,
    next: u64,
}

impl Budget {
    fn take(&mut self, t: u64) -> bool {
        let open = t >= self.next;
        if open {
            self.next = t + self.cycles;
        }
        open
    }
}

/// The read stream.
#[derive(Debug, Clone)]
pub(super) struct Reader {
    /// Beats of requests that are not yet bursts, with the cycle from which they may be.
    requests: VecDeque<(u64, u64)>,
    burst_beats: u64,
    /// Beats of bursts under way, with the cycle of their first.
    bursts: VecDeque<(u64, u64)>,
    credit: u64,
    entry_beats: u64,
    entry_rows: u64,
    partial: u64,
    /// Entries that arrived, with the cycle in which they can be taken.
    entries: VecDeque<u64>,
    /// Rows left of the first entry.
    rows: u64,
    latency: u64,
    budget: Budget,
    pub(super) beats: u64,
}

impl Reader {
    pub(super) fn new(p: &Parameters) -> Self {
        let beat = u64::from(p.bus_bits) / 8;
        let row = 8 * p.row_words;
        let entry = beat.max(row);
        let depth_rows = (BURST_BYTES / (2 * p.row_words)).max(64);
        Self {
            requests: VecDeque::new(),
            burst_beats: (BURST_BYTES / beat).max(2),
            bursts: VecDeque::new(),
            credit: depth_rows * row / beat,
            entry_beats: entry / beat,
            entry_rows: entry / row,
            partial: 0,
            entries: VecDeque::new(),
            rows: 0,
            latency: p.latency,
            budget: Budget { cycles: p.beat_cycles, next: 0 },
            beats: 0,
        }
    }

    pub(super) fn ready(&self) -> bool {
        self.requests.len() < REQUESTS
    }

    pub(super) fn request(&mut self, t: u64, rows: u64) {
        self.requests.push_back((rows / self.entry_rows * self.entry_beats, t + REQUEST));
    }

    /// Whether a row can be taken in this cycle.
    pub(super) fn has_row(&self, t: u64) -> bool {
        self.rows > 0 || self.entries.front().is_some_and(|&from| from <= t)
    }

    pub(super) fn take_row(&mut self) {
        if self.rows == 0 {
            self.entries.pop_front();
            self.rows = self.entry_rows;
        }
        self.rows -= 1;
        if self.rows == 0 {
            self.credit += self.entry_beats;
        }
    }

    pub(super) fn step(&mut self, t: u64) {
        if let Some((left, _)) = self.bursts.front_mut().filter(|(_, due)| *due <= t)
            && self.budget.take(t)
        {
            *left -= 1;
            self.beats += 1;
            self.partial += 1;
            if *left == 0 {
                self.bursts.pop_front();
            }
        }
        if self.partial == self.entry_beats {
            self.partial = 0;
            self.entries.push_back(t + 2);
        }
        if let Some((left, from)) = self.requests.front_mut() {
            let n = self.burst_beats.min(*left);
            if *from <= t && self.credit >= n && self.bursts.len() < BURSTS {
                self.credit -= n;
                *left -= n;
                self.bursts.push_back((n, t + 1 + self.latency));
                if *left == 0 {
                    self.requests.pop_front();
                    if let Some((_, from)) = self.requests.front_mut() {
                        *from = (*from).max(t + 2);
                    }
                }
            }
        }
    }

    pub(super) fn idle(&self) -> bool {
        self.requests.is_empty() && self.bursts.is_empty() && self.entries.is_empty() && self.rows == 0
    }
}

/// The write stream and its queue of rows.
#[derive(Debug, Clone)]
pub(super) struct Writer {
    /// Rows on their way through the pipeline, by the cycle in which they reach the queue.
    flying: VecDeque<u64>,
    queue: u64,
    /// Rows that may still be promised.
    room: u64,
    entry_beats: u64,
    entry_rows: u64,
    partial_rows: u64,
    beats_left: u64,
    limb_beats: u64,
    limb_left: u64,
    stage: u64,
    latency: u64,
    budget: Budget,
    /// Cycles in which stores are complete.
    responses: VecDeque<u64>,
    promised: u64,
    pub(super) done: u64,
    pub(super) beats: u64,
}

impl Writer {
    pub(super) fn new(p: &Parameters) -> Self {
        let beat = u64::from(p.bus_bits) / 8;
        let row = 8 * p.row_words;
        let entry = beat.max(row);
        let limb_beats = p.rows * row / beat;
        Self {
            flying: VecDeque::new(),
            queue: 0,
            room: if p.depth() + 4 > 32 { 64 } else { 32 },
            entry_beats: entry / beat,
            entry_rows: entry / row,
            partial_rows: 0,
            beats_left: 0,
            limb_beats,
            limb_left: limb_beats,
            stage: p.depth() - 1,
            latency: p.latency,
            budget: Budget { cycles: p.beat_cycles, next: 0 },
            responses: VecDeque::new(),
            promised: 0,
            done: 0,
            beats: 0,
        }
    }

    pub(super) const fn has_room(&self) -> bool {
        self.room > 0
    }

    pub(super) fn promise(&mut self, t: u64) {
        self.room -= 1;
        self.promised += 1;
        self.flying.push_back(t + self.stage + 1);
    }

    pub(super) fn step(&mut self, t: u64) {
        while self.flying.front().is_some_and(|&at| at <= t) {
            self.flying.pop_front();
            self.queue += 1;
        }
        let moved = self.beats_left > 0 && self.budget.take(t);
        if moved {
            self.beats_left -= 1;
            self.beats += 1;
            self.limb_left -= 1;
            if self.limb_left == 0 {
                self.limb_left = self.limb_beats;
                self.responses.push_back(t + self.latency + 1);
            }
        }
        if self.beats_left == 0 && self.queue > 0 {
            self.queue -= 1;
            self.room += 1;
            self.partial_rows += 1;
            if self.partial_rows == self.entry_rows {
                self.partial_rows = 0;
                self.beats_left = self.entry_beats;
            }
        }
        while self.responses.front().is_some_and(|&at| at <= t) {
            self.responses.pop_front();
            self.done += 1;
        }
    }

    pub(super) fn idle(&self, stores: u64) -> bool {
        self.done == stores
    }
}
