//! The file that every other file refers to: the parameters.

use std::io::{Read, Write};
use std::path::Path;

use super::disk::{self, Old, Privacy};
use super::frame::{self, Front, Hashed};
use super::{FileError, Kind};
use crate::generator::Generator;
use crate::params::{Params, ParamsLiteral};

/// The version of files that name a generator of rotations. Those of parameters with generator 5 are still of version 1.
pub(super) const TURNING: u16 = 2;

/// The version of files that say how many primes each level has. Those of parameters with one each are of the versions before.
pub(super) const LEVELLED: u16 = 8;

/// Writes parameters.
///
/// # Errors
/// [`FileError::Io`].
pub fn write_params(params: &Params, out: impl Write) -> Result<(), FileError> {
    let (literal, generator) = (params.literal(), params.generator());
    let primes: Vec<u32> = literal.levels.iter().map(|&primes| primes as u32).collect();
    let (version, header) = match generator {
        _ if !primes.is_empty() => {
            (LEVELLED, frame::encode(Kind::Params, &(literal, generator.value(), primes))?)
        }
        Generator::Five => (1, frame::encode(Kind::Params, literal)?),
        other => (TURNING, frame::encode(Kind::Params, &(literal, other.value()))?),
    };
    let mut out = Hashed::new(out);
    let front = Front::new(Kind::Params, params.fingerprint(), 0, header);
    Front { version, ..front }.write(&mut out)?;
    out.seal()
}

/// Reads parameters and checks them like a literal; sets marked insecure stay marked, and are known to be so by a file
/// ([`Params::insecure_by_file`]).
///
/// # Errors
/// Any [`FileError`] but that of trailing bytes.
pub fn read_params(input: impl Read) -> Result<Params, FileError> {
    let kind = Kind::Params;
    let mut input = Hashed::new(input);
    let front = Front::read(&mut input)?;
    front.expect(kind)?;
    front.expect_payload(0)?;
    input.verify(kind)?;
    let literal: ParamsLiteral = match front.version {
        TURNING => {
            let (literal, g): (ParamsLiteral, u64) = frame::decode(kind, &front.header)?;
            // One form: generator 5 is not named.
            let generator = Generator::from_value(g).filter(|&generator| generator != Generator::Five);
            let why = || format!("it names {g} as generator of rotations; 3 is the one that is named");
            ParamsLiteral {
                generator: generator.ok_or_else(|| FileError::Header { kind, why: why() })?,
                ..literal
            }
        }
        LEVELLED => {
            let (literal, g, primes): (ParamsLiteral, u64, Vec<u32>) = frame::decode(kind, &front.header)?;
            let why = || format!("it names {g} as generator of rotations; 3 and 5 are those that there are");
            ParamsLiteral {
                generator: Generator::from_value(g).ok_or_else(|| FileError::Header { kind, why: why() })?,
                levels: primes.into_iter().map(|primes| primes as usize).collect(),
                ..literal
            }
        }
        _ => frame::decode(kind, &front.header)?,
    };
    let params = Params::of_file(&literal).map_err(|e| FileError::Content { kind, source: e.into() })?;
    // Sizes in place of primes would name other primes in another release, and levels of one prime have no such version.
    if *params.literal() != literal || (front.version == LEVELLED) == literal.levels.is_empty() {
        return Err(FileError::Header {
            kind,
            why: "its primes are not given by value, or each level has one".into(),
        });
    }
    front.expect_context(params.fingerprint())?;
    Ok(params)
}

/// The parameters that `bytes` hold, and nothing after them.
///
/// # Errors
/// Any [`FileError`].
pub fn params_from_bytes(bytes: &[u8]) -> Result<Params, FileError> {
    super::whole(bytes, |input| read_params(input))
}

/// Writes parameters to a file, atomically.
///
/// # Errors
/// [`FileError::Io`].
pub fn save_params(params: &Params, path: impl AsRef<Path>) -> Result<(), FileError> {
    disk::save(path.as_ref(), Privacy::Public, Old::Replaced, |out| write_params(params, out))
}

/// Reads parameters from a file.
///
/// # Errors
/// Any [`FileError`].
pub fn load_params(path: impl AsRef<Path>) -> Result<Params, FileError> {
    disk::load(path.as_ref(), |input| read_params(input))
}
