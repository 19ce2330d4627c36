//! A graph on a machine: which unit runs each instruction and how long, where each limb is kept, and what its transfer takes.

mod fuse;
mod pass;
#[cfg(test)]
mod tests;

use crate::description::{Channel, Description, Pack, Run};
use crate::error::Refused;
use crate::graph::{Class, Graph, Kind, Node, Value};

pub(crate) use pass::NONE;

/// The unit of an instruction that takes no time.
pub(crate) const FREE: u16 = u16::MAX;

/// log2 of the cycles that one instruction may take, and of all together: sums of times stay within 64 bits.
const LOG_LONGEST: (u32, u32) = (31, 48);

/// An instruction on a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Op {
    /// Its place in the graph.
    pub(crate) node: u32,
    pub(crate) kind: Kind,
    pub(crate) unit: u16,
    /// Cycles that it holds the unit if it passes alone, to the first row of its result, and to the last one.
    pub(crate) rows: u32,
    pub(crate) head: u32,
    pub(crate) tail: u32,
    pub(crate) terms: u32,
    /// Cycles that ports hold the unit, whatever passes with it.
    pub(crate) ports: u32,
    /// The words that it shares with others, and how many of these pass together at most.
    pub(crate) words: u32,
    pub(crate) together: u32,
    /// Its operands among all of the plan, each once.
    pub(crate) first: u32,
    pub(crate) len: u32,
    pub(crate) result: Value,
}

/// A limb, as memories and channels see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Home {
    pub(crate) memory: u8,
    pub(crate) channel: u8,
    pub(crate) class: Class,
    /// Whether a unit makes it from a seed.
    pub(crate) made: bool,
    /// Bytes of a transfer, whole beats.
    pub(crate) bytes: u64,
}

/// Time on a channel, exact: a cycle and a byte are each a whole number of ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticks {
    pub(crate) cycle: u64,
    pub(crate) byte: u64,
}

/// All that schedules depend on.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) machine: &'a Description,
    pub(crate) graph: &'a Graph,
    pub(crate) ops: Vec<Op>,
    operands: Vec<Value>,
    pub(crate) homes: Vec<Home>,
    /// Limbs that each memory holds.
    pub(crate) slots: Vec<u64>,
    pub(crate) ticks: Vec<Ticks>,
    /// How many there are of each unit, in all clusters.
    pub(crate) instances: Vec<u32>,
    /// An instruction that makes half of a limb of a key from a seed.
    pub(crate) expand: Option<Op>,
}

impl<'a> Plan<'a> {
    pub(crate) fn new(machine: &'a Description, graph: &'a Graph) -> Result<Self, Refused> {
        let homes = homes(machine, graph)?;
        let limb_bits = u128::from(graph.n()) * u128::from(machine.word_bits);
        let slots = |bytes: u64| (u128::from(bytes) * 8 / limb_bits) as u64;
        let count = |u: &crate::description::Unit| u.count * if u.in_clusters { machine.clusters } else { 1 };
        let mut plan = Self {
            machine,
            graph,
            ops: Vec::with_capacity(graph.len()),
            operands: Vec::with_capacity(graph.operands.len()),
            homes,
            slots: machine.memories.iter().map(|m| slots(m.bytes)).collect(),
            ticks: machine.channels.iter().map(ticks).collect(),
            instances: machine.units.iter().map(count).collect(),
            expand: None,
        };
        fuse::fuse(&mut plan)?;
        pass::find(&mut plan);
        plan.fits()?;
        if let Some(unit) = machine.expand {
            plan.expand = Some(plan.timed(Kind::Add, unit, 0, 1, 0)?);
        }
        let cycles = plan.ops.iter().map(|op| u64::from(op.tail));
        let transfers =
            plan.homes.iter().map(|h| plan.transfer_ticks(*h).div_ceil(plan.ticks[h.channel as usize].cycle));
        let log = LOG_LONGEST.1;
        match cycles.chain(transfers).try_fold(0u64, u64::checked_add).filter(|sum| sum >> log == 0) {
            Some(_) => Ok(plan),
            None => Err(Refused::Long { log }),
        }
    }

    /// What an instruction reads, each limb once.
    pub(crate) fn reads(&self, op: &Op) -> &[Value] {
        &self.operands[op.first as usize..(op.first + op.len) as usize]
    }

    /// How many operands all instructions have.
    pub(crate) fn operands(&self) -> usize {
        self.operands.len()
    }

    /// Ticks of the channel that a transfer of a limb takes.
    pub(crate) fn transfer_ticks(&self, home: Home) -> u64 {
        home.bytes * self.ticks[home.channel as usize].byte
    }

    /// Appends an instruction with these operands.
    fn push(&mut self, mut op: Op, operands: &[Value]) {
        let first = self.operands.len();
        for &value in operands {
            if !self.operands[first..].contains(&value) {
                self.operands.push(value);
            }
        }
        op.first = first as u32;
        op.len = (self.operands.len() - first) as u32;
        self.ops.push(op);
    }

    /// An instruction as the machine runs its kind, its operands not yet.
    fn op(&self, at: u32, node: &Node, unit: Option<usize>) -> Result<Op, Refused> {
        let mut op = match unit {
            Some(unit) => self.timed(node.kind, unit, at, node.terms, node.reads)?,
            None => self.blank(node.kind, at, node.terms),
        };
        op.result = node.result;
        Ok(op)
    }

    fn blank(&self, kind: Kind, node: u32, terms: u32) -> Op {
        Op {
            node,
            kind,
            unit: FREE,
            rows: 0,
            head: 0,
            tail: 0,
            terms,
            ports: 0,
            words: pass::NONE,
            together: 1,
            first: 0,
            len: 0,
            result: 0,
        }
    }

    fn timed(&self, kind: Kind, unit: usize, node: u32, terms: u32, reads: u32) -> Result<Op, Refused> {
        let (u, log_n, n) = (&self.machine.units[unit], self.graph.log_n(), self.graph.n());
        if let Some(accumulators) = u.accumulators.filter(|&most| terms > most) {
            return Err(Refused::Accumulators {
                unit: u.name.clone(),
                kind: kind.name(),
                terms,
                accumulators,
            });
        }
        let at = |e: &crate::expression::Expression| e.of(log_n).at(terms);
        let figure = at(&u.rows);
        let read = u.reads.map_or(0, |words| (n * u64::from(reads)).div_ceil(words));
        let written = u.writes.map_or(0, |words| n.div_ceil(words));
        let ports = read.max(written).max(1);
        let rows = figure.max(ports);
        // What ports delay, the last row is late.
        let tail = at(&u.last).saturating_add(rows - figure.min(rows));
        let short = |cycles: u64| {
            u32::try_from(cycles)
                .ok()
                .filter(|c| c >> LOG_LONGEST.0 == 0)
                .ok_or(Refused::Long { log: LOG_LONGEST.0 })
        };
        let (rows, head, tail) = (short(rows)?, short(at(&u.first))?, short(tail.max(rows))?);
        let op = self.blank(kind, node, terms);
        Ok(Op { unit: unit as u16, rows, head: head.min(tail), tail, ports: short(ports)?, ..op })
    }

    /// How the machine runs a kind.
    fn run_of(&self, kind: Kind) -> Result<Run, Refused> {
        self.machine.run_of(kind).ok_or(Refused::Kind { kind: kind.name() })
    }

    /// Whether the limbs of each instruction fit.
    fn fits(&self) -> Result<(), Refused> {
        for op in &self.ops {
            let limbs = self.reads(op).iter().chain([&op.result]);
            let mut needed = vec![0usize; self.slots.len()];
            limbs.for_each(|&v| needed[self.homes[v as usize].memory as usize] += 1);
            let short = needed.iter().zip(&self.slots).position(|(&needed, &slots)| needed as u64 > slots);
            if let Some(m) = short {
                return Err(Refused::Capacity {
                    memory: self.machine.memories[m].name.clone(),
                    slots: self.slots[m],
                    log_n: self.graph.log_n(),
                    kind: op.kind.name(),
                    needed: needed[m],
                });
            }
        }
        Ok(())
    }
}

/// A cycle and a byte of a channel in the greatest ticks that divide both.
fn ticks(channel: &Channel) -> Ticks {
    let (mut a, mut b) = (channel.millibytes_per_cycle, 1000);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    Ticks { cycle: channel.millibytes_per_cycle / a, byte: 1000 / a }
}

fn homes(machine: &Description, graph: &Graph) -> Result<Vec<Home>, Refused> {
    let of =
        |has: &dyn Fn(usize) -> bool, count: usize| (0..count).find(|&i| has(i)).unwrap_or_default() as u8;
    let memory = Class::ALL.map(|c| of(&|i| machine.memories[i].holds.contains(&c), machine.memories.len()));
    let channel =
        Class::ALL.map(|c| of(&|i| machine.channels[i].carries.contains(&c), machine.channels.len()));
    let home = |limb: &crate::graph::Limb| {
        if u32::from(limb.bits) > machine.word_bits {
            let what = match limb.class {
                Class::Value => "the modulus of a result".to_owned(),
                class => format!("the modulus of a limb of class {}", class.name()),
            };
            return Err(Refused::Word { what, bits: limb.bits.into(), word: machine.word_bits });
        }
        let c = &machine.channels[channel[limb.class as usize] as usize];
        let bits = match c.pack {
            Pack::Prime => u64::from(limb.bits.max(1)),
            Pack::Word => machine.word_bits.into(),
        };
        Ok(Home {
            memory: memory[limb.class as usize],
            channel: channel[limb.class as usize],
            class: limb.class,
            made: limb.class == Class::SeededKey && machine.expand.is_some(),
            bytes: (graph.n() * bits).div_ceil(8).next_multiple_of(c.beat),
        })
    };
    graph.limbs.iter().map(home).collect()
}
