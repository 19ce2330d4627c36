//! The cycles of the chain: which slot starts when. The rules are those of `rtl/pipelined` (`rm_ks_sequencer`, `schedule.py`), whose
//! starts are held to the RTL.
//!
//! A slot starts N/P cycles after the one before at the earliest. A component of a finished special residue goes first, then the
//! next digit. The last digit of a key switch waits until both components of the one before have started.

use super::memory::Memory;
use super::{Arrival, Job};

/// A chain at one degree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chain {
    /// log2 of the words of a row.
    pub(super) log_p: u32,
    /// log2 N.
    pub(super) log_n: u32,
    /// log2 of the greatest N that was built.
    pub(super) log_n_max: u32,
    /// Cycles of a product.
    pub(super) multiplier: u64,
}

/// A slot that enters the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Start {
    pub(super) cycle: u64,
    pub(super) job: usize,
    pub(super) part: Part,
}

/// What a slot carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Digit(u32),
    /// A component of the special residue, on its way down.
    Down(u32),
}

impl Chain {
    /// Rows of a polynomial, also the cycles between two slots.
    pub(super) const fn rows(&self) -> u64 {
        1 << (self.log_n - self.log_p)
    }

    /// From a start to the first row in.
    const fn lead(&self) -> u64 {
        self.multiplier + 4
    }

    /// Row into a transform to row out.
    const fn transform(&self) -> u64 {
        self.rows() - 1 + self.log_n as u64 * self.lead() + (self.log_n_max - self.log_n) as u64
    }

    /// Row into the inverse transform to row out of a forward one, with the lift between them.
    const fn through(&self) -> u64 {
        2 * self.transform() + self.multiplier + 2
    }

    /// From the start of a last digit until the special residue may start.
    const fn pending(&self) -> u64 {
        self.lead() + self.through() + 3
    }

    /// From the start of a component to the cycle after the last row of its result.
    pub(super) const fn result(&self) -> u64 {
        self.lead() + self.through() + self.multiplier + 4 + self.rows()
    }

    /// Limbs of keys that a slot reads, and others that it moves: the operand's, or addends and results of a component.
    fn limbs(part: Part, level: u32) -> (u64, u64) {
        let level = u64::from(level);
        match part {
            Part::Digit(_) => (2 * (level + 1), 1),
            Part::Down(_) => (0, 2 * level),
        }
    }

    /// Every start, in order, as operands arrive. The level stands still while the chain is busy, so a job of another level waits for its end.
    /// No row is late, unless a memory makes it so.
    pub(super) fn starts(&self, jobs: &[Job], arrival: Arrival<'_>, memory: Option<&Memory>) -> Vec<Start> {
        let mut found = Vec::new();
        let mut channel = memory.map(Memory::channel);
        let mut wait = |known, cycle, part, level| match &mut channel {
            Some(channel) => channel.start(known, cycle, Self::limbs(part, level), self.rows()),
            None => cycle,
        };
        let mut ends: Vec<Option<u64>> = vec![None; jobs.len()];
        let (mut now, mut pending, mut job, mut digit) = (0, 0, 0, 0);
        // The job whose special residue is on its way, and the component that starts next.
        let mut open: Option<(usize, u32)> = None;
        while job < jobs.len() || open.is_some() {
            let down = open.map(|_| now.max(pending));
            let next = jobs.get(job).filter(|j| !(open.is_some() && digit + 1 == j.set.limbs));
            let ready = next.and_then(|j| {
                let other = job.checked_sub(1).filter(|&before| jobs[before].set != j.set);
                let known = arrival(job, &|before| ends[before])?;
                let free = other.map_or(Some(now), |before| ends[before]);
                Some((known, now.max(known).max(free?)))
            });
            match (down, open, ready) {
                (Some(at), Some((of, component)), ready) if ready.is_none_or(|(_, ready)| at <= ready) => {
                    let at = wait(0, at, Part::Down(component), jobs[of].set.limbs);
                    found.push(Start { cycle: at, job: of, part: Part::Down(component) });
                    now = at + self.rows();
                    open = (component == 0).then_some((of, 1));
                    if component == 1 {
                        ends[of] = Some(at + self.result());
                    }
                }
                (_, _, Some((known, at))) => {
                    let at = wait(known, at, Part::Digit(digit), jobs[job].set.limbs);
                    found.push(Start { cycle: at, job, part: Part::Digit(digit) });
                    now = at + self.rows();
                    digit += 1;
                    if digit == jobs[job].set.limbs {
                        (open, pending) = (Some((job, 0)), at + self.pending());
                        (job, digit) = (job + 1, 0);
                    }
                }
                // Whom it waits for came before, and is done when nothing is open.
                _ => unreachable!("a key switch waits for a later one"),
            }
        }
        found
    }

    /// The cycle after the last row of all results.
    pub(super) fn end(&self, starts: &[Start]) -> u64 {
        starts.iter().filter(|s| s.part == Part::Down(1)).map(|s| s.cycle + self.result()).max().unwrap_or(0)
    }
}
