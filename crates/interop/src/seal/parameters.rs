//! `EncryptionParameters`, `Modulus` and the identity of a level.

use std::fmt;

use super::header::HEADER;
use super::payload::{Input, Output};
use super::{Object, SealError};

/// The schemes of SEAL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Scheme {
    /// CKKS.
    Ckks = 2,
}

/// Identity of a level: BLAKE2b-256 over its parameters.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ParmsId(pub [u64; 4]);

impl fmt::Display for ParmsId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}…", self.0[0])
    }
}

impl fmt::Debug for ParmsId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ParmsId({self})")
    }
}

/// The parameters of a context: degree and moduli, the special prime last.
///
/// With one modulus alone there is no special prime and nothing can switch keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncryptionParameters {
    n: usize,
    moduli: Vec<u64>,
    /// Of the first 1, 2, … moduli.
    ids: Vec<ParmsId>,
}

const NAME: &str = "set of encryption parameters";
/// log2 of the greatest degree.
const MAX_LOG_N: u32 = 17;
const MAX_MODULI: usize = 64;

impl EncryptionParameters {
    /// Parameters of CKKS.
    ///
    /// # Errors
    /// [`SealError::Degree`], [`SealError::ModulusCount`], [`SealError::Modulus`].
    pub fn ckks(n: u64, moduli: Vec<u64>) -> Result<Self, SealError> {
        if !n.is_power_of_two() || !(2..=1 << MAX_LOG_N).contains(&n) {
            return Err(SealError::Degree { found: n });
        }
        if !(1..=MAX_MODULI).contains(&moduli.len()) {
            return Err(SealError::ModulusCount { found: moduli.len() as u64 });
        }
        for (index, &found) in moduli.iter().enumerate() {
            if !(2..1 << 60).contains(&found) || moduli[..index].contains(&found) {
                return Err(SealError::Modulus { index, found });
            }
        }
        let ids = (1..=moduli.len()).map(|count| parms_id(n, &moduli[..count])).collect();
        Ok(Self { n: n as usize, moduli, ids })
    }

    /// N.
    pub fn n(&self) -> usize {
        self.n
    }

    /// All moduli; the last one is the special prime, if there are several.
    pub fn moduli(&self) -> &[u64] {
        &self.moduli
    }

    /// Moduli of the top level of data.
    pub fn top(&self) -> usize {
        (self.moduli.len() - 1).max(1)
    }

    /// Identity of the level of keys.
    pub fn key_id(&self) -> ParmsId {
        self.ids[self.moduli.len() - 1]
    }

    /// Identity of the level of the first `limbs` moduli.
    pub fn id(&self, limbs: usize) -> Option<ParmsId> {
        self.ids.get(limbs.checked_sub(1)?).copied()
    }

    /// Moduli of the level with this identity.
    pub(super) fn limbs(&self, what: &'static str, id: ParmsId) -> Result<usize, SealError> {
        let place = self.ids.iter().position(|&known| known == id);
        let other = || SealError::OtherParameters { what, found: id, key: self.key_id() };
        place.map(|place| place + 1).ok_or_else(other)
    }

    /// Reads an identity and gives the moduli of its level.
    pub(super) fn take_level(&self, what: &'static str, input: &mut Input<'_>) -> Result<usize, SealError> {
        let mut id = [0; 4];
        for word in &mut id {
            *word = input.word(what)?;
        }
        self.limbs(what, ParmsId(id))
    }

    /// The same for what stands at the level of keys.
    pub(super) fn take_key_level(&self, what: &'static str, input: &mut Input<'_>) -> Result<(), SealError> {
        match self.take_level(what, input)? {
            found if found == self.moduli.len() => Ok(()),
            found => Err(SealError::Level { what, found, rule: "keys stand at that of all primes" }),
        }
    }

    /// Writes the identity of a level.
    pub(super) fn put_level(&self, limbs: usize, out: &mut Output<'_>) -> Result<(), SealError> {
        out.words(&self.ids[limbs - 1].0)
    }
}

fn parms_id(n: u64, moduli: &[u64]) -> ParmsId {
    let mut state = blake2b_simd::Params::new().hash_length(32).to_state();
    for word in [Scheme::Ckks as u64, n].iter().chain(moduli).chain([&0]) {
        state.update(&word.to_le_bytes());
    }
    let hash = state.finalize();
    let (words, _) = hash.as_bytes().as_chunks();
    ParmsId(std::array::from_fn(|i| u64::from_le_bytes(words[i])))
}

/// Payload and header of a `Modulus`.
const MODULUS: u64 = HEADER + 8;

impl Object for EncryptionParameters {
    type Context = ();
    const NAME: &'static str = NAME;

    fn take((): &(), input: &mut Input<'_>) -> Result<Self, SealError> {
        let modulus = |input: &mut Input<'_>| input.object("modulus", |input| input.word("modulus"));
        let name = match input.byte(NAME)? {
            2 => None,
            0 => Some((0, "none")),
            1 => Some((1, "BFV")),
            3 => Some((3, "BGV")),
            found => Some((found, "unknown")),
        };
        if let Some((found, name)) = name {
            return Err(SealError::Scheme { found, name });
        }
        let (n, count) = (input.word(NAME)?, input.word(NAME)?);
        if !(1..=MAX_MODULI as u64).contains(&count) {
            return Err(SealError::ModulusCount { found: count });
        }
        let moduli = (0..count).map(|_| modulus(input)).collect::<Result<_, _>>()?;
        match modulus(input)? {
            0 => Self::ckks(n, moduli),
            found => Err(SealError::PlainModulus { found }),
        }
    }

    fn put(&self, (): &(), out: &mut Output<'_>) -> Result<(), SealError> {
        out.bytes(&[Scheme::Ckks as u8])?;
        out.word(self.n as u64)?;
        out.word(self.moduli.len() as u64)?;
        // The plain modulus of CKKS is 0.
        for &modulus in self.moduli.iter().chain([&0]) {
            out.object(8, |out| out.word(modulus))?;
        }
        Ok(())
    }

    fn payload_len(&self, (): &()) -> u64 {
        1 + 8 + 8 + (self.moduli.len() as u64 + 1) * MODULUS
    }
}
