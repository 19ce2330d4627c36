//! Which rotations a linear map takes.

use std::collections::{BTreeMap, BTreeSet};

use super::Diagonals;
use crate::CircuitError;

/// Time of one more rotation of an operand that is decomposed already, over that of a rotation by itself.
/// Decomposition is the larger part of a key switch: (β + 2)(ℓ + K) transforms against about 2(ℓ + K).
const HOISTED: f64 = 0.4;

/// Time of a product with a plaintext, over that of a rotation.
pub(super) const PRODUCT: f64 = 0.02;

/// How many keys a map may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Keys {
    /// As many as the least time takes: one for each baby step and each different giant step.
    #[default]
    Fast,
    /// At most this number of keys, in the least time that they allow; or the fewest possible, if that is
    /// more. One key is enough for a dense map, which then takes one rotation a diagonal.
    AtMost(usize),
}

/// One diagonal's place: shift = giant + baby mod S.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Rotation of the whole sum.
    pub giant: i64,
    /// Rotation of the operand.
    pub baby: i64,
    /// Which diagonal.
    pub shift: usize,
}

/// The steps of a linear map and what they cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    slots: usize,
    steps: Vec<Step>,
}

impl Plan {
    /// The plan of least time that the keys allow; of equal ones that of fewest keys.
    pub(super) fn best(map: &Diagonals, keys: Keys) -> Result<Self, CircuitError> {
        let shifts = centred(map);
        let plans = candidates(&shifts)
            .into_iter()
            .flat_map(|width| [false, true].map(|low| Self::split(map.slots(), &shifts, width, low)));
        let beyond = |count: usize| match keys {
            Keys::Fast => 0,
            Keys::AtMost(most) => count.saturating_sub(most),
        };
        let priced = plans.map(|plan| (plan.rotations().len(), plan.time(), plan));
        let best = priced
            .min_by(|(a, s, _), (b, t, _)| beyond(*a).cmp(&beyond(*b)).then(s.total_cmp(t)).then(a.cmp(b)));
        best.map(|(_, _, plan)| plan).ok_or(CircuitError::ZeroMap)
    }

    /// shift = giant + baby with giant a multiple of `width`, baby in [0, width) or, if `low`, centred around zero.
    fn split(slots: usize, shifts: &[(i64, usize)], width: i64, low: bool) -> Self {
        let least = if low { -(width / 2) } else { 0 };
        let step = |&(d, shift): &(i64, usize)| {
            let baby = (d - least).rem_euclid(width) + least;
            Step { giant: d - baby, baby, shift }
        };
        let mut steps: Vec<Step> = shifts.iter().map(step).collect();
        steps.sort_by_key(|s| (s.giant, s.baby));
        Self { slots, steps }
    }

    /// Every diagonal once, by giant step, then baby step.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Different baby steps, ascending.
    pub(super) fn babies(&self) -> BTreeSet<i64> {
        self.steps.iter().map(|s| s.baby).collect()
    }

    /// Diagonals by giant step.
    pub(super) fn giants(&self) -> BTreeMap<i64, Vec<Step>> {
        let mut giants: BTreeMap<i64, Vec<Step>> = BTreeMap::new();
        for &step in &self.steps {
            giants.entry(step.giant).or_default().push(step);
        }
        giants
    }

    /// Rotations of the operand itself.
    pub fn baby_rotations(&self) -> usize {
        self.babies().iter().filter(|&&b| b != 0).count()
    }

    /// Rotations of sums.
    pub fn giant_rotations(&self) -> usize {
        self.giants().keys().filter(|&&g| g != 0).count()
    }

    /// The different rotations, in 1..S: one key each.
    pub fn rotations(&self) -> BTreeSet<usize> {
        let giants = gaps(&self.giants().into_keys().collect());
        let slots = self.slots as i64;
        let wrapped = self.babies().into_iter().chain(giants).map(|k| k.rem_euclid(slots) as usize);
        wrapped.filter(|&k| k != 0).collect()
    }

    /// Estimated time in rotations.
    pub fn time(&self) -> f64 {
        HOISTED * self.baby_rotations() as f64
            + self.giant_rotations() as f64
            + PRODUCT * self.steps.len() as f64
    }
}

/// Shifts in [−S/2, S/2), ascending, each with its own name: neighbours below and above zero stay neighbours.
fn centred(map: &Diagonals) -> Vec<(i64, usize)> {
    let slots = map.slots() as i64;
    let signed =
        |shift: usize| if shift as i64 >= (slots + 1) / 2 { shift as i64 - slots } else { shift as i64 };
    // A dense map has no gap at S/2 that would make one half negative to any use.
    let dense = 2 * map.len() > map.slots();
    let mut all: Vec<(i64, usize)> =
        map.shifts().map(|s| (if dense { s as i64 } else { signed(s) }, s)).collect();
    all.sort_unstable();
    all
}

/// Steps from one value of a chain to the next, going away from zero on both sides: with these rotations alone every value
/// is reached.
fn gaps(values: &BTreeSet<i64>) -> Vec<i64> {
    let above: Vec<i64> = std::iter::once(0).chain(values.iter().copied().filter(|&v| v > 0)).collect();
    let below: Vec<i64> = std::iter::once(0).chain(values.iter().rev().copied().filter(|&v| v < 0)).collect();
    above.windows(2).chain(below.windows(2)).map(|pair| pair[1] - pair[0]).collect()
}

/// The number of diagonals, from the first, that are tried as ends of the first giant step.
const ALL_DISTANCES: usize = 64;

/// Widths of the giant step that are worth a look: distances that occur, and 2^k and 3·2^k times the least of them.
fn candidates(shifts: &[(i64, usize)]) -> BTreeSet<i64> {
    let Some(&(first, _)) = shifts.first() else { return BTreeSet::new() };
    let unit = shifts.windows(2).map(|w| w[1].0 - w[0].0).min().unwrap_or(1);
    let span = shifts.last().map_or(1, |&(last, _)| last - first + 1);
    let mut all: BTreeSet<i64> = shifts.iter().take(ALL_DISTANCES).map(|&(d, _)| d - first).collect();
    let doubled = |from: i64| {
        std::iter::successors(Some(from), move |w| Some(2 * w)).take_while(move |&w| w <= 2 * span)
    };
    all.extend(doubled(unit).chain(doubled(3 * unit)));
    all.extend((1..=64).map(|k| k * unit));
    all.remove(&0);
    all
}
