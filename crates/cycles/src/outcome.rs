//! The results of a simulation.

use std::sync::Arc;

use crate::account::{Account, Part};
use crate::bounds::Bounds;
use crate::description::{Description, Origin};
use crate::graph::Class;
use crate::order::Order;
use crate::plan::{FREE, Plan};
use crate::replay::{Flow, Options, Schedule, Wait};

/// What a program takes on a machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The program.
    pub program: String,
    /// The machine.
    pub machine: String,
    /// The order of issue that was best of those tried.
    pub order: Order,
    /// Instructions that were issued; those that are part of others are not counted.
    pub instructions: u64,
    /// Cycles of the run.
    pub cycles: u64,
    /// Seconds at the machine's clock.
    pub seconds: f64,
    /// Where every cycle went: the sum is `cycles`.
    pub parts: Vec<(String, u64)>,
    /// The same by region of the program, the longest first, with what took most of it.
    pub regions: Vec<RegionPart>,
    /// What each unit did.
    pub units: Vec<UnitWork>,
    /// What came, went, and was made.
    pub flows: Vec<FlowBytes>,
    /// How long each channel moved bytes.
    pub channels: Vec<ChannelWork>,
    /// How full memories were, and what was read and written.
    pub memories: Vec<MemoryUse>,
    /// Most results of instructions that were still to be read, in the order of issue, and the mean.
    pub live: (u64, f64),
    /// What no order can beat.
    pub bounds: Bounds,
    /// Joules by unit, memory and channel, as far as the description has figures.
    pub energy: Vec<(String, f64)>,
    /// What each unit and channel did when; empty unless it was asked for.
    pub spans: Vec<Span>,
    /// The numbers of the machine that nobody has measured or published.
    pub assumed: Vec<Origin>,
}

/// What a region of the program took of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegionPart {
    /// Its label.
    pub label: String,
    /// Cycles of the run that went for it.
    pub cycles: u64,
    /// What took most of them.
    pub by: String,
}

/// What a unit did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitWork {
    /// Its name.
    pub name: String,
    /// How many there are. All cycles below are of all of them.
    pub instances: u64,
    /// Instructions.
    pub instructions: u64,
    /// Cycles in which one took in rows.
    pub busy: u64,
    /// Cycles in which memory was too slow for one.
    pub slowed: u64,
    /// Cycles in which one waited, by what for.
    pub waiting: Vec<(Wait, u64)>,
    /// Words or products that it computed.
    pub used: u64,
    /// Words or products that it would have computed in all cycles of the run at full width.
    pub offered: u64,
}

/// What passed between chip and memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowBytes {
    /// What.
    pub flow: Flow,
    /// Bytes that were moved.
    pub bytes: u64,
    /// Limbs that were moved.
    pub limbs: u64,
    /// Bytes that would have been moved if each limb had been moved once.
    pub distinct: u64,
}

/// What a channel did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelWork {
    /// Its name.
    pub name: String,
    /// Cycles in which it moved bytes.
    pub busy: u64,
}

/// How a memory was used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryUse {
    /// Its name.
    pub name: String,
    /// Limbs that it holds.
    pub slots: u64,
    /// Most limbs that were in it at once.
    pub most: u64,
    /// Bytes read and written.
    pub bytes: u64,
    /// Bytes that it reads and writes in a cycle at most, where that is known.
    pub bytes_per_cycle: Option<u64>,
}

/// A unit or channel at work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The unit or channel; where there are several of a unit, with its number.
    pub unit: Arc<str>,
    /// What it does.
    pub what: String,
    /// The first cycle.
    pub start: u64,
    /// The cycle after the last one.
    pub end: u64,
}

impl Part {
    fn name(self, machine: &Description) -> String {
        let unit = |unit: usize| &machine.units[unit].name;
        match self {
            Self::Work(u) => format!("{} at work", unit(u)),
            Self::Latency(u) => format!("{} on its way out", unit(u)),
            Self::Banks(u) => format!("{} slowed by memory", unit(u)),
            Self::Leaving(u) => format!("{} with no space for a result", unit(u)),
            Self::Network => "between clusters".into(),
            Self::Moving(flow) => format!("off chip: {}", flow.name()),
            Self::OffChipLatency => "off chip: latency".into(),
        }
    }
}

impl Outcome {
    pub(crate) fn of(
        plan: &Plan<'_>,
        s: &Schedule,
        order: (Order, &[u32]),
        options: &Options,
        spans: bool,
    ) -> Self {
        let (machine, graph) = (plan.machine, plan.graph);
        let account = Account::of(plan, s);
        let name = |part: &Part| part.name(machine);
        let mut parts: Vec<_> = account.parts.iter().map(|(part, &cycles)| (name(part), cycles)).collect();
        parts.sort_by_key(|(_, cycles)| std::cmp::Reverse(*cycles));
        Self {
            program: graph.name().into(),
            machine: machine.name.clone(),
            order: order.0,
            instructions: plan.ops.len() as u64,
            cycles: s.cycles,
            seconds: s.cycles as f64 / (machine.ghz * 1e9),
            parts,
            regions: regions(plan, &account),
            units: units(plan, s),
            flows: flows(plan, s),
            channels: machine
                .channels
                .iter()
                .zip(s.moving.iter().zip(&plan.ticks))
                .map(|(c, (moving, of))| ChannelWork {
                    name: c.name.clone(),
                    busy: moving.div_ceil(of.cycle),
                })
                .collect(),
            memories: memories(plan, s),
            live: most_and_mean(&live(plan, order.1)),
            bounds: Bounds::of(plan, options),
            energy: energy(plan, s),
            spans: if spans { self::spans(plan, s) } else { Vec::new() },
            assumed: machine.assumed().cloned().collect(),
        }
    }

    /// Bytes of a kind of transfer.
    pub fn bytes(&self, flow: Flow) -> u64 {
        self.flows.iter().find(|f| f.flow == flow).map_or(0, |f| f.bytes)
    }

    /// Bytes that passed channels.
    pub fn off_chip(&self) -> u64 {
        self.flows.iter().filter(|f| f.flow != Flow::Expanded).map(|f| f.bytes).sum()
    }

    /// The unit of a name.
    pub fn unit(&self, name: &str) -> Option<&UnitWork> {
        self.units.iter().find(|unit| unit.name == name)
    }
}

fn regions(plan: &Plan<'_>, account: &Account) -> Vec<RegionPart> {
    let each = account.regions.iter().map(|(&region, parts)| {
        let label = plan.graph.regions.get(region).map_or_else(|| "no region".into(), |r| r.0.clone());
        let by = parts.iter().max_by_key(|(_, cycles)| **cycles).map(|(part, _)| part.name(plan.machine));
        RegionPart { label, cycles: parts.values().sum(), by: by.unwrap_or_default() }
    });
    let mut all: Vec<_> = each.collect();
    all.sort_by_key(|r| std::cmp::Reverse(r.cycles));
    all
}

fn units(plan: &Plan<'_>, s: &Schedule) -> Vec<UnitWork> {
    let each = plan.machine.units.iter().zip(&s.work).zip(&plan.instances);
    each.map(|((unit, work), &instances)| UnitWork {
        name: unit.name.clone(),
        instances: instances.into(),
        instructions: work.instructions,
        busy: work.busy,
        slowed: work.slowed,
        waiting: Wait::ALL.into_iter().map(|wait| (wait, work.waiting[wait as usize])).collect(),
        used: work.used,
        offered: s.cycles.saturating_mul(unit.width).saturating_mul(instances.into()),
    })
    .collect()
}

pub(crate) fn flows(plan: &Plan<'_>, s: &Schedule) -> Vec<FlowBytes> {
    let mut distinct = [0u64; Flow::ALL.len()];
    let mut seen = vec![0u8; plan.homes.len()];
    for t in &s.transfers {
        let bit = 1u8 << (t.flow as u8);
        if seen[t.value as usize] & bit == 0 {
            seen[t.value as usize] |= bit;
            distinct[t.flow as usize] += plan.homes[t.value as usize].bytes;
        }
    }
    let each = Flow::ALL.into_iter().zip(s.flows).zip(distinct);
    each.map(|((flow, (bytes, limbs)), distinct)| FlowBytes { flow, bytes, limbs, distinct }).collect()
}

fn memories(plan: &Plan<'_>, s: &Schedule) -> Vec<MemoryUse> {
    let each = plan.machine.memories.iter().enumerate();
    each.map(|(m, memory)| MemoryUse {
        name: memory.name.clone(),
        slots: plan.slots[m],
        most: s.resident[m],
        bytes: s.memory_bytes[m],
        bytes_per_cycle: memory.bytes_per_cycle,
    })
    .collect()
}

/// Results that are still to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Live {
    /// When an instruction has made its result and not yet left its operands.
    pub(crate) most: u64,
    /// Behind it.
    pub(crate) left: u64,
}

/// Results that are still to be read at each place of an order.
pub(crate) fn live(plan: &Plan<'_>, order: &[u32]) -> Vec<Live> {
    let mut readers = vec![0u32; plan.homes.len()];
    plan.ops.iter().for_each(|op| plan.reads(op).iter().for_each(|&v| readers[v as usize] += 1));
    let mut now = 0u64;
    let each = order.iter().map(|&i| &plan.ops[i as usize]).map(|op| {
        now += u64::from(readers[op.result as usize] > 0);
        let most = now;
        for &v in plan.reads(op) {
            readers[v as usize] -= 1;
            now -= u64::from(readers[v as usize] == 0 && plan.homes[v as usize].class == Class::Value);
        }
        Live { most, left: now }
    });
    each.collect()
}

/// The most of them, and their mean over instructions.
pub(crate) fn most_and_mean(live: &[Live]) -> (u64, f64) {
    let most = live.iter().map(|live| live.most).max().unwrap_or(0);
    let sum: u64 = live.iter().map(|live| live.left).sum();
    (most, sum as f64 / live.len().max(1) as f64)
}

fn energy(plan: &Plan<'_>, s: &Schedule) -> Vec<(String, f64)> {
    const PICO: f64 = 1e-12;
    let Some(energy) = &plan.machine.energy else { return Vec::new() };
    let mut all = Vec::new();
    let mut add = |name: &str, each: Option<f64>, count: u64| {
        all.extend(each.map(|each| (name.to_owned(), each * PICO * count as f64)));
    };
    for ((unit, &each), work) in plan.machine.units.iter().zip(&energy.units).zip(&s.work) {
        add(&unit.name, each, work.used);
    }
    for ((memory, &each), &bytes) in plan.machine.memories.iter().zip(&energy.memories).zip(&s.memory_bytes) {
        add(&memory.name, each, bytes);
    }
    for (c, (channel, &each)) in plan.machine.channels.iter().zip(&energy.channels).enumerate() {
        let moved = s.transfers.iter().filter(|t| t.flow != Flow::Expanded && usize::from(t.by) == c);
        add(&channel.name, each, moved.map(|t| plan.homes[t.value as usize].bytes).sum());
    }
    let seconds = s.cycles as f64 / (plan.machine.ghz * 1e9);
    all.extend(energy.watts.map(|watts| ("watts at rest".to_owned(), watts * seconds)));
    all
}

/// When each unit and channel worked, in order of start.
fn spans(plan: &Plan<'_>, s: &Schedule) -> Vec<Span> {
    let label = |name: &str, instance: u32, count: u32| -> Arc<str> {
        if count == 1 { name.into() } else { format!("{name}.{instance}").into() }
    };
    let names: Vec<Vec<Arc<str>>> = (plan.machine.units.iter().zip(&plan.instances))
        .map(|(unit, &count)| (0..count).map(|i| label(&unit.name, i, count)).collect())
        .collect();
    let channels: Vec<Arc<str>> = plan.machine.channels.iter().map(|c| (*c.name).into()).collect();
    let region = |node: u32| plan.graph.region_of(node).map_or("", |r| &*plan.graph.regions[r].0);
    let what = |word: &str, node: u32| match region(node) {
        "" => word.to_owned(),
        region => format!("{word}, {region}"),
    };
    let mut all = Vec::with_capacity(plan.ops.len() + s.transfers.len());
    for (op, issue) in plan.ops.iter().zip(&s.issues).filter(|(op, _)| op.unit != FREE) {
        let unit = names[op.unit as usize][issue.instance as usize].clone();
        all.push(Span { unit, what: what(op.kind.name(), op.node), start: issue.start, end: issue.end });
    }
    for t in &s.transfers {
        let unit = match t.flow {
            Flow::Expanded => names[t.by as usize][0].clone(),
            _ => channels[t.by as usize].clone(),
        };
        let node = plan.ops.get(t.op as usize).map_or(0, |op| op.node);
        all.push(Span { unit, what: what(t.flow.name(), node), start: t.start, end: t.end });
    }
    all.sort_by_key(|span| (span.start, span.end));
    all
}
