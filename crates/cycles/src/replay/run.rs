//! The walk through the instructions.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::channel::Channel;
use super::ledger::Ledger;
use super::memory::{Memory, Slot};
use super::pass::{Pass, Passes};
use super::state::{ANYWHERE, Bound, Instance, Limb, NONE, first_free, limbs};
use super::{Event, Flow, Issue, Options, START, Schedule, Transfer, Wait, Work};
use crate::description::Mode;
use crate::graph::Value;
use crate::plan::{FREE, Home, Op, Plan};

/// Cycles of an interval of bandwidth: about what an instruction of a large machine takes.
const LOG_INTERVAL: u32 = 6;

/// log2 of the most intervals that are kept for a bank; longer runs have longer intervals.
const LOG_INTERVALS: u32 = 20;

/// When each instruction of `order` begins; none as soon as it is known that it takes more than `limit` cycles.
pub(crate) fn replay(plan: &Plan<'_>, order: &[u32], options: &Options, limit: u64) -> Option<Schedule> {
    let mut run = Run::new(plan, order, options);
    for (k, &i) in order.iter().enumerate() {
        run.issue(k as u32, i);
        if run.cycles > limit {
            return None;
        }
    }
    run.leave_all();
    (run.cycles <= limit).then(|| run.schedule())
}

pub(super) struct Run<'a> {
    pub(super) plan: &'a Plan<'a>,
    pub(super) options: &'a Options,
    pub(super) limb_bytes: u64,
    /// Positions at which each limb is read, one limb after the other, each list ended by `NONE`.
    pub(super) uses: Vec<u32>,
    pub(super) limbs: Vec<Limb>,
    pub(super) memories: Vec<Memory>,
    pub(super) channels: Vec<Channel>,
    pub(super) units: Vec<Vec<Instance>>,
    pub(super) work: Vec<Work>,
    pub(super) issues: Vec<Issue>,
    /// Where operands are, in the order of the plan's.
    operand_slots: Vec<u32>,
    pub(super) transfers: Vec<Transfer>,
    pub(super) flows: [(u64, u64); Flow::ALL.len()],
    /// Results that are to be written, by when they can be.
    pub(super) leaving: Vec<BinaryHeap<Reverse<(u64, Value)>>>,
    /// The end of the last instruction of a machine that does one thing at a time.
    pub(super) turn: (u64, Event),
    pub(super) cycles: u64,
    pub(super) last: Event,
    /// The limbs that the instruction has asked for.
    pub(super) asked: Vec<Value>,
    /// The pass of each instruction, and how many are in it.
    passes: Passes,
    /// The pass of the last instruction of a unit.
    pass: Pass,
}

impl<'a> Run<'a> {
    fn new(plan: &'a Plan<'a>, order: &[u32], options: &'a Options) -> Self {
        let limb_bytes = (plan.graph.n() * u64::from(plan.machine.word_bits)).div_ceil(8);
        let (uses, limbs) = limbs(plan, order, options);
        let long: u64 = plan.ops.iter().map(|op| u64::from(op.tail)).sum();
        let log = (64 - long.leading_zeros()).saturating_sub(LOG_INTERVALS).max(LOG_INTERVAL);
        let memory = |(m, &slots): (&crate::description::Memory, &u64)| {
            let rate = m.bytes_per_cycle.filter(|_| options.banks);
            let bank = |rate: u64| Ledger::new((rate / u64::from(m.banks)).max(1), log);
            Memory::new(slots, rate.map_or_else(Vec::new, |rate| (0..m.banks).map(|_| bank(rate)).collect()))
        };
        let free = Instance { free: 0, last: START, drained: VecDeque::new() };
        Self {
            plan,
            options,
            limb_bytes,
            uses,
            limbs,
            memories: plan.machine.memories.iter().zip(&plan.slots).map(memory).collect(),
            channels: plan
                .machine
                .channels
                .iter()
                .zip(&plan.ticks)
                .map(|(c, &ticks)| Channel::new(ticks, c.latency, c.queue))
                .collect(),
            units: plan.instances.iter().map(|&count| vec![free.clone(); count as usize]).collect(),
            work: vec![Work::default(); plan.instances.len()],
            issues: vec![Issue::default(); plan.ops.len()],
            operand_slots: vec![NONE; plan.operands()],
            transfers: Vec::new(),
            flows: Default::default(),
            leaving: vec![BinaryHeap::new(); plan.machine.memories.len()],
            turn: (0, START),
            cycles: 0,
            last: START,
            asked: Vec::new(),
            passes: Passes::of(plan, order),
            pass: Pass { number: NONE, last: 0, instance: 0, turn: (0, START) },
        }
    }

    pub(super) fn home(&self, value: Value) -> Home {
        self.plan.homes[value as usize]
    }

    pub(super) fn limb(&mut self, value: Value) -> &mut Limb {
        &mut self.limbs[value as usize]
    }

    /// The position of the next instruction that reads a limb.
    fn next_use(&self, value: Value) -> u32 {
        self.uses[self.limbs[value as usize].next as usize]
    }

    /// The same where what is cheap to bring back goes first.
    fn next_use_by_cost(&self, value: Value, k: u32) -> u32 {
        let next = self.next_use(value);
        match self.home(value).made {
            true => NONE - 1,
            false if self.limbs[value as usize].clean => next.saturating_add(next - k).min(NONE - 2),
            false => next,
        }
    }

    /// Says how soon a limb goes now that position `k` has touched it.
    fn touch(&mut self, value: Value, k: u32) {
        let when = match self.options {
            Options { next_use: false, .. } => NONE - 1 - k,
            Options { by_cost: true, .. } => self.next_use_by_cost(value, k),
            _ => self.next_use(value),
        };
        self.limb(value).stamp = when;
        let memory = self.home(value).memory;
        self.memories[memory as usize].touch(value, when);
    }

    pub(super) fn ended(&mut self, at: u64, by: Event) {
        if at > self.cycles || self.last == START {
            (self.cycles, self.last) = (at.max(self.cycles), by);
        }
    }

    /// When an operand can be read by an instruction that holds its unit for so long.
    fn operand(&self, value: Value, op: &Op, cluster: u8) -> Bound {
        let limb = &self.limbs[value as usize];
        let came = limb.maker >= self.plan.ops.len() as Event;
        let in_order = |unit: u16| unit != FREE && self.plan.machine.units[usize::from(unit)].chained;
        let chained =
            self.options.chaining && !came && limb.unit != op.unit && limb.unit != FREE && in_order(op.unit);
        // The last row must not be read before it has left: rows leave, and are read, at even rates.
        let at = match chained {
            true => limb.head.max(limb.ready.saturating_sub(op.rows.into())),
            false => limb.ready,
        };
        let far = limb.cluster != ANYWHERE && cluster != ANYWHERE && limb.cluster != cluster;
        let at = if far { at + self.plan.machine.network } else { at };
        let came = came || limb.maker == START;
        Bound { at, by: limb.maker, wait: if came { Wait::OffChip } else { Wait::Operands } }
    }

    fn issue(&mut self, k: u32, i: u32) {
        let plan = self.plan;
        let op = self.passes.op(plan, i);
        let reads = plan.reads(&op);
        self.asked.clear();
        for &value in reads {
            if self.limbs[value as usize].slot == NONE {
                self.fetch(value, &op, i);
            }
        }
        for (at, &value) in reads.iter().enumerate() {
            self.operand_slots[op.first as usize + at] = self.limbs[value as usize].slot;
        }
        let slot = self.room(op.result, &op, i);
        let issue =
            if op.unit == FREE { self.free_issue(&op, i, slot) } else { self.unit_issue(&op, i, slot) };
        self.issues[i as usize] = issue;
        self.ended(issue.done, i);
        for asked in std::mem::take(&mut self.asked) {
            let channel = self.home(asked).channel;
            self.channels[channel as usize].read(issue.start, i);
        }
        for &value in reads {
            let limb = self.limb(value);
            limb.next += 1;
            if issue.end > limb.last {
                (limb.last, limb.last_by) = (issue.end, i);
            }
            self.used(value, k);
        }
        self.used(op.result, k);
    }

    /// What becomes of a limb after an instruction has read or made it.
    fn used(&mut self, value: Value, k: u32) {
        if self.next_use(value) != NONE {
            return self.touch(value, k);
        }
        let (limb, m) = (self.limbs[value as usize], self.home(value).memory as usize);
        if limb.leaves && !limb.clean {
            // It is no longer among those that can be made to go.
            self.limb(value).stamp = NONE;
            self.leaving[m].push(Reverse((limb.last, value)));
        } else {
            self.limb(value).slot = NONE;
            self.memories[m].give(Slot { at: limb.last, number: limb.slot, by: limb.last_by });
        }
    }

    /// An instruction that takes no time.
    fn free_issue(&mut self, op: &Op, i: u32, slot: Slot) -> Issue {
        let start = self.operands(op, ANYWHERE).later(Bound { at: slot.at, by: slot.by, wait: Wait::Space });
        let issue =
            Issue { start: start.at, end: start.at, done: start.at, cause: start.by, ..Issue::default() };
        self.made(op, i, issue, ANYWHERE, slot)
    }

    fn operands(&self, op: &Op, cluster: u8) -> Bound {
        let none = Bound { at: 0, by: START, wait: Wait::Operands };
        self.plan.reads(op).iter().fold(none, |bound, &v| bound.later(self.operand(v, op, cluster)))
    }

    fn unit_issue(&mut self, op: &Op, i: u32, slot: Slot) -> Issue {
        let (plan, unit) = (self.plan, op.unit as usize);
        let described = &plan.machine.units[unit];
        let buffers = if self.options.buffers { described.buffers as usize } else { 0 };
        let cluster = |instance: usize| match described.in_clusters {
            true => (instance as u32 / described.count) as u8,
            false => ANYWHERE,
        };
        let pass = self.passes.number(i);
        // The instruction of the same pass before this one.
        let before = (pass != NONE && pass == self.pass.number).then_some(self.pass.last);
        if before.is_none() {
            self.pass = Pass { number: pass, last: i, instance: 0, turn: self.turn };
        }
        // What must come first, beside that the unit is free.
        let needed = |run: &Self, instance: usize| {
            let mut bound = run.operands(op, cluster(instance));
            if buffers == 0 {
                bound = bound.later(Bound { at: slot.at, by: slot.by, wait: Wait::Space });
            } else if let Some(&(at, by)) = run.units[unit][instance]
                .drained
                .front()
                .filter(|_| run.units[unit][instance].drained.len() >= buffers)
            {
                bound = bound.later(Bound { at, by, wait: Wait::Space });
            }
            if plan.machine.mode == Mode::Serial {
                let (at, by) = run.pass.turn;
                bound = bound.later(Bound { at, by, wait: Wait::Turn });
            }
            bound
        };
        let at = match described.in_clusters {
            _ if before.is_some() => self.pass.instance,
            false => first_free(&self.units[unit]),
            true => (0..self.units[unit].len())
                .min_by_key(|&at| self.units[unit][at].free.max(needed(self, at).at))
                .unwrap_or_default(),
        };
        let needed = needed(self, at);
        let instance = &self.units[unit][at];
        let (free, last) = (instance.free, instance.last);
        let (start, cause) = if needed.at > free { (needed.at, needed.by) } else { (free, last) };
        let rows = u64::from(op.rows);
        let end = self.read(op, start, before);
        let slowed = end - (start + rows);
        let mut done = start + u64::from(op.tail) + slowed;
        if buffers > 0 && slot.at > start {
            // The result leaves its unit row by row once there is space.
            done = done.max(slot.at + rows);
        }
        done = done.max(self.written(op, start, slot));
        let instance = &mut self.units[unit][at];
        (instance.free, instance.last) = (end, i);
        if buffers > 0 {
            instance.drained.push_back((slot.at.max(start), if slot.at > start { slot.by } else { i }));
            if instance.drained.len() > buffers {
                instance.drained.pop_front();
            }
        }
        let work = &mut self.work[unit];
        work.instructions += 1;
        work.busy += rows;
        work.slowed += slowed;
        work.waiting[needed.wait as usize] += start - free;
        work.used += plan.graph.n() * u64::from(op.terms.max(1));
        if before.is_none() || done > self.turn.0 {
            self.turn = (done, i);
        }
        (self.pass.last, self.pass.instance) = (i, at);
        let issue = Issue { start, end, done, cause, instance: at as u32, rows: op.rows, slot: slot.number };
        self.made(op, i, issue, cluster(at), slot)
    }

    /// When the operands of an instruction have been read from memory. What the one before it in a pass has read is there.
    fn read(&mut self, op: &Op, start: u64, before: Option<u32>) -> u64 {
        let mut end = start + u64::from(op.rows);
        let there = before.map_or(&[][..], |i| self.plan.reads(&self.plan.ops[i as usize]));
        for &value in self.plan.reads(op).iter().filter(|v| !there.contains(v)) {
            let (slot, memory) = (self.limbs[value as usize].slot, self.home(value).memory);
            end =
                end.max(self.memories[memory as usize].access(slot, start, self.limb_bytes, op.rows.into()));
        }
        end
    }

    /// When the result of an instruction has been written to memory.
    fn written(&mut self, op: &Op, start: u64, slot: Slot) -> u64 {
        let memory = self.home(op.result).memory as usize;
        let from = (start + u64::from(op.tail - op.rows)).max(slot.at);
        self.memories[memory].access(slot.number, from, self.limb_bytes, op.rows.into())
    }

    /// The result of an instruction.
    fn made(&mut self, op: &Op, by: Event, issue: Issue, cluster: u8, slot: Slot) -> Issue {
        let head = issue.start + u64::from(op.head);
        let limb = self.limb(op.result);
        (limb.ready, limb.head, limb.last) = (issue.done, head.min(issue.done), issue.done);
        (limb.maker, limb.last_by, limb.unit, limb.cluster) = (by, by, op.unit, cluster);
        limb.slot = slot.number;
        Issue { slot: slot.number, ..issue }
    }

    fn schedule(mut self) -> Schedule {
        for (unit, work) in self.units.iter().zip(&mut self.work) {
            work.waiting[Wait::Over as usize] += unit.iter().map(|u| self.cycles - u.free).sum::<u64>();
        }
        Schedule {
            cycles: self.cycles,
            last: self.last,
            issues: self.issues,
            operand_slots: self.operand_slots,
            transfers: self.transfers,
            work: self.work,
            flows: self.flows,
            moving: self.channels.iter().map(|c| c.moving).collect(),
            memory_bytes: self.memories.iter().map(|m| m.bytes).collect(),
            resident: self.memories.iter().map(|m| m.most).collect(),
        }
    }
}
