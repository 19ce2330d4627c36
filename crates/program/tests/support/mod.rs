//! A toy CKKS in big integers and scalar loops: what lowered programs are compared with. Shares nothing with the
//! lowering but the scalar `Modulus` and the reference transform.

use std::sync::Arc;

use num_bigint::BigInt;
use num_traits::{Signed as _, ToPrimitive as _, Zero as _};
use ringmill_ckks::KlssLayout;
use ringmill_machine::{Bindings, Machine, Offload, Reference};
use ringmill_program::limb::LimbProgram;
use ringmill_ring::Modulus;
use ringmill_ring::reference::{forward, inverse};

/// A polynomial of integers.
pub(crate) type Integers = Vec<BigInt>;
/// A polynomial by limbs.
pub(crate) type Limbs = Vec<Vec<u64>>;

/// A small seeded generator (SplitMix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.word() % bound
    }

    /// Integers in −`most`..=`most`.
    pub(crate) fn small(&mut self, n: usize, most: u64) -> Integers {
        (0..n).map(|_| BigInt::from(self.below(2 * most + 1)) - most).collect()
    }

    pub(crate) fn uniform(&mut self, n: usize, moduli: &[Modulus]) -> Limbs {
        moduli.iter().map(|&q| (0..n).map(|_| self.below(q.value())).collect()).collect()
    }
}

/// `count` primes of `bits` bits that are 1 mod 2N, from the top, leaving out the first `skip`.
pub(crate) fn primes(log_n: u32, bits: u32, skip: usize, count: usize) -> Vec<Modulus> {
    let step = 2u64 << log_n;
    let candidates = (0..).map(|i| (1u64 << bits) + 1 - i * step).filter(|q| q >> (bits - 1) == 1);
    candidates.filter_map(|q| Modulus::new(q).ok()).skip(skip).take(count).collect()
}

pub(crate) fn residue(x: &BigInt, q: Modulus) -> u64 {
    let q = BigInt::from(q.value());
    (((x % &q) + &q) % &q).to_u64().unwrap()
}

/// x/d rounded to the nearest integer (exact halves do not occur for odd d).
pub(crate) fn divide_rounded(x: &BigInt, d: &BigInt) -> BigInt {
    let twice: BigInt = x * 2 + d;
    let two_d: BigInt = d * 2;
    let r: BigInt = ((&twice % &two_d) + &two_d) % &two_d;
    (twice - r) / two_d
}

pub(crate) fn product(moduli: &[Modulus]) -> BigInt {
    moduli.iter().map(|m| BigInt::from(m.value())).product()
}

/// Evaluation-domain limbs of an integer polynomial.
pub(crate) fn to_limbs(x: &[BigInt], moduli: &[Modulus]) -> Limbs {
    let log_n = x.len().trailing_zeros();
    let limb = |&q: &Modulus| {
        let mut words: Vec<u64> = x.iter().map(|c| residue(c, q)).collect();
        forward(&mut words, q, q.psi(log_n).unwrap());
        words
    };
    moduli.iter().map(limb).collect()
}

/// The centred integers of evaluation-domain limbs, by the Chinese remainder theorem.
pub(crate) fn to_integers(limbs: &[Vec<u64>], moduli: &[Modulus]) -> Integers {
    let whole = product(moduli);
    let mut sum = vec![BigInt::zero(); limbs[0].len()];
    for (limb, &q) in limbs.iter().zip(moduli) {
        let mut words = limb.clone();
        inverse(&mut words, q, q.psi(limb.len().trailing_zeros()).unwrap());
        let hat = &whole / q.value();
        let basis = &hat * q.inv(residue(&hat, q)).unwrap();
        for (s, w) in sum.iter_mut().zip(words) {
            *s += &basis * w;
        }
    }
    sum.into_iter().map(|s| centred(&s, &whole)).collect()
}

/// x mod m in (−m/2, m/2], for x ≥ 0 or not.
pub(crate) fn centred(x: &BigInt, m: &BigInt) -> BigInt {
    let r = ((x % m) + m) % m;
    if &r * 2 > *m { r - m } else { r }
}

pub(crate) fn zip(a: &[BigInt], b: &[BigInt], f: impl Fn(&BigInt, &BigInt) -> BigInt) -> Integers {
    a.iter().zip(b).map(|(a, b)| f(a, b)).collect()
}

/// The product modulo X^N + 1.
pub(crate) fn times(a: &[BigInt], b: &[BigInt]) -> Integers {
    let n = a.len();
    let mut c = vec![BigInt::zero(); n];
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            let p = x * y;
            if i + j < n { c[i + j] += p } else { c[i + j - n] -= p }
        }
    }
    c
}

/// p(X^g) modulo X^N + 1.
pub(crate) fn automorphism(p: &[BigInt], galois: u64) -> Integers {
    let n = p.len();
    let mut image = vec![BigInt::zero(); n];
    for (i, x) in p.iter().enumerate() {
        let j = (i as u64 * galois % (2 * n as u64)) as usize;
        if j < n { image[j] = x.clone() } else { image[j - n] = -x }
    }
    image
}

/// Σ c_i·s^i modulo the product of `moduli`, pointwise.
pub(crate) fn phase(c: &[&[Vec<u64>]], s: &[BigInt], moduli: &[Modulus]) -> Integers {
    let s = to_limbs(s, moduli);
    let limb = |i: usize| {
        let (q, s) = (moduli[i], &s[i]);
        let word = |k: usize| c.iter().rev().fold(0, |sum, part| q.add(q.mul(sum, s[k]), part[i][k]));
        (0..s.len()).map(word).collect()
    };
    to_integers(&(0..moduli.len()).map(limb).collect::<Vec<_>>(), moduli)
}

/// A chain with its secret.
pub(crate) struct Toy {
    pub(crate) log_n: u32,
    pub(crate) q: Vec<Modulus>,
    pub(crate) p: Vec<Modulus>,
    pub(crate) alpha: usize,
    pub(crate) s: Integers,
    pub(crate) random: Random,
}

/// Greatest |e| of a key's error; uniform in between, so σ² = most·(most + 1)/3.
pub(crate) const KEY_ERROR: u64 = 5;

impl Toy {
    pub(crate) fn new(log_n: u32, q: Vec<Modulus>, p: Vec<Modulus>, alpha: usize, seed: u64) -> Self {
        let mut random = Random(seed);
        let s = random.small(1 << log_n, 1);
        Self { log_n, q, p, alpha, s, random }
    }

    pub(crate) fn n(&self) -> usize {
        1 << self.log_n
    }

    pub(crate) fn digits(&self, limbs: usize) -> impl Iterator<Item = std::ops::Range<usize>> + use<> {
        let alpha = self.alpha;
        (0..limbs.div_ceil(alpha)).map(move |j| j * alpha..limbs.min((j + 1) * alpha))
    }

    /// (c_0, c_1) with c_0 + c_1·s = m modulo the first primes.
    pub(crate) fn encrypt(&mut self, m: &[BigInt], limbs: usize) -> [Limbs; 2] {
        let moduli = self.q[..limbs].to_vec();
        let c1 = self.random.uniform(self.n(), &moduli);
        let (mut c0, s) = (to_limbs(m, &moduli), to_limbs(&self.s, &moduli));
        for (i, q) in moduli.iter().enumerate() {
            for k in 0..self.n() {
                c0[i][k] = q.sub(c0[i][k], q.mul(c1[i][k], s[i][k]));
            }
        }
        [c0, c1]
    }

    /// The key from `from` to s for polynomials of `limbs` limbs: \[digit\] (b, a), limbs q_0 … then p_0 ….
    pub(crate) fn switch_key(&mut self, from: &[BigInt], limbs: usize) -> Vec<[Limbs; 2]> {
        let to = self.s.clone();
        self.key(from, &to, limbs)
    }

    /// The key from s to s(X^(1/g)), as [`Self::switch_key`].
    pub(crate) fn galois_key(&mut self, galois: u64, limbs: usize) -> Vec<[Limbs; 2]> {
        let two_n = 2 * self.n() as u64;
        let inverse = (1..two_n).step_by(2).find(|g| g * galois % two_n == 1).unwrap();
        let (from, to) = (self.s.clone(), automorphism(&self.s, inverse));
        self.key(&from, &to, limbs)
    }

    fn key(&mut self, from: &[BigInt], to: &[BigInt], limbs: usize) -> Vec<[Limbs; 2]> {
        let moduli = [&self.q[..limbs], &self.p].concat();
        let (s, special) = (to_limbs(to, &moduli), product(&self.p));
        let from = to_limbs(from, &moduli);
        self.digits(limbs)
            .map(|digit| {
                let a = self.random.uniform(self.n(), &moduli);
                let error = self.random.small(self.n(), KEY_ERROR);
                let mut b = to_limbs(&error, &moduli);
                for (i, &q) in moduli.iter().enumerate() {
                    let factor = if digit.contains(&i) { residue(&special, q) } else { 0 };
                    for k in 0..self.n() {
                        let gadget = q.mul(factor, from[i][k]);
                        b[i][k] = q.sub(q.add(b[i][k], gadget), q.mul(a[i][k], s[i][k]));
                    }
                }
                [b, a]
            })
            .collect()
    }

    /// Variance of a key switch's error: Σ_j d_j·e_j / P with centred digits, and the rounding of both parts.
    pub(crate) fn switch_variance(&self, limbs: usize) -> f64 {
        let sigma2 = (KEY_ERROR * (KEY_ERROR + 1)) as f64 / 3.0;
        let p = product(&self.p).to_f64().unwrap();
        let ratio = |j: std::ops::Range<usize>| product(&self.q[j]).to_f64().unwrap() / p;
        let digits: f64 = self.digits(limbs).map(|j| ratio(j).powi(2) / 12.0).sum();
        self.n() as f64 * sigma2 * digits + self.rounding_variance()
    }

    /// Variance of rounding both parts.
    pub(crate) fn rounding_variance(&self) -> f64 {
        let norm = self.s.iter().filter(|c| !c.is_zero()).count();
        (1.0 + norm as f64) / 12.0
    }
}

/// A key of all limbs as KLSS reads it for polynomials of `limbs` limbs, by definition: integers of each block, centred, modulo
/// `count` primes of T.
pub(crate) fn cut(
    key: &[[Limbs; 2]],
    layout: &KlssLayout,
    toy: &Toy,
    (limbs, count): (usize, usize),
) -> Vec<[Limbs; 2]> {
    let moduli = [&toy.q[..], &toy.p].concat();
    let all = toy.q.len();
    let one = |polynomial: &Limbs| {
        let mut out: Vec<Limbs> = Vec::new();
        for m in 0..layout.blocks(limbs) {
            // Blocks are those of the whole key, whatever is used of the last one.
            let rows: Vec<usize> = layout.rows(m, all).collect();
            let chosen: Vec<Vec<u64>> = rows.iter().map(|&r| polynomial[r].clone()).collect();
            let primes: Vec<Modulus> = rows.iter().map(|&r| moduli[r]).collect();
            out.push(to_limbs(&to_integers(&chosen, &primes), &layout.t()[..count]));
        }
        (0..count).flat_map(|k| out.iter().map(move |block| block[k].clone())).collect()
    };
    key.iter().map(|[b, a]| [one(b), one(a)]).collect()
}

/// Every output limb of a run.
pub(crate) fn execute(machine: &dyn Machine, program: &LimbProgram, inputs: &[&[u64]]) -> Limbs {
    // Stale words in the outputs must not matter.
    let mut words = vec![vec![u64::MAX; program.n()]; program.output_types().len()];
    let mut outputs: Vec<&mut [u64]> = words.iter_mut().map(Vec::as_mut_slice).collect();
    machine.prepare(program).unwrap().run(inputs, &mut outputs).unwrap();
    words
}

/// Runs a program on the reference machine, whole and in parts by its sections; inputs are bound by name.
pub(crate) fn run(program: &LimbProgram, inputs: &[(&str, &Limbs)]) -> Vec<Limbs> {
    let mut bindings = Bindings::new(program);
    for (name, limbs) in inputs {
        bindings.bind(name, *limbs).unwrap();
    }
    let inputs = bindings.inputs().unwrap();
    Bindings::check_canonical(program, &inputs).unwrap();
    let words = execute(&Reference, program, &inputs);
    if !program.sections().is_empty() {
        let parts = Offload::new(Arc::new(Reference), Arc::new(Reference), Arc::new(|_| true));
        assert!(execute(&parts, program, &inputs) == words, "the parts give other bits:\n{program}");
    }
    let mut words = words.into_iter();
    program.outputs().iter().map(|g| words.by_ref().take(g.moduli.len()).collect()).collect()
}

/// Greatest magnitude and standard deviation of a − b.
pub(crate) fn deviation(a: &[BigInt], b: &[BigInt]) -> (f64, f64) {
    let d: Vec<f64> = a.iter().zip(b).map(|(a, b)| (a - b).to_f64().unwrap()).collect();
    let square: f64 = d.iter().map(|x| x * x).sum::<f64>() / d.len() as f64;
    (d.iter().fold(0.0, |m: f64, x| m.max(x.abs())), square.sqrt())
}

/// Whether all coefficients are below `bound` in magnitude.
pub(crate) fn below(x: &[BigInt], bound: &BigInt) -> bool {
    x.iter().all(|c| c.abs() < *bound)
}
