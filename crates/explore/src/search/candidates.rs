//! What can still win: parameters and cores, each pruned among their like.

use std::collections::{BTreeMap, BTreeSet};

use crate::design::PrimeClass;
use crate::space::chains::{Point, Shape};
use crate::space::cores::{Core, Timing};

/// A set of parameters with the smallest core of a timing that serves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// Which parameters.
    pub point: usize,
    /// Which core of those for the shape's degree.
    pub core: usize,
    /// Structure of the limb program.
    pub shape: Shape,
    /// What its cycles depend on beside.
    pub timing: Timing,
}

/// Cores for one degree and size of the modulus table.
pub type Cores = BTreeMap<(u32, bool), Vec<Core>>;

/// The key of the cores that a shape's parameters may use.
pub fn cores_key(shape: &Shape) -> (u32, bool) {
    (shape.log_n, shape.limbs + shape.special > 16)
}

/// Points, and what is left of them.
#[derive(Debug, Clone, Default)]
pub struct Pruned {
    /// Parameters times cores whose multiplier serves the primes.
    pub points: u64,
    /// Of these, those whose core does not fit.
    pub too_large: u64,
    /// Those whose core fits and whose parameters miss a constraint.
    pub missed: u64,
    /// Those that lose to another of the same shape and timing.
    pub dominated: u64,
    /// Those that are left.
    pub candidates: Vec<Candidate>,
}

/// Prunes the product of parameters and cores. `keep` says which parameters meet the constraints.
pub fn prune(points: &[Point], keep: &[bool], cores: &Cores) -> Pruned {
    let mut groups: BTreeMap<(Shape, PrimeClass, u32), Vec<usize>> = BTreeMap::new();
    for (i, p) in points.iter().enumerate() {
        groups.entry((p.shape, p.parameters.class, word(p, cores))).or_default().push(i);
    }
    let mut pruned = Pruned::default();
    for ((shape, _, _), members) in groups {
        let Some(all) = cores.get(&cores_key(&shape)) else { continue };
        let first = &points[members[0]];
        let serving: Vec<usize> =
            (0..all.len()).filter(|&c| all[c].serves(first.parameters.class, first.widest)).collect();
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
fn word(point: &Point, cores: &Cores) -> u32 {
    let all = cores.get(&cores_key(&point.shape)).map_or(&[][..], Vec::as_slice);
    let words: BTreeSet<u32> = all.iter().map(|c| c.hardware.word_bits).collect();
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
fn smallest(all: &[Core], fitting: &[usize]) -> Vec<usize> {
    let mut best: BTreeMap<Timing, usize> = BTreeMap::new();
    for &c in fitting {
        let kept = best.entry(all[c].timing).or_insert(c);
        if all[c].area < all[*kept].area {
            *kept = c;
        }
    }
    best.into_values().collect()
}
