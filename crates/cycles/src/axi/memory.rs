//! The memory of `rtl/sim/src/axi_memory.cpp`, without data: rules in `rtl/sim/README.md`.

use std::collections::VecDeque;

use super::dma::Address;

/// How the memory behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Cycles from an address to its first beat, at least 1.
    pub read_latency: u64,
    /// Cycles from the last beat to its response, at least 1.
    pub write_latency: u64,
    /// Beats …
    pub rate_num: u64,
    /// … in this number of cycles, which is at least as large.
    pub rate_den: u64,
    /// Reads and writes share the rate.
    pub shared: bool,
    /// Bursts in flight in each direction.
    pub outstanding: usize,
    /// Of the stalls.
    pub seed: u64,
    /// Chance of 65,536 that AR, R, AW, W, B stall in a cycle.
    pub stall: [u64; 5],
}

impl Settings {
    /// A memory of this latency that moves a beat every `beat_cycles` in each direction and never stalls.
    pub const fn steady(latency: u64, beat_cycles: u64) -> Self {
        Self {
            read_latency: latency,
            write_latency: latency,
            rate_num: 1,
            rate_den: beat_cycles,
            shared: false,
            outstanding: 32,
            seed: 0,
            stall: [0; 5],
        }
    }
}

/// Channels, in the order of [`Settings::stall`].
#[derive(Debug, Clone, Copy)]
enum Channel {
    Ar,
    R,
    Aw,
    W,
    B,
}

/// What the master shows at the start of a cycle.
#[derive(Debug, Clone, Copy)]
pub(super) struct Master {
    pub(super) ar: Option<Address>,
    pub(super) aw: Option<Address>,
    pub(super) w: bool,
}

/// A beat read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Beat {
    pub(super) stream: bool,
    pub(super) last: bool,
}

/// What the memory answers in a cycle.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Slave {
    pub(super) ar_ready: bool,
    pub(super) aw_ready: bool,
    pub(super) w_ready: bool,
    pub(super) r: Option<Beat>,
    pub(super) b: bool,
}

#[derive(Debug, Clone, Copy)]
struct Read {
    due: u64,
    left: u64,
    stream: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Memory {
    settings: Settings,
    cycle: u64,
    read_budget: u64,
    write_budget: u64,
    last_was_read: bool,
    reads: VecDeque<Read>,
    /// Beats still due of each write burst accepted.
    writes: VecDeque<u64>,
    /// Cycles from which responses are shown.
    responses: VecDeque<u64>,
    r_shown: bool,
    b_shown: bool,
}

/// Finaliser of splitmix64.
const fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl Memory {
    pub(super) fn new(settings: Settings) -> Self {
        let cap = settings.rate_den + settings.rate_num - 1;
        Self {
            settings,
            cycle: 0,
            read_budget: cap,
            write_budget: cap,
            last_was_read: false,
            reads: VecDeque::new(),
            writes: VecDeque::new(),
            responses: VecDeque::new(),
            r_shown: false,
            b_shown: false,
        }
    }

    fn stalled(&self, channel: Channel) -> bool {
        let chance = self.settings.stall[channel as usize];
        let index = (self.cycle * 5 + channel as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        chance != 0 && (mix(self.settings.seed.wrapping_add(index)) >> 48) < chance
    }

    fn refill(&mut self) {
        let s = &self.settings;
        let cap = s.rate_den + s.rate_num - 1;
        self.read_budget = (self.read_budget + s.rate_num).min(cap);
        if !s.shared {
            self.write_budget = (self.write_budget + s.rate_num).min(cap);
        }
    }

    fn show_read(&mut self, allowed: bool) -> Option<Beat> {
        let burst = *self.reads.front().filter(|burst| burst.due <= self.cycle)?;
        if !self.r_shown && (!allowed || self.stalled(Channel::R)) {
            return None;
        }
        self.r_shown = true;
        Some(Beat { stream: burst.stream, last: burst.left == 1 })
    }

    /// Outputs of this cycle.
    pub(super) fn drive(&mut self, master: &Master) -> Slave {
        self.refill();
        let Settings { rate_den: beat, shared, outstanding, .. } = self.settings;
        let write_wants = !self.writes.is_empty() && !self.stalled(Channel::W);
        let write_first = shared && self.last_was_read && write_wants && master.w;
        let reserved = if write_first { beat } else { 0 };
        let r = self.show_read(self.read_budget >= beat + reserved);
        let used = if shared && r.is_some() { beat } else { 0 };
        let budget = if shared { self.read_budget } else { self.write_budget };
        let b = self.responses.front().is_some_and(|&due| due <= self.cycle)
            && (self.b_shown || !self.stalled(Channel::B));
        self.b_shown |= b;
        Slave {
            ar_ready: self.reads.len() < outstanding && !self.stalled(Channel::Ar),
            aw_ready: self.writes.len() + self.responses.len() < outstanding && !self.stalled(Channel::Aw),
            w_ready: write_wants && budget >= beat + used,
            r,
            b,
        }
    }

    /// Transfers of this cycle, and on to the next.
    pub(super) fn advance(&mut self, master: &Master, slave: &Slave) {
        let s = self.settings;
        if slave.r.is_some() {
            self.r_shown = false;
            self.last_was_read = true;
            self.read_budget -= s.rate_den;
            self.reads[0].left -= 1;
            if self.reads[0].left == 0 {
                self.reads.pop_front();
            }
        }
        if slave.b {
            self.responses.pop_front();
            self.b_shown = false;
        }
        if slave.w_ready && master.w {
            self.last_was_read = false;
            *(if s.shared { &mut self.read_budget } else { &mut self.write_budget }) -= s.rate_den;
            self.writes[0] -= 1;
            if self.writes[0] == 0 {
                self.writes.pop_front();
                self.responses.push_back(self.cycle + s.write_latency);
            }
        }
        if let Some(ar) = master.ar.filter(|_| slave.ar_ready) {
            self.reads.push_back(Read {
                due: self.cycle + s.read_latency,
                left: ar.beats,
                stream: ar.stream,
            });
        }
        if let Some(aw) = master.aw.filter(|_| slave.aw_ready) {
            self.writes.push_back(aw.beats);
        }
        self.cycle += 1;
    }
}
