//! The side `bound`: what a work of ours multiplies and moves, as times that the ceilings of this machine allow.
//!
//! Multiplications are those of the multiplying vector instructions, counted by the plain-code twins of the kernels; the
//! ceiling is what one core multiplies without waiting, measured here. Bytes are those of operands that come from inputs, keys or another
//! task. Caches may give them faster than memory, whose bandwidth is the other ceiling: then the second time is above the one measured.

use std::sync::{Arc, OnceLock};

use ringmill::machine::Cpu;
use ringmill::machine::cpu::profile::Profile;
use ringmill_ring::ceiling::Ceilings;
use ringmill_ring::{Isa, LimbRing, lanes};

use crate::{Prepared, ntt};

static WATCHED: OnceLock<Arc<Profile>> = OnceLock::new();

/// A CPU machine that counts, in a process that was asked for bounds.
pub(crate) fn watched() -> Option<Result<Cpu, String>> {
    let profile = WATCHED.get()?.clone();
    Some(Cpu::new().map(|cpu| cpu.profiled(profile)).map_err(|error| error.to_string()))
}

/// The work of `ours`, run once; its facts are `multiplier_us` and `memory_us`.
pub(crate) fn prepare(work: &str) -> Result<Prepared, String> {
    let profile = WATCHED.get_or_init(Arc::default);
    let mut prepared = crate::ours(work)?;
    let (multiplied, moved) = match work.split_once('/') {
        Some(("ntt" | "intt", _)) => (transform(work)?, 0),
        _ => {
            profile.reset();
            (prepared.run)();
            if profile.runs() != 1 {
                return Err(format!(
                    "{work} runs {} limb programs, and one alone is counted",
                    profile.runs()
                ));
            }
            let kinds = profile.by_kind();
            let sum = |of: fn(&ringmill::machine::cpu::profile::Spent) -> u64| {
                kinds.iter().map(|(_, spent)| of(spent)).sum::<u64>()
            };
            (sum(|spent| spent.multiplications), sum(|spent| spent.bytes))
        }
    };
    if multiplied == 0 {
        return Err(format!("{work} runs no limb program, whose work alone is counted"));
    }
    let ceilings = Isa::detect().and_then(Ceilings::measure).map_err(|error| error.to_string())?;
    let (multiplier, memory) =
        (1e6 * multiplied as f64 / ceilings.multiplications, 1e6 * moved as f64 / ceilings.bytes);
    prepared.facts = format!(r#"{{"multiplier_us": {multiplier:.3}, "memory_us": {memory:.3}}}"#);
    Ok(prepared)
}

/// Multiplications of one transform.
fn transform(work: &str) -> Result<u64, String> {
    let ask = ntt::Ask::parse(work)?;
    let failed = |error: ringmill_ring::RingError| error.to_string();
    let ring = LimbRing::new(ask.log_n, ask.prime).map_err(failed)?;
    let twin = LimbRing::with_isa(ask.log_n, ask.prime, ring.isa().twin()).map_err(failed)?;
    let mut words = vec![1; 1 << ask.log_n];
    let before = lanes::multiplications();
    if ask.inverse { twin.inverse(&mut words) } else { twin.forward(&mut words) }.map_err(failed)?;
    Ok(lanes::multiplications() - before)
}
