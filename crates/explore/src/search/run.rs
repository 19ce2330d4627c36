//! The search itself: simulate in the order of promise until nothing can win any more.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use ringmill_machine::compact::{Counters, Policy};
use ringmill_program::limb::LimbProgram;
use serde::{Deserialize, Serialize};

use super::candidates::{Candidate, Cores, Pruned, cores_key, prune};
use super::front::{Costs, covers};
use super::infeasible;
use crate::design::{Hardware, Parameters, Predicted, PrimeClass};
use crate::model::bound::Counts;
use crate::model::exact;
use crate::predict::{Cycles, predicted};
use crate::space::chains::{Enumerated, Point, Shape, enumerate};
use crate::space::cores::{self, QUICK, Timing};
use crate::store::Store;
use crate::wishes::Objective;
use crate::{Device, ExploreError, Kernel, Space, Wishes};

/// Programs simulated between two looks at what is left; the same on every number of threads, so that results are.
const BATCH: usize = 8;
/// Passes scheduled in search of the plan of the design that is chosen.
const THOROUGH: usize = 2_000;

/// What to explore.
#[derive(Debug, Clone)]
pub struct Request {
    /// The kernel, in each of its packings.
    pub kernels: Vec<Kernel>,
    /// The device.
    pub device: Device,
    /// The wishes.
    pub wishes: Wishes,
    /// The space.
    pub space: Space,
    /// Seconds after which no further point of the front is simulated; the best by the wish is found whatever it takes.
    pub seconds: f64,
    /// From what the order of the front's points is drawn.
    pub seed: u64,
}

/// How far a search is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Progress {
    /// What is being done: parameters, cores, best, front, plan.
    pub stage: &'static str,
    /// Programs simulated.
    pub done: usize,
    /// Programs that may still have to be.
    pub open: usize,
    /// The least of the objective so far.
    pub best: Option<f64>,
}

/// A design that was found, without the kernel, which all have in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// Which variant of the kernel.
    pub variant: usize,
    /// Encryption parameters.
    pub parameters: Parameters,
    /// The core.
    pub hardware: Hardware,
    /// What is predicted.
    pub predicted: Predicted,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// The best by the wish.
    pub best: Found,
    /// The front, the fastest first; cycles of every row are the cycle model's.
    pub front: Vec<Found>,
    /// Whether nothing of the space can beat `best`.
    pub best_proven: bool,
    /// Whether nothing of the space belongs on the front that is not there.
    pub front_proven: bool,
    /// Whether somebody stopped it.
    pub stopped: bool,
    /// Counts.
    pub statistics: Counted,
}

/// Counts of a search.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Counted {
    /// Chains of primes looked at.
    pub chains: usize,
    /// Sets of parameters that run.
    pub parameters: usize,
    /// Of these, those that keep the wishes.
    pub parameters_wished: usize,
    /// Parameters times cores that serve them.
    pub points: u64,
    /// Points whose core does not fit.
    pub too_large: u64,
    /// Points that lose to another of like cycles.
    pub dominated: u64,
    /// Points that were left.
    pub candidates: usize,
    /// Of these, those whose cycles were simulated, alone or with others of like cycles.
    pub exact: usize,
    /// Of these, those beaten even at their bound.
    pub bounded: usize,
    /// Of these, those still open.
    pub open: usize,
    /// Programs simulated, now or before a resumption.
    pub simulations: usize,
    /// Simulated cycles over the closed form: least, median, greatest.
    pub over_bound: Option<[f64; 3]>,
    /// Seconds it took.
    pub seconds: f64,
}

/// Explores. `progress` is told how far it is and returns whether to go on.
///
/// # Errors
/// Wishes that are none, [`ExploreError::Infeasible`] with what binds, and what the results file refuses.
pub fn explore(
    request: &Request,
    mut store: Option<&mut Store>,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Outcome, ExploreError> {
    let start = Instant::now();
    request.wishes.check()?;
    request.space.check()?;
    let Request { kernels, wishes, space, .. } = request;
    let mut tell = |stage, done, open, best| progress(&Progress { stage, done, open, best });
    tell("parameters", 0, 0, None);
    let parameters = enumerate(kernels, space, wishes.security, wishes.table);
    tell("cores", 0, 0, None);
    let cores = all_cores(request, &parameters)?;
    let keep: Vec<bool> = parameters.points.iter().map(|p| p.error <= wishes.max_error).collect();
    let pruned = prune(&parameters.points, &keep, &cores);
    if pruned.candidates.is_empty() {
        return Err(infeasible::explain(request, &parameters, &cores));
    }
    let mut search = Search::new(request, &parameters, &cores, &pruned)?;
    if let Some(store) = &mut store {
        search.known = store.cycles()?;
        store.write_space(&parameters.points, &cores)?;
    }
    search.absorb_known();
    let mut stopped = !search.find_best(&mut store, &mut tell)?;
    let deadline = start + Duration::try_from_secs_f64(request.seconds.max(0.0)).unwrap_or(Duration::MAX / 4);
    if !stopped {
        stopped = !search.find_front(&mut store, deadline, &mut tell)?;
    }
    tell("plan", search.known.len(), 0, None);
    let mut outcome = search.outcome(&pruned, stopped)?;
    outcome.statistics.chains = parameters.chains;
    outcome.statistics.parameters = parameters.points.len();
    outcome.statistics.parameters_wished = keep.iter().filter(|&&k| k).count();
    outcome.statistics.seconds = start.elapsed().as_secs_f64();
    if let Some(store) = store {
        store.write_outcome(&outcome)?;
    }
    Ok(outcome)
}

/// The cores for every degree and table size that the parameters need.
fn all_cores(request: &Request, parameters: &Enumerated) -> Result<Cores, ExploreError> {
    let moduli = |p: &Point| (cores_key(&p.shape), p.shape.limbs + p.shape.special);
    let keys: BTreeMap<(u32, bool), usize> = parameters.points.iter().map(moduli).collect();
    let Request { space, device, wishes, .. } = request;
    let keys: Vec<_> = keys.into_iter().collect();
    keys.into_par_iter()
        .map(|(key, moduli)| Ok((key, cores::enumerate(space, device, wishes, key.0, moduli)?)))
        .collect()
}

/// Cycles by structure and timing; `None` for what the core cannot run.
pub type Known = HashMap<(Shape, Timing), Option<Counters>>;

type Tell<'t> = &'t mut dyn FnMut(&'static str, usize, usize, Option<f64>) -> bool;
type Programs = HashMap<(Shape, PrimeClass), (LimbProgram, Counts)>;

struct Search<'a> {
    request: &'a Request,
    points: &'a [Point],
    cores: &'a Cores,
    candidates: Vec<Candidate>,
    programs: Programs,
    /// Cycles by the closed form, and what is compared if the candidate ran so fast.
    bounds: Vec<(u64, Costs)>,
    /// What is compared, where it is known.
    exact: BTreeMap<usize, Costs>,
    /// Candidates that cannot run, or that a simulated one covers at their bound.
    closed: BTreeSet<usize>,
    /// Simulated candidates that no other covers.
    front: Vec<usize>,
    by_cycles: HashMap<(Shape, Timing), Vec<usize>>,
    known: Known,
    too_slow: usize,
}

impl<'a> Search<'a> {
    fn new(
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
            exact: BTreeMap::new(),
            closed: BTreeSet::new(),
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

    /// Closes candidates that are too slow even at their bound.
    fn drop_slow(&mut self) {
        let most = self.request.wishes.max_latency_ms.unwrap_or(f64::INFINITY);
        let slow: Vec<usize> = (0..self.bounds.len()).filter(|&i| self.bounds[i].1[0] > most).collect();
        self.too_slow += slow.len();
        self.closed.extend(slow);
    }

    fn is_open(&self, i: usize) -> bool {
        !self.exact.contains_key(&i) && !self.closed.contains(&i)
    }

    fn absorb_known(&mut self) {
        let keys: Vec<_> = self.by_cycles.keys().copied().filter(|k| self.known.contains_key(k)).collect();
        self.absorb(&keys);
    }

    /// Takes what is known of these keys over to all candidates that have them.
    fn absorb(&mut self, keys: &[(Shape, Timing)]) {
        let most = self.request.wishes.max_latency_ms.unwrap_or(f64::INFINITY);
        let mut fresh = Vec::new();
        for key in keys {
            for &i in self.by_cycles.get(key).map_or(&[][..], Vec::as_slice) {
                match self.known.get(key) {
                    Some(Some(counters)) => {
                        let costs = self.costs(self.candidates[i], counters.cycles);
                        if costs[0] > most {
                            self.closed.insert(i);
                            self.too_slow += 1;
                            continue;
                        }
                        self.exact.insert(i, costs);
                        fresh.push(i);
                    }
                    _ => {
                        self.closed.insert(i);
                    }
                }
            }
        }
        fresh.sort_unstable();
        let mut newcomers = Vec::new();
        for i in fresh {
            // Of equal ones the first stays, in whatever order they come.
            let beats = |a: usize, b: usize| {
                let (x, y) = (&self.exact[&a], &self.exact[&b]);
                covers(x, y) && (x != y || a < b)
            };
            if self.front.iter().any(|&f| beats(f, i)) {
                continue;
            }
            let left = |&f: &usize| !beats(i, f);
            newcomers.retain(left);
            let mut front: Vec<usize> = self.front.iter().copied().filter(left).collect();
            front.push(i);
            self.front = front;
            newcomers.push(i);
        }
        let beaten: Vec<usize> = (0..self.candidates.len())
            .filter(|&i| self.is_open(i))
            .filter(|&i| newcomers.iter().any(|n| covers(&self.exact[n], &self.bounds[i].1)))
            .collect();
        self.closed.extend(beaten);
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
        let wished = |i: &usize| self.by_wish(&self.exact[i]);
        self.front.iter().copied().min_by(|a, b| compare(&wished(a), &wished(b)).then(a.cmp(b)))
    }

    /// Open candidates that would beat the best by the wish at their bound, the most promising first.
    fn promising(&self) -> Vec<usize> {
        let best = self.best().map(|b| self.by_wish(&self.exact[&b]));
        let bound = |i: usize| self.by_wish(&self.bounds[i].1);
        let wins =
            |&i: &usize| self.is_open(i) && best.as_ref().is_none_or(|best| compare(&bound(i), best).is_lt());
        let mut all: Vec<usize> = (0..self.candidates.len()).filter(wins).collect();
        all.sort_by(|&a, &b| compare(&bound(a), &bound(b)).then(a.cmp(&b)));
        all
    }

    /// Returns false if it was stopped.
    fn find_best(&mut self, store: &mut Option<&mut Store>, tell: Tell<'_>) -> Result<bool, ExploreError> {
        loop {
            let promising = self.promising();
            let best = self.best().map(|b| self.by_wish(&self.exact[&b])[0]);
            if promising.is_empty() {
                return Ok(true);
            }
            if !tell("best", self.known.len(), promising.len(), best) {
                return Ok(false);
            }
            let batch = self.distinct(&promising);
            self.simulate(&batch, store)?;
        }
    }

    /// The first of these with different cycles, a batch of them.
    fn distinct(&self, order: &[usize]) -> Vec<usize> {
        let mut seen = BTreeSet::new();
        let fresh = |i: &&usize| {
            let c = self.candidates[**i];
            seen.insert((c.shape, c.timing))
        };
        order.iter().filter(fresh).take(BATCH).copied().collect()
    }

    /// Returns false if it was stopped.
    fn find_front(
        &mut self,
        store: &mut Option<&mut Store>,
        deadline: Instant,
        tell: Tell<'_>,
    ) -> Result<bool, ExploreError> {
        let mut round = self.request.seed;
        loop {
            let mut open: Vec<usize> = (0..self.candidates.len()).filter(|&i| self.is_open(i)).collect();
            if open.is_empty() || Instant::now() >= deadline {
                return Ok(true);
            }
            let best = self.best().map(|b| self.by_wish(&self.exact[&b])[0]);
            if !tell("front", self.known.len(), open.len(), best) {
                return Ok(false);
            }
            // Each round looks from another side: the fastest, the smallest, the most exact, the safest.
            let side = (round % 4) as usize;
            round = round.wrapping_add(1);
            open.sort_by(|&a, &b| {
                let (x, y) = (&self.bounds[a].1, &self.bounds[b].1);
                x[side].total_cmp(&y[side]).then(compare(x, y)).then(a.cmp(&b))
            });
            let batch = self.distinct(&open);
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

    fn outcome(&self, pruned: &Pruned, stopped: bool) -> Result<Outcome, ExploreError> {
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
        order.sort_by(|a, b| compare(&self.exact[a], &self.exact[b]).then(a.cmp(b)));
        Ok(Outcome {
            best: self.thorough(best)?,
            front: order.iter().map(row).collect(),
            best_proven: !stopped || self.promising().is_empty(),
            front_proven: (0..self.candidates.len()).all(|i| !self.is_open(i)),
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
        let mut ratios: Vec<f64> =
            self.exact.iter().map(|(&i, c)| c[0] / self.bounds[i].1[0].max(f64::MIN_POSITIVE)).collect();
        ratios.sort_by(f64::total_cmp);
        let over =
            (!ratios.is_empty()).then(|| [ratios[0], ratios[ratios.len() / 2], ratios[ratios.len() - 1]]);
        let open = (0..self.candidates.len()).filter(|&i| self.is_open(i)).count();
        Counted {
            points: pruned.points,
            too_large: pruned.too_large,
            dominated: pruned.dominated,
            candidates: self.candidates.len(),
            exact: self.exact.len(),
            bounded: self.candidates.len() - self.exact.len() - open,
            open,
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
