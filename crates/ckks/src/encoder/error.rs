//! What can be wrong with values to encode or a polynomial to decode.

use ringmill_errors::StructuredError;
use ringmill_ring::RingError;

/// A rule of the encoder that an argument breaks.
#[derive(Debug, Clone, PartialEq, thiserror::Error, StructuredError)]
#[non_exhaustive]
pub enum EncoderError {
    /// The number of slots is no power of two or too large.
    #[error("{slots} slots are not possible; take a power of two from 1 to N/2 = {max}")]
    Slots {
        /// The number given.
        slots: usize,
        /// N/2.
        max: usize,
    },
    /// More values than slots.
    #[error("{values} values do not fit {slots} slots; {}", room(*.values, *.max))]
    TooManyValues {
        /// Number of values.
        values: usize,
        /// Number of slots.
        slots: usize,
        /// N/2.
        max: usize,
    },
    /// A value is NaN or infinite.
    #[error("value {index} is {value}; only finite numbers can be encoded")]
    NotFinite {
        /// Index of the first such value.
        index: usize,
        /// It, as text.
        value: String,
    },
    /// A coefficient reaches half the modulus.
    #[error(
        "value {index} = {value} at scale 2^{log_scale:.1} needs a coefficient of {log_coefficient:.1} bits, but \
         the modulus of this level has {log_modulus:.1} bits and coefficients must stay below half of it; lower \
         the scale or encode at a higher level"
    )]
    Overflow {
        /// Index of the value that is largest in absolute value.
        index: usize,
        /// It, as text.
        value: String,
        /// log2 of the scale.
        log_scale: f64,
        /// log2 of the largest coefficient.
        log_coefficient: f64,
        /// log2 of the modulus.
        log_modulus: f64,
    },
    /// The polynomial has another shape than the rings.
    #[error(
        "polynomial with {limbs} limbs of {n} words given for {expected_limbs} rings of degree {expected_n}"
    )]
    Shape {
        /// Limbs of the polynomial.
        limbs: usize,
        /// Words of its limbs.
        n: usize,
        /// Number of rings.
        expected_limbs: usize,
        /// N.
        expected_n: usize,
    },
    /// A rule of the ring.
    #[error(transparent)]
    Ring(#[from] RingError),
}

/// What to do with values that do not fit their slots, where there are `max` at most.
fn room(values: usize, max: usize) -> String {
    if values <= max {
        return format!("take {} slots or more, up to N/2 = {max}", values.next_power_of_two());
    }
    format!("one ciphertext holds at most N/2 = {max}: spread them over several, or take a larger N")
}
