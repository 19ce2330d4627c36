//! Chains within the word of a machine.

use std::collections::BTreeMap;

use ringmill_ring::primes::{self, Side};
use ringmill_ring::{Modulus, RingError};

use super::levels::MAX_LEVEL_PRIMES;
use super::literal::{bits_of, near_power};
use super::order::steady_levels_of;
use super::{Level, MAX_PRIMES, Params, ParamsError, ParamsLiteral, PrimeSpec};

/// `bits` as sizes of primes of a word, as few and as even as they can be.
pub fn split(bits: u32, word: u32) -> Vec<u32> {
    let count = bits.div_ceil(word).max(1);
    (0..count).map(|i| (bits / count + u32::from(i < bits % count)).max(Modulus::MIN_BITS)).collect()
}

/// Sizes of the primes of each level, from level 0 on, for levels of `bits`: as few as the word allows, and as even as the primes
/// that there are at this degree. Where those of half a level's size are too few, a level takes a smaller and a greater one.
///
/// # Errors
/// [`ParamsError::PrimesExhausted`] for a level that primes do not suffice for; [`ParamsError::TooManyPrimes`].
pub fn sizes(bits: &[u32], word: u32, log_n: u32) -> Result<Vec<Vec<u32>>, ParamsError> {
    let few = |count: usize| match count > MAX_PRIMES {
        true => Err(ParamsError::TooManyPrimes { side: "ciphertext", count, max: MAX_PRIMES }),
        false => Ok(()),
    };
    few(bits.iter().map(|&bits| bits.div_ceil(word) as usize).sum())?;
    let mut left: BTreeMap<u32, usize> =
        (Modulus::MIN_BITS..=word).map(|size| (size, primes_of(size, log_n, MAX_PRIMES))).collect();
    let mut levels = vec![Vec::new(); bits.len()];
    // The widest have the fewest choices.
    let mut order: Vec<usize> = (0..bits.len()).collect();
    order.sort_by_key(|&level| std::cmp::Reverse(bits[level]));
    for level in order {
        let fewest = bits[level].div_ceil(word).max(1) as usize;
        let found = (fewest..=MAX_LEVEL_PRIMES).find_map(|count| take(bits[level], count, word, &left));
        let Some(found) = found else {
            let size = bits[level] / fewest as u32;
            let wanted = bits.iter().filter(|&&other| other == bits[level]).count() * fewest;
            let found = primes_of(size, log_n, wanted);
            return Err(ParamsError::PrimesExhausted { bits: size, log_n, found, wanted });
        };
        for size in &found {
            left.entry(*size).and_modify(|count| *count -= 1);
        }
        levels[level] = found;
    }
    few(levels.iter().map(Vec::len).sum())?;
    Ok(levels)
}

/// The most even sizes that add up to `bits` and of which there are primes left, the greatest first.
fn take(bits: u32, count: usize, word: u32, left: &BTreeMap<u32, usize>) -> Option<Vec<u32>> {
    let mut best: Option<(u32, Vec<u32>)> = None;
    let mut chosen = Vec::new();
    part(bits, count, word, left, &mut chosen, &mut best);
    best.map(|(_, sizes)| sizes)
}

/// The ways to complete `chosen`, sizes falling.
fn part(
    bits: u32,
    count: usize,
    most: u32,
    left: &BTreeMap<u32, usize>,
    chosen: &mut Vec<u32>,
    best: &mut Option<(u32, Vec<u32>)>,
) {
    if count == 0 {
        let spread = chosen[0] - chosen[chosen.len() - 1];
        if bits == 0 && best.as_ref().is_none_or(|(least, _)| spread < *least) {
            *best = Some((spread, chosen.clone()));
        }
        return;
    }
    let least = bits.div_ceil(count as u32).max(Modulus::MIN_BITS);
    for size in least..=most.min(bits) {
        let taken = chosen.iter().filter(|&&other| other == size).count();
        if left.get(&size).is_some_and(|&count| count > taken) {
            chosen.push(size);
            part(bits - size, count - 1, size, left, chosen, best);
            chosen.pop();
        }
    }
}

/// How many primes ≡ 1 mod 2N of a size there are, up to `most`: those that sized chains take.
fn primes_of(bits: u32, log_n: u32, most: usize) -> usize {
    match near_power(bits, log_n, most, &[]) {
        Ok(found) => found.len(),
        Err(ParamsError::PrimesExhausted { found, .. }) => found,
        Err(_) => 0,
    }
}

impl Params {
    /// As [`Params::new`], with every prime of a literal by sizes below 2^`word`: those of that size are the nearest below it, the
    /// greatest of them special ones. Sizes are no greater than the word.
    ///
    /// # Errors
    /// As [`Params::new`].
    pub fn within(word: u32, literal: &ParamsLiteral) -> Result<Self, ParamsError> {
        let mut literal = literal.clone();
        let specs = literal.q.iter().chain(&literal.p);
        let count = specs.filter(|&&spec| bits_of(spec) == Some(word)).count();
        let log_n = literal.log_n;
        let scarce = |found| ParamsError::PrimesExhausted { bits: word, log_n, found, wanted: count };
        let below = primes::nearest(1 << word, log_n, count, Side::Below, &[]).map_err(|e| match e {
            RingError::PrimesExhausted { found, .. } => scarce(found),
            source => ParamsError::Prime { side: "sized", index: 0, source },
        })?;
        let of_word = below.iter().filter(|m| m.value() >> (word - 1) > 0);
        let mut below = of_word.map(|m| PrimeSpec::Value(m.value()));
        let mut name = |specs: &mut [PrimeSpec]| {
            specs.iter_mut().filter(|spec| **spec == PrimeSpec::Bits(word)).try_for_each(|spec| {
                *spec = below.next()?;
                Some(())
            })
        };
        name(&mut literal.p).and_then(|()| name(&mut literal.q)).ok_or_else(|| scarce(count - 1))?;
        let params = Self::new(&literal)?;
        if !literal.q.iter().any(|spec| matches!(spec, PrimeSpec::Value(_))) {
            return Ok(params);
        }
        // Primes by value stand as they are given; each level keeps its sizes.
        let values: Vec<u64> = params.q_moduli().iter().map(|m| m.value()).collect();
        let levels = params.levels();
        let steady = steady_levels_of(&values[levels.limbs(Level::ZERO)..], &values, levels, Level::ZERO);
        literal.q = steady.into_iter().map(PrimeSpec::Value).collect();
        literal.p = params.p_moduli().iter().map(|m| PrimeSpec::Value(m.value())).collect();
        Self::new(&literal)
    }
}
