//! The host beside the engine: its processor works through the program in order, and a link carries operands to the engine and results
//! back. Ciphertexts live in the host's memory; keys are with the engine.
//!
//! | what | when |
//! |---|---|
//! | work of the host | when its work before is done, and the results that it reads are there |
//! | operands of a key switch | when the host has come to it, what it reads is there, and the link has carried those before |
//! | results of a key switch | when they have ended, and the link has carried those of key switches before |
//!
//! The two directions of the link do not wait for each other. No transfer begins before all of it is there.

use ringmill_program::cost::{CostTable, Work};
use ringmill_program::limb::InputClass;
use ringmill_program::limb::split::{From, Part, To};

use crate::timing::Span;

/// The link as cycles of the engine count it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Link {
    /// Bytes a second, in millions, each way.
    pub(super) megabytes: u64,
    pub(super) latency_ns: u64,
}

impl Link {
    fn cycles(self, bytes: u64, mhz: u64) -> u64 {
        (bytes * mhz).div_ceil(self.megabytes)
    }

    fn latency(self, mhz: u64) -> u64 {
        (self.latency_ns * mhz).div_ceil(1000)
    }
}

/// A part of the program, as the host comes to it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    /// Work of the processor.
    Work { cycles: u64, reads: Vec<usize>, writes: Vec<usize> },
    /// A key switch: cycles of the link for its operands.
    Switch { up: u64, reads: Vec<usize> },
}

/// The results of a key switch: cycles of the link, and which limbs between parts they are.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Results {
    down: u64,
    writes: Vec<usize>,
}

/// What the host does, and what the link carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Host {
    steps: Vec<Step>,
    /// By key switch.
    results: Vec<Results>,
    /// The key switch that makes each limb between parts, if one does.
    makers: Vec<Option<usize>>,
    latency: u64,
    /// Bytes that the link carries, to the engine and back.
    pub(super) bytes: [u64; 2],
}

impl Host {
    /// The host of a program's parts; the engine's clock counts its time.
    pub(super) fn new(parts: &[Part], costs: &CostTable, link: Link, mhz: u64) -> Self {
        let mut host = Self {
            steps: Vec::new(),
            results: Vec::new(),
            makers: Vec::new(),
            latency: link.latency(mhz),
            bytes: [0; 2],
        };
        for part in parts {
            let log_n = part.program.log_n();
            let read = |from: &From| match from {
                From::Between(number) => Some(*number),
                From::Input(_) => None,
            };
            let written = |to: &To| match to {
                To::Between(number) => Some(*number),
                To::Output(_) => None,
            };
            let reads: Vec<usize> = part.inputs.iter().filter_map(read).collect();
            let writes: Vec<usize> = part.outputs.iter().filter_map(written).collect();
            let maker = part.served.map(|_| host.results.len());
            for &number in &writes {
                host.makers.resize(host.makers.len().max(number + 1), None);
                host.makers[number] = maker;
            }
            if part.served.is_none() {
                let nanoseconds = costs.nanoseconds(&Work::of(&part.program), log_n);
                let cycles = (nanoseconds * mhz as f64 / 1000.0).ceil() as u64;
                host.steps.push(Step::Work { cycles, reads, writes });
                continue;
            }
            let groups = part.program.inputs().iter().filter(|group| group.class != InputClass::Key);
            let bytes = |limbs: usize| (limbs as u64) << (log_n + 3);
            let (up, down) = (bytes(groups.map(|group| group.moduli.len()).sum()), bytes(part.outputs.len()));
            host.bytes = [host.bytes[0] + up, host.bytes[1] + down];
            host.steps.push(Step::Switch { up: link.cycles(up, mhz), reads });
            host.results.push(Results { down: link.cycles(down, mhz), writes });
        }
        host
    }

    /// Before anything is done.
    pub(super) fn begin(&self) -> Course<'_> {
        Course {
            host: self,
            next: 0,
            processor: 0,
            up: 0,
            down: 0,
            there: vec![None; self.makers.len()],
            operands: Vec::new(),
            back: Vec::new(),
            spans: Vec::new(),
        }
    }
}

/// Who is at work in a span.
pub(super) const PROCESSOR: &str = "host";
pub(super) const UP: &str = "link to engine";
pub(super) const DOWN: &str = "link to host";

/// How far the host has come.
pub(super) struct Course<'a> {
    host: &'a Host,
    /// The step that it comes to next.
    next: usize,
    /// When processor and link are free.
    processor: u64,
    up: u64,
    down: u64,
    /// When limbs between parts are in the host's memory.
    there: Vec<Option<u64>>,
    /// When operands are with the engine, and results are back, by key switch.
    operands: Vec<u64>,
    back: Vec<u64>,
    pub(super) spans: Vec<Span>,
}

impl Course<'_> {
    /// When the operands of a key switch are with the engine; none while that depends on a key switch without an end. `ended` says
    /// the cycle after its last row.
    pub(super) fn arrival(&mut self, job: usize, ended: &dyn Fn(usize) -> Option<u64>) -> Option<u64> {
        while self.operands.len() <= job {
            self.step(ended)?;
        }
        self.operands.get(job).copied()
    }

    /// When all is done: every key switch has ended.
    pub(super) fn finish(&mut self, ended: &dyn Fn(usize) -> Option<u64>) -> Option<u64> {
        while self.next < self.host.steps.len() {
            self.step(ended)?;
        }
        let last = match self.host.results.len() {
            0 => 0,
            count => self.back_of(count - 1, ended)?,
        };
        Some(self.processor.max(last))
    }

    fn step(&mut self, ended: &dyn Fn(usize) -> Option<u64>) -> Option<()> {
        let host = self.host;
        match host.steps.get(self.next)? {
            Step::Work { cycles, reads, writes } => {
                let start = self.processor.max(self.all_there(reads, ended)?);
                self.processor = start + cycles;
                for &number in writes {
                    self.there[number] = Some(self.processor);
                }
                self.span(PROCESSOR, format!("part {}", self.next), start, *cycles);
            }
            Step::Switch { up, reads } => {
                let start = self.processor.max(self.up).max(self.all_there(reads, ended)?);
                self.up = start + up;
                self.span(UP, format!("key switch {}, operands", self.operands.len()), start, *up);
                self.operands.push(self.up + host.latency);
            }
        }
        self.next += 1;
        Some(())
    }

    fn all_there(&mut self, reads: &[usize], ended: &dyn Fn(usize) -> Option<u64>) -> Option<u64> {
        let mut latest = 0;
        for &number in reads {
            if let (None, Some(job)) = (self.there[number], self.host.makers[number]) {
                self.back_of(job, ended)?;
            }
            latest = latest.max(self.there[number]?);
        }
        Some(latest)
    }

    /// When the results of a key switch are back; those before it come first.
    fn back_of(&mut self, job: usize, ended: &dyn Fn(usize) -> Option<u64>) -> Option<u64> {
        let host = self.host;
        while self.back.len() <= job {
            let number = self.back.len();
            let Results { down, writes } = host.results.get(number)?;
            let start = self.down.max(ended(number)?);
            self.down = start + down;
            self.span(DOWN, format!("key switch {number}, results"), start, *down);
            let back = self.down + host.latency;
            for &number in writes {
                self.there[number] = Some(back);
            }
            self.back.push(back);
        }
        self.back.get(job).copied()
    }

    fn span(&mut self, unit: &'static str, what: String, start: u64, cycles: u64) {
        if cycles > 0 {
            self.spans.push(Span { unit: unit.into(), what, start, end: start + cycles });
        }
    }
}

/// Where every cycle of a run went, the most first: a cycle in which several are at work is that of the first of them.
pub(super) fn shares(cycles: u64, all: [(&str, Vec<(u64, u64)>); 3], rest: &str) -> Vec<(String, u64)> {
    let mut events: Vec<(u64, usize, i64)> = Vec::new();
    for (who, (_, spans)) in all.iter().enumerate() {
        events.extend(spans.iter().flat_map(|&(start, end)| [(start, who, 1), (end, who, -1)]));
    }
    events.push((cycles, all.len(), 0));
    events.sort_unstable();
    let (mut open, mut found, mut last) = ([0_i64; 3], [0_u64; 4], 0);
    for (at, who, step) in events {
        let first = open.iter().position(|&n| n > 0).unwrap_or(all.len());
        found[first] += at - last;
        last = at;
        if let Some(count) = open.get_mut(who) {
            *count += step;
        }
    }
    let names = all.iter().map(|(name, _)| *name).chain([rest]);
    let mut parts: Vec<(String, u64)> = names.map(String::from).zip(found).filter(|(_, n)| *n > 0).collect();
    parts.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    parts
}

#[cfg(test)]
mod tests;
