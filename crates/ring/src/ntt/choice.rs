//! Which arithmetic a plan takes: the first that serves, but for the one case that differs from CPU to CPU.
//!
//! 52-bit multiply-add and binary64 multiply-add both serve primes next to a power of two below 2^50. Which is faster
//! depends on how many ports a CPU has for each; on Zen 4 the first by a quarter to a half. So the two are timed, once a
//! process for each of the two arithmetics with 52-bit multiply-add.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::plan::{Arithmetic, Plan};
use crate::{Isa, Modulus, primes};

/// Degree and size of the prime that are timed: a limb that stays in the first cache.
const LOG_N: u32 = 11;
/// The size that [`Arithmetic::Fold52`] takes, and that of [`Arithmetic::Window52`].
const FOLD_BITS: u32 = 50;
const WINDOW_BITS: u32 = 49;
/// Rounds, of which the fastest counts.
const ROUNDS: usize = 24;
/// Binary64 must win by so much: what is measured in a disturbed moment decides nothing.
const MARGIN: f64 = 1.05;

/// The arithmetic for q on `isa`.
pub(super) fn best(log_n: u32, q: Modulus, isa: Isa) -> Arithmetic {
    static OVER_FOLD: OnceLock<bool> = OnceLock::new();
    static OVER_WINDOW: OnceLock<bool> = OnceLock::new();
    let wins = |known: &OnceLock<bool>, bits| {
        isa == Isa::Ifma && *known.get_or_init(|| binary64_wins(isa, bits).unwrap_or(false))
    };
    match Arithmetic::candidates(log_n, q, isa)[..] {
        [Arithmetic::Fold52 { .. }, Arithmetic::Binary64, ..] if wins(&OVER_FOLD, FOLD_BITS) => {
            Arithmetic::Binary64
        }
        [Arithmetic::Window52(_), Arithmetic::Binary64, ..] if wins(&OVER_WINDOW, WINDOW_BITS) => {
            Arithmetic::Binary64
        }
        [first, ..] => first,
        [] => unreachable!("64-bit arithmetic serves every prime"),
    }
}

/// Times both on a prime of `bits` bits, which both serve; none if one is refused.
fn binary64_wins(isa: Isa, bits: u32) -> Option<bool> {
    let q = *primes::of_bits(bits, LOG_N, 1, &[]).ok()?.first()?;
    let candidates = Arithmetic::candidates(LOG_N, q, isa);
    let (integer, binary) = (candidates.first()?, candidates.get(1)?);
    let plan = |&arithmetic| Plan::with_arithmetic(LOG_N, q, isa, arithmetic).ok();
    let plans = [plan(integer)?, plan(binary)?];
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
