//! The linear maps around the raise, and messages in real and imaginary parts.
//!
//! Slots in the order of powers of 5 take one map a level. In the order of powers of 3 the transforms are linear over the real
//! numbers only (`transform`). Real and imaginary parts take a map each where the shortest butterflies are: the first map towards
//! coefficients and the last one towards slots.

use num_complex::Complex64;
use ringmill_ckks::Generator;
use ringmill_program::he::{Builder, Constant, Op, Value};

use super::{Bootstrap, Content, Order, Share, Way, transform};
use crate::CircuitError;
use crate::linear::{self, Diagonals};

impl Bootstrap {
    fn maps(
        &self,
        b: &Builder,
        (way, share): (Way, Share),
        factor: f64,
    ) -> Result<Vec<Diagonals>, CircuitError> {
        let levels = match way {
            Way::ToCoefficients => self.to_coefficients,
            Way::ToSlots => self.to_slots,
        };
        let order = Order { generator: self.generator, share };
        transform(way, order, b.program().slots(), levels, factor)
    }

    /// x as the coefficients of a polynomial, divided by the magnitude.
    pub(super) fn slots_to_coefficients(&self, b: &mut Builder, x: Value) -> Result<Value, CircuitError> {
        let factor = 1.0 / self.magnitude;
        if self.generator == Generator::Five {
            let maps = self.maps(b, (Way::ToCoefficients, Share::Real), factor)?;
            return self.all(b, x, &maps);
        }
        // Re x and i·Im x are half of the sum and of the difference.
        let real = self.maps(b, (Way::ToCoefficients, Share::Real), factor / 2.0)?;
        let conj = b.push(Op::Conj { a: x, hoist: None })?;
        let twice = b.push(Op::Add(x, conj))?;
        let mut w = linear::apply(b, twice, &real[0], self.keys)?;
        if self.content == Content::Complex {
            let imaginary = self.maps(b, (Way::ToCoefficients, Share::Imaginary), factor / 2.0)?;
            let twice = b.push(Op::Sub(x, conj))?;
            let turned = linear::apply(b, twice, &imaginary[0], self.keys)?;
            w = b.push(Op::Add(w, turned))?;
        }
        // The shortest butterflies stand in the first map: the others are the same.
        self.all(b, w, &real[1..])
    }

    /// The coefficients of w in slots, times `factor`: for each share of [`Self::parts`].
    pub(super) fn coefficients_to_slots(
        &self,
        b: &mut Builder,
        w: Value,
        factor: f64,
    ) -> Result<[Value; 2], CircuitError> {
        let real = self.maps(b, (Way::ToSlots, Share::Real), factor)?;
        if self.generator == Generator::Five || self.content == Content::Real {
            let w = self.all(b, w, &real)?;
            return Ok([w, w]);
        }
        let imaginary = self.maps(b, (Way::ToSlots, Share::Imaginary), factor)?;
        // A level without stages may follow the one with the shortest butterflies.
        let common = real.iter().zip(&imaginary).take_while(|(r, i)| r == i).count();
        let w = self.all(b, w, &real[..common])?;
        Ok([self.all(b, w, &real[common..])?, self.all(b, w, &imaginary[common..])?])
    }

    fn all(&self, b: &mut Builder, x: Value, maps: &[Diagonals]) -> Result<Value, CircuitError> {
        maps.iter().try_fold(x, |x, map| linear::apply(b, x, map, self.keys))
    }

    /// Real and imaginary parts, twice, or the real part alone.
    pub(super) fn parts(
        &self,
        b: &mut Builder,
        [real, imaginary]: [Value; 2],
    ) -> Result<Vec<Value>, CircuitError> {
        let conj = b.push(Op::Conj { a: real, hoist: None })?;
        let mut parts = vec![b.push(Op::Add(real, conj))?];
        match (self.content, self.generator) {
            (Content::Real, _) => {}
            (Content::Complex, Generator::Five) => {
                let difference = b.push(Op::Sub(real, conj))?;
                parts.push(times_i(b, difference, -1.0)?);
            }
            (Content::Complex, Generator::Three) => {
                let conj = b.push(Op::Conj { a: imaginary, hoist: None })?;
                parts.push(b.push(Op::Add(imaginary, conj))?);
            }
        }
        Ok(parts)
    }
}

/// a·(±i), which costs no level in the order of powers of 5.
pub(super) fn times_i(b: &mut Builder, a: Value, sign: f64) -> Result<Value, CircuitError> {
    let i = b.push(Op::Const(Constant::Complex(Complex64::new(0.0, sign))))?;
    Ok(b.push(Op::Mul(a, i))?)
}

/// The sum of both parts.
pub(super) fn join(b: &mut Builder, parts: &[Value]) -> Result<Value, CircuitError> {
    match *parts {
        [real, imaginary] => Ok(b.push(Op::Add(real, imaginary))?),
        _ => Ok(parts[0]),
    }
}
