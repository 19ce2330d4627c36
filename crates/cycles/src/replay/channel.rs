//! A channel off chip: one transfer after the other, in exact time.

use std::collections::VecDeque;

use super::{Event, START};
use crate::plan::Ticks;

/// A channel while a schedule is made.
#[derive(Debug)]
pub(super) struct Channel {
    ticks: Ticks,
    latency: u64,
    /// Limbs that may be asked for ahead of their readers.
    queue: Option<u32>,
    /// When it is free, in ticks, and the transfer before that.
    free: u64,
    last: Event,
    /// When the readers of the last limbs that were asked for begin.
    readers: VecDeque<(u64, Event)>,
    /// Ticks in which it moved bytes.
    pub(super) moving: u64,
}

/// A transfer on its way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moved {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) there: u64,
    pub(super) cause: Event,
}

impl Channel {
    pub(super) fn new(ticks: Ticks, latency: u64, queue: Option<u32>) -> Self {
        Self { ticks, latency, queue, free: 0, last: START, readers: VecDeque::new(), moving: 0 }
    }

    /// The whole cycle in which it is free.
    pub(super) const fn free(&self) -> u64 {
        self.free.div_ceil(self.ticks.cycle)
    }

    /// When the queue has space for one more limb, and the instruction that makes it.
    pub(super) fn room(&self) -> (u64, Event) {
        match self.queue {
            Some(queue) if self.readers.len() >= queue as usize => {
                self.readers[self.readers.len() - queue as usize]
            }
            _ => (0, START),
        }
    }

    /// Notes that the reader of a limb that was asked for begins.
    pub(super) fn read(&mut self, at: u64, by: Event) {
        if let Some(queue) = self.queue {
            self.readers.push_back((at, by));
            while self.readers.len() > queue as usize {
                self.readers.pop_front();
            }
        }
    }

    /// Moves bytes that take `ticks` ticks, not before a time that an event sets.
    pub(super) fn transfer(&mut self, event: Event, ticks: u64, earliest: u64, by: Event) -> Moved {
        let earliest = earliest * self.ticks.cycle;
        let cause = if earliest > self.free { by } else { self.last };
        // Rounded up as the end of the transfer before is, so that whole cycles have no gap between them.
        let from = self.free.max(earliest);
        let start = from.div_ceil(self.ticks.cycle);
        self.free = from + ticks;
        self.moving += ticks;
        self.last = event;
        let end = self.free.div_ceil(self.ticks.cycle);
        Moved { start, end, there: end + self.latency, cause }
    }
}
