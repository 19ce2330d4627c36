//! One encoder a ring degree, made when first used: its tables depend on nothing else.

use std::sync::OnceLock;

use ringmill_ckks::encoder::{Encoder, MAX_LOG_N};

use crate::error::{Failure, Family};

const CELLS: usize = MAX_LOG_N as usize + 1;
static ENCODERS: [OnceLock<Encoder>; CELLS] = [const { OnceLock::new() }; CELLS];

/// The encoder of N = 2^log_n.
pub(crate) fn of(log_n: u32) -> Result<&'static Encoder, Failure> {
    // Checked parameters have a degree within the table; the clamp keeps the index in it whatever happens.
    let cell = &ENCODERS[(log_n as usize).min(CELLS - 1)];
    if let Some(encoder) = cell.get() {
        return Ok(encoder);
    }
    let encoder = Encoder::new(log_n).map_err(|e| Failure::of(Family::Parameter, &e))?;
    Ok(cell.get_or_init(|| encoder))
}
