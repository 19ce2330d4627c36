//! Plaintexts and ciphertexts: data with level, exact scale, slots and predicted error.

use std::fmt;

use ringmill_ring::sample::{Seed, uniform};
use ringmill_ring::{Domain, Poly};

use crate::check;
use crate::error::CkksError;
use crate::keys::KeyIdentity;
use crate::limbs;
use crate::noise::Noise;
use crate::params::{Level, Params};
use crate::randomness::CIPHERTEXT_LABEL;
use crate::scale::Scale;

/// What a polynomial of a plaintext or ciphertext stands for.
#[derive(Debug, Clone, PartialEq)]
pub struct Meta {
    /// Rescales that remain.
    pub level: Level,
    /// What the message is multiplied by.
    pub scale: Scale,
    /// Packed slots: a power of two up to N/2.
    pub slots: usize,
    /// Predicted error and declared magnitude.
    pub noise: Noise,
}

impl Meta {
    fn check(&self, params: &Params) -> Result<(), CkksError> {
        check::level(params, self.level)?;
        check::slots(params, self.slots)
    }

    /// log2 of the predicted error of the worst slot, in units of the message.
    pub fn error_log2(&self) -> f64 {
        self.noise.error_log2(self.slots)
    }
}

impl fmt::Display for Meta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} slots, level {}, scale {}, error 2^{:.1}",
            self.slots,
            self.level,
            self.scale,
            self.error_log2()
        )
    }
}

/// An encoded message: one polynomial of the limbs of its level, in the evaluation domain.
#[derive(Clone, PartialEq)]
pub struct Plaintext {
    params: Params,
    poly: Poly,
    meta: Meta,
}

impl Plaintext {
    /// Checks shape, level and slots; residues are taken as canonical.
    ///
    /// # Errors
    /// [`CkksError::LevelRange`], [`CkksError::Slots`], [`CkksError::Shape`].
    pub fn from_parts(params: &Params, poly: Poly, meta: Meta) -> Result<Self, CkksError> {
        meta.check(params)?;
        check::shape("plaintext", 0, params, params.limbs(meta.level), &poly)?;
        Ok(Self { params: params.clone(), poly, meta })
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// The polynomial, in the evaluation domain.
    pub fn poly(&self) -> &Poly {
        &self.poly
    }

    /// Level, scale, slots, error.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// Rescales that remain.
    pub fn level(&self) -> Level {
        self.meta.level
    }

    /// What the message is multiplied by.
    pub fn scale(&self) -> &Scale {
        &self.meta.scale
    }

    /// Packed slots.
    pub fn slots(&self) -> usize {
        self.meta.slots
    }

    /// Predicted error and declared magnitude.
    pub fn noise(&self) -> &Noise {
        &self.meta.noise
    }

    /// Declares a bound on |slot| in place of the one that encoding set.
    #[must_use]
    pub fn with_magnitude(mut self, magnitude: f64) -> Self {
        self.meta.noise = self.meta.noise.with_magnitude(magnitude);
        self
    }

    /// The polynomial and its meaning.
    pub fn into_parts(self) -> (Poly, Meta) {
        (self.poly, self.meta)
    }
}

/// Says everything but the message.
impl fmt::Debug for Plaintext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Plaintext({})", self.meta)
    }
}

/// An encrypted message: c₀ + c₁·s (+ c₂·s² before relinearisation) is the plaintext and the error.
///
/// Polynomials of the limbs of its level, in the evaluation domain.
#[derive(Clone, PartialEq)]
pub struct Ciphertext {
    params: Params,
    polys: Vec<Poly>,
    meta: Meta,
    identity: Option<KeyIdentity>,
}

impl Ciphertext {
    /// Checks number and shape of the polynomials, level and slots; residues are taken as canonical. The identity is that of
    /// the secret key that it is under; `None` if that is not known, or if it is under all, as constants are.
    ///
    /// # Errors
    /// [`CkksError::PolyCount`], [`CkksError::LevelRange`], [`CkksError::Slots`], [`CkksError::Shape`].
    pub fn from_parts(
        params: &Params,
        polys: Vec<Poly>,
        meta: Meta,
        identity: Option<KeyIdentity>,
    ) -> Result<Self, CkksError> {
        if !(2..=3).contains(&polys.len()) {
            return Err(CkksError::PolyCount { got: polys.len() });
        }
        meta.check(params)?;
        for (i, poly) in polys.iter().enumerate() {
            check::shape("ciphertext", i, params, params.limbs(meta.level), poly)?;
        }
        Ok(Self { params: params.clone(), polys, meta, identity })
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// The 2 or 3 polynomials, in the evaluation domain.
    pub fn polys(&self) -> &[Poly] {
        &self.polys
    }

    /// Level, scale, slots, error.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// Rescales that remain.
    pub fn level(&self) -> Level {
        self.meta.level
    }

    /// What the message is multiplied by.
    pub fn scale(&self) -> &Scale {
        &self.meta.scale
    }

    /// Packed slots.
    pub fn slots(&self) -> usize {
        self.meta.slots
    }

    /// Predicted error and declared magnitude.
    pub fn noise(&self) -> &Noise {
        &self.meta.noise
    }

    /// The secret key that it is under, if that is known.
    pub fn identity(&self) -> Option<KeyIdentity> {
        self.identity
    }

    /// The same residues, described otherwise.
    ///
    /// # Errors
    /// [`CkksError::Shape`] for another level, [`CkksError::LevelRange`] for one that there is not; [`CkksError::Slots`].
    pub fn with_meta(self, meta: Meta) -> Result<Self, CkksError> {
        Self::from_parts(&self.params, self.polys, meta, self.identity)
    }

    /// Bytes of the residues.
    pub fn bytes(&self) -> usize {
        self.polys.iter().map(|p| size_of_val(p.words())).sum()
    }

    /// Checks that every word is below its prime, in one pass over the data.
    ///
    /// # Errors
    /// [`CkksError::NotCanonical`].
    pub fn check_canonical(&self) -> Result<(), CkksError> {
        let moduli = self.params.q_at(self.meta.level);
        self.polys.iter().try_for_each(|p| check::canonical("ciphertext", moduli.iter().copied(), p))
    }

    /// The polynomials and their meaning, for instance to reuse the buffers.
    pub fn into_parts(self) -> (Vec<Poly>, Meta) {
        (self.polys, self.meta)
    }
}

/// Shape, level, scale and error, never residues.
impl fmt::Debug for Ciphertext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ciphertext({} polynomials, {}, {} bytes)", self.polys.len(), self.meta, self.bytes())
    }
}

/// A fresh ciphertext under the secret key at half size: c₁ is the expansion of a public seed.
#[derive(Clone, PartialEq)]
pub struct SeededCiphertext {
    params: Params,
    c0: Poly,
    seed: Seed,
    meta: Meta,
    identity: Option<KeyIdentity>,
}

impl SeededCiphertext {
    /// Checks shape, level and slots; residues are taken as canonical. The identity is that of the secret key, if it is known.
    ///
    /// # Errors
    /// [`CkksError::LevelRange`], [`CkksError::Slots`], [`CkksError::Shape`].
    pub fn from_parts(
        params: &Params,
        c0: Poly,
        seed: Seed,
        meta: Meta,
        identity: Option<KeyIdentity>,
    ) -> Result<Self, CkksError> {
        meta.check(params)?;
        check::shape("ciphertext", 0, params, params.limbs(meta.level), &c0)?;
        Ok(Self { params: params.clone(), c0, seed, meta, identity })
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// The stored polynomial, in the evaluation domain.
    pub fn c0(&self) -> &Poly {
        &self.c0
    }

    /// The seed of the other.
    pub fn seed(&self) -> &Seed {
        &self.seed
    }

    /// Level, scale, slots, error.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// The secret key that it is under, if that is known.
    pub fn identity(&self) -> Option<KeyIdentity> {
        self.identity
    }

    /// Bytes of residues and seed.
    pub fn bytes(&self) -> usize {
        size_of_val(self.c0.words()) + size_of_val(self.seed.as_bytes())
    }

    /// The ciphertext, with c₁ written out.
    pub fn expand(&self) -> Ciphertext {
        let c1 = expand_c1(&self.params, &self.seed, self.meta.level);
        let (params, polys) = (self.params.clone(), vec![self.c0.clone(), c1]);
        Ciphertext { params, polys, meta: self.meta.clone(), identity: self.identity }
    }
}

impl fmt::Debug for SeededCiphertext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SeededCiphertext({}, {} bytes)", self.meta, self.bytes())
    }
}

/// c₁ of a seed: uniform in the evaluation domain, limb by limb.
pub(crate) fn expand_c1(params: &Params, seed: &Seed, level: Level) -> Poly {
    let mut c1 = Poly::zeros(params.n(), params.limbs(level), Domain::Evaluation);
    let q = params.q_moduli();
    limbs::fill(&mut c1, |i, limb| uniform(seed, CIPHERTEXT_LABEL, i as u32, q[i], limb));
    c1
}
