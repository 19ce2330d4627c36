//! More precision by bootstrapping again what a bootstrapping left out: Bae, Cheon, Cho, Kim and Kim, CCS 2022.
//!
//! y_1 is x up to an error below 2^−b of its bound. The error can be computed: x − y_1 at the level of x is a
//! message with so small a bound that bootstrapping it is precise to 2^−b of that bound. The sum of both
//! results is off by the second error alone. Every iteration is a bootstrapping, on the levels and with the
//! keys of the first.

use ringmill_program::he::{Builder, Op, Value};

use super::{Bootstrap, LEAST_BITS, PRECISION_BELOW};
use crate::CircuitError;

/// Beyond two the widest primes have no scale for what is gained.
pub const ITERATIONS_MAX: u32 = 2;

/// Bits by which what an iteration leaves out is taken to be larger than its precision says.
const MARGIN: u32 = 3;

/// Bits to which each of the iterations must be precise for `bits` in all.
pub(super) fn each(bits: u32, iterations: u32) -> u32 {
    let iterations = iterations.clamp(1, ITERATIONS_MAX);
    let each = (bits + MARGIN * (iterations - 1)).div_ceil(iterations);
    if iterations == 1 { each } else { each.max(LEAST_BITS) }
}

impl Bootstrap {
    /// What the first iterations leave out, of the bound on messages.
    pub(super) fn left_out(&self, iterations: u32) -> f64 {
        (-f64::from(iterations * self.bits.saturating_sub(MARGIN))).exp2()
    }

    /// Bits to which all iterations together are precise, for messages up to 1 at a scale of the given number
    /// of bits.
    pub fn bits_in_all(&self, scale_bits: u32) -> u32 {
        let before = self.iterations.saturating_sub(1) * self.bits.saturating_sub(MARGIN);
        (before + self.bits).min(scale_bits.saturating_sub(PRECISION_BELOW))
    }

    /// y and what it lacks of x, which is within the magnitude; messages are within `bound`.
    pub(super) fn correct(
        &self,
        b: &mut Builder,
        x: Value,
        y: Value,
        bound: f64,
    ) -> Result<Value, CircuitError> {
        let lacking = b.push(Op::Sub(x, y))?;
        b.promise(lacking, self.magnitude)?;
        let found = self.once(b, lacking)?;
        let sum = b.push(Op::Add(y, found))?;
        b.promise(sum, bound)?;
        b.resemble(sum, self.like(x, b.program().slots()))?;
        Ok(sum)
    }
}
