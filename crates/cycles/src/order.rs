//! The first pass: in which order instructions are issued, memory left aside.
//!
//! A list schedule over the graph. Every unit takes, of the instructions whose operands are there, the most urgent one that is not
//! too far ahead of the oldest one that has not been issued. Too wide a window costs memory, too narrow a one idles units, so
//! several orders are tried.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::description::Mode;
use crate::plan::{FREE, Plan};

/// An order of issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Order {
    /// That of the program.
    Program,
    /// A list schedule.
    List {
        /// Which of two instructions is taken first.
        urgency: Urgency,
        /// How many instructions after the oldest one that has not been issued a unit looks.
        window: u32,
    },
}

/// Which of two instructions is taken first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Urgency {
    /// The one that stands first in the program.
    Program,
    /// The one with the longer way to the end of the program.
    CriticalPath,
}

impl Order {
    /// The list schedule that takes what stands first in the program.
    pub const fn window(window: u32) -> Self {
        Self::List { urgency: Urgency::Program, window }
    }
}

impl std::fmt::Display for Order {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Program => f.write_str("program order"),
            Self::List { urgency: Urgency::Program, window } => {
                write!(f, "program order within {window} instructions")
            }
            Self::List { urgency: Urgency::CriticalPath, window } => {
                write!(f, "critical path within {window} instructions")
            }
        }
    }
}

/// Which instructions read the result of which.
pub(crate) struct Uses {
    /// The first reader of each instruction among all, and the one after the last.
    first: Vec<u32>,
    all: Vec<u32>,
    /// How many instructions each waits for.
    needs: Vec<u32>,
}

/// No instruction.
const NONE: u32 = u32::MAX;

impl Uses {
    pub(crate) fn of(plan: &Plan<'_>) -> Self {
        let count = plan.ops.len();
        let mut maker = vec![NONE; plan.homes.len()];
        plan.ops.iter().enumerate().for_each(|(i, op)| maker[op.result as usize] = i as u32);
        let mut first = vec![0u32; count + 1];
        let mut needs = vec![0u32; count];
        let made = |plan: &Plan<'_>, i: usize, each: &mut dyn FnMut(usize)| {
            for &v in plan.reads(&plan.ops[i]) {
                if maker[v as usize] != NONE {
                    each(maker[v as usize] as usize);
                }
            }
        };
        for (i, need) in needs.iter_mut().enumerate() {
            made(plan, i, &mut |m| {
                first[m + 1] += 1;
                *need += 1;
            });
        }
        for i in 0..count {
            first[i + 1] += first[i];
        }
        let mut next = first.clone();
        let mut all = vec![0u32; first[count] as usize];
        for i in 0..count {
            made(plan, i, &mut |m| {
                all[next[m] as usize] = i as u32;
                next[m] += 1;
            });
        }
        Self { first, all, needs }
    }

    /// The instructions that read the result of one.
    pub(crate) fn readers(&self, op: usize) -> &[u32] {
        &self.all[self.first[op] as usize..self.first[op + 1] as usize]
    }

    /// Cycles from the start of each instruction to the end of the program if nothing else held it up.
    pub(crate) fn ways(&self, plan: &Plan<'_>) -> Vec<u64> {
        let mut ways = vec![0u64; plan.ops.len()];
        for i in (0..plan.ops.len()).rev() {
            let behind = self.readers(i).iter().map(|&j| ways[j as usize]).max().unwrap_or(0);
            ways[i] = u64::from(plan.ops[i].tail) + behind;
        }
        ways
    }
}

/// How many instructions later those of a pass are looked for: more would fill memory with results that nothing reads soon.
const NEAR: usize = 512;

impl Uses {
    /// An order with what can pass a unit together one after the other, at the place of the first of them.
    pub(crate) fn gather(&self, plan: &Plan<'_>, order: Vec<u32>) -> Vec<u32> {
        if plan.ops.iter().all(|op| op.together == 1) {
            return order;
        }
        let mut needs = self.needs.clone();
        let mut issued = vec![false; order.len()];
        let mut out = Vec::with_capacity(order.len());
        let mut issue = |i: u32, needs: &mut [u32], issued: &mut [bool]| {
            self.readers(i as usize).iter().for_each(|&j| needs[j as usize] -= 1);
            issued[i as usize] = true;
            out.push(i);
        };
        for (k, &i) in order.iter().enumerate() {
            if issued[i as usize] {
                continue;
            }
            let op = &plan.ops[i as usize];
            issue(i, &mut needs, &mut issued);
            let mut space = op.together - 1;
            for &j in order[k + 1..].iter().take(NEAR) {
                if space == 0 {
                    break;
                }
                let with = plan.ops[j as usize].words == op.words;
                if with && !issued[j as usize] && needs[j as usize] == 0 {
                    issue(j, &mut needs, &mut issued);
                    space -= 1;
                }
            }
        }
        out
    }
}

/// The order in which instructions are issued.
pub(crate) fn order(plan: &Plan<'_>, uses: &Uses, order: Order) -> Vec<u32> {
    match order {
        Order::List { urgency, window } if plan.machine.mode == Mode::Parallel => {
            List::new(plan, uses, urgency, window).run()
        }
        // One instruction at a time: there is no overlap to find.
        _ => (0..plan.ops.len() as u32).collect(),
    }
}

struct List<'a> {
    plan: &'a Plan<'a>,
    uses: &'a Uses,
    window: u64,
    /// The place of each instruction, the most urgent first; none where that is the order of the program.
    rank: Option<Vec<u32>>,
    needs: Vec<u32>,
    /// When the operands of each are there.
    at: Vec<u64>,
    issued: Vec<bool>,
    oldest: usize,
    /// Instructions whose operands come at a time.
    coming: BinaryHeap<Reverse<(u64, u32)>>,
    /// Instructions beyond the window, with the time of their operands.
    beyond: BinaryHeap<Reverse<(u32, u64)>>,
    /// Instructions whose operands are there, by rank, for each unit; the last are those that take no time.
    ready: Vec<BinaryHeap<Reverse<(u32, u32)>>>,
    /// Units in the order in which they first had an instruction to take, so that names of units change nothing.
    turns: Vec<usize>,
    /// When each instance of each unit is free.
    free: Vec<Vec<u64>>,
}

impl<'a> List<'a> {
    fn new(plan: &'a Plan<'a>, uses: &'a Uses, urgency: Urgency, window: u32) -> Self {
        let count = plan.ops.len();
        let rank = (urgency == Urgency::CriticalPath).then(|| {
            let ways = uses.ways(plan);
            let mut sorted: Vec<u32> = (0..count as u32).collect();
            sorted.sort_by_key(|&i| (Reverse(ways[i as usize]), i));
            let mut rank = vec![0u32; count];
            sorted.iter().enumerate().for_each(|(r, &i)| rank[i as usize] = r as u32);
            rank
        });
        let units = plan.instances.len() + 1;
        let mut free: Vec<_> = plan.instances.iter().map(|&n| vec![0; n as usize]).collect();
        free.push(vec![0]);
        Self {
            plan,
            uses,
            window: window.into(),
            rank,
            needs: uses.needs.clone(),
            at: vec![0; count],
            issued: vec![false; count],
            oldest: 0,
            coming: BinaryHeap::new(),
            beyond: BinaryHeap::new(),
            ready: vec![BinaryHeap::new(); units],
            turns: Vec::with_capacity(units),
            free,
        }
    }

    fn unit(&self, i: u32) -> usize {
        match self.plan.ops[i as usize].unit {
            FREE => self.plan.instances.len(),
            unit => unit.into(),
        }
    }

    fn offer(&mut self, i: u32) {
        let at = self.at[i as usize];
        if u64::from(i) > self.oldest as u64 + self.window {
            self.beyond.push(Reverse((i, at)));
        } else {
            self.coming.push(Reverse((at, i)));
        }
    }

    fn run(mut self) -> Vec<u32> {
        let count = self.plan.ops.len();
        let mut out = Vec::with_capacity(count);
        (0..count as u32).filter(|&i| self.uses.needs[i as usize] == 0).for_each(|i| self.offer(i));
        let mut now = 0;
        while out.len() < count {
            while let Some(&Reverse((at, i))) = self.coming.peek().filter(|c| c.0.0 <= now) {
                debug_assert!(at <= now);
                self.coming.pop();
                let rank = self.rank.as_ref().map_or(i, |rank| rank[i as usize]);
                let unit = self.unit(i);
                self.ready[unit].push(Reverse((rank, i)));
                if !self.turns.contains(&unit) {
                    self.turns.push(unit);
                }
            }
            let before = out.len();
            for turn in 0..self.turns.len() {
                if let Some(i) = self.take(self.turns[turn], now) {
                    out.push(i);
                }
            }
            if out.len() == before {
                now = self.next(now);
            }
        }
        out
    }

    /// Issues the most urgent instruction of a unit, if there is one and an instance is free.
    fn take(&mut self, unit: usize, now: u64) -> Option<u32> {
        if self.ready[unit].is_empty() {
            return None;
        }
        let last = unit == self.plan.instances.len();
        let instance = self.free[unit].iter_mut().min().filter(|free| last || **free <= now)?;
        let Reverse((_, i)) = self.ready[unit].pop()?;
        let op = &self.plan.ops[i as usize];
        *instance = now + u64::from(op.shared(op.together));
        let done = now + u64::from(op.tail);
        self.issued[i as usize] = true;
        for &j in self.uses.readers(i as usize) {
            self.at[j as usize] = self.at[j as usize].max(done);
            self.needs[j as usize] -= 1;
            if self.needs[j as usize] == 0 {
                self.offer(j);
            }
        }
        while self.oldest < self.issued.len() && self.issued[self.oldest] {
            self.oldest += 1;
        }
        let end = self.oldest as u64 + self.window;
        while let Some(&Reverse((j, at))) = self.beyond.peek().filter(|b| u64::from(b.0.0) <= end) {
            self.beyond.pop();
            self.coming.push(Reverse((at, j)));
        }
        Some(i)
    }

    /// The next time at which anything can be issued.
    fn next(&self, now: u64) -> u64 {
        let coming = self.coming.peek().map(|c| c.0.0);
        let waiting = self.ready.iter().zip(&self.free).filter(|(ready, _)| !ready.is_empty());
        let free = waiting.filter_map(|(_, free)| free.iter().min().copied());
        coming.into_iter().chain(free).min().unwrap_or(now).max(now)
    }
}
