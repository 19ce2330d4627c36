//! Predicted beside measured error.

use std::fmt;

use num_complex::Complex64;

use crate::ciphertext::Meta;
use crate::error::CkksError;

/// The error of decrypted slots, as predicted and as measured against known values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// log2 of the bound that was predicted, in units of the message.
    pub predicted_log2: f64,
    /// log2 of the greatest |got − expected|; −∞ if nothing differs.
    pub measured_log2: f64,
    /// The slot where it occurs.
    pub slot: usize,
}

impl Comparison {
    /// Whether the measured error stays within the prediction.
    pub fn holds(&self) -> bool {
        self.measured_log2 <= self.predicted_log2
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { predicted_log2, measured_log2, slot } = self;
        write!(f, "error 2^{measured_log2:.1} (slot {slot}), predicted 2^{predicted_log2:.1}")
    }
}

impl Meta {
    /// Compares decrypted slots with what they should be.
    ///
    /// # Errors
    /// [`CkksError::Ring`] if the two do not have as many values, or not as many as there are slots. Slots that are
    /// not finite measure as +∞.
    pub fn compare(&self, got: &[Complex64], expected: &[Complex64]) -> Result<Comparison, CkksError> {
        for (what, got) in [("decrypted slots", got.len()), ("expected slots", expected.len())] {
            if got != self.slots {
                return Err(ringmill_ring::RingError::Count { what, expected: self.slots, got }.into());
            }
        }
        let error = |(a, b): (&Complex64, &Complex64)| Some((a - b).norm()).filter(|e| !e.is_nan());
        let errors = got.iter().zip(expected).map(|pair| error(pair).unwrap_or(f64::INFINITY));
        let (slot, worst) =
            errors.enumerate().fold((0, 0.0), |best, now| if now.1 > best.1 { now } else { best });
        Ok(Comparison { predicted_log2: self.error_log2(), measured_log2: worst.log2(), slot })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::Noise;
    use crate::params::Level;
    use crate::scale::Scale;

    #[test]
    fn the_worst_slot_is_found() {
        let noise = Noise::encoded(1.0, &Scale::pow2(30), 1);
        let meta = Meta { level: Level::ZERO, scale: Scale::pow2(30), slots: 4, noise };
        let expected: Vec<_> = (0..4).map(|i| Complex64::new(f64::from(i), -1.0)).collect();
        let mut got = expected.clone();
        assert_eq!(meta.compare(&got, &expected).unwrap().measured_log2, f64::NEG_INFINITY);
        got[1].re += 2f64.powi(-40);
        got[2].im -= 2f64.powi(-30);
        let c = meta.compare(&got, &expected).unwrap();
        assert_eq!((c.measured_log2, c.slot), (-30.0, 2));
        assert_eq!(c.predicted_log2, meta.error_log2());
        assert!(c.holds() && c.to_string().starts_with("error 2^-30.0 (slot 2), predicted 2^-"), "{c}");
        got[3].re = f64::NAN;
        let c = meta.compare(&got, &expected).unwrap();
        assert!(c.measured_log2 == f64::INFINITY && c.slot == 3 && !c.holds());
        assert!(meta.compare(&got[..2], &expected).unwrap_err().to_string().contains("decrypted slots"));
    }
}
