//! Which arithmetic a plan takes: the first that serves, but for the one case that differs from CPU to CPU.
//!
//! 52-bit multiply-add and binary64 multiply-add both serve primes next to a power of two below 2^50. Which is faster
//! depends on how many ports a CPU has for each; on Zen 4 the first by a quarter to a third. So the two are timed, once a process.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::plan::{Arithmetic, Plan};
use crate::{Isa, Modulus, primes};

/// Degree and size of the prime that are timed: a limb that stays in the first cache.
const LOG_N: u32 = 11;
const BITS: u32 = 49;
/// Rounds, of which the fastest counts.
const ROUNDS: usize = 24;
/// Binary64 must win by so much: what is measured in a disturbed moment decides nothing.
const MARGIN: f64 = 1.05;

/// The arithmetic for q on `isa`.
pub(super) fn best(log_n: u32, q: Modulus, isa: Isa) -> Arithmetic {
    static BINARY64_WINS: OnceLock<bool> = OnceLock::new();
    match Arithmetic::candidates(log_n, q, isa)[..] {
        [Arithmetic::Fold52 { .. }, Arithmetic::Binary64, ..]
            if isa == Isa::Ifma && *BINARY64_WINS.get_or_init(|| binary64_wins(isa).unwrap_or(false)) =>
        {
            Arithmetic::Binary64
        }
        [first, ..] => first,
        [] => unreachable!("64-bit arithmetic serves every prime"),
    }
}

/// Times both on a prime that both serve; none if one is refused.
fn binary64_wins(isa: Isa) -> Option<bool> {
    let q = *primes::of_bits(BITS, LOG_N, 1, &[]).ok()?.first()?;
    let candidates = Arithmetic::candidates(LOG_N, q, isa);
    let (fold, binary) = (candidates.first()?, candidates.get(1)?);
    let plan = |&arithmetic| Plan::with_arithmetic(LOG_N, q, isa, arithmetic).ok();
    let plans = [plan(fold)?, plan(binary)?];
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
