//! What a result says of its error and its size.
//!
//! A program may hold private numbers: weights, masks, tables. What is predicted of its results follows from them, so the
//! prediction stays in the process, and a result carries what follows from public facts alone.

use ringmill_ckks::Noise;
use ringmill_ckks::noise::FAILURE;
use ringmill_program::manage::Encryption;

/// Steps of a stated error where nothing was promised, in bits.
const ERROR_STEP: f64 = 4.0;

/// Steps of a stated bound on slots, in bits.
const BOUND_STEP: f64 = 8.0;

/// What results of a [`Kernel`](crate::Kernel) carry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stated {
    /// The promised error 2^−`bits`, as long as the prediction holds it; else the next power of 2^4 above the prediction. The
    /// bound on slots is the next power of 2^8, from 2^8 on. For programs that may hold private numbers.
    Promise {
        /// What was asked for when the program was compiled; `None` if nothing was.
        bits: Option<u32>,
        /// How arguments are encrypted that it holds for.
        encryption: Encryption,
    },
    /// The prediction itself. For programs whose numbers everybody may know.
    Prediction,
}

impl Stated {
    /// The prediction of a result, as it may be known.
    pub(crate) fn of(self, predicted: &Noise, slots: usize) -> Noise {
        let Self::Promise { bits, .. } = self else { return predicted.clone() };
        let (error, magnitude) =
            Self::promised(bits, predicted.error_at(slots, FAILURE), predicted.magnitude());
        // Nothing is said of how the error lies over the slots: it is a bound for each.
        Noise::exact(magnitude, 0).with_bias(error)
    }

    /// What [`Promise`](Self::Promise) makes of a bound on the error and one on |slot|.
    pub fn promised(bits: Option<u32>, error: f64, magnitude: f64) -> (f64, f64) {
        let above = |x: f64, step: f64| ((x.log2() / step).ceil() * step).exp2();
        let promised = bits.map(|bits| (-f64::from(bits)).exp2()).filter(|&promised| error <= promised);
        (promised.unwrap_or_else(|| above(error, ERROR_STEP)), above(magnitude.max(2.0), BOUND_STEP))
    }
}
