//! The order of a chain's primes that keeps scales where they are.
//!
//! With Δ_{t+1} = Δ_t²/q the distance δ_t = log2(Δ_t/Δ_0) obeys δ_{t+1} = 2δ_t − ε, ε = log2(q/Δ_0): every deviation doubles
//! with each level that follows. Taking at each level, from the top, the prime whose ε is nearest to 2δ_t
//! keeps δ below a third of a bit over 60 levels of 34 bits at N = 2^17. There the primes in order of size
//! would lose all precision after ten levels.

use super::{Level, Levels, Params, ParamsError};

/// How far scales of repeated products may drift from the first, in bits, before a chain is refused: log2 |Δ_t/Δ_0|.
pub const DRIFT_MAX: f64 = 2.0;

/// `primes` in the order in which rescaling should remove them.
pub fn steady_order(primes: &[u64], scale: f64) -> Vec<u64> {
    let mut left: Vec<(u64, f64)> = primes.iter().map(|&q| (q, beside(q, scale))).collect();
    let mut drift = 0.0;
    let mut order = Vec::with_capacity(left.len());
    let distance = |drift: f64, e: f64| (2.0 * drift - e).abs();
    while let Some(best) =
        (0..left.len()).min_by(|&i, &j| distance(drift, left[i].1).total_cmp(&distance(drift, left[j].1)))
    {
        let (q, e) = left.swap_remove(best);
        order.push(q);
        drift = 2.0 * drift - e;
    }
    order
}

/// The chain `q` with the primes of the levels above `floor` in the order that keeps a scale. A level keeps the sizes of its primes; from
/// the top down it takes, of the primes left of these sizes, those whose product is nearest to what the scale wants.
///
/// ```
/// use ringmill_ckks::{Level, Levels, params::steady_levels};
/// let q = [97, 1009, 1013, 1019, 1021];
/// let levels = Levels::new(&[1, 2, 2], 5)?;
/// let steady = steady_levels(&q, &levels, Level::ZERO, 2f64.powi(20));
/// assert_eq!(steady, [97, 1009, 1013, 1019, 1021]);
/// # Ok::<(), ringmill_ckks::ParamsError>(())
/// ```
pub fn steady_levels(q: &[u64], levels: &Levels, floor: Level, scale: f64) -> Vec<u64> {
    let first = levels.limbs(floor).min(q.len());
    if levels.is_single() {
        let order = steady_order(&q[first..], scale);
        return q[..first].iter().copied().chain(order.into_iter().rev()).collect();
    }
    steady_levels_of(&q[first..], q, levels, floor)
}

/// As [`steady_levels`] for several primes a level, of those of a pool that has enough of each size.
///
/// The levels of one size above the floor come first: a computation begins at the scale itself, whatever stands above them. Those
/// above, of several sizes perhaps, follow from the top down, as what comes out of a raise goes through them.
pub(super) fn steady_levels_of(pool: &[u64], q: &[u64], levels: &Levels, floor: Level) -> Vec<u64> {
    let mut left: Vec<(u64, u32, f64)> = pool.iter().map(|&q| (q, size(q), excess(q))).collect();
    let (mut drift, mut chain) = (0.0, q.to_vec());
    let bits = |level: u32| q[levels.primes(Level::new(level))].iter().map(|&q| size(q)).sum::<u32>();
    let (first, top) = (floor.get() + 1, levels.top().get());
    let end = (first..=top).find(|&level| bits(level) != bits(first)).unwrap_or(top + 1);
    for level in (first..end).rev().chain((end..=top).rev()) {
        if level == top {
            drift = 0.0;
        }
        let places = levels.primes(Level::new(level));
        let sizes: Vec<u32> = q[places.clone()].iter().map(|&q| size(q)).collect();
        let mut search = Search {
            left: &left,
            sizes: &sizes,
            wanted: 2.0 * drift,
            chosen: Vec::new(),
            best: (f64::INFINITY, Vec::new()),
        };
        search.go(0.0);
        let (_, mut best) = search.best;
        // A pool without such primes: the chain stands as it is.
        if best.len() != sizes.len() {
            return q.to_vec();
        }
        let of_level: Vec<u64> = best.iter().map(|&i| left[i].0).collect();
        drift = 2.0 * drift - best.iter().map(|&i| left[i].2).sum::<f64>();
        chain[places].copy_from_slice(&of_level);
        best.sort_unstable();
        for i in best.into_iter().rev() {
            left.remove(i);
        }
    }
    chain
}

/// The primes of one level whose deviation from their sizes is nearest to the wanted one.
struct Search<'a> {
    /// Prime, size, log2 of the prime beside its size.
    left: &'a [(u64, u32, f64)],
    sizes: &'a [u32],
    wanted: f64,
    chosen: Vec<usize>,
    best: (f64, Vec<usize>),
}

impl Search<'_> {
    fn go(&mut self, sum: f64) {
        let at = self.chosen.len();
        let Some(&size) = self.sizes.get(at) else {
            let distance = (sum - self.wanted).abs();
            if distance < self.best.0 {
                self.best = (distance, self.chosen.clone());
            }
            return;
        };
        // Primes of one size in one order only.
        let from = match at.checked_sub(1).map(|before| (self.sizes[before], self.chosen[before])) {
            Some((before, chosen)) if before == size => chosen + 1,
            _ => 0,
        };
        for i in from..self.left.len() {
            if self.left[i].1 == size && !self.chosen.contains(&i) {
                self.chosen.push(i);
                self.go(sum + self.left[i].2);
                self.chosen.pop();
            }
        }
    }
}

/// The greatest |δ_t| of products that start at `scale` and are divided by the primes of each of `levels` in turn.
pub(super) fn drift<'a>(levels: impl IntoIterator<Item = &'a [u64]>, scale: f64) -> f64 {
    let all = levels.into_iter().scan(0.0, |drift, level| {
        *drift = 2.0 * *drift - deviation(level, scale);
        Some(f64::abs(*drift))
    });
    all.fold(0.0, f64::max)
}

/// log2 of the product of `primes` beside the scale.
fn deviation(primes: &[u64], scale: f64) -> f64 {
    match primes {
        &[q] => beside(q, scale),
        _ => primes.iter().map(|&q| excess(q) + f64::from(size(q))).sum::<f64>() - scale.log2(),
    }
}

/// log2 q, rounded.
fn size(q: u64) -> u32 {
    (q as f64).log2().round() as u32
}

/// log2 of q beside its size.
fn excess(q: u64) -> f64 {
    beside(q, f64::from(size(q)).exp2())
}

/// log2(q/Δ) by the logarithm of 1 + x: q is near Δ and the difference of the logarithms would lose digits.
fn beside(q: u64, scale: f64) -> f64 {
    ((q as f64 - scale) / scale).ln_1p() * std::f64::consts::LOG2_E
}

impl Params {
    /// The greatest drift of the default scale, in bits, over products at every level from the top down to level 0.
    pub fn drift(&self) -> f64 {
        self.drift_from(self.max_level())
    }

    /// The same from another level down.
    fn drift_from(&self, top: Level) -> f64 {
        let q: Vec<u64> = self.q_moduli().iter().map(|q| q.value()).collect();
        let levels = (1..=top.get()).rev().map(|level| &q[self.levels().primes(Level::new(level))]);
        drift(levels, self.default_scale().to_f64())
    }

    /// That scales stay within half of [`DRIFT_MAX`], whichever level up to `top` products begin at.
    ///
    /// # Errors
    /// [`ParamsError::Drift`].
    pub fn check_drift(&self, top: Level) -> Result<(), ParamsError> {
        let drift = (1..=top.get()).map(|level| self.drift_from(Level::new(level))).fold(0.0, f64::max);
        let scale_bits = self.literal().scale_bits;
        if drift > DRIFT_MAX / 2.0 { Err(ParamsError::Drift { drift, scale_bits }) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringmill_ring::primes::{Side, nearest};

    #[test]
    fn scales_stay_over_many_levels() {
        for (bits, log_n, count) in [(34, 17, 61), (40, 16, 30), (30, 15, 20), (49, 16, 27)] {
            let primes = nearest(1 << bits, log_n, count, Side::Alternating, &[]).unwrap();
            let values: Vec<u64> = primes.iter().map(|m| m.value()).collect();
            let scale = 2f64.powi(bits);
            let order = steady_order(&values, scale);
            let (mut at, mut most) = (0f64, 0f64);
            for &q in &order {
                at = 2.0 * at - ((q as f64 - scale) / scale).ln_1p() * std::f64::consts::LOG2_E;
                most = most.max(at.abs());
            }
            assert!(most < 0.3, "{count} primes of {bits} bits: scales drift by {most:.3} bits");
            assert_eq!(drift(order.chunks(1), scale), most);
            let (mut sorted, mut same) = (order, values);
            sorted.sort_unstable();
            same.sort_unstable();
            assert_eq!(sorted, same);
        }
    }
}
