//! What is known in the course of a search: bounds, cycles, the front, and what is still open.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Instant;

use rayon::prelude::*;
use ringmill_program::limb::LimbProgram;

use super::candidates::{Candidate, Cores, Pruned, cores_key};
use super::front::{Costs, covers, covers_but_time};
use super::run::Request;
use crate::constraints::Objective;
use crate::design::PrimeClass;
use crate::space::chains::{Enumerated, Point, Shape};
use crate::store::Store;
use crate::target::{Core, Plan, Run, Target};
use crate::{ExploreError, Kernel};

/// What cycles depend on.
type Key<T> = (Shape, <T as Target>::Timing);
/// Cycles by structure and timing; `None` for what the core cannot run.
pub type Known<T> = HashMap<Key<T>, Option<Run>>;

type Programs<T> = HashMap<(Shape, PrimeClass), (LimbProgram, Option<<T as Target>::Demand>)>;

pub(super) struct Search<'a, T: Target> {
    pub(super) target: T,
    pub(super) request: &'a Request,
    pub(super) points: &'a [Point],
    cores: &'a Cores<T>,
    pub(super) candidates: Vec<Candidate<T>>,
    programs: Programs<T>,
    /// Cycles by the closed form, and what is compared if the candidate ran so fast.
    pub(super) bounds: Vec<(u64, Costs)>,
    /// What is compared, where it is known.
    pub(super) exact: Vec<Option<Costs>>,
    /// Candidates that are neither simulated nor beaten, ascending.
    pub(super) open: Vec<usize>,
    /// For each candidate the least milliseconds of a simulated one that is nowhere else worse.
    pub(super) covered: Vec<f64>,
    /// Simulated candidates that no other covers.
    pub(super) front: Vec<usize>,
    /// What cycles depend on, and who depends on it; for each candidate which it is.
    keys: Vec<Key<T>>,
    members: Vec<Vec<usize>>,
    pub(super) key_of: Vec<usize>,
    pub(super) known: Known<T>,
}

impl<'a, T: Target> Search<'a, T> {
    pub(super) fn new(
        target: T,
        request: &'a Request,
        enumerated: &'a Enumerated,
        cores: &'a Cores<T>,
        pruned: &Pruned<T>,
    ) -> Result<Self, ExploreError> {
        let mut search = Self {
            target,
            request,
            points: &enumerated.points,
            cores,
            candidates: pruned.candidates.clone(),
            programs: HashMap::new(),
            bounds: Vec::new(),
            exact: vec![None; pruned.candidates.len()],
            open: (0..pruned.candidates.len()).collect(),
            covered: vec![f64::INFINITY; pruned.candidates.len()],
            front: Vec::new(),
            keys: Vec::new(),
            members: Vec::new(),
            key_of: Vec::new(),
            known: HashMap::new(),
        };
        search.lower()?;
        search.number_keys();
        search.bound()?;
        search.drop_slow();
        Ok(search)
    }

    /// Lowers one program for each structure and class of primes.
    fn lower(&mut self) -> Result<(), ExploreError> {
        let mut wanted: BTreeMap<(Shape, PrimeClass), Candidate<T>> = BTreeMap::new();
        for &c in &self.candidates {
            wanted.entry((c.shape, self.points[c.point].parameters.class)).or_insert(c);
        }
        let wanted: Vec<_> = wanted.into_iter().collect();
        let lowered: Result<Vec<_>, ExploreError> = wanted
            .into_par_iter()
            .map(|(key, c)| {
                self.request.stop.check()?;
                let program = lower(&self.request.kernels, &self.points[c.point])?;
                let demand = self.target.demand(self.core(c), &program);
                Ok((key, (program, demand)))
            })
            .collect();
        self.programs = lowered?.into_iter().collect();
        Ok(())
    }

    /// Gives every pair of structure and timing a number.
    fn number_keys(&mut self) {
        let mut numbers: HashMap<Key<T>, usize> = HashMap::new();
        for (i, c) in self.candidates.iter().enumerate() {
            let next = numbers.len();
            let number = *numbers.entry((c.shape, c.timing)).or_insert(next);
            if number == next {
                self.keys.push((c.shape, c.timing));
                self.members.push(Vec::new());
            }
            self.members[number].push(i);
            self.key_of.push(number);
        }
    }

    /// The closed form for every candidate; those alike in cycles share it.
    fn bound(&mut self) -> Result<(), ExploreError> {
        let bound = |members: &Vec<usize>| {
            self.request.stop.check()?;
            let c = self.candidates[members[0]];
            let demand = self.program(c).1.as_ref();
            Ok(demand.map_or(0, |demand| self.target.bound(self.core(c), demand)))
        };
        let cycles: Result<Vec<u64>, ExploreError> = self.members.par_iter().map(bound).collect();
        let cycles = cycles?;
        let of = |(&c, &key): (&Candidate<T>, &usize)| (cycles[key], self.costs(c, cycles[key]));
        self.bounds = self.candidates.iter().zip(&self.key_of).map(of).collect();
        Ok(())
    }

    pub(super) fn core(&self, c: Candidate<T>) -> &'a Core<T> {
        &self.cores[&cores_key(self.target, &c.shape)][c.core]
    }

    pub(super) fn program(&self, c: Candidate<T>) -> &(LimbProgram, Option<T::Demand>) {
        &self.programs[&(c.shape, self.points[c.point].parameters.class)]
    }

    pub(super) fn milliseconds(&self, cycles: u64) -> f64 {
        cycles as f64 / (self.request.device.clock.mhz * 1e3)
    }

    pub(super) fn costs(&self, c: Candidate<T>, cycles: u64) -> Costs {
        let p = &self.points[c.point];
        [self.milliseconds(cycles), self.core(c).share.greatest, p.error, -p.security_bits]
    }

    /// What is to be least first, then the others in order.
    pub(super) fn by_objective(&self, costs: &Costs) -> Costs {
        let first = match self.request.constraints.minimise {
            // Energy goes with time, exactly so where the power is given; see `least_energy`.
            Objective::Latency | Objective::Energy => 0,
            Objective::Area => 1,
            Objective::Error => 2,
            Objective::Security => 3,
        };
        let mut order = [0, 1, 2, 3];
        order[..=first].rotate_right(1);
        order.map(|i| costs[i])
    }

    /// Milliseconds that a run may take.
    pub(super) fn most(&self) -> f64 {
        self.request.constraints.max_latency_ms.unwrap_or(f64::INFINITY)
    }

    /// Closes candidates that are too slow even at their bound.
    fn drop_slow(&mut self) {
        let (most, bounds) = (self.most(), &self.bounds);
        self.open.retain(|&i| bounds[i].1[0] <= most);
    }

    pub(super) fn absorb_known(&mut self) {
        let keys: Vec<usize> =
            (0..self.keys.len()).filter(|&k| self.known.contains_key(&self.keys[k])).collect();
        self.absorb(&keys);
    }

    /// Takes what is known of these keys over to all candidates that have them.
    fn absorb(&mut self, keys: &[usize]) {
        let most = self.most();
        let mut fresh = Vec::new();
        for &key in keys {
            let Some(Some(run)) = self.known.get(&self.keys[key]) else { continue };
            let cycles = run.cycles;
            for &i in &self.members[key] {
                let costs = self.costs(self.candidates[i], cycles);
                if costs[0] <= most {
                    self.exact[i] = Some(costs);
                    fresh.push(i);
                }
            }
        }
        fresh.sort_unstable();
        let newcomers = self.join_front(&fresh);
        let bounds = &self.bounds;
        self.covered.par_iter_mut().enumerate().for_each(|(i, covered)| {
            for costs in &newcomers {
                if costs[0] < *covered && covers_but_time(costs, &bounds[i].1) {
                    *covered = costs[0];
                }
            }
        });
        let Self { open, covered, bounds, known, keys, key_of, .. } = self;
        open.retain(|&i| !known.contains_key(&keys[key_of[i]]) && covered[i] > bounds[i].1[0]);
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

    pub(super) fn exact(&self, i: usize) -> Costs {
        self.exact[i].unwrap_or([f64::INFINITY; 4])
    }

    /// Simulates the programs of these candidates, no two alike in cycles; none that begins after the deadline, or after
    /// the search was stopped.
    pub(super) fn simulate(
        &mut self,
        chosen: &[usize],
        deadline: Option<Instant>,
        store: &mut Option<&mut Store>,
    ) -> Result<(), ExploreError> {
        let run = |&i: &usize| {
            if self.request.stop.is_stopped() || deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return None;
            }
            let key = self.key_of[i];
            let c = self.candidates[self.members[key][0]];
            let program = &self.program(c).0;
            // A core may be too small for a program: an instance of this kind is no design, and no fault either.
            let counters = self.target.run(self.core(c), program, Plan::Quick).ok();
            Some((key, (self.keys[key], counters)))
        };
        let (keys, results): (Vec<usize>, Vec<_>) = chosen.par_iter().filter_map(run).unzip();
        if let Some(store) = store {
            store.add_cycles(self.target, &results)?;
        }
        self.known.extend(results);
        self.absorb(&keys);
        Ok(())
    }
}

pub(super) fn lower(kernels: &[Kernel], point: &Point) -> Result<LimbProgram, ExploreError> {
    let kernel = &kernels[point.shape.variant];
    let params = point.parameters.params()?;
    let unfit = |_| ExploreError::Kernel { name: kernel.source().name.clone(), why: "does not run".into() };
    kernel.instantiate(&params).map_err(unfit)?.lower()
}

pub(super) fn compare(a: &Costs, b: &Costs) -> std::cmp::Ordering {
    a.iter().zip(b).map(|(x, y)| x.total_cmp(y)).fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
}
