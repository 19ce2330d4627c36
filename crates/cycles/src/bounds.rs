//! What no order of issue can beat.

use crate::description::Mode;
use crate::graph::Class;
use crate::plan::{FREE, Plan};
use crate::replay::Options;

/// Three times below which no schedule ends, each of a machine that lacks nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The work of the busiest unit; of a machine that does one thing at a time, all work.
    pub work: u64,
    /// What has to pass a channel once, however large memory is.
    pub off_chip: u64,
    /// The longest chain of instructions, each of which reads the result of the one before.
    pub critical_path: u64,
}

impl Bounds {
    pub(crate) fn of(plan: &Plan<'_>, options: &Options) -> Self {
        Self {
            work: work(plan),
            off_chip: off_chip(plan, options),
            critical_path: critical_path(plan, options),
        }
    }

    /// The greatest of the three.
    pub fn most(&self) -> u64 {
        self.work.max(self.off_chip).max(self.critical_path)
    }
}

/// Which limbs are read.
fn read(plan: &Plan<'_>) -> Vec<bool> {
    let mut read = vec![false; plan.homes.len()];
    plan.ops.iter().for_each(|op| plan.reads(op).iter().for_each(|&v| read[v as usize] = true));
    read
}

fn work(plan: &Plan<'_>) -> u64 {
    let made = plan.homes.iter().zip(read(plan)).filter(|(home, read)| home.made && *read).count() as u64;
    if plan.machine.mode == Mode::Serial {
        return plan.ops.iter().map(|op| u64::from(op.tail / op.together)).sum();
    }
    let mut rows = vec![0u64; plan.instances.len()];
    plan.ops.iter().filter(|op| op.unit != FREE).for_each(|op| {
        rows[op.unit as usize] += u64::from(op.shared(op.together));
    });
    if let Some(expand) = &plan.expand {
        rows[expand.unit as usize] += made * u64::from(expand.rows);
    }
    let each = rows.iter().zip(&plan.instances).map(|(rows, &count)| rows.div_ceil(count.into()));
    each.max().unwrap_or(0)
}

fn off_chip(plan: &Plan<'_>, options: &Options) -> u64 {
    let mut ticks = vec![0u64; plan.ticks.len()];
    for (home, _) in plan.homes.iter().zip(read(plan)).filter(|(home, read)| *read && !home.made) {
        if home.class != Class::Value {
            ticks[home.channel as usize] += plan.transfer_ticks(*home);
        }
    }
    if options.write_results {
        let mut results = plan.graph.results.clone();
        results.sort_unstable();
        results.dedup();
        for home in results.iter().map(|&v| plan.homes[v as usize]).filter(|h| h.class == Class::Value) {
            ticks[home.channel as usize] += plan.transfer_ticks(home);
        }
    }
    let each = ticks.iter().zip(&plan.ticks).map(|(ticks, of)| ticks.div_ceil(of.cycle));
    each.max().unwrap_or(0)
}

fn critical_path(plan: &Plan<'_>, options: &Options) -> u64 {
    /// When a limb can be read, from its first row on, and of which unit it is.
    #[derive(Clone, Copy)]
    struct There {
        head: u64,
        ready: u64,
        unit: u16,
    }
    let come = |home: &crate::plan::Home| {
        let at = match (home.class, &plan.expand) {
            (Class::Value, _) => 0,
            (_, Some(expand)) if home.made => expand.tail.into(),
            _ => {
                let channel = home.channel as usize;
                plan.transfer_ticks(*home).div_ceil(plan.ticks[channel].cycle)
                    + plan.machine.channels[channel].latency
            }
        };
        There { head: at, ready: at, unit: FREE }
    };
    let mut there: Vec<There> = plan.homes.iter().map(come).collect();
    let mut longest = 0;
    for op in &plan.ops {
        let start = plan.reads(op).iter().map(|&v| {
            let limb = there[v as usize];
            match options.chaining && limb.unit != FREE && op.unit != FREE && limb.unit != op.unit {
                true => limb.head.max(limb.ready.saturating_sub(op.rows.into())),
                false => limb.ready,
            }
        });
        let start = start.max().unwrap_or(0);
        let (head, ready) = (start + u64::from(op.head), start + u64::from(op.tail));
        there[op.result as usize] = There { head, ready, unit: op.unit };
        longest = longest.max(ready);
    }
    longest
}
