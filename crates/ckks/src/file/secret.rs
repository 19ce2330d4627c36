//! The one place that writes secret keys.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use zeroize::Zeroizing;

use super::disk::{self, Old, Privacy};
use super::frame::{self, Front, Hashed};
use super::{FileError, Kind};
use crate::keys::SecretKey;
use crate::params::Params;

/// Writes a secret key, unencrypted: every reader of it can decrypt everything.
///
/// # Errors
/// [`FileError::Io`].
pub fn write_secret_key(secret: &SecretKey, out: impl Write) -> Result<(), FileError> {
    let small = secret.expose_coefficients();
    let header = frame::encode(Kind::SecretKey, &())?;
    let mut out = Hashed::new(out);
    let front = Front::new(Kind::SecretKey, secret.params().fingerprint(), small.len() as u64, header);
    front.of(secret.identity()).write(&mut out)?;
    let bytes: Zeroizing<Vec<u8>> = Zeroizing::new(small.iter().map(|&c| c as u8).collect());
    out.put(&bytes)?;
    out.seal()
}

/// Reads a secret key.
///
/// # Errors
/// Any [`FileError`] but that of trailing bytes.
pub fn read_secret_key(params: &Params, input: impl Read) -> Result<SecretKey, FileError> {
    let kind = Kind::SecretKey;
    let mut input = Hashed::new(input);
    let front = Front::read(&mut input)?;
    front.expect(kind)?;
    front.expect_context(params.fingerprint())?;
    frame::decode::<()>(kind, &front.header)?;
    front.expect_payload(params.n() as u64)?;
    let mut bytes = Zeroizing::new(vec![0u8; params.n()]);
    input.take("coefficients", &mut bytes)?;
    input.verify(kind)?;
    let small = Zeroizing::new(bytes.iter().map(|&b| b as i8).collect());
    SecretKey::from_coefficients(params, small, front.identity)
        .map_err(|source| FileError::Content { kind, source })
}

/// The secret key that `bytes` hold, and nothing after it.
///
/// # Errors
/// Any [`FileError`].
pub fn secret_key_from_bytes(params: &Params, bytes: &[u8]) -> Result<SecretKey, FileError> {
    super::whole(bytes, |input| read_secret_key(params, input))
}

/// Writes a secret key to a new file that only its owner may read, atomically. A file that is there stays; of two keys that are
/// saved to one place at once, one is refused.
///
/// # Errors
/// [`FileError::Exists`], [`FileError::Io`].
pub fn save_secret_key(secret: &SecretKey, path: impl AsRef<Path>) -> Result<(), FileError> {
    disk::save(path.as_ref(), Privacy::Owner, Old::Kept, |out| write_secret_key(secret, out))
}

/// The same in place of a file that is there, which is lost: a secret key with all that it encrypted.
///
/// # Errors
/// [`FileError::Io`].
pub fn replace_secret_key(secret: &SecretKey, path: impl AsRef<Path>) -> Result<(), FileError> {
    disk::save(path.as_ref(), Privacy::Owner, Old::Replaced, |out| write_secret_key(secret, out))
}

/// Replaces a file that only its owner may read by what `write` puts into it, atomically: for secret keys in the formats of other
/// libraries. No buffer stands between, so that none keeps a copy.
///
/// # Errors
/// [`FileError::Io`]; what `write` gives.
pub fn replace_secret_file<E: From<FileError>>(
    path: impl AsRef<Path>,
    write: impl FnOnce(&mut File) -> Result<(), E>,
) -> Result<(), E> {
    disk::save(path.as_ref(), Privacy::Owner, Old::Replaced, write)
}

/// Reads a secret key from a file.
///
/// # Errors
/// Any [`FileError`].
pub fn load_secret_key(params: &Params, path: impl AsRef<Path>) -> Result<SecretKey, FileError> {
    disk::load(path.as_ref(), |input| read_secret_key(params, input))
}
