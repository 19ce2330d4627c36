//! The error model: what every value predicts of its own error.
//!
//! # What is tracked
//! A value with scale Δ decrypts to the polynomial Δ·m + e. [`Noise`] describes e/Δ, so numbers are in units of the
//! message and a rescale leaves them alone:
//!
//! - **sources**: independent contributions, each the standard deviation of one coefficient. A contribution knows
//!   where it was born, and contributions of one birth add linearly while others add in squares: x + x doubles the
//!   error of x, x + y multiplies it by √2. Rotating gives a contribution a new identity, because the error of
//!   another slot is another number. Births are named by hashing the computation, so the same operation on the same
//!   values has the same error wherever it is done.
//! - **magnitude**: a bound on |slot| of the message, which turns e₁ into m₂·e₁ in a product. It is the program's or
//!   the caller's declaration (products, sums of bounds); nothing is measured.
//!
//! # From coefficients to slots
//! A slot is e(ζ)/Δ for a root of unity ζ. With independent coefficients of standard deviation τ (in units of Δ) a slot
//! has E|·|² = d·τ², d the number of coefficients that count: N, or 2n when n slots are packed sparsely. Its tail is that of
//! the heaviest contribution: the rounding r·s of a key switch or rescale is in each slot the product of two complex
//! normal numbers, so that P(|slot| > t·τ·√d) = 2t·K₁(2t) ≈ √(πt)·e^(−2t). Among n slots the greatest stays below the t
//! at which this is δ/n with probability 1 − δ; [`Noise::error`] uses δ = [`FAILURE`].
//!
//! # Formulas (variance of a coefficient, in units of the scale squared)
//! | step | contribution |
//! |---|---|
//! | encoding | (1/12)/Δ² |
//! | encryption, secret key | σ²/Δ² |
//! | encryption, public key | σ²·(1 + 2N/3 + ‖s‖²)/Δ² |
//! | product | (B₂τ₁)², (B₁τ₂)², N·τ₁²τ₂² |
//! | key switch, centred ModUp | (N·σ²·Σⱼ (Dⱼ/P)²/12 + (1 + ‖s‖²)/12)/Δ² |
//! | rescale | (1 + ‖s‖²)/12/Δ′² |
//!
//! Dⱼ is the product of digit j at the level. With centred ModUp a digit is uniform in (−Dⱼ/2, Dⱼ/2], of variance
//! Dⱼ²/12 whatever its number of primes. ‖s‖² is the expected squared norm of the secret.
//!
//! # What is not promised
//! The estimate assumes independent coefficients. It is an estimate for correctness and precision, not a proof, and
//! the predicted error of a ciphertext is public. It tells the circuit, and of an encrypted message the least power of
//! two from 1 on that bounds its declared magnitude; nothing else of the data enters. Of plaintexts that a program
//! multiplies by it tells the magnitude, and a name by which equal ones are known.

#[cfg(test)]
mod circuit_tests;
mod compare;
mod source;
#[cfg(test)]
mod tests;

use ringmill_ring::GaloisElement;

use crate::keys::KeyLayout;
use crate::params::{Level, Params, log2_product};
use crate::scale::Scale;
pub use compare::Comparison;
pub use source::Source;
use source::{Sources, mix};

/// δ of the stated confidence: the worst slot of a value exceeds the prediction with probability at most 2^−20.
pub const FAILURE: f64 = 1.0 / (1 << 20) as f64;

/// Relative error of binary64 in- and output: a few units in the last place of the transform's sums.
const DOUBLE_ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Predicted error and declared magnitude of one value. See the [module](self) for units and formulas.
#[derive(Debug, Clone, PartialEq)]
pub struct Noise {
    sources: Sources,
    magnitude: f64,
    /// Names the value: the hash of the computation that made it.
    origin: u64,
}

/// The step that gives birth to a contribution: part of its name.
#[derive(Clone, Copy)]
#[repr(u64)]
enum Birth {
    Encode = 1,
    Constant,
    EncryptSecret,
    EncryptPublic,
    ErrorProduct,
    KeySwitch,
    Rescale,
    KeySwitchRescale,
    Add,
    Mul,
    Integer,
    Automorphism,
    Raise,
    Off,
}

impl Noise {
    /// A value without error: |slot| ≤ `magnitude`. `name` tells values apart that are not equal.
    pub fn exact(magnitude: f64, name: u64) -> Self {
        Self { sources: Sources::default(), magnitude: magnitude.abs(), origin: mix(0, name) }
    }

    /// A freshly encoded vector, |slot| ≤ `magnitude`: every coefficient rounded to an integer.
    pub fn encoded(magnitude: f64, scale: &Scale, name: u64) -> Self {
        Self::exact(magnitude, name).born(Birth::Encode, (1.0f64 / 12.0).sqrt() / scale.to_f64())
    }

    /// One number in all of `slots` packed slots: a single rounded coefficient.
    pub fn constant(value: f64, scale: &Scale, slots: usize) -> Self {
        // The rounding is in every slot alike: that of the 2·slots coefficients that count, with variance 1/12 in all.
        let std = (1.0 / (24.0 * slots.max(1) as f64)).sqrt() / scale.to_f64();
        Self::exact(value, value.to_bits()).born(Birth::Constant, std)
    }

    /// From stored parts: see [`Noise::sources`].
    pub fn from_parts(sources: Vec<Source>, magnitude: f64, origin: u64) -> Self {
        Self { sources: Sources::from_vec(sources), magnitude: magnitude.abs(), origin }
    }

    /// The contributions, in units of the message.
    pub fn sources(&self) -> &[Source] {
        self.sources.as_slice()
    }

    /// The bound on |slot| of the message.
    pub fn magnitude(&self) -> f64 {
        self.magnitude
    }

    /// The name of the value.
    pub fn origin(&self) -> u64 {
        self.origin
    }

    /// The same value with another declared bound on |slot|, for instance of a polynomial known to stay in \[0, 1\].
    #[must_use]
    pub fn with_magnitude(mut self, magnitude: f64) -> Self {
        self.magnitude = magnitude.abs();
        self
    }

    /// The same value with an error of standard deviation `std`, if that is less than its own: of one who knows more of how errors
    /// meet than the contributions tell.
    #[must_use]
    pub fn at_most(mut self, std: f64) -> Self {
        let own = self.std();
        if std < own {
            self.sources = self.sources.scaled(std / own);
        }
        self
    }

    /// A bound on the covariance of two errors, of one coefficient each, in units of the message squared: what they have in
    /// common adds linearly. At most the product of their deviations.
    pub fn covariance(&self, other: &Self) -> f64 {
        self.sources.covariance(&other.sources)
    }

    /// Standard deviation of one coefficient of the error, in units of the message.
    pub fn std(&self) -> f64 {
        self.sources.std()
    }

    /// Bound on the error |slot − true slot| over all `slots`, at confidence 1 − [`FAILURE`], in units of the message.
    ///
    /// `slots` is the number of packed slots, a power of two up to N/2. Includes the rounding of binary64 output.
    pub fn error(&self, slots: usize) -> f64 {
        self.error_at(slots, FAILURE)
    }

    /// As [`Noise::error`], at confidence 1 − `failure`, which is taken as 1/2 if it is more.
    pub fn error_at(&self, slots: usize, failure: f64) -> f64 {
        let slots = slots.max(1) as f64;
        let worst = self.std() * (2.0 * slots).sqrt() * tail((slots / failure.min(0.5)).ln().max(1.0));
        worst.hypot(self.magnitude * DOUBLE_ROUNDING)
    }

    /// log2 of [`Noise::error`]: −20 means that slots are right to 20 bits below the binary point.
    pub fn error_log2(&self, slots: usize) -> f64 {
        self.error(slots).log2()
    }

    /// Bits between the greatest coefficient that the value may have and half the modulus at `level`; negative if the
    /// value may wrap around and decrypt to garbage.
    pub fn headroom_log2(&self, params: &Params, level: Level, scale: &Scale) -> f64 {
        // A coefficient is a mean of slots, so at most the magnitude; 12 standard deviations of error beside it.
        let coefficient = self.magnitude + 12.0 * self.std();
        log2_product(params.q_at(level)) - 1.0 - scale.log2() - coefficient.max(f64::MIN_POSITIVE).log2()
    }

    /// After encryption under the secret key; `name` is public randomness of this encryption.
    #[must_use]
    pub fn encrypt_secret(&self, params: &Params, scale: &Scale, name: u64) -> Self {
        self.sealed(name).born(Birth::EncryptSecret, params.sigma() / scale.to_f64())
    }

    /// After encryption under the public key; `name` is public randomness of this encryption.
    #[must_use]
    pub fn encrypt_public(&self, params: &Params, scale: &Scale, name: u64) -> Self {
        let n = params.n() as f64;
        let variance = 1.0 + 2.0 / 3.0 * n + secret_norm(params);
        self.sealed(name).born(Birth::EncryptPublic, params.sigma() * variance.sqrt() / scale.to_f64())
    }

    /// self + other; the scales are equal.
    #[must_use]
    pub fn add(&self, other: &Self) -> Self {
        Self {
            sources: self.sources.add(&other.sources),
            magnitude: self.magnitude + other.magnitude,
            origin: mix(mix(Birth::Add as u64, self.origin), other.origin),
        }
    }

    /// self − other; the scales are equal.
    #[must_use]
    pub fn sub(&self, other: &Self) -> Self {
        Self {
            sources: self.sources.add(&other.sources.scaled(-1.0)),
            magnitude: self.magnitude + other.magnitude,
            origin: mix(mix(!(Birth::Add as u64), self.origin), other.origin),
        }
    }

    /// −self.
    #[must_use]
    pub fn neg(&self) -> Self {
        self.mul_integer(-1)
    }

    /// self · c for an integer c, which scales the error exactly.
    #[must_use]
    pub fn mul_integer(&self, c: i64) -> Self {
        Self {
            sources: self.sources.scaled(c as f64),
            magnitude: self.magnitude * (c as f64).abs(),
            origin: mix(mix(Birth::Integer as u64, self.origin), c as u64),
        }
    }

    /// self · other, ciphertexts or plaintexts, before relinearisation and rescaling.
    #[must_use]
    pub fn mul(&self, other: &Self, params: &Params) -> Self {
        let origin = mix(mix(Birth::Mul as u64, self.origin), other.origin);
        // m₂·e₁ + m₁·e₂: the messages' signs are unknown, so equal births add as magnitudes.
        let cross =
            self.sources.times_message(other.magnitude).add(&other.sources.times_message(self.magnitude));
        let product = (params.n() as f64).sqrt() * self.std() * other.std();
        Self { sources: cross, magnitude: self.magnitude * other.magnitude, origin }
            .born(Birth::ErrorProduct, product)
    }

    /// After a rescale that divides by q_level; `scale` is that of the result.
    #[must_use]
    pub fn rescale(&self, params: &Params, scale: &Scale) -> Self {
        self.clone().born(Birth::Rescale, rounding_variance(params).sqrt() / scale.to_f64())
    }

    /// After a key switch (relinearisation or the one inside a rotation) at `level`, with a key of the base layout.
    #[must_use]
    pub fn key_switch(&self, params: &Params, level: Level, scale: &Scale) -> Self {
        self.key_switch_by(params, KeyLayout::base(params), level, scale)
    }

    /// As [`key_switch`](Self::key_switch), with a key of the given layout.
    #[must_use]
    pub fn key_switch_by(&self, params: &Params, layout: KeyLayout, level: Level, scale: &Scale) -> Self {
        let variance = inner_product_variance(params, layout, level) + rounding_variance(params);
        self.clone().born(Birth::KeySwitch, variance.sqrt() / scale.to_f64())
    }

    /// After a key switch at `level` merged with the rescale by q_level (one division by P·q_level); `scale` is that of
    /// the result.
    #[must_use]
    pub fn key_switch_rescale(&self, params: &Params, level: Level, scale: &Scale) -> Self {
        self.key_switch_rescale_by(params, KeyLayout::base(params), level, scale)
    }

    /// As [`key_switch_rescale`](Self::key_switch_rescale), with a key of the given layout.
    #[must_use]
    pub fn key_switch_rescale_by(
        &self,
        params: &Params,
        layout: KeyLayout,
        level: Level,
        scale: &Scale,
    ) -> Self {
        let q = params.q_at(level).last().map_or(1.0, |m| m.value() as f64);
        let variance = inner_product_variance(params, layout, level) / (q * q) + rounding_variance(params);
        self.clone().born(Birth::KeySwitchRescale, variance.sqrt() / scale.to_f64())
    }

    /// After X → X^g on `slots` packed slots, without the key switch that brings it back under the secret key.
    #[must_use]
    pub fn automorphism(&self, galois: GaloisElement, slots: usize) -> Self {
        Self {
            sources: self.sources.rotated(galois, slots),
            magnitude: self.magnitude,
            origin: mix(mix(Birth::Automorphism as u64, self.origin), galois.value()),
        }
    }

    /// After the way to the ephemeral secret, from q_0 to Q and back: multiples of 2^`bits` have been added, and the message,
    /// which fills `slots` slots, is divided by the number of its copies. `scale` is that of the result.
    #[must_use]
    pub fn raise(&self, params: &Params, scale: &Scale, slots: usize, bits: u32) -> Self {
        let magnitude = self.magnitude + raised_magnitude(slots, bits);
        let copies = (params.slots() / slots.max(1)) as f64;
        let ratio = params.q_moduli()[0].value() as f64 / params.p_moduli()[0].value() as f64;
        let switch = params.n() as f64 * params.sigma().powi(2) * ratio * ratio / 12.0;
        let below = (1.0 + f64::from(crate::keys::EPHEMERAL_WEIGHT)) / 12.0;
        let variance = 2.0 * switch + below + rounding_variance(params);
        Self { sources: self.sources.scaled(1.0 / copies), magnitude, origin: self.origin }
            .born(Birth::Raise, variance.sqrt() / scale.to_f64())
    }

    /// What a ciphertext may tell of its message: the error, named after the public seed, and the magnitude as a power
    /// of two from 1 on. Names and magnitude of a plaintext are functions of the message and must not pass.
    fn sealed(&self, name: u64) -> Self {
        let magnitude = if self.magnitude > 1.0 { self.magnitude.log2().ceil().exp2() } else { 1.0 };
        Self::exact(magnitude, name).born(Birth::Encode, self.std())
    }

    /// The same message, no slot off by more than `off` besides, at the confidence of [`Noise::error`].
    #[must_use]
    pub fn off_by(&self, off: f64, slots: usize) -> Self {
        let unit = Self::exact(0.0, 0).born(Birth::Off, 1.0).error(slots);
        self.clone().born(Birth::Off, off / unit)
    }

    /// Adds a contribution that is born here.
    fn born(mut self, birth: Birth, std: f64) -> Self {
        let id = mix(birth as u64, self.origin);
        self.sources.push(Source { id, galois: 1, std, signed: true });
        self.origin = id;
        self
    }
}

/// A bound on |slot| of 2^bits·I, I the multiples of q_0 that a raise adds in 2·`slots` coefficients: each is a sum of h + 1 uniform
/// numbers, a slot is beyond twelve deviations with probability e^(−72).
pub fn raised_magnitude(slots: usize, bits: u32) -> f64 {
    let variance = (f64::from(crate::keys::EPHEMERAL_WEIGHT) + 1.0) / 12.0;
    12.0 * (2.0 * slots as f64 * variance).sqrt() * f64::from(bits).exp2()
}

/// t with √(πt)·e^(−2t) = e^(−l), l ≥ 1: how many deviations the product of two complex normal numbers stays within.
fn tail(l: f64) -> f64 {
    // The iteration contracts by 1/4t each time.
    (0..6).fold(l / 2.0, |t, _| (l + 0.5 * (std::f64::consts::PI * t).ln()) / 2.0)
}

/// Expected ‖s‖².
fn secret_norm(params: &Params) -> f64 {
    params.secret().norm_squared(params.n(), params.sigma())
}

/// Rounding r₀ + r₁·s of two polynomials to integers, before the scale.
fn rounding_variance(params: &Params) -> f64 {
    (1.0 + secret_norm(params)) / 12.0
}

/// Σⱼ dⱼ·eⱼ / P of a key switch at `level`, before the scale.
fn inner_product_variance(params: &Params, layout: KeyLayout, level: Level) -> f64 {
    let log_p = log2_product(&layout.special_primes(params.q_moduli(), params.p_moduli()));
    let squares = layout
        .digits(params.q_at(level).len())
        .map(|d| (2.0 * (log2_product(&params.q_moduli()[d]) - log_p)).exp2() / 12.0);
    params.n() as f64 * params.sigma().powi(2) * squares.sum::<f64>()
}
