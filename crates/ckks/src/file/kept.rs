//! Evaluation keys that stay as they are in their file.
//!
//! The file is read once, polynomial by polynomial, as it is for expanded keys: lengths, checksum and every residue are what
//! they should be before there is a key. After that nothing is parsed again: a key switch unpacks where it reads.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use ringmill_ring::GaloisElement;

use super::frame::{Front, Hashed};
use super::header::{Keyed, KeysHeader, SeedBytes};
use super::objects::{EXPLICIT, content};
use super::{FileError, Opened, Stored, disk, encapsulation, open, payload_len, read_poly};
use crate::keys::{
    Bytes, EncapsulationKey, EvaluationKeys, GaloisKeys, KeyForm, KeyIdentity, KeyLayout, KeyMemory,
    RelinKey, SwitchKey,
};
use crate::params::Params;

impl EvaluationKeys {
    /// Reads the keys from a file, to be kept as `memory` says.
    ///
    /// # Errors
    /// Any [`FileError`], before there is a key.
    pub fn load_in(params: &Params, path: impl AsRef<Path>, memory: KeyMemory) -> Result<Self, FileError> {
        let path = path.as_ref();
        // Keys without seeds have no half to leave out.
        let memory = match memory {
            KeyMemory::Expanded => memory,
            _ if version(path)? == EXPLICIT => KeyMemory::Expanded,
            _ => memory,
        };
        match memory {
            KeyMemory::Expanded => Self::load(params, path),
            KeyMemory::Seeded => disk::load(path, |file: &mut File| {
                let mut kept = Kept { input: file, bytes: Vec::new() };
                let checked = Checked::read(params, &mut kept)?;
                let mut bytes = kept.bytes;
                bytes.shrink_to_fit();
                checked.keys(params, bytes.into())
            }),
            KeyMemory::Mapped => disk::load(path, |file: &mut File| {
                let checked = Checked::read(params, &mut *file)?;
                // What follows is refused unmapped.
                let map = |file: &mut File| match file.metadata()?.len() {
                    len if len > checked.end as u64 => Ok(None),
                    _ => Bytes::map(file).map(Some),
                };
                let bytes = map(file).map_err(FileError::io(format!("mapping {}", path.display())))?;
                checked.keys(params, bytes.ok_or(FileError::Trailing)?)
            }),
        }
    }
}

/// The version of a file.
fn version(path: &Path) -> Result<u16, FileError> {
    let file = File::open(path).map_err(FileError::io(format!("reading {}", path.display())))?;
    Ok(Front::read(&mut Hashed::new(file))?.version)
}

/// Keeps what is read of a file: no more than the checks ask for, which read one polynomial after the other, as many as the header
/// announces.
struct Kept<R> {
    input: R,
    bytes: Vec<u8>,
}

impl<R: Read> Read for Kept<R> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let count = self.input.read(out)?;
        self.bytes.extend_from_slice(&out[..count]);
        Ok(count)
    }
}

/// A file of keys that was read to its end, and what it holds besides the residues of key-switching keys.
struct Checked {
    header: KeysHeader,
    identity: Option<KeyIdentity>,
    encapsulation: Option<EncapsulationKey>,
    /// Where the polynomials begin, bytes of each one, and where the file ends.
    first: usize,
    poly: usize,
    end: usize,
}

impl Checked {
    fn read(params: &Params, input: impl Read) -> Result<Self, FileError> {
        let mut input = Hashed::new(input);
        let opened = open::<EvaluationKeys, _>(params, &mut input)?;
        let Opened { header: Keyed { header, .. }, identity, count, moduli } = opened;
        let first = input.passed() as usize;
        let before = if header.relin.is_some() { params.dnum() } else { 0 };
        let (seed, _) = encapsulation::split(&header.galois);
        let own = before..before + if seed.is_some() { encapsulation::POLYS } else { 0 };
        let mut polys = Vec::new();
        for k in 0..count {
            let poly = read_poly(EvaluationKeys::KIND, params, &moduli, &mut input)?;
            if own.contains(&k) {
                polys.push(poly);
            }
        }
        let (end, poly) =
            (input.passed() as usize + 32, payload_len(params, 1, &moduli).unwrap_or(0) as usize);
        input.verify(EvaluationKeys::KIND)?;
        let mut polys = polys.into_iter();
        let take = |seed| encapsulation::take(EvaluationKeys::KIND, params, (seed, identity), &mut polys);
        Ok(Self { encapsulation: seed.map(take).transpose()?, header, identity, first, poly, end })
    }

    /// The keys of which the bytes of this file hold the halves.
    fn keys(self, params: &Params, bytes: Bytes) -> Result<EvaluationKeys, FileError> {
        let content = |e| content(EvaluationKeys::KIND)(e);
        match bytes.len() {
            // The file was changed between reading and mapping.
            len if len < self.end => return Err(FileError::Truncated { part: "residues", got: len as u64 }),
            len if len > self.end => return Err(FileError::Trailing),
            _ => {}
        }
        let (bytes, layout) = (Arc::new(bytes), KeyLayout::base(params));
        let mut at = self.first;
        let mut next = |seed: SeedBytes, skip: usize| {
            let first = at + skip * self.poly;
            at = first + layout.dnum() * self.poly;
            let place = (bytes.clone(), first);
            SwitchKey::of_base(KeyForm::from_halves(params, layout, place, seed.into(), self.identity))
        };
        let relin = self.header.relin.map(|seed| RelinKey(next(seed, 0)));
        let (_, elements) = encapsulation::split(&self.header.galois);
        let mut skip = if self.encapsulation.is_some() { encapsulation::POLYS } else { 0 };
        let mut galois = GaloisKeys::new(params);
        for &(g, seed) in elements {
            let element = GaloisElement::new(g, params.log_n()).map_err(|e| content(e.into()))?;
            galois.insert(element, next(seed, std::mem::take(&mut skip))).map_err(content)?;
        }
        let keys = EvaluationKeys::new(relin, galois).map_err(content)?;
        match self.encapsulation {
            Some(key) => keys.with_encapsulation(key).map_err(content),
            None => Ok(keys),
        }
    }
}
