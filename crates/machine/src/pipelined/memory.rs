//! The memory off chip beside a pipelined key switch: what it moves, in the order of starts, and how long they wait for it.

use std::collections::VecDeque;

/// A memory as the key switch sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// Bytes in a thousand cycles.
    pub bytes_in_1000: u64,
    /// Cycles from a request to its first bytes.
    pub latency: u64,
    /// Bytes of a limb, as words of 64 bits.
    pub limb_bytes: u64,
    /// Whether half of the keys are expanded on chip from their seed.
    pub seeded: bool,
    /// Starts whose rows may be on their way, or wait on chip, before they begin.
    pub ahead: usize,
    /// Whether operands and addends come into this memory over a link, and results leave it: limbs other than keys move twice.
    pub linked: bool,
}

impl Memory {
    /// Bytes of some limbs of keys, and of others.
    pub fn bytes(&self, keys: u64, others: u64) -> u64 {
        let times = |yes: bool| if yes { 2 } else { 1 };
        self.limb_bytes * (keys / times(self.seeded) + others * times(self.linked))
    }

    /// Cycles that these take at least.
    pub fn cycles(&self, bytes: u64) -> u64 {
        (bytes * 1000).div_ceil(self.bytes_in_1000)
    }

    /// Its state when nothing has been read.
    pub fn channel(&self) -> Channel {
        Channel { memory: *self, free: 0, begun: VecDeque::new() }
    }
}

/// The state of a memory: one stream of bytes, in the order of starts.
#[derive(Debug, Clone)]
pub struct Channel {
    memory: Memory,
    /// When the bytes of all before have been moved.
    free: u64,
    /// The last starts.
    begun: VecDeque<u64>,
}

impl Channel {
    /// When something can start whose rows of `keys` and `others` limbs are read in `rows` cycles from there on: not before `cycle`,
    /// and so that its last row comes in time. What it reads is known from `known` on.
    pub fn start(&mut self, known: u64, cycle: u64, (keys, others): (u64, u64), rows: u64) -> u64 {
        let Memory { latency, ahead, .. } = self.memory;
        let bytes = self.memory.bytes(keys, others);
        if bytes == 0 {
            return cycle;
        }
        let room = if self.begun.len() == ahead { self.begun.pop_front() } else { None };
        let begin = self.free.max(known).max(room.unwrap_or(0));
        self.free = begin + self.memory.cycles(bytes);
        let at = cycle.max(begin + latency).max((self.free + latency).saturating_sub(rows));
        self.begun.push_back(at);
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOW: Memory =
        Memory { bytes_in_1000: 1_000, latency: 30, limb_bytes: 200, seeded: false, ahead: 2, linked: false };

    #[test]
    fn what_moves_takes_its_bytes() {
        assert_eq!((SLOW.bytes(2, 1), SLOW.cycles(600)), (600, 600));
        assert_eq!(Memory { seeded: true, ..SLOW }.bytes(2, 1), 400);
        assert_eq!(Memory { linked: true, ..SLOW }.bytes(2, 1), 800);
        assert_eq!(Memory { bytes_in_1000: 1_500, ..SLOW }.cycles(601), 401);
    }

    /// Starts that nothing else delays follow each other as their bytes do.
    #[test]
    fn starts_wait_for_their_last_rows() {
        let mut channel = SLOW.channel();
        let starts: Vec<u64> = (0..5).map(|_| channel.start(0, 0, (2, 1), 100)).collect();
        assert_eq!(starts, [530, 1_130, 1_730, 2_330, 2_930]);
        // One without bytes waits for nothing; what is known late is read late.
        assert_eq!(channel.start(0, 7, (0, 0), 100), 7);
        assert_eq!(channel.start(10_000, 0, (2, 1), 100), 10_530);
    }

    /// No more than two starts ahead: the third is read when the first has begun.
    #[test]
    fn rows_that_wait_on_chip_are_few() {
        let mut channel = SLOW.channel();
        let starts: Vec<u64> =
            [5_000, 5_100, 5_200].iter().map(|&at| channel.start(0, at, (2, 1), 100)).collect();
        assert_eq!(starts, [5_000, 5_100, 5_530]);
    }
}
