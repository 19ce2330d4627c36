//! The header in front of every object, and the choices of a writer.
//!
//! | at | type | |
//! |---|---|---|
//! | 0 | u16 | 0xA15E |
//! | 2 | u8 | 16, the size of the header |
//! | 3, 4 | u8, u8 | major and minor version |
//! | 5 | u8 | compression: 0 none, 1 zlib, 2 zstd |
//! | 6 | u16 | 0 |
//! | 8 | u64 | size of the object as stored, with the header |
//!
//! Numbers are little-endian.

use std::fmt;
use std::str::FromStr;

use super::SealError;

/// Bytes of a header.
pub const HEADER: u64 = 16;
const MAGIC: u16 = 0xA15E;
const NEWEST: u8 = 4;

/// A version of SEAL, 4.0 to 4.4. The layout is the same in all; what differs is who reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(u8);

impl Version {
    /// Version 4.`minor`.
    ///
    /// # Errors
    /// [`SealError::Version`] above 4.4.
    pub const fn new(minor: u8) -> Result<Self, SealError> {
        if minor <= NEWEST { Ok(Self(minor)) } else { Err(SealError::Version { major: 4, minor }) }
    }

    /// The number after the point.
    pub const fn minor(self) -> u8 {
        self.0
    }
}

impl Default for Version {
    /// 4.3, the newest that both published wheels read.
    fn default() -> Self {
        Self(3)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "4.{}", self.0)
    }
}

impl FromStr for Version {
    type Err = SealError;

    fn from_str(text: &str) -> Result<Self, SealError> {
        let minor = text.strip_prefix("4.").and_then(|minor| minor.parse().ok());
        let unknown =
            || SealError::UnknownChoice { what: "version", given: text.into(), known: "4.0 to 4.4" };
        minor.and_then(|minor| Self::new(minor).ok()).ok_or_else(unknown)
    }
}

/// How the outermost payload is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Compression {
    /// Not at all: what every build of SEAL reads.
    #[default]
    None = 0,
    /// zlib, RFC 1950.
    Zlib = 1,
    /// zstd, RFC 8878.
    Zstd = 2,
}

impl FromStr for Compression {
    type Err = SealError;

    fn from_str(text: &str) -> Result<Self, SealError> {
        match text {
            "none" => Ok(Self::None),
            "zlib" => Ok(Self::Zlib),
            "zstd" => Ok(Self::Zstd),
            _ => Err(SealError::UnknownChoice {
                what: "compression",
                given: text.into(),
                known: "none, zlib and zstd",
            }),
        }
    }
}

/// What a writer chooses: 4.3 without compression is read by most builds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Style {
    /// Version that the headers state.
    pub version: Version,
    /// Compression of the outermost payload.
    pub compression: Compression,
}

/// A header that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Version of the writer.
    pub version: Version,
    /// Compression of the payload.
    pub compression: Compression,
    /// Bytes of the object as stored, with the header.
    pub size: u64,
}

impl Header {
    pub(super) fn from_bytes(at: u64, bytes: [u8; HEADER as usize]) -> Result<Self, SealError> {
        let magic = u16::from_le_bytes([bytes[0], bytes[1]]);
        if magic != MAGIC || u64::from(bytes[2]) != HEADER || bytes[6..8] != [0, 0] {
            return Err(SealError::Magic { at, found: bytes });
        }
        let (major, minor) = (bytes[3], bytes[4]);
        if major != 4 || minor > NEWEST {
            return Err(SealError::Version { major, minor });
        }
        let compression = match bytes[5] {
            0 => Compression::None,
            1 => Compression::Zlib,
            2 => Compression::Zstd,
            found => return Err(SealError::Compression { found }),
        };
        let [.., a, b, c, d, e, f, g, h] = bytes;
        let size = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
        if size < HEADER {
            return Err(SealError::Size { at, found: size });
        }
        Ok(Self { version: Version(minor), compression, size })
    }

    pub(super) fn to_bytes(self) -> [u8; HEADER as usize] {
        let mut bytes = [0; HEADER as usize];
        bytes[..2].copy_from_slice(&MAGIC.to_le_bytes());
        bytes[2..6].copy_from_slice(&[HEADER as u8, 4, self.version.0, self.compression as u8]);
        bytes[8..].copy_from_slice(&self.size.to_le_bytes());
        bytes
    }
}
