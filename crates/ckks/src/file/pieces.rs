//! A file of evaluation keys by pieces: files of one key each, which together hold what it holds.
//!
//! A piece depends on its key alone, whatever else the file holds: a key that two files have is the same piece of both.

use std::io::{Read, Seek, SeekFrom, Write};

use super::frame::{self, Front, Hashed};
use super::header::{Keyed, KeysHeader};
use super::objects::{Codec, damaged};
use super::{FileError, Kind, encapsulation, passed, payload_len};
use crate::keys::EvaluationKeys;
use crate::params::Params;

const KIND: Kind = Kind::EvaluationKeys;

/// Where the keys of a file lie.
#[derive(Debug)]
pub struct KeyPieces {
    front: Front,
    /// The header of each piece, where its residues begin, and their bytes.
    pieces: Vec<(KeysHeader, u64, u64)>,
}

impl KeyPieces {
    /// Reads a file of keys to its end, in constant memory, and finds its keys.
    ///
    /// Keys are of one size, which follows from their number. With an encapsulation key, which has another size, it does not:
    /// without parameters such a file is one piece.
    ///
    /// # Errors
    /// As [`inspect_keys`](super::inspect_keys); [`FileError::Context`] for keys of other parameters,
    /// [`FileError::PayloadLength`], [`FileError::Header`], [`FileError::Trailing`].
    pub fn find(mut input: impl Read, params: Option<&Params>) -> Result<Self, FileError> {
        let check = |front: &Front| {
            front.expect(KIND)?;
            let keyed = EvaluationKeys::decode(front.version, &front.header)?;
            if let Some(params) = params {
                front.expect_context(params.fingerprint())?;
                let (count, limbs) = EvaluationKeys::shape(params, &keyed)?;
                let moduli = EvaluationKeys::moduli(params, &keyed, limbs);
                front.expect_payload(payload_len(params, count, &moduli).unwrap_or(u64::MAX))?;
            }
            Ok((front.clone(), keyed))
        };
        let (_, (front, keyed)) = passed(&mut input, check)?;
        if input.read(&mut [0]).map_err(FileError::io("reading"))? > 0 {
            return Err(FileError::Trailing);
        }
        let pieces = pieces(&front, &keyed, params)?;
        Ok(Self { front, pieces })
    }

    /// The number of pieces.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Whether the file holds no key.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Writes a piece as a file of its own, given the file that was read.
    ///
    /// # Errors
    /// [`FileError::Io`]; [`FileError::Truncated`] if the file was cut since then.
    ///
    /// # Panics
    /// If there is no such piece, like every index.
    pub fn write(&self, index: usize, mut input: impl Read + Seek, out: impl Write) -> Result<(), FileError> {
        let (header, first, size) = &self.pieces[index];
        input.seek(SeekFrom::Start(*first)).map_err(FileError::io("reading"))?;
        let (mut input, mut out) = (Hashed::new(input), Hashed::new(out));
        let front = Front { header: frame::encode(KIND, header)?, payload: *size, ..self.front.clone() };
        front.write(&mut out)?;
        let (mut block, mut left) = (vec![0; 1 << 16], *size);
        while left > 0 {
            let next = left.min(block.len() as u64) as usize;
            input.take("residues", &mut block[..next])?;
            out.put(&block[..next])?;
            left -= next as u64;
        }
        out.seal()
    }
}

type Piece = (KeysHeader, u64, u64);

fn pieces(
    front: &Front,
    keyed: &Keyed<KeysHeader>,
    params: Option<&Params>,
) -> Result<Vec<Piece>, FileError> {
    let first = front.bytes();
    let header = &keyed.header;
    let (other, elements) = encapsulation::split(&header.galois);
    let count = (elements.len() + usize::from(header.relin.is_some())) as u64;
    let beside = match (other, params) {
        (None, _) => 0,
        (Some(_), Some(params)) => {
            let moduli = EvaluationKeys::moduli(params, keyed, params.key_limbs());
            payload_len(params, encapsulation::POLYS, &moduli).unwrap_or(u64::MAX)
        }
        (Some(_), None) => return Ok(vec![(header.clone(), first, front.payload)]),
    };
    let all = front.payload.checked_sub(beside).filter(|all| all % count.max(1) == 0);
    let key = all.ok_or_else(|| damaged(KIND)("its keys are not of one size".into()))? / count.max(1);
    let (relin, galois) = (header.relin, header.galois.iter());
    let alone = relin.map(|seed| (KeysHeader { relin: Some(seed), galois: Vec::new() }, key));
    let others = galois.enumerate().map(|(at, entry)| {
        let size = if at == 0 && other.is_some() { beside } else { key };
        (KeysHeader { relin: None, galois: vec![*entry] }, size)
    });
    let mut at = first;
    let placed = alone.into_iter().chain(others).map(|(header, size)| {
        at += size;
        (header, at - size, size)
    });
    Ok(placed.collect())
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::file::{Stored, inspect_keys};
    use crate::keys::{GaloisKeys, KeyGenerator, RelinKey};
    use crate::params::ParamsLiteral;
    use crate::testing::{bare, randomness};

    fn params() -> Params {
        Params::new(&ParamsLiteral::from_bits(10, &[45, 36, 36], &[50], 3).insecure()).unwrap()
    }

    fn keys(params: &Params, encapsulation: bool) -> EvaluationKeys {
        let mut g = KeyGenerator::with_randomness(params, randomness(34));
        let secret = g.secret_key().unwrap();
        let keys = g.evaluation_keys(&secret, &[1, -3, 7], true).unwrap();
        let key = g.encapsulation_key(&secret).unwrap();
        if encapsulation { keys.with_encapsulation(key).unwrap() } else { keys }
    }

    fn split(file: &[u8], params: Option<&Params>) -> Vec<Vec<u8>> {
        let pieces = KeyPieces::find(file, params).unwrap();
        let written = |index| {
            let mut piece = Vec::new();
            pieces.write(index, Cursor::new(file), &mut piece).unwrap();
            piece
        };
        (0..pieces.len()).map(written).collect()
    }

    /// The same keys with both halves in their file.
    fn explicit(keys: &EvaluationKeys) -> EvaluationKeys {
        let mut galois = GaloisKeys::new(keys.params());
        for (element, key) in keys.galois().iter() {
            galois.insert(element, bare(key)).unwrap();
        }
        EvaluationKeys::new(keys.relin().ok().map(|key| RelinKey(bare(&key.0))), galois).unwrap()
    }

    #[test]
    fn pieces_hold_what_the_file_holds() {
        let params = params();
        let seeded = keys(&params, false);
        for (keys, count) in [(seeded.clone(), 5), (keys(&params, true), 6), (explicit(&seeded), 5)] {
            let file = keys.to_bytes().unwrap();
            let pieces = split(&file, Some(&params));
            assert_eq!(pieces.len(), count);
            let read = pieces.iter().map(|piece| EvaluationKeys::from_bytes(&params, piece).unwrap());
            let read: Vec<_> = read.collect();
            for one in &read {
                let held = usize::from(one.relin().is_ok()) + one.galois().len();
                assert_eq!(held + usize::from(one.encapsulation().is_ok()), 1);
                assert_eq!(one.identity(), keys.identity());
            }
            let joined = EvaluationKeys::joined(&params, read.clone()).unwrap();
            assert_eq!(joined, keys);
            assert_eq!(joined.to_bytes().unwrap(), file, "as if it had never been divided");
            assert_eq!(EvaluationKeys::joined(&params, read.into_iter().rev()).unwrap(), keys);
            // A piece of one key is a file that has one piece: itself.
            assert_eq!(split(&pieces[1], Some(&params)), vec![pieces[1].clone()]);
        }
    }

    #[test]
    fn a_key_is_the_same_piece_of_every_file() {
        let params = params();
        let mut g = KeyGenerator::with_randomness(&params, randomness(35));
        let secret = g.secret_key().unwrap();
        let few = g.evaluation_keys(&secret, &[1, 2], true).unwrap();
        let mut galois = few.galois().clone();
        for (element, key) in g.evaluation_keys(&secret, &[5], false).unwrap().galois().iter() {
            galois.insert(element, key.clone()).unwrap();
        }
        let more = few.with_switch_keys(few.relin().ok().cloned(), galois).unwrap();
        // Without parameters as with them.
        let [few, more] = [few, more].map(|keys| split(&keys.to_bytes().unwrap(), None));
        assert_eq!((few.len(), more.len()), (4, 5));
        assert_eq!(few.iter().filter(|piece| more.contains(piece)).count(), 4);
    }

    #[test]
    fn what_is_no_whole_file_of_keys_has_no_pieces() {
        let params = params();
        let file = keys(&params, true).to_bytes().unwrap();
        // The encapsulation key has another size than the others.
        assert_eq!(split(&file, None), vec![file.clone()]);
        assert!(KeyPieces::find(&file[..file.len() - 1], None).is_err());
        let longer = [&file[..], &[0]].concat();
        assert!(matches!(KeyPieces::find(&longer[..], None), Err(FileError::Trailing)));
        let mut edited = file.clone();
        edited[file.len() / 2] ^= 1;
        assert!(matches!(KeyPieces::find(&edited[..], None), Err(FileError::Checksum { .. })));
        let other = Params::new(&ParamsLiteral::from_bits(10, &[45, 36], &[50], 2).insecure()).unwrap();
        assert!(matches!(KeyPieces::find(&file[..], Some(&other)), Err(FileError::Context { .. })));
        let empty = EvaluationKeys::new(None, GaloisKeys::new(&params)).unwrap().to_bytes().unwrap();
        assert!(KeyPieces::find(&empty[..], Some(&params)).unwrap().is_empty());
        let pieces = KeyPieces::find(&file[..], Some(&params)).unwrap();
        let cut = pieces.write(5, Cursor::new(&file[..file.len() - 100]), Vec::new());
        assert!(matches!(cut, Err(FileError::Truncated { .. })));
        assert_eq!(inspect_keys(&split(&file, Some(&params))[1][..]).unwrap().1.galois, [0u64; 0]);
    }

    #[test]
    fn sets_of_other_keys_are_not_joined() {
        let params = params();
        let mut g = KeyGenerator::with_randomness(&params, randomness(36));
        let sets = [(); 2].map(|()| {
            let secret = g.secret_key().unwrap();
            g.evaluation_keys(&secret, &[1], true).unwrap()
        });
        assert!(EvaluationKeys::joined(&params, sets.clone()).is_err());
        let other = Params::new(&ParamsLiteral::from_bits(10, &[45, 36], &[50], 2).insecure()).unwrap();
        assert!(EvaluationKeys::joined(&other, [sets[0].clone()]).is_err());
        // Of a key that both have, the first is taken.
        let again = EvaluationKeys::joined(&params, [sets[0].clone(), sets[0].clone()]).unwrap();
        assert_eq!(again, sets[0]);
        assert!(EvaluationKeys::joined(&params, []).unwrap().identity().is_none());
    }
}
