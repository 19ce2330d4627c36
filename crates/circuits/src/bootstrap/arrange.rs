//! Which maps and which sine: the arrangement that a need takes, and the one that a chain was laid out for.
//!
//! Three maps each way and the arcsine's cubic term give the most precise and the fastest bootstrapping where the modulus has room
//! for their levels. In small rings it has not: two maps save two levels for twice the rotations; without the cubic term the
//! sine saves two, and three to five bits of every prime above the raise are spent on the room that replaces it.

use ringmill_ckks::Params;

use super::{Bootstrap, Need};
use crate::CircuitError;
use crate::linear::Keys;

/// Levels of each transform, and whether the sine is corrected by the arcsine; the usual one first.
const ARRANGEMENTS: [(usize, bool); 4] = [(3, true), (3, false), (2, true), (2, false)];

/// The usual arrangement is the most precise, so another one has to be this much cheaper.
const CHEAPER: f64 = 2.0 / 3.0;

/// Keys that a linear map may ask for: with eight, six maps of full slots at N = 2^16 share 24, with hardly more rotations than with
/// the 36 of the fastest.
const KEYS: usize = 8;

impl Bootstrap {
    fn arranged((maps, arcsine): (usize, bool)) -> Self {
        Self { to_coefficients: maps, to_slots: maps, arcsine, keys: Keys::AtMost(KEYS), ..Self::default() }
    }

    /// How ciphertexts of these parameters are bootstrapped: as [`Self::laid_out`], in the usual arrangement if there is none.
    pub fn of(params: &Params) -> Self {
        let usual = || Self::arranged(ARRANGEMENTS[0]).precise(params.literal().scale_bits);
        Self::laid_out(params).map_or_else(usual, |(config, _)| config)
    }

    /// The arrangement that the primes of these parameters were laid out for, in the room that suits their scale, and the levels
    /// that it leaves.
    pub fn laid_out(params: &Params) -> Option<(Self, u32)> {
        let sizes: Vec<u32> =
            params.q_moduli().iter().map(|q| (q.value() as f64).log2().round() as u32).collect();
        let (scale_bits, slots) = (params.literal().scale_bits, params.slots());
        ARRANGEMENTS.map(Self::arranged).into_iter().find_map(|config| {
            let depth = config.depth().ok()?;
            let levels = (sizes.len() as u32).checked_sub(1 + config.start(slots) + depth)?;
            let mut wide = Need::wide_of(*sizes.last()?);
            let need = |wide_bits| Need { levels, scale_bits, wide_bits, slots, ..Need::default() };
            let found = wide.any(|wide_bits| need(wide_bits).chain(&config, depth) == sizes);
            found.then(|| (config.precise(scale_bits), levels))
        })
    }

    /// Key switches at the top of the chain, by which arrangements are compared: products of the sine, for both parts of complex
    /// messages, and rotations of the maps towards slots, 2·√diagonals each.
    fn switches(&self, slots: usize) -> Result<f64, CircuitError> {
        let stages = f64::from(slots.trailing_zeros()) / self.to_slots as f64;
        let rotations = self.to_slots as f64 * 2.0 * ((stages + 1.0) / 2.0).exp2();
        let inverse = if self.arcsine { 2 } else { 0 };
        Ok(2.0 * (self.sine()?.products() + inverse) as f64 + rotations)
    }
}

impl Need {
    /// Parameters for bootstrappings precise to `bits` in so many iterations, and how to bootstrap with them: the smallest ring
    /// that has room for any arrangement, in it the usual one unless another takes a third less time. Scales follow from the bits.
    ///
    /// # Errors
    /// As [`Need::iterated`] and [`Need::choose`].
    pub fn arranged(&self, bits: u32, iterations: u32) -> Result<(Params, Bootstrap), CircuitError> {
        self.check_slots()?;
        let need = self.clone().iterated(bits, iterations)?;
        for log_n in self.rings() {
            let mut best: Option<(f64, Params, Bootstrap)> = None;
            for arrangement in ARRANGEMENTS {
                let config = Bootstrap { iterations, ..Bootstrap::arranged(arrangement) };
                let config = config.precise(need.scale_bits);
                let need = need.in_room(&config);
                let q = need.chain(&config, config.depth()?);
                let Some(params) = need.cheapest(log_n, &q) else { continue };
                let cost = config.switches(need.slots)? * transforms(&params);
                if best.as_ref().is_none_or(|(least, ..)| cost < *least) {
                    let usual = arrangement == ARRANGEMENTS[0];
                    best = Some((if usual { cost * CHEAPER } else { cost }, params, config));
                }
            }
            if let Some((_, params, config)) = best {
                return Ok((params, config));
            }
        }
        let usual = Bootstrap::arranged(ARRANGEMENTS[0]).precise(need.scale_bits);
        // Says what stands in the way of the usual one.
        need.choose(&usual).map(|params| (params, usual))
    }

    /// The same with a sine whose scale makes up for what a larger room than the usual one costs in precision.
    fn in_room(&self, config: &Bootstrap) -> Self {
        let usual = Bootstrap { arcsine: true, ..config.clone() }.precise(self.scale_bits);
        Self { wide_bits: self.wide_bits + config.room.saturating_sub(usual.room), ..self.clone() }
    }
}

/// Transforms of one key switch at the top.
fn transforms(params: &Params) -> f64 {
    ((params.dnum() + 2) * params.key_limbs()) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringmill_ckks::NamedSet;

    /// log2 of each prime, special ones last.
    fn sizes(params: &Params) -> Vec<u32> {
        params.key_moduli().map(|q| (q.value() as f64).log2().round() as u32).collect()
    }

    #[test]
    fn named_sets_are_what_their_needs_choose() {
        for (set, log_n, levels, bits) in [(NamedSet::B15, 15, 5, 12), (NamedSet::B16, 16, 9, 22)] {
            let need = Need { levels, log_n, slots: 1 << (log_n - 1), ..Need::default() };
            let (params, config) = need.arranged(bits, 1).unwrap();
            let named = Params::named(set).unwrap();
            println!("{:?}", sizes(&params));
            assert_eq!(named, params, "{set}: {:?} instead of {:?}", sizes(&named), sizes(&params));
            assert_eq!(Bootstrap::of(&named), config);
            assert_eq!(config.failure(named.slots()), 0.0);
        }
    }

    #[test]
    fn a_chain_tells_its_arrangement() {
        for (log_n, levels, bits, iterations) in
            [(15, 5, 12, 1), (15, 2, 16, 1), (15, 1, 18, 1), (16, 9, 22, 1), (16, 3, 32, 2)]
        {
            let need = Need { levels, log_n, slots: 1 << (log_n - 1), ..Need::default() };
            let (params, config) = need.arranged(bits, iterations).unwrap();
            println!("{bits} bits, {levels} levels: {params} {config:?}");
            assert_eq!(params.log_n(), log_n);
            assert_eq!(params.security().category(), Some(128), "{params}");
            assert_eq!(
                params.max_level().get(),
                levels + config.start(params.slots()) + config.depth().unwrap()
            );
            let found = Bootstrap::of(&params);
            assert_eq!(
                (found.to_slots, found.to_coefficients, found.arcsine),
                (config.to_slots, config.to_coefficients, config.arcsine)
            );
            if iterations == 1 {
                assert_eq!(found, config);
            }
        }
    }
}
