//! Parameters whose primes stand in the order that keeps scales where they are ([`ringmill_ckks::params::steady_order`]).

use ringmill_ckks::params::steady_order;
use ringmill_ckks::{Level, Params, ParamsError, PrimeSpec};

/// The same parameters with the primes above `floor`, which rescaling removes, in that order.
///
/// # Errors
/// None for parameters that were checked; the signature is that of every way to parameters.
pub fn steady(params: &Params, floor: Level) -> Result<Params, ParamsError> {
    let mut q: Vec<u64> = params.q_moduli().iter().map(|m| m.value()).collect();
    let base: Vec<u64> = q.drain(..floor.limbs().min(q.len())).collect();
    let scale = params.default_scale().to_f64();
    let descending = steady_order(&q, scale);
    let mut literal = params.literal().clone();
    literal.q = base.into_iter().chain(descending.into_iter().rev()).map(PrimeSpec::Value).collect();
    literal.p = params.p_moduli().iter().map(|m| PrimeSpec::Value(m.value())).collect();
    Params::new(&literal)
}
