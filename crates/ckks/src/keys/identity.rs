//! Which secret key a thing belongs to: keys that were made with it, ciphertexts under it, and what is computed from these.
//!
//! Residues under one secret look like those under another, so nothing else reveals a mix-up: what decrypts
//! with a wrong key is noise, at low levels as small as values are. An identity is a hint against that and no
//! proof, since the author of a file can write any identity into it;
//! [`SecretKey::made`](super::SecretKey::made) proves.

use std::fmt;

use ringmill_ring::sample::Seed;

use crate::error::CkksError;

/// The identity of a secret key: eight bytes that are drawn with it and are independent of it, not all zero.
///
/// Not known (`None`) are those of keys from bare coefficients and of files from before version 3. What has none may meet
/// everything.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyIdentity([u8; KeyIdentity::BYTES]);

impl KeyIdentity {
    /// Its length: of k keys two have the same one by a chance of k²/2^65.
    pub const BYTES: usize = 8;

    /// From stored bytes; zeros stand for an identity that is not known.
    pub fn from_bytes(bytes: [u8; Self::BYTES]) -> Option<Self> {
        (bytes != [0; Self::BYTES]).then_some(Self(bytes))
    }

    /// The bytes.
    pub const fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }

    /// From the public seed of the draw that the secret key is from. No polynomial expands from it, since a secret key has
    /// no public ones; it is independent of the seed of the coefficients ([`Randomness`](crate::Randomness)).
    pub(crate) fn of(seed: &Seed) -> Option<Self> {
        seed.as_bytes().first_chunk().and_then(|bytes| Self::from_bytes(*bytes))
    }

    /// The one identity among those of named things, if any is known.
    ///
    /// # Errors
    /// [`CkksError::KeysMismatch`] names the first thing of a known identity and the first of another one.
    pub fn common<N: fmt::Display>(
        things: impl IntoIterator<Item = (N, Option<Self>)>,
    ) -> Result<Option<Self>, CkksError> {
        let mut known = things.into_iter().filter_map(|(name, identity)| Some((name, identity?)));
        let Some((left, first)) = known.next() else { return Ok(None) };
        match known.find(|&(_, identity)| identity != first) {
            None => Ok(Some(first)),
            Some((right, other)) => Err(CkksError::KeysMismatch {
                left: left.to_string(),
                left_identity: first,
                right: right.to_string(),
                right_identity: other,
            }),
        }
    }
}

/// As hexadecimal digits, all of them.
impl fmt::Display for KeyIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

impl fmt::Debug for KeyIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KeyIdentity").field(&self.to_string()).finish()
    }
}
