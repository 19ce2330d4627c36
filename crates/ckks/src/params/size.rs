//! The size of a modulus: what security is decided on.

use std::fmt;

use ringmill_ring::Modulus;

use super::product;

/// The size of a product of primes. Limits are held to the exact integer, so that code that chooses primes and code that
/// checks them decide alike; the logarithm is for display and estimates.
///
/// Prints log2 with one decimal; beside a limit, [`beside`](Self::beside).
#[derive(Clone, Copy, PartialEq)]
pub struct ModulusSize {
    log2: f64,
    /// Least integer b with modulus ≤ 2^b.
    ceiling: u32,
}

impl ModulusSize {
    /// Of the product of these primes; of none, that of 1.
    pub fn of<'a>(primes: impl IntoIterator<Item = &'a Modulus>) -> Self {
        Self::of_factors(primes.into_iter().map(|m| m.value()))
    }

    /// Of a product of integers that are not 0.
    pub(super) fn of_factors(factors: impl IntoIterator<Item = u64>) -> Self {
        let factors: Vec<u64> = factors.into_iter().collect();
        // The sum of nothing is −0.
        let log2 = factors.iter().map(|&q| (q as f64).log2()).sum::<f64>() + 0.0;
        let words = product(factors);
        let (top, below) = words.split_last().map_or((1, &[][..]), |(top, below)| (*top, below));
        let bits = 64 * below.len() as u32 + (64 - top.leading_zeros());
        // A power of two, which no product of these primes is but 1.
        let power = top.is_power_of_two() && below.iter().all(|&w| w == 0);
        Self { log2, ceiling: bits - u32::from(power) }
    }

    /// log2 of the modulus, rounded to a binary64.
    pub fn log2(self) -> f64 {
        self.log2
    }

    /// Whether the modulus is at most 2^`limit`: the comparison behind every claim and every refusal.
    pub fn within(self, limit: u32) -> bool {
        self.ceiling <= limit
    }

    /// log2 with one decimal, on that side of a limit on which the modulus is, however near.
    pub fn beside(self, limit: u32) -> String {
        let (tenths, limit) = ((self.log2 * 10.0).round() / 10.0, f64::from(limit));
        match self.within(limit as u32) {
            true => format!("{:.1}", tenths.min(limit)),
            false => format!("{:.1}", tenths.max(limit + 0.1)),
        }
    }
}

/// The logarithm, as errors have it among their fields.
impl fmt::Debug for ModulusSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.log2)
    }
}

impl fmt::Display for ModulusSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1}", self.log2)
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;
    use proptest::prelude::*;
    use ringmill_ring::primes::{Side, nearest};

    use super::*;

    /// Primes next to 2^bits, so that products come next to powers of two from either side.
    fn primes(bits: u32, log_n: u32, count: usize, side: Side) -> Vec<Modulus> {
        nearest(1 << bits, log_n, count, side, &[]).unwrap()
    }

    #[test]
    fn one_is_within_all() {
        let one = ModulusSize::of(&[]);
        assert!(one.within(0));
        assert_eq!(one.to_string(), "0.0");
    }

    proptest! {
        #[test]
        fn limits_are_held_to_the_integer_and_what_is_printed_agrees(
            chain in proptest::collection::vec((21u32..=60, 0usize..6), 1..30), log_n in 10u32..=15, above in any::<bool>()
        ) {
            let side = |bits| if bits < 60 && above { Side::Alternating } else { Side::Below };
            let chosen: Vec<Modulus> =
                chain.iter().filter_map(|&(bits, i)| primes(bits.max(log_n + 8), log_n, 6, side(bits)).get(i).copied()).collect();
            let modulus: BigUint = chosen.iter().map(|m| BigUint::from(m.value())).product();
            let size = ModulusSize::of(&chosen);
            for limit in modulus.bits().saturating_sub(2) as u32..=modulus.bits() as u32 + 1 {
                let fits = modulus <= BigUint::from(1u8) << limit;
                prop_assert_eq!(size.within(limit), fits, "{} primes, 2^{}", chosen.len(), limit);
                let printed: f64 = size.beside(limit).parse().unwrap();
                prop_assert!((printed - size.log2()).abs() < 0.1001, "{} beside {}", printed, limit);
                prop_assert_eq!(printed <= f64::from(limit), fits, "{} beside {}", printed, limit);
            }
        }
    }
}
