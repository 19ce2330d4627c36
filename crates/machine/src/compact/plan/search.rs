//! The search over plans: several are made, the cycle model decides between the best of them.
//!
//! No rule of a list scheduler is best for every program, and one plan is run often. So the free choices of
//! the scheduler ([`Tuning`]) are first drawn at random (greedy randomised construction: Feo, Resende 1995).
//! Then single choices of the best ones are changed. A change that makes a plan slightly worse is accepted
//! below a threshold that falls during the search (threshold accepting: Dueck, Scheuer 1990). A program of
//! several equal parts is first searched over one and two of them: choices that are good for few parts are a
//! good start for all. The draws follow from a fixed seed and nothing depends on the clock: the same program
//! gets the same plan on every machine.

use ringmill_program::limb::LimbProgram;
use ringmill_program::limb::random::Random;

use super::super::lower::graph::Graph;
use super::super::model::{Timing, simulate_again};
use super::super::{CompactConfig, CompactError, Policy};
use super::clock::Clock;
use super::facts::Facts;
use super::tuning::Tuning;
use super::{Plan, attempt};

/// What to look for, and how long.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Search {
    pub(crate) policy: Policy,
    /// Passes scheduled, all attempts together.
    pub(crate) effort: usize,
}

/// Attempts that the cycle model decides between.
const FINALISTS: usize = 4;
/// The most attempts.
const MOST_ATTEMPTS: usize = 1 << 16;
/// Of the attempts on a program without alike parts, those drawn at random, in percent.
const DRAWN: usize = 30;
/// As many are drawn in any case.
const FEW: usize = 8;
/// Attempts for which one start is enough, and starts otherwise.
const ONE_START: usize = 400;
const STARTS: usize = 2;
/// How much worse than the current plan the next may be at first: a part of 2^20, times the product of two draws below
/// 2^10, so a quarter of a hundredth on average.
const SLACK: u64 = 100;
/// Of a program of several alike parts: how many are planned at a time; of the effort, what is spent on it, in percent; of
/// these attempts, those drawn at random, in percent.
const STAGES: [(usize, usize, usize); 3] = [(1, 15, 30), (2, 45, 50), (usize::MAX, 40, 10)];

/// Schedules a graph. Early outputs do not cost the whole: of the plans for them, only those count that end no later
/// than the plan for throughput of the same effort.
///
/// # Errors
/// [`CompactError::Memory`].
pub(crate) fn plan(
    config: &CompactConfig,
    program: &LimbProgram,
    graph: &Graph,
    search: Search,
) -> Result<Plan, CompactError> {
    let found = finalists(config, program, graph, search)?;
    if search.policy != Policy::LowLatency {
        return least(config, program, found, |_, timing| timing.counters.cycles);
    }
    let whole = Search { policy: Policy::Throughput, ..search };
    let whole = least(config, program, finalists(config, program, graph, whole)?, |_, timing| {
        timing.counters.cycles
    })?;
    let most = simulate_again(config, program.log_n(), &whole.instructions)?.counters.cycles;
    let all = std::iter::once(whole).chain(found).collect();
    least(config, program, all, |plan, timing| {
        let outputs: u64 = plan.output_ends(&timing.spans).iter().sum();
        (timing.counters.cycles > most, outputs)
    })
}

/// The first of the plans of the least cost; the cycle model says what each takes.
fn least<C: Ord>(
    config: &CompactConfig,
    program: &LimbProgram,
    mut plans: Vec<Plan>,
    cost: impl Fn(&Plan, &Timing) -> C,
) -> Result<Plan, CompactError> {
    if plans.len() == 1 {
        return Ok(plans.remove(0));
    }
    let mut least: Option<(C, Plan)> = None;
    for plan in plans {
        let cost = cost(&plan, &simulate_again(config, program.log_n(), &plan.instructions)?);
        if least.as_ref().is_none_or(|(other, _)| cost < *other) {
            least = Some((cost, plan));
        }
    }
    least.map(|(_, plan)| plan).ok_or(CompactError::Unschedulable { node: 0 })
}

/// The best plans by the scheduler's own estimates, the best first: one if there is no effort to search.
fn finalists(
    config: &CompactConfig,
    program: &LimbProgram,
    graph: &Graph,
    search: Search,
) -> Result<Vec<Plan>, CompactError> {
    let moduli = program.moduli().iter().map(|m| m.modulus).collect();
    let facts = Facts::new(graph, moduli);
    let first = attempt(config, program, &facts, &Tuning::default(), u64::MAX)?;
    let mut seeker = Seeker { config, program, search, random: Random(0x7e4a_11ed) };
    let mut starts = Tuning::rules(Clock::new(config, program.log_n()).is_slow());
    if search.effort < 2 * graph.passes() {
        // No search: the best of the rules by their own estimates.
        let limit = if search.policy == Policy::LowLatency { first.output_estimate } else { first.estimate };
        let mut best = Best(Vec::new());
        starts.into_iter().for_each(|tuning| best.enter(seeker.attempt(&facts, tuning, limit)));
        let found = best.0.into_iter().next().filter(|found| found.objective < limit);
        return Ok(vec![found.map_or(first, |found| found.plan)]);
    }
    let mut spent = 0;
    let mut best = Vec::new();
    for (parts, share, drawn) in STAGES {
        let drawn = if facts.parts() == 1 { DRAWN } else { drawn };
        if parts >= facts.parts() {
            best = seeker.seek(&facts, search.effort - spent, &starts, drawn);
            break;
        }
        let (graph, effort) = (facts.graph_of_parts(parts as u32), search.effort * share / 100);
        let found = seeker.seek(&Facts::new(&graph, facts.moduli.clone()), effort, &starts, drawn);
        starts = found.iter().flat_map(|found| found.tuning.spreads()).collect();
        spent += effort;
    }
    best.push(Found { objective: u64::MAX, tuning: Tuning::default(), plan: first });
    Ok(best.into_iter().map(|found| found.plan).collect())
}

/// A plan with how it came about.
struct Found {
    objective: u64,
    tuning: Tuning,
    plan: Plan,
}

struct Seeker<'p> {
    config: &'p CompactConfig,
    program: &'p LimbProgram,
    search: Search,
    random: Random,
}

impl Seeker<'_> {
    /// A plan and what it costs by the scheduler's own estimate, which is within a thousandth for good ones.
    /// None if it costs more than `limit`.
    fn attempt(&self, facts: &Facts<'_>, tuning: Tuning, limit: u64) -> Option<Found> {
        let last = if self.search.policy == Policy::LowLatency { u64::MAX } else { limit };
        let plan = attempt(self.config, self.program, facts, &tuning, last).ok()?;
        let objective = match self.search.policy {
            Policy::LowLatency => plan.output_estimate,
            _ => plan.estimate,
        };
        Some(Found { objective, tuning, plan })
    }

    /// The best of about as many attempts as the effort allows, best first.
    fn seek(&mut self, facts: &Facts<'_>, effort: usize, starts: &[Tuning], drawn: usize) -> Vec<Found> {
        let count = (effort / facts.graph.passes()).clamp(1, MOST_ATTEMPTS);
        let mut best = Best(Vec::new());
        let drawn = (count * drawn / 100).max(FEW);
        for tuning in starts.iter().cloned() {
            best.enter(self.attempt(facts, tuning, best.limit()));
        }
        for _ in 0..drawn.min(count) {
            let tuning = Tuning::any(&mut self.random);
            best.enter(self.attempt(facts, tuning, best.limit()));
        }
        let changed = count.saturating_sub(drawn);
        let starts = if changed < ONE_START { 1 } else { STARTS };
        let starts: Vec<(u64, Tuning)> =
            best.0.iter().take(starts).map(|f| (f.objective, f.tuning.clone())).collect();
        let steps = changed / starts.len().max(1);
        for (objective, tuning) in starts {
            self.improve(facts, objective, tuning, steps, &mut best);
        }
        best.0
    }

    /// Changes a plan a number of times.
    fn improve(
        &mut self,
        facts: &Facts<'_>,
        mut objective: u64,
        mut tuning: Tuning,
        steps: usize,
        best: &mut Best,
    ) {
        for step in 0..steps as u64 {
            let limit = objective + self.slack(objective, step, steps as u64);
            let next = tuning.neighbour(&mut self.random);
            let Some(next) = self.attempt(facts, next, limit) else { continue };
            if next.objective <= limit {
                (objective, tuning) = (next.objective, next.tuning.clone());
            }
            best.enter(Some(next));
        }
    }
}

impl Seeker<'_> {
    /// How much more a plan may cost than the current one, less and less; in the last tenth of the way nothing.
    fn slack(&mut self, objective: u64, step: u64, steps: u64) -> u64 {
        let draw = self.random.below(1 << 10) * self.random.below(1 << 10);
        let left = (9 * steps).saturating_sub(10 * step);
        let part = u128::from(objective) * u128::from(draw * left) / u128::from(10 * steps * SLACK);
        (part >> 20) as u64
    }
}

/// The best so far, no two of the same cost, the best first.
struct Best(Vec<Found>);

impl Best {
    /// The cost above which nothing enters.
    fn limit(&self) -> u64 {
        self.0.get(FINALISTS - 1).map_or(u64::MAX, |last| last.objective)
    }

    fn enter(&mut self, found: Option<Found>) {
        let Some(found) = found else { return };
        let at = self.0.partition_point(|other| other.objective < found.objective);
        if at >= FINALISTS || self.0.get(at).is_some_and(|other| other.objective == found.objective) {
            return;
        }
        self.0.insert(at, found);
        self.0.truncate(FINALISTS);
    }
}
