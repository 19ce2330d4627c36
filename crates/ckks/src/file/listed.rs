//! Which keys a file holds, without knowing its parameters.

use std::io::Read;

use super::frame::Front;
use super::objects::Codec;
use super::{FileError, Info, Kind, encapsulation, passed};
use crate::keys::EvaluationKeys;

/// The keys that a file of evaluation keys says it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyList {
    /// Whether the relinearisation key is among them.
    pub relin: bool,
    /// Galois elements of rotations and conjugation, as they stand in the file.
    pub galois: Vec<u64>,
    /// Whether the key of bootstrapping that leads to a sparse secret is among them.
    pub encapsulation: bool,
}

/// As [`inspect`](super::inspect), for a file of evaluation keys: also which keys it holds.
///
/// # Errors
/// As [`inspect`](super::inspect); [`FileError::Kind`] for another file, [`FileError::Header`].
pub fn inspect_keys(input: impl Read) -> Result<(Info, KeyList), FileError> {
    let check = |front: &Front| {
        front.expect(Kind::EvaluationKeys)?;
        EvaluationKeys::decode(front.version, &front.header)
    };
    let (info, keyed) = passed(input, check)?;
    let (seed, others) = encapsulation::split(&keyed.header.galois);
    let galois = others.iter().map(|&(element, _)| element).collect();
    Ok((info, KeyList { relin: keyed.header.relin.is_some(), galois, encapsulation: seed.is_some() }))
}
