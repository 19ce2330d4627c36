//! Functions of whole numbers, looked up while they are bootstrapped: Alexandru, Kim and Polyakov, ePrint 2024/1623, after Bae, Cheon,
//! Kim and Stehlé, EUROCRYPT 2024.
//!
//! Of p numbers each takes the p-th part of the modulus. After the raise x = (m − c)/p + I, c the middle of the numbers, and E = e^(2πix)
//! does not know I. The real part of
//!
//!   a_0 + 2·Σ_{k<p} a_k·E^k, a_k = (1 − k/p)/p · Σ_j f_j·e^(−2πik·x_j), x_j = (j − (p − 1)/2)/p
//!
//! is Σ_j f_j·F(x − x_j) with the kernel F(x) = sin²(πpx)/(p·sin πx)² of Fejér: 1 at zero, zero at the other numbers, flat at all of them,
//! nowhere negative, and Σ_j F(x − x_j) = 1. So an error of m comes through by its square alone, and results never leave the range of the
//! table. Derivation and errors: `docs/algorithms/bootstrapping.md`.

use std::f64::consts::TAU;

use num_complex::Complex64;
use ringmill_ckks::Generator;
use ringmill_program::he::{Builder, Flat, Like, Lookup, Op, Value};

use super::{Bootstrap, Content, Exponential, PRECISION_BELOW, Region};
use crate::CircuitError;
use crate::polynomial::{self, Basis, Polynomial, Turn};
use crate::write::Writer;

/// Part of the step between two numbers that a bootstrapping itself may be off by.
const OWN_MOST: f64 = 1.0 / 16.0;

/// Slots of the ring that errors are measured for, N = 2^16.
const FULL: usize = 1 << 15;

/// Errors that are born on the way from E to the result, for a table of deviation 1, and as much for one whose slope and range are 1.
/// Measured for random tables, single entries, steps and lines of 3 to 256 entries: half of the sum or less.
const BORN: f64 = 2.0;

/// The error of |E|, which is born at scales of 16 bits more. Measured: 1/64 to 1/32.
const SIZE: f64 = 1.0 / 16.0;

/// How a result follows from what is brought back.
enum Way {
    /// m + h·sin(2πx), of two numbers.
    Sine { middle: f64, half: f64 },
    /// The real part of a polynomial of e^(2πix).
    Polynomial { exponential: Exponential, constant: f64, polynomial: Polynomial },
}

impl Bootstrap {
    fn way(&self, table: &Lookup) -> Result<Way, CircuitError> {
        if table.range() == 0.0 {
            return Err(CircuitError::ConstantTable);
        }
        if let &[low, high] = table.entries() {
            return Ok(Way::Sine { middle: (low + high) / 2.0, half: (high - low) / 2.0 });
        }
        let exponential = Exponential::new(self.interval, self.doublings, self.sine_error)?;
        let mut c = waves(table.entries());
        let constant = c[0].re;
        c[0] = Complex64::ZERO;
        Ok(Way::Polynomial { exponential, constant, polynomial: Polynomial::complex(Basis::Monomial, &c)? })
    }

    /// Levels between what is raised and what is looked up in a table.
    ///
    /// # Errors
    /// As [`Self::sine`]; [`CircuitError::ConstantTable`].
    pub fn lookup_depth(&self, table: &Lookup) -> Result<u32, CircuitError> {
        let after = match self.way(table)? {
            Way::Sine { .. } => self.sine()?.depth(),
            Way::Polynomial { exponential, polynomial, .. } => {
                exponential.depth() + polynomial.plan().depth()
            }
        };
        Ok(self.to_slots.max(1) as u32 + after)
    }

    /// Adds the entries of a table for the whole numbers in the slots of `x` to a traced program, with fresh levels, in the region
    /// "look-up". Imaginary parts are lost.
    ///
    /// # Errors
    /// [`CircuitError::ConstantTable`] for entries that are all one number, [`CircuitError::LookupBits`] for more entries than the
    /// bootstrapping distinguishes; as [`Self::apply`].
    pub fn look_up(&self, b: &mut Builder, x: Value, table: &Lookup) -> Result<Value, CircuitError> {
        let slots = b.program().slots();
        let entries = table.entries().len() as f64;
        // The numbers take the whole turn: what is raised is 2^B for one of them.
        let config = Self {
            content: Content::Real,
            magnitude: entries / f64::from(self.room).exp2(),
            iterations: 1,
            ..self.clone()
        };
        config.check(slots)?;
        let way = self.way(table)?;
        self.check_step(table, slots)?;
        let region = Region::open(b, "look-up");
        let centre = table.first() as f64 + (entries - 1.0) / 2.0;
        let centred = Writer::open(b, "look-up").add_real(x, -centre)?;
        let parts = config.arguments(b, centred, &region)?;
        b.promise(parts[0], 1.0)?;
        region.step(b, "table");
        let value = match &way {
            Way::Sine { middle, half } => {
                let wave = self.sine()?.write(b, parts[0], half.abs())?;
                let mut w = Writer::open(b, "table");
                let wave = w.mul_real(wave, half.signum())?;
                w.add_real(wave, *middle)?
            }
            Way::Polynomial { exponential, constant, polynomial } => {
                let turn = if self.generator == Generator::Five { Turn::Free } else { Turn::Level };
                let e = exponential.write(b, parts[0], turn)?;
                let half = polynomial::evaluate_by(b, e, polynomial, turn)?;
                let conj = b.push(Op::Conj { a: half, hoist: None })?;
                let mut w = Writer::open(b, "real part");
                let twice = w.add(half, conj)?;
                w.add_real(twice, *constant)?
            }
        };
        b.promise(value, table.magnitude().max(f64::MIN_POSITIVE))?;
        b.resemble(value, self.like_entries(x, table, slots, &way))?;
        region.close(b);
        Ok(value)
    }

    /// Whether the error of the bootstrapping is far below the step between two numbers.
    fn check_step(&self, table: &Lookup, slots: usize) -> Result<(), CircuitError> {
        let own = self.own_distance(table, slots);
        if own <= OWN_MOST {
            return Ok(());
        }
        let entries = table.entries().len();
        Err(CircuitError::LookupBits {
            entries,
            bits: self.bits,
            least: self.bits + (own / OWN_MOST).log2().ceil() as u32,
        })
    }

    /// How far the bootstrapping takes a number from where it is, in steps between numbers.
    fn own_distance(&self, table: &Lookup, slots: usize) -> f64 {
        table.entries().len() as f64 * (-f64::from(self.room)).exp2() * self.one_off(slots)
    }

    /// What the table gives of what one bootstrapping takes.
    fn like_entries(&self, x: Value, table: &Lookup, slots: usize, way: &Way) -> Like {
        let (slope, way_error) = match way {
            // The sine is flat there: its size alone counts.
            Way::Sine { half, .. } => (half.abs(), self.sine().map_or(0.0, |sine| sine.error())),
            Way::Polynomial { exponential, polynomial, .. } => {
                (slope(polynomial.coefficients()), exponential.error())
            }
        };
        let born = match way {
            Way::Sine { .. } => 0.0,
            Way::Polynomial { .. } => {
                let grown = deviation(table.entries()) + (slope * table.range()).sqrt();
                BORN * grown * self.rounding(self.scale_bits, slots)
            }
        };
        let wide = self.bits + PRECISION_BELOW;
        let off = (born + slope * SIZE * self.rounding(wide, slots)).max(f64::MIN_POSITIVE);
        let from = table.noise() + self.own_distance(table, slots);
        let flat = Some(Flat { square: table.flatness(), from });
        Like { value: x, off, bias: slope * way_error, flat }
    }

    /// What the worst slot is off by a rescale to a scale of that many bits, in the unit of `BORN` and `SIZE`. It grows with the root
    /// of the slots and with that of the degree.
    fn rounding(&self, scale_bits: u32, slots: usize) -> f64 {
        let most = f64::from(2 * FULL.trailing_zeros() + 1);
        let log2 = (f64::from(self.log_n + slots.trailing_zeros()) - most) / 2.0;
        (log2 + f64::from(PRECISION_BELOW) - f64::from(scale_bits)).exp2()
    }
}

/// a_0 and a_k of the table, k < p.
fn waves(entries: &[f64]) -> Vec<Complex64> {
    let p = entries.len() as f64;
    let wave = |k: usize| {
        let turned =
            |(j, f): (usize, &f64)| Complex64::cis(-TAU * k as f64 * (j as f64 - (p - 1.0) / 2.0) / p) * f;
        let sum: Complex64 = entries.iter().enumerate().map(turned).sum();
        sum * ((1.0 - k as f64 / p) / p)
    };
    (0..entries.len()).map(wave).collect()
}

/// The greatest |d/dr| of the result at r·E, r = 1, over all numbers: by how much an error of |E| grows.
fn slope(c: &[Complex64]) -> f64 {
    // A number's angle is a p-th part of the turn, c has p coefficients.
    let p = c.len() as f64;
    let at = |j: usize| {
        let angle = TAU * (j as f64 - (p - 1.0) / 2.0) / p;
        let wave = |(k, c): (usize, &Complex64)| (c * Complex64::cis(angle * k as f64)).re * k as f64;
        2.0 * c.iter().enumerate().map(wave).sum::<f64>().abs()
    };
    (0..c.len()).map(at).fold(0.0, f64::max)
}

/// The root of Σ(f_j − mean)².
fn deviation(entries: &[f64]) -> f64 {
    let mean = entries.iter().sum::<f64>() / entries.len() as f64;
    entries.iter().map(|f| (f - mean).powi(2)).sum::<f64>().sqrt()
}
