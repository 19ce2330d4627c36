//! `Plaintext`: an encoded message in NTT form.

use std::fmt;

use ringmill_ring::Poly;

use super::header::HEADER;
use super::payload::{Input, Output};
use super::{EncryptionParameters, Object, SealError};

/// An encoded message over the first moduli of a context.
#[derive(Clone, PartialEq)]
pub struct Plaintext {
    /// The polynomial, in the evaluation domain.
    pub poly: Poly,
    /// What the message is multiplied by.
    pub scale: f64,
}

const NAME: &str = "plaintext";

/// Bytes of the fields before the words of a plaintext, and of the frame of the words.
pub(super) const FIELDS: u64 = 32 + 8 + 8 + HEADER + 8;

/// Reads the fields of a plaintext and its words over the moduli of its level by `words`.
pub(super) fn take_fields<T>(
    what: &'static str,
    parameters: &EncryptionParameters,
    input: &mut Input<'_>,
    words: impl FnOnce(&mut Input<'_>, &[u64]) -> Result<T, SealError>,
) -> Result<(T, f64), SealError> {
    let limbs = parameters.take_level(what, input)?;
    let words_of = (limbs * parameters.n()) as u64;
    let expect = |field, found| match found == words_of {
        true => Ok(()),
        false => Err(SealError::Field {
            what,
            field,
            found,
            expected: format!("N times {limbs} primes, {words_of},"),
        }),
    };
    expect("coefficient count", input.word(what)?)?;
    let scale = input.scale(what)?;
    let content = input.object(what, |input| {
        expect("size", input.word(what)?)?;
        words(input, &parameters.moduli()[..limbs])
    })?;
    Ok((content, scale))
}

impl Object for Plaintext {
    type Context = EncryptionParameters;
    const NAME: &'static str = NAME;

    fn take(parameters: &EncryptionParameters, input: &mut Input<'_>) -> Result<Self, SealError> {
        let words = |input: &mut Input<'_>, moduli: &[u64]| input.poly(NAME, parameters.n(), moduli);
        let (poly, scale) = take_fields(NAME, parameters, input, words)?;
        Ok(Self { poly, scale })
    }

    fn put(&self, parameters: &EncryptionParameters, out: &mut Output<'_>) -> Result<(), SealError> {
        check(NAME, parameters, &self.poly)?;
        let words = self.poly.words();
        parameters.put_level(self.poly.limb_count(), out)?;
        out.word(words.len() as u64)?;
        out.float(self.scale)?;
        out.object(8 + size_of_val(words) as u64, |out| {
            out.word(words.len() as u64)?;
            out.words(words)
        })
    }

    fn payload_len(&self, _: &EncryptionParameters) -> u64 {
        FIELDS + size_of_val(self.poly.words()) as u64
    }
}

/// That a polynomial stands at a level of the parameters.
pub(super) fn check(
    what: &'static str,
    parameters: &EncryptionParameters,
    poly: &Poly,
) -> Result<(), SealError> {
    let (limbs, most) = (poly.limb_count(), parameters.moduli().len());
    if poly.n() != parameters.n() {
        let expected = parameters.n().to_string();
        return Err(SealError::Field { what, field: "a degree of", found: poly.n() as u64, expected });
    }
    if !(1..=most).contains(&limbs) {
        let expected = format!("1 to {most}");
        return Err(SealError::Field { what, field: "a number of primes of", found: limbs as u64, expected });
    }
    Ok(())
}

/// Everything but the message.
impl fmt::Debug for Plaintext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Plaintext({} primes, scale {})", self.poly.limb_count(), self.scale)
    }
}
