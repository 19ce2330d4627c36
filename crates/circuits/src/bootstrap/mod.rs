//! Bootstrapping: a ciphertext at the bottom of the chain becomes one near its top.
//!
//! Slots to coefficients while few limbs are left, raise (m + q_0·I), coefficients to slots, x mod 1 by a sine. One operation,
//! `raise`, is new to the HE program; the rest is linear maps and polynomials, and levels and scales are those of
//! management. Derivation, error and failure probability: `docs/algorithms/bootstrapping.md`.

mod arrange;
mod expand;
mod exponential;
mod failure;
mod iterated;
mod lookup;
mod need;
mod parts;
mod place;
mod sine;
mod transform;

pub use expand::{expand, unmarked};
pub use exponential::Exponential;
pub use failure::probability;
pub use iterated::ITERATIONS_MAX;
pub use need::{Need, most_bits};
use parts::{join, times_i};
pub use place::{Budget, Placed, place};
use sine::Inverse;
pub use sine::Sine;
pub use transform::{Order, Share, Way, transform};

use ringmill_ckks::{EPHEMERAL_WEIGHT, Generator};
use ringmill_program::he::{Builder, Like, Op, Value};

use crate::CircuitError;
use crate::linear::Keys;

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
    /// log2 of q_0 over a coefficient of the greatest message at the raise: how small an arc of the sine is used.
    pub room: u32,
    /// A bound on |slot| of messages: what is raised is divided by it.
    pub magnitude: f64,
    /// Real or complex messages.
    pub content: Content,
    /// The order of slots.
    pub generator: Generator,
    /// K: multiples of the modulus beyond ±K break the result.
    pub interval: u32,
    /// Doublings of the cosine's angle.
    pub doublings: u32,
    /// Error of the cosine's polynomial.
    pub sine_error: f64,
    /// Whether the sine is corrected by the cubic term of the arcsine, for two levels: without it `room` has to be larger.
    pub arcsine: bool,
    /// Levels from slots to coefficients, before the raise.
    pub to_coefficients: usize,
    /// Levels from coefficients to slots, after it.
    pub to_slots: usize,
    /// How many keys each linear map may ask for.
    pub keys: Keys,
    /// Bootstrappings in a row, each of what the ones before it left out.
    pub iterations: u32,
    /// Bits to which each of them is precise, for messages up to 1.
    pub bits: u32,
    /// log2 of the scale of results, by which look-ups know their error.
    pub scale_bits: u32,
    /// log2 of the degree, for the same.
    pub log_n: u32,
}

impl Default for Bootstrap {
    /// Complex messages of at most 1, three levels a transform, an interval that is never left.
    fn default() -> Self {
        Self {
            room: 7,
            magnitude: 1.0,
            content: Content::Complex,
            generator: Generator::Five,
            interval: EPHEMERAL_WEIGHT / 2,
            doublings: 2,
            sine_error: 1.0 / (1u64 << 38) as f64,
            arcsine: true,
            to_coefficients: 3,
            to_slots: 3,
            keys: Keys::Fast,
            iterations: 1,
            bits: 22,
            scale_bits: 40,
            log_n: 16,
        }
    }
}

/// The least margin: an eighth of a turn, where the sine has lost a tenth.
const ROOM_MIN: u32 = 3;

/// The most that [`Bootstrap::precise`] takes.
const ROOM_MAX: u32 = 16;

/// Bits by which results are less precise than their scale: chains by precision are laid out so.
const PRECISION_BELOW: u32 = 18;

/// The fewest bits that chains are laid out for: below them the sine's polynomial could be shorter than it is.
pub const LEAST_BITS: u32 = 12;

/// Bounds on messages between which all steps keep their precision.
const MAGNITUDES: std::ops::RangeInclusive<f64> = 1.0 / (1u64 << 20) as f64..=(1u64 << 20) as f64;

impl Bootstrap {
    /// The sine.
    ///
    /// # Errors
    /// [`CircuitError::Degree`] for an interval too wide for its doublings.
    pub fn sine(&self) -> Result<Sine, CircuitError> {
        Sine::new(self.interval, self.doublings, self.sine_error)
    }

    /// Levels between what is raised and the result.
    ///
    /// # Errors
    /// As [`Self::sine`].
    pub fn depth(&self) -> Result<u32, CircuitError> {
        // In the order of powers of 3 a product with i costs a level, unless the arcsine has one of its own for it.
        let turn = self.generator == Generator::Three && self.content == Content::Complex && !self.arcsine;
        Ok(self.to_slots.max(1) as u32 + self.sine()?.depth() + self.inverse().depth() + u32::from(turn))
    }

    /// Levels that a ciphertext of `slots` slots must have left: those of the way to coefficients.
    pub fn start(&self, slots: usize) -> u32 {
        self.to_coefficients.clamp(1, slots.trailing_zeros().max(1) as usize) as u32
    }

    /// The same for messages of another size: the next power of two, so that few kernels serve all.
    #[must_use]
    pub fn up_to(&self, magnitude: f64) -> Self {
        Self { magnitude: magnitude.log2().ceil().exp2(), ..self.clone() }
    }

    /// The same, as precise as chains for this need let it be, in the margin that suits that.
    ///
    /// With several iterations each of them is as precise as it takes for the last one to be; so is a single one in a chain that is
    /// laid out for two.
    #[must_use]
    pub fn precise(&self, need: &Need) -> Self {
        let wanted = need.scale_bits.saturating_sub(PRECISION_BELOW);
        let each = iterated::each(wanted, self.iterations.max(self.laid_out_for(need)));
        let bits = each.min(self.by_one(need.wide_bits));
        Self { room: self.room_for(bits), bits, scale_bits: need.scale_bits, ..self.clone() }
    }

    /// The least margin whose bend stays below an error of 2^−`bits`, because rounding weighs twice as much for every bit more.
    fn room_for(&self, bits: u32) -> u32 {
        // Half of the error, of complex numbers, so that both contents of one chain have one margin.
        let bound = -f64::from(bits) - 1.0;
        let with =
            |room| Self { room, magnitude: 1.0, content: Content::Complex, iterations: 1, ..self.clone() };
        (ROOM_MIN..ROOM_MAX).find(|&room| with(room).bend().log2() <= bound).unwrap_or(ROOM_MAX)
    }

    /// Bits of margin beyond those of the usual arrangement, at one precision.
    fn more_room(&self, bits: u32) -> u32 {
        let usual = Self { arcsine: true, ..self.clone() };
        self.room_for(bits).saturating_sub(usual.room_for(bits))
    }

    /// Bits that one iteration gives by a sine whose scale has `wide_bits` bits.
    fn by_one(&self, wide_bits: u32) -> u32 {
        let most = wide_bits.saturating_sub(need::WIDE_ABOVE);
        (0..=most).rev().find(|&bits| bits + self.more_room(bits) <= most).unwrap_or(0)
    }

    /// How many iterations chains for this need are laid out for. Where levels have several primes, it is one: their scale is what
    /// primes allow, and says nothing of what was wanted.
    fn laid_out_for(&self, need: &Need) -> u32 {
        if need.has_narrow_primes() {
            return 1;
        }
        let wanted = need.scale_bits.saturating_sub(PRECISION_BELOW);
        let each = iterated::each(wanted, 2);
        let for_two = need::wide(need.scale_bits, each) + self.more_room(each);
        if self.by_one(need.wide_bits) < wanted && need.wide_bits == for_two { 2 } else { 1 }
    }

    /// [`Self::up_to`] in as many iterations as messages of this size have: what the last one brings back may be too small.
    #[must_use]
    pub fn suited_to(&self, magnitude: f64) -> Self {
        let all = self.up_to(magnitude);
        let fewer = (1..=self.iterations).rev().map(|iterations| Self { iterations, ..all.clone() });
        let mut fits = fewer.filter(|c| c.magnitudes().contains(&c.magnitude));
        fits.next().unwrap_or(all)
    }

    /// From the sine to its argument.
    fn inverse(&self) -> Inverse {
        Inverse::new((-f64::from(self.room)).exp2(), self.arcsine)
    }

    /// The chance that one bootstrapping in `slots` slots gives a wrong result.
    pub fn failure(&self, slots: usize) -> f64 {
        let one = probability(EPHEMERAL_WEIGHT, self.interval, 2 * slots);
        (one * f64::from(self.iterations)).min(1.0)
    }

    /// How far a slot may be off because the sine is not a line: messages of `magnitude` meet it.
    pub fn bend(&self) -> f64 {
        // Real and imaginary parts are off by as much each.
        let parts = if self.content == Content::Complex { 2f64.sqrt() } else { 1.0 };
        let last = self.magnitude * self.left_out(self.iterations.saturating_sub(1));
        parts * last * f64::from(self.room).exp2() * self.inverse().error
    }

    /// Bounds on messages that can be bootstrapped: what the last iteration brings back lies in the range too.
    fn magnitudes(&self) -> std::ops::RangeInclusive<f64> {
        *MAGNITUDES.start() / self.left_out(self.iterations.saturating_sub(1))..=*MAGNITUDES.end()
    }

    /// Whether messages up to `magnitude` can be bootstrapped.
    pub fn takes(&self, magnitude: f64) -> bool {
        let suited = self.suited_to(magnitude);
        suited.magnitudes().contains(&suited.magnitude)
    }

    /// How many products in a row a chain up to level `top` has levels for, in a program of `slots` slots whose outputs are at
    /// level `floor` or above. `None` if it is too short to bootstrap on the way.
    ///
    /// # Errors
    /// As [`Self::sine`].
    pub fn budget(&self, top: u32, slots: usize, floor: u32) -> Result<Option<Budget>, CircuitError> {
        let left = top.checked_sub(self.depth()?);
        // Products of ciphertexts end at level 1.
        let last = left.and_then(|left| left.checked_sub(floor.max(1)));
        let between = left.and_then(|left| left.checked_sub(self.start(slots)));
        let budget = last.zip(between).map(|(last, between)| Budget { between: between.min(last), last });
        Ok(budget.filter(|budget| budget.between > 0))
    }

    fn check(&self, slots: usize) -> Result<(), CircuitError> {
        if !(1..=ITERATIONS_MAX).contains(&self.iterations) {
            return Err(CircuitError::Iterations { iterations: self.iterations, most: ITERATIONS_MAX });
        }
        let (least, most) = (*self.magnitudes().start(), *self.magnitudes().end());
        if !(least..=most).contains(&self.magnitude) {
            return Err(CircuitError::Magnitude { magnitude: self.magnitude, least, most });
        }
        if self.room < ROOM_MIN {
            return Err(CircuitError::Room { room: self.room, least: ROOM_MIN });
        }
        // Levels without stages are products with numbers, of which management makes one.
        let least = 1 << self.to_slots.saturating_sub(1).clamp(1, 15);
        if slots < least {
            return Err(CircuitError::BootstrapSlots { slots, least });
        }
        Ok(())
    }

    /// Adds the bootstrapping of `x` to a traced program, in the region "bootstrap".
    ///
    /// # Errors
    /// [`CircuitError::Magnitude`] and [`CircuitError::Room`] for messages and arcs out of range,
    /// [`CircuitError::Iterations`], [`CircuitError::BootstrapSlots`] for too few slots; what the builder refuses.
    pub fn apply(&self, b: &mut Builder, x: Value) -> Result<Value, CircuitError> {
        self.check(b.program().slots())?;
        let outer = b.current_region().to_owned();
        let mut y = self.once(b, x)?;
        for done in 1..self.iterations {
            let rest = Self { magnitude: self.magnitude * self.left_out(done), ..self.clone() };
            y = rest.correct(b, x, y, self.magnitude)?;
        }
        b.region(&outer);
        Ok(y)
    }

    /// What the sine is taken of, over R: real parts and imaginary ones, or the real parts alone.
    fn arguments(&self, b: &mut Builder, x: Value, region: &Region) -> Result<Vec<Value>, CircuitError> {
        region.step(b, "slots to coefficients");
        let mut w = self.slots_to_coefficients(b, x)?;
        region.step(b, "raise");
        w = b.push(Op::Raise { a: w, bits: self.room })?;
        region.step(b, "coefficients to slots");
        // Half, because a number and its conjugate are added.
        let factor = 0.5 / f64::from(self.room).exp2() / sine::radius(self.interval);
        let shares = self.coefficients_to_slots(b, w, factor)?;
        region.step(b, "modulus");
        self.parts(b, shares)
    }

    /// One bootstrapping.
    fn once(&self, b: &mut Builder, x: Value) -> Result<Value, CircuitError> {
        let slots = b.program().slots();
        let region = Region::open(b, "bootstrap");
        let sine = self.sine()?;
        let parts = self.arguments(b, x, &region)?;
        let mut results = Vec::with_capacity(parts.len());
        let factor = self.magnitude * f64::from(self.room).exp2();
        for (index, part) in parts.into_iter().enumerate() {
            b.promise(part, 1.0)?;
            // The second part is the imaginary one.
            let free = self.generator == Generator::Five;
            let mut value = self.inverse().write(b, &sine, part, (factor, index == 1 && !free))?;
            if index == 1 && free {
                value = times_i(b, value, 1.0)?;
            }
            results.push(value);
        }
        let joined = join(b, &results)?;
        b.promise(joined, self.magnitude)?;
        b.resemble(joined, self.like(x, slots))?;
        region.close(b);
        Ok(joined)
    }

    /// What one bootstrapping of `x` gives. The sine bends the same message alike in all slots and every time.
    pub(super) fn like(&self, x: Value, slots: usize) -> Like {
        let bias = Self { iterations: 1, ..self.clone() }.bend();
        Like { value: x, off: self.off(slots), bias, flat: None }
    }

    /// How far one bootstrapping may be off.
    fn off(&self, slots: usize) -> f64 {
        let precise = self.magnitude * self.one_off(slots);
        precise.max(Self { iterations: 1, ..self.clone() }.bend())
    }

    /// The same for messages up to 1, but for the bend. Chains are laid out by measurements of 2^15 slots: the error of a slot grows
    /// with the root of their number.
    fn one_off(&self, slots: usize) -> f64 {
        (-f64::from(self.bits)).exp2() * (slots as f64 / f64::from(1 << 15)).max(1.0).sqrt()
    }
}

/// Names the steps of a circuit in the region of the caller.
struct Region {
    outer: String,
    circuit: &'static str,
}

impl Region {
    fn open(b: &Builder, circuit: &'static str) -> Self {
        Self { outer: b.current_region().to_owned(), circuit }
    }

    fn step(&self, b: &mut Builder, step: &str) {
        let own = format!("{}: {step}", self.circuit);
        b.region(&if self.outer.is_empty() { own } else { format!("{}: {own}", self.outer) });
    }

    fn close(self, b: &mut Builder) {
        b.region(&self.outer);
    }
}
