//! Parameters for bootstrapping, by need.
//!
//! | levels, from the bottom | primes |
//! |---|---|
//! | 0 | the base, which a raise starts from |
//! | 1 | of the scale: brings every operand to the base's scale |
//! | levels left | of the scale |
//! | the way back to slots but its first map | ten bits wider: what errs here is still multiplied by sums over slots |
//! | the first map on the way back, and the sine | wide: errors of the sine are errors of coefficients, √N as large in slots |
//! | slots to coefficients | wide |

use ringmill_ckks::params::{MAX_LOG_N, MAX_PRIMES, MIN_LOG_N, SecurityTable};
use ringmill_ckks::{Params, ParamsError, ParamsLiteral, Secret};

use super::Bootstrap;
use crate::CircuitError;

/// Bits of the primes on the way back to slots beyond the scale.
const BACK_BITS: u32 = 10;

/// Bits of P beyond the largest digit: the error of a key switch then vanishes beside the rounding that ends it.
const SPARE_BITS: u32 = 5;

/// What is wanted of a chain that bootstraps.
#[derive(Debug, Clone, PartialEq)]
pub struct Need {
    /// Levels that a bootstrapped ciphertext has for computing.
    pub levels: u32,
    /// log2 of the scale.
    pub scale_bits: u32,
    /// log2 of the primes of the sine and of the maps before it: 50 where the machine is fastest, 60 for most precision.
    pub wide_bits: u32,
    /// Slots of a vector.
    pub slots: usize,
    /// The least log2 N.
    pub log_n: u32,
    /// Accept less than 128 bits of security at that very degree: for tests alone.
    pub insecure: bool,
}

impl Default for Need {
    /// Nine levels of 40 bits in full slots of N = 2^16.
    fn default() -> Self {
        Self { levels: 9, scale_bits: 40, wide_bits: 58, slots: 1 << 15, log_n: 16, insecure: false }
    }
}

impl Need {
    /// The smallest ring that meets the need at 128 bits, and in it the number of digits with the cheapest key switch.
    ///
    /// # Errors
    /// [`CircuitError::Params`] names what stands in the way; [`CircuitError::Degree`] for a sine that is too wide.
    pub fn choose(&self, bootstrap: &Bootstrap) -> Result<Params, CircuitError> {
        let unmet = |why: String| CircuitError::Params(ParamsError::Unmet { max_log_n: MAX_LOG_N, why });
        let depth = bootstrap.depth(self.slots)?;
        let q = self.chain(bootstrap, depth);
        if q.len() > MAX_PRIMES {
            return Err(unmet(format!(
                "{} levels and the bootstrapping need {} primes",
                self.levels,
                q.len()
            )));
        }
        let least = (2 * self.slots.max(1)).trailing_zeros().max(MIN_LOG_N).max(self.log_n);
        for log_n in least..=MAX_LOG_N {
            let limit = match self.insecure {
                true => Some(u32::MAX),
                false => SecurityTable::Guidelines2024.limit(log_n, Secret::Ternary, 128),
            };
            if let Some(params) = limit.and_then(|limit| self.cheapest(log_n, &q, limit)) {
                return Ok(params);
            }
        }
        let bits: u32 = q.iter().sum();
        Err(unmet(format!(
            "{} levels at scale 2^{} and a bootstrapping of {depth} levels need a modulus of {bits} bits before special \
             primes; ask for fewer levels or narrower primes",
            self.levels, self.scale_bits
        )))
    }

    /// Sizes of the ciphertext primes.
    fn chain(&self, bootstrap: &Bootstrap, depth: u32) -> Vec<u32> {
        let stages = self.slots.trailing_zeros().max(1) as usize;
        let back = bootstrap.to_slots.clamp(1, stages) as u32 - 1;
        let between = (self.scale_bits + BACK_BITS).min(self.wide_bits);
        let mut q = vec![self.wide_bits];
        q.extend(std::iter::repeat_n(self.scale_bits, self.levels as usize + 1));
        q.extend(std::iter::repeat_n(between, back as usize));
        q.extend(std::iter::repeat_n(self.wide_bits, (depth - back) as usize));
        q
    }

    /// Of the digits whose key switch fits `limit` bits, those of fewest transforms.
    fn cheapest(&self, log_n: u32, q: &[u32], limit: u32) -> Option<Params> {
        let log_q: u32 = q.iter().sum();
        let mut best: Option<(usize, Params)> = None;
        for dnum in 1..=q.len() {
            let alpha = q.len().div_ceil(dnum);
            let digit = q.chunks(alpha).map(|d| d.iter().sum::<u32>()).max()? + SPARE_BITS;
            let special = special(digit, self.wide_bits);
            let transforms = (dnum + 2) * (q.len() + special.len());
            let better = best.as_ref().is_none_or(|(least, _)| transforms < *least);
            if q.len().div_ceil(alpha) != dnum || log_q + special.iter().sum::<u32>() > limit || !better {
                continue;
            }
            let literal = ParamsLiteral {
                scale_bits: self.scale_bits,
                insecure: self.insecure,
                ..ParamsLiteral::from_bits(log_n, q, &special, dnum)
            };
            if let Ok(params) = Params::new(&literal) {
                best = Some((transforms, params));
            }
        }
        best.map(|(_, params)| params)
    }
}

/// Special primes of at least `digit` bits in all, none wider than `wide`.
fn special(digit: u32, wide: u32) -> Vec<u32> {
    let count = digit.div_ceil(wide).max(1);
    let (each, wider) = (digit / count, digit % count);
    (0..count).map(|i| (each + u32::from(i < wider)).max(20)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_for_full_slots_are_secure() {
        let bootstrap = Bootstrap::default();
        for wide_bits in [50, 55, 58, 60] {
            let need = Need { wide_bits, ..Need::default() };
            let params = need.choose(&bootstrap).unwrap();
            assert_eq!(params.log_n(), 16, "{params}");
            assert_eq!(params.security().category(), Some(128), "{params}");
            let top = need.levels + 1 + bootstrap.depth(need.slots).unwrap();
            assert_eq!(params.max_level().get(), top, "{params}");
        }
    }

    #[test]
    fn a_smaller_ring_holds_fewer_levels() {
        let bootstrap = Bootstrap { to_coefficients: 2, to_slots: 2, ..Bootstrap::default() };
        let need =
            Need { levels: 2, scale_bits: 34, wide_bits: 46, slots: 1 << 8, log_n: 15, insecure: false };
        let params = need.choose(&bootstrap).unwrap();
        assert_eq!(params.log_n(), 15, "{params}");
        assert_eq!(params.security().category(), Some(128));
        assert!(matches!(Need { levels: 60, ..need }.choose(&bootstrap), Err(CircuitError::Params(_))));
    }
}
