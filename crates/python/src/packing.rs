//! How a message is encrypted, as far as the user says, and what it is encoded to.

use num_complex::Complex64;
use pyo3::prelude::*;

use ringmill::Declared;
use ringmill_ckks::{self as ckks, Level, Randomness};

use crate::codec;
use crate::error::{Failure, Family};
use crate::whole::whole;

/// How a message is encrypted, as far as the user says.
pub(crate) struct Packing<'t> {
    slots: Option<usize>,
    level: Option<u32>,
    magnitude: Option<f64>,
    scale: Option<&'t str>,
}

impl<'t> Packing<'t> {
    pub(crate) fn of(
        params: &ckks::Params,
        slots: Option<&Bound<'_, PyAny>>,
        level: Option<&Bound<'_, PyAny>>,
        magnitude: Option<f64>,
        scale: Option<&'t str>,
    ) -> Result<Self, Failure> {
        let (most, top) = (params.slots(), params.max_level());
        let power = format!("that is a power of two from 1 to N/2 = {most}");
        let slots = slots.map(|n| whole(Family::Encoding, "slots", n, power)).transpose()?;
        let level = level.map(|l| whole(Family::Level, "level", l, format_args!("from 0 to {top}")));
        Ok(Self { slots, level: level.transpose()?, magnitude, scale })
    }
}

/// A message as both keys encrypt it: at the top level, the default scale and the fewest slots unless given.
pub(crate) fn encode(
    params: &ckks::Params,
    values: &[Complex64],
    Packing { slots, level, magnitude, scale }: Packing<'_>,
) -> Result<ckks::Plaintext, Failure> {
    let level = level.map_or(params.max_level(), Level::new);
    let scale = scale.map(str::parse).transpose().map_err(|e| Failure::of(Family::Encoding, &e))?;
    let scale = scale.unwrap_or_else(|| params.default_scale());
    // More than there are at most are refused by the encoder, by their number.
    let slots = slots.unwrap_or_else(|| values.len().clamp(1, params.slots()).next_power_of_two());
    codec::encode(params, values, declared(magnitude), slots, level, &scale)
}

/// The bound that is declared for numbers, or the one that counts where none is.
pub(crate) fn declared(magnitude: Option<f64>) -> Declared {
    magnitude.map_or_else(Declared::default, Declared::bound)
}

pub(crate) fn randomness() -> Result<Randomness, Failure> {
    Randomness::from_os().map_err(|e| Failure::of(Family::Machine, &e))
}
