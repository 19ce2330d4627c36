//! Shared by the end-to-end tests: small parameters, keys, and an encoder by the definition, independent of the one
//! under test: sums over roots of unity, and the Chinese remainder theorem on big integers.
#![allow(dead_code, unreachable_pub)] // each test file uses its part

use num_bigint::BigInt;
use num_complex::Complex64;
use num_traits::{ToPrimitive, Zero};
use ringmill::Evaluator;
use ringmill::ckks::{
    Ciphertext, EvaluationKeys, GaloisKeys, KeyGenerator, Level, Meta, Noise, Params, ParamsLiteral,
    Plaintext, Randomness, RelinKey, Scale, SecretKey,
};
use ringmill::program::manage::KeySet;
use ringmill::ring::sample::SecretSeed;
use ringmill::ring::{Domain, GaloisElement, Poly, reference};

/// N = 2^10: a base of 50 bits, `levels` primes of 40, digits of `alpha` limbs.
pub fn params(levels: usize, alpha: usize) -> Params {
    let mut q = vec![40; levels + 1];
    q[0] = 50;
    // The first digit is the widest: it holds the base.
    let p = if alpha == 1 { vec![51] } else { [vec![51], vec![41; alpha - 1]].concat() };
    let dnum = (levels + 1).div_ceil(alpha);
    let literal = ParamsLiteral { scale_bits: 40, ..ParamsLiteral::from_bits(10, &q, &p, dnum) };
    Params::new(&literal.insecure()).unwrap()
}

/// Everything that a test needs.
pub struct World {
    pub params: Params,
    pub secret: SecretKey,
    pub relin: RelinKey,
    pub galois: GaloisKeys,
    pub randomness: Randomness,
    pub evaluator: Evaluator,
    pub rng: Rng,
    generator: KeyGenerator,
}

impl World {
    pub fn new(params: Params, rotations: &[i64], seed: u8) -> Self {
        let seed = |tag: u8| Randomness::from_seed(SecretSeed::from_bytes([seed ^ tag; 32]));
        let mut generator = KeyGenerator::with_randomness(&params, seed(0x55));
        let secret = generator.secret_key().unwrap();
        let relin = generator.relin_key(&secret).unwrap();
        let mut galois = GaloisKeys::new(&params);
        let rotation = |&k: &i64| params.generator().rotation(k, params.log_n()).unwrap();
        let conjugation = GaloisElement::conjugation(params.log_n()).unwrap();
        for element in rotations.iter().map(rotation).chain([conjugation]) {
            galois.insert(element, generator.galois_key(&secret, element).unwrap()).unwrap();
        }
        let evaluator = Evaluator::new(&params).unwrap();
        let rng = Rng(0x1234_5678_9abc_def0);
        Self { params, secret, relin, galois, randomness: seed(0xaa), evaluator, rng, generator }
    }

    /// Evaluation keys with everything that a program needs; keys are made once.
    pub fn keys(&mut self, needs: &KeySet) -> EvaluationKeys {
        for k in &needs.rotations {
            let element = self.params.generator().rotation(*k as i64, self.params.log_n()).unwrap();
            if self.galois.get(element).is_err() {
                let key = self.generator.galois_key(&self.secret, element).unwrap();
                self.galois.insert(element, key).unwrap();
            }
        }
        let keys = EvaluationKeys::new(Some(self.relin.clone()), self.galois.clone()).unwrap();
        match needs.encapsulation {
            true => {
                let key = self.generator.encapsulation_key(&self.secret).unwrap();
                keys.with_encapsulation(key).unwrap()
            }
            false => keys,
        }
    }

    pub fn encrypt(&mut self, z: &[Complex64], level: Level) -> Ciphertext {
        let plain = encode(&self.params, z, level, &self.params.default_scale());
        self.secret.encrypt(&plain, &mut self.randomness).unwrap()
    }

    pub fn decrypt(&self, c: &Ciphertext) -> Vec<Complex64> {
        decode(&self.secret.decrypt(c).unwrap())
    }
}

/// SplitMix64.
#[derive(Clone)]
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// In [−1, 1).
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / 2f64.powi(52) - 1.0
    }

    /// `n` complex numbers of magnitude at most `most`.
    pub fn vector(&mut self, n: usize, most: f64) -> Vec<Complex64> {
        (0..n).map(|_| Complex64::new(self.unit(), self.unit()) * (most / 2f64.sqrt())).collect()
    }
}

/// exp(iπ·e/n), exact to rounding for any exponent.
fn root(e: u64, n: u64) -> Complex64 {
    Complex64::cis(std::f64::consts::PI * (e % (2 * n)) as f64 / n as f64)
}

/// g^i mod 4·slots for every slot: in X^(N/2n) the ring has degree 2n.
fn exponents(params: &Params, slots: usize) -> Vec<u64> {
    let (g, m) = (params.generator().value(), 4 * slots as u64);
    std::iter::successors(Some(1), |&e| Some(e * g % m)).take(slots).collect()
}

/// Coefficient k·N/2n is (1/n)·Σ Re(z_i·ζ^(−k·g^i))·scale, rounded; ζ a primitive 4n-th root.
pub fn encode(params: &Params, z: &[Complex64], level: Level, scale: &Scale) -> Plaintext {
    let (n, slots, scale_f) = (params.n(), z.len(), scale.to_f64());
    let d = 2 * slots;
    let table: Vec<Complex64> = (0..2 * d as u64).map(|e| root(e, d as u64).conj()).collect();
    let exps = exponents(params, slots);
    let coefficient = |k: usize| {
        let term = |(&e, z): (&u64, &Complex64)| (z * table[(e as usize * k) % (2 * d)]).re;
        let sum: f64 = exps.iter().zip(z).map(term).sum();
        (sum / slots as f64 * scale_f).round() as i128
    };
    let coefficients: Vec<i128> = (0..d).map(coefficient).collect();
    let moduli = params.q_at(level);
    let mut poly = Poly::zeros(n, moduli.len(), Domain::Evaluation);
    for (limb, m) in poly.limbs_mut().zip(moduli) {
        for (k, c) in coefficients.iter().enumerate() {
            limb[k * (n / d)] = c.rem_euclid(i128::from(m.value())) as u64;
        }
        reference::forward(limb, *m, m.psi(params.log_n()).unwrap());
    }
    let magnitude = z.iter().map(|z| z.norm()).fold(0.0, f64::max);
    let name = coefficients.iter().fold(0u64, |h, &c| h.wrapping_mul(31).wrapping_add(c as u64));
    let noise = Noise::encoded(magnitude, scale, name);
    Plaintext::from_parts(params, poly, Meta { level, scale: scale.clone(), slots, noise }).unwrap()
}

/// The polynomial at ζ^(g^i), over the scale.
pub fn decode(plain: &Plaintext) -> Vec<Complex64> {
    let (params, slots) = (plain.params(), plain.slots());
    let c = coefficients(plain);
    let (n, d, scale) = (params.n(), 2 * slots, plain.scale().to_f64());
    let table: Vec<Complex64> = (0..2 * d as u64).map(|e| root(e, d as u64)).collect();
    let value = |&e: &u64| {
        let term = |k: usize| table[(e as usize * k) % (2 * d)] * c[k * (n / d)];
        (0..d).map(term).sum::<Complex64>() / scale
    };
    exponents(params, slots).iter().map(value).collect()
}

/// Centred coefficients as binary64.
fn coefficients(plain: &Plaintext) -> Vec<f64> {
    let (params, level) = (plain.params(), plain.level());
    let moduli = params.q_at(level);
    let q: BigInt = moduli.iter().map(|m| BigInt::from(m.value())).product();
    let mut sum = vec![BigInt::zero(); params.n()];
    for (limb, m) in plain.poly().limbs().zip(moduli) {
        let mut c = limb.to_vec();
        reference::inverse(&mut c, *m, m.psi(params.log_n()).unwrap());
        let others = &q / m.value();
        let unit = &others * m.inv((&others % m.value()).to_u64().unwrap()).unwrap();
        for (s, x) in sum.iter_mut().zip(c) {
            *s += &unit * x;
        }
    }
    let half = &q >> 1;
    sum.into_iter()
        .map(|s| {
            let r = s % &q;
            if r > half { (r - &q).to_f64().unwrap() } else { r.to_f64().unwrap() }
        })
        .collect()
}

/// The greatest |x − y|.
pub fn distance(x: &[Complex64], y: &[Complex64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| (x - y).norm()).fold(0.0, f64::max)
}
