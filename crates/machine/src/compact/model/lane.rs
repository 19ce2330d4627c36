//! A transform unit in cycles: its queue, its two tables of roots, its sequencer. Rules: `rtl/ntt`.

use std::collections::VecDeque;

use super::Parameters;

/// A transform under way or waiting.
#[derive(Debug, Clone, Copy)]
pub(super) struct Command {
    pub(super) index: usize,
    pub(super) bank: usize,
    pub(super) ticket: u64,
    pub(super) modulus: u8,
    /// Whether it only has its roots made.
    pub(super) roots: bool,
    /// Whether both lanes transform together.
    pub(super) gang: bool,
    /// The cycle from which it can be the head: it goes through the queue and into a register.
    pub(super) from: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    modulus: Option<u8>,
    /// The cycle from which its roots are there.
    ready: u64,
    /// The cycle from which it may be filled anew.
    released: u64,
}

/// What a program leaves in the tables of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Left {
    moduli: [Option<u8>; 2],
    latest: usize,
}

impl Default for Left {
    fn default() -> Self {
        Self { moduli: [None; 2], latest: 1 }
    }
}

impl Left {
    /// A command comes to the head of the queue.
    pub(super) fn command(&mut self, modulus: u8, roots: bool) {
        let held = (0..2).find(|&slot| self.moduli[slot] == Some(modulus));
        let slot = held.unwrap_or(1 - self.latest);
        self.moduli[slot] = Some(modulus);
        if !roots {
            self.latest = slot;
        }
    }
}

/// Commands that a unit holds besides the head and the one at work.
const QUEUE: usize = 4;
/// Cycles from the last read of a transform to the first in which the scoreboard shows that passes may follow.
const PASS: u64 = 3;

/// One unit.
#[derive(Debug, Clone)]
pub(super) struct Lane {
    queue: VecDeque<Command>,
    slots: [Slot; 2],
    latest: usize,
    /// Whether the head's ticket has been found due, in an earlier cycle.
    granted: bool,
    /// The slot chosen for the head.
    head: Option<usize>,
    filling: u64,
    free: u64,
    /// Ends of the transforms under way, and the cycles from which passes may follow them, by their banks.
    ends: VecDeque<(u64, Command)>,
    passes: VecDeque<(u64, usize)>,
    /// Cycles of a transform, alone and ganged.
    lengths: [u64; 2],
    drain: u64,
    generation: u64,
    release: u64,
    pub(super) busy: u64,
    pub(super) wait_ticket: u64,
    pub(super) wait_twiddle: u64,
}

impl Lane {
    pub(super) fn new(p: &Parameters, left: Left) -> Self {
        let m = p.multiplier_latency;
        let drain = m + 9;
        let length = |gang: bool| {
            let rows = p.rows >> u32::from(gang);
            let gap = |s: u32| {
                let distance = rows >> if gang { s.max(1) } else { s + 1 };
                (drain + distance.max(1)).saturating_sub(rows)
            };
            u64::from(p.log_n) * rows + (0..p.log_n - 1).map(gap).sum::<u64>()
        };
        let lanes = (p.row_words / 4).clamp(1, 4);
        let level = |b: u32| ((1u64 << b) / lanes).max(1);
        let levels: u64 = (0..p.log_n - 1).map(|b| level(b).max(m + 4)).sum();
        Self {
            queue: VecDeque::new(),
            slots: left.moduli.map(|modulus| Slot { modulus, ..Slot::default() }),
            latest: left.latest,
            granted: false,
            head: None,
            filling: 0,
            free: 0,
            ends: VecDeque::new(),
            passes: VecDeque::new(),
            lengths: [false, true].map(length),
            drain,
            generation: 1 + m + levels + level(p.log_n - 1),
            release: m + 7,
            busy: 0,
            wait_ticket: 0,
            wait_twiddle: 0,
        }
    }

    /// Cycles of a transform, of one of both lanes together, from its end to passes that follow it row by row and to its
    /// result, and of making a table of roots.
    pub(super) const fn steps(&self) -> [u64; 5] {
        let [alone, ganged] = self.lengths;
        [alone, ganged, PASS, self.drain + 1, self.generation]
    }

    /// Whether the queue has space; the head does not stand in it.
    pub(super) fn ready(&self, t: u64) -> bool {
        let head = self.queue.front().is_some_and(|c| c.from <= t);
        self.queue.len() - usize::from(head) < QUEUE
    }

    pub(super) fn push(&mut self, command: Command) {
        self.queue.push_back(command);
    }

    /// One cycle; `due` says whether a bank's finished uses have reached a ticket. The transform that could start now.
    pub(super) fn ready_to_start(&mut self, t: u64, due: impl Fn(usize, u64) -> bool) -> Option<Command> {
        self.busy += u64::from(!self.ends.is_empty());
        let granted = std::mem::take(&mut self.granted);
        let command = *self.queue.front().filter(|c| c.from <= t)?;
        self.granted = due(command.bank, command.ticket);
        if self.head.is_none() {
            self.head = self.choose(t, command.modulus);
        }
        let there = self.head.is_some_and(|slot| t >= self.slots[slot].ready);
        if command.roots {
            if there {
                self.pop(t);
            }
            return None;
        }
        if t < self.free {
            return None;
        }
        self.wait_ticket += u64::from(!granted);
        self.wait_twiddle += u64::from(granted && !there);
        (granted && there).then_some(command)
    }

    /// Starts the transform at the head.
    pub(super) fn start(&mut self, t: u64) {
        let (Some(&command), Some(slot)) = (self.queue.front(), self.head) else { return };
        self.pop(t);
        self.latest = slot;
        self.free = t + self.lengths[usize::from(command.gang)];
        self.slots[slot].released = self.free + self.release;
        self.passes.push_back((self.free + PASS, command.bank));
        // The last write, and the cycle in which the scoreboard shows it.
        self.ends.push_back((self.free + self.drain + 1, command));
    }

    fn pop(&mut self, t: u64) {
        self.queue.pop_front();
        if let Some(next) = self.queue.front_mut() {
            next.from = next.from.max(t + 1);
        }
        self.head = None;
        self.granted = false;
    }

    /// The table for a modulus: one that holds it, or the one that the latest start did not take, filled anew.
    fn choose(&mut self, t: u64, modulus: u8) -> Option<usize> {
        if let Some(slot) = (0..2).find(|&s| self.slots[s].modulus == Some(modulus)) {
            return Some(slot);
        }
        let slot = 1 - self.latest;
        if t < self.slots[slot].released || t < self.filling {
            return None;
        }
        self.filling = t + self.generation;
        self.slots[slot] = Slot { modulus: Some(modulus), ready: self.filling, released: 0 };
        Some(slot)
    }

    /// The bank of a transform that passes may follow from this cycle on.
    pub(super) fn passed(&mut self, t: u64) -> Option<usize> {
        self.passes.pop_front_if(|&mut (from, _)| from <= t).map(|(_, bank)| bank)
    }

    /// The transform whose last result is written in this cycle.
    pub(super) fn finished(&mut self, t: u64) -> Option<Command> {
        let (_, command) = *self.ends.front().filter(|(end, _)| *end <= t)?;
        self.ends.pop_front();
        Some(command)
    }

    pub(super) fn idle(&self) -> bool {
        self.queue.is_empty() && self.ends.is_empty()
    }
}
