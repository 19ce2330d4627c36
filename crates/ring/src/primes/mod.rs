//! Prime search: primes q ≡ 1 mod 2N near a target, and the sparse classes ([`sparse`]) whose reduction is shifts and adds.
//!
//! N = 2^log_n with log_n in [`MIN_LOG_N`]..=[`MAX_LOG_N`]; primes of 20 to 60 bits ([`Modulus::MIN_BITS`],
//! [`Modulus::MAX_BITS`]). Every result is proved prime by the deterministic test of [`Modulus::new`].

pub mod sparse;
#[cfg(test)]
mod tests;

pub use sparse::{Order, SparseClass, SparsePrime, SparseSearch};

use crate::{Modulus, RingError};

use crate::limb_ring::check_degree;
pub use crate::limb_ring::{MAX_LOG_N, MIN_LOG_N};

/// On which side of the target primes are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// Greater than or equal to the target, ascending.
    Above,
    /// Less than the target, descending.
    Below,
    /// By turns above and below, starting above, until one side runs out; keeps the product near target^count.
    Alternating,
    /// By distance from the target, wherever they lie.
    Nearest,
}

/// Checks that `q` has a supported number of bits.
fn check_size(q: u64) -> Result<(), RingError> {
    let bits = u64::BITS - q.leading_zeros();
    if (Modulus::MIN_BITS..=Modulus::MAX_BITS).contains(&bits) {
        Ok(())
    } else {
        Err(RingError::ModulusSize { q, bits, min: Modulus::MIN_BITS, max: Modulus::MAX_BITS })
    }
}

/// `count` primes ≡ 1 mod 2N taken from `target` outwards on the given side, none of them in `skip`.
///
/// `target` itself has 20 to 60 bits, or is 2^60 to search below it.
///
/// # Errors
/// [`RingError::Degree`], [`RingError::ModulusSize`] (the target), [`RingError::PrimesExhausted`] if the
/// supported sizes hold fewer such primes.
pub fn nearest(
    target: u64,
    log_n: u32,
    count: usize,
    side: Side,
    skip: &[u64],
) -> Result<Vec<Modulus>, RingError> {
    check_degree(log_n)?;
    if target != 1 << Modulus::MAX_BITS {
        check_size(target)?;
    }
    let range = (1 << (Modulus::MIN_BITS - 1), 1 << Modulus::MAX_BITS);
    let found = collect(target, range, log_n, count, side, skip);
    enough(found, count, || format!("q ≡ 1 mod 2^{} of 20 to 60 bits, {side:?} {target}", log_n + 1))
}

/// `count` primes ≡ 1 mod 2^`zeros` taken from `target` outwards: for multipliers that want more than a transform does.
///
/// # Errors
/// As [`nearest`]; [`RingError::Degree`] unless `zeros` − 1 is from [`MIN_LOG_N`] to 39.
pub fn nearest_congruent(
    target: u64,
    zeros: u32,
    count: usize,
    side: Side,
    skip: &[u64],
) -> Result<Vec<Modulus>, RingError> {
    let log_n = zeros.saturating_sub(1);
    if !(MIN_LOG_N..40).contains(&log_n) {
        return Err(RingError::Degree { log_n, min: MIN_LOG_N, max: 39 });
    }
    if target != 1 << Modulus::MAX_BITS {
        check_size(target)?;
    }
    let range = (1 << (Modulus::MIN_BITS - 1), 1 << Modulus::MAX_BITS);
    let found = collect(target, range, log_n, count, side, skip);
    enough(found, count, || format!("q ≡ 1 mod 2^{zeros} of 20 to 60 bits, {side:?} {target}"))
}

/// `count` primes ≡ 1 mod 2N of exactly `bits` bits, largest first, none of them in `skip`.
///
/// # Errors
/// [`RingError::Degree`], [`RingError::ModulusSize`], [`RingError::PrimesExhausted`].
pub fn of_bits(bits: u32, log_n: u32, count: usize, skip: &[u64]) -> Result<Vec<Modulus>, RingError> {
    check_degree(log_n)?;
    check_bits(bits)?;
    let found = collect(1 << bits, (1 << (bits - 1), 1 << bits), log_n, count, Side::Below, skip);
    enough(found, count, || format!("q ≡ 1 mod 2^{} of {bits} bits", log_n + 1))
}

/// One prime for each entry of `bits`, all different and none in `skip`: entry b gets a prime next to 2^b,
/// by turns just above and just below among equal entries, so that the product stays near 2^(Σ bits).
///
/// A prime just above 2^b has b + 1 bits; use [`of_bits`] where a bit length is a hard bound.
///
/// # Errors
/// [`RingError::Degree`], [`RingError::ModulusSize`] for an entry outside 20..=60, [`RingError::PrimesExhausted`].
pub fn chain(bits: &[u32], log_n: u32, skip: &[u64]) -> Result<Vec<Modulus>, RingError> {
    check_degree(log_n)?;
    let mut sizes = bits.to_vec();
    sizes.sort_unstable();
    sizes.dedup();
    let mut taken = skip.to_vec();
    let mut result = vec![None; bits.len()];
    for size in sizes {
        check_bits(size)?;
        let places: Vec<usize> = (0..bits.len()).filter(|&i| bits[i] == size).collect();
        for (i, q) in places.iter().zip(nearest(1 << size, log_n, places.len(), Side::Alternating, &taken)?) {
            taken.push(q.value());
            result[*i] = Some(q);
        }
    }
    Ok(result.into_iter().flatten().collect())
}

fn check_bits(bits: u32) -> Result<(), RingError> {
    if (Modulus::MIN_BITS..=Modulus::MAX_BITS).contains(&bits) {
        Ok(())
    } else {
        let q = 1u64.checked_shl(bits.saturating_sub(1)).unwrap_or(u64::MAX);
        Err(RingError::ModulusSize { q, bits, min: Modulus::MIN_BITS, max: Modulus::MAX_BITS })
    }
}

/// Up to `count` primes ≡ 1 mod 2N in [range.0, range.1), in the order of `side`.
fn collect(
    target: u64,
    range: (u64, u64),
    log_n: u32,
    count: usize,
    side: Side,
    skip: &[u64],
) -> Vec<Modulus> {
    let step = 2u64 << log_n;
    let prime = |q: u64| if skip.contains(&q) { None } else { Modulus::new(q).ok() };
    // The least q ≥ target with q ≡ 1 mod step; target ≤ 2^60, so nothing overflows.
    let first = (target - 1).next_multiple_of(step) + 1;
    let mut above = (first..range.1).step_by(step as usize).filter_map(prime).peekable();
    // q = first − step, first − 2·step, ... ≥ range.0 > step.
    let last = first.saturating_sub(range.0) / step;
    let mut below = (1..=last).map(|k| first - k * step).filter_map(prime).peekable();
    match side {
        Side::Above => above.take(count).collect(),
        Side::Below => below.take(count).collect(),
        Side::Alternating => {
            let mut up = true;
            std::iter::from_fn(|| {
                let q = if up {
                    above.next().or_else(|| below.next())
                } else {
                    below.next().or_else(|| above.next())
                };
                up = !up;
                q
            })
            .take(count)
            .collect()
        }
        Side::Nearest => std::iter::from_fn(|| match (above.peek(), below.peek()) {
            (Some(a), Some(b)) if target - b.value() < a.value() - target => below.next(),
            (None, Some(_)) => below.next(),
            _ => above.next(),
        })
        .take(count)
        .collect(),
    }
}

fn enough<T>(found: Vec<T>, wanted: usize, what: impl FnOnce() -> String) -> Result<Vec<T>, RingError> {
    if found.len() < wanted {
        Err(RingError::PrimesExhausted { found: found.len(), wanted, what: what() })
    } else {
        Ok(found)
    }
}

/// How close the primes of a chain lie, as (least, greatest) η over all ordered pairs:
/// η = −log2 |q_i/q_j − 1|, so every ratio lies within 1 ± 2^−(least η).
///
/// `None` for fewer than two different primes.
pub fn eta(chain: &[Modulus]) -> Option<(f64, f64)> {
    let pairs = chain.iter().flat_map(|a| chain.iter().map(|b| (a.value(), b.value())));
    let mut eta = pairs.filter(|(a, b)| a != b).map(|(a, b)| -(a.abs_diff(b) as f64 / b as f64).log2());
    let first = eta.next()?;
    Some(eta.fold((first, first), |(lo, hi), e| (lo.min(e), hi.max(e))))
}
