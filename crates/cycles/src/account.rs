//! Where the cycles of a schedule went.
//!
//! Every start is the latest of some times, and the one that it equals is known. So a chain of events leads from the end of the run
//! back to its start without a gap: each cycle belongs to one event of it, and to one part of that event.

use std::collections::BTreeMap;

use crate::plan::{FREE, Plan};
use crate::replay::{Event, Flow, START, Schedule};

/// What a cycle went for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// A unit took in a row.
    Work(usize),
    /// A unit had taken in all rows and the last one had not left.
    Latency(usize),
    /// Memory was slower than a unit.
    Banks(usize),
    /// A result waited in a unit for space in memory.
    Leaving(usize),
    /// A result went from one cluster to another.
    Network,
    /// A channel moved a limb.
    Moving(Flow),
    /// A limb had been moved and was not there yet.
    OffChipLatency,
}

/// What each part of a chain took, and each region.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Account {
    pub(crate) parts: BTreeMap<Part, u64>,
    /// By the place of the region among those of the graph; the last one is what no region covers.
    pub(crate) regions: BTreeMap<usize, BTreeMap<Part, u64>>,
}

impl Account {
    pub(crate) fn of(plan: &Plan<'_>, schedule: &Schedule) -> Self {
        let mut account = Self::default();
        let (mut at, mut event) = (schedule.cycles, schedule.last);
        while event != START {
            let (start, cause) = account.event(plan, schedule, event, at);
            (at, event) = (start, cause);
        }
        debug_assert_eq!(at, 0, "what nothing holds up begins at once");
        account
    }

    /// Counts what an event took up to a time; says when it began, and what it had waited for.
    fn event(&mut self, plan: &Plan<'_>, schedule: &Schedule, event: Event, at: u64) -> (u64, Event) {
        if let Some(transfer) = schedule.transfer(plan, event) {
            let region = plan.ops.get(transfer.op as usize).map(|op| op.node);
            let (moving, behind) = match transfer.flow {
                Flow::Expanded => (Part::Work(transfer.by.into()), Part::Latency(transfer.by.into())),
                flow => (Part::Moving(flow), Part::OffChipLatency),
            };
            let ends = [(transfer.end, moving), (u64::MAX, behind)];
            self.count(plan, region, transfer.start, at, &ends);
            return (transfer.start, transfer.cause);
        }
        let (op, issue) = (&plan.ops[event as usize], &schedule.issues[event as usize]);
        let unit = usize::from(op.unit);
        if op.unit == FREE {
            self.count(plan, Some(op.node), issue.start, at, &[(u64::MAX, Part::Network)]);
            return (issue.start, issue.cause);
        }
        let out = issue.end + u64::from(op.tail - issue.rows);
        let ends = [
            (issue.start + u64::from(issue.rows), Part::Work(unit)),
            (issue.end, Part::Banks(unit)),
            (out, Part::Latency(unit)),
            (issue.done, Part::Leaving(unit)),
            (u64::MAX, Part::Network),
        ];
        self.count(plan, Some(op.node), issue.start, at, &ends);
        (issue.start, issue.cause)
    }

    /// Divides the cycles from `from` to `to` at some ends.
    fn count(&mut self, plan: &Plan<'_>, node: Option<u32>, from: u64, to: u64, ends: &[(u64, Part)]) {
        let region = node.and_then(|node| plan.graph.region_of(node)).unwrap_or(usize::MAX);
        let mut from = from;
        for &(end, part) in ends {
            let end = end.min(to);
            if end > from {
                *self.parts.entry(part).or_default() += end - from;
                *self.regions.entry(region).or_default().entry(part).or_default() += end - from;
                from = end;
            }
        }
    }
}
