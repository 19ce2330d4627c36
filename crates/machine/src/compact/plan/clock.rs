//! Estimated times: enough to put passes into a good order, not to count cycles ([`super::super::model`] does).

use super::super::CompactConfig;

/// One transform unit.
#[derive(Debug, Clone, Copy, Default)]
struct Lane {
    free: u64,
    /// The moduli of the two tables of roots, the older one first, and when the newer one is complete.
    tables: [Option<u8>; 2],
    complete: u64,
}

/// Times of the units.
#[derive(Debug, Clone)]
pub(super) struct Clock {
    /// The cycle in which the arithmetic unit can issue its next row.
    pub(super) arithmetic: u64,
    lanes: [Lane; 2],
    pub(super) rows: u64,
    log_n: u64,
    /// Cycles a row takes to be read from memory, and to be written.
    row_cycles: u64,
    latency: u64,
    /// Cycles in which a table of roots fills.
    table: u64,
}

/// Cycles from the issue of a row to its result in a bank.
const DEPTH: u64 = 24;
/// Cycles lost between two passes.
const GAP: u64 = 2;
/// Cycles from the last read of a transform to its last write.
const DRAIN: u64 = 30;

impl Clock {
    pub(super) fn new(config: &CompactConfig, log_n: u32) -> Self {
        let row_bits = 64 * u64::from(config.row_words());
        let beats = row_bits.div_ceil(config.bus_bits().into());
        let generators = u64::from(config.butterflies() / 4).max(1);
        Self {
            arithmetic: 0,
            lanes: [Lane::default(); 2],
            rows: config.rows(log_n).into(),
            log_n: log_n.into(),
            row_cycles: beats * u64::from(config.timing().beat_cycles),
            latency: config.timing().latency.into(),
            table: (1 << log_n) / generators,
        }
    }

    pub(super) fn first_read(&self) -> u64 {
        self.latency
    }

    /// Cycles of a pass that reads or writes memory, or neither.
    pub(super) fn pass(&self, memory: bool) -> u64 {
        self.rows * if memory { self.row_cycles } else { 1 } + GAP
    }

    /// Books a pass that starts no earlier than `start`; its end.
    pub(super) fn arithmetic_pass(&mut self, start: u64, memory: bool) -> u64 {
        let end = start.max(self.arithmetic) + self.pass(memory);
        self.arithmetic = end;
        end
    }

    /// When another unit can use what a pass that ends at `end` has written.
    pub(super) const fn drained(end: u64) -> u64 {
        end + DEPTH
    }

    /// When what a pass that ends at `end` has stored can be streamed.
    pub(super) const fn stored(&self, end: u64) -> u64 {
        end + DEPTH + 2 * self.latency
    }

    /// When all units are done.
    pub(super) fn end(&self) -> u64 {
        self.lanes.iter().map(|l| l.free + DRAIN).max().unwrap_or(0).max(self.stored(self.arithmetic))
    }

    pub(super) fn lane_free(&self, lane: usize) -> u64 {
        self.lanes[lane].free
    }

    /// Books a transform of a limb that is in its bank at `ready`; its end.
    pub(super) fn transform(&mut self, lane: usize, modulus: u8, inverse: bool, ready: u64) -> u64 {
        let (now, table) = (self.arithmetic, self.table);
        let length = self.log_n * self.rows;
        let lane = &mut self.lanes[lane];
        let mut start = lane.free.max(ready);
        if lane.tables == [None; 2] {
            // The roots of the first transform are left from the run before.
            lane.tables[1] = Some(modulus);
        } else if !lane.tables.contains(&Some(modulus)) {
            let begin = now.max(lane.complete);
            lane.complete = begin + table;
            lane.tables = [lane.tables[1], Some(modulus)];
            // The first stage of an inverse transform needs half of all roots, that of a forward one a single root.
            start = start.max(if inverse { begin + table / 2 } else { begin });
        } else if lane.tables[0] == Some(modulus) {
            lane.tables.swap(0, 1);
        }
        lane.free = start + length;
        lane.free + DRAIN
    }
}
