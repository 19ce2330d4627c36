//! From a search to its outcome.

use std::collections::HashSet;

use super::candidates::{Candidate, Pruned};
use super::engine::{Search, compare, lower};
use super::front::Costs;
use super::infeasible;
use super::run::{Counted, Found, Gap, Outcome, Request, explore};
use crate::constraints::Objective;
use crate::power::{is_counted, millijoules};
use crate::predict::{Cycles, predicted};
use crate::target::{Plan, Run, Target};
use crate::{Constraints, ExploreError};

impl<T: Target> Search<'_, T> {
    fn found(&self, i: usize, plan: Plan, cycles: &Cycles) -> Found {
        let c = self.candidates[i];
        let point = &self.points[c.point];
        let kernel = &self.request.kernels[c.shape.variant];
        let core = self.core(c);
        let predicted = predicted(self.target, self.request, kernel, point, core, cycles);
        let built = self.target.write(&core.machine, plan);
        Found { variant: c.shape.variant, parameters: point.parameters.clone(), built, predicted }
    }

    /// Whether the objective is an energy that is counted operation by operation.
    fn counts_energy(&self) -> bool {
        self.request.constraints.minimise == Objective::Energy
            && is_counted(self.target, &self.request.device)
    }

    /// Millijoules of a run.
    fn energy(&self, c: Candidate<T>, run: &Run) -> f64 {
        let milliseconds = self.milliseconds(run.cycles);
        let figure = millijoules(self.target, &self.request.device, milliseconds, self.core(c), run);
        figure.map_or(f64::INFINITY, |figure| figure.value)
    }

    /// The simulated one that takes the least energy.
    fn least_energy(&self) -> Option<usize> {
        let energy = |i: usize| {
            let c = self.candidates[i];
            self.energy(c, &self.run_of(c))
        };
        let simulated = (0..self.candidates.len()).filter(|&i| self.exact[i].is_some());
        simulated.min_by(|&a, &b| energy(a).total_cmp(&energy(b)).then(a.cmp(&b)))
    }

    /// The run that was simulated for a candidate.
    fn run_of(&self, c: Candidate<T>) -> Run {
        self.known[&(c.shape, c.timing)].clone().unwrap_or_default()
    }

    pub(super) fn outcome(&self, pruned: &Pruned<T>, stopped: bool) -> Result<Outcome, ExploreError> {
        let counted = self.counts_energy();
        let Some(best) = (if counted { self.least_energy() } else { self.best() }) else {
            return self.planned_longer(pruned, stopped);
        };
        let row = |&i: &usize| {
            let run = self.run_of(self.candidates[i]);
            self.found(i, Plan::Quick, &Cycles { run, bound: self.bounds[i].0 })
        };
        let mut order = self.front.clone();
        order.sort_by(|&a, &b| compare(&self.exact(a), &self.exact(b)).then(a.cmp(&b)));
        Ok(Outcome {
            device: self.request.device.name.clone(),
            best: self.chosen(best, counted, stopped)?,
            front: order.iter().map(row).collect(),
            // No bound is known of energies that are counted.
            best_proven: !counted && (!stopped || self.promising().is_empty()),
            front_proven: self.open.is_empty(),
            front_gap: self.gap(),
            stopped,
            statistics: self.statistics(pruned),
        })
    }

    /// The chosen one; where energy is counted, no more of it than the fastest one takes after the same long search.
    fn chosen(&self, best: usize, counted: bool, stopped: bool) -> Result<Found, ExploreError> {
        let found = self.thorough(best, stopped)?;
        let Some(fastest) = self.best().filter(|&fastest| counted && fastest != best) else {
            return Ok(found);
        };
        let other = self.thorough(fastest, stopped)?;
        let energy = |f: &Found| f.predicted.energy_mj.as_ref().map_or(f64::INFINITY, |figure| figure.value);
        let late = |f: &Found| f.predicted.latency_ms.value > self.most();
        Ok(if (late(&other), energy(&other)) < (late(&found), energy(&found)) { other } else { found })
    }

    /// The outcome if no candidate keeps the bound on time by its quick plan. The fastest one may keep it by
    /// the plan of a long search.
    fn planned_longer(&self, pruned: &Pruned<T>, stopped: bool) -> Result<Outcome, ExploreError> {
        let counted = self.statistics(pruned);
        let simulated = self.candidates.iter().enumerate().filter_map(|(i, &c)| {
            let run = self.known.get(&(c.shape, c.timing))?.as_ref()?;
            Some((self.costs(c, run.cycles), i))
        });
        let found = match simulated.min_by(|a, b| compare(&a.0, &b.0).then(a.1.cmp(&b.1))) {
            _ if stopped => return Err(ExploreError::Stopped),
            Some((_, fastest)) => self.thorough(fastest, stopped)?,
            None if counted.too_slow > 0 => {
                return Err(infeasible::too_slow(self.request, fastest(self.request)?));
            }
            None => return Err(infeasible::cannot_run(self.target, self.request)),
        };
        let milliseconds = found.predicted.latency_ms.value;
        if milliseconds > self.most() {
            return Err(infeasible::too_slow(self.request, milliseconds));
        }
        // What a long search would make of the others is not known.
        let others = counted.too_slow - 1;
        Ok(Outcome {
            device: self.request.device.name.clone(),
            best: found.clone(),
            front: vec![found],
            best_proven: false,
            front_proven: others == 0,
            front_gap: (others > 0).then_some(Gap { faster: 1.0, open: others, uncovered: others }),
            stopped,
            statistics: counted,
        })
    }

    /// The chosen one with its own primes and, unless the search was stopped, the plan of a long search. That
    /// plan is taken if it keeps the bound on time, or if the quick one does not keep it either.
    fn thorough(&self, best: usize, stopped: bool) -> Result<Found, ExploreError> {
        let c = self.candidates[best];
        let core = self.core(c);
        let quick = self.run_of(c);
        let long = if stopped {
            quick.clone()
        } else {
            let program = lower(&self.request.kernels, &self.points[c.point])?;
            self.target.run(core, &program, Plan::Long)?
        };
        let worth = |run: &Run| {
            let misses = self.milliseconds(run.cycles) > self.most();
            let least = if self.counts_energy() { self.energy(c, run) } else { run.cycles as f64 };
            (misses, least)
        };
        let better = worth(&long) < worth(&quick);
        let (run, plan) = if better { (long, Plan::Long) } else { (quick, Plan::Quick) };
        Ok(self.found(best, plan, &Cycles { run, bound: self.bounds[best].0 }))
    }

    fn statistics(&self, pruned: &Pruned<T>) -> Counted {
        let ratio =
            |(i, c): (usize, &Option<Costs>)| c.map(|c| c[0] / self.bounds[i].1[0].max(f64::MIN_POSITIVE));
        let mut ratios: Vec<f64> = self.exact.iter().enumerate().filter_map(ratio).collect();
        ratios.sort_by(f64::total_cmp);
        let over =
            (!ratios.is_empty()).then(|| [ratios[0], ratios[ratios.len() / 2], ratios[ratios.len() - 1]]);
        let mut counted = Counted {
            points: pruned.points,
            too_large: pruned.too_large,
            inaccurate: pruned.missed,
            dominated: pruned.dominated,
            candidates: self.candidates.len(),
            simulations: self.known.len(),
            over_bound: over,
            ..Counted::default()
        };
        let open: HashSet<usize> = self.open.iter().copied().collect();
        for (i, c) in self.candidates.iter().enumerate() {
            let fate = match self.known.get(&(c.shape, c.timing)) {
                Some(None) => &mut counted.cannot_run,
                Some(Some(_)) if self.exact[i].is_some() => &mut counted.exact,
                Some(Some(_)) => &mut counted.too_slow,
                None if open.contains(&i) => &mut counted.open,
                None if self.bounds[i].1[0] > self.most() => &mut counted.too_slow,
                None => &mut counted.bounded,
            };
            *fate += 1;
        }
        counted
    }
}

/// Milliseconds of the fastest design if time did not matter.
fn fastest(request: &Request) -> Result<f64, ExploreError> {
    let constraints =
        Constraints { max_latency_ms: None, minimise: Objective::Latency, ..request.constraints.clone() };
    let free = Request { constraints, seconds: 0.0, ..request.clone() };
    Ok(explore(&free, None, &mut |_| true)?.best.predicted.latency_ms.value)
}
