//! Vectors to plaintexts and back.

use num_complex::Complex64;
use ringmill_ckks::noise::DEFAULT_MAGNITUDE;
use ringmill_ckks::{CkksError, Encoder, Level, Meta, Noise, Params, Plaintext, Scale, Slots};
use ringmill_program::he::Numbers;
use ringmill_ring::{Domain, LimbRing, Poly, Pool};

use crate::{Error, Evaluator};

fn rings(params: &Params, level: Level) -> Result<Vec<&LimbRing>, Error> {
    Ok((0..params.limbs(level)).map(|i| params.ring(i)).collect::<Result<_, _>>()?)
}

/// A bound that is declared for numbers: what leaves the process is a function of it, never of the numbers.
///
/// It is [`DEFAULT_MAGNITUDE`] where none is given. Numbers beyond it are refused.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Declared(f64);

impl Default for Declared {
    fn default() -> Self {
        Self(DEFAULT_MAGNITUDE)
    }
}

impl Declared {
    /// |x| ≤ `bound`.
    pub fn bound(bound: f64) -> Self {
        Self(bound)
    }

    /// The bound.
    pub fn get(self) -> f64 {
        self.0
    }

    /// Holds numbers of which the largest has this size to the bound.
    pub(crate) fn check(self, what: &'static str, largest: f64) -> Result<(), Error> {
        let Self(bound) = self;
        if !(bound.is_finite() && bound > 0.0) {
            return Err(Error::BadBound { what, bound });
        }
        if largest <= bound {
            Ok(())
        } else {
            Err(Error::BeyondBound { what, bound, default: DEFAULT_MAGNITUDE })
        }
    }
}

/// A number in the clear and the bound that is declared for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Number {
    /// The number.
    pub value: f64,
    /// Its bound.
    pub declared: Declared,
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self { value, declared: Declared::default() }
    }
}

impl Number {
    /// With a declared bound.
    pub fn within(value: f64, bound: f64) -> Self {
        Self { value, declared: Declared::bound(bound) }
    }

    /// A number that everybody may know: its size is its bound.
    pub fn public(value: f64) -> Self {
        Self::within(value, value.abs().max(f64::MIN_POSITIVE))
    }

    pub(crate) fn check(self, what: &'static str) -> Result<(), Error> {
        if !self.value.is_finite() {
            return Err(Error::NotFinite { what, value: self.value });
        }
        self.declared.check(what, self.value.abs())
    }
}

/// Encodes numbers without an evaluator: as [`Evaluator::encode_within`], by an encoder of the degree of `params` and with memory
/// of `pool`.
///
/// # Errors
/// As there; an encoder of another degree.
pub fn encode<'a>(
    (params, encoder, pool): (&Params, &Encoder, &Pool),
    values: impl Into<Slots<'a>>,
    declared: Declared,
    slots: usize,
    level: Level,
    scale: &Scale,
) -> Result<Plaintext, Error> {
    let values = values.into();
    let max = params.max_level();
    if level > max {
        return Err(CkksError::LevelRange { level, max }.into());
    }
    let mut poly = Poly::unspecified_in(pool, params.n(), params.limbs(level), Domain::Evaluation);
    let largest = magnitude(&values);
    // What is not finite is refused by the encoder, by its place.
    encoder.encode_into(values, slots, scale, &rings(params, level)?, &mut poly)?;
    declared.check("a value to encode", largest)?;
    let noise = Noise::plain(declared.get(), scale);
    let meta = Meta { level, scale: scale.clone(), slots, noise };
    Ok(Plaintext::from_parts(params, poly, meta)?)
}

/// The polynomial, or 1 in place of zero. That is 1/scale in every slot, less than what rounding N coefficients by up to 1/2 each is
/// predicted to be: √(N/12)/scale.
pub(crate) fn not_zero(mut poly: Poly) -> Poly {
    if poly.limbs().all(|limb| limb.iter().all(|&word| word == 0)) {
        let words = if poly.domain() == Domain::Evaluation { poly.n() } else { 1 };
        poly.limbs_mut().for_each(|limb| limb[..words].fill(1));
    }
    poly
}

/// The slots of a plaintext, by an encoder of its degree.
///
/// # Errors
/// An encoder of another degree.
pub fn decode(encoder: &Encoder, plain: &Plaintext) -> Result<Vec<Complex64>, Error> {
    let rings = rings(plain.params(), plain.level())?;
    Ok(encoder.decode(plain.poly(), plain.slots(), plain.scale(), &rings)?)
}

impl Evaluator {
    /// Encodes numbers into `slots` slots, a power of two up to N/2; slots without a number are 0.
    ///
    /// Takes `&[f64]` or `&[Complex64]`, at most [`DEFAULT_MAGNITUDE`] in size: as [`encode_within`](Self::encode_within) without
    /// a bound of their own.
    ///
    /// # Errors
    /// As [`encode_within`](Self::encode_within).
    pub fn encode<'a>(
        &self,
        values: impl Into<Slots<'a>>,
        slots: usize,
        level: Level,
        scale: &Scale,
    ) -> Result<Plaintext, Error> {
        self.encode_within(values, Declared::default(), slots, level, scale)
    }

    /// Encodes numbers within a declared bound: results computed with them reveal that bound.
    ///
    /// # Errors
    /// [`Error::BeyondBound`], [`Error::BadBound`]; NaN and infinities, too many numbers, a slot count that cannot be packed, a scale that overflows the modulus
    /// of the level; a level above the top.
    pub fn encode_within<'a>(
        &self,
        values: impl Into<Slots<'a>>,
        declared: Declared,
        slots: usize,
        level: Level,
        scale: &Scale,
    ) -> Result<Plaintext, Error> {
        encode((self.params(), self.encoder(), self.pool()), values, declared, slots, level, scale)
    }

    /// Encodes numbers to multiply by, within a declared bound. Where all coefficients would be rounded to zero, one is rounded to 1: a
    /// product with zero would be a transparent ciphertext, which everybody decrypts, and shows that its factor was zero.
    ///
    /// # Errors
    /// As [`encode_within`](Self::encode_within).
    pub fn encode_factor<'a>(
        &self,
        values: impl Into<Slots<'a>>,
        declared: Declared,
        slots: usize,
        level: Level,
        scale: &Scale,
    ) -> Result<Plaintext, Error> {
        let plain = self.encode_within(values, declared, slots, level, scale)?;
        let (poly, meta) = plain.into_parts();
        Ok(Plaintext::from_parts(self.params(), not_zero(poly), meta)?)
    }

    /// Encodes numbers of a program.
    ///
    /// # Errors
    /// As [`encode_within`](Self::encode_within).
    pub fn encode_numbers(
        &self,
        numbers: &Numbers,
        declared: Declared,
        slots: usize,
        level: Level,
        scale: &Scale,
    ) -> Result<Plaintext, Error> {
        match numbers {
            Numbers::Real(v) => self.encode_within(v.as_slice(), declared, slots, level, scale),
            Numbers::Complex(v) => self.encode_within(v.as_slice(), declared, slots, level, scale),
        }
    }

    /// Encodes numbers as one limb: their coefficients modulo p_0. Those of numbers that repeat after n slots are exactly zero
    /// but for every N/2n-th.
    pub(crate) fn encode_compact(&self, numbers: &Numbers, scale: &Scale) -> Result<Poly, Error> {
        let slots = numbers.period();
        let numbers = &numbers.first(slots);
        let ring = self.params().ring(self.params().q_moduli().len())?;
        let values: Slots<'_> = match numbers {
            Numbers::Real(v) => v.as_slice().into(),
            Numbers::Complex(v) => v.as_slice().into(),
        };
        let mut poly = Poly::unspecified_in(self.pool(), self.params().n(), 1, Domain::Coefficient);
        self.encoder().encode_coefficients_into(values, slots, scale, &[ring], &mut poly)?;
        Ok(poly)
    }

    /// The slots of a plaintext.
    ///
    /// # Errors
    /// Other parameters.
    pub fn decode(&self, plain: &Plaintext) -> Result<Vec<Complex64>, Error> {
        self.check_params("plaintext", plain.params())?;
        decode(self.encoder(), plain)
    }
}

/// The greatest magnitude among numbers.
fn magnitude(values: &Slots<'_>) -> f64 {
    match values {
        Slots::Real(v) => v.iter().fold(0.0, |m, x| x.abs().max(m)),
        Slots::Complex(v) => v.iter().fold(0.0, |m, z| z.norm().max(m)),
    }
}
