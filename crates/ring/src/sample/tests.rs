//! Deterministic statistics: seeds are fixed, and a test fails if a statistic leaves the range that a correct sampler
//! leaves with probability below 10^−6 on either side.

use super::gaussian::{GROUP, THRESHOLDS, from_bits, from_words};
use super::tally::Tally;
use super::*;
use crate::primes::{Side, nearest};
use crate::{Modulus, RingError};
use num_bigint::BigUint;

/// Standard score with one-sided probability 10^−6.
const Z: f64 = 4.7534;

/// Asserts that Pearson's statistic of `counts` against `expected` lies within the two 10^−6 quantiles of the
/// chi-square distribution (Wilson, Hilferty 1931).
fn assert_chi_square(counts: &[u64], expected: &[f64], what: &str) {
    let df = (counts.len() - 1) as f64;
    let x: f64 = counts.iter().zip(expected).map(|(&c, e)| (c as f64 - e).powi(2) / e).sum();
    let quantile = |z: f64| df * (1.0 - 2.0 / (9.0 * df) + z * (2.0 / (9.0 * df)).sqrt()).max(0.0).powi(3);
    assert!(expected.iter().all(|&e| e >= 5.0), "{what}: too few samples for the test");
    assert!((quantile(-Z)..quantile(Z)).contains(&x), "{what}: χ² = {x}, df = {df}");
}

fn counts<T: Copy>(values: &[T], bins: usize, bin: impl Fn(T) -> usize) -> Vec<u64> {
    let mut counts = vec![0; bins];
    values.iter().for_each(|&v| counts[bin(v)] += 1);
    counts
}

fn rng(stream: u64) -> SecretRng {
    SecretRng::new(&SecretSeed::from_bytes([42; 32]), stream)
}

const SEED: Seed = Seed::from_bytes([7; 32]);

fn uniform_vec(label: &[u8], limb: u32, q: Modulus, n: usize) -> Vec<u64> {
    let mut out = vec![0; n];
    uniform(&SEED, label, limb, q, &mut out);
    out
}

#[test]
fn uniform_is_flat_at_every_size() {
    for q in [786_433, (1 << 50) - 27, 0x0020_0000_010c_0001, 1_152_921_504_606_846_883] {
        let (q, n) = (Modulus::new(q).unwrap(), 1 << 17);
        let values = uniform_vec(b"flat", 3, q, n);
        assert!(values.iter().all(|&v| v < q.value()));
        // 256 bins of almost equal width, and 16 values of the low bits.
        let bin = |v: u64| (u128::from(v) * 256 / u128::from(q.value())) as usize;
        assert_chi_square(&counts(&values, 256, bin), &[n as f64 / 256.0; 256], "bins");
        assert_chi_square(&counts(&values, 16, |v| v as usize % 16), &[n as f64 / 16.0; 16], "low bits");
        // Neighbours are independent.
        let pairs: Vec<_> = values.chunks_exact(2).map(|p| bin(p[0]) / 16 * 16 + bin(p[1]) / 16).collect();
        assert_chi_square(&counts(&pairs, 256, |p| p), &[n as f64 / 512.0; 256], "pairs");
    }
}

#[test]
fn uniform_depends_on_everything_named_and_on_nothing_else() {
    let q = Modulus::new((1 << 50) - 27).unwrap();
    let base = uniform_vec(b"a", 0, q, 5000);
    assert_eq!(uniform_vec(b"a", 0, q, 5000), base);
    assert_eq!(uniform_vec(b"a", 0, q, 1234), base[..1234], "the length cuts, it does not stir");
    assert_ne!(uniform_vec(b"b", 0, q, 5000), base);
    assert_ne!(uniform_vec(b"a", 1, q, 5000), base);
    assert_ne!(uniform_vec(b"a\0", 0, q, 5000), base);
    let mut other = vec![0; 5000];
    uniform(&Seed::from_bytes([8; 32]), b"a", 0, q, &mut other);
    assert_ne!(other, base);
    uniform(&SEED, b"a", 0, q, &mut []);
}

#[test]
fn uniform_follows_its_definition() {
    // The documented rule, spelt out with the hash's plain reader, at a modulus with 2^64 ≈ 16.5·q that refuses 3% of the words.
    let target = ((2u128 << 64) / 33) as u64;
    let q = nearest(target, 10, 1, Side::Above, &[]).unwrap()[0].value();
    let mut input = b"ringmill uniform v1".to_vec();
    input.extend(3u64.to_le_bytes());
    input.extend(b"key");
    input.extend(9u32.to_le_bytes());
    let mut reader = blake3::Hasher::new_keyed(SEED.as_bytes()).update(&input).finalize_xof();
    let mut want = Vec::new();
    let mut refused = 0;
    while want.len() < 3000 {
        let mut word = [0; 8];
        reader.fill(&mut word);
        let product = BigUint::from(u64::from_le_bytes(word)) * q;
        let low = &product % (BigUint::from(1u8) << 64);
        if low >= (BigUint::from(1u8) << 64) % q {
            want.push(u64::try_from(product >> 64).unwrap());
        } else {
            refused += 1;
        }
    }
    assert!((50..150).contains(&refused), "{refused}");
    assert_eq!(uniform_vec(b"key", 9, Modulus::new(q).unwrap(), 3000), want);
}

#[test]
fn ternary_is_uniform_for_any_length() {
    let n = 1 << 18;
    let mut out = vec![9; n];
    rng(0).ternary(&mut out);
    assert!(out.iter().all(|x| (-1..=1).contains(x)));
    assert_chi_square(&counts(&out, 3, |x| (x + 1) as usize), &[n as f64 / 3.0; 3], "ternary");
    let pairs: Vec<_> = out.windows(2).map(|p| (3 * p[0] + p[1] + 4) as usize).step_by(2).collect();
    assert_chi_square(&counts(&pairs, 9, |p| p), &[pairs.len() as f64 / 9.0; 9], "pairs");
    for len in [0, 1, 4, 5, 6, 1023] {
        let mut short = vec![9; len];
        rng(1).ternary(&mut short);
        assert!(short.iter().all(|x| (-1..=1).contains(x)));
    }
}

#[test]
fn weight_is_exact_and_places_and_signs_are_uniform() {
    let (n, weight, rounds) = (1024, 192, 500);
    let (mut places, mut plus) = (vec![0u64; n], 0u64);
    let mut rng = rng(2);
    for _ in 0..rounds {
        let mut out = vec![9; n];
        rng.ternary_of_weight(weight, &mut out).unwrap();
        assert_eq!(out.iter().filter(|x| x.abs() == 1).count(), weight);
        assert_eq!(out.iter().filter(|x| **x == 0).count(), n - weight);
        places.iter_mut().zip(&out).for_each(|(p, x)| *p += x.unsigned_abs() as u64);
        plus += out.iter().filter(|x| **x == 1).count() as u64;
    }
    // Binomial counts, a little negatively correlated: their variance is that of Pearson's statistic times 1 − w/n.
    let expected = rounds as f64 * weight as f64 / n as f64;
    let spread = 1.0 - weight as f64 / n as f64;
    let x: f64 = places.iter().map(|&c| (c as f64 - expected).powi(2) / (expected * spread)).sum();
    let df = (n - 1) as f64;
    assert!((x - df).abs() < (Z + 1.0) * (2.0 * df).sqrt(), "places: {x}");
    let total = (rounds * weight) as f64;
    assert_chi_square(&[plus, total as u64 - plus], &[total / 2.0; 2], "signs");

    let mut all = vec![0; 64];
    rng.ternary_of_weight(64, &mut all).unwrap();
    assert!(all.iter().all(|x| x.abs() == 1));
    rng.ternary_of_weight(0, &mut all).unwrap();
    assert_eq!(all, [0; 64]);
    assert_eq!(rng.ternary_of_weight(65, &mut all), Err(RingError::Weight { weight: 65, n: 64 }));
}

/// exp(−25·x²/512) · 2^bits by its series, in integers.
fn weight_of(x: u64, bits: u64) -> BigUint {
    // exp(−y) = exp(−y/2^12)^(2^12) keeps the series short; 64 guard bits cover the squarings.
    let guard = bits + 64;
    let one = BigUint::from(1u8) << guard;
    let y = (BigUint::from(25 * x * x) << guard) / (512u64 << 12);
    let (mut plus, mut minus, mut term) = (BigUint::ZERO, BigUint::ZERO, one);
    for k in 1u64.. {
        if k % 2 == 1 {
            plus += &term
        } else {
            minus += &term
        }
        term = ((term * &y) >> guard) / k;
        if term == BigUint::ZERO {
            break;
        }
    }
    let mut e = plus - minus;
    for _ in 0..12 {
        e = (&e * &e) >> guard;
    }
    e >> 64
}

#[test]
fn gaussian_table_is_the_distribution_function() {
    let bits = 256;
    let weights: Vec<BigUint> = (0..=42).map(|x| weight_of(x, bits) * if x == 0 { 1u8 } else { 2 }).collect();
    let total: BigUint = weights.iter().sum();
    let mut below = BigUint::ZERO;
    for (k, threshold) in THRESHOLDS.iter().enumerate() {
        below += &weights[k];
        let want = ((&below << 128) / &total + 1u8) >> 1;
        assert_eq!(BigUint::from(*threshold), want, "entry {k}");
    }
    assert!(f64::from(GAUSSIAN_BOUND) > 6.0 * SIGMA);
}

#[test]
fn gaussian_inversion_takes_the_right_side_of_every_threshold() {
    for (k, &t) in THRESHOLDS.iter().enumerate() {
        let k = k as i8;
        assert_eq!((from_bits(t - 1), from_bits(t)), (k, k + 1));
        assert_eq!((from_bits((t - 1) | 1 << 127), from_bits(t | 1 << 127)), (-k, -k - 1));
    }
    assert_eq!((from_bits(0), from_bits(u128::MAX)), (0, -GAUSSIAN_BOUND));
}

#[test]
fn gaussian_words_agree_with_all_128_bits() {
    // Around every threshold, with the lower half at its ends: where the upper half decides it must not ask.
    for (k, &t) in THRESHOLDS.iter().enumerate() {
        for offset in [-1i64, 0, 1] {
            for (sign, low) in [(0, 0), (0, t as u64), (1, (t as u64).wrapping_sub(1)), (1, u64::MAX)] {
                let word = ((t >> 64) as u64).saturating_add_signed(offset).min(u64::MAX >> 1) | sign << 63;
                let mut asked = 0;
                let mut words = [5; GROUP];
                words[k % GROUP] = word;
                let samples = from_words(&words, &mut || {
                    asked += 1;
                    low
                });
                assert_eq!(samples[k % GROUP], from_bits(u128::from(word) << 64 | u128::from(low)));
                assert!(samples.iter().enumerate().all(|(i, &x)| i == k % GROUP || x == 0));
                let tie = THRESHOLDS.iter().any(|t| (t >> 64) as u64 == word & (u64::MAX >> 1));
                assert_eq!(asked, usize::from(tie));
            }
        }
    }
}

#[test]
fn gaussian_has_its_shape_and_moments() {
    let n = 1 << 19;
    let mut out = vec![0; n];
    rng(3).gaussian(&mut out);
    // Bins −13..=13 with tails merged; expectation from the density itself.
    let density = |x: f64| (-x * x / (2.0 * SIGMA * SIGMA)).exp();
    let total: f64 = (-60..=60).map(|x| density(x.into())).sum();
    let mut expected = vec![0.0; 27];
    (-60i32..=60)
        .for_each(|x| expected[(x.clamp(-13, 13) + 13) as usize] += density(x.into()) / total * n as f64);
    let bin = |x: i8| (x.clamp(-13, 13) + 13) as usize;
    assert_chi_square(&counts(&out, 27, bin), &expected, "gaussian");
    let moment = |p| out.iter().map(|&x| f64::from(x).powi(p)).sum::<f64>() / n as f64;
    let (s2, root) = (SIGMA * SIGMA, (n as f64).sqrt());
    assert!(moment(1).abs() < Z * SIGMA / root);
    assert!((moment(2) - s2).abs() < Z * s2 * 2f64.sqrt() / root);
    assert!((moment(4) - 3.0 * s2 * s2).abs() < Z * s2 * s2 * 96f64.sqrt() / root);
    let lag: f64 = out.windows(2).map(|p| f64::from(p[0]) * f64::from(p[1])).sum::<f64>() / n as f64;
    assert!(lag.abs() < Z * s2 / root, "neighbours correlate: {lag}");
}

#[test]
fn streams_and_seeds_differ_and_repeat() {
    let draw = |seed, stream| {
        let mut out = vec![0; 64];
        SecretRng::new(&SecretSeed::from_bytes([seed; 32]), stream).gaussian(&mut out);
        out
    };
    assert_eq!(draw(1, 0), draw(1, 0));
    assert_ne!(draw(1, 0), draw(1, 1));
    assert_ne!(draw(1, 0), draw(2, 0));
    assert_ne!(Seed::from_os().unwrap(), Seed::from_os().unwrap());
    let mut out = vec![0; 64];
    SecretRng::from_os().unwrap().ternary_of_weight(32, &mut out).unwrap();
}

#[test]
fn residues_of_small_coefficients() {
    let q = Modulus::new(786_433).unwrap();
    let mut out = [0; 5];
    small_to_residues(&[0, 1, -1, 127, -128], q, &mut out).unwrap();
    assert_eq!(out, [0, 1, 786_432, 127, 786_305]);
    let error = small_to_residues(&[0; 4], q, &mut out).unwrap_err();
    assert_eq!(error, RingError::Count { what: "small coefficients", expected: 5, got: 4 });
}

#[test]
fn secrets_do_not_print() {
    let seed = SecretSeed::from_bytes([0xab; 32]);
    let text = format!("{seed:?} {:?}", SecretRng::new(&seed, 5));
    assert_eq!(text, "SecretSeed(…) SecretRng(…)");
    assert!(format!("{SEED:?}").contains("0707"));
}

/// 10^8 coefficients of encryptions under a public key, from a seed each: exactly what the hardware's sampler draws.
#[test]
#[ignore = "long: make test-full"]
fn many_samples_have_their_distributions() {
    let (n, objects) = (1 << 15, 3052u64);
    // Relative errors of 10^−15 are far below what 10^8 samples show.
    let density = |x: i32| (-f64::from(x * x) / (2.0 * SIGMA * SIGMA)).exp();
    let bound = i32::from(GAUSSIAN_BOUND);
    let total: f64 = (-bound..=bound).map(density).sum();
    let mut gaussian = Tally::new((-bound..=bound).map(|x| density(x) / total).collect());
    let mut ternary = Tally::new(vec![1.0 / 3.0; 3]);
    let mut out = vec![0; n];
    for object in 0..objects {
        let mut seed = [42; SEED_BYTES];
        seed[..8].copy_from_slice(&object.to_le_bytes());
        let mut rng = SecretRng::new(&SecretSeed::from_bytes(seed), 0);
        rng.ternary(&mut out);
        ternary.add(&out);
        for _ in 0..2 {
            rng.gaussian(&mut out);
            gaussian.add(&out);
        }
    }
    ternary.check("ternary", 100_000_000);
    gaussian.check("gaussian", 100_000_000);
}

/// Faults of about 10^−3, which 2^19 samples do not show.
#[test]
#[ignore = "long: make test-full"]
fn a_tally_sees_small_faults() {
    let (n, polynomials) = (1 << 15, 3052);
    let mut rng = rng(4);
    let fails = |fault: &dyn Fn(&mut [i8], usize)| {
        let (mut tally, mut out) = (Tally::new(vec![1.0 / 3.0; 3]), vec![0; n]);
        for i in 0..polynomials {
            rng.ternary(&mut out);
            fault(&mut out, i);
            tally.add(&out);
        }
        std::panic::catch_unwind(|| tally.check("faulty", 0)).is_err()
    };
    let mut fails = fails;
    assert!(!fails(&|_, _| ()));
    // One coefficient in 1024 is 0; one in 1024 repeats the one 64 places before.
    assert!(fails(&|out, _| out.iter_mut().step_by(1024).for_each(|x| *x = 0)));
    assert!(fails(&|out, _| (64..n).step_by(1024).for_each(|i| out[i] = out[i - 64])));
}
