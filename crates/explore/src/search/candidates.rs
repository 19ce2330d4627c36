//! What can still win: parameters and cores, each pruned among their like.

use std::collections::{BTreeMap, BTreeSet};

use crate::design::PrimeClass;
use crate::space::chains::{Point, Shape};
use crate::target::{Core, Target};

/// A set of parameters with the smallest core of a timing that serves it.
#[derive(Debug, PartialEq, Eq)]
pub struct Candidate<T: Target> {
    /// Which parameters.
    pub point: usize,
    /// Which core of those for the shape's degree.
    pub core: usize,
    /// Structure of the limb program.
    pub shape: Shape,
    /// What its cycles depend on beside.
    pub timing: T::Timing,
}

impl<T: Target> Clone for Candidate<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Target> Copy for Candidate<T> {}

/// Cores for one log2 of the degree and number of primes that they hold.
pub type Cores<T> = BTreeMap<(u32, u32), Vec<Core<T>>>;

/// The key of the cores that a shape's parameters may use.
pub fn cores_key<T: Target>(target: T, shape: &Shape) -> (u32, u32) {
    (shape.log_n, target.size(shape))
}

/// Points, and what is left of them.
#[derive(Debug)]
pub struct Pruned<T: Target> {
    /// Parameters times cores whose multiplier serves the primes.
    pub points: u64,
    /// Of these, those whose core does not fit.
    pub too_large: u64,
    /// Those whose core fits and whose parameters miss a constraint.
    pub missed: u64,
    /// Those that lose to another of the same shape and timing.
    pub dominated: u64,
    /// Those that are left.
    pub candidates: Vec<Candidate<T>>,
}

impl<T: Target> Default for Pruned<T> {
    fn default() -> Self {
        Self { points: 0, too_large: 0, missed: 0, dominated: 0, candidates: Vec::new() }
    }
}

/// Prunes the product of parameters and cores. `keep` says which parameters meet the constraints.
pub fn prune<T: Target>(target: T, points: &[Point], keep: &[bool], cores: &Cores<T>) -> Pruned<T> {
    let mut groups: BTreeMap<(Shape, PrimeClass, u32), Vec<usize>> = BTreeMap::new();
    for (i, p) in points.iter().enumerate() {
        groups.entry((p.shape, p.parameters.class, word(target, p, cores))).or_default().push(i);
    }
    let mut pruned = Pruned::default();
    for ((shape, _, _), members) in groups {
        let Some(all) = cores.get(&cores_key(target, &shape)) else { continue };
        let first = &points[members[0]];
        let serves = |&c: &usize| target.serves(&all[c], first.parameters.class, first.widest);
        let serving: Vec<usize> = (0..all.len()).filter(serves).collect();
        let fitting: Vec<usize> = serving.iter().copied().filter(|&c| all[c].binding.is_none()).collect();
        pruned.points += (members.len() * serving.len()) as u64;
        pruned.too_large += (members.len() * (serving.len() - fitting.len())) as u64;
        let (kept, missed): (Vec<usize>, Vec<usize>) = members.into_iter().partition(|&i| keep[i]);
        pruned.missed += (missed.len() * fitting.len()) as u64;
        let best = undominated(points, &kept);
        let smallest = smallest(all, &fitting);
        pruned.dominated += (kept.len() * fitting.len() - best.len() * smallest.len()) as u64;
        for &point in &best {
            for &core in &smallest {
                pruned.candidates.push(Candidate { point, core, shape, timing: all[core].timing });
            }
        }
    }
    pruned
}

/// The least word of the space that holds the primes: it decides which cores serve them.
fn word<T: Target>(target: T, point: &Point, cores: &Cores<T>) -> u32 {
    let all = cores.get(&cores_key(target, &point.shape)).map_or(&[][..], Vec::as_slice);
    let words: BTreeSet<u32> = all.iter().map(|c| c.prime_bits).collect();
    words.into_iter().find(|&w| w >= point.widest).unwrap_or(u32::MAX)
}

/// Parameters that no others of the group beat in error, security and bytes of keys.
fn undominated(points: &[Point], members: &[usize]) -> Vec<usize> {
    let costs: Vec<[f64; 4]> = members
        .iter()
        .map(|&i| [points[i].error, -points[i].security_bits, points[i].bytes[0] as f64, 0.0])
        .collect();
    super::front::front(&costs).into_iter().map(|at| members[at]).collect()
}

/// Of cores of one timing the smallest; of equal ones the first.
fn smallest<T: Target>(all: &[Core<T>], fitting: &[usize]) -> Vec<usize> {
    let mut best: BTreeMap<T::Timing, usize> = BTreeMap::new();
    for &c in fitting {
        let kept = best.entry(all[c].timing).or_insert(c);
        if all[c].share.compare(&all[*kept].share).is_lt() {
            *kept = c;
        }
    }
    best.into_values().collect()
}
