//! The literal: what a person writes down, before it is checked.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use ringmill_ring::primes::{self, Order, Side, SparseClass, SparseSearch};
use ringmill_ring::{Modulus, RingError};
use serde::{Deserialize, Serialize};

use super::order::{DRIFT_MAX, drift, steady_levels_of, steady_order};
use super::{Level, Levels, ParamsError, Secret};
use crate::generator::Generator;

/// A prime of the chain: by size or by value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PrimeSpec {
    /// A prime next to 2^bits and ≡ 1 mod 2N, 20 to 60 bits.
    ///
    /// Primes next to 2^bits, above and below by turns, so that rescaling stays close to a power of two; at 50, 55 and
    /// 60 bits only from below, because 2^50 bounds exact binary64 kernels and 2^60 the ring. Of the primes
    /// of one size, the largest go to the special primes. If the scales of products would drift by more than
    /// [`DRIFT_MAX`](super::DRIFT_MAX) bits, the primes of the scale's size stand in the order that prevents it.
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
    /// Primes of each level, from level 0 on; empty for one each. Files carry them beside the literal.
    #[serde(skip)]
    pub levels: Vec<usize>,
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
            levels: Vec::new(),
        }
    }

    /// As [`from_bits`](Self::from_bits), with the primes of a size by value: of class P1, 2^bits + f with
    /// 0 < f < 2^⌈(bits + 1)/2⌉, those of the fewest set bits. Their reduction by shifts and additions is the cheapest, and
    /// they lie as near to 2^bits as the class does. Of a size, the greatest go to the special primes, and the others stand
    /// in the order in which scales stay.
    ///
    /// # Errors
    /// [`ParamsError::PrimeBits`] for a size that is not between 20 and 59; [`ParamsError::FewSparse`] if the class holds too
    /// few at this degree.
    pub fn of_least_set_bits(
        log_n: u32,
        q_bits: &[u32],
        p_bits: &[u32],
        dnum: usize,
    ) -> Result<Self, ParamsError> {
        let mut pools: Pools = BTreeMap::new();
        for &bits in q_bits.iter().chain(p_bits) {
            let of = |all: &[u32]| all.iter().filter(|&&other| other == bits).count();
            if let Entry::Vacant(place) = pools.entry(bits) {
                let pool = least_set_bits(bits, log_n, of(q_bits) + of(p_bits))?;
                // Ascending: the last ones are special.
                let (q, p) = pool.split_at(of(q_bits));
                let steady: Vec<u64> = steady_order(q, f64::from(bits).exp2()).into_iter().rev().collect();
                place.insert([&steady, p].concat());
            }
        }
        let mut take = |bits: &u32| {
            PrimeSpec::Value(
                pools.get_mut(bits).filter(|pool| !pool.is_empty()).map_or(0, |pool| pool.remove(0)),
            )
        };
        let (q, p) = (q_bits.iter().map(&mut take).collect(), p_bits.iter().map(&mut take).collect());
        Ok(Self { q, p, ..Self::from_bits(log_n, q_bits, p_bits, dnum) })
    }

    /// With levels of this many primes each, from level 0 on, and the size of the last level as scale. A rescale then divides by
    /// all primes of a level at once.
    #[must_use]
    pub fn levels(mut self, primes: &[usize]) -> Self {
        let last = primes.last().map_or(1, |&count| count.min(self.q.len()));
        let bits: Option<u32> = self.q[self.q.len() - last..].iter().map(|&spec| bits_of(spec)).sum();
        self.scale_bits = bits.unwrap_or(self.scale_bits);
        self.levels = primes.to_vec();
        self
    }

    /// Marks the literal as a toy for tests.
    #[must_use]
    pub fn insecure(mut self) -> Self {
        self.insecure = true;
        self
    }
}

/// Both lists of moduli.
pub(super) type Chain = (Vec<Modulus>, Vec<Modulus>);

/// The ciphertext primes from the first of the scale's size to the last before another: products at the scale end in
/// one of these, q_0 apart.
fn run(lit: &ParamsLiteral) -> Range<usize> {
    let is = |spec: &PrimeSpec| *spec == PrimeSpec::Bits(lit.scale_bits);
    let start = lit.q.iter().position(is).unwrap_or(lit.q.len());
    start..start + lit.q[start..].iter().take_while(|spec| is(spec)).count()
}

/// Primes of a size beyond those that levels of several primes need.
const SPARE: usize = 16;

/// A chain whose levels have several primes, in the order in which scales stay. Of each size that levels at the scale have, the primes
/// are those nearest to it, and special primes of the size are above them.
pub(super) fn steady_groups(lit: &ParamsLiteral, turns: &Chain, levels: &Levels) -> Option<Chain> {
    let floor = Level::ZERO;
    let (mut q, mut p) = turns.clone();
    let first = levels.limbs(floor);
    let sizes: BTreeSet<u32> = lit.q[first..].iter().filter_map(|&spec| bits_of(spec)).collect();
    // Primes by value stand as they are given.
    if lit.q[first..].iter().any(|&spec| bits_of(spec).is_none()) {
        return None;
    }
    let mut pools = Vec::new();
    for bits in sizes {
        let of = |specs: &[PrimeSpec], from: usize| -> Vec<usize> {
            (from..specs.len()).filter(|&i| specs[i] == PrimeSpec::Bits(bits)).collect()
        };
        let (own, special) = (of(&lit.q, first), of(&lit.p, 0));
        let others = (0..q.len()).filter(|i| !own.contains(i)).map(|i| q[i].value());
        let others = others.chain((0..p.len()).filter(|i| !special.contains(i)).map(|i| p[i].value()));
        let mut taken: Vec<u64> = others.collect();
        // Below a bound of kernels there is nothing above: the chain keeps its own.
        if !matches!(side(bits), Side::Alternating) {
            pools.extend(own.iter().map(|&i| q[i].value()));
            continue;
        }
        // A few to spare, so that there are products near the scale to the end.
        let of = |count| near_power(bits, lit.log_n, count, &taken).ok();
        let pool = (0..=SPARE).rev().find_map(|spare| of(own.len() + spare))?;
        taken.extend(&pool);
        let greatest = *pool.iter().max()?;
        let above = primes::nearest(greatest, lit.log_n, special.len(), Side::Above, &taken).ok()?;
        if above.iter().any(|m| m.value() - (1 << bits) > 1 << (bits - 2)) {
            return None;
        }
        special.into_iter().zip(above.into_iter().rev()).for_each(|(i, m)| p[i] = m);
        for (i, &value) in own.into_iter().zip(&pool) {
            q[i] = Modulus::new(value).ok()?;
        }
        pools.extend(pool);
    }
    let values: Vec<u64> = q.iter().map(|m| m.value()).collect();
    let steady = steady_levels_of(&pools, &values, levels, floor);
    let q = steady.into_iter().map(Modulus::new).collect::<Result<_, _>>().ok()?;
    Some((q, p))
}

/// If scales drift too far in the chain by turns: a chain in which they drift less, if there is one. The primes of the
/// run are those nearest to the scale, in the order in which scales stay, and special primes of that size are above
/// them. So those of the run lie on both sides, however many special ones there are.
pub(super) fn steady(lit: &ParamsLiteral, turns: &Chain) -> Option<Chain> {
    let (bits, run, (mut q, mut p)) = (lit.scale_bits, run(lit), turns.clone());
    let first = run.start.max(1);
    let drift = |q: &[Modulus]| {
        let removed: Vec<u64> =
            q.get(first..run.end).unwrap_or_default().iter().rev().map(|m| m.value()).collect();
        drift(removed.chunks(1), f64::from(bits).exp2())
    };
    let before = drift(&q);
    if before <= DRIFT_MAX || matches!(side(bits), Side::Below) {
        return None;
    }
    let special = |i: &usize| lit.p[*i] == PrimeSpec::Bits(bits);
    let specials: Vec<usize> = (0..p.len()).filter(special).collect();
    let others = (0..q.len()).filter(|i| !run.contains(i)).map(|i| q[i].value());
    let mut taken: Vec<u64> =
        others.chain((0..p.len()).filter(|i| !special(i)).map(|i| p[i].value())).collect();
    let pool = near_power(bits, lit.log_n, run.len(), &taken).ok()?;
    taken.extend(&pool);
    let greatest = pool.iter().max()?;
    let above = primes::nearest(*greatest, lit.log_n, specials.len(), Side::Above, &taken).ok()?;
    let fits = |m: &Modulus| m.value() - (1 << bits) <= 1 << (bits - 2);
    if !above.iter().all(fits) {
        return None;
    }
    let order = steady_order(&pool, f64::from(bits).exp2());
    for (i, value) in run.clone().rev().zip(order) {
        q[i] = Modulus::new(value).ok()?;
    }
    specials.into_iter().zip(above.into_iter().rev()).for_each(|(i, m)| p[i] = m);
    (drift(&q) < before).then_some((q, p))
}

/// Resolves both lists to moduli. Sizes share one pool each, so that no prime is taken twice.
pub(super) fn by_turns(lit: &ParamsLiteral) -> Result<Chain, ParamsError> {
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

pub(super) fn bits_of(s: PrimeSpec) -> Option<u32> {
    if let PrimeSpec::Bits(b) = s { Some(b) } else { None }
}

/// Kernels change at 2^50 and 2^55: a prime just above costs up to three times what one below does.
fn side(bits: u32) -> Side {
    if matches!(bits, 50 | 55 | 60) { Side::Below } else { Side::Alternating }
}

/// The `count` primes 2^bits + f of class P1 and fewest set bits, ascending.
fn least_set_bits(bits: u32, log_n: u32, count: usize) -> Result<Vec<u64>, ParamsError> {
    let (min, max) = (Modulus::MIN_BITS, Modulus::MAX_BITS - 1);
    if !(min..=max).contains(&bits) {
        return Err(ParamsError::PrimeBits { bits, min, max });
    }
    let few = |found| ParamsError::FewSparse { bits, log_n, found, wanted: count };
    let search = SparseSearch::new(SparseClass::P1, bits, false, log_n);
    let found = search.and_then(|search| search.chain(Order::SetBits, count)).map_err(|e| match e {
        RingError::PrimesExhausted { found, .. } => few(found),
        source => ParamsError::Prime { side: "sized", index: 0, source },
    })?;
    let mut values: Vec<u64> = found.iter().map(|prime| prime.q.value()).collect();
    values.sort_unstable();
    Ok(values)
}

/// `count` primes ≡ 1 mod 2N next to 2^bits that are not in `taken`, above and below by turns.
pub(super) fn near_power(
    bits: u32,
    log_n: u32,
    count: usize,
    taken: &[u64],
) -> Result<Vec<u64>, ParamsError> {
    let (min, max) = (Modulus::MIN_BITS, Modulus::MAX_BITS);
    if !(min..=max).contains(&bits) {
        return Err(ParamsError::PrimeBits { bits, min, max });
    }
    let centre = 1u64 << bits;
    let exhausted = |found| ParamsError::PrimesExhausted { bits, log_n, found, wanted: count };
    let found = primes::nearest(centre, log_n, count, side(bits), taken).map_err(|e| match e {
        RingError::PrimesExhausted { found, .. } => exhausted(found),
        source => ParamsError::Prime { side: "sized", index: 0, source },
    })?;
    // Never further than a quarter of an octave or so: the size asked for must stay the size.
    let near = found.iter().filter(|q| q.value().abs_diff(centre) <= centre / 4).count();
    if near == count { Ok(found.iter().map(|q| q.value()).collect()) } else { Err(exhausted(near)) }
}
