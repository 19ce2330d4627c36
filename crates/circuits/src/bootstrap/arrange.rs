//! Which maps and which sine: the arrangement that a need takes, and the one that a chain was laid out for.
//!
//! Three maps each way and the arcsine's cubic term give the most precise and the fastest bootstrapping if
//! the modulus has space for their levels. In small rings it has not. There two maps save two levels for
//! twice the rotations. Without the cubic term the sine saves two levels; three to five bits of every prime
//! above the raise are then spent on the margin that replaces it. Other numbers of maps must be requested:
//! one or two for few slots, four to six for fewer rotations at the price of levels and keys.

use ringmill_ckks::{Level, Params};

use super::need::{LEAST, SCALE_MOST, WIDE_MOST, WIDEST};
use super::{Bootstrap, Need};
use crate::CircuitError;
use crate::linear::Keys;

/// Levels of each transform, and whether the sine is corrected by the arcsine; the usual one first. Those after the first four are
/// taken where they are asked for.
const ARRANGEMENTS: [(usize, bool); 12] = [
    (3, true),
    (3, false),
    (2, true),
    (2, false),
    (4, true),
    (4, false),
    (5, true),
    (5, false),
    (6, true),
    (6, false),
    (1, true),
    (1, false),
];

/// How many of them are tried unasked.
const TRIED: usize = 4;

/// The usual arrangement is the most precise, so another one has to be this much cheaper.
const CHEAPER: f64 = 2.0 / 3.0;

/// Keys that a linear map may ask for: with eight, six maps of full slots at N = 2^16 share 24, with hardly more rotations than with
/// the 36 of the fastest.
const KEYS: usize = 8;

impl Bootstrap {
    fn arranged((maps, arcsine): (usize, bool)) -> Self {
        Self { to_coefficients: maps, to_slots: maps, arcsine, keys: Keys::AtMost(KEYS), ..Self::default() }
    }

    /// How ciphertexts of these parameters are bootstrapped: as their primes were laid out for, otherwise in
    /// the usual arrangement. `iterations` replaces the number of iterations that they were laid out for.
    pub fn of(params: &Params, iterations: Option<u32>) -> Self {
        let usual = || {
            let scale_bits = params.literal().scale_bits;
            (Self::arranged(ARRANGEMENTS[0]), Need { scale_bits, wide_bits: WIDEST, ..Need::default() })
        };
        let (config, need) = layout(params).unwrap_or_else(usual);
        config.in_iterations(iterations, &need).on(params)
    }

    /// The arrangement that the primes of these parameters were laid out for, as precise as they let it be, and the levels that it
    /// leaves.
    pub fn laid_out(params: &Params) -> Option<(Self, u32)> {
        let (config, need) = layout(params)?;
        let config = config.in_iterations(None, &need);
        Some((config.on(params), need.levels))
    }

    /// The same for ciphertexts of these parameters.
    fn on(self, params: &Params) -> Self {
        Self { generator: params.generator(), log_n: params.log_n(), ..self }
    }

    fn in_iterations(self, iterations: Option<u32>, need: &Need) -> Self {
        Self { iterations: iterations.unwrap_or_else(|| self.laid_out_for(need)), ..self }.precise(need)
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

/// The arrangement and the need whose chain has the primes of these parameters.
fn layout(params: &Params) -> Option<(Bootstrap, Need)> {
    // Of each level, whose primes may be several.
    let sizes: Vec<u32> =
        params.q_moduli().iter().map(|q| (q.value() as f64).log2().round() as u32).collect();
    let levels = (0..=params.max_level().get()).map(|level| params.levels().primes(Level::new(level)));
    let sizes: Vec<u32> = levels.map(|primes| sizes[primes].iter().sum()).collect();
    let (scale_bits, slots) = (params.literal().scale_bits, params.slots());
    ARRANGEMENTS.map(Bootstrap::arranged).into_iter().find_map(|config| {
        let depth = config.depth().ok()?;
        let levels = (sizes.len() as u32).checked_sub(1 + config.start(slots) + depth)?;
        let word = (!params.levels().is_single()).then_some(LEAST);
        let need = |wide_bits| Need { levels, scale_bits, wide_bits, slots, word, ..Need::default() };
        let mut needs = Need::wide_of(*sizes.last()?).map(need);
        needs.find(|need| need.chain(&config, depth) == sizes).map(|need| (config, need))
    })
}

impl Need {
    /// Parameters for bootstrappings precise to `bits` in the given number of iterations, and how to
    /// bootstrap with them. Takes the smallest ring in which any arrangement fits, and the usual arrangement
    /// unless another takes a third less time. Scales follow from the bits.
    ///
    /// # Errors
    /// As [`Need::iterated`] and [`Need::in_arrangement`].
    pub fn arranged(&self, bits: u32, iterations: u32) -> Result<(Params, Bootstrap), CircuitError> {
        self.clone().iterated(bits, iterations)?.in_arrangement(iterations)
    }

    /// The same for the scales that this need has; that of the sine is wider in arrangements with a larger
    /// margin than the usual one.
    ///
    /// # Errors
    /// As [`Need::choose`]; [`CircuitError::Transforms`] for levels that the slots do not take, [`CircuitError::Arcsine`] for more
    /// precision than a sine without the correction has.
    pub fn in_arrangement(&self, iterations: u32) -> Result<(Params, Bootstrap), CircuitError> {
        self.check()?;
        if self.word.is_none() {
            return self.at_this_scale(iterations);
        }
        // Narrow primes are few: the next scale whose primes there are.
        let mut first = None;
        for scale_bits in self.scale_bits..=SCALE_MOST {
            let need = self.clone().at_scale(scale_bits);
            match need.at_this_scale(iterations) {
                Err(CircuitError::Params(why)) => first = first.or(Some(CircuitError::Params(why))),
                found => return found,
            }
        }
        Err(first.unwrap_or(CircuitError::NeedScale { scale_bits: self.scale_bits, most: SCALE_MOST }))
    }

    /// The same at this scale and no other.
    fn at_this_scale(&self, iterations: u32) -> Result<(Params, Bootstrap), CircuitError> {
        let (first, others) = self.arrangements();
        let laid_out = |arrangement| {
            let config = Bootstrap { iterations, ..Bootstrap::arranged(arrangement) };
            let need = self.in_room(&config);
            let config = config.precise(&need);
            (need, config)
        };
        for log_n in self.rings() {
            let mut best: Option<(f64, Params, Bootstrap)> = None;
            for arrangement in std::iter::once(first).chain(others.iter().copied()) {
                let (need, config) = laid_out(arrangement);
                let q = need.chain(&config, config.depth()?);
                let Ok(params) = need.cheapest(log_n, &q) else { continue };
                let cost = config.switches(need.slots)? * transforms(&params);
                if best.as_ref().is_none_or(|(least, ..)| cost < *least) {
                    let usual = arrangement == first;
                    best = Some((if usual { cost * CHEAPER } else { cost }, params, config));
                }
            }
            if let Some((_, params, config)) = best {
                let config = config.on(&params);
                return Ok((params, config));
            }
        }
        // Says what stands in the way of the usual one.
        let (need, usual) = laid_out(first);
        if need.wide_bits > WIDE_MOST && !usual.arcsine {
            return Err(CircuitError::Arcsine { wide_bits: need.wide_bits, most: WIDE_MOST });
        }
        need.choose(&usual).map(|params| (params.clone(), usual.on(&params)))
    }

    /// The arrangements that are tried, the usual one apart.
    fn arrangements(&self) -> ((usize, bool), Vec<(usize, bool)>) {
        let tried = match self.transforms {
            None => &ARRANGEMENTS[..TRIED],
            Some(_) => &ARRANGEMENTS[..],
        };
        let fits = |&(maps, arcsine): &(usize, bool)| {
            self.transforms.is_none_or(|wanted| wanted == maps)
                && self.arcsine.is_none_or(|wanted| wanted == arcsine)
        };
        let mut all = tried.iter().copied().filter(fits);
        (all.next().unwrap_or(ARRANGEMENTS[0]), all.collect())
    }

    /// The same with a sine whose scale compensates the precision that a larger margin than the usual one
    /// costs.
    fn in_room(&self, config: &Bootstrap) -> Self {
        let usual = Bootstrap { arcsine: true, ..config.clone() }.precise(self);
        Self { wide_bits: self.wide_bits + config.more_room(usual.bits), ..self.clone() }
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
            assert_eq!(Bootstrap::of(&named, None), config);
            assert_eq!(config.failure(named.slots()), 0.0);
        }
    }

    #[test]
    fn a_chain_states_its_arrangement() {
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
            assert_eq!(Bootstrap::of(&params, None), config);
            assert_eq!(config.bits_in_all(params.literal().scale_bits), bits);
            assert_eq!(Bootstrap::of(&params, Some(1)), Bootstrap { iterations: 1, ..config });
        }
    }

    #[test]
    fn an_arrangement_that_is_asked_for_is_stated_by_its_chain() {
        let usual = Need { levels: 1, slots: 64, log_n: 10, insecure: true, ..Need::default() };
        let (_, three) = usual.arranged(16, 1).unwrap();
        for (bits, iterations) in [(12, 1), (16, 1), (20, 1), (24, 1), (25, 2), (30, 2), (36, 2)] {
            for transforms in 1..=6 {
                for arcsine in [true, false] {
                    let need = Need { transforms: Some(transforms), arcsine: Some(arcsine), ..usual.clone() };
                    let (params, config) = match need.arranged(bits, iterations) {
                        Ok(chosen) => chosen,
                        Err(e) => {
                            // The margin in place of the arcsine is what the widest primes lack first.
                            assert!(
                                !arcsine && matches!(e, CircuitError::Arcsine { most: 58, .. }),
                                "{bits}: {e}"
                            );
                            continue;
                        }
                    };
                    let what = format!("{bits} bits by {iterations}, {transforms} levels, arcsine {arcsine}");
                    assert_eq!((config.to_coefficients, config.to_slots), (transforms, transforms), "{what}");
                    assert_eq!(config.arcsine, arcsine, "{what}");
                    assert_eq!(Bootstrap::laid_out(&params), Some((config.clone(), 1)), "{what}");
                    assert_eq!(config.bits_in_all(params.literal().scale_bits), bits, "{what}");
                    // Each map is a level on either side, the arcsine two.
                    let levels =
                        1 + 2 * transforms as u32 + three.sine().unwrap().depth() + 2 * u32::from(arcsine);
                    assert_eq!(params.max_level().get(), levels, "{what}");
                }
            }
        }
    }

    #[test]
    fn transforms_that_slots_do_not_take_are_refused() {
        for (slots, least, most) in
            [(4, 1, 3), (16, 1, 5), (32, 1, 6), (256, 1, 6), (512, 2, 6), (1 << 15, 2, 6), (1 << 16, 2, 6)]
        {
            for levels in [0, least - 1, most + 1] {
                let need = Need { slots, transforms: Some(levels), ..Need::default() };
                let wrong = CircuitError::Transforms { levels, slots, least, most };
                assert_eq!(need.arranged(22, 1).unwrap_err(), wrong);
            }
        }
    }

    #[test]
    fn chains_for_two_iterations_differ_from_those_for_one() {
        for bits in 12..=36 {
            let need = Need { levels: 1, slots: 64, log_n: 10, insecure: true, ..Need::default() };
            for iterations in [1, 2] {
                let Ok((params, config)) = need.arranged(bits, iterations) else {
                    assert!(iterations == 1 && bits > 24, "{bits} bits by {iterations}");
                    continue;
                };
                let (found, _) = Bootstrap::laid_out(&params).unwrap();
                // Each is precise to twelve bits at least.
                let wanted = if bits == 12 { 1 } else { iterations };
                assert_eq!(
                    (found.iterations, found.bits),
                    (wanted, config.bits),
                    "{bits} bits by {iterations}"
                );
                assert_eq!(found.bits_in_all(params.literal().scale_bits), bits);
            }
        }
    }

    #[test]
    fn a_narrow_sine_is_no_more_precise_for_a_wide_scale() {
        // One bit of the sine's scale is one of precision, up to what the scale of the results holds.
        for (wide_bits, bits) in [(46, 12), (48, 14), (55, 21), (56, 22), (58, 22)] {
            let need = Need { wide_bits, slots: 64, log_n: 10, insecure: true, ..Need::default() };
            let (params, config) = need.in_arrangement(1).unwrap();
            let (found, levels) = Bootstrap::laid_out(&params).unwrap();
            assert_eq!((found.bits, config.bits, levels), (bits, bits, need.levels), "{wide_bits}: {params}");
        }
    }

    #[test]
    fn a_sine_that_does_not_bring_back_results_is_refused() {
        let need = |scale_bits, wide_bits| Need {
            scale_bits,
            wide_bits,
            log_n: 10,
            slots: 64,
            insecure: true,
            ..Need::default()
        };
        let refused = |need: &Need| need.in_arrangement(1).unwrap_err();
        // Below 12 bits of precision, below the scale of the results and beyond what primes hold.
        for (scale_bits, wide_bits, least) in
            [(40, 45, 46), (30, 40, 46), (44, 49, 50), (52, 56, 57), (40, 59, 46)]
        {
            let wrong = CircuitError::Wide { wide_bits, scale_bits, least, most: 58 };
            assert_eq!(refused(&need(scale_bits, wide_bits)), wrong);
            assert_eq!(need(scale_bits, wide_bits).choose(&Bootstrap::default()).unwrap_err(), wrong);
            assert!(need(scale_bits, least).in_arrangement(1).is_ok(), "{scale_bits}, {least}");
        }
        assert_eq!(refused(&need(55, 58)), CircuitError::NeedScale { scale_bits: 55, most: 54 });
        assert!(need(54, 58).in_arrangement(1).is_ok());
    }
}
