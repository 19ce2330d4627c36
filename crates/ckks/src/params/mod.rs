//! Parameters: a literal is checked once and becomes an immutable, cheaply cloned [`Params`].

mod error;
mod level;
mod levels;
mod literal;
mod named;
mod need;
mod order;
pub mod security;
mod size;
pub mod word;

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

pub use ringmill_ring::sample::SIGMA;
use ringmill_ring::{LimbRing, Modulus, RingError, SourceBasis};

pub use error::ParamsError;
pub use level::Level;
pub use levels::{Levels, MAX_LEVEL_PRIMES};
pub use literal::{ParamsLiteral, PrimeSpec};
pub use named::NamedSet;
pub use need::{Choice, Need};
pub use order::{DRIFT_MAX, steady_levels, steady_order};
pub use security::{Assessment, Secret, Security, SecurityTable, encapsulation_limit, keeps_encapsulation};
pub use size::ModulusSize;

use crate::generator::Generator;
use crate::scale::Scale;

/// Least log2 N.
pub const MIN_LOG_N: u32 = 10;
/// Greatest log2 N.
pub const MAX_LOG_N: u32 = 17;
/// Most ciphertext primes, and most special primes: as many as a base conversion takes.
pub const MAX_PRIMES: usize = SourceBasis::MAX_PRIMES;

/// Checked, immutable parameters. Clones share one allocation.
///
/// Two values are equal iff their fingerprints are: same degree, primes, digits, secret, default scale and generator.
#[derive(Clone)]
pub struct Params(Arc<Inner>);

struct Inner {
    literal: ParamsLiteral,
    q: Vec<Modulus>,
    p: Vec<Modulus>,
    levels: Levels,
    alpha: usize,
    security: Security,
    fingerprint: Fingerprint,
    /// Whether the mark `insecure` is that of a file.
    from_file: bool,
    /// One a prime of the key basis, built when first used.
    rings: Vec<OnceLock<LimbRing>>,
}

impl Params {
    /// Checks a literal.
    ///
    /// # Errors
    /// One variant of [`ParamsError`] a violated rule; the first found is reported.
    pub fn new(literal: &ParamsLiteral) -> Result<Self, ParamsError> {
        check_shape(literal)?;
        let turns = literal::by_turns(literal)?;
        // Its special primes are a hair longer, which may be too long.
        let levels = Levels::new(&literal.levels, literal.q.len())?;
        let steady = match levels.is_single() {
            true => literal::steady(literal, &turns),
            false => literal::steady_groups(literal, &turns, &levels),
        };
        let steady = steady.and_then(|chain| Self::of_primes(literal, chain).ok());
        steady.map_or_else(|| Self::of_primes(literal, turns), Ok)
    }

    /// A literal that stands for these primes.
    fn of_primes(literal: &ParamsLiteral, (q, p): (Vec<Modulus>, Vec<Modulus>)) -> Result<Self, ParamsError> {
        check_distinct(&q, &p)?;
        let levels = Levels::new(&literal.levels, q.len())?;
        let alpha = q.len().div_ceil(literal.dnum);
        check_digits(literal.dnum, alpha, &q, &p)?;
        check_scale(literal.scale_bits, &q)?;
        let security = Security::new(literal.log_n, literal.secret, ModulusSize::of(q.iter().chain(&p)));
        check_security(literal, &security)?;
        // The literal kept is the explicit one, so that it gives these same primes whatever becomes of the search.
        let explicit = |ms: &[Modulus]| ms.iter().map(|m| PrimeSpec::Value(m.value())).collect();
        // One prime a level is said in one way.
        let primes = if levels.is_single() { Vec::new() } else { levels.counts().collect() };
        let literal = ParamsLiteral { q: explicit(&q), p: explicit(&p), levels: primes, ..literal.clone() };
        let fingerprint = Fingerprint::of(&literal, &q, &p);
        let rings = vec![OnceLock::new(); q.len() + p.len()];
        let from_file = false;
        Ok(Self(Arc::new(Inner { literal, q, p, levels, alpha, security, fingerprint, from_file, rings })))
    }

    /// Those of a file, see [`insecure_by_file`](Self::insecure_by_file).
    pub(crate) fn of_file(literal: &ParamsLiteral) -> Result<Self, ParamsError> {
        let mut params = Self::new(literal)?;
        if let Some(inner) = Arc::get_mut(&mut params.0) {
            inner.from_file = true;
        }
        Ok(params)
    }

    /// A named set.
    ///
    /// # Errors
    /// None for the sets that exist; the signature is that of every way to parameters.
    pub fn named(set: NamedSet) -> Result<Self, ParamsError> {
        let literal = set.literal();
        Self::of_primes(&literal, literal::by_turns(&literal)?)
    }

    /// log2 of the ring degree.
    pub fn log_n(&self) -> u32 {
        self.0.literal.log_n
    }

    /// The ring degree N: words a limb.
    pub fn n(&self) -> usize {
        1 << self.log_n()
    }

    /// Slots of a full vector, N/2.
    pub fn slots(&self) -> usize {
        self.n() / 2
    }

    /// Ciphertext primes q_0..q_L.
    pub fn q_moduli(&self) -> &[Modulus] {
        &self.0.q
    }

    /// Special primes p_0..p_{K−1}.
    pub fn p_moduli(&self) -> &[Modulus] {
        &self.0.p
    }

    /// Ciphertext primes that are in use at `level`; all if the level is above the top.
    pub fn q_at(&self, level: Level) -> &[Modulus] {
        &self.0.q[..self.limbs(level)]
    }

    /// Which limbs belong to which level.
    pub fn levels(&self) -> &Levels {
        &self.0.levels
    }

    /// Limbs of a polynomial at `level`: `level + 1` unless levels have several primes.
    pub fn limbs(&self, level: Level) -> usize {
        self.0.levels.limbs(level)
    }

    /// The scale that a rescale at `level` divides by: the product of the primes of the level.
    pub fn level_scale(&self, level: Level) -> Scale {
        let primes = self.0.q[self.0.levels.primes(level)].iter();
        primes.fold(Scale::ONE, |scale, &q| scale.mul(&Scale::modulus(q)))
    }

    /// All primes of a key in storage order: q_0..q_L, then p_0..p_{K−1}.
    pub fn key_moduli(&self) -> impl ExactSizeIterator<Item = Modulus> + Clone + '_ {
        (0..self.0.q.len() + self.0.p.len())
            .map(|i| if i < self.0.q.len() { self.0.q[i] } else { self.0.p[i - self.0.q.len()] })
    }

    /// Limbs of a key polynomial: L + 1 + K.
    pub fn key_limbs(&self) -> usize {
        self.0.rings.len()
    }

    /// The ring of prime `i` of the key basis q_0..q_L, p_0..p_{K−1}; its tables are built on first use and shared.
    ///
    /// # Errors
    /// [`RingError::Count`] if there is no such prime; otherwise those of [`LimbRing::new`].
    pub fn ring(&self, i: usize) -> Result<&LimbRing, RingError> {
        let limbs = self.key_limbs();
        let missing = RingError::Count { what: "primes of the key basis", expected: i + 1, got: limbs };
        let (cell, q) = self.0.rings.get(i).zip(self.key_moduli().nth(i)).ok_or(missing)?;
        if let Some(ring) = cell.get() {
            return Ok(ring);
        }
        let ring = LimbRing::new(self.log_n(), q)?;
        Ok(cell.get_or_init(|| ring))
    }

    /// The top level L: the number of rescales a fresh ciphertext allows.
    pub fn max_level(&self) -> Level {
        self.0.levels.top()
    }

    /// Number of digits of the key switch at the top level.
    pub fn dnum(&self) -> usize {
        self.0.literal.dnum
    }

    /// Ciphertext primes a digit: ⌈(L+1)/dnum⌉.
    pub fn alpha(&self) -> usize {
        self.0.alpha
    }

    /// Digits in use at `level`, each as its range of ciphertext primes; the last is cut short at the level.
    pub fn digits(&self, level: Level) -> Vec<Range<usize>> {
        let limbs = self.q_at(level).len();
        (0..limbs).step_by(self.0.alpha).map(|i| i..(i + self.0.alpha).min(limbs)).collect()
    }

    /// Distribution of secret keys.
    pub fn secret(&self) -> Secret {
        self.0.literal.secret
    }

    /// Generator of rotations: in which order slots stand.
    pub fn generator(&self) -> Generator {
        self.0.literal.generator
    }

    /// Standard deviation of fresh error.
    pub fn sigma(&self) -> f64 {
        SIGMA
    }

    /// The scale that encoding uses by default.
    pub fn default_scale(&self) -> Scale {
        Scale::pow2(i64::from(self.0.literal.scale_bits))
    }

    /// log2 of the product of the ciphertext primes in use at `level`.
    pub fn log_q(&self, level: Level) -> f64 {
        log2_product(self.q_at(level))
    }

    /// log2 of the product of the special primes.
    pub fn log_p(&self) -> f64 {
        log2_product(&self.0.p)
    }

    /// The primes of level 0 and p_0, the modulus of the key under the ephemeral secret of bootstrapping.
    pub fn encapsulation(&self) -> ModulusSize {
        ModulusSize::of(self.q_at(Level::ZERO).iter().chain(&self.0.p[..1]))
    }

    /// Whether a key under the ephemeral secret of bootstrapping may be drawn: [`keeps_encapsulation`], or the mark `insecure`.
    pub fn may_encapsulate(&self) -> bool {
        self.is_insecure() || keeps_encapsulation(self.log_n(), self.encapsulation())
    }

    /// Whether the modulus PQ keeps `category` bits by a table.
    pub fn keeps(&self, table: SecurityTable, category: u32) -> bool {
        table.keeps(self.log_n(), self.secret(), category, self.security().modulus)
    }

    /// Security by the published tables.
    pub fn security(&self) -> &Security {
        &self.0.security
    }

    /// True if the literal was marked `insecure`.
    pub fn is_insecure(&self) -> bool {
        self.0.literal.insecure
    }

    /// True if a file marks them `insecure`, and nobody here has: the writer of the file would have keys made that protect nothing.
    /// A caller that makes keys asks its user first.
    pub fn insecure_by_file(&self) -> bool {
        self.is_insecure() && self.0.from_file
    }

    /// The literal with every prime by value: [`Params::new`] of it gives equal parameters.
    pub fn literal(&self) -> &ParamsLiteral {
        &self.0.literal
    }

    /// BLAKE3 of the canonical encoding.
    pub fn fingerprint(&self) -> Fingerprint {
        self.0.fingerprint
    }
}

impl PartialEq for Params {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.fingerprint == other.0.fingerprint
    }
}
impl Eq for Params {}

impl std::hash::Hash for Params {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.fingerprint.hash(state);
    }
}

impl fmt::Debug for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Params({self})")
    }
}

/// One line: degree, primes, digits, the secret unless it is ternary, scale, security.
impl fmt::Display for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let top = self.max_level();
        let secret = match self.secret() {
            Secret::Ternary => String::new(),
            other => format!("secret {other}, "),
        };
        let generator = match self.generator() {
            Generator::Five => String::new(),
            other => format!("rotations by powers of {other}, "),
        };
        let levels =
            if self.levels().is_single() { String::new() } else { format!(" in {} levels", top.get() + 1) };
        write!(
            f,
            "N=2^{}, {} ciphertext primes ({:.0} bits){levels} + {} special ({:.0} bits), dnum {}, {secret}{generator}scale {}, {}",
            self.log_n(),
            self.0.q.len(),
            self.log_q(top),
            self.0.p.len(),
            self.log_p(),
            self.dnum(),
            self.default_scale(),
            self.security()
        )
    }
}

/// Identifies parameters: BLAKE3-256 of their canonical encoding.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// From stored bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Canonical encoding, version 1: little-endian words of log N, #q, q.., #p, p.., dnum, secret kind, secret
    /// weight, scale bits; the generator if it is not 5 or levels have several primes; then the primes of each level, and
    /// their number. The mark `insecure` changes no computation and is left out.
    fn of(literal: &ParamsLiteral, q: &[Modulus], p: &[Modulus]) -> Self {
        let (kind, weight) = match literal.secret {
            Secret::Ternary => (0, 0),
            Secret::TernaryWeight { weight } => (1, u64::from(weight)),
            Secret::Gaussian => (2, 0),
        };
        let mut words = vec![u64::from(literal.log_n), q.len() as u64];
        words.extend(q.iter().map(|m| m.value()));
        words.push(p.len() as u64);
        words.extend(p.iter().map(|m| m.value()));
        words.extend([literal.dnum as u64, kind, weight, u64::from(literal.scale_bits)]);
        if literal.generator != Generator::Five || !literal.levels.is_empty() {
            words.push(literal.generator.value());
        }
        // The number stands last, so that no other chain has these words.
        if !literal.levels.is_empty() {
            words.extend(literal.levels.iter().map(|&primes| primes as u64));
            words.push(literal.levels.len() as u64);
        }
        let mut hasher = blake3::Hasher::new_derive_key("ringmill parameters v1");
        for w in words {
            hasher.update(&w.to_le_bytes());
        }
        Self(*hasher.finalize().as_bytes())
    }
}

/// The first eight bytes in hexadecimal: enough to distinguish contexts by eye.
impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0[..8].iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

fn check_shape(lit: &ParamsLiteral) -> Result<(), ParamsError> {
    if !(MIN_LOG_N..=MAX_LOG_N).contains(&lit.log_n) {
        return Err(ParamsError::LogN { log_n: lit.log_n, min: MIN_LOG_N, max: MAX_LOG_N });
    }
    if lit.q.is_empty() {
        return Err(ParamsError::NoCiphertextPrimes);
    }
    if lit.p.is_empty() {
        return Err(ParamsError::NoSpecialPrimes);
    }
    for (side, count) in [("ciphertext", lit.q.len()), ("special", lit.p.len())] {
        if count > MAX_PRIMES {
            return Err(ParamsError::TooManyPrimes { side, count, max: MAX_PRIMES });
        }
    }
    if !(1..=lit.q.len()).contains(&lit.dnum) {
        return Err(ParamsError::Dnum { dnum: lit.dnum, limbs: lit.q.len() });
    }
    let n = 1usize << lit.log_n;
    match lit.secret {
        Secret::TernaryWeight { weight } if weight == 0 || weight as usize > n => {
            Err(ParamsError::SecretWeight { weight, n })
        }
        _ => Ok(()),
    }
}

fn check_distinct(q: &[Modulus], p: &[Modulus]) -> Result<(), ParamsError> {
    let mut all: Vec<u64> = q.iter().chain(p).map(|m| m.value()).collect();
    all.sort_unstable();
    match all.windows(2).find(|w| w[0] == w[1]) {
        Some(w) => Err(ParamsError::DuplicatePrime { q: w[0] }),
        None => Ok(()),
    }
}

/// The rule of hybrid key switching: P ≥ the product of every digit, compared as integers.
fn check_digits(dnum: usize, alpha: usize, q: &[Modulus], p: &[Modulus]) -> Result<(), ParamsError> {
    let limbs = q.len();
    let digits = limbs.div_ceil(alpha);
    if digits != dnum {
        return Err(ParamsError::EmptyDigits { dnum, limbs, alpha, digits });
    }
    let values = |moduli: &[Modulus]| product(moduli.iter().map(|m| m.value()));
    let special = values(p);
    for (digit, primes) in q.chunks(alpha).enumerate() {
        if less(&special, &values(primes)) {
            let (first, last) = (digit * alpha, digit * alpha + primes.len() - 1);
            let (log_p, log_digit) = (log2_product(p), log2_product(primes));
            return Err(ParamsError::SpecialTooSmall { log_p, digit, first, last, log_digit });
        }
    }
    Ok(())
}

fn check_scale(log_scale: u32, q: &[Modulus]) -> Result<(), ParamsError> {
    let log_q = log2_product(q);
    // One bit of message and the sign must fit beside the scale.
    let max = (log_q - 1.0).floor().clamp(1.0, 90.0) as u32;
    if (1..=max).contains(&log_scale) { Ok(()) } else { Err(ParamsError::Scale { log_scale, log_q, max }) }
}

fn check_security(lit: &ParamsLiteral, security: &Security) -> Result<(), ParamsError> {
    if lit.insecure || security.category().is_some() {
        return Ok(());
    }
    let (log_n, secret) = (lit.log_n, lit.secret.to_string());
    match security.assessments.iter().map(|a| a.limit_128).max() {
        None => Err(ParamsError::NotCovered { log_n, secret }),
        Some(limit) => Err(ParamsError::BelowSecurity {
            log_pq: security.modulus,
            log_n,
            secret,
            bits: security.bits_below(),
            limit,
        }),
    }
}

/// log2 of a product of moduli.
pub(crate) fn log2_product(moduli: &[Modulus]) -> f64 {
    moduli.iter().map(|m| (m.value() as f64).log2()).sum()
}

/// The product as little-endian words without leading zeros.
pub(crate) fn product(factors: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let mut words = vec![1u64];
    for factor in factors {
        let mut carry = 0u128;
        for w in &mut words {
            let t = u128::from(*w) * u128::from(factor) + carry;
            (*w, carry) = (t as u64, t >> 64);
        }
        if carry > 0 {
            words.push(carry as u64);
        }
    }
    words
}

/// Whether one product is less than another.
pub(crate) fn less(a: &[u64], b: &[u64]) -> bool {
    a.len().cmp(&b.len()).then_with(|| a.iter().rev().cmp(b.iter().rev())).is_lt()
}

#[cfg(test)]
mod tests;
