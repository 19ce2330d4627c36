//! Vectors to plaintexts and back.

use num_complex::Complex64;
use ringmill_ckks::{CkksError, Encoder, Level, Meta, Noise, Params, Plaintext, Scale, Slots};
use ringmill_program::he::Numbers;
use ringmill_ring::{Domain, LimbRing, Poly, Pool};

use crate::{Error, Evaluator};

fn rings(params: &Params, level: Level) -> Result<Vec<&LimbRing>, Error> {
    Ok((0..level.limbs()).map(|i| params.ring(i)).collect::<Result<_, _>>()?)
}

/// Encodes numbers without an evaluator: as [`Evaluator::encode`], by an encoder of the degree of `params` and with memory of
/// `pool`.
///
/// # Errors
/// As there; an encoder of another degree.
pub fn encode<'a>(
    (params, encoder, pool): (&Params, &Encoder, &Pool),
    values: impl Into<Slots<'a>>,
    slots: usize,
    level: Level,
    scale: &Scale,
) -> Result<Plaintext, Error> {
    let values = values.into();
    let max = params.max_level();
    if level > max {
        return Err(CkksError::LevelRange { level, max }.into());
    }
    let (magnitude, name) = magnitude_and_name(&values);
    let mut poly = Poly::unspecified_in(pool, params.n(), level.limbs(), Domain::Evaluation);
    encoder.encode_into(values, slots, scale, &rings(params, level)?, &mut poly)?;
    let noise = Noise::encoded(magnitude, scale, name);
    let meta = Meta { level, scale: scale.clone(), slots, noise };
    Ok(Plaintext::from_parts(params, poly, meta)?)
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
    /// Takes `&[f64]` or `&[Complex64]`. The plaintext declares the greatest magnitude among them.
    ///
    /// # Errors
    /// NaN and infinities, too many numbers, a slot count that cannot be packed, a scale that overflows the modulus
    /// of the level; a level above the top.
    pub fn encode<'a>(
        &self,
        values: impl Into<Slots<'a>>,
        slots: usize,
        level: Level,
        scale: &Scale,
    ) -> Result<Plaintext, Error> {
        encode((self.params(), self.encoder(), self.pool()), values, slots, level, scale)
    }

    /// Encodes numbers of a program.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn encode_numbers(
        &self,
        numbers: &Numbers,
        slots: usize,
        level: Level,
        scale: &Scale,
    ) -> Result<Plaintext, Error> {
        match numbers {
            Numbers::Real(v) => self.encode(v.as_slice(), slots, level, scale),
            Numbers::Complex(v) => self.encode(v.as_slice(), slots, level, scale),
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

/// The greatest magnitude among numbers, and a name for the error model, which tells them from others: equal numbers have equal
/// errors, and what is taken from itself leaves none.
fn magnitude_and_name(values: &Slots<'_>) -> (f64, u64) {
    let mix = |h: u64, x: f64| (h ^ x.to_bits()).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
    match values {
        Slots::Real(v) => (v.iter().fold(0.0, |m, x| x.abs().max(m)), v.iter().fold(1, |h, &x| mix(h, x))),
        Slots::Complex(v) => {
            let name = v.iter().fold(2, |h, z| mix(mix(h, z.re), z.im));
            (v.iter().fold(0.0, |m, z| z.norm().max(m)), name)
        }
    }
}
