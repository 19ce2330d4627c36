//! `Ciphertext` and `PublicKey`, whole or with a seed in place of the last polynomial.

use std::fmt;

use ringmill_ring::Poly;

use super::header::HEADER;
use super::payload::{Input, Output};
use super::plaintext::check;
use super::prng::{PrngKind, SEED, expand};
use super::{EncryptionParameters, Object, SealError};

/// The seed that a polynomial expands from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeedWithKind {
    /// Its generator.
    pub kind: PrngKind,
    /// Its bytes.
    pub seed: [u8; SEED],
}

/// A ciphertext over the first moduli of a context, in NTT form.
#[derive(Clone, PartialEq)]
pub struct Ciphertext {
    /// Two polynomials or more, in the evaluation domain.
    pub polys: Vec<Poly>,
    /// What the message is multiplied by.
    pub scale: f64,
    /// The seed of the last polynomial, where it has one: it is then written in its place.
    pub seed: Option<SeedWithKind>,
}

/// A public key or a digit of a key-switching key: an encryption over all moduli of a context.
#[derive(Clone, PartialEq)]
pub struct PublicKey(pub Ciphertext);

const MAX_POLYS: u64 = 16;
/// Fields before the words, and the frame of the words.
const FIELDS: u64 = 32 + 1 + 3 * 8 + 8 + 8 + HEADER + 8;
const SEED_OBJECT: u64 = HEADER + 1 + SEED as u64;

impl Ciphertext {
    /// Moduli of its level.
    pub fn limbs(&self) -> usize {
        self.polys.first().map_or(0, Poly::limb_count)
    }

    /// Polynomials that are written.
    fn stored(&self) -> &[Poly] {
        &self.polys[..self.polys.len() - usize::from(self.seed.is_some())]
    }

    fn words(&self) -> u64 {
        self.stored().iter().map(|p| p.words().len() as u64).sum()
    }

    fn take_as(
        what: &'static str,
        parameters: &EncryptionParameters,
        input: &mut Input<'_>,
    ) -> Result<Self, SealError> {
        let limbs = parameters.take_level(what, input)?;
        if input.byte(what)? != 1 {
            return Err(SealError::NotNtt { what });
        }
        let (n, moduli) = (parameters.n(), &parameters.moduli()[..limbs]);
        let field = |field, found, right: bool, expected: &dyn fmt::Display| match right {
            true => Ok(()),
            false => Err(SealError::Field { what, field, found, expected: expected.to_string() }),
        };
        let count = input.word(what)?;
        field("a number of polynomials of", count, (2..=MAX_POLYS).contains(&count), &"2 to 16")?;
        let found = input.word(what)?;
        field("a degree of", found, found == n as u64, &n)?;
        let found = input.word(what)?;
        field("a number of primes of", found, found == limbs as u64, &limbs)?;
        let scale = input.scale(what)?;
        let found = input.word(what)?;
        field("the correction factor", found, found == 1, &"1, that of CKKS,")?;
        let words = (n * limbs) as u64;
        let (mut polys, seeded) = input.object(what, |input| {
            let found = input.word(what)?;
            let whole = found == count * words;
            let expected = format_args!("{} or, with a seed, {}", count * words, (count - 1) * words);
            field("a number of words of", found, whole || found == (count - 1) * words, &expected)?;
            let stored = count - u64::from(!whole);
            let polys = (0..stored).map(|_| input.poly(what, n, moduli)).collect::<Result<Vec<_>, _>>()?;
            Ok((polys, !whole))
        })?;
        let mut seed = None;
        if seeded {
            let found = input.object("seed", |input| {
                let kind = PrngKind::from_number(input.byte("seed")?)?;
                let mut seed = [0; SEED];
                input.bytes("seed", &mut seed)?;
                Ok(SeedWithKind { kind, seed })
            })?;
            polys.push(expand(found.kind, &found.seed, n, moduli));
            seed = Some(found);
        }
        Ok(Self { polys, scale, seed })
    }

    fn put_as(
        &self,
        what: &'static str,
        parameters: &EncryptionParameters,
        out: &mut Output<'_>,
    ) -> Result<(), SealError> {
        let count = self.polys.len() as u64;
        if !(2..=MAX_POLYS).contains(&count) {
            let expected = "2 to 16".to_owned();
            return Err(SealError::Field {
                what,
                field: "a number of polynomials of",
                found: count,
                expected,
            });
        }
        self.polys.iter().try_for_each(|poly| check(what, parameters, poly))?;
        parameters.put_level(self.limbs(), out)?;
        out.bytes(&[1])?;
        out.word(count)?;
        out.word(parameters.n() as u64)?;
        out.word(self.limbs() as u64)?;
        out.float(self.scale)?;
        out.word(1)?;
        out.object(8 + 8 * self.words(), |out| {
            out.word(self.words())?;
            self.stored().iter().try_for_each(|poly| out.words(poly.words()))
        })?;
        match &self.seed {
            None => Ok(()),
            Some(SeedWithKind { kind, seed }) => out.object(SEED_OBJECT - HEADER, |out| {
                out.bytes(&[*kind as u8])?;
                out.bytes(seed)
            }),
        }
    }

    fn len(&self) -> u64 {
        FIELDS + 8 * self.words() + if self.seed.is_some() { SEED_OBJECT } else { 0 }
    }
}

impl Object for Ciphertext {
    type Context = EncryptionParameters;
    const NAME: &'static str = "ciphertext";

    fn take(parameters: &EncryptionParameters, input: &mut Input<'_>) -> Result<Self, SealError> {
        let cipher = Self::take_as(Self::NAME, parameters, input)?;
        match cipher.limbs() {
            found if found > parameters.top() => {
                let rule =
                    "ciphertexts stand below that of keys, the special prime left out: is it a public key?";
                Err(SealError::Level { what: Self::NAME, found, rule })
            }
            _ => Ok(cipher),
        }
    }

    fn put(&self, parameters: &EncryptionParameters, out: &mut Output<'_>) -> Result<(), SealError> {
        self.put_as(Self::NAME, parameters, out)
    }

    fn payload_len(&self, _: &EncryptionParameters) -> u64 {
        self.len()
    }
}

impl Object for PublicKey {
    type Context = EncryptionParameters;
    const NAME: &'static str = "public key";

    fn take(parameters: &EncryptionParameters, input: &mut Input<'_>) -> Result<Self, SealError> {
        let key = Ciphertext::take_as(Self::NAME, parameters, input)?;
        let (found, what) = (key.limbs(), Self::NAME);
        if found != parameters.moduli().len() {
            return Err(SealError::Level { what, found, rule: "keys stand at that of all primes" });
        }
        match key.polys.len() {
            2 => Ok(Self(key)),
            count => Err(SealError::Field {
                what,
                field: "a number of polynomials of",
                found: count as u64,
                expected: "2".into(),
            }),
        }
    }

    fn put(&self, parameters: &EncryptionParameters, out: &mut Output<'_>) -> Result<(), SealError> {
        self.0.put_as(Self::NAME, parameters, out)
    }

    fn payload_len(&self, _: &EncryptionParameters) -> u64 {
        self.0.len()
    }
}

/// Shape and scale, never residues.
impl fmt::Debug for Ciphertext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seeded = if self.seed.is_some() { ", seeded" } else { "" };
        write!(
            f,
            "Ciphertext({} polynomials, {} primes, scale {}{seeded})",
            self.polys.len(),
            self.limbs(),
            self.scale
        )
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({} primes)", self.0.limbs())
    }
}
