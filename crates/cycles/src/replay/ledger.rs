//! What a bank of memory has been promised, by time.

/// Bytes that a bank moves, in intervals of equal length. Accesses share an interval: those that come later get what is left.
#[derive(Debug)]
pub(super) struct Ledger {
    /// Bytes of a cycle.
    rate: u64,
    /// log2 of the cycles of an interval.
    log: u32,
    used: Vec<u64>,
}

impl Ledger {
    pub(super) const fn new(rate: u64, log: u32) -> Self {
        Self { rate, log, used: Vec::new() }
    }

    /// Promises `bytes` from a time on, evenly over `rows` cycles or later where the bank is busy. Says when the last byte has moved.
    pub(super) fn reserve(&mut self, start: u64, bytes: u64, rows: u64) -> u64 {
        let (length, rows) = (1u64 << self.log, rows.max(1));
        let room = self.rate << self.log;
        let (mut left, mut now) = (bytes, start);
        loop {
            let interval = (now >> self.log) as usize;
            if interval >= self.used.len() {
                self.used.resize(interval + 1, 0);
            }
            let border = ((interval as u64) + 1) << self.log;
            let cycles = border - now;
            // As fast as the instruction reads, or to its end at once if it is late.
            let wished = match now < start + rows {
                true => {
                    (u128::from(bytes) * u128::from(cycles)).div_ceil(rows.into()).min(left.into()) as u64
                }
                false => left,
            };
            let free = room - self.used[interval];
            let moved = wished.min(free).min(self.rate * cycles);
            self.used[interval] += moved;
            left -= moved;
            if left == 0 {
                let slow = moved.div_ceil(self.rate).min(length);
                return (start + rows).max(now + slow);
            }
            now = border;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_a_bank_can_move_in_time_is_not_late() {
        let mut bank = Ledger::new(100, 6);
        assert_eq!(bank.reserve(0, 6400, 64), 64);
        // The interval is full: the next bytes move in the one behind it.
        assert_eq!(bank.reserve(0, 6400, 64), 128);
        assert_eq!(bank.reserve(1000, 100, 64), 1064);
    }

    proptest! {
        /// No interval is promised twice, nothing is early, and all together take no longer than one after the other.
        #[test]
        fn a_bank_moves_no_more_than_it_can(
            all in prop::collection::vec((0u64..5000, 0u64..50_000, 1u64..200), 1..40), rate in 1u64..500,
        ) {
            let mut bank = Ledger::new(rate, 6);
            let mut latest = 0;
            let mut serial = 0;
            for &(start, bytes, rows) in &all {
                let end = bank.reserve(start, bytes, rows);
                prop_assert!(end >= start + rows);
                latest = latest.max(end);
                serial += bytes.div_ceil(rate) + rows + 64;
            }
            prop_assert!(bank.used.iter().all(|&used| used <= rate * 64));
            prop_assert_eq!(bank.used.iter().sum::<u64>(), all.iter().map(|a| a.1).sum::<u64>());
            prop_assert!(latest <= 5000 + serial);
        }
    }
}
