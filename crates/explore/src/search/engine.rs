//! The loop: simulate in the order of promise until nothing can win any more.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Instant;

use rayon::prelude::*;
use ringmill_machine::compact::{Counters, Policy};
use ringmill_program::limb::LimbProgram;

use super::candidates::{Candidate, Cores, Pruned, cores_key};
use super::front::{Costs, covers};
use super::infeasible;
use super::run::{Counted, Found, Outcome, Request, explore};
use crate::design::{Hardware, PrimeClass};
use crate::model::bound::Counts;
use crate::model::exact;
use crate::predict::{Cycles, predicted};
use crate::space::chains::{Enumerated, Point, Shape};
use crate::space::cores::{self, QUICK, Timing};
use crate::store::Store;
use crate::wishes::Objective;
use crate::{ExploreError, Kernel, Wishes};

/// Programs simulated between two looks at what is left; the same on every number of threads, so that results are.
const BATCH: usize = 8;
/// Passes scheduled in search of the plan of the design that is chosen.
const THOROUGH: usize = 2_000;

/// Cycles by structure and timing; `None` for what the core cannot run.
pub type Known = HashMap<(Shape, Timing), Option<Counters>>;

pub(super) type Tell<'t> = &'t mut dyn FnMut(&'static str, usize, usize, Option<f64>) -> bool;
type Programs = HashMap<(Shape, PrimeClass), (LimbProgram, Counts)>;

pub(super) struct Search<'a> {
    request: &'a Request,
    points: &'a [Point],
    cores: &'a Cores,
    candidates: Vec<Candidate>,
    programs: Programs,
    /// Cycles by the closed form, and what is compared if the candidate ran so fast.
    bounds: Vec<(u64, Costs)>,
    /// What is compared, where it is known.
    exact: Vec<Option<Costs>>,
    /// Candidates that are neither simulated nor beaten, ascending.
    open: Vec<usize>,
    /// Simulated candidates that no other covers.
    front: Vec<usize>,
    by_cycles: HashMap<(Shape, Timing), Vec<usize>>,
    pub(super) known: Known,
    too_slow: usize,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        request: &'a Request,
        enumerated: &'a Enumerated,
        cores: &'a Cores,
        pruned: &Pruned,
    ) -> Result<Self, ExploreError> {
        let mut search = Self {
            request,
            points: &enumerated.points,
            cores,
            candidates: pruned.candidates.clone(),
            programs: Programs::new(),
            bounds: Vec::new(),
            exact: vec![None; pruned.candidates.len()],
            open: (0..pruned.candidates.len()).collect(),
            front: Vec::new(),
            by_cycles: HashMap::new(),
            known: Known::new(),
            too_slow: 0,
        };
        search.lower()?;
        for i in 0..search.candidates.len() {
            let c = search.candidates[i];
            let config = &search.core(c).config;
            let cycles = search.program(c).1.cycles(config);
            search.bounds.push((cycles, search.costs(c, cycles)));
            search.by_cycles.entry((c.shape, c.timing)).or_default().push(i);
        }
        search.drop_slow();
        Ok(search)
    }

    /// Lowers one program for each structure and class of primes.
    fn lower(&mut self) -> Result<(), ExploreError> {
        let mut wanted: BTreeMap<(Shape, PrimeClass), usize> = BTreeMap::new();
        for c in &self.candidates {
            wanted.entry((c.shape, self.points[c.point].parameters.class)).or_insert(c.point);
        }
        let wanted: Vec<_> = wanted.into_iter().collect();
        let kernels = &self.request.kernels;
        let points = self.points;
        let lowered: Result<Vec<_>, ExploreError> = wanted
            .into_par_iter()
            .map(|(key, point)| {
                let program = lower(kernels, &points[point])?;
                let counts = Counts::of(&program);
                Ok((key, (program, counts)))
            })
            .collect();
        self.programs = lowered?.into_iter().collect();
        Ok(())
    }

    fn core(&self, c: Candidate) -> &'a cores::Core {
        &self.cores[&cores_key(&c.shape)][c.core]
    }

    fn program(&self, c: Candidate) -> &(LimbProgram, Counts) {
        &self.programs[&(c.shape, self.points[c.point].parameters.class)]
    }

    fn milliseconds(&self, cycles: u64) -> f64 {
        cycles as f64 / (self.request.device.clock.mhz * 1e3)
    }

    fn costs(&self, c: Candidate, cycles: u64) -> Costs {
        let p = &self.points[c.point];
        [self.milliseconds(cycles), self.core(c).area, p.error, -p.security_bits]
    }

    /// What is to be least first, then the others in order.
    fn by_wish(&self, costs: &Costs) -> Costs {
        let first = match self.request.wishes.minimise {
            // Energy goes with time, exactly so where the power is given.
            Objective::Latency | Objective::Energy => 0,
            Objective::Area => 1,
            Objective::Error => 2,
            Objective::Security => 3,
        };
        let mut order = [0, 1, 2, 3];
        order[..=first].rotate_right(1);
        order.map(|i| costs[i])
    }

    /// Milliseconds that are wished for.
    fn most(&self) -> f64 {
        self.request.wishes.max_latency_ms.unwrap_or(f64::INFINITY)
    }

    /// Closes candidates that are too slow even at their bound.
    fn drop_slow(&mut self) {
        let (most, bounds, before) = (self.most(), &self.bounds, self.open.len());
        self.open.retain(|&i| bounds[i].1[0] <= most);
        self.too_slow += before - self.open.len();
    }

    pub(super) fn absorb_known(&mut self) {
        let keys: Vec<_> = self.by_cycles.keys().copied().filter(|k| self.known.contains_key(k)).collect();
        self.absorb(&keys);
    }

    /// Takes what is known of these keys over to all candidates that have them.
    fn absorb(&mut self, keys: &[(Shape, Timing)]) {
        let most = self.most();
        let mut fresh = Vec::new();
        for key in keys {
            let Some(Some(counters)) = self.known.get(key) else { continue };
            for &i in self.by_cycles.get(key).map_or(&[][..], Vec::as_slice) {
                let costs = self.costs(self.candidates[i], counters.cycles);
                if costs[0] > most {
                    self.too_slow += 1;
                } else {
                    self.exact[i] = Some(costs);
                    fresh.push(i);
                }
            }
        }
        fresh.sort_unstable();
        let newcomers = self.join_front(&fresh);
        let (candidates, bounds, known) = (&self.candidates, &self.bounds, &self.known);
        self.open.retain(|&i| {
            let c = candidates[i];
            let simulated = known.contains_key(&(c.shape, c.timing));
            !simulated && !newcomers.iter().any(|costs| covers(costs, &bounds[i].1))
        });
    }

    /// Adds simulated candidates to the front; what of them is on it.
    fn join_front(&mut self, fresh: &[usize]) -> Vec<Costs> {
        let exact = &self.exact;
        // Of equal ones the first stays, in whatever order they come.
        let beats = |a: usize, b: usize| match (&exact[a], &exact[b]) {
            (Some(x), Some(y)) => covers(x, y) && (x != y || a < b),
            _ => false,
        };
        for &i in fresh {
            if !self.front.iter().any(|&f| beats(f, i)) {
                self.front.retain(|&f| !beats(i, f));
                self.front.push(i);
            }
        }
        let new: BTreeSet<usize> = fresh.iter().copied().collect();
        self.front.iter().filter(|f| new.contains(f)).filter_map(|&f| exact[f]).collect()
    }

    fn exact(&self, i: usize) -> Costs {
        self.exact[i].unwrap_or([f64::INFINITY; 4])
    }

    /// Simulates the programs of these candidates; those alike in cycles once.
    fn simulate(&mut self, chosen: &[usize], store: &mut Option<&mut Store>) -> Result<(), ExploreError> {
        let mut wanted: Vec<Candidate> = Vec::new();
        for &i in chosen {
            let c = self.candidates[i];
            if !wanted.iter().any(|w| (w.shape, w.timing) == (c.shape, c.timing)) {
                wanted.push(c);
            }
        }
        let run = |&c: &Candidate| {
            let (program, config) = (&self.program(c).0, &self.core(c).config);
            // A core may be too small for a program: an instance of this kind is no design, and no fault either.
            let counters = exact::cycles(program, config, Policy::Throughput, QUICK).ok();
            ((c.shape, c.timing), counters)
        };
        let results: Vec<_> = wanted.par_iter().map(run).collect();
        if let Some(store) = store {
            store.add_cycles(&results)?;
        }
        let keys: Vec<_> = results.iter().map(|r| r.0).collect();
        self.known.extend(results);
        self.absorb(&keys);
        Ok(())
    }

    /// The place of the best by the wish among the simulated ones.
    fn best(&self) -> Option<usize> {
        let wished = |i: usize| self.by_wish(&self.exact(i));
        self.front.iter().copied().min_by(|&a, &b| compare(&wished(a), &wished(b)).then(a.cmp(&b)))
    }

    /// Open candidates that would beat the best by the wish at their bound.
    fn promising(&self) -> Vec<usize> {
        let best = self.best().map(|b| self.by_wish(&self.exact(b)));
        let wins = |i: usize| {
            let bound = self.by_wish(&self.bounds[i].1);
            best.as_ref().is_none_or(|best| compare(&bound, best).is_lt())
        };
        self.open.iter().copied().filter(|&i| wins(i)).collect()
    }

    /// Of these a batch with different cycles, the least by `key` first.
    fn batch(&self, among: &[usize], key: impl Fn(usize) -> Costs) -> Vec<usize> {
        let mut leaders: BTreeMap<(Shape, Timing), (Costs, usize)> = BTreeMap::new();
        for &i in among {
            let (c, costs) = (self.candidates[i], key(i));
            let leader = leaders.entry((c.shape, c.timing)).or_insert((costs, i));
            if compare(&costs, &leader.0).is_lt() {
                *leader = (costs, i);
            }
        }
        let mut order: Vec<(Costs, usize)> = leaders.into_values().collect();
        order.sort_by(|a, b| compare(&a.0, &b.0).then(a.1.cmp(&b.1)));
        order.into_iter().take(BATCH).map(|(_, i)| i).collect()
    }

    /// The least of the objective so far.
    fn least(&self) -> Option<f64> {
        self.best().map(|b| self.by_wish(&self.exact(b))[0])
    }

    /// Returns false if it was stopped.
    pub(super) fn find_best(
        &mut self,
        store: &mut Option<&mut Store>,
        tell: Tell<'_>,
    ) -> Result<bool, ExploreError> {
        loop {
            let promising = self.promising();
            if promising.is_empty() {
                return Ok(true);
            }
            if !tell("best", self.known.len(), promising.len(), self.least()) {
                return Ok(false);
            }
            let batch = self.batch(&promising, |i| self.by_wish(&self.bounds[i].1));
            self.simulate(&batch, store)?;
        }
    }

    /// Returns false if it was stopped.
    pub(super) fn find_front(
        &mut self,
        store: &mut Option<&mut Store>,
        deadline: Instant,
        tell: Tell<'_>,
    ) -> Result<bool, ExploreError> {
        let mut round = self.request.seed;
        loop {
            if self.open.is_empty() || Instant::now() >= deadline {
                return Ok(true);
            }
            if !tell("front", self.known.len(), self.open.len(), self.least()) {
                return Ok(false);
            }
            // Each round looks from another side: the fastest, the smallest, the most exact, the safest.
            let side = (round % 4) as usize;
            round = round.wrapping_add(1);
            let batch = self.batch(&self.open, |i| {
                let mut costs = self.bounds[i].1;
                costs[..=side].rotate_right(1);
                costs
            });
            self.simulate(&batch, store)?;
        }
    }

    fn found(&self, i: usize, hardware: Hardware, cycles: Cycles) -> Found {
        let c = self.candidates[i];
        let point = &self.points[c.point];
        let kernel = &self.request.kernels[c.shape.variant];
        let core = self.core(c);
        let predicted = predicted(self.request, kernel, point, core, &hardware, cycles);
        Found { variant: c.shape.variant, parameters: point.parameters.clone(), hardware, predicted }
    }

    pub(super) fn outcome(&self, pruned: &Pruned, stopped: bool) -> Result<Outcome, ExploreError> {
        let Some(best) = self.best() else {
            return Err(match (self.too_slow > 0, stopped) {
                (_, true) => ExploreError::Stopped,
                (true, false) => infeasible::too_slow(self.request, fastest(self.request)?),
                (false, false) => infeasible::cannot_run(self.request),
            });
        };
        let row = |&i: &usize| {
            let c = self.candidates[i];
            let counters = self.known[&(c.shape, c.timing)].unwrap_or_default();
            let cycles = Cycles { counters, bound: self.bounds[i].0 };
            self.found(i, self.core(c).hardware.clone(), cycles)
        };
        let mut order = self.front.clone();
        order.sort_by(|&a, &b| compare(&self.exact(a), &self.exact(b)).then(a.cmp(&b)));
        Ok(Outcome {
            best: self.thorough(best)?,
            front: order.iter().map(row).collect(),
            best_proven: !stopped || self.promising().is_empty(),
            front_proven: self.open.is_empty(),
            stopped,
            statistics: self.statistics(pruned),
        })
    }

    /// The chosen one with its own primes and the plan of a long search.
    fn thorough(&self, best: usize) -> Result<Found, ExploreError> {
        let c = self.candidates[best];
        let program = lower(&self.request.kernels, &self.points[c.point])?;
        let core = self.core(c);
        let quick = exact::cycles(&program, &core.config, Policy::Throughput, QUICK)?;
        let long = exact::cycles(&program, &core.config, Policy::Throughput, THOROUGH)?;
        let (counters, effort) = if long.cycles < quick.cycles { (long, THOROUGH) } else { (quick, QUICK) };
        let hardware = Hardware { effort, ..core.hardware.clone() };
        Ok(self.found(best, hardware, Cycles { counters, bound: self.bounds[best].0 }))
    }

    fn statistics(&self, pruned: &Pruned) -> Counted {
        let ratio =
            |(i, c): (usize, &Option<Costs>)| c.map(|c| c[0] / self.bounds[i].1[0].max(f64::MIN_POSITIVE));
        let mut ratios: Vec<f64> = self.exact.iter().enumerate().filter_map(ratio).collect();
        ratios.sort_by(f64::total_cmp);
        let over =
            (!ratios.is_empty()).then(|| [ratios[0], ratios[ratios.len() / 2], ratios[ratios.len() - 1]]);
        Counted {
            points: pruned.points,
            too_large: pruned.too_large,
            dominated: pruned.dominated,
            candidates: self.candidates.len(),
            exact: ratios.len(),
            bounded: self.candidates.len() - ratios.len() - self.open.len(),
            open: self.open.len(),
            simulations: self.known.len(),
            over_bound: over,
            ..Counted::default()
        }
    }
}

/// Milliseconds of the fastest design if time did not matter.
fn fastest(request: &Request) -> Result<f64, ExploreError> {
    let wishes = Wishes { max_latency_ms: None, minimise: Objective::Latency, ..request.wishes.clone() };
    let free = Request { wishes, seconds: 0.0, ..request.clone() };
    let outcome = explore(&free, None, &mut |_| true)?;
    // Of the front: the best alone was planned longer.
    Ok(outcome.front.iter().map(|f| f.predicted.latency_ms.value).fold(f64::INFINITY, f64::min))
}

fn lower(kernels: &[Kernel], point: &Point) -> Result<LimbProgram, ExploreError> {
    let kernel = &kernels[point.shape.variant];
    let params = point.parameters.params()?;
    let unfit = |_| ExploreError::Kernel { name: kernel.source().name.clone(), why: "does not run".into() };
    kernel.instantiate(&params).map_err(unfit)?.lower()
}

fn compare(a: &Costs, b: &Costs) -> std::cmp::Ordering {
    a.iter().zip(b).map(|(x, y)| x.total_cmp(y)).fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
}
