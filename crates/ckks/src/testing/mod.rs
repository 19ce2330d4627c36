//! What tests share: small parameters, integer polynomials in and out by definitions that the crate does not use.

pub(crate) mod direct;
pub(crate) mod embedding;

use num_bigint::BigInt;
use num_traits::{One, ToPrimitive, Zero};
use ringmill_ring::sample::SecretSeed;
use ringmill_ring::{Domain, Modulus, Poly, reference};

use crate::ciphertext::{Meta, Plaintext};
use crate::keys::SwitchKey;
use crate::noise::Noise;
use crate::params::{Level, Params, ParamsLiteral};
use crate::randomness::Randomness;
use crate::scale::Scale;

/// N = 2^10, four ciphertext primes of 30 bits in two digits, two special primes.
pub(crate) fn toy() -> Params {
    Params::new(&ParamsLiteral::from_bits(10, &[36, 30, 30, 30], &[36, 31], 2).insecure()).unwrap()
}

/// The same key without its seed.
pub(crate) fn bare(key: &SwitchKey) -> SwitchKey {
    let params = key.params();
    let part = |part| -> Vec<Poly> {
        let digit = |j: usize| {
            let mut poly = Poly::zeros(params.n(), params.key_limbs(), Domain::Evaluation);
            for (row, limb) in poly.limbs_mut().enumerate() {
                limb.copy_from_slice(&key.base().limb(j, part, row).to_words(params.n()));
            }
            poly
        };
        (0..params.dnum()).map(digit).collect()
    };
    SwitchKey::from_residues(params, (&part(0), &part(1)), key.identity()).unwrap()
}

/// Reproducible randomness.
pub(crate) fn randomness(seed: u8) -> Randomness {
    Randomness::from_seed(SecretSeed::from_bytes([seed; 32]))
}

/// Coefficients in (−Q/2, Q/2] of a polynomial in the evaluation domain: scalar inverse transform, then the Chinese
/// remainder theorem on big integers.
pub(crate) fn coefficients(poly: &Poly, moduli: &[Modulus]) -> Vec<BigInt> {
    let log_n = poly.n().trailing_zeros();
    let q: BigInt = moduli.iter().map(|m| BigInt::from(m.value())).product();
    let mut sum = vec![BigInt::zero(); poly.n()];
    for (limb, m) in poly.limbs().zip(moduli) {
        let mut c = limb.to_vec();
        reference::inverse(&mut c, *m, m.psi(log_n).unwrap());
        let others = &q / m.value();
        let residue = (&others % m.value()).to_u64().unwrap();
        let unit = others * m.inv(residue).unwrap();
        for (s, x) in sum.iter_mut().zip(c) {
            *s += &unit * x;
        }
    }
    let half = &q >> 1;
    sum.into_iter()
        .map(|s| {
            let r = s % &q;
            if r > half { r - &q } else { r }
        })
        .collect()
}

/// A polynomial with these coefficients, in the evaluation domain, by the scalar transform.
pub(crate) fn poly(coefficients: &[BigInt], moduli: &[Modulus]) -> Poly {
    let n = coefficients.len();
    let mut poly = Poly::zeros(n, moduli.len(), Domain::Evaluation);
    for (limb, m) in poly.limbs_mut().zip(moduli) {
        let q = BigInt::from(m.value());
        for (w, c) in limb.iter_mut().zip(coefficients) {
            *w = (((c % &q) + &q) % &q).to_u64().unwrap();
        }
        reference::forward(limb, *m, m.psi(n.trailing_zeros()).unwrap());
    }
    poly
}

/// a·b modulo X^N + 1 over the integers, in N² steps.
pub(crate) fn product(a: &[BigInt], b: &[BigInt]) -> Vec<BigInt> {
    let n = a.len();
    let mut c = vec![BigInt::zero(); n];
    for (i, x) in a.iter().enumerate().filter(|(_, x)| !x.is_zero()) {
        for (j, y) in b.iter().enumerate() {
            let (k, sign) = if i + j < n { (i + j, BigInt::one()) } else { (i + j - n, -BigInt::one()) };
            c[k] += sign * x * y;
        }
    }
    c
}

/// A plaintext with these integer coefficients, taken as exact.
pub(crate) fn plaintext(params: &Params, coefficients: &[BigInt], level: Level, scale: Scale) -> Plaintext {
    let meta = Meta { level, scale, slots: params.slots(), noise: Noise::exact(1.0, 1) };
    Plaintext::from_parts(params, poly(coefficients, params.q_at(level)), meta).unwrap()
}

/// Coefficients of a message that looks random, below 2^bits in magnitude.
pub(crate) fn message(n: usize, bits: u32, seed: u64) -> Vec<BigInt> {
    let mut x = seed;
    (0..n)
        .map(|_| {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            BigInt::from((x as i64) >> (64 - bits))
        })
        .collect()
}

/// Root of the mean square.
pub(crate) fn rms(values: &[BigInt]) -> f64 {
    let sum: f64 = values.iter().map(|v| v.to_f64().unwrap().powi(2)).sum();
    (sum / values.len() as f64).sqrt()
}
