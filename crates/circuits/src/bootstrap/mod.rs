//! Bootstrapping: a ciphertext at the bottom of the chain becomes one near its top.
//!
//! raise (m + q_0·I), slots to coefficients, x mod 1 by a sine, coefficients to slots. One operation, `raise`, is new to
//! the HE program; the rest is linear maps and polynomials, and levels and scales are those of management. Derivation,
//! error and failure probability: `docs/algorithms/bootstrapping.md`.

mod expand;
mod failure;
mod need;
mod sine;
mod transform;

pub use expand::{Placed, expand, place};
pub use failure::probability;
pub use need::Need;
pub use sine::Sine;
pub use transform::{Way, transform};

use std::f64::consts::TAU;

use num_complex::Complex64;
use ringmill_ckks::EPHEMERAL_WEIGHT;
use ringmill_program::he::{Builder, Constant, Op, Value};

use crate::CircuitError;
use crate::linear::{self, Keys};
use crate::write::Writer;

/// What a message may contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Content {
    /// Complex numbers: two sines.
    #[default]
    Complex,
    /// Real numbers: one sine. An imaginary part is lost.
    Real,
}

/// How a ciphertext is bootstrapped.
#[derive(Debug, Clone, PartialEq)]
pub struct Bootstrap {
    /// log2 of q_0 over the scale at which a ciphertext is raised: how much room the sine leaves above a message of 1.
    pub room: u32,
    /// A bound on |slot| of messages.
    pub magnitude: f64,
    /// Real or complex messages.
    pub content: Content,
    /// K: multiples of the modulus beyond ±K break the result.
    pub interval: u32,
    /// Doublings of the cosine's angle.
    pub doublings: u32,
    /// Error of the cosine's polynomial.
    pub sine_error: f64,
    /// Whether the sine is corrected by the arcsine's cubic term: two levels for messages close to `2^room`.
    pub arcsine: bool,
    /// Levels from slots to coefficients.
    pub to_coefficients: usize,
    /// Levels from coefficients to slots.
    pub to_slots: usize,
    /// How many keys each linear map may ask for.
    pub keys: Keys,
}

impl Default for Bootstrap {
    /// Complex messages of at most 1, three levels a transform, an interval that is never left.
    fn default() -> Self {
        Self {
            room: 8,
            magnitude: 1.0,
            content: Content::Complex,
            interval: EPHEMERAL_WEIGHT / 2,
            doublings: 2,
            sine_error: 1.0 / (1u64 << 42) as f64,
            arcsine: false,
            to_coefficients: 3,
            to_slots: 3,
            keys: Keys::Fast,
        }
    }
}

/// The part of the modulus up to which a coefficient of a message may reach: an eighth of a turn, where the sine has lost a
/// tenth.
const REACH: f64 = 0.125;

impl Bootstrap {
    /// The sine.
    ///
    /// # Errors
    /// [`CircuitError::Degree`] for an interval too wide for its doublings.
    pub fn sine(&self) -> Result<Sine, CircuitError> {
        Sine::new(self.interval, self.doublings, self.sine_error)
    }

    /// Levels between what is raised and the result, for programs of `slots` slots.
    ///
    /// # Errors
    /// As [`Self::sine`].
    pub fn depth(&self, slots: usize) -> Result<u32, CircuitError> {
        let stages = slots.trailing_zeros().max(1) as usize;
        let maps = self.to_coefficients.clamp(1, stages) + self.to_slots.clamp(1, stages);
        Ok(maps as u32 + self.sine()?.depth() + if self.arcsine { 2 } else { 0 })
    }

    /// The chance that one bootstrapping in `slots` slots gives a wrong result.
    pub fn failure(&self, slots: usize) -> f64 {
        probability(EPHEMERAL_WEIGHT, self.interval, 2 * slots)
    }

    /// How far a slot of size `magnitude` may be off because the sine is not a line, in the worst case: all of the message in
    /// one coefficient.
    pub fn bend(&self) -> f64 {
        let angle = TAU * self.magnitude / f64::from(self.room).exp2();
        let relative = if self.arcsine { 3.0 / 40.0 * angle.powi(4) } else { angle.powi(2) / 6.0 };
        self.magnitude * relative
    }

    fn check(&self, slots: usize) -> Result<(), CircuitError> {
        let reach = REACH * f64::from(self.room).exp2();
        if !(self.magnitude > 0.0 && self.magnitude <= reach) {
            return Err(CircuitError::Room { magnitude: self.magnitude, reach, room: self.room });
        }
        if slots < 2 {
            return Err(CircuitError::BootstrapSlots { slots });
        }
        Ok(())
    }

    /// Adds the bootstrapping of `x` to a traced program, in the region "bootstrap".
    ///
    /// # Errors
    /// [`CircuitError::Room`] for messages too large for the sine, [`CircuitError::BootstrapSlots`] for a single slot; what
    /// the builder refuses.
    pub fn apply(&self, b: &mut Builder, x: Value) -> Result<Value, CircuitError> {
        let slots = b.program().slots();
        self.check(slots)?;
        let outer = b.current_region().to_owned();
        let region = |step: &str| match &outer[..] {
            "" => format!("bootstrap: {step}"),
            outer => format!("{outer}: bootstrap: {step}"),
        };
        b.region(&region("raise"));
        let raised = b.push(Op::Raise { a: x, bits: self.room })?;
        let sine = self.sine()?;
        b.region(&region("slots to coefficients"));
        // Half, because a number and its conjugate are added.
        let factor = 0.5 / f64::from(self.room).exp2() / sine.radius();
        let mut w = raised;
        for map in &transform(Way::ToCoefficients, slots, self.to_coefficients, factor, None)? {
            w = linear::apply(b, w, map, self.keys)?;
        }
        b.region(&region("modulus"));
        let parts = self.parts(b, w)?;
        let mut results = Vec::with_capacity(parts.len());
        for part in parts {
            b.promise(part, 1.0)?;
            let mut s = sine.write(b, part)?;
            if self.arcsine {
                s = arcsine(b, s)?;
            }
            results.push(s);
        }
        let joined = join(b, &results)?;
        b.region(&region("coefficients to slots"));
        let result = self.back(b, joined)?;
        b.promise(result, self.magnitude)?;
        b.region(&outer);
        Ok(result)
    }

    /// Real and imaginary parts, twice, or the real part alone.
    fn parts(&self, b: &mut Builder, w: Value) -> Result<Vec<Value>, CircuitError> {
        let conj = b.push(Op::Conj { a: w, hoist: None })?;
        let mut parts = vec![b.push(Op::Add(w, conj))?];
        if self.content == Content::Complex {
            let difference = b.push(Op::Sub(w, conj))?;
            parts.push(times_i(b, difference, -1.0)?);
        }
        Ok(parts)
    }

    /// Coefficients to slots. Of a real message only c_0 … c_(n−1) came through: c_(2n−j) = −c_j, and so z = 2·Re(Σ c_j·ζ^j) with half
    /// of c_0.
    fn back(&self, b: &mut Builder, w: Value) -> Result<Value, CircuitError> {
        let slots = b.program().slots();
        let factor = f64::from(self.room).exp2() / TAU;
        let mut halved = vec![Complex64::ONE; slots];
        halved[0] = Complex64::new(0.5, 0.0);
        let first = (self.content == Content::Real).then_some(&halved[..]);
        let mut z = w;
        for map in &transform(Way::ToSlots, slots, self.to_slots, factor, first)? {
            z = linear::apply(b, z, map, self.keys)?;
        }
        if self.content == Content::Real {
            let conj = b.push(Op::Conj { a: z, hoist: None })?;
            z = b.push(Op::Add(z, conj))?;
        }
        Ok(z)
    }
}

/// a·(±i), which costs no level.
fn times_i(b: &mut Builder, a: Value, sign: f64) -> Result<Value, CircuitError> {
    let i = b.push(Op::Const(Constant::Complex(Complex64::new(0.0, sign))))?;
    Ok(b.push(Op::Mul(a, i))?)
}

/// The first, and i times the second.
fn join(b: &mut Builder, parts: &[Value]) -> Result<Value, CircuitError> {
    let mut sum = parts[0];
    if let Some(&second) = parts.get(1) {
        let turned = times_i(b, second, 1.0)?;
        sum = b.push(Op::Add(sum, turned))?;
    }
    Ok(sum)
}

/// s + s³/6.
fn arcsine(b: &mut Builder, s: Value) -> Result<Value, CircuitError> {
    let mut w = Writer::open(b, "arcsine");
    let square = w.mul(s, s)?;
    let sixth = w.mul_real(s, 1.0 / 6.0)?;
    let cubic = w.mul(square, sixth)?;
    Ok(w.add(s, cubic)?)
}
