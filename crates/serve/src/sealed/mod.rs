//! Files that are encrypted at rest.
//!
//! A sealed file is a header and chunks. Each chunk holds up to [`CHUNK`] bytes under XChaCha20-Poly1305, with a nonce of its own.
//! Associated data are its index and whether it is the last. None can be changed, left out, added or put elsewhere (the STREAM
//! construction of Hoang, Reyhanitabar, Rogaway and Vizár, 2015). Nonces are random and not counted, because the last chunk of an
//! upload is written again as it grows: a counter would repeat. 192 bits make that safe.
//!
//! | bytes | header |
//! |---|---|
//! | 8 | the letters RMSEAL, a zero, and the version |
//! | 32 | salt: gives the file's key together with the data key of the tenant |
//! | 32 | BLAKE3 of the plain bytes |
//! | 8 | their number, least byte first |
//! | 32 | BLAKE3 of the fields before, keyed with the file's key |
//!
//! The last three are zeros until the file is complete. They tie a file to the name of its object: one file cannot stand for another.
//! The length of a file depends on that of the plain bytes alone.

mod reader;
#[cfg(test)]
mod tests;
mod writer;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use zeroize::{Zeroize, Zeroizing};

pub(crate) use reader::Unsealed;
pub(crate) use writer::Sealer;

/// Plain bytes of a chunk.
pub(crate) const CHUNK: usize = 1 << 16;

const MAGIC: &[u8; 8] = b"RMSEAL\0\x01";
const SALT: usize = 32;
const HASH: usize = 32;

/// Bytes of the header.
pub(crate) const HEADER: usize = MAGIC.len() + SALT + HASH + 8 + 32;

const NONCE: usize = 24;
/// Bytes that a chunk has beside its plain ones: nonce and tag.
const BESIDE: usize = NONCE + 16;
const SEALED: usize = CHUNK + BESIDE;

/// What distinguishes a file from others of its tenant; no secret.
pub(crate) type Salt = [u8; SALT];

/// A key of 256 bits that is wiped when it is dropped, and shown by nothing but its serialisation, which goes to a worker.
#[derive(Clone)]
pub(crate) struct Key(Zeroizing<[u8; 32]>);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

impl From<[u8; 32]> for Key {
    fn from(mut bytes: [u8; 32]) -> Self {
        let key = Self(Zeroizing::new(bytes));
        bytes.zeroize();
        key
    }
}

impl Key {
    /// A new key.
    pub(crate) fn random() -> io::Result<Self> {
        let mut bytes = Zeroizing::new([0; 32]);
        getrandom::fill(&mut bytes[..]).map_err(io::Error::other)?;
        Ok(Self(bytes))
    }

    /// Of 64 hexadecimal digits.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        let mut bytes = Zeroizing::new([0; 32]);
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
            let digit = |d: u8| char::from(d).to_digit(16);
            *byte = (digit(pair[0])? << 4 | digit(pair[1])?) as u8;
        }
        Some(Self(bytes))
    }

    pub(crate) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// A key that follows from this one and from what it is for.
    pub(crate) fn derived(&self, purpose: &str, salt: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(purpose.as_bytes()).update(&[0]).update(salt);
        let mut key = Zeroizing::new([0; 32]);
        hasher.finalize_xof().fill(&mut key[..]);
        hasher.zeroize();
        Self(key)
    }
}

impl Serialize for Key {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut digits = Zeroizing::new([0; 64]);
        for (pair, byte) in digits.chunks_mut(2).zip(&self.0[..]) {
            pair.copy_from_slice(&[
                b"0123456789abcdef"[usize::from(byte >> 4)],
                b"0123456789abcdef"[usize::from(byte & 15)],
            ]);
        }
        to.serialize_str(std::str::from_utf8(&digits[..]).unwrap_or_default())
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = Zeroizing::new(String::deserialize(from)?);
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("a key has 64 hexadecimal digits"))
    }
}

/// The keys of one file, from that of its tenant.
pub(crate) fn file_key(tenant: &Key, salt: &Salt) -> Key {
    tenant.derived("ringmill sealed file", salt)
}

/// Encrypts and authenticates what is short enough for memory; the nonce stands in front.
pub(crate) fn encrypt(cipher: &XChaCha20Poly1305, about: &[u8], plain: &[u8]) -> io::Result<Vec<u8>> {
    let mut nonce = [0; NONCE];
    getrandom::fill(&mut nonce).map_err(io::Error::other)?;
    let payload = Payload { msg: plain, aad: about };
    let sealed = cipher.encrypt(&XNonce::from(nonce), payload).map_err(io::Error::other)?;
    Ok([&nonce[..], &sealed].concat())
}

/// The opposite of [`encrypt`]; nothing if the bytes were changed, or belong to something else.
pub(crate) fn decrypt(cipher: &XChaCha20Poly1305, about: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
    let (nonce, sealed) = sealed.split_first_chunk::<NONCE>()?;
    cipher.decrypt(&XNonce::from(*nonce), Payload { msg: sealed, aad: about }).ok()
}

pub(crate) fn cipher(key: &Key) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(key.bytes().into())
}

/// What the chunks and the header of a file are made with.
struct Ciphers {
    chunks: XChaCha20Poly1305,
    header: Key,
}

impl Ciphers {
    fn of(file: &Key) -> Self {
        Self { chunks: cipher(&file.derived("chunks", &[])), header: file.derived("header", &[]) }
    }

    fn seal(&self, index: u64, last: bool, plain: &[u8]) -> io::Result<Vec<u8>> {
        encrypt(&self.chunks, &about(index, last), plain)
    }

    fn open(&self, index: u64, last: bool, sealed: &[u8]) -> Option<Vec<u8>> {
        decrypt(&self.chunks, &about(index, last), sealed)
    }

    fn mac(&self, fields: &[u8]) -> blake3::Hash {
        blake3::keyed_hash(self.header.bytes(), fields)
    }
}

fn about(index: u64, last: bool) -> [u8; 9] {
    let mut about = [0; 9];
    about[..8].copy_from_slice(&index.to_le_bytes());
    about[8] = last.into();
    about
}

/// Bytes of a sealed file of `plain` bytes.
pub(crate) fn sealed_size(plain: u64) -> u64 {
    HEADER as u64 + plain + BESIDE as u64 * plain.div_ceil(CHUNK as u64).max(1)
}

/// Whole chunks of a sealed file, and bytes after them.
fn chunks(size: u64) -> (u64, u64) {
    let body = size.saturating_sub(HEADER as u64);
    (body / SEALED as u64, body % SEALED as u64)
}

/// Where a chunk begins.
fn place(index: u64) -> u64 {
    HEADER as u64 + index * SEALED as u64
}

fn damaged() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "an encrypted file was changed, is another's, or was written under another key",
    )
}

/// The salt of a sealed file; nothing if it is none.
pub(crate) fn salt(file: &File) -> io::Result<Option<Salt>> {
    let mut start = [0; MAGIC.len() + SALT];
    match file.read_exact_at(&mut start, 0) {
        Ok(()) if start.starts_with(MAGIC) => Ok(start.last_chunk().copied()),
        Ok(()) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}
