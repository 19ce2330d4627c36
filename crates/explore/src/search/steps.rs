//! The loop: simulate in the order of promise until nothing can win any more.

use std::collections::HashMap;
use std::time::Instant;

use super::engine::{Search, compare};
use super::front::Costs;
use super::run::Gap;
use crate::ExploreError;
use crate::store::Store;
use crate::target::Target;

/// Programs simulated between two looks at what is left; the same on every number of threads, so that results are.
const BATCH: usize = 8;
/// The same while the front is filled, where a look takes as long as some programs.
const ROUND: usize = 48;

pub(super) type Tell<'t> = &'t mut dyn FnMut(&'static str, usize, usize, Option<f64>) -> bool;

impl<T: Target> Search<'_, T> {
    /// The place of the best by the objective among the simulated ones.
    pub(super) fn best(&self) -> Option<usize> {
        let cost = |i: usize| self.by_objective(&self.exact(i));
        self.front.iter().copied().min_by(|&a, &b| compare(&cost(a), &cost(b)).then(a.cmp(&b)))
    }

    /// Open candidates that would beat the best by the objective at their bound.
    pub(super) fn promising(&self) -> Vec<usize> {
        let best = self.best().map(|b| self.by_objective(&self.exact(b)));
        let wins = |i: usize| {
            let bound = self.by_objective(&self.bounds[i].1);
            best.as_ref().is_none_or(|best| compare(&bound, best).is_lt())
        };
        self.open.iter().copied().filter(|&i| wins(i)).collect()
    }

    /// Of these a batch with different cycles, the least by `key` first.
    fn batch(&self, among: &[usize], most: usize, key: impl Fn(usize) -> Costs) -> Vec<usize> {
        let mut leaders: HashMap<usize, (Costs, usize)> = HashMap::new();
        for &i in among {
            let costs = key(i);
            let leader = leaders.entry(self.key_of[i]).or_insert((costs, i));
            if compare(&costs, &leader.0).is_lt() {
                *leader = (costs, i);
            }
        }
        let mut order: Vec<(Costs, usize)> = leaders.into_values().collect();
        order.sort_by(|a, b| compare(&a.0, &b.0).then(a.1.cmp(&b.1)));
        order.into_iter().take(most).map(|(_, i)| i).collect()
    }

    /// The least of the objective so far.
    fn least(&self) -> Option<f64> {
        self.best().map(|b| self.by_objective(&self.exact(b))[0])
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
            let batch = self.batch(&promising, BATCH, |i| self.by_objective(&self.bounds[i].1));
            self.simulate(&batch, None, store)?;
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
            // By turns what could change the front most, and what looks best from one side after the other: the fastest,
            // the smallest, the most exact, the safest.
            let side = (round / 2 % 4) as usize;
            let widest = round.is_multiple_of(2);
            round = round.wrapping_add(1);
            let batch = self.batch(&self.open, ROUND, |i| {
                let mut costs = self.bounds[i].1;
                if widest {
                    return [-self.ratio(i), costs[0], costs[1], costs[2]];
                }
                costs[..=side].rotate_right(1);
                costs
            });
            self.simulate(&batch, Some(deadline), store)?;
        }
    }

    /// How many times as fast as one of the front that is nowhere else worse a candidate may be; infinite if
    /// the front has no such design.
    fn ratio(&self, i: usize) -> f64 {
        self.covered[i] / self.bounds[i].1[0].max(f64::MIN_POSITIVE)
    }

    /// How many times as fast as one of the front that is nowhere else worse a design could be that is not there, and
    /// whether there may be designs that the front has nothing against. None if the front is proven.
    pub(super) fn gap(&self) -> Option<Gap> {
        let ratios: Vec<f64> = self.open.iter().map(|&i| self.ratio(i)).collect();
        let faster = ratios.iter().copied().filter(|r| r.is_finite()).fold(1.0, f64::max);
        let uncovered = ratios.iter().filter(|r| r.is_infinite()).count();
        (!ratios.is_empty()).then_some(Gap { faster, open: ratios.len(), uncovered })
    }
}
