//! How likely a multiple of the modulus lies beyond the interval of the sine.

/// The chance that |I| > K for any of `coefficients` coefficients, under a secret of weight h: zero for K ≥ (h + 1)/2 − 1/2.
///
/// q_0·I is what c_0 + c_1·s is above its centred residue. That is the sum of h + 1 coefficients which are uniform below q_0 for
/// a fresh mask, so S = (c_0 + c_1·s)/q_0 is a sum of h + 1 uniform numbers in [−1/2, 1/2) and |I| > K needs |S| > K + 1/2. The tail is
/// that of Irwin and Hall, with the union bound over coefficients.
pub fn probability(weight: u32, interval: u32, coefficients: usize) -> f64 {
    let terms = weight + 1;
    // From the end of the range inwards.
    let inside = f64::from(terms) / 2.0 - (f64::from(interval) + 0.5);
    if inside <= 0.0 {
        return 0.0;
    }
    let mut sum = 0.0;
    let mut binomial = 1.0;
    for k in 0..=inside.floor() as u32 {
        let term = binomial * ((inside - f64::from(k)).ln() * f64::from(terms) - ln_factorial(terms)).exp();
        sum += if k % 2 == 0 { term } else { -term };
        binomial *= f64::from(terms - k) / f64::from(k + 1);
    }
    (2.0 * sum * coefficients as f64).clamp(0.0, 1.0)
}

fn ln_factorial(n: u32) -> f64 {
    (2..=n).map(|k| f64::from(k).ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::probability;

    #[test]
    fn tails_of_sums_that_are_known() {
        // Two uniform numbers: P(|S| > 1/2) = 1/4. Four: P(|S| > 3/2) = 2·(1/2)^4/4!.
        assert!((probability(1, 0, 1) - 0.25).abs() < 1e-12);
        assert!((probability(3, 1, 1) - 2.0 / 16.0 / 24.0).abs() < 1e-12);
        // Thirty-three never reach 16½.
        assert_eq!(probability(32, 16, 1 << 16), 0.0);
        assert!(probability(32, 15, 1 << 16) > 0.0);
    }

    #[test]
    fn a_wider_interval_fails_less() {
        let all: Vec<f64> = (8..16).map(|k| probability(32, k, 1 << 16)).collect();
        assert!(all.windows(2).all(|w| w[1] < w[0]), "{all:?}");
        assert!((-42.0..-36.0).contains(&all[4].log2()), "K = 12: 2^{:.1}", all[4].log2());
    }
}
