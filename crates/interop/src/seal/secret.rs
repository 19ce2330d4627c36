//! `SecretKey`: ternary coefficients, stored as a plaintext over all primes.

use std::fmt;

use ringmill_ring::sample::small_to_residues;
use ringmill_ring::{LimbRing, Modulus};
use zeroize::Zeroizing;

use super::payload::{Input, Output};
use super::plaintext::{FIELDS, take_fields};
use super::{EncryptionParameters, Object, SealError};

/// A secret key: wiped on drop, never printed.
pub struct SecretKey {
    coefficients: Zeroizing<Vec<i8>>,
}

const NAME: &str = "secret key";

impl SecretKey {
    /// From its coefficients, each −1, 0 or 1.
    ///
    /// # Errors
    /// [`SealError::Secret`].
    pub fn new(coefficients: Zeroizing<Vec<i8>>) -> Result<Self, SealError> {
        match coefficients.iter().all(|c| (-1..=1).contains(c)) {
            true => Ok(Self { coefficients }),
            false => Err(SealError::Secret { why: "a coefficient is not -1, 0 or 1" }),
        }
    }

    /// The coefficients: to make a key of another kind, and for nothing else.
    pub fn expose_coefficients(&self) -> &[i8] {
        &self.coefficients
    }
}

fn ring(parameters: &EncryptionParameters, index: usize) -> Result<LimbRing, SealError> {
    let content = |source: ringmill_ring::RingError| SealError::Content { what: NAME, source: source.into() };
    let modulus = Modulus::new(parameters.moduli()[index]).map_err(content)?;
    LimbRing::new(parameters.n().trailing_zeros(), modulus).map_err(content)
}

/// The coefficients modulo a prime, transformed.
fn residues(ring: &LimbRing, coefficients: &[i8]) -> Result<Zeroizing<Vec<u64>>, SealError> {
    let content = |source: ringmill_ring::RingError| SealError::Content { what: NAME, source: source.into() };
    let mut words = Zeroizing::new(vec![0; coefficients.len()]);
    small_to_residues(coefficients, ring.modulus(), &mut words).map_err(content)?;
    ring.forward(&mut words).map_err(content)?;
    Ok(words)
}

/// The next limb of N words.
fn limb(n: usize, input: &mut Input<'_>) -> Result<Zeroizing<Vec<u64>>, SealError> {
    let mut bytes = Zeroizing::new(vec![0; 8 * n]);
    input.bytes(NAME, &mut bytes)?;
    Ok(Zeroizing::new(bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect()))
}

impl Object for SecretKey {
    type Context = EncryptionParameters;
    const NAME: &'static str = NAME;

    fn take(parameters: &EncryptionParameters, input: &mut Input<'_>) -> Result<Self, SealError> {
        let n = parameters.n();
        let read = |input: &mut Input<'_>, moduli: &[u64]| {
            if moduli.len() != parameters.moduli().len() {
                let rule = "keys stand at that of all primes";
                return Err(SealError::Level { what: NAME, found: moduli.len(), rule });
            }
            let first = ring(parameters, 0)?;
            let mut words = limb(n, input)?;
            let transformed = words.clone();
            let q = first.modulus();
            if let Some(&value) = words.iter().find(|&&word| word >= q.value()) {
                return Err(SealError::NotCanonical { what: NAME, limb: 0, value, modulus: q.value() });
            }
            let content =
                |source: ringmill_ring::RingError| SealError::Content { what: NAME, source: source.into() };
            first.inverse(&mut words).map_err(content)?;
            let small =
                words.iter().map(|&w| i8::try_from(q.centred(w)).ok().filter(|c| (-1..=1).contains(c)));
            let small: Option<Vec<i8>> = small.collect();
            let ternary =
                "a coefficient is not -1, 0 or 1; read it with the parameters that it was made with";
            let key = Self { coefficients: Zeroizing::new(small.ok_or(SealError::Secret { why: ternary })?) };
            let mut words = transformed;
            for index in 0..moduli.len() {
                if index > 0 {
                    words = limb(n, input)?;
                }
                if words != residues(&ring(parameters, index)?, &key.coefficients)? {
                    return Err(SealError::Secret {
                        why: "its residues modulo one prime are not those modulo another",
                    });
                }
            }
            Ok(key)
        };
        Ok(take_fields(NAME, parameters, input, read)?.0)
    }

    fn put(&self, parameters: &EncryptionParameters, out: &mut Output<'_>) -> Result<(), SealError> {
        if self.coefficients.len() != parameters.n() {
            return Err(SealError::Secret {
                why: "it has not as many coefficients as the parameters' degree",
            });
        }
        let limbs = parameters.moduli().len();
        let words = (limbs * parameters.n()) as u64;
        parameters.put_level(limbs, out)?;
        out.word(words)?;
        out.float(1.0)?;
        out.object(8 + 8 * words, |out| {
            out.word(words)?;
            (0..limbs).try_for_each(|i| out.words(&residues(&ring(parameters, i)?, &self.coefficients)?))
        })
    }

    fn payload_len(&self, parameters: &EncryptionParameters) -> u64 {
        FIELDS + 8 * (parameters.moduli().len() * parameters.n()) as u64
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(…)")
    }
}
