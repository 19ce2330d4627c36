//! Parameters whose primes stand in the order that keeps scales where they are ([`ringmill_ckks::params::steady_levels`]).

use ringmill_ckks::params::steady_levels;
use ringmill_ckks::{Level, Params, ParamsError, PrimeSpec};

/// The same parameters with the primes above `floor`, which rescaling removes, in that order.
///
/// # Errors
/// None for parameters that were checked; the signature is that of every way to parameters.
pub fn steady(params: &Params, floor: Level) -> Result<Params, ParamsError> {
    let q: Vec<u64> = params.q_moduli().iter().map(|m| m.value()).collect();
    let q = steady_levels(&q, params.levels(), floor, params.default_scale().to_f64());
    let mut literal = params.literal().clone();
    literal.q = q.into_iter().map(PrimeSpec::Value).collect();
    literal.p = params.p_moduli().iter().map(|m| PrimeSpec::Value(m.value())).collect();
    Params::new(&literal)
}
