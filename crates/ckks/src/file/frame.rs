//! The frame around every object: magic, version, kind, context, lengths, checksum.
//!
//! | bytes | content |
//! |---|---|
//! | 8 | `RINGMILL` |
//! | 2 | format version, little endian as all numbers |
//! | 2 | kind |
//! | 32 | fingerprint of the parameters |
//! | 8 | identity of the secret key, zeros if it is not known; since version 3 |
//! | 4 | length h of the header |
//! | 8 | length p of the payload |
//! | h | header: postcard encoding of a small structure, one form only |
//! | p | payload: residues as packed bits, limb by limb; coefficients of a secret key as bytes |
//! | 32 | BLAKE3 of everything before |
//!
//! Parameters belong to no secret key: they are written in version 1, in version 2 with a generator of rotations, or
//! in version 8 with the primes of each level.

use std::io::{ErrorKind, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;
use zeroize::Zeroize;

use super::{FileError, Kind, VERSION};
use crate::keys::KeyIdentity;
use crate::params::Fingerprint;

const MAGIC: [u8; 8] = *b"RINGMILL";
/// The version since which files say whose they are.
pub(super) const IDENTIFIED: u16 = 3;
/// Longest header: evaluation keys with tens of thousands of rotations.
const MAX_HEADER: u32 = 1 << 20;

/// A reader or writer that hashes what passes. Unbuffered, and the hasher's last block is wiped: secrets leave no copy behind.
pub(super) struct Hashed<T> {
    inner: T,
    hasher: blake3::Hasher,
    passed: u64,
}

impl<T> Hashed<T> {
    pub(super) fn new(inner: T) -> Self {
        Self { inner, hasher: blake3::Hasher::new(), passed: 0 }
    }
}

impl<T> Drop for Hashed<T> {
    fn drop(&mut self) {
        self.hasher.zeroize();
    }
}

impl<W: Write> Hashed<W> {
    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        self.hasher.update(bytes);
        self.inner.write_all(bytes).map_err(FileError::io("writing"))
    }

    pub(super) fn seal(mut self) -> Result<(), FileError> {
        let checksum = *self.hasher.finalize().as_bytes();
        self.inner.write_all(&checksum).map_err(FileError::io("writing"))?;
        self.inner.flush().map_err(FileError::io("writing"))
    }
}

impl<R: Read> Hashed<R> {
    /// Fills `out` or says in which part the file ends.
    pub(super) fn take(&mut self, part: &'static str, out: &mut [u8]) -> Result<(), FileError> {
        self.fill(part, out)?;
        self.hasher.update(out);
        Ok(())
    }

    fn fill(&mut self, part: &'static str, out: &mut [u8]) -> Result<(), FileError> {
        let mut filled = 0;
        while filled < out.len() {
            match self.inner.read(&mut out[filled..]) {
                Ok(0) => return Err(FileError::Truncated { part, got: self.passed + filled as u64 }),
                Ok(k) => filled += k,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(FileError::io("reading")(e)),
            }
        }
        self.passed += filled as u64;
        Ok(())
    }

    /// Bytes read so far.
    pub(super) fn passed(&self) -> u64 {
        self.passed
    }

    fn array<const K: usize>(&mut self, part: &'static str) -> Result<[u8; K], FileError> {
        let mut bytes = [0; K];
        self.take(part, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads the checksum and compares.
    pub(super) fn verify(mut self, kind: Kind) -> Result<(), FileError> {
        let expected = self.hasher.finalize();
        let mut found = [0; 32];
        self.fill("checksum", &mut found)?;
        if expected == found { Ok(()) } else { Err(FileError::Checksum { kind }) }
    }
}

/// What stands before the payload.
#[derive(Debug, Clone)]
pub(super) struct Front {
    pub(super) version: u16,
    pub(super) kind: Kind,
    pub(super) fingerprint: Fingerprint,
    pub(super) identity: Option<KeyIdentity>,
    pub(super) payload: u64,
    pub(super) header: Vec<u8>,
}

impl Front {
    /// A front of the version in which the kind is written, of no known secret key.
    pub(super) fn new(kind: Kind, fingerprint: Fingerprint, payload: u64, header: Vec<u8>) -> Self {
        Self { version: kind.version(), kind, fingerprint, identity: None, payload, header }
    }

    /// The front of what belongs to a secret key.
    pub(super) fn of(self, identity: Option<KeyIdentity>) -> Self {
        Self { identity, ..self }
    }

    pub(super) fn write<W: Write>(&self, out: &mut Hashed<W>) -> Result<(), FileError> {
        let length = u32::try_from(self.header.len()).unwrap_or(u32::MAX);
        if length > MAX_HEADER {
            return Err(FileError::HeaderLength { found: length, max: MAX_HEADER });
        }
        let mut front = MAGIC.to_vec();
        front.extend(self.version.to_le_bytes());
        front.extend((self.kind as u16).to_le_bytes());
        front.extend(self.fingerprint.as_bytes());
        if self.version >= IDENTIFIED {
            front.extend(self.identity.map_or([0; KeyIdentity::BYTES], |identity| *identity.as_bytes()));
        }
        front.extend(length.to_le_bytes());
        front.extend(self.payload.to_le_bytes());
        front.extend(&self.header);
        out.put(&front)
    }

    /// Reads up to the payload; allocates at most [`MAX_HEADER`] bytes.
    pub(super) fn read<R: Read>(input: &mut Hashed<R>) -> Result<Self, FileError> {
        let found = input.array("first bytes")?;
        if found != MAGIC {
            return Err(FileError::Magic { found });
        }
        let version = u16::from_le_bytes(input.array("version")?);
        if version == 0 || version > VERSION {
            return Err(FileError::Version { found: version, newest: VERSION });
        }
        let kind = u16::from_le_bytes(input.array("kind")?);
        let kind = Kind::from_number(kind).ok_or(FileError::UnknownKind { found: kind })?;
        if !kind.has(version) {
            return Err(FileError::Version { found: version, newest: kind.newest() });
        }
        let fingerprint = Fingerprint::from_bytes(input.array("fingerprint")?);
        let identity = match version >= IDENTIFIED {
            true => KeyIdentity::from_bytes(input.array("identity")?),
            false => None,
        };
        let length = u32::from_le_bytes(input.array("lengths")?);
        let payload = u64::from_le_bytes(input.array("lengths")?);
        if length > MAX_HEADER {
            return Err(FileError::HeaderLength { found: length, max: MAX_HEADER });
        }
        let mut header = vec![0; length as usize];
        input.take("header", &mut header)?;
        Ok(Self { version, kind, fingerprint, identity, payload, header })
    }

    /// Bytes of this front, after which the payload begins.
    pub(super) fn bytes(&self) -> u64 {
        let identity = if self.version >= IDENTIFIED { KeyIdentity::BYTES } else { 0 };
        (MAGIC.len() + 2 + 2 + self.fingerprint.as_bytes().len() + identity + 4 + 8 + self.header.len())
            as u64
    }

    pub(super) fn expect(&self, kind: Kind) -> Result<(), FileError> {
        if self.kind == kind { Ok(()) } else { Err(FileError::Kind { found: self.kind, expected: kind }) }
    }

    pub(super) fn expect_context(&self, expected: Fingerprint) -> Result<(), FileError> {
        let (kind, found) = (self.kind, self.fingerprint);
        if found == expected {
            return Ok(());
        }
        // What is shown of a fingerprint distinguishes contexts: two that are shown alike differ by damage.
        let alike = found.to_string() == expected.to_string();
        Err(if alike {
            FileError::Fingerprint { kind, expected }
        } else {
            FileError::Context { kind, found, expected }
        })
    }

    pub(super) fn expect_payload(&self, expected: u64) -> Result<(), FileError> {
        let (kind, found) = (self.kind, self.payload);
        if found == expected { Ok(()) } else { Err(FileError::PayloadLength { kind, found, expected }) }
    }
}

/// Encodes a header.
pub(super) fn encode<H: Serialize>(kind: Kind, header: &H) -> Result<Vec<u8>, FileError> {
    postcard::to_stdvec(header).map_err(|e| FileError::Header { kind, why: e.to_string() })
}

/// Decodes a header that has exactly the form that [`encode`] gives.
pub(super) fn decode<H: Serialize + DeserializeOwned>(kind: Kind, bytes: &[u8]) -> Result<H, FileError> {
    let header: H =
        postcard::from_bytes(bytes).map_err(|e| FileError::Header { kind, why: e.to_string() })?;
    // One object, one form: integers padded to more bytes than they need and trailing bytes are refused.
    if encode(kind, &header)? == bytes {
        Ok(header)
    } else {
        Err(FileError::Header { kind, why: "it is not in the one form that is written".into() })
    }
}
