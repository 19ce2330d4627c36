//! Parameters for bootstrapping, by need.
//!
//! | levels, from the bottom | primes |
//! |---|---|
//! | 0 | the base, which a raise starts from |
//! | those of the way to coefficients | of the scale |
//! | levels left | of the scale |
//! | the sine, from its last product up | what brings its scale to that of the result, narrow ones, four for its argument |
//! | the way to slots | narrow |
//!
//! An error of the sine's argument y grows by 2πR; one of t = 2y² − 1 by 2πR/4|y|, which is sixteen times as much where |y| is least;
//! of T_2(t), T_4(t) … by a quarter of that each time. But y has the errors of all rotations of the last map. So the scale of t is three
//! bits above that of y, and falls by two from product to product; by one where scales are wide.

use ringmill_ckks::params::word::{sizes, split};
use ringmill_ckks::params::{MAX_LOG_N, MAX_PRIMES, MIN_LOG_N, SecurityTable, encapsulation_limit};
use ringmill_ckks::{Level, Params, ParamsError, ParamsLiteral, Secret};

use super::iterated::{ITERATIONS_MAX, each};
use super::{Bootstrap, LEAST_BITS, PRECISION_BELOW};
use crate::CircuitError;

/// Bits of the base beyond the scale: what a raise starts from is more precise than what comes out.
const BASE_BITS: u32 = 10;

/// The widest prime.
pub(super) const WIDEST: u32 = 60;

/// The narrowest.
pub(super) const LEAST: u32 = 20;

/// The widest primes whose arithmetic is the fastest there is.
const FAST: u32 = 50;

/// Bits by which the scales of t, T_2(t) and T_4(t) are above that of the products that follow; y is half as far above as t.
const RISE: [u32; 3] = [6, 4, 2];

/// The same where the sine's scale is so wide that the primes of the others are slow anyway: what follows the argument is then two bits
/// more precise.
const FLAT: [u32; 3] = [4, 3, 2];

/// Bits of P beyond the largest digit: the error of a key switch then vanishes beside the rounding that ends it.
const SPARE_BITS: u32 = 5;

/// The table by which needs are met.
const TABLE: SecurityTable = SecurityTable::Guidelines2024;

/// The fewest slots that three maps each way are made for.
const LEAST_SLOTS: usize = 4;

/// The most levels of a transform.
const TRANSFORMS_MOST: usize = 6;

/// Stages that one map holds at most: 511 diagonals.
const STAGES_MOST: usize = 8;

/// The most slots of any ring.
const MOST_SLOTS: usize = 1 << (MAX_LOG_N - 1);

/// What is wanted of a chain that bootstraps.
#[derive(Debug, Clone, PartialEq)]
pub struct Need {
    /// Levels that a bootstrapped ciphertext has for computing.
    pub levels: u32,
    /// log2 of the scale.
    pub scale_bits: u32,
    /// log2 of the scale of the first product of the sine: each bit is one of precision.
    pub wide_bits: u32,
    /// Slots of a vector: a power of two from 4 to 2^16.
    pub slots: usize,
    /// The least log2 N.
    pub log_n: u32,
    /// Accept less than 128 bits of security at that very degree: for tests alone.
    pub insecure: bool,
    /// Levels of each transform, to coefficients and to slots, 1 to 6 as far as the slots take them; two or three, whichever suit the
    /// ring, if `None`. For [`arranged`](Self::arranged).
    pub transforms: Option<usize>,
    /// Whether the sine is corrected by the arcsine; whichever suits the ring if `None`. For [`arranged`](Self::arranged).
    pub arcsine: Option<bool>,
    /// The word of a machine, 20 to 60 bits: every prime is below 2^word. A level then has as many primes as it takes, and the scale is
    /// the next wider one whose primes are not too few. For [`arranged`](Self::arranged).
    pub word: Option<u32>,
}

impl Default for Need {
    /// Nine levels of 40 bits in full slots of N = 2^16.
    fn default() -> Self {
        Self {
            levels: 9,
            scale_bits: 40,
            wide_bits: 56,
            slots: 1 << 15,
            log_n: 16,
            insecure: false,
            transforms: None,
            arcsine: None,
            word: None,
        }
    }
}

/// Bits of the sine's scale beyond those of the result: the growth of its errors, and the margin.
pub(super) const WIDE_ABOVE: u32 = 34;

/// The widest scale of the sine: the primes of its argument are then as wide as primes may be.
pub(super) const WIDE_MOST: u32 = WIDEST - 2;

/// The widest scale of results: that of the sine is above it.
pub(super) const SCALE_MOST: u32 = WIDE_MOST - FLAT[0];

/// The most bits that a number of iterations gives.
pub const fn most_bits(iterations: u32) -> u32 {
    if iterations == 1 { WIDE_MOST - WIDE_ABOVE } else { SCALE_MOST - PRECISION_BELOW }
}

impl Need {
    /// The need of results that err by less than 2^−`bits` in every slot, for messages up to 1 in full slots of N = 2^16; fewer slots
    /// and smaller rings err less. Bootstrap with [`Bootstrap::precise`] of its scale.
    ///
    /// # Errors
    /// [`CircuitError::Precision`] if bits are not between 12 and 24.
    pub fn precise(self, bits: u32) -> Result<Self, CircuitError> {
        self.iterated(bits, 1)
    }

    /// The same by `iterations` bootstrappings in a row, each of the error that the ones before it left: up
    /// to 36 bits by two.
    ///
    /// # Errors
    /// [`CircuitError::Precision`] beyond what the iterations give, [`CircuitError::Iterations`].
    pub fn iterated(self, bits: u32, iterations: u32) -> Result<Self, CircuitError> {
        if !(1..=ITERATIONS_MAX).contains(&iterations) {
            return Err(CircuitError::Iterations { iterations, most: ITERATIONS_MAX });
        }
        let most = most_bits(iterations);
        if !(LEAST_BITS..=most).contains(&bits) {
            return Err(CircuitError::Precision { bits, least: LEAST_BITS, most });
        }
        let scale_bits = bits + PRECISION_BELOW;
        Ok(Self { scale_bits, wide_bits: wide(scale_bits, each(bits, iterations)), ..self })
    }

    /// The same with results at another scale, and a sine wide enough for them.
    #[must_use]
    pub fn at_scale(self, scale_bits: u32) -> Self {
        Self { scale_bits, wide_bits: self.wide_bits.max(least_wide(scale_bits)), ..self }
    }

    /// The smallest ring that meets the need at 128 bits, and in it the number of digits with the cheapest key switch.
    ///
    /// # Errors
    /// [`CircuitError::Params`] names what stands in the way; [`CircuitError::Degree`] for a sine that is too wide;
    /// [`CircuitError::NeedSlots`], [`CircuitError::NeedScale`], [`CircuitError::Wide`].
    pub fn choose(&self, bootstrap: &Bootstrap) -> Result<Params, CircuitError> {
        self.check()?;
        let max_log_n = *self.rings().end();
        let unmet = |why: String| CircuitError::Params(ParamsError::Unmet { max_log_n, why });
        let depth = bootstrap.depth()?;
        let q = self.chain(bootstrap, depth);
        if q.len() > MAX_PRIMES {
            return Err(unmet(format!(
                "{} levels and the bootstrapping need {} primes",
                self.levels,
                q.len()
            )));
        }
        let mut scarce = None;
        for log_n in self.rings() {
            match self.cheapest(log_n, &q) {
                Ok(params) => return Ok(params),
                Err(why) => scarce = why,
            }
        }
        let bits: u32 = q.iter().sum();
        Err(unmet(match scarce {
            Some(why) => format!("{why}; ask for fewer levels or another scale"),
            None => format!(
                "{} levels at scale 2^{} and a bootstrapping of {depth} levels need a modulus of {bits} bits before special \
                 primes; ask for fewer levels or narrower primes",
                self.levels, self.scale_bits
            ),
        }))
    }

    pub(super) fn check(&self) -> Result<(), CircuitError> {
        self.check_slots()?;
        self.check_transforms()?;
        self.check_word()?;
        let (scale_bits, wide_bits) = (self.scale_bits, self.wide_bits);
        if scale_bits > SCALE_MOST {
            return Err(CircuitError::NeedScale { scale_bits, most: SCALE_MOST });
        }
        let (least, most) = (wide(scale_bits, LEAST_BITS), WIDE_MOST);
        if !(least..=most).contains(&wide_bits) {
            return Err(CircuitError::Wide { wide_bits, scale_bits, least, most });
        }
        Ok(())
    }

    fn check_word(&self) -> Result<(), CircuitError> {
        let (min, max) = (LEAST, WIDEST);
        match self.word {
            Some(word) if !(min..=max).contains(&word) => Err(ParamsError::Word { word, min, max }.into()),
            _ => Ok(()),
        }
    }

    fn check_slots(&self) -> Result<(), CircuitError> {
        let (slots, least, most) = (self.slots, LEAST_SLOTS, MOST_SLOTS);
        if slots.is_power_of_two() && (least..=most).contains(&slots) {
            return Ok(());
        }
        let nearest = match slots {
            few if few < least => least.to_string(),
            many if many > most => most.to_string(),
            _ => format!("{} or {}", slots.next_power_of_two() / 2, slots.next_power_of_two()),
        };
        Err(CircuitError::NeedSlots { slots, least, most, nearest })
    }

    fn check_transforms(&self) -> Result<(), CircuitError> {
        let stages = self.slots.trailing_zeros() as usize;
        let (least, most) = (stages.div_ceil(STAGES_MOST).max(1), TRANSFORMS_MOST.min(stages + 1));
        match self.transforms {
            Some(levels) if !(least..=most).contains(&levels) => {
                Err(CircuitError::Transforms { levels, slots: self.slots, least, most })
            }
            _ => Ok(()),
        }
    }

    /// Degrees that may do, the least first.
    pub(super) fn rings(&self) -> std::ops::RangeInclusive<u32> {
        let least = (2 * self.slots).trailing_zeros().max(MIN_LOG_N).max(self.log_n);
        least..=if self.insecure { least } else { MAX_LOG_N }
    }

    /// Whether the word is narrower than some level.
    pub(super) fn has_narrow_primes(&self) -> bool {
        self.word.is_some_and(|word| word < self.base())
    }

    /// Bits of level 0.
    fn base(&self) -> u32 {
        (self.scale_bits + BASE_BITS).min(WIDEST)
    }

    fn rise(&self) -> [u32; 3] {
        if self.wide_bits > FAST + RISE[0] { FLAT } else { RISE }
    }

    /// What `wide_bits` may be in a chain whose topmost primes have `narrow` bits.
    pub(super) fn wide_of(narrow: u32) -> impl Iterator<Item = u32> {
        [RISE, FLAT].into_iter().map(move |rise| narrow + rise[0])
    }

    /// Bits of the primes of the maps towards slots and of most products.
    fn narrow(&self) -> u32 {
        self.wide_bits.saturating_sub(self.rise()[0])
    }

    /// Sizes of the ciphertext primes.
    pub(super) fn chain(&self, bootstrap: &Bootstrap, depth: u32) -> Vec<u32> {
        let narrow = self.narrow();
        let maps = bootstrap.to_slots.max(1);
        let mut sine = descent(self.scale_bits, narrow);
        let argument = argument(narrow, self.rise());
        sine.resize((depth as usize).saturating_sub(maps + argument.len()), narrow);
        sine.extend(argument);
        let mut q = vec![self.base()];
        // Ciphertexts of more slots take as many levels on their way to coefficients as there are transforms; of so few, fewer.
        let start = bootstrap.to_coefficients.max(1);
        q.extend(std::iter::repeat_n(self.scale_bits, start + self.levels as usize));
        q.extend(sine);
        q.extend(std::iter::repeat_n(narrow, maps));
        q
    }

    /// Of the digits whose key switch fits 128 bits of security, those of fewest transforms; of none, why primes could not be
    /// had, if that was it.
    pub(super) fn cheapest(&self, log_n: u32, q: &[u32]) -> Result<Params, Option<ParamsError>> {
        let limit = match self.insecure {
            true => u32::MAX,
            false => TABLE.limit(log_n, Secret::Ternary, 128).ok_or(None)?,
        };
        let log_q: u32 = q.iter().sum();
        let (levels, primes) = self.primes(log_n, log_q < limit, q)?;
        let q = &primes[..];
        let (mut best, mut scarce): (Option<(usize, Params)>, _) = (None, None);
        for dnum in 1..=q.len() {
            let alpha = q.len().div_ceil(dnum);
            let Some(digit) = q.chunks(alpha).map(|d| d.iter().sum::<u32>()).max() else { continue };
            for (first, spare) in self.firsts(log_n, q, &levels) {
                let room = limit.saturating_sub(log_q);
                let special = match self.word {
                    Some(word) => {
                        let mut special = split(digit + spare, word);
                        special[0] = special[0].max(first);
                        special
                    }
                    None => special(digit + spare, FAST.min(self.wide_bits), first, room),
                };
                let transforms = (dnum + 2) * (q.len() + special.len());
                let better = best.as_ref().is_none_or(|(least, _)| transforms < *least);
                if q.len().div_ceil(alpha) != dnum || log_q + special.iter().sum::<u32>() > limit || !better {
                    continue;
                }
                let literal = ParamsLiteral {
                    scale_bits: self.scale_bits,
                    insecure: self.insecure,
                    levels: levels.clone(),
                    ..ParamsLiteral::from_bits(log_n, q, &special, dnum)
                };
                let made = match self.word {
                    Some(word) => Params::within(word, &literal).and_then(|params| {
                        params.check_drift(self.highest(&params))?;
                        Ok(params)
                    }),
                    None => Params::new(&literal),
                };
                match made {
                    Ok(params) if self.serves(&params) => {
                        best = Some((transforms, params));
                        break;
                    }
                    Ok(_) => {}
                    Err(why) => scarce = Some(why),
                }
            }
        }
        best.map(|(_, params)| params).ok_or(scarce)
    }

    /// Primes of each level, none for one each, and the sizes of all. A chain that a ring does not hold anyway is not looked up.
    fn primes(
        &self,
        log_n: u32,
        holds: bool,
        q: &[u32],
    ) -> Result<(Vec<usize>, Vec<u32>), Option<ParamsError>> {
        match self.word {
            None => Ok((Vec::new(), q.to_vec())),
            Some(_) if !holds => Err(None),
            Some(word) => {
                let all = sizes(q, word, log_n).map_err(Some)?;
                Ok((all.iter().map(Vec::len).collect(), all.concat()))
            }
        }
    }

    /// The highest level of the scale, at which bootstrapped ciphertexts come out.
    fn highest(&self, params: &Params) -> Level {
        let near =
            |level: &Level| (params.level_scale(*level).log2() - f64::from(self.scale_bits)).abs() < 1.0;
        (1..=params.max_level().get()).map(Level::new).take_while(near).last().unwrap_or(Level::ZERO)
    }

    /// Whether all keys of these parameters may be drawn.
    fn serves(&self, params: &Params) -> bool {
        self.insecure || params.keeps(TABLE, 128) && params.may_encapsulate()
    }

    /// Bits of p_0 and of P beyond the largest digit, in the order of preference.
    ///
    /// p_0 holds the constants of the maps as one limb each; their scale is that of the primes there. If keys
    /// under the ephemeral secret leave fewer bits than that, p_0 takes those, provided that it covers q_0.
    fn firsts(&self, log_n: u32, q: &[u32], levels: &[usize]) -> Vec<(u32, u32)> {
        let first = (self.narrow() + 2).min(if self.rise() == FLAT { WIDEST } else { FAST });
        let first = first.min(self.word.unwrap_or(WIDEST));
        let mut all = vec![(first, SPARE_BITS), (first, SPARE_BITS - 1)];
        let base = &q[..levels.first().copied().unwrap_or(1)];
        let (base, widest) = (base.iter().sum::<u32>(), base.iter().max().copied().unwrap_or(0));
        if let Some(left) =
            encapsulation_limit(log_n).and_then(|limit| limit.checked_sub(base)).filter(|_| !self.insecure)
        {
            // One bit less for primes that are a hair above their sizes.
            let narrower =
                [left, left.saturating_sub(1)].into_iter().filter(|&left| left < first && left >= widest);
            all.extend(narrower.flat_map(|left| [(left, SPARE_BITS), (left, SPARE_BITS - 1)]));
        }
        all
    }
}

/// log2 of the sine's scale for results at a scale of `scale_bits` bits and iterations precise to `bits`.
pub(super) fn wide(scale_bits: u32, bits: u32) -> u32 {
    least_wide(scale_bits).max(bits + WIDE_ABOVE)
}

/// The least: the sine's last product ends at the scale of the result, which is no wider than the sine's narrow primes.
fn least_wide(scale_bits: u32) -> u32 {
    if scale_bits <= FAST { scale_bits + RISE[0] } else { (scale_bits + FLAT[0]).max(FAST + RISE[0] + 1) }
}

/// The primes, from the bottom, of the products T_4(t)², T_2(t)², t² and y²: 2Δ − Δ' bits from Δ to Δ'.
fn argument(narrow: u32, rise: [u32; 3]) -> [u32; 4] {
    let [t, second, fourth] = rise.map(|rise| narrow + rise);
    [2 * fourth - narrow, 2 * second - fourth, 2 * t - second, 2 * (narrow + rise[0] / 2) - t]
}

/// The primes, from the bottom, that bring products from scale 2^`wide` to 2^`narrow`: Δ²/q at a time, each q at most [`WIDEST`].
fn descent(narrow: u32, wide: u32) -> Vec<u32> {
    let (mut below, mut primes) = (narrow, Vec::new());
    while below < wide.min(WIDEST - 1) {
        let above = ((below + WIDEST) / 2).min(wide);
        primes.push(2 * above - below);
        below = above;
    }
    primes
}

/// Special primes of at least `digit` bits in all, the first of at least `first`, the others no wider than `wide`; all as wide
/// as that if `room` bits hold them.
fn special(digit: u32, wide: u32, first: u32, room: u32) -> Vec<u32> {
    let count = digit.div_ceil(wide).max(1);
    let mut primes = vec![wide; count as usize];
    primes[0] = wide.max(first);
    if count * wide <= room {
        return primes;
    }
    primes[0] = first.max(digit.div_ceil(count));
    let (left, others) = (digit.saturating_sub(primes[0]), count - 1);
    for (i, prime) in (0..).zip(&mut primes[1..]) {
        *prime = (left / others + u32::from(i < left % others)).max(LEAST);
    }
    primes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_for_full_slots_are_secure() {
        let bootstrap = Bootstrap::default();
        for wide_bits in [52, 54, 56, 58] {
            let need = Need { wide_bits, ..Need::default() };
            let params = need.choose(&bootstrap).unwrap();
            assert_eq!(params.log_n(), 16, "{params}");
            assert_eq!(params.security().category(), Some(128), "{params}");
            let top = need.levels + bootstrap.start(need.slots) + bootstrap.depth().unwrap();
            assert_eq!(params.max_level().get(), top, "{params}");
        }
    }

    #[test]
    fn the_sine_runs_from_the_wide_scale_to_that_of_the_result() {
        assert_eq!(descent(40, 50), [60]);
        assert_eq!(argument(50, RISE), [54, 56, 58, 50]);
        assert_eq!(argument(54, FLAT), [58, 58, 59, 54]);
        assert_eq!(descent(45, 58), [59, 60, 60]);
        for (narrow, wide) in [(40, 50), (40, 47), (45, 58), (53, 58), (40, 59), (50, 50)] {
            let scale = descent(narrow, wide).iter().rev().fold(wide, |scale, q| 2 * scale - q);
            assert_eq!(scale, narrow, "{narrow} from {wide}");
        }
    }

    #[test]
    fn a_wanted_precision_sets_scales_and_margin() {
        let need = |bits| Need::default().precise(bits).unwrap();
        assert_eq!((need(22).scale_bits, need(22).wide_bits), (40, 56));
        let room = |bits| Bootstrap::default().precise(&need(bits)).room;
        assert_eq!([16, 19, 22, 24].map(room), [6, 6, 7, 8]);
        for bits in 12..=24 {
            let bend = Bootstrap::default().precise(&need(bits)).bend();
            assert!(bend < 2f64.powi(-(bits as i32)), "{bits}: {bend:e}");
            let params = need(bits).choose(&Bootstrap::default()).unwrap();
            assert_eq!(params.security().category(), Some(128), "{params}");
            assert_eq!(params.log_n(), 16);
        }
        for bits in [11, 25] {
            let refused = Need::default().precise(bits);
            assert!(
                matches!(refused, Err(CircuitError::Precision { least: 12, most: 24, .. })),
                "{refused:?}"
            );
        }
    }

    #[test]
    fn slots_that_no_ring_packs_are_refused_with_the_nearest() {
        let asked = |slots| Need { slots, levels: 1, log_n: 10, insecure: true, ..Need::default() };
        for (slots, near) in [
            (0, "4"),
            (2, "4"),
            (3, "4"),
            (5, "4 or 8"),
            (65_535, "32768 or 65536"),
            (65_537, "65536"),
            (1 << 17, "65536"),
            (usize::MAX, "65536"),
        ] {
            let refused = asked(slots).choose(&Bootstrap::default()).unwrap_err();
            assert!(refused.to_string().ends_with(&format!("from 4 to 65536: take {near}")), "{refused}");
            assert_eq!(asked(slots).arranged(12, 1).unwrap_err(), refused);
        }
        for (slots, log_n) in [(4, 10), (1 << 10, 11)] {
            assert_eq!(asked(slots).choose(&Bootstrap::default()).unwrap().log_n(), log_n);
        }
    }

    #[test]
    fn a_smaller_ring_holds_fewer_levels() {
        let bootstrap = Bootstrap { to_coefficients: 2, to_slots: 2, ..Bootstrap::default() };
        let need =
            Need { levels: 2, scale_bits: 34, wide_bits: 46, slots: 1 << 8, log_n: 15, ..Need::default() };
        let params = need.choose(&bootstrap).unwrap();
        assert_eq!(params.log_n(), 15, "{params}");
        assert_eq!(params.security().category(), Some(128));
        assert!(matches!(Need { levels: 60, ..need }.choose(&bootstrap), Err(CircuitError::Params(_))));
    }
}
