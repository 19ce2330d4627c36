//! Values to plaintexts and back, for an owner of a key without an evaluator.

use std::sync::OnceLock;

use num_complex::Complex64;

use ringmill::Declared;
use ringmill_ckks::encoder::{Encoder, MAX_LOG_N, Slots};
use ringmill_ckks::{Generator, Level, Params, Plaintext, Scale};
use ringmill_ring::Pool;

use crate::error::{Failure, Family};

const CELLS: usize = MAX_LOG_N as usize + 1;
type Encoders = [OnceLock<Encoder>; CELLS];
static BY_THREE: Encoders = [const { OnceLock::new() }; CELLS];
static BY_FIVE: Encoders = [const { OnceLock::new() }; CELLS];

/// The encoder for parameters, made when first used: its tables depend on degree and generator alone.
fn encoder(params: &Params) -> Result<&'static Encoder, Failure> {
    let (log_n, generator) = (params.log_n(), params.generator());
    let encoders = match generator {
        Generator::Three => &BY_THREE,
        Generator::Five => &BY_FIVE,
    };
    // Checked parameters have a degree within the table; the clamp keeps the index in it whatever happens.
    let cell = &encoders[(log_n as usize).min(CELLS - 1)];
    if let Some(encoder) = cell.get() {
        return Ok(encoder);
    }
    let encoder = Encoder::new(log_n).map_err(|e| Failure::of(Family::Parameter, &e))?;
    Ok(cell.get_or_init(|| encoder.with_generator(generator)))
}

/// The numbers, if all of them are real.
pub(crate) fn real(values: &[Complex64]) -> Option<Vec<f64>> {
    values.iter().map(|z| (z.im == 0.0).then_some(z.re)).collect()
}

/// Numbers as an encoder takes them: as real ones where all of them are, which takes less.
pub(crate) fn slots<'a>(values: &'a [Complex64], real: Option<&'a [f64]>) -> Slots<'a> {
    real.map_or(Slots::Complex(values), Slots::Real)
}

/// Encodes numbers within a declared bound; fewer than the slots are followed by zeros.
pub(crate) fn encode(
    params: &Params,
    values: &[Complex64],
    declared: Declared,
    slots: usize,
    level: Level,
    scale: &Scale,
) -> Result<Plaintext, Failure> {
    let real = real(values);
    let values = self::slots(values, real.as_deref());
    let by = (params, encoder(params)?, &Pool::default());
    ringmill::encode(by, values, declared, slots, level, scale).map_err(|e| Failure::face(&e))
}

/// All slots of a plaintext.
pub(crate) fn decode(plain: &Plaintext) -> Result<Vec<Complex64>, Failure> {
    ringmill::decode(encoder(plain.params())?, plain).map_err(|e| Failure::face(&e))
}
