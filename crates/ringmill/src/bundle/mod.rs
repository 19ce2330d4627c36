//! Bundles: several named byte strings in one file, for kernels, encrypted arguments and results.
//!
//! A bundle is a ZIP archive without compression: `header.json` first, then one entry a part. There is one form: a file must be
//! what Ringmill writes, byte for byte, so an archive that another tool packed again or added to is refused. The Python
//! module `ringmill.bundle` reads and writes the same form; `docs/reference/files.md` describes it.
//!
//! [`Reader`] goes through a file from its beginning to its end, in memory that does not depend on the file's size;
//! [`Bundle::read`] keeps the parts. Memory grows only with bytes that have arrived, whatever lengths announce.
//!
//! ```
//! use ringmill::bundle::{Bundle, Json};
//!
//! let facts = vec![("kernel".to_owned(), Json::from("score"))];
//! let parts = vec![("x".to_owned(), b"bytes".to_vec())];
//! let bundle = Bundle { kind: "arguments".to_owned(), version: 2, facts, parts };
//! let bytes = bundle.to_bytes()?;
//! assert_eq!(Bundle::read(&bytes[..], "arguments")?, bundle);
//! assert!(Bundle::read(&bytes[..100], "arguments").is_err());
//! # Ok::<(), ringmill::bundle::BundleError>(())
//! ```

mod archive;
mod error;
mod json;
mod reader;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::io::{Read, Write};

pub use error::BundleError;
pub use json::Json;
pub use reader::Reader;

use archive::{Entry, MAX_PART, directory};

/// Newest version of the form.
pub const VERSION: u16 = 2;

/// The most entries of a bundle, its header among them.
pub const MAX_ENTRIES: usize = 1 << 14;

/// The most bytes of a header.
pub const MAX_HEADER: u64 = 1 << 24;

/// Longest name of a part in bytes.
pub const MAX_NAME: usize = 1 << 12;

const HEADER: &str = "header.json";

/// What is known of a bundle beside its parts.
pub type Facts = Vec<(String, Json)>;

/// A digest of a part, or of what identifies a kernel: BLAKE2b of 16 bytes, as hexadecimal digits.
pub fn digest(data: &[u8]) -> String {
    hasher().update(data).finalize().to_hex().to_string()
}

fn hasher() -> blake2b_simd::State {
    blake2b_simd::Params::new().hash_length(16).to_state()
}

/// Contents of a bundle.
#[derive(Debug, Clone, PartialEq)]
pub struct Bundle {
    /// What it is: "kernel", "arguments" or "results".
    pub kind: String,
    /// Version of the form.
    pub version: u16,
    /// Facts about it, in order.
    pub facts: Facts,
    /// Its parts, in order.
    pub parts: Vec<(String, Vec<u8>)>,
}

impl Bundle {
    /// Reads a bundle of one kind and nothing after it.
    ///
    /// # Errors
    /// Any [`BundleError`].
    pub fn read(input: impl Read, kind: &str) -> Result<Self, BundleError> {
        let mut reader = Reader::open(input)?;
        reader.expect(kind)?;
        let mut parts = Vec::new();
        loop {
            let mut part = Vec::new();
            match reader.next(&mut part)? {
                Some(name) => parts.push((name, part)),
                None => break,
            }
        }
        Ok(Self { kind: kind.to_owned(), version: reader.version(), facts: reader.into_facts(), parts })
    }

    /// The part of a name.
    pub fn part(&self, name: &str) -> Option<&[u8]> {
        self.parts.iter().find(|(n, _)| n == name).map(|(_, data)| &data[..])
    }

    /// The fact of a name.
    pub fn fact(&self, name: &str) -> Option<&Json> {
        self.facts.iter().find(|(n, _)| n == name).map(|(_, value)| value)
    }

    /// The file's bytes; equal bundles give equal bytes.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn to_bytes(&self) -> Result<Vec<u8>, BundleError> {
        let mut out = Vec::new();
        self.write(&mut out)?;
        Ok(out)
    }

    /// Writes the file.
    ///
    /// # Errors
    /// [`BundleError::Io`]; [`BundleError::Parts`], [`BundleError::Size`] or [`BundleError::Name`] for what is not read again.
    pub fn write(&self, mut out: impl Write) -> Result<(), BundleError> {
        if self.parts.len() >= MAX_ENTRIES {
            return Err(BundleError::Parts { found: self.parts.len(), most: MAX_ENTRIES - 1 });
        }
        let header = header(&self.kind, self.version, &self.facts, &self.digests()).into_bytes();
        let all = [(HEADER, &header[..])].into_iter();
        let all = all.chain(self.parts.iter().map(|(name, data)| (&name[..], &data[..])));
        let (mut entries, mut offset, mut names) = (Vec::new(), 0, HashSet::new());
        for (name, data) in all {
            let size = data.len() as u64;
            if size > if name == HEADER { MAX_HEADER } else { MAX_PART } {
                return Err(BundleError::Size { part: name.to_owned(), found: size, most: MAX_PART });
            }
            if name.len() > MAX_NAME || name.contains('\0') || !names.insert(name) {
                return Err(BundleError::Name { part: name.to_owned() });
            }
            let entry = Entry { name: name.to_owned(), crc: crc32fast::hash(data), size, offset };
            let local = entry.local();
            out.write_all(&local).and_then(|()| out.write_all(data)).map_err(BundleError::io("writing"))?;
            offset += local.len() as u64 + size;
            entries.push(entry);
        }
        out.write_all(&directory(&entries, offset)).map_err(BundleError::io("writing"))
    }

    fn digests(&self) -> Vec<(String, Json)> {
        let of = |(name, data): &(String, Vec<u8>)| (name.clone(), Json::Text(digest(data)));
        self.parts.iter().map(of).collect()
    }
}

/// The one form of a header.
fn header(kind: &str, version: u16, facts: &Facts, digests: &[(String, Json)]) -> String {
    let mut members = vec![
        ("format".to_owned(), Json::Text(format!("ringmill-{kind}"))),
        ("version".to_owned(), Json::Whole(version.into())),
    ];
    members.extend(facts.iter().cloned());
    members.push(("parts".to_owned(), Json::Object(digests.to_vec())));
    Json::Object(members).to_string()
}
