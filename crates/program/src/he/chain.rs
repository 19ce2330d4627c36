//! The modulus chain that a managed program is written for.

use ringmill_ckks::{Generator, KeyLayout, Levels, Params};

use super::{Level, Rule, Scale};

/// Ring degree, primes and digits: what levels and exact scales refer to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Chain {
    log_n: u32,
    scale: Scale,
    q: Vec<u64>,
    p: Vec<u64>,
    alpha: usize,
    generator: Generator,
    levels: Levels,
    /// What a rescale at each level divides by.
    level_scales: Vec<Scale>,
}

impl Chain {
    /// A chain over N = 2^`log_n` with ciphertext primes `q` (`q[0]` is the base, never rescaled away), special
    /// primes `p`, `alpha` limbs a key-switch digit, and `scale` for fresh ciphertexts.
    ///
    /// Checks counts, sizes, and that ciphertext primes are primes; security is the business of `ringmill_ckks`.
    ///
    /// # Errors
    /// [`Rule::Chain`] naming what is wrong.
    pub fn new(log_n: u32, scale: Scale, q: Vec<u64>, p: Vec<u64>, alpha: usize) -> Result<Self, Rule> {
        let bad = |what: String| Err(Rule::Chain { what });
        if !(2..=17).contains(&log_n) {
            return bad(format!("log_n is {log_n}; it must lie in 2..=17"));
        }
        if q.is_empty() {
            return bad("there is no ciphertext prime; at least q0 is needed".into());
        }
        if alpha == 0 || alpha > q.len() {
            return bad(format!("alpha is {alpha}; it must lie in 1..={} (the number of q)", q.len()));
        }
        let mut all: Vec<u64> = q.iter().chain(&p).copied().collect();
        all.sort_unstable();
        if let Some(&x) = all.iter().find(|&&x| !(3..1 << 61).contains(&x)) {
            return bad(format!("{x} cannot be a modulus; primes of at most 60 bits are"));
        }
        if let Some(w) = all.windows(2).find(|w| w[0] == w[1]) {
            return bad(format!("{} stands twice; primes must differ", w[0]));
        }
        let q_scales: Result<Vec<_>, _> = q.iter().map(|&q| Scale::prime(q)).collect();
        let q_scales = q_scales.map_err(|e| Rule::Chain { what: e.to_string() })?;
        let (generator, levels) = (Generator::Five, Levels::single(q.len()));
        Ok(Self { log_n, scale, q, p, alpha, generator, levels, level_scales: q_scales })
    }

    /// The same chain with levels of this many primes each, from level 0 on; one each by default.
    ///
    /// # Errors
    /// [`Rule::Chain`] if these are not its primes.
    pub fn levelled(self, primes: &[usize]) -> Result<Self, Rule> {
        let levels = Levels::new(primes, self.q.len()).map_err(|e| Rule::Chain { what: e.to_string() })?;
        let scale = |q: &u64| Scale::prime(*q).map_err(|e| Rule::Chain { what: e.to_string() });
        let level_scales: Result<Vec<_>, Rule> = (0..=levels.top().get())
            .map(|level| {
                let primes = self.q[levels.primes(Level::new(level))].iter();
                primes.map(scale).try_fold(Scale::ONE, |product, q| Ok(product.mul(&q?)))
            })
            .collect();
        Ok(Self { levels, level_scales: level_scales?, ..self })
    }

    /// The same chain with rotations by powers of this generator; the default is 5.
    #[must_use]
    pub fn turned_by(self, generator: Generator) -> Self {
        Self { generator, ..self }
    }

    /// The generator of rotations.
    pub fn generator(&self) -> Generator {
        self.generator
    }

    /// log2 of the ring degree N.
    pub fn log_n(&self) -> u32 {
        self.log_n
    }

    /// Scale of fresh ciphertexts.
    pub fn scale(&self) -> &Scale {
        &self.scale
    }

    /// Ciphertext primes q_0 … q_L.
    pub fn q(&self) -> &[u64] {
        &self.q
    }

    /// Special primes p_0 … p_{K−1}.
    pub fn p(&self) -> &[u64] {
        &self.p
    }

    /// Slots of a full vector, N/2.
    pub fn slots(&self) -> usize {
        1 << (self.log_n - 1)
    }

    /// Q_0/2^bits, Q_0 the product of the primes of level 0: the scale at which a ciphertext of level 0 is raised.
    pub fn raise_scale(&self, bits: u32) -> Scale {
        self.level_scales[0].mul(&Scale::pow2(-i64::from(bits)))
    }

    /// Limbs a key-switch digit.
    pub fn alpha(&self) -> usize {
        self.alpha
    }

    /// The layout of keys that every level can use.
    pub fn base_layout(&self) -> KeyLayout {
        KeyLayout { limbs: self.q.len(), special: self.p.len(), alpha: self.alpha }
    }

    /// The highest level, L.
    pub fn top(&self) -> Level {
        self.levels.top()
    }

    /// Which limbs belong to which level.
    pub fn levels(&self) -> &Levels {
        &self.levels
    }

    /// Limbs of a polynomial at a level.
    pub fn limbs(&self, level: Level) -> usize {
        self.levels.limbs(level)
    }

    /// The primes in use at a level.
    pub fn q_at(&self, level: Level) -> &[u64] {
        &self.q[..self.limbs(level)]
    }

    /// The scale that a rescale at `level` divides by: the product of the primes of the level.
    pub fn level_scale(&self, level: Level) -> Option<&Scale> {
        self.level_scales.get(level.index())
    }

    /// The Galois element g^k mod 2N of a rotation by k slots, k ≥ 0, g the generator.
    pub fn galois(&self, k: usize) -> u64 {
        let (two_n, generator) = (2u64 << self.log_n, self.generator.value());
        (0..k).fold(1, |g, _| g * generator % two_n)
    }

    /// The Galois element 2N − 1 of conjugation.
    pub fn galois_conjugate(&self) -> u64 {
        (2u64 << self.log_n) - 1
    }
}

impl From<&Params> for Chain {
    fn from(p: &Params) -> Self {
        let values = |m: &[ringmill_ring::Modulus]| m.iter().map(|m| m.value()).collect();
        Self {
            log_n: p.log_n(),
            scale: p.default_scale(),
            q: values(p.q_moduli()),
            p: values(p.p_moduli()),
            alpha: p.alpha(),
            generator: p.generator(),
            levels: p.levels().clone(),
            level_scales: (0..=p.max_level().get()).map(|level| p.level_scale(Level::new(level))).collect(),
        }
    }
}
