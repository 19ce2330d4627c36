//! What a result says of its error and its size.
//!
//! A program may hold private numbers: weights, masks, tables. What is predicted of its results follows from them, so the
//! prediction stays in the process, and a result carries what follows from public facts alone.

use ringmill_ckks::noise::FAILURE;
use ringmill_ckks::{Level, Noise, Params, Scale};

/// Steps of a stated error where nothing was promised, in bits.
const STEP: f64 = 4.0;

/// What results of a [`Kernel`](crate::Kernel) carry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stated {
    /// The promised error 2^−`bits`, as long as the prediction holds it; else the next power of 2^4 above the prediction. The
    /// bound on slots is what the modulus holds. For programs that may hold private numbers.
    Promise {
        /// What was asked for when the program was compiled; `None` if nothing was.
        bits: Option<u32>,
    },
    /// The prediction itself. For programs whose numbers everybody may know.
    Prediction,
}

impl Stated {
    /// The prediction of a result, as it may be known.
    pub(crate) fn of(self, predicted: &Noise, slots: usize, params: &Params, (level, scale): (Level, &Scale)) -> Noise {
        let Self::Promise { bits } = self else { return predicted.clone() };
        let error = predicted.error_at(slots, FAILURE).log2();
        let promised = bits.map(|bits| -f64::from(bits)).filter(|&promised| error <= promised);
        let stated = promised.unwrap_or_else(|| (error / STEP).ceil() * STEP);
        // Nothing is said of how the error lies over the slots: it is a bound for each.
        let noise = Noise::exact(0.0, 0).with_bias(stated.exp2());
        let held = noise.headroom_log2(params, level, scale) + noise.bias().log2();
        // Half a bit is left beside the greatest power of two.
        let capacity = (held - 0.5).floor().exp2();
        let fits = predicted.headroom_log2(params, level, scale) >= 0.0;
        noise.with_magnitude(if fits { capacity } else { 4.0 * capacity })
    }
}
