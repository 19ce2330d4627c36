//! The literal: what a person writes down, before it is checked.

use std::collections::BTreeMap;

use ringmill_ring::primes::{self, Side};
use ringmill_ring::{Modulus, RingError};
use serde::{Deserialize, Serialize};

use super::{ParamsError, Secret};
use crate::generator::Generator;

/// A prime of the chain: by size or by value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PrimeSpec {
    /// A prime next to 2^bits and ≡ 1 mod 2N, 20 to 60 bits.
    ///
    /// Primes next to 2^bits, above and below by turns, so that rescaling stays close to a power of two; at 50, 55 and
    /// 60 bits only from below, because 2^50 bounds exact binary64 kernels and 2^60 the ring. Of the primes
    /// of one size, the largest go to the special primes.
    Bits(u32),
    /// This prime.
    Value(u64),
}

/// Parameters as written down; [`Params::new`](super::Params::new) checks them.
///
/// ```
/// use ringmill_ckks::{Params, ParamsLiteral};
/// let params = Params::new(&ParamsLiteral { scale_bits: 40, ..ParamsLiteral::from_bits(13, &[50, 40, 40], &[50], 3) })?;
/// assert_eq!(params.max_level().get(), 2);
/// assert_eq!(params.security().category(), Some(128));
/// # Ok::<(), ringmill_ckks::ParamsError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ParamsLiteral {
    /// log2 of the ring degree N, 10 to 17.
    pub log_n: u32,
    /// Ciphertext primes q_0 (the base, never rescaled away) to q_L, 1 to 64.
    pub q: Vec<PrimeSpec>,
    /// Special primes p_0 to p_{K−1}, 1 to 64.
    pub p: Vec<PrimeSpec>,
    /// Number of digits of the hybrid key switch at the top level, 1 to L + 1.
    pub dnum: usize,
    /// Distribution of secret keys.
    pub secret: Secret,
    /// log2 of the default scale.
    pub scale_bits: u32,
    /// Accept parameters below 128 bits of security: for tests only.
    pub insecure: bool,
    /// Generator of rotations. Files carry one that is not 5 beside the literal.
    #[serde(skip)]
    pub generator: Generator,
}

impl ParamsLiteral {
    /// A literal of primes by size, with ternary secrets and the last prime's size as scale.
    pub fn from_bits(log_n: u32, q_bits: &[u32], p_bits: &[u32], dnum: usize) -> Self {
        Self {
            log_n,
            q: q_bits.iter().map(|&b| PrimeSpec::Bits(b)).collect(),
            p: p_bits.iter().map(|&b| PrimeSpec::Bits(b)).collect(),
            dnum,
            secret: Secret::Ternary,
            scale_bits: q_bits.last().copied().unwrap_or(1),
            insecure: false,
            generator: Generator::Five,
        }
    }

    /// Marks the literal as a toy for tests.
    #[must_use]
    pub fn insecure(mut self) -> Self {
        self.insecure = true;
        self
    }
}

/// Resolves both lists to moduli. Sizes share one pool each, so that no prime is taken twice.
pub(super) fn resolve(lit: &ParamsLiteral) -> Result<(Vec<Modulus>, Vec<Modulus>), ParamsError> {
    let mut taken: Vec<u64> = lit.q.iter().chain(&lit.p).filter_map(|s| value_of(*s)).collect();
    let mut sizes: Vec<u32> = lit.q.iter().chain(&lit.p).filter_map(|s| bits_of(*s)).collect();
    sizes.sort_unstable();
    let mut pools = BTreeMap::new();
    for group in sizes.chunk_by(|a, b| a == b) {
        let pool = near_power(group[0], lit.log_n, group.len(), &taken)?;
        taken.extend(&pool);
        pools.insert(group[0], pool);
    }
    // The largest of a size go to the special primes, so P is at least a digit of as many primes of that size. The
    // others stand above and below 2^bits by turns, so that a scale does not drift one way from level to level.
    let p = pick("special", &lit.p, lit.log_n, &mut pools, |pool| {
        pool.iter().enumerate().max_by_key(|(_, q)| **q).map_or(0, |(i, _)| i)
    })?;
    let q = pick("ciphertext", &lit.q, lit.log_n, &mut pools, |_| 0)?;
    Ok((q, p))
}

type Pools = BTreeMap<u32, Vec<u64>>;

/// Resolves one list, taking from a pool the prime that `choose` points at.
fn pick(
    side: &'static str,
    specs: &[PrimeSpec],
    log_n: u32,
    pools: &mut Pools,
    choose: impl Fn(&[u64]) -> usize,
) -> Result<Vec<Modulus>, ParamsError> {
    let modulus = |(index, &spec): (usize, &PrimeSpec)| {
        let q = match spec {
            PrimeSpec::Value(q) => q,
            PrimeSpec::Bits(b) => {
                pools.get_mut(&b).filter(|pool| !pool.is_empty()).map_or(0, |pool| pool.remove(choose(pool)))
            }
        };
        let m = Modulus::new(q).and_then(|m| check_root(m, log_n));
        m.map_err(|source| ParamsError::Prime { side, index, source })
    };
    specs.iter().enumerate().map(modulus).collect()
}

fn check_root(m: Modulus, log_n: u32) -> Result<Modulus, RingError> {
    let two_n = 2u64 << log_n;
    if m.value() % two_n == 1 { Ok(m) } else { Err(RingError::NoRoot { q: m.value(), two_n }) }
}

fn value_of(s: PrimeSpec) -> Option<u64> {
    if let PrimeSpec::Value(q) = s { Some(q) } else { None }
}

fn bits_of(s: PrimeSpec) -> Option<u32> {
    if let PrimeSpec::Bits(b) = s { Some(b) } else { None }
}

/// `count` primes ≡ 1 mod 2N next to 2^bits that are not in `taken`, above and below by turns.
fn near_power(bits: u32, log_n: u32, count: usize, taken: &[u64]) -> Result<Vec<u64>, ParamsError> {
    let (min, max) = (Modulus::MIN_BITS, Modulus::MAX_BITS);
    if !(min..=max).contains(&bits) {
        return Err(ParamsError::PrimeBits { bits, min, max });
    }
    let centre = 1u64 << bits;
    // Kernels change at 2^50 and 2^55: a prime just above costs up to three times what one below does.
    let side = if matches!(bits, 50 | 55 | 60) { Side::Below } else { Side::Alternating };
    let exhausted = |found| ParamsError::PrimesExhausted { bits, log_n, found, wanted: count };
    let found = primes::nearest(centre, log_n, count, side, taken).map_err(|e| match e {
        RingError::PrimesExhausted { found, .. } => exhausted(found),
        source => ParamsError::Prime { side: "sized", index: 0, source },
    })?;
    // Never further than a quarter of an octave or so: the size asked for must stay the size.
    let near = found.iter().filter(|q| q.value().abs_diff(centre) <= centre / 4).count();
    if near == count { Ok(found.iter().map(|q| q.value()).collect()) } else { Err(exhausted(near)) }
}
