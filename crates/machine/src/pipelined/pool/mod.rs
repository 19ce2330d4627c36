//! Key switches on the pool of transform units in place (`rtl/pipelined`, `rm_pool_key_switch`): their tasks, and the cycles of every
//! start on a timetable. The rules are those of `rm_pool_rules`; `rtl/tools/tests/test_pool.py` holds starts and ends to the RTL.
//!
//! A **task** is one transform of one key switch. A **timetable** is the order of starts over consecutive key switches.

pub mod timetable;

#[cfg(test)]
mod tests;

use std::fmt;

use super::memory::{Channel, Memory};
use super::{Arrival, after as arrival_after};
use timetable::Row;

/// log2 of the words of a row.
pub const LOG_LANES: u32 = 4;
/// Butterflies of a unit.
pub const BUTTERFLIES: u64 = 32;
/// Key switches that may be inside: their tags have three bits.
pub const INSIDE: usize = 8;

/// Limbs and special primes of a key switch, and limbs of a digit; the last digit may have fewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Set {
    /// Limbs of the operand.
    pub limbs: u32,
    /// Special primes.
    pub special: u32,
    /// Limbs of a digit.
    pub alpha: u32,
}

/// What a task is, with the numbers of `rm_pool_pkg`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A limb of the operand to coefficients, into its digit's slot; the limb's own product with the key is added beside.
    Back = 1,
    /// A digit modulo another prime; its product with the key is added.
    Up = 2,
    /// A component's sums modulo a special prime to coefficients, into the component's slot.
    Rest = 3,
    /// A component's special residue modulo a limb; the sums less it, divided, are a result.
    Down = 4,
}

/// A transform of a key switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Task {
    /// What it is.
    pub kind: Kind,
    /// Its modulus; special ones come after limbs.
    pub modulus: u32,
    /// Its digit or component.
    pub part: u32,
}

impl Task {
    /// Its direction.
    pub const fn inverse(self) -> bool {
        matches!(self.kind, Kind::Back | Kind::Rest)
    }

    /// Whether it adds a product to the sums of its modulus.
    pub const fn adds(self) -> bool {
        matches!(self.kind, Kind::Back | Kind::Up)
    }

    /// Limbs that it moves off chip, keys apart: the operand's twice; an addend's and a result's.
    pub const fn limbs_off_chip(self) -> u64 {
        match self.kind {
            Kind::Back | Kind::Down => 2,
            Kind::Up | Kind::Rest => 0,
        }
    }

    /// Limbs of keys that it reads: both components.
    pub const fn limbs_of_keys(self) -> u64 {
        if self.adds() { 2 } else { 0 }
    }
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, modulus, part } = self;
        match kind {
            Kind::Back => write!(f, "limb {modulus} back"),
            Kind::Up => write!(f, "digit {part} up to {modulus}"),
            Kind::Rest => write!(f, "special residue {part} of {modulus}"),
            Kind::Down => write!(f, "component {part} down to {modulus}"),
        }
    }
}

impl Set {
    /// Digits of an operand.
    pub const fn digits(self) -> u32 {
        self.limbs.div_ceil(self.alpha)
    }

    /// Transforms of a key switch.
    pub const fn transforms(self) -> u32 {
        (self.digits() + 2) * self.moduli()
    }

    /// Moduli of its sums.
    pub const fn moduli(self) -> u32 {
        self.limbs + self.special
    }

    /// Limbs of sums that a build for this set has: with them its timetable on ten units is as short as its transforms.
    pub const fn sums(self) -> u32 {
        2 * (self.moduli() + self.special + 1)
    }

    /// Limbs of a digit.
    fn digit(self, j: u32) -> std::ops::Range<u32> {
        j * self.alpha..self.limbs.min((j + 1) * self.alpha)
    }

    /// Every transform, each after those it is made of.
    pub fn tasks(self) -> Vec<Task> {
        let task = |kind, modulus, part| Task { kind, modulus, part };
        let mut found: Vec<_> = (0..self.limbs).map(|i| task(Kind::Back, i, i / self.alpha)).collect();
        for j in 0..self.digits() {
            // What the way down waits for comes first.
            let special = self.limbs..self.moduli();
            let targets = special.chain((0..self.limbs).filter(|i| i / self.alpha != j));
            found.extend(targets.map(|m| task(Kind::Up, m, j)));
        }
        for c in 0..2 {
            found.extend((self.limbs..self.moduli()).map(|m| task(Kind::Rest, m, c)));
        }
        for c in 0..2 {
            found.extend((0..self.limbs).map(|i| task(Kind::Down, i, c)));
        }
        found
    }

    /// Whether a task is made of what another gives.
    pub fn needs(self, task: Task, other: Task) -> bool {
        let sums = other.adds() && other.modulus == task.modulus;
        match task.kind {
            Kind::Back => false,
            Kind::Up => other.kind == Kind::Back && other.part == task.part,
            Kind::Rest => sums,
            Kind::Down => sums || (other.kind == Kind::Rest && other.part == task.part),
        }
    }
}

/// As `(4, 1, 4)`: limbs, special primes, digits.
impl fmt::Display for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {}, {})", self.limbs, self.special, self.digits())
    }
}

/// The times of `rm_inplace_ntt` at a degree, as `rtl/inplace_ntt/test/inplace.h` holds them to the RTL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Unit {
    /// log2 N.
    pub log_n: u32,
    /// Cycles of a product.
    pub multiplier: u64,
}

impl Unit {
    /// Rows of a polynomial: the cycles in which it enters, and leaves.
    pub const fn rows(self) -> u64 {
        1 << (self.log_n - LOG_LANES)
    }

    /// From the row that is asked for to the row that it becomes.
    const fn row_latency(self) -> u64 {
        4 * (self.multiplier + 4) + 4
    }

    /// Further cycles from a start to the next one where directions differ.
    pub const fn turn(self) -> u64 {
        3 * (self.multiplier + 4)
    }

    /// From the first row of the first pass to that of the last, in both directions.
    fn to_last_pass(self) -> u64 {
        let passes = self.log_n.div_ceil(4);
        (1..passes)
            .map(|level| if level + 1 == passes { self.log_n - 4 } else { 4 * level })
            .map(|window| self.rows().max((1 << window) + self.row_latency() - 1))
            .sum()
    }

    /// From a start to the next of the same direction.
    pub fn interval(self) -> u64 {
        self.to_last_pass() + self.rows()
    }

    /// From a start to the first row that leaves.
    pub fn leaves(self) -> u64 {
        2 * self.multiplier + self.to_last_pass() + self.row_latency()
    }

    /// From the start of a task that adds to the first row of its sums.
    fn summed(self) -> u64 {
        self.leaves() + 7 + self.multiplier
    }

    /// From the start of a task on the way down to the last row of its result.
    fn result(self) -> u64 {
        self.leaves() + 6 + self.multiplier + self.rows() - 1
    }
}

/// A build of `rm_pool_key_switch` at a degree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Pool {
    /// Its units' times.
    pub unit: Unit,
    /// How many there are.
    pub units: u32,
    /// How many tasks' rows can enter at once.
    pub feeds: u32,
    /// Limbs of sums.
    pub sums: u32,
}

/// A task that starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Start {
    /// The key switch.
    pub job: usize,
    /// The task.
    pub task: Task,
    /// The unit.
    pub unit: u32,
    /// When.
    pub cycle: u64,
}

/// Starts in their order, and the last row of each key switch. Cycle 0 is that in which the first one is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// Every start.
    pub starts: Vec<Start>,
    /// By key switch.
    pub ends: Vec<u64>,
}

/// A timetable whose next task waits for one behind it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the timetable stops: {0}")]
pub struct Blocked(pub String);

/// A slot of coefficients: a digit's, or a component's special residue.
#[derive(Debug, Clone, Default)]
struct Slot {
    /// Moduli of tasks that read it and have not started, a bit each.
    readers: u32,
    job: Option<usize>,
    /// When each column's task started, by modulus.
    begun: Vec<(u32, u64)>,
    /// When the next reader of each of its two ports may start; of the second one also not before nothing is written.
    read: [u64; 2],
}

/// The sums of a modulus.
#[derive(Debug, Clone, Default)]
struct Bank {
    /// Digits that have been added, a bit each, and whose they are.
    digits: u32,
    job: Option<usize>,
    finished: Vec<Finished>,
    /// When the next product, and what reads the sums, may start.
    given: u64,
}

/// Finished sums of a key switch.
#[derive(Debug, Clone, Copy)]
struct Finished {
    job: usize,
    /// Components that have not been read, a bit each.
    left: u32,
    /// When they can be read.
    written: u64,
}

/// A key switch inside.
#[derive(Debug, Clone, Copy)]
struct Inside {
    /// Results that have not been started.
    left: u32,
    taken: u64,
    end: u64,
}

impl Inside {
    const fn at(self, cycle: u64) -> bool {
        self.left > 0 || cycle <= self.end
    }
}

/// A simulation under way.
struct Run<'a> {
    pool: &'a Pool,
    set: Set,
    slots: Vec<Slot>,
    banks: Vec<Bank>,
    /// Limbs of sums that are taken.
    used: u32,
    /// When each unit may start a task of its last direction; none before its first.
    free: Vec<(u64, Option<bool>)>,
    feeds: Vec<u64>,
    feed: usize,
    inside: Vec<Inside>,
    channel: Option<Channel>,
    ran: Vec<Start>,
}

impl Pool {
    /// Cycles that the butterflies need at least for a key switch.
    pub fn bound(&self, set: Set) -> f64 {
        let log_n = self.unit.log_n;
        let butterflies = (u64::from(set.transforms()) * u64::from(log_n)) << (log_n - 1);
        butterflies as f64 / (BUTTERFLIES * u64::from(self.units)) as f64
    }

    /// Key switches of a set, all promised from cycle 0 on, or each when those of `after` have ended. No row is late, unless a
    /// memory makes it so.
    ///
    /// # Errors
    /// [`Blocked`], for a timetable in an impossible order.
    pub fn run(
        &self,
        set: Set,
        table: &[Row],
        after: &[Vec<usize>],
        memory: Option<&Memory>,
    ) -> Result<Ran, Blocked> {
        let mut arrival = arrival_after(|job| &after[job]);
        self.run_as(set, table, after.len(), &mut arrival, memory)
    }

    /// The same of `count` key switches with operands that arrive.
    pub(super) fn run_as(
        &self,
        set: Set,
        table: &[Row],
        count: usize,
        arrival: Arrival<'_>,
        memory: Option<&Memory>,
    ) -> Result<Ran, Blocked> {
        let digits = set.digits() as usize;
        let mut run = Run {
            pool: self,
            set,
            slots: vec![Slot::default(); digits + 2],
            banks: vec![Bank::default(); set.moduli() as usize],
            used: 0,
            free: vec![(0, None); self.units as usize],
            feeds: vec![0; self.feeds as usize],
            feed: 0,
            inside: Vec::new(),
            channel: memory.map(Memory::channel),
            ran: Vec::new(),
        };
        if !table.contains(&Row::Take) {
            return Err(Blocked("no row takes a key switch".into()));
        }
        // The newest key switches, the oldest of them first; none where a `Take` went on without one.
        let mut named: Vec<Option<usize>> = Vec::new();
        let (mut now, mut at) = (0, 0);
        let any = |run: &Run<'_>, now| run.inside.iter().rev().take(INSIDE).any(|k| k.at(now));
        while run.inside.len() < count || any(&run, now) {
            let row = table[at];
            at = (at + 1) % table.len();
            let Row::Task { task, unit, age } = row else {
                let oldest = named.len().checked_sub(INSIDE).and_then(|k| named[k]);
                if let Some(old) = oldest.map(|job| run.inside[job]).filter(|old| old.at(now)) {
                    if old.left > 0 {
                        return Err(Blocked(format!("{INSIDE} key switches are inside")));
                    }
                    now = old.end + 1;
                }
                let next = run.inside.len();
                let ended = |k: usize| run.inside.get(k).filter(|k| k.left == 0).map(|k| k.end + 1);
                let there = if next < count { arrival(next, &ended) } else { None };
                // With none inside it waits for the next; else it goes on without it.
                now = there.filter(|_| !any(&run, now)).map_or(now, |at| at.max(now));
                let taken = there.is_some_and(|at| at <= now);
                named.push(taken.then_some(next));
                if taken {
                    run.inside.push(Inside { left: 2 * set.limbs, taken: now, end: now });
                }
                now += 1;
                continue;
            };
            let job = named.len().checked_sub(1 + age as usize).and_then(|k| named[k]);
            match job.filter(|&job| run.inside[job].at(now)) {
                Some(job) => now = run.start(job, task, unit, now)? + 1,
                None => now += 1,
            }
        }
        let ends = run.inside.iter().map(|k| k.end).collect();
        Ok(Ran { starts: run.ran, ends })
    }
}

impl Run<'_> {
    /// Starts a task not before `now`; returns when.
    fn start(&mut self, job: usize, task: Task, number: u32, now: u64) -> Result<u64, Blocked> {
        let (set, unit) = (self.set, self.pool.unit);
        let rows = unit.rows();
        let blocked = || Blocked(format!("key switch {job}: {task} waits for a task behind it"));
        let digits = set.digits();
        let part = if task.adds() { task.part } else { digits + task.part };
        let (Some(slot), Some(bank), Some(free)) = (
            self.slots.get_mut(part as usize),
            self.banks.get_mut(task.modulus as usize),
            self.free.get_mut(number as usize),
        ) else {
            return Err(Blocked(format!("{task} on unit {number} is outside of the set")));
        };
        let (bit, digit) = (1 << task.modulus, 1 << task.part);
        let turn = if free.1.is_some_and(|last| last != task.inverse()) { unit.turn() } else { 0 };
        let mut cycle = now.max(free.0 + turn).max(self.feeds[self.feed]);
        let mut possible = if task.inverse() {
            let mine = slot.job == Some(job) && slot.begun.iter().all(|&(m, _)| m != task.modulus);
            slot.readers == 0 || mine
        } else {
            let width =
                if task.kind == Kind::Down { set.special as usize } else { set.digit(task.part).len() };
            cycle = slot.begun.iter().fold(cycle, |at, &(_, start)| at.max(start + unit.leaves() + 1));
            let whole = slot.begun.iter().map(|&(_, start)| start + unit.leaves() + rows).max().unwrap_or(0);
            cycle = cycle.max(slot.read[0].min(slot.read[1].max(whole)));
            slot.job == Some(job) && slot.readers & bit != 0 && slot.begun.len() == width
        };
        let (first, last) = (bank.digits == 0, bank.digits.count_ones() + 1 == digits);
        let finished = bank.finished.iter().position(|of| of.job == job);
        // Last products modulo a special prime go into other limbs, since they are read at once.
        let fresh = task.adds() && (first || (last && task.modulus >= set.limbs));
        if task.adds() {
            possible &=
                if first { finished.is_none() } else { bank.job == Some(job) && bank.digits & digit == 0 };
            possible &= !fresh || self.used + 2 <= self.pool.sums;
        } else {
            possible &= finished.is_some_and(|k| bank.finished[k].left & digit != 0);
        }
        cycle = match (task.kind, finished) {
            (Kind::Rest, Some(k)) => cycle.max(bank.finished[k].written),
            // The last product still reads the sums, through the port that this task needs.
            (Kind::Down, _) => cycle.max(bank.given + unit.multiplier + 2),
            _ => cycle.max(bank.given),
        };
        if !possible {
            return Err(blocked());
        }
        if let Some(channel) = &mut self.channel {
            let limbs = (task.limbs_of_keys(), task.limbs_off_chip());
            cycle = channel.start(self.inside[job].taken, cycle, limbs, rows);
        }

        self.ran.push(Start { job, task, unit: number, cycle });
        *free = (cycle + unit.interval(), Some(task.inverse()));
        self.feeds[self.feed] = cycle + rows;
        self.feed = (self.feed + 1) % self.feeds.len();
        if task.inverse() {
            if slot.readers == 0 {
                let every = |moduli: u32| (1_u32 << moduli) - 1;
                slot.readers = if task.adds() {
                    let own = set.digit(task.part).fold(0, |own, i| own | 1 << i);
                    every(set.moduli()) & !own
                } else {
                    every(set.limbs)
                };
                (slot.job, slot.begun) = (Some(job), Vec::new());
            }
            slot.begun.push((task.modulus, cycle));
        } else {
            slot.readers &= !bit;
            let port = usize::from(slot.read[0] > cycle);
            slot.read[port] = cycle + rows;
        }
        if task.adds() {
            (bank.digits, bank.job, bank.given) = (bank.digits | digit, Some(job), cycle + rows);
            if first {
                self.used += 2;
            }
            if last {
                bank.digits = 0;
                bank.finished.push(Finished { job, left: 0b11, written: cycle + unit.summed() });
            }
        } else if let Some(k) = finished {
            bank.finished[k].left &= !digit;
            if bank.finished[k].left == 0 {
                bank.finished.swap_remove(k);
            }
            self.used -= 1;
        }
        if task.kind == Kind::Down {
            let inside = &mut self.inside[job];
            inside.left -= 1;
            inside.end = inside.end.max(cycle + unit.result());
            if inside.left == 0 && self.banks.iter().any(|bank| bank.finished.iter().any(|of| of.job == job))
            {
                return Err(Blocked(format!("key switch {job} ends and leaves sums behind")));
            }
        }
        Ok(cycle)
    }
}

/// Interval and latency once a timetable repeats itself: means over key switches in the middle of a run.
pub fn steady(ran: &Ran) -> (f64, f64) {
    let (first, last) = (FIRST, COUNT - 10);
    let mut begun = vec![None; ran.ends.len()];
    for start in &ran.starts {
        begun[start.job].get_or_insert(start.cycle);
    }
    let count = (last - first) as f64;
    let latency: u64 = (first..last).map(|k| ran.ends[k] - begun[k].unwrap_or(0)).sum();
    ((ran.ends[last] - ran.ends[first]) as f64 / count, latency as f64 / count)
}

/// Key switches of a run, and the first of those that [`steady`] counts: as many as go round with any number of units.
pub const COUNT: usize = 60;
const FIRST: usize = 20;
