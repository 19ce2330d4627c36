//! The Galois group of Z\[X\]/(X^N + 1): X → X^g for odd g modulo 2N.

use crate::{RingError, limb_ring::check_degree};
use std::fmt;

/// The automorphism X → X^g of the ring of degree N = 2^log_n, g odd modulo 2N.
///
/// Slots lie on the orbit of 5, which has order N/2: rotating left by k is g = 5^k, conjugation is g = −1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GaloisElement {
    g: u32,
    log_n: u32,
}

impl GaloisElement {
    /// The automorphism X → X^g; g counts modulo 2N.
    ///
    /// # Errors
    /// [`RingError::Degree`], [`RingError::EvenGalois`].
    pub fn new(g: u64, log_n: u32) -> Result<Self, RingError> {
        check_degree(log_n)?;
        if g.is_multiple_of(2) {
            return Err(RingError::EvenGalois { galois: g });
        }
        Ok(Self { g: g as u32 & Self::mask(log_n), log_n })
    }

    /// X → X.
    ///
    /// # Errors
    /// [`RingError::Degree`].
    pub fn identity(log_n: u32) -> Result<Self, RingError> {
        Self::new(1, log_n)
    }

    /// The rotation of N/2 slots to the left by `steps` (slot i receives slot i + steps), any sign and size.
    ///
    /// # Errors
    /// [`RingError::Degree`].
    pub fn rotation(steps: i64, log_n: u32) -> Result<Self, RingError> {
        check_degree(log_n)?;
        let exponent = steps.rem_euclid(1 << (log_n - 1)) as u64;
        Ok(Self { g: Self::pow_mod(5, exponent, log_n), log_n })
    }

    /// The conjugation of all slots.
    ///
    /// # Errors
    /// [`RingError::Degree`].
    pub fn conjugation(log_n: u32) -> Result<Self, RingError> {
        check_degree(log_n)?;
        Ok(Self { g: (2 << log_n) - 1, log_n })
    }

    /// g in [1, 2N).
    #[inline]
    pub const fn value(self) -> u64 {
        self.g as u64
    }

    /// log2 N.
    #[inline]
    pub const fn log_n(self) -> u32 {
        self.log_n
    }

    /// The automorphism that undoes this one.
    #[must_use]
    pub const fn inverse(self) -> Self {
        // The group has exponent N/2, so g^(N/2 − 1) is the inverse.
        Self { g: Self::pow_mod(self.g, (1 << (self.log_n - 1)) - 1, self.log_n), log_n: self.log_n }
    }

    /// This automorphism and then `other` (the group is commutative).
    ///
    /// # Errors
    /// [`RingError::DegreeMismatch`] if the degrees differ.
    pub fn compose(self, other: Self) -> Result<Self, RingError> {
        if self.log_n != other.log_n {
            return Err(RingError::DegreeMismatch { left: self.log_n, right: other.log_n });
        }
        Ok(Self { g: self.g.wrapping_mul(other.g) & Self::mask(self.log_n), log_n: self.log_n })
    }

    /// The pair (steps, conjugates) with g = 5^steps · (−1)^conjugates and 0 ≤ steps < N/2; unique.
    pub fn decompose(self) -> (u32, bool) {
        // Powers of 5 are 1 mod 4, their negatives 3 mod 4.
        let conjugates = self.g % 4 == 3;
        let target = if conjugates { self.g.wrapping_neg() & Self::mask(self.log_n) } else { self.g };
        // 5^(2^j) = 1 + 2^(j+2) mod 2^(j+3): bit j + 2 of the quotient so far decides bit j of the exponent.
        let (mut steps, mut power, mut factor) = (0, 1u32, 5u32);
        for j in 0..self.log_n - 1 {
            if (power ^ target) >> (j + 2) & 1 == 1 {
                steps |= 1 << j;
                power = power.wrapping_mul(factor);
            }
            factor = factor.wrapping_mul(factor);
        }
        (steps, conjugates)
    }

    const fn mask(log_n: u32) -> u32 {
        (2 << log_n) - 1
    }

    /// base^exponent mod 2N; products wrap at 2^32, a multiple of 2N.
    const fn pow_mod(base: u32, exponent: u64, log_n: u32) -> u32 {
        let (mut b, mut e, mut r) = (base, exponent, 1u32);
        while e > 0 {
            if e & 1 == 1 {
                r = r.wrapping_mul(b);
            }
            b = b.wrapping_mul(b);
            e >>= 1;
        }
        r & Self::mask(log_n)
    }
}

impl fmt::Display for GaloisElement {
    /// As "rotation by 3", "conjugation", or both, with g.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.decompose() {
            (0, false) => f.write_str("identity")?,
            (0, true) => f.write_str("conjugation")?,
            (k, false) => write!(f, "rotation by {k}")?,
            (k, true) => write!(f, "rotation by {k} and conjugation")?,
        }
        write!(f, " (Galois element {})", self.g)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotations_are_powers_of_five() {
        for log_n in [10, 13, 17] {
            let two_n = 2u64 << log_n;
            let mut g = 1;
            for k in 0..200 {
                let r = GaloisElement::rotation(k, log_n).unwrap();
                assert_eq!(r.value(), g);
                assert_eq!(r.decompose(), (k as u32, false));
                assert_eq!(GaloisElement::rotation(k - (1 << (log_n - 1)), log_n).unwrap(), r);
                assert_eq!(GaloisElement::rotation(-k, log_n).unwrap(), r.inverse());
                g = g * 5 % two_n;
            }
        }
    }

    #[test]
    fn every_element_decomposes_uniquely_and_has_its_inverse() {
        let log_n = 10;
        let one = GaloisElement::identity(log_n).unwrap();
        let conjugation = GaloisElement::conjugation(log_n).unwrap();
        let mut seen = std::collections::HashSet::new();
        for g in (1..2048).step_by(2) {
            let x = GaloisElement::new(g, log_n).unwrap();
            let (steps, conjugates) = x.decompose();
            assert!(steps < 512 && seen.insert((steps, conjugates)));
            let rotation = GaloisElement::rotation(steps.into(), log_n).unwrap();
            let again = if conjugates { rotation.compose(conjugation).unwrap() } else { rotation };
            assert_eq!(again, x);
            assert_eq!(g * x.inverse().value() % 2048, 1);
            assert_eq!(x.compose(x.inverse()).unwrap(), one);
        }
        assert_eq!(seen.len(), 1024);
    }

    #[test]
    fn wrong_elements_are_named() {
        assert_eq!(GaloisElement::new(4, 10), Err(RingError::EvenGalois { galois: 4 }));
        assert_eq!(GaloisElement::new(2051, 10), GaloisElement::new(3, 10));
        assert!(matches!(GaloisElement::rotation(1, 2), Err(RingError::Degree { .. })));
        let (a, b) = (GaloisElement::rotation(1, 10).unwrap(), GaloisElement::rotation(1, 11).unwrap());
        assert_eq!(a.compose(b), Err(RingError::DegreeMismatch { left: 10, right: 11 }));
        assert_eq!(b.to_string(), "rotation by 1 (Galois element 5)");
        assert_eq!(GaloisElement::conjugation(10).unwrap().to_string(), "conjugation (Galois element 2047)");
    }
}
