//! Many small samples against their exact distribution. A correct sampler fails each comparison with a probability of 10^−6 a side.

/// Standard score with one-sided probability 10^−6.
const Z: f64 = 4.7534;
/// Distances at which samples must not correlate: neighbours, lanes, and blocks of the samplers and their generators.
const DISTANCES: [usize; 21] =
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 20, 64, 512, 1024, 4096];
/// Products of samples up to 127 are added in 32 bits this far.
const RUN: usize = 1 << 16;

/// How often each value came, and how samples correlate with later ones of the same polynomial.
pub(super) struct Tally {
    probabilities: Vec<f64>,
    counts: Vec<u64>,
    products: [i64; DISTANCES.len()],
    pairs: [u64; DISTANCES.len()],
}

impl Tally {
    /// Of values from −b to b with these 2·b + 1 probabilities, whose mean is 0.
    pub(super) fn new(probabilities: Vec<f64>) -> Self {
        let (products, pairs) = ([0; DISTANCES.len()], [0; DISTANCES.len()]);
        Self { counts: vec![0; probabilities.len()], probabilities, products, pairs }
    }

    fn bound(&self) -> i32 {
        self.probabilities.len() as i32 / 2
    }

    /// A polynomial more.
    pub(super) fn add(&mut self, samples: &[i8]) {
        let bound = self.bound();
        samples.iter().for_each(|&x| self.counts[(i32::from(x) + bound) as usize] += 1);
        for (i, distance) in DISTANCES.into_iter().enumerate().filter(|(_, d)| *d < samples.len()) {
            let later = &samples[distance..];
            self.pairs[i] += later.len() as u64;
            for (a, b) in samples.chunks(RUN).zip(later.chunks(RUN)) {
                let sum: i32 = a.iter().zip(b).map(|(&x, &y)| i32::from(x) * i32::from(y)).sum();
                self.products[i] += i64::from(sum);
            }
        }
    }

    /// Asserts Pearson's statistic, with neighbours at the ends joined until five are expected, and every correlation.
    pub(super) fn check(&self, what: &str, at_least: u64) {
        let total: u64 = self.counts.iter().sum();
        assert!(total >= at_least, "{what}: {total} samples");
        let (mut bins, mut open) = (Vec::new(), (0, 0.0));
        for (count, p) in self.counts.iter().zip(&self.probabilities) {
            open = (open.0 + count, open.1 + p * total as f64);
            if open.1 >= 5.0 {
                bins.push(std::mem::take(&mut open));
            }
        }
        let end = bins.last_mut().expect("a bin");
        *end = (end.0 + open.0, end.1 + open.1);
        let x: f64 = bins.iter().map(|&(count, wanted)| (count as f64 - wanted).powi(2) / wanted).sum();
        // Quantiles of chi-square (Wilson, Hilferty 1931).
        let (df, part) = (bins.len() as f64 - 1.0, 2.0 / (9.0 * (bins.len() as f64 - 1.0)));
        let quantile = |z: f64| df * (1.0 - part + z * part.sqrt()).max(0.0).powi(3);
        println!("{what}: {total} samples, χ² = {x:.1} with {df} degrees of freedom");
        assert!((quantile(-Z)..quantile(Z)).contains(&x), "{what}: χ² = {x}, df = {df}");
        // Products of independent samples have mean 0 and the square of their variance.
        let bound = self.bound();
        let variance: f64 = self.probabilities.iter().zip(-bound..).map(|(p, x)| p * f64::from(x * x)).sum();
        for (i, distance) in DISTANCES.into_iter().enumerate() {
            let score = self.products[i] as f64 / (variance * (self.pairs[i] as f64).sqrt());
            assert!(score.abs() < Z, "{what}: correlation at distance {distance} has score {score}");
        }
    }
}
