//! The blocks of `rtl/memory`: splitter, read DMA, arbiter, write DMA.

use std::collections::VecDeque;

use super::{Request, UNIT};

/// Beats, rows and bursts of one DMA.
#[derive(Debug, Clone, Copy)]
pub(super) struct Geometry {
    row_words: u64,
    beat_bytes: u64,
    /// Bursts end at multiples of this number of beats.
    block: u64,
    beats_per_entry: u64,
    rows_per_entry: u64,
}

impl Geometry {
    pub(super) fn new(row_words: u64, beat_bytes: u64, burst_bytes: u64) -> Self {
        let row_bytes = 8 * row_words;
        let entry = row_bytes.max(beat_bytes);
        Self {
            row_words,
            beat_bytes,
            block: burst_bytes / beat_bytes,
            beats_per_entry: entry / beat_bytes,
            rows_per_entry: entry / row_bytes,
        }
    }
}

/// An address on the bus: what the memory must know of a burst.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) beats: u64,
    /// Of the read stream, not of the fetch.
    pub(super) stream: bool,
}

/// A burst: beats, and whether it ends its request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Burst {
    beats: u64,
    last: bool,
}

/// `rm_mem_splitter`.
#[derive(Debug, Clone)]
struct Splitter {
    geometry: Geometry,
    /// The request that waits in a register.
    waits: Option<Request>,
    /// Address in beats.
    at: u64,
    left: u64,
}

impl Splitter {
    const fn new(geometry: Geometry) -> Self {
        Self { geometry, waits: None, at: 0, left: 0 }
    }

    const fn idle(&self) -> bool {
        self.waits.is_none() && self.left == 0
    }

    fn clear(&mut self) {
        *self = Self::new(self.geometry);
    }

    fn burst(&self) -> Option<Burst> {
        let block = self.geometry.block;
        let beats = self.left.min(block - self.at % block);
        (beats > 0).then_some(Burst { beats, last: beats == self.left })
    }

    /// Takes a request or lets the burst go; returns whether a request was taken.
    fn step(&mut self, request: Option<Request>, go: bool) -> bool {
        let taken = self.waits.is_none() && request.is_some();
        if let Some(burst) = self.burst() {
            if go {
                self.at += burst.beats;
                self.left -= burst.beats;
            }
        } else if let Some(request) = self.waits.take() {
            self.at = u64::from(request.unit) * UNIT / self.geometry.beat_bytes;
            self.left = u64::from(request.rows) * self.geometry.row_words * 8 / self.geometry.beat_bytes;
        }
        if taken {
            self.waits = request;
        }
        taken
    }
}

/// What meets a read DMA in a cycle.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadInputs {
    pub(super) flush: bool,
    pub(super) request: Option<Request>,
    pub(super) burst_ready: bool,
    /// A beat comes; whether it is the last of its burst.
    pub(super) beat: Option<bool>,
    pub(super) row_ready: bool,
}

/// `rm_mem_read_dma` with its `rm_mem_row_fifo`.
#[derive(Debug, Clone)]
pub(super) struct ReadDma {
    splitter: Splitter,
    outstanding: u64,
    /// Bursts under way.
    pending: u64,
    credits: u64,
    credit: u64,
    drain: bool,
    gathered: u64,
    stored: u64,
    shown: bool,
    row: u64,
}

impl ReadDma {
    /// A buffer of `depth` rows.
    pub(super) fn new(geometry: Geometry, depth: u64, outstanding: u64) -> Self {
        let credits = depth / geometry.rows_per_entry * geometry.beats_per_entry;
        Self {
            splitter: Splitter::new(geometry),
            outstanding,
            pending: 0,
            credits,
            credit: credits,
            drain: false,
            gathered: 0,
            stored: 0,
            shown: false,
            row: 0,
        }
    }

    pub(super) const fn row_valid(&self) -> bool {
        self.shown
    }

    pub(super) const fn idle(&self) -> bool {
        self.splitter.idle() && self.pending == 0 && self.credit == self.credits
    }

    /// The burst that is offered to the arbiter.
    pub(super) fn burst(&self) -> Option<Burst> {
        self.splitter.burst().filter(|burst| self.pending < self.outstanding && self.credit >= burst.beats)
    }

    /// Returns whether the request was taken.
    pub(super) fn step(&mut self, i: &ReadInputs) -> bool {
        let Geometry { beats_per_entry, rows_per_entry, .. } = self.splitter.geometry;
        let go = self.burst().filter(|_| i.burst_ready);
        let take = i.beat.is_some() && !self.drain && !i.flush;
        let push = take && self.gathered == beats_per_entry - 1;
        let pop = self.shown && i.row_ready && self.row == rows_per_entry - 1;
        let read = self.stored > 0 && (!self.shown || pop);
        let drain = i.flush || (self.drain && self.pending > 0);

        let taken = self.splitter.step(i.request.filter(|_| !self.drain), go.is_some());
        if take {
            self.gathered = (self.gathered + 1) % beats_per_entry;
        }
        if self.shown && i.row_ready {
            self.row = (self.row + 1) % rows_per_entry;
        }
        if let Some(burst) = go {
            self.credit -= burst.beats;
            self.pending += 1;
        }
        if pop {
            self.credit += beats_per_entry;
        }
        self.pending -= u64::from(i.beat == Some(true));
        self.stored = self.stored + u64::from(push) - u64::from(read);
        self.shown = read || (self.shown && !pop);
        self.drain = drain;
        if i.flush {
            self.splitter.clear();
            (self.gathered, self.row, self.stored, self.shown) = (0, 0, 0, false);
            self.credit = self.credits;
        }
        taken
    }
}

/// `rm_mem_read_arbiter`: the AR register.
#[derive(Debug, Clone, Default)]
pub(super) struct Arbiter {
    ar: Option<Address>,
}

impl Arbiter {
    pub(super) const fn address(&self) -> Option<Address> {
        self.ar
    }

    pub(super) const fn open(&self, ar_ready: bool) -> bool {
        self.ar.is_none() || ar_ready
    }

    pub(super) fn step(&mut self, open: bool, fetch: Option<Burst>, stream: Option<Burst>) {
        if open {
            let of = |burst: Burst, stream| Address { beats: burst.beats, stream };
            self.ar = fetch.map(|burst| of(burst, false)).or_else(|| stream.map(|burst| of(burst, true)));
        }
    }
}

/// What meets the write DMA in a cycle.
#[derive(Debug, Clone, Copy)]
pub(super) struct WriteInputs {
    pub(super) request: Option<Request>,
    pub(super) row: bool,
    pub(super) aw_ready: bool,
    pub(super) w_ready: bool,
    pub(super) response: bool,
}

/// `rm_mem_write_dma`.
#[derive(Debug, Clone)]
pub(super) struct WriteDma {
    splitter: Splitter,
    outstanding: usize,
    aw: Option<Address>,
    /// Bursts without response: whether each is the last of its request.
    pending: VecDeque<bool>,
    /// Beats of bursts whose data are not complete.
    lengths: VecDeque<u64>,
    sent: u64,
    full: bool,
    gathered: u64,
    beat: u64,
    done: bool,
}

impl WriteDma {
    pub(super) const fn new(geometry: Geometry, outstanding: usize) -> Self {
        Self {
            splitter: Splitter::new(geometry),
            outstanding,
            aw: None,
            pending: VecDeque::new(),
            lengths: VecDeque::new(),
            sent: 0,
            full: false,
            gathered: 0,
            beat: 0,
            done: false,
        }
    }

    pub(super) const fn address(&self) -> Option<Address> {
        self.aw
    }

    pub(super) const fn done(&self) -> bool {
        self.done
    }

    pub(super) fn idle(&self) -> bool {
        self.splitter.idle() && self.pending.is_empty() && self.aw.is_none()
    }

    pub(super) fn beat_valid(&self) -> bool {
        self.full && !self.lengths.is_empty()
    }

    const fn last_beat(&self) -> bool {
        self.beat == self.splitter.geometry.beats_per_entry - 1
    }

    pub(super) fn row_ready(&self, w_ready: bool) -> bool {
        !self.full || (self.beat_valid() && w_ready && self.last_beat())
    }

    /// Returns whether the request was taken.
    pub(super) fn step(&mut self, i: &WriteInputs) -> bool {
        let Geometry { beats_per_entry, rows_per_entry, .. } = self.splitter.geometry;
        let open = self.aw.is_none() || i.aw_ready;
        let room = self.pending.len() < self.outstanding && self.lengths.len() < self.outstanding;
        let go = self.splitter.burst().filter(|_| open && room);
        let moved = self.beat_valid() && i.w_ready;
        let emptied = moved && self.last_beat();
        let row = i.row && self.row_ready(i.w_ready);

        let taken = self.splitter.step(i.request, go.is_some());
        if open {
            self.aw = go.map(|burst| Address { beats: burst.beats, stream: true });
        }
        self.done = i.response && self.pending.pop_front().unwrap_or(false);
        if moved {
            self.beat = (self.beat + 1) % beats_per_entry;
            self.sent += 1;
            if self.lengths.front() == Some(&self.sent) {
                self.lengths.pop_front();
                self.sent = 0;
            }
        }
        if let Some(burst) = go {
            self.pending.push_back(burst.last);
            self.lengths.push_back(burst.beats);
        }
        if row {
            self.gathered = (self.gathered + 1) % rows_per_entry;
            self.full = self.gathered == 0;
        } else if emptied {
            self.full = false;
        }
        taken
    }
}
