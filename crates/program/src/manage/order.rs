//! The order of a chain's primes that keeps scales where they are.
//!
//! With Δ_{t+1} = Δ_t²/q the distance δ_t = log2(Δ_t/Δ_0) obeys δ_{t+1} = 2δ_t − ε, ε = log2(q/Δ_0): every deviation doubles
//! with each level that follows. Taking at each level, from the top, the prime whose ε is nearest to 2δ_t
//! keeps δ below a third of a bit over 60 levels of 34 bits at N = 2^17. There the primes in order of size
//! would lose all precision after ten levels.

use ringmill_ckks::{Level, Params, ParamsError, PrimeSpec};

/// The same parameters with the primes above `floor`, which rescaling removes, in that order.
///
/// # Errors
/// None for parameters that were checked; the signature is that of every way to parameters.
pub fn steady(params: &Params, floor: Level) -> Result<Params, ParamsError> {
    let mut q: Vec<u64> = params.q_moduli().iter().map(|m| m.value()).collect();
    let base: Vec<u64> = q.drain(..floor.limbs().min(q.len())).collect();
    let scale = params.default_scale().to_f64();
    let descending = steady_order(&q, scale);
    let mut literal = params.literal().clone();
    literal.q = base.into_iter().chain(descending.into_iter().rev()).map(PrimeSpec::Value).collect();
    literal.p = params.p_moduli().iter().map(|m| PrimeSpec::Value(m.value())).collect();
    Params::new(&literal)
}

/// `primes` in the order in which rescaling should remove them.
fn steady_order(primes: &[u64], scale: f64) -> Vec<u64> {
    // log2(q/Δ) by the logarithm of 1 + x: q is near Δ and the difference of the logarithms would lose digits.
    let deviation = |q: u64| ((q as f64 - scale) / scale).ln_1p() * std::f64::consts::LOG2_E;
    let mut left: Vec<(u64, f64)> = primes.iter().map(|&q| (q, deviation(q))).collect();
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
            let (mut drift, mut most) = (0f64, 0f64);
            for &q in &order {
                drift = 2.0 * drift - ((q as f64 - scale) / scale).ln_1p() * std::f64::consts::LOG2_E;
                most = most.max(drift.abs());
            }
            assert!(most < 0.3, "{count} primes of {bits} bits: scales drift by {most:.3} bits");
            let (mut sorted, mut same) = (order, values);
            sorted.sort_unstable();
            same.sort_unstable();
            assert_eq!(sorted, same);
        }
    }
}
