//! What the caller says of an object that its file does not.

use ringmill_ckks::{Level, Meta, Noise, Params, Scale};

/// Declarations about an encrypted or encoded message that comes from another library.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Declared {
    /// The exact scale; that of the file, made exact, where none is given.
    pub scale: Option<Scale>,
    /// Bound on the size of a slot; 1 where none is given.
    pub magnitude: Option<f64>,
    /// log2 of a bound on the error of a slot; that of a fresh encryption under the public key where none is given.
    pub error_log2: Option<f64>,
    /// Slots; all that there are where none are given.
    pub slots: Option<usize>,
}

/// How an object came to be, for the prediction of its error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Born {
    /// By encoding.
    Encoded,
    /// By encryption, as far as is known. The number names it.
    Encrypted(u64),
    /// The same, by a library that encrypts modulo one prime more and divides by it.
    Divided(u64),
}

impl Declared {
    pub(crate) fn meta(&self, params: &Params, limbs: usize, scale: Scale, slots: usize, born: Born) -> Meta {
        let magnitude = self.magnitude.unwrap_or(ringmill_ckks::noise::DEFAULT_MAGNITUDE);
        let noise = match (self.error_log2, born) {
            (Some(error), _) => Noise::exact(magnitude, 0).with_bias(error.exp2()),
            (None, Born::Encoded) => Noise::plain(magnitude, &scale),
            (None, Born::Encrypted(name)) => {
                Noise::plain(magnitude, &scale).encrypt_public(params, &scale, name)
            }
            (None, Born::Divided(name)) => {
                Noise::plain(magnitude, &scale).encrypt_public_divided(params, &scale, name)
            }
        };
        Meta { level: Level::new(limbs as u32 - 1), scale, slots: self.slots.unwrap_or(slots), noise }
    }
}

/// A name for a ciphertext: words of its uniform half.
pub(crate) fn name(words: &[u64]) -> u64 {
    words.iter().take(4).fold(0, |name: u64, &word| name.rotate_left(17) ^ word)
}
