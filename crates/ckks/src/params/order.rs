//! The order of a chain's primes that keeps scales where they are.
//!
//! With Δ_{t+1} = Δ_t²/q the distance δ_t = log2(Δ_t/Δ_0) obeys δ_{t+1} = 2δ_t − ε, ε = log2(q/Δ_0): every deviation doubles
//! with each level that follows. Taking at each level, from the top, the prime whose ε is nearest to 2δ_t
//! keeps δ below a third of a bit over 60 levels of 34 bits at N = 2^17. There the primes in order of size
//! would lose all precision after ten levels.

use super::Params;

/// How far scales of repeated products may drift from the first, in bits, before a chain is refused: log2 |Δ_t/Δ_0|.
pub const DRIFT_MAX: f64 = 2.0;

/// `primes` in the order in which rescaling should remove them.
pub fn steady_order(primes: &[u64], scale: f64) -> Vec<u64> {
    let mut left: Vec<(u64, f64)> = primes.iter().map(|&q| (q, deviation(q, scale))).collect();
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

/// The greatest |δ_t| of products that start at `scale` and are divided by each of `primes` in turn.
pub(super) fn drift(primes: impl IntoIterator<Item = u64>, scale: f64) -> f64 {
    let step = |drift: f64, q| 2.0 * drift - deviation(q, scale);
    let all = primes.into_iter().scan(0.0, |drift, q| {
        *drift = step(*drift, q);
        Some(drift.abs())
    });
    all.fold(0.0, f64::max)
}

/// log2(q/Δ) by the logarithm of 1 + x: q is near Δ and the difference of the logarithms would lose digits.
fn deviation(q: u64, scale: f64) -> f64 {
    ((q as f64 - scale) / scale).ln_1p() * std::f64::consts::LOG2_E
}

impl Params {
    /// The greatest drift of the default scale, in bits, over products at every level from the top down to level 0.
    pub fn drift(&self) -> f64 {
        drift(self.q_moduli()[1..].iter().rev().map(|q| q.value()), self.default_scale().to_f64())
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
            assert_eq!(drift(order.iter().copied(), scale), most);
            let (mut sorted, mut same) = (order, values);
            sorted.sort_unstable();
            same.sort_unstable();
            assert_eq!(sorted, same);
        }
    }
}
