//! The generator of rotations: in which order slots stand.
//!
//! The values of a polynomial at the odd powers of ψ are read in the order ψ^(g^i), i = 0, 1, …, N/2 − 1; the conjugates are
//! the other half. g = 5 is this project's choice, OpenFHE's and Lattigo's; g = 3 is SEAL's and HElib's. Rotating left by k
//! is X → X^(g^k). Residues are the same in both orders: only encoding, decoding and the elements of rotations differ.

use std::fmt;

use ringmill_ring::{GaloisElement, RingError};

/// The generator g of rotations modulo 2N, a part of the [parameters](crate::Params): what belongs to one generator does
/// not meet what belongs to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Generator {
    /// SEAL's.
    Three,
    /// This project's.
    #[default]
    Five,
}

impl Generator {
    /// g.
    pub const fn value(self) -> u64 {
        match self {
            Self::Three => 3,
            Self::Five => 5,
        }
    }

    /// The one with this value.
    pub const fn from_value(g: u64) -> Option<Self> {
        match g {
            3 => Some(Self::Three),
            5 => Some(Self::Five),
            _ => None,
        }
    }

    /// The rotation of N/2 slots to the left by `steps` (slot i receives slot i + steps), any sign and size.
    ///
    /// # Errors
    /// [`RingError::Degree`].
    pub fn rotation(self, steps: i64, log_n: u32) -> Result<GaloisElement, RingError> {
        if self == Self::Five {
            return GaloisElement::rotation(steps, log_n);
        }
        // Says what is wrong with the degree before it is a shift.
        GaloisElement::identity(log_n)?;
        let mut exponent = steps.rem_euclid(1 << (log_n - 1)) as u64;
        let (mut power, mut square, mask) = (1u64, self.value(), (2u64 << log_n) - 1);
        while exponent > 0 {
            if exponent & 1 == 1 {
                power = (power * square) & mask;
            }
            square = (square * square) & mask;
            exponent >>= 1;
        }
        GaloisElement::new(power, log_n)
    }

    /// The pair (steps, conjugates) with element = g^steps · (−1)^conjugates and 0 ≤ steps < N/2; unique.
    pub fn decompose(self, element: GaloisElement) -> (u32, bool) {
        if self == Self::Five {
            return element.decompose();
        }
        // Powers of 3 are 1 or 3 modulo 8, their negatives 7 or 5.
        let mask = (2u64 << element.log_n()) - 1;
        let conjugates = element.value() % 8 > 4;
        let target = if conjugates { element.value().wrapping_neg() & mask } else { element.value() };
        let (mut steps, mut power) = if target % 8 == 3 { (1, 3) } else { (0, 1) };
        // 3^(2^j) = 1 + 2^(j+2) mod 2^(j+3) from j = 1 on: bit j + 2 of what is left decides bit j of the exponent.
        let mut factor = 9u64;
        for j in 1..element.log_n() - 1 {
            if (power ^ target) >> (j + 2) & 1 == 1 {
                steps |= 1 << j;
                power = (power * factor) & mask;
            }
            factor = (factor * factor) & mask;
        }
        (steps, conjugates)
    }
}

impl fmt::Display for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.value())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_is_a_power_or_its_negative() {
        for generator in [Generator::Three, Generator::Five] {
            for log_n in [10, 11] {
                let (two_n, mut seen) = (2u64 << log_n, 0);
                let mut power = 1;
                for k in 0..1i64 << (log_n - 1) {
                    let element = generator.rotation(k, log_n).unwrap();
                    assert_eq!(element.value(), power);
                    assert_eq!(generator.decompose(element), (k as u32, false));
                    let negative = GaloisElement::new(two_n - power, log_n).unwrap();
                    assert_eq!(generator.decompose(negative), (k as u32, true));
                    power = power * generator.value() % two_n;
                    seen += 2;
                }
                // The order is N/2, so these were all odd numbers.
                assert_eq!((power, seen), (1, two_n / 2));
                assert_eq!(
                    generator.rotation(-3, log_n).unwrap(),
                    generator.rotation(3, log_n).unwrap().inverse()
                );
            }
        }
        assert!(matches!(Generator::Three.rotation(1, 2), Err(RingError::Degree { .. })));
    }
}
