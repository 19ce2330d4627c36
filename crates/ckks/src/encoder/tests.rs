//! Against exact arithmetic, see [`oracle`](super::oracle).

use super::oracle::{BITS, Oracle, float};
use super::*;
use num_bigint::BigInt;
use ringmill_ring::{Modulus, primes};

fn rings(log_n: u32, bits: &[u32]) -> Vec<LimbRing> {
    primes::chain(bits, log_n, &[]).unwrap().into_iter().map(|q| LimbRing::new(log_n, q).unwrap()).collect()
}

/// Deterministic values in the square [−size, size]².
fn values(n: usize, size: f64, mut seed: u64) -> Vec<Complex64> {
    let mut next = || {
        seed = seed.wrapping_mul(0xda94_2042_e4dd_58b5).wrapping_add(0x1234_5677);
        ((seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0) * size
    };
    (0..n).map(|_| Complex64::new(next(), next())).collect()
}

/// Centred integers from residues, by the textbook formula.
fn integers(poly: &Poly, moduli: &[Modulus]) -> Vec<BigInt> {
    let product: BigInt = moduli.iter().map(|q| BigInt::from(q.value())).product();
    let basis: Vec<BigInt> = moduli
        .iter()
        .map(|q| {
            let rest = &product / q.value();
            let inverse = q.inv(u64::try_from(&rest % q.value()).unwrap()).unwrap();
            rest * inverse
        })
        .collect();
    (0..poly.n())
        .map(|j| {
            let sum: BigInt = basis.iter().zip(poly.limbs()).map(|(b, limb)| b * limb[j]).sum();
            let x = sum % &product;
            if &x * 2 > product { x - &product } else { x }
        })
        .collect()
}

fn encode_coefficients(
    encoder: &Encoder,
    rings: &[LimbRing],
    values: &[Complex64],
    slots: usize,
    scale: &Scale,
) -> Vec<BigInt> {
    let mut poly = Poly::zeros(encoder.n(), rings.len(), Domain::Coefficient);
    encoder.encode_coefficients_into(values, slots, scale, rings, &mut poly).unwrap();
    assert_eq!(poly.domain(), Domain::Coefficient);
    let mut transformed = Poly::zeros(encoder.n(), rings.len(), Domain::Coefficient);
    encoder.encode_into(values, slots, scale, rings, &mut transformed).unwrap();
    assert_eq!(transformed.domain(), Domain::Evaluation);
    for (ring, limb) in rings.iter().zip(transformed.limbs_mut()) {
        ring.inverse(limb).unwrap();
    }
    assert_eq!(poly.words(), transformed.words());
    integers(&poly, &rings.iter().map(|r| r.modulus()).collect::<Vec<_>>())
}

/// Every checked coefficient is the nearest integer to the exact one, up to `slack` units.
fn assert_nearest(
    log_n: u32,
    bits: &[u32],
    slots: usize,
    size: f64,
    scale: &Scale,
    sample: usize,
    slack: f64,
) {
    let encoder = Encoder::new(log_n).unwrap();
    let rings = rings(log_n, bits);
    let values = values(slots, size, 7 + slots as u64);
    let got = encode_coefficients(&encoder, &rings, &values, slots, scale);
    let gap = encoder.max_slots() / slots;
    assert!((0..encoder.n()).all(|j| j % gap == 0 || got[j] == BigInt::ZERO), "only powers of X^{gap}");
    let oracle = Oracle::new(slots);
    let delta: BigInt = scale.factors().iter().map(|&(b, e)| BigInt::from(b).pow(e as u32)).product();
    let mut squares = 0.0;
    let checked: Vec<usize> = (0..slots).step_by((slots / sample).max(1)).collect();
    for &j in &checked {
        let want = oracle.coefficient(&values, slots, j, &delta);
        for (half, want) in want.iter().enumerate() {
            let error = float(&((&got[(j + half * slots) * gap] << BITS) - want));
            assert!(
                error.abs() <= 0.5 + slack,
                "log N {log_n}, slots {slots}, scale {scale}, c_{j}: {error}"
            );
            squares += error * error;
        }
    }
    if checked.len() > 100 {
        let rms = (squares / (2 * checked.len()) as f64).sqrt();
        assert!((0.26..0.32).contains(&rms), "rounding alone gives 0.289, got {rms}");
    }
}

#[test]
fn coefficients_are_the_nearest_integers() {
    for slots in [1, 2, 4, 32, 64, 128, 256, 512] {
        for (scale, bits) in [(30, &[50u32, 50][..]), (55, &[55, 55]), (90, &[50, 50, 50])] {
            assert_nearest(10, bits, slots, 1.0, &Scale::pow2(scale), 512, 0.1);
        }
    }
}

#[test]
fn scales_that_are_no_power_of_two_are_exact_too() {
    let q = Scale::modulus(Modulus::new(0x0020_0000_010c_0001).unwrap());
    assert_nearest(10, &[60, 60, 60], 512, 3.0, &q.mul(&Scale::pow2(37)), 64, 0.001);
    assert_nearest(10, &[60, 60], 512, 3.0, &q, 64, 0.1);
}

#[test]
fn wide_coefficients_keep_a_hundred_bits() {
    // 2^150 · 2^90: beyond both 62 and 124 bits; the error is a part of the largest coefficient.
    let (log_n, slots) = (10, 512);
    let encoder = Encoder::new(log_n).unwrap();
    let rings = rings(log_n, &[60; 5]);
    for log_size in [20, 60, 150] {
        let values = values(slots, 2f64.powi(log_size), 3);
        let got = encode_coefficients(&encoder, &rings, &values, slots, &Scale::pow2(90));
        let oracle = Oracle::new(slots);
        for j in [0, 1, 200, 511] {
            let want = oracle.coefficient(&values, slots, j, &(BigInt::from(1) << 90));
            let error = float(&((&got[j] << BITS) - &want[0])).abs();
            let unit = 2f64.powi(log_size + 90 - 100);
            assert!(error <= 0.501 + unit, "2^{log_size}, c_{j}: {error} of {unit}");
        }
    }
}

#[test]
fn large_rings_agree_with_sampled_coefficients() {
    assert_nearest(14, &[55, 55], 1 << 13, 1.0, &Scale::pow2(45), 8, 0.1);
    assert_nearest(14, &[50, 50, 50], 1 << 13, 1.0, &Scale::pow2(90), 8, 0.001);
}

#[test]
#[ignore = "long: make test-full"]
fn the_largest_rings_agree_with_sampled_coefficients() {
    for log_n in [15, 16, 17] {
        assert_nearest(log_n, &[55, 55], 1 << (log_n - 1), 1.0, &Scale::pow2(50), 3, 0.1);
        assert_nearest(log_n, &[50, 50, 50], 1 << (log_n - 1), 1.0, &Scale::pow2(90), 3, 0.001);
    }
}

#[test]
fn decoding_evaluates_exactly() {
    // Random integer polynomials of every size against their exact values at the roots.
    let log_n = 10;
    let encoder = Encoder::new(log_n).unwrap();
    let rings = rings(log_n, &[60, 50, 40, 55]);
    let moduli: Vec<Modulus> = rings.iter().map(|r| r.modulus()).collect();
    for (size, scale) in [(20u32, 20), (55, 55), (90, 90), (120, 90), (203, 40)] {
        let mut seed = BigInt::from(0x9e37_79b9_7f4a_7c15_u64);
        let modulus = BigInt::from(1) << (size + 1);
        let coefficients: Vec<BigInt> = (0..1024)
            .map(|_| {
                seed = (&seed * &seed + 12_345) % (BigInt::from(1) << 400);
                (&seed >> 100) % &modulus - (BigInt::from(1) << size)
            })
            .collect();
        let mut poly = Poly::zeros(1024, rings.len(), Domain::Coefficient);
        for (limb, q) in poly.limbs_mut().zip(&moduli) {
            for (x, c) in limb.iter_mut().zip(&coefficients) {
                let r = c % q.value();
                *x = u64::try_from(if r < BigInt::ZERO { r + q.value() } else { r }).unwrap();
            }
        }
        for slots in [1, 16, 64, 512] {
            let gap = 512 / slots;
            let used: Vec<BigInt> = coefficients.iter().step_by(gap).cloned().collect();
            let oracle = Oracle::new(slots);
            let got = encoder.decode(&poly, slots, &Scale::pow2(scale), &rings).unwrap();
            for i in (0..slots).step_by((slots / 16).max(1)) {
                let want = oracle.slot(&used, i).map(|x| float(&(x >> scale as usize)));
                // A thirty-second of a unit a coefficient, or the last bits of a double-double transform.
                let tolerance = (slots as f64).sqrt() * 2f64.powi(-5 - scale as i32)
                    + 2f64.powi(size as i32 - scale as i32 - 98) * slots as f64;
                for (got, want) in [(got[i].re, want[0]), (got[i].im, want[1])] {
                    let allowed = tolerance + want.abs() * f64::EPSILON;
                    assert!((got - want).abs() <= allowed, "2^{size}/2^{scale}, slot {i}: {got} for {want}");
                }
            }
        }
    }
}

#[test]
fn decoding_undoes_encoding_to_the_rounding_level() {
    for (log_n, scale, bits) in
        [(3, 40, &[50u32, 50][..]), (6, 30, &[50]), (12, 40, &[50; 4]), (13, 90, &[45; 6])]
    {
        let encoder = Encoder::new(log_n).unwrap();
        let rings = rings(log_n, bits);
        for slots in [1, 2, encoder.max_slots() / 2, encoder.max_slots()] {
            let input = values(slots, 1.0, 99);
            let mut poly = Poly::zeros(encoder.n(), rings.len(), Domain::Coefficient);
            encoder.encode_into(&input[..], slots, &Scale::pow2(scale), &rings, &mut poly).unwrap();
            let output = encoder.decode(&poly, slots, &Scale::pow2(scale), &rings).unwrap();
            // Rounding 2·slots coefficients gives each part a standard deviation of √(slots/12) units.
            let sigma = (slots as f64 / 12.0).sqrt() * 2f64.powi(-scale as i32);
            let mut squares = 0.0;
            for (a, b) in input.iter().zip(&output) {
                let error = (a - b).norm();
                assert!(error <= 8.0 * sigma + 2.0 * f64::EPSILON, "{log_n}: {error} against σ {sigma}");
                squares += error * error;
            }
            if slots > 1000 && scale < 50 {
                let measured = (squares / (2 * slots) as f64).sqrt();
                assert!((0.9..1.15).contains(&(measured / sigma)), "{measured} against {sigma}");
            }
        }
    }
}

#[test]
fn small_values_survive_beside_large_ones_at_large_scales() {
    let (log_n, scale) = (11, Scale::pow2(90));
    let encoder = Encoder::new(log_n).unwrap();
    let rings = rings(log_n, &[50, 50, 50]);
    let mut input = vec![1.0; 1024];
    input[5] = 1e-20;
    input[6] = -3e-24;
    let mut poly = Poly::zeros(encoder.n(), 3, Domain::Coefficient);
    encoder.encode_into(&input[..], 1024, &scale, &rings, &mut poly).unwrap();
    let output = encoder.decode(&poly, 1024, &scale, &rings).unwrap();
    for i in [5, 6] {
        assert!((output[i].re - input[i]).abs() < 100.0 * 2f64.powi(-90), "{}", output[i].re);
    }
}

#[test]
fn products_of_polynomials_are_products_of_slots() {
    let log_n = 8;
    let encoder = Encoder::new(log_n).unwrap();
    let rings = rings(log_n, &[50, 50, 50]);
    let scale = Scale::pow2(40);
    for slots in [4, 128] {
        let (x, y) = (values(slots, 2.0, 1), values(slots, 2.0, 2));
        let mut a = Poly::zeros(256, 3, Domain::Evaluation);
        let mut b = a.clone();
        encoder.encode_into(&x[..], slots, &scale, &rings, &mut a).unwrap();
        encoder.encode_into(&y[..], slots, &scale, &rings, &mut b).unwrap();
        for (i, ring) in rings.iter().enumerate() {
            ring.mul_assign(a.limb_mut(i), b.limb(i)).unwrap();
        }
        let product = encoder.decode(&a, slots, &scale.mul(&scale), &rings).unwrap();
        for ((p, x), y) in product.iter().zip(&x).zip(&y) {
            assert!((p - x * y).norm() < 1e-9);
        }
    }
}

#[test]
fn the_galois_group_rotates_and_conjugates_slots() {
    let log_n = 10;
    let encoder = Encoder::new(log_n).unwrap();
    let rings = rings(log_n, &[50]);
    let scale = Scale::pow2(40);
    for slots in [8, 512] {
        let input = values(slots, 1.0, 5);
        let mut poly = Poly::zeros(1024, 1, Domain::Coefficient);
        encoder.encode_coefficients_into(&input[..], slots, &scale, &rings, &mut poly).unwrap();
        let apply = |g: u64| {
            let mut image = Poly::zeros(1024, 1, Domain::Coefficient);
            rings[0].automorphism_coeff(image.limb_mut(0), poly.limb(0), g).unwrap();
            encoder.decode(&image, slots, &scale, &rings).unwrap()
        };
        let (rotated, conjugated) = (apply(125), apply(2047));
        for i in 0..slots {
            assert!((rotated[i] - input[(i + 3) % slots]).norm() < 1e-9);
            assert!((conjugated[i] - input[i].conj()).norm() < 1e-9);
        }
    }
}

#[test]
fn all_instruction_sets_give_the_same_bits() {
    let (log_n, slots) = (11, 1024);
    let rings = rings(log_n, &[55, 50, 60]);
    let input = values(slots, 1.0, 77);
    for scale in [30, 60, 90, 140] {
        let scale = Scale::pow2(scale);
        let results: Vec<_> = Isa::available()
            .map(|isa| {
                let encoder = Encoder::with_isa(log_n, isa).unwrap();
                let mut poly = Poly::zeros(encoder.n(), 3, Domain::Evaluation);
                encoder.encode_into(&input[..], slots, &scale, &rings, &mut poly).unwrap();
                let decoded = encoder.decode(&poly, slots, &scale, &rings).unwrap();
                (poly, decoded.iter().map(|z| (z.re.to_bits(), z.im.to_bits())).collect::<Vec<_>>())
            })
            .collect();
        assert!(results.len() >= 3 && results.iter().all(|r| *r == results[0]), "{scale}");
    }
}

#[test]
fn real_values_and_missing_ones() {
    let encoder = Encoder::new(10).unwrap();
    let rings = rings(10, &[50]);
    let (scale, real) = (Scale::pow2(40), [1.5, -2.25, 3.0]);
    let complex: Vec<Complex64> = (0..8).map(|i| real.get(i).copied().unwrap_or(0.0).into()).collect();
    let mut a = Poly::zeros(1024, 1, Domain::Coefficient);
    let mut b = a.clone();
    encoder.encode_into(&real[..], 8, &scale, &rings, &mut a).unwrap();
    encoder.encode_into(&complex[..], 8, &scale, &rings, &mut b).unwrap();
    assert_eq!(a, b);
    encoder.encode_into(&[0f64; 0][..], 8, &scale, &rings, &mut a).unwrap();
    assert!(a.words().iter().all(|&x| x == 0));
    // Also when the scratch holds other values.
    assert_ne!(encoder.decode(&b, 8, &scale, &rings).unwrap(), [Complex64::ZERO; 8]);
    assert_eq!(encoder.decode(&a, 8, &scale, &rings).unwrap(), [Complex64::ZERO; 8]);
    // Far below the scale: rounds to nothing.
    encoder.encode_into(&[5e-324, -1e-300][..], 8, &scale, &rings, &mut a).unwrap();
    assert!(a.words().iter().all(|&x| x == 0));
}

#[test]
fn wrong_use_is_named() {
    let encoder = Encoder::new(10).unwrap();
    let rings = rings(10, &[50, 50]);
    let scale = Scale::pow2(40);
    let mut out = Poly::zeros(1024, 2, Domain::Coefficient);
    let mut encode = |values: Slots<'_>, slots, scale: &Scale| {
        encoder.encode_into(values, slots, scale, &rings, &mut out).unwrap_err()
    };
    assert_eq!(encode(Slots::Real(&[1.0]), 3, &scale), EncoderError::Slots { slots: 3, max: 512 });
    assert_eq!(encode(Slots::Real(&[1.0]), 0, &scale), EncoderError::Slots { slots: 0, max: 512 });
    assert_eq!(encode(Slots::Real(&[1.0]), 1024, &scale), EncoderError::Slots { slots: 1024, max: 512 });
    assert_eq!(
        encode(Slots::Real(&[1.0; 5]), 4, &scale),
        EncoderError::TooManyValues { values: 5, slots: 4, max: 512 }
    );
    assert_eq!(
        encode(Slots::Real(&[1.0; 5]), 4, &scale).to_string(),
        "5 values do not fit 4 slots; take 8 slots or more, up to N/2 = 512"
    );
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for (index, len) in [(0, 1), (9, 20), (8, 9)] {
            let mut real = vec![1.0; len];
            real[index] = bad;
            let want = EncoderError::NotFinite { index, value: bad.to_string() };
            assert_eq!(encode(Slots::Real(&real), 512, &scale), want);
            let mut complex = vec![Complex64::ONE; len];
            complex[index].im = bad;
            let error = encode(Slots::Complex(&complex), 512, &scale);
            assert!(matches!(error, EncoderError::NotFinite { index: i, .. } if i == index), "{error}");
        }
    }
    let error = encode(Slots::Real(&[1.0, -8e17, 3.0]), 512, &Scale::pow2(60));
    let EncoderError::Overflow { index, value, log_coefficient, log_modulus, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!((*index, value.as_str()), (1, "-8e17"));
    let huge = [Complex64::new(-1e300, 2e-300), Complex64::new(1.5, f64::NAN), Complex64::new(0.0, -1e15)];
    let texts = [0, 1, 2].map(|i| encode(Slots::Complex(&huge[i..=i]), 1, &Scale::pow2(100)));
    let texts = texts.map(|error| match error {
        EncoderError::Overflow { value, .. } | EncoderError::NotFinite { value, .. } => value,
        other => panic!("{other}"),
    });
    assert_eq!(texts, ["-1e300+2e-300i", "1.5+NaNi", "0-1e15i"]);
    // One real slot of 512 spreads over 1024 coefficients of at most 1/512.
    assert!(
        (log_coefficient - (60.0 + 8e17f64.log2() - 9.0)).abs() < 0.1 && (log_modulus - 100.0).abs() < 0.1
    );

    let mut short = Poly::zeros(1024, 1, Domain::Coefficient);
    let error = encoder.encode_into(&[1.0][..], 4, &scale, &rings, &mut short).unwrap_err();
    assert!(matches!(error, EncoderError::Shape { limbs: 1, expected_limbs: 2, .. }), "{error}");
    let error = encoder.decode(&short, 4, &scale, &rings).unwrap_err();
    assert!(matches!(error, EncoderError::Shape { limbs: 1, expected_limbs: 2, .. }), "{error}");
    let none: [LimbRing; 0] = [];
    assert!(matches!(encoder.decode(&short, 4, &scale, &none), Err(EncoderError::Shape { .. })));
    assert!(matches!(encoder.decode(&short, 3, &scale, &rings), Err(EncoderError::Slots { slots: 3, .. })));
    assert!(matches!(Encoder::new(2), Err(EncoderError::Ring(RingError::Degree { .. }))));
    assert!(matches!(Encoder::new(18), Err(EncoderError::Ring(RingError::Degree { .. }))));
}

#[test]
fn overflow_is_refused_exactly_at_half_the_modulus() {
    // A constant in one slot: coefficient 0 is the value itself.
    let encoder = Encoder::new(10).unwrap();
    let rings = rings(10, &[50]);
    let half = rings[0].modulus().value() / 2;
    let mut out = Poly::zeros(1024, 1, Domain::Coefficient);
    for (x, fits) in [
        (half as f64, true),
        (half as f64 + 1.0, false),
        (-(half as f64), true),
        (-(half as f64) - 1.0, false),
    ] {
        let result = encoder.encode_coefficients_into(&[x][..], 1, &Scale::ONE, &rings, &mut out);
        assert_eq!(result.is_ok(), fits, "{x}");
        if fits {
            assert_eq!(rings[0].modulus().centred(out.limb(0)[0]), x as i64);
        }
    }
}

#[test]
fn enormous_values_decode_without_overflowing_inside() {
    // A value near half of a 1500-bit modulus: far beyond binary64 until the scale divides it.
    let log_n = 8;
    let encoder = Encoder::new(log_n).unwrap();
    let rings = rings(log_n, &[60; 25]);
    let scale = Scale::pow2(1400);
    let input = values(128, 1e20, 11);
    let mut out = Poly::zeros(256, 25, Domain::Coefficient);
    encoder.encode_into(&input[..], 128, &scale, &rings, &mut out).unwrap();
    let output = encoder.decode(&out, 128, &scale, &rings).unwrap();
    for (a, b) in input.iter().zip(&output) {
        assert!((a - b).norm() <= 1e-15 * a.norm());
    }
    let tiny = encoder.decode(&out, 128, &Scale::ONE, &rings).unwrap();
    assert!(tiny.iter().all(|z| !z.re.is_finite() || !z.im.is_finite()));
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(48))]

    /// Any finite values that fit come back to the rounding level.
    #[test]
    fn round_trip(
        log_n in 3u32..11,
        sparse in 0u32..10,
        log_scale in 1i64..91,
        log_size in -20i32..40,
        seed: u64,
        filled in 0.0f64..1.0,
    ) {
        let encoder = Encoder::new(log_n).unwrap();
        let rings = rings(log_n, &[50, 55, 45]);
        let slots = encoder.max_slots() >> sparse.min(log_n - 1);
        let size = 2f64.powi(log_size);
        let input = values((slots as f64 * filled).ceil() as usize, size, seed);
        let scale = Scale::pow2(log_scale);
        let mut poly = Poly::zeros(encoder.n(), 3, Domain::Coefficient);
        encoder.encode_into(&input[..], slots, &scale, &rings, &mut poly).unwrap();
        let output = encoder.decode(&poly, slots, &scale, &rings).unwrap();
        let sigma = (slots as f64 / 12.0).sqrt() * 2f64.powi(-log_scale as i32);
        for (i, z) in output.iter().enumerate() {
            let error = (z - input.get(i).copied().unwrap_or_default()).norm();
            proptest::prop_assert!(error <= 9.0 * sigma + 4.0 * f64::EPSILON * size, "slot {}: {} at σ {}", i, error, sigma);
        }
    }
}

/// By definition: slot i is the value at e^(iπ·3^i/N), for fewer slots at e^(iπ·3^i/2n) in X^(N/2n).
#[test]
fn slots_stand_in_the_order_of_the_generator() {
    let (log_n, scale) = (10, Scale::pow2(40));
    let encoder = Encoder::new(log_n).unwrap().with_generator(crate::Generator::Three);
    let rings = rings(log_n, &[55, 55]);
    for slots in [1usize, 2, 8, 512] {
        let values = values(slots, 1.0, slots as u64);
        let coefficients = encode_coefficients(&encoder, &rings, &values, slots, &scale);
        let gap = encoder.max_slots() / slots;
        let mut power = 1u64;
        for value in &values {
            let root = |j: usize| {
                let angle = std::f64::consts::PI * ((power * j as u64) % (4 * slots as u64)) as f64
                    / (2 * slots) as f64;
                Complex64::from_polar(1.0, angle)
            };
            let sum: Complex64 =
                (0..2 * slots).map(|j| root(j) * float(&(&coefficients[j * gap] << BITS))).sum();
            let found = sum / 2f64.powi(40);
            assert!((found - value).norm() < 1e-9, "{slots} slots, power {power}: {found} and {value}");
            power = power * 3 % (4 * slots as u64);
        }
        let mut poly = Poly::zeros(encoder.n(), rings.len(), Domain::Evaluation);
        encoder.encode_into(&values[..], slots, &scale, &rings, &mut poly).unwrap();
        let decoded = encoder.decode(&poly, slots, &scale, &rings).unwrap();
        assert!(decoded.iter().zip(&values).all(|(a, b)| (a - b).norm() < 1e-9));
    }
}
