//! Estimated times: enough to put passes into a good order, not to count cycles ([`super::super::model`] does).

use std::collections::VecDeque;

use super::super::CompactConfig;
use super::super::isa::Bank;
use super::super::model::Steps;

/// One transform unit.
#[derive(Debug, Clone, Copy, Default)]
struct Lane {
    free: u64,
    /// The moduli of the two tables of roots, and from when on they are there.
    tables: [Option<(u8, u64)>; 2],
    /// The table of the latest transform, and when it started.
    latest: usize,
    started: u64,
}

/// Times of the units.
#[derive(Debug, Clone)]
pub(super) struct Clock {
    /// The cycle in which the arithmetic unit can issue its next row.
    pub(super) arithmetic: u64,
    lanes: [Lane; 2],
    pub(super) rows: u64,
    steps: Steps,
    /// Cycles a row takes to be read from memory, and to be written.
    row_cycles: u64,
    latency: u64,
    /// When the latest passes began, the oldest first: as many as wait in the queue of the arithmetic unit.
    begun: VecDeque<u64>,
}

/// Instructions that wait for the arithmetic unit.
const QUEUE: usize = 8;
/// Cycles from the start of a transform to the first in which the other table may be filled.
const RELEASE: u64 = 20;

impl Clock {
    pub(super) fn new(config: &CompactConfig, log_n: u32) -> Self {
        let row_bits = 64 * u64::from(config.row_words());
        let beats = row_bits.div_ceil(config.bus_bits().into());
        Self {
            arithmetic: 0,
            lanes: [Lane::default(); 2],
            rows: config.rows(log_n).into(),
            steps: Steps::of(config, log_n),
            row_cycles: beats * u64::from(config.timing().beat_cycles),
            latency: config.timing().latency.into(),
            begun: VecDeque::new(),
        }
    }

    /// Whether a pass over memory takes longer than another one.
    pub(super) fn is_slow(&self) -> bool {
        self.row_cycles > 1
    }

    pub(super) fn first_read(&self) -> u64 {
        self.latency
    }

    /// Cycles of a pass that reads or writes memory, or neither.
    pub(super) fn pass(&self, memory: bool) -> u64 {
        self.rows * if memory { self.row_cycles } else { 1 }
    }

    /// Books a pass that starts no earlier than `start`; its end.
    pub(super) fn arithmetic_pass(&mut self, start: u64, memory: bool) -> u64 {
        let begin = start.max(self.arithmetic);
        let end = begin + self.pass(memory);
        if self.begun.len() == QUEUE {
            self.begun.pop_front();
        }
        self.begun.push_back(begin);
        self.arithmetic = end;
        end
    }

    /// When another unit can use what a pass that ends at `end` has written.
    pub(super) const fn drained(&self, end: u64) -> u64 {
        end + self.steps.depth
    }

    /// When what a pass that ends at `end` has stored can be streamed.
    pub(super) const fn stored(&self, end: u64) -> u64 {
        end + self.steps.depth + 2 * self.latency
    }

    /// When all units are done.
    pub(super) fn end(&self) -> u64 {
        self.lanes
            .iter()
            .map(|l| l.free + self.steps.drain)
            .max()
            .unwrap_or(0)
            .max(self.stored(self.arithmetic))
    }

    /// When all lanes that reach a bank are free; none of them reaches an accumulator.
    pub(super) fn free(&self, bank: Bank) -> Option<u64> {
        bank.parts().filter_map(Bank::lane).map(|lane| self.lanes[lane].free).max()
    }

    /// The least cycle at which all can be done with `transforms` transforms left. One on both lanes counts
    /// once.
    pub(super) fn least_end(&self, transforms: u64) -> u64 {
        let booked: u64 = self.lanes.iter().map(|lane| lane.free).sum();
        (booked + transforms * self.steps.transform.min(2 * self.steps.ganged)) / self.lanes.len() as u64
    }

    /// Books a transform of a limb that is in its bank, or pair, at `ready`; when a pass can follow it row by row, and when
    /// its result is there.
    pub(super) fn transform(&mut self, bank: Bank, modulus: u8, ready: u64) -> (u64, u64) {
        let length = if bank.is_pair() { self.steps.ganged } else { self.steps.transform };
        let lanes: Vec<usize> = bank.parts().filter_map(Bank::lane).collect();
        let there = lanes.iter().map(|&lane| self.roots(lane, modulus)).max().unwrap_or(0);
        let start = lanes.iter().map(|&lane| self.lanes[lane].free).fold(ready.max(there), u64::max);
        for lane in lanes {
            (self.lanes[lane].started, self.lanes[lane].free) = (start, start + length);
        }
        let end = start + length;
        (end + self.steps.pass, end + self.steps.drain)
    }

    /// When the roots of a modulus are there, which the next transform of a lane takes.
    fn roots(&mut self, lane: usize, modulus: u8) -> u64 {
        // Instructions wait in the queues of their units: a transform is known long before its limb is there.
        let known = if self.begun.len() < QUEUE { 0 } else { self.begun[0] };
        let (table, lane) = (self.steps.roots, &mut self.lanes[lane]);
        let held = lane.tables.iter().position(|t| t.is_some_and(|(m, _)| m == modulus));
        let slot = held.unwrap_or(1 - lane.latest);
        let there = match lane.tables[slot].filter(|_| held.is_some()) {
            Some((_, there)) => there,
            // The roots of the first transform are left from the run before.
            None if lane.tables == [None; 2] => 0,
            None => known.max(lane.started + RELEASE) + table,
        };
        lane.tables[slot] = Some((modulus, there));
        lane.latest = slot;
        there
    }
}
