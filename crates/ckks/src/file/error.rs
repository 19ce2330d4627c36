//! What can be wrong with a file: what is wrong and what to do.

use std::path::PathBuf;

use ringmill_errors::StructuredError;

use crate::error::CkksError;
use crate::params::Fingerprint;

use super::Kind;

/// Why a file was not read or written.
#[derive(Debug, thiserror::Error, StructuredError)]
#[non_exhaustive]
pub enum FileError {
    /// The system refuses.
    #[error("{action} failed: {source}")]
    Io {
        /// What was being done.
        action: String,
        /// What the system says.
        #[field(display)]
        source: std::io::Error,
    },
    /// Not a file of this project.
    #[error("this is not a Ringmill file: it begins with {found:02x?} instead of the letters RINGMILL")]
    Magic {
        /// The first bytes.
        found: [u8; 8],
    },
    /// A version this build does not read.
    #[error("the file has format version {found}; this build reads versions 1 to {newest}: update Ringmill")]
    Version {
        /// Version of the file.
        found: u16,
        /// Newest version known.
        newest: u16,
    },
    /// Keys of a version in which Galois keys led the other way.
    #[error(
        "the {kind} has format version {found}; since version {oldest} Galois keys lead from s to s(X^(1/g)) and no longer \
         from s(X^g) to s: make the keys again from the secret key"
    )]
    TurnedKeys {
        /// Kind of the file.
        kind: Kind,
        /// Version of the file.
        found: u16,
        /// The version from which such files are read.
        oldest: u16,
    },
    /// A kind that does not exist.
    #[error("the file says it holds an object of kind {found}, which does not exist; it is damaged")]
    UnknownKind {
        /// The number found.
        found: u16,
    },
    /// A file of another kind.
    #[error("this file holds a {found}, but a {expected} is wanted here; were two files swapped?")]
    Kind {
        /// Kind of the file.
        found: Kind,
        /// Kind wanted.
        expected: Kind,
    },
    /// A file of another context.
    #[error(
        "this {kind} belongs to parameters {found}, but the parameters in use are {expected}; use the files of one \
         context"
    )]
    Context {
        /// Kind of the file.
        kind: Kind,
        /// Parameters of the file.
        #[field(display)]
        found: Fingerprint,
        /// Parameters given.
        #[field(display)]
        expected: Fingerprint,
    },
    /// A fingerprint that begins like the right one.
    #[error(
        "the fingerprint in this {kind} is damaged: it begins with {expected}, as it must, and goes on differently; copy the \
         file again"
    )]
    Fingerprint {
        /// Kind of the file.
        kind: Kind,
        /// Parameters given.
        #[field(display)]
        expected: Fingerprint,
    },
    /// The file ends early.
    #[error("the file ends after {got} bytes, in the middle of its {part}; it was cut short: copy it again")]
    Truncated {
        /// Which part is incomplete.
        part: &'static str,
        /// Bytes that are there.
        got: u64,
    },
    /// The file goes on.
    #[error("the file goes on after its end; something was appended: copy it again")]
    Trailing,
    /// A header longer than any.
    #[error("the file announces a header of {found} bytes; at most {max} occur: it is damaged")]
    HeaderLength {
        /// Length announced.
        found: u32,
        /// Greatest length.
        max: u32,
    },
    /// A header that says nothing sensible.
    #[error("the header of the {kind} is damaged: {why}")]
    Header {
        /// Kind of the file.
        kind: Kind,
        /// What is wrong.
        why: String,
    },
    /// A payload that does not fit the header.
    #[error("the {kind} announces {found} bytes of residues; its header needs {expected}: it is damaged")]
    PayloadLength {
        /// Kind of the file.
        kind: Kind,
        /// Length announced.
        found: u64,
        /// Length by the header.
        expected: u64,
    },
    /// A secret key would have taken the place of a file.
    #[error(
        "{} exists, and a secret key replaces no file unasked: what it encrypted would be lost if it is one; choose another \
         place", path.display()
    )]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The checksum differs.
    #[error("the checksum of the {kind} does not match; the file is damaged: copy it again")]
    Checksum {
        /// Kind of the file.
        kind: Kind,
    },
    /// The contents break a rule.
    #[error("the {kind} is damaged: {source}")]
    Content {
        /// Kind of the file.
        kind: Kind,
        /// The rule.
        #[field(display)]
        source: CkksError,
    },
}

impl FileError {
    pub(super) fn io(action: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { action: action.into(), source }
    }
}
