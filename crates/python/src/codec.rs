//! Values to plaintexts and back, by whoever has a key and no evaluator.

use std::sync::OnceLock;

use num_complex::Complex64;

use ringmill::Declared;
use ringmill_ckks::encoder::{Encoder, MAX_LOG_N, Slots};
use ringmill_ckks::{Level, Params, Plaintext, Scale};
use ringmill_ring::Pool;

use crate::error::{Failure, Family};

const CELLS: usize = MAX_LOG_N as usize + 1;
static ENCODERS: [OnceLock<Encoder>; CELLS] = [const { OnceLock::new() }; CELLS];

/// The encoder of N = 2^log_n, made when first used: its tables depend on nothing else.
fn encoder(log_n: u32) -> Result<&'static Encoder, Failure> {
    // Checked parameters have a degree within the table; the clamp keeps the index in it whatever happens.
    let cell = &ENCODERS[(log_n as usize).min(CELLS - 1)];
    if let Some(encoder) = cell.get() {
        return Ok(encoder);
    }
    let encoder = Encoder::new(log_n).map_err(|e| Failure::of(Family::Parameter, &e))?;
    Ok(cell.get_or_init(|| encoder))
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
    let by = (params, encoder(params.log_n())?, &Pool::default());
    ringmill::encode(by, values, declared, slots, level, scale).map_err(|e| Failure::face(&e))
}

/// All slots of a plaintext.
pub(crate) fn decode(plain: &Plaintext) -> Result<Vec<Complex64>, Failure> {
    ringmill::decode(encoder(plain.params().log_n())?, plain).map_err(|e| Failure::face(&e))
}
