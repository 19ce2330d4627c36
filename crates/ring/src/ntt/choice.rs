//! Which arithmetic a plan takes: the first that serves, but where CPUs differ.
//!
//! 52-bit and binary64 multiply-add both serve primes next to a power of two below 2^50, and binary64 and 64-bit products
//! those of 51 and 52 bits. Which is faster depends on how many ports a CPU has for each. So the two are timed, once a process
//! for each such pair.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::plan::{Arithmetic, Plan};
use crate::{Isa, Modulus, primes};

/// Degree of what is timed: a limb that stays in the first cache.
const LOG_N: u32 = 11;
/// Rounds, of which the fastest counts.
const ROUNDS: usize = 24;
/// The factor by which the second must be faster, so that noise in the measurement does not decide.
const MARGIN: f64 = 1.05;

/// The arithmetic for q on `isa`.
pub(super) fn best(log_n: u32, q: Modulus, isa: Isa) -> Arithmetic {
    let candidates = Arithmetic::candidates(log_n, q, isa);
    let (first, second) = (candidates[0], candidates.get(1));
    match (bits_of_pair(&candidates), second) {
        (Some(bits), Some(&second)) if second_wins(isa, bits) => second,
        _ => first,
    }
}

/// Bits of the primes that are timed for the first two, if it is not known which is faster.
fn bits_of_pair(candidates: &[Arithmetic]) -> Option<u32> {
    match candidates {
        [Arithmetic::Fold52 { .. }, Arithmetic::Binary64, ..] => Some(50),
        [Arithmetic::Window52(_), Arithmetic::Binary64, ..] => Some(49),
        [Arithmetic::Wide64 { .. }, Arithmetic::Shoup64 | Arithmetic::Narrow] => Some(52),
        _ => None,
    }
}

/// Whether the second arithmetic for primes of `bits` bits is faster; never on an instruction set that only
/// tests run.
fn second_wins(isa: Isa, bits: u32) -> bool {
    static KNOWN: LazyLock<Mutex<HashMap<(Isa, u32), bool>>> = LazyLock::new(Mutex::default);
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if isa.is_emulated() {
        return false;
    }
    let found = known().get(&(isa, bits)).copied();
    // The first answer stands, so that all plans of a process agree.
    found.unwrap_or_else(|| {
        let wins = timed(isa, bits).unwrap_or(false);
        *known().entry((isa, bits)).or_insert(wins)
    })
}

/// Times both on a prime of `bits` bits, which both serve; none if one is refused.
fn timed(isa: Isa, bits: u32) -> Option<bool> {
    let q = *primes::of_bits(bits, LOG_N, 1, &[]).ok()?.first()?;
    let candidates = Arithmetic::candidates(LOG_N, q, isa);
    let plan = |&arithmetic| Plan::with_arithmetic(LOG_N, q, isa, arithmetic).ok();
    let plans = [plan(candidates.first()?)?, plan(candidates.get(1)?)?];
    let mut limb: Vec<u64> =
        (0..1u64 << LOG_N).map(|i| q.reduce(i.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
    let mut least = [Duration::MAX; 2];
    for _ in 0..ROUNDS {
        for (plan, least) in plans.iter().zip(&mut least) {
            let start = Instant::now();
            plan.forward(&mut limb).ok()?;
            plan.inverse(&mut limb).ok()?;
            *least = start.elapsed().min(*least);
        }
    }
    Some(least[0].as_secs_f64() > MARGIN * least[1].as_secs_f64())
}
