//! Values to plaintexts and back.

use num_complex::Complex64;

use ringmill::magnitude_and_name;
use ringmill_ckks::encoder::Slots;
use ringmill_ckks::{Level, Meta, Noise, Params, Plaintext, Scale};
use ringmill_ring::{Domain, LimbRing, Poly};

use crate::encoders;
use crate::error::{Failure, Family};

/// What a message becomes.
pub(crate) struct Target {
    pub(crate) level: Level,
    pub(crate) scale: Scale,
    /// Packed slots.
    pub(crate) slots: usize,
    /// Declared bound on |value|, which the error model and the files tell the world.
    pub(crate) magnitude: f64,
}

fn rings(params: &Params, level: Level) -> Result<Vec<&LimbRing>, Failure> {
    (0..level.limbs()).map(|i| params.ring(i).map_err(|e| Failure::of(Family::Machine, &e))).collect()
}

/// The numbers, if all of them are real.
pub(crate) fn real(values: &[Complex64]) -> Option<Vec<f64>> {
    values.iter().map(|z| (z.im == 0.0).then_some(z.re)).collect()
}

/// Numbers as an encoder takes them: as real ones where all of them are, which takes less.
pub(crate) fn slots<'a>(values: &'a [Complex64], real: Option<&'a [f64]>) -> Slots<'a> {
    real.map_or(Slots::Complex(values), Slots::Real)
}

/// Encodes numbers; fewer than the slots are followed by zeros.
pub(crate) fn encode(params: &Params, values: &[Complex64], target: &Target) -> Result<Plaintext, Failure> {
    let encoder = encoders::of(params.log_n())?;
    if target.level > params.max_level() {
        let (level, max) = (target.level, params.max_level());
        return Err(Failure::of(Family::Level, &ringmill_ckks::CkksError::LevelRange { level, max }));
    }
    let rings = rings(params, target.level)?;
    let mut poly = Poly::zeros(params.n(), rings.len(), Domain::Evaluation);
    let real = real(values);
    let slots = slots(values, real.as_deref());
    encoder
        .encode_into(slots, target.slots, &target.scale, &rings, &mut poly)
        .map_err(|e| Failure::of(Family::Encoding, &e))?;
    // Encryption keeps the name to itself.
    let noise = Noise::encoded(target.magnitude, &target.scale, magnitude_and_name(&slots).1);
    let meta = Meta { level: target.level, scale: target.scale.clone(), slots: target.slots, noise };
    Plaintext::from_parts(params, poly, meta).map_err(|e| Failure::ckks(&e))
}

/// All slots of a plaintext.
pub(crate) fn decode(plain: &Plaintext) -> Result<Vec<Complex64>, Failure> {
    let params = plain.params();
    let rings = rings(params, plain.level())?;
    encoders::of(params.log_n())?
        .decode(plain.poly(), plain.slots(), plain.scale(), &rings)
        .map_err(|e| Failure::of(Family::Encoding, &e))
}
