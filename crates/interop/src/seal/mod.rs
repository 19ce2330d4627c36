//! Files of SEAL 4.0 to 4.4, CKKS.
//!
//! Every object is a header of 16 bytes and a payload ([`header`]); objects contain objects. The outermost payload may be
//! compressed. A file does not say what kind of object it holds: the caller names the kind, and the sizes show
//! whether it is that.
//!
//! ```
//! use ringmill_interop::seal::{EncryptionParameters, Object, Style};
//! let parameters = EncryptionParameters::ckks(8192, vec![1099510890497, 1099511480321])?;
//! let bytes = parameters.to_bytes(&(), Style::default())?;
//! assert_eq!(EncryptionParameters::from_bytes(&(), &bytes)?, parameters);
//! # Ok::<(), ringmill_interop::seal::SealError>(())
//! ```

mod ciphertext;
pub mod convert;
mod error;
pub mod header;
mod keys;
mod parameters;
mod payload;
mod plaintext;
mod prng;
mod secret;
#[cfg(test)]
mod tests;

use std::io::{Read, Write};

pub use ciphertext::{Ciphertext, PublicKey, SeedWithKind};
pub use error::SealError;
pub use header::{Compression, Style, Version};
pub use keys::KSwitchKeys;
pub use parameters::{EncryptionParameters, ParmsId, Scheme};
pub use plaintext::Plaintext;
pub use prng::{PrngKind, SEED};
pub use secret::SecretKey;

use payload::{Input, Output};

/// What a file of SEAL may hold.
pub trait Object: Sized {
    /// What must be known to read one: the parameters, or nothing for parameters themselves.
    type Context;
    /// The name in messages.
    const NAME: &'static str;

    #[doc(hidden)]
    fn take(context: &Self::Context, input: &mut Input<'_>) -> Result<Self, SealError>;
    #[doc(hidden)]
    fn put(&self, context: &Self::Context, out: &mut Output<'_>) -> Result<(), SealError>;
    /// Bytes of the payload without compression.
    #[doc(hidden)]
    fn payload_len(&self, context: &Self::Context) -> u64;

    /// Reads one object; what follows it is left alone.
    ///
    /// # Errors
    /// Any [`SealError`] but that of trailing bytes.
    fn read(context: &Self::Context, input: impl Read) -> Result<Self, SealError> {
        let mut input = input;
        payload::open(Self::NAME, &mut input, |payload| Self::take(context, payload))
    }

    /// Writes the object.
    ///
    /// # Errors
    /// [`SealError::Io`]; what the object itself breaks of the rules of its kind.
    fn write(&self, context: &Self::Context, out: impl Write, style: Style) -> Result<(), SealError> {
        let mut out = out;
        payload::seal(&mut out, style, self.payload_len(context), |out| self.put(context, out))
    }

    /// The object that `bytes` hold, and nothing after it.
    ///
    /// # Errors
    /// Any [`SealError`].
    fn from_bytes(context: &Self::Context, bytes: &[u8]) -> Result<Self, SealError> {
        let mut rest = bytes;
        let object = Self::read(context, &mut rest)?;
        match rest.len() {
            0 => Ok(object),
            more => Err(SealError::Trailing { what: Self::NAME, more: more as u64 }),
        }
    }

    /// The object as bytes.
    ///
    /// # Errors
    /// As [`Object::write`].
    fn to_bytes(&self, context: &Self::Context, style: Style) -> Result<Vec<u8>, SealError> {
        let mut bytes = Vec::new();
        self.write(context, &mut bytes, style)?;
        Ok(bytes)
    }
}
