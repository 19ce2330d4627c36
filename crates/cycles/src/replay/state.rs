//! What is known of limbs and units while a schedule is made.

use std::collections::VecDeque;

use super::{Event, Options, START, Wait};
use crate::graph::{Class, Value};
use crate::plan::{FREE, Home, Plan};

/// No slot, no further use.
pub(super) const NONE: u32 = u32::MAX;

/// No cluster: a limb is spread over all of them.
pub(super) const ANYWHERE: u8 = u8::MAX;

/// A time that has to come first, what sets it, and what waiting for it is called.
#[derive(Clone, Copy)]
pub(super) struct Bound {
    pub(super) at: u64,
    pub(super) by: Event,
    pub(super) wait: Wait,
}

impl Bound {
    pub(super) const fn later(self, other: Self) -> Self {
        if other.at > self.at { other } else { self }
    }
}

/// A limb.
#[derive(Clone, Copy)]
pub(super) struct Limb {
    /// When all of it can be read, and when its first row leaves its unit.
    pub(super) ready: u64,
    pub(super) head: u64,
    /// When the last of its readers so far is through, and which that is.
    pub(super) last: u64,
    pub(super) last_by: Event,
    pub(super) maker: Event,
    pub(super) slot: u32,
    /// What it was last touched with.
    pub(super) stamp: u32,
    /// Its next use among all.
    pub(super) next: u32,
    /// The unit that it leaves; none of what came.
    pub(super) unit: u16,
    pub(super) cluster: u8,
    /// Whether a copy is off chip.
    pub(super) clean: bool,
    /// Whether it is to be written at its end.
    pub(super) leaves: bool,
}

/// An instance of a unit.
#[derive(Clone)]
pub(super) struct Instance {
    pub(super) free: u64,
    pub(super) last: Event,
    /// When the last results have left it.
    pub(super) drained: VecDeque<(u64, Event)>,
}

/// The instance that is free first.
pub(super) fn first_free(instances: &[Instance]) -> usize {
    let first = instances.iter().enumerate().min_by_key(|(_, instance)| instance.free);
    first.map_or(0, |(at, _)| at)
}

/// Where each limb is read, and what is known of it at the start.
pub(super) fn limbs(plan: &Plan<'_>, order: &[u32], options: &Options) -> (Vec<u32>, Vec<Limb>) {
    let count = plan.homes.len();
    let mut first = vec![0u32; count + 1];
    // One more for the end of each list.
    first[1..].fill(1);
    let reads = || order.iter().flat_map(|&i| plan.reads(&plan.ops[i as usize]));
    reads().for_each(|&v| first[v as usize + 1] += 1);
    let stay = || plan.graph.results.iter().filter(|_| !options.write_results);
    stay().for_each(|&v| first[v as usize + 1] += 1);
    for v in 0..count {
        first[v + 1] += first[v];
    }
    let mut uses = vec![NONE; first[count] as usize];
    let mut next = first.clone();
    let mut read = |v: Value, k: u32| {
        uses[next[v as usize] as usize] = k;
        next[v as usize] += 1;
    };
    for (k, &i) in order.iter().enumerate() {
        plan.reads(&plan.ops[i as usize]).iter().for_each(|&v| read(v, k as u32));
    }
    stay().for_each(|&v| read(v, order.len() as u32 + 1));
    let limb = |(home, &next): (&Home, &u32)| Limb {
        ready: 0,
        head: 0,
        last: 0,
        last_by: START,
        maker: START,
        slot: NONE,
        stamp: NONE,
        next,
        unit: FREE,
        cluster: ANYWHERE,
        clean: home.class != Class::Value,
        leaves: false,
    };
    let mut limbs: Vec<_> = plan.homes.iter().zip(&first).map(limb).collect();
    if options.write_results {
        let made = |v: &&Value| plan.homes[**v as usize].class == Class::Value;
        plan.graph.results.iter().filter(made).for_each(|&v| limbs[v as usize].leaves = true);
    }
    (uses, limbs)
}
