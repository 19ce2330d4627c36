//! Transforms: `ntt/2^14/50` is one forward transform of 2^14 words by the largest suitable 50-bit prime,
//! `intt/2^14/50` one inverse. Canonical residues in and out on both sides.
//!
//! The peer's inverse leaves the factor N in its result; ours does not. Its own normalisation is left out
//! of its time, so the comparison leans towards the peer.

use ringmill_ring::{LimbRing, Modulus, primes};
use tfhe_ntt::prime64::Plan;

use crate::Work;
use crate::aligned::Aligned;

/// What one work's name asks for.
pub(crate) struct Ask {
    pub(crate) inverse: bool,
    pub(crate) log_n: u32,
    pub(crate) prime: Modulus,
}

impl Ask {
    pub(crate) fn parse(work: &str) -> Result<Self, String> {
        let parts: Vec<&str> = work.split('/').collect();
        let [kind @ ("ntt" | "intt"), size, bits] = parts[..] else {
            return Err(format!("{work} is not a transform"));
        };
        let number = |text: &str| text.parse::<u32>().map_err(|error| format!("{work}: {error}"));
        let log_n = number(size.strip_prefix("2^").unwrap_or(size))?;
        let found = primes::of_bits(number(bits)?, log_n, 1, &[]).map_err(|error| error.to_string())?;
        Ok(Self { inverse: kind == "intt", log_n, prime: found[0] })
    }
}

/// The instruction set that a ring chooses on this machine.
pub(crate) fn our_isa() -> String {
    let prime = primes::of_bits(50, 12, 1, &[]).ok().and_then(|found| found.first().copied());
    let ring = prime.and_then(|prime| LimbRing::new(12, prime).ok());
    ring.map_or_else(|| "unknown".into(), |ring| ring.isa().to_string())
}

/// Our transform.
pub(crate) fn ours(work: &str) -> Result<Work, String> {
    let ask = Ask::parse(work)?;
    let ring = LimbRing::new(ask.log_n, ask.prime).map_err(|error| error.to_string())?;
    let mut data = Aligned::residues(1 << ask.log_n, ask.prime.value());
    let before = data.as_mut().to_vec();
    let both = ring.forward(data.as_mut()).and_then(|()| ring.inverse(data.as_mut()));
    both.map_err(|error| error.to_string())?;
    if data.as_mut() != before {
        return Err("forward, then inverse, does not give back the input".into());
    }
    // The length is right, or the check above would have failed: these calls cannot.
    Ok(if ask.inverse {
        Box::new(move || ring.inverse(data.as_mut()).unwrap_or_default())
    } else {
        Box::new(move || ring.forward(data.as_mut()).unwrap_or_default())
    })
}

/// The transform of tfhe-ntt.
pub(crate) fn tfhe(work: &str) -> Result<Work, String> {
    let ask = Ask::parse(work)?;
    let plan =
        Plan::try_new(1 << ask.log_n, ask.prime.value()).ok_or("tfhe-ntt has no plan for this prime")?;
    let mut data = Aligned::residues(1 << ask.log_n, ask.prime.value());
    let before = data.as_mut().to_vec();
    plan.fwd(data.as_mut());
    plan.inv(data.as_mut());
    plan.normalize(data.as_mut());
    if data.as_mut() != before {
        return Err("forward, then inverse, does not give back the input".into());
    }
    Ok(if ask.inverse {
        Box::new(move || plan.inv(data.as_mut()))
    } else {
        Box::new(move || plan.fwd(data.as_mut()))
    })
}
