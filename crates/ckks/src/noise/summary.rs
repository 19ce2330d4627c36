//! What leaves the process of a prediction.

use super::{Factor, Noise, Origin};

/// A deviation in a file is the next power of 2^(1/[`STEPS`]).
const STEPS: f64 = 4.0;

/// The sums of a prediction, rounded up: what files hold. It has no part of what it sums.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Bound on |slot| of the message.
    pub magnitude: f64,
    /// Standard deviation of one coefficient of the random error, in units of the message.
    pub std: f64,
    /// Bound on |slot| of the rest of the error.
    pub bias: f64,
    /// The name of an encryption that nothing was done to: errors of two are independent.
    pub fresh: Option<u64>,
}

impl Noise {
    /// The prediction `usual`, of the encryptions that a program is compiled for, in place of that of an encryption whose error is no
    /// larger. So what is computed from it depends neither on which key encrypted, nor on whether it went through a file. Other
    /// values stay as they are.
    #[must_use]
    pub fn as_encrypted(&self, usual: Self) -> Self {
        if self.fresh.is_none() {
            return self.clone();
        }
        let (own, most) = (self.summary(), usual.summary());
        if own.std <= most.std && own.bias <= most.bias { usual } else { self.clone() }
    }

    /// The name of an encryption that nothing was done to.
    pub fn fresh(&self) -> Option<u64> {
        self.fresh
    }

    /// The sums, rounded up to a quarter of a bit.
    pub fn summary(&self) -> Summary {
        Summary { magnitude: self.magnitude, std: up(self.std()), bias: up(self.bias), fresh: self.fresh }
    }
}

impl Summary {
    /// A prediction by sums alone: the error of anything but a fresh encryption adds linearly to all that it meets.
    pub fn noise(&self) -> Noise {
        let message = Noise::exact(self.magnitude, 0).with_bias(self.bias);
        match self.fresh {
            // Under which key it is encrypted is not known: no error has a heavier tail than that of one product.
            Some(name) => Noise::encryption(message, name, self.std, Factor::SECRET),
            // Any two that are read may be equal.
            None => {
                Noise { origin: Origin { shared: true, ..Origin::new(0) }, ..message.plus_rest(self.std) }
            }
        }
    }
}

/// The next power of 2^(1/STEPS): equal for all numbers of one quarter of a bit, and for itself.
pub(super) fn up(x: f64) -> f64 {
    if x <= 0.0 || !x.is_finite() {
        return x.max(0.0);
    }
    // A power that was rounded on the way is taken for itself.
    ((x.log2() * STEPS - 1e-9).ceil() / STEPS).exp2()
}
