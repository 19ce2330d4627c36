//! The error model: what every value predicts of its own error.
//!
//! # What is tracked
//! A value with scale Δ decrypts to the polynomial Δ·m + e. [`Noise`] describes e/Δ, so numbers are in units of the
//! message and a rescale leaves them alone:
//!
//! - **sources**: contributions of different births, each the standard deviation of one coefficient. Contributions of one
//!   birth add linearly and others add in squares: x + x doubles the error of x, x + y multiplies it by √2. A rotation
//!   makes another contribution of each, because the error of another slot is another number. A birth is named by the
//!   operation, the computation that made its input, the level, and the key with its layout.
//! - **rest**: the deviation of what has no name. It adds linearly to all that it meets.
//! - **bias**: a bound on |slot| of what is not random: rounding of a constant, the polynomial that stands for a sine, a
//!   product of two errors. It adds linearly.
//! - **magnitude**: a bound on |slot| of the message, which turns e₁ into m₂·e₁ in a product. It is the program's or
//!   the caller's declaration (products, sums of bounds); nothing is measured.
//!
//! # What is public
//! Everything here follows from the computation, from declared bounds and from fresh random names: never from values. A
//! product with a plaintext does not name the plaintext, so equal ones cannot be distinguished from others.
//! Births after it may be equal or not, and add linearly. A file holds the sums alone ([`Noise::summary`]),
//! rounded up.
//!
//! # From coefficients to slots
//! A slot is e(ζ)/Δ for a root of unity ζ. With independent coefficients of standard deviation τ (in units of Δ) a slot
//! has E|·|² = d·τ², d the number of coefficients that count: N, or 2n when n slots are packed sparsely. `tail.rs` bounds
//! how far the greatest of n slots exceeds that at probability δ; [`Noise::error`] uses δ = [`FAILURE`].
//!
//! # Formulas (variance of a coefficient, in units of the scale squared)
//! | step | contribution |
//! |---|---|
//! | encoding | (1/12)/Δ² |
//! | encryption, secret key | σ²/Δ² |
//! | encryption, public key | σ²·(1 + 2N/3 + ‖s‖²)/Δ² |
//! | product | (B₂τ₁)², (B₁τ₂)², bias E₁·E₂ |
//! | key switch, centred ModUp | (N·σ²·Σⱼ (Dⱼ/P)²/12 + (1 + ‖s‖²)/12)/Δ² |
//! | rescale | (1 + ‖s‖²)/12/Δ′² |
//! | key switch as another library | `noise/library.rs` |
//!
//! Dⱼ is the product of digit j at the level. With centred ModUp a digit is uniform in (−Dⱼ/2, Dⱼ/2], of variance
//! Dⱼ²/12 whatever its number of primes. ‖s‖² is the expected squared norm of the secret. The inequalities are derived in
//! `docs/algorithms/error.md`.
//!
//! # What is not promised
//! The estimate assumes independent coefficients: ciphertexts are pseudorandom, and the rounding of a plaintext is taken
//! as uniform. It is an estimate for correctness and precision, not a proof.

#[cfg(test)]
mod circuit_tests;
mod compare;
mod library;
mod source;
mod summary;
mod tail;
#[cfg(test)]
mod tests;

use ringmill_ring::GaloisElement;

use crate::keys::KeyLayout;
use crate::library::Library;
use crate::params::{Level, Params, log2_product};
use crate::scale::Scale;
pub use compare::Comparison;
pub use source::{Factor, Source};
use source::{Sources, mix};
pub use summary::Summary;
use tail::{Tail, product_tail};

/// δ of the stated confidence: the worst slot of a value exceeds the prediction with probability at most 2^−20.
pub const FAILURE: f64 = 1.0 / (1 << 20) as f64;

/// Bound on |slot| of what is in the clear or to be encrypted, where none is declared.
pub const DEFAULT_MAGNITUDE: f64 = 1.0;

/// Relative error of binary64 in- and output: a few units in the last place of the transform's sums.
const DOUBLE_ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Predicted error and declared magnitude of one value. See the [module](self) for units and formulas.
#[derive(Debug, Clone, PartialEq)]
pub struct Noise {
    sources: Sources,
    rest: f64,
    bias: f64,
    magnitude: f64,
    origin: Origin,
    /// The name of an encryption, as long as the value is one.
    fresh: Option<u64>,
}

/// Names the computation that made a value.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Origin {
    name: u64,
    /// Whether it is the negative of the value of that name.
    negative: bool,
    /// Whether values of this name may differ: births after it have unknown signs.
    shared: bool,
}

impl Origin {
    fn new(name: u64) -> Self {
        Self { name, negative: false, shared: false }
    }

    /// After an operation on one value.
    fn after(self, step: Birth, word: u64) -> Self {
        Self { name: mix(mix(step as u64, self.name), word), ..self }
    }

    /// The sum, under one name for both orders and signs: −x − y, and y − x for x − y, are its negatives.
    fn plus(self, other: Self) -> Self {
        let shared = self.shared || other.shared;
        if self.name == other.name {
            // A multiple, whose roundings are correlated with those of the value itself.
            return Self { shared: true, ..self };
        }
        let (first, second) = if self.name < other.name { (self, other) } else { (other, self) };
        let step = if first.negative == second.negative { Birth::Add } else { Birth::Subtract };
        let name = mix(mix(step as u64, first.name), second.name);
        Self { name, negative: first.negative, shared }
    }

    /// The product, under one name for both orders.
    fn times(self, other: Self) -> Self {
        let (first, second) = (self.name.min(other.name), self.name.max(other.name));
        let name = mix(mix(Birth::Mul as u64, first), second);
        Self { name, negative: self.negative != other.negative, shared: self.shared || other.shared }
    }

    fn negated(self) -> Self {
        Self { negative: !self.negative, ..self }
    }
}

/// The step that gives birth to a contribution: part of its name.
#[derive(Clone, Copy)]
#[repr(u64)]
enum Birth {
    Encode = 1,
    Fresh,
    KeySwitch,
    Rounding,
    Rescale,
    Add,
    Subtract,
    Mul,
    Plain,
    Automorphism,
    Raise,
    Off,
    Flood,
}

/// The key switch that gives birth to an error: errors of two switches are equal only where all of this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Switching {
    /// Names the key.
    pub key: u64,
    /// Its digits and special primes, and whose integers they are.
    pub manner: Manner,
    /// The level at which it is switched.
    pub level: Level,
}

/// How keys are switched, as far as errors depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Manner {
    /// Digits and special primes.
    pub layout: KeyLayout,
    /// The library whose integers they are, if not the engine's.
    pub library: Option<Library>,
}

impl From<KeyLayout> for Manner {
    fn from(layout: KeyLayout) -> Self {
        Self { layout, library: None }
    }
}

impl Switching {
    fn name(&self) -> u64 {
        let KeyLayout { limbs, special, alpha } = self.manner.layout;
        let words = [limbs as u64, special as u64, alpha as u64, u64::from(self.level.get())];
        let library = self.manner.library.map(|library| library as u64 + 1);
        words.into_iter().chain(library).fold(self.key, mix)
    }
}

impl Noise {
    /// A value without error: |slot| ≤ `magnitude`. `name` distinguishes values that are not equal.
    pub fn exact(magnitude: f64, name: u64) -> Self {
        Self {
            sources: Sources::default(),
            rest: 0.0,
            bias: 0.0,
            magnitude: magnitude.abs(),
            origin: Origin::new(mix(0, name)),
            fresh: None,
        }
    }

    /// A vector of a program, encoded: |slot| ≤ `magnitude`, every coefficient rounded to an integer. Equal vectors have equal
    /// `name`s, and then equal errors.
    pub fn encoded(magnitude: f64, scale: &Scale, name: u64) -> Self {
        Self::exact(magnitude, name).born(Birth::Encode, 0, rounding_of_one() / scale.to_f64(), Factor::NONE)
    }

    /// A vector of which nothing but the bound |slot| ≤ `magnitude` is known, encoded. It may equal any other, so its error
    /// has no name.
    pub fn plain(magnitude: f64, scale: &Scale) -> Self {
        Self { rest: rounding_of_one() / scale.to_f64(), ..Self::unknown(magnitude) }
    }

    /// A number of a program in every slot: one coefficient is rounded, and all slots are off by the same.
    pub fn number(value: f64, scale: &Scale) -> Self {
        Self { bias: rounded_alike(scale), ..Self::exact(value, value.to_bits()) }
    }

    /// A number in every slot of which nothing but the bound `magnitude` is known.
    pub fn constant(magnitude: f64, scale: &Scale) -> Self {
        Self { bias: rounded_alike(scale), ..Self::unknown(magnitude) }
    }

    /// A value without error of which nothing but the bound is known: it may equal any other.
    fn unknown(magnitude: f64) -> Self {
        let exact = Self::exact(magnitude, 0);
        Self { origin: Origin { shared: true, ..exact.origin }, ..exact }
    }

    /// The named contributions, in units of the message.
    pub fn sources(&self) -> &[Source] {
        self.sources.as_slice()
    }

    /// The bound on |slot| of the message.
    pub fn magnitude(&self) -> f64 {
        self.magnitude
    }

    /// The bound on |slot| of the part of the error that is not random.
    pub fn bias(&self) -> f64 {
        self.bias
    }

    /// The same value with another declared bound on |slot|, for instance of a polynomial known to stay in \[0, 1\].
    #[must_use]
    pub fn with_magnitude(mut self, magnitude: f64) -> Self {
        self.magnitude = magnitude.abs();
        self
    }

    /// The same value with another bound on the part of the error that is not random.
    #[must_use]
    pub fn with_bias(mut self, bias: f64) -> Self {
        (self.bias, self.fresh) = (if bias.is_nan() { f64::INFINITY } else { bias }, None);
        self
    }

    /// The same value with random errors of standard deviation `std`, if that is less than its own: for a caller that knows more
    /// of how errors meet than the contributions show.
    #[must_use]
    pub fn at_most(mut self, std: f64) -> Self {
        let own = self.std();
        if std < own {
            self.sources = self.sources.scaled(std / own);
            self.rest *= std / own;
        }
        self
    }

    /// With a further random error of deviation `std`, of which nothing is known: it adds linearly to all that it meets.
    #[must_use]
    pub fn plus_rest(mut self, std: f64) -> Self {
        (self.rest, self.fresh) = (self.rest + std, None);
        self
    }

    /// The same predictions with all contributions in one, without names: it adds linearly to all that it meets.
    #[must_use]
    pub fn unnamed(&self) -> Self {
        let rest = self.std();
        Self { sources: Sources::default(), rest, ..self.clone() }
    }

    /// A bound on the covariance of two errors, of one coefficient each, in units of the message squared: what they have in
    /// common adds linearly, and what has no name may be in common. At most the product of their deviations.
    pub fn covariance(&self, other: &Self) -> f64 {
        let (a, b) = (self.sources.std(), other.sources.std());
        self.sources.covariance(&other.sources) + self.rest * (b + other.rest) + a * other.rest
    }

    /// Standard deviation of one coefficient of the random error, in units of the message.
    pub fn std(&self) -> f64 {
        self.sources.std() + self.rest
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
        // Named and unnamed part each stay within their bounds at a share of the failures, the larger part at the larger one.
        let unnamed = match self.rest / self.std() {
            part if part > 0.0 && part < 1.0 => part.clamp(1e-6, 1.0 - 1e-6),
            part => part.max(0.0),
        };
        let l = |share: f64| (slots / failure.min(0.5) / share).ln().max(1.0);
        let named = if unnamed < 1.0 { Tail::of(self.sources()).bound(l(1.0 - unnamed)) } else { 0.0 };
        let worst = named + if unnamed > 0.0 { Tail::product(self.rest).bound(l(unnamed)) } else { 0.0 };
        let error = (worst * (2.0 * slots).sqrt() + self.bias).hypot(self.magnitude * DOUBLE_ROUNDING);
        // Errors beyond all numbers may have met messages of size 0 on the way.
        if error.is_nan() { f64::INFINITY } else { error }
    }

    /// log2 of [`Noise::error`]: −20 means that slots are right to 20 bits below the binary point.
    pub fn error_log2(&self, slots: usize) -> f64 {
        self.error(slots).log2()
    }

    /// Bits between the greatest coefficient that the value may have and half the modulus at `level`; negative if the
    /// value may wrap around and decrypt to garbage.
    pub fn headroom_log2(&self, params: &Params, level: Level, scale: &Scale) -> f64 {
        // A coefficient is a mean of slots, so at most the magnitude; 12 standard deviations of error beside it.
        let coefficient = self.magnitude + 12.0 * self.std() + self.bias;
        let coefficient =
            if coefficient.is_nan() { f64::INFINITY } else { coefficient.max(f64::MIN_POSITIVE) };
        log2_product(params.q_at(level)) - 1.0 - scale.log2() - coefficient.log2()
    }

    /// After encryption under the secret key; `name` is public randomness of this encryption.
    #[must_use]
    pub fn encrypt_secret(&self, params: &Params, scale: &Scale, name: u64) -> Self {
        self.sealed(name, params.sigma() / scale.to_f64(), Factor::NONE)
    }

    /// After encryption under a public key that does not divide; `name` is public randomness of this encryption.
    #[must_use]
    pub fn encrypt_public(&self, params: &Params, scale: &Scale, name: u64) -> Self {
        let (n, unit) = (params.n() as f64, params.sigma() / scale.to_f64());
        // v·e of the public key, and e₀ + e₁·s.
        let (key, secret) = (2.0 / 3.0 * n, 1.0 + secret_norm(params));
        self.sealed(name, (key + secret).sqrt() * unit, Factor::encryption(secret / (key + secret)))
    }

    /// After encryption under the public key modulo p_0 times the ciphertext primes, and division by p_0.
    #[must_use]
    pub fn encrypt_public_divided(&self, params: &Params, scale: &Scale, name: u64) -> Self {
        let extra = params.p_moduli()[0].value() as f64;
        let variance = (params.sigma() / extra).powi(2);
        // v·e of the public key; e₀ + e₁·s, and the rounding of both parts.
        let key = 2.0 / 3.0 * params.n() as f64 * variance;
        let secret = (1.0 + secret_norm(params)) * variance + rounding_variance(params);
        let std = (key + secret).sqrt() / scale.to_f64();
        self.sealed(name, std, Factor::encryption(secret / (key + secret)))
    }

    /// self + other; the scales are equal.
    #[must_use]
    pub fn add(&self, other: &Self) -> Self {
        self.plus(other, self.sources.add(&other.sources), self.origin.plus(other.origin))
    }

    /// self − other; the scales are equal.
    #[must_use]
    pub fn sub(&self, other: &Self) -> Self {
        let sources = self.sources.add(&other.sources.scaled(-1.0));
        self.plus(other, sources, self.origin.plus(other.origin.negated()))
    }

    fn plus(&self, other: &Self, sources: Sources, origin: Origin) -> Self {
        let magnitude = self.magnitude + other.magnitude;
        Self {
            sources,
            rest: self.rest + other.rest,
            bias: self.bias + other.bias,
            magnitude,
            origin,
            fresh: None,
        }
        .limited()
    }

    /// −self.
    #[must_use]
    pub fn neg(&self) -> Self {
        Self {
            sources: self.sources.scaled(-1.0),
            origin: self.origin.negated(),
            fresh: None,
            ..self.clone()
        }
    }

    /// self · c for an integer c, which scales the error exactly.
    #[must_use]
    pub fn mul_integer(&self, c: i64) -> Self {
        let size = (c as f64).abs();
        let origin = match c {
            1 => self.origin,
            -1 => self.origin.negated(),
            // Roundings of multiples of one value are correlated.
            _ => Origin { shared: true, ..self.origin },
        };
        Self {
            sources: self.sources.scaled(c as f64),
            rest: self.rest * size,
            bias: self.bias * size,
            magnitude: self.magnitude * size,
            origin,
            fresh: None,
        }
    }

    /// self · other, ciphertexts or plaintexts, before relinearisation and rescaling. The error of a plaintext factor is in
    /// [`Noise::plain`] and [`Noise::constant`].
    #[must_use]
    pub fn mul(&self, other: &Self, params: &Params) -> Self {
        // m₂·e₁ + m₁·e₂: the messages' signs are unknown, so equal births add as magnitudes.
        let cross =
            self.sources.times_message(other.magnitude).add(&other.sources.times_message(self.magnitude));
        Self {
            sources: cross,
            rest: self.rest * other.magnitude + other.rest * self.magnitude,
            bias: self.bias * other.magnitude
                + other.bias * self.magnitude
                + self.product_of_errors(other, params),
            magnitude: self.magnitude * other.magnitude,
            origin: self.origin.times(other.origin),
            fresh: None,
        }
        .limited()
    }

    /// A bound on |e₁·e₂| in every slot: the product of two bounds, whatever the errors have in common.
    pub fn product_of_errors(&self, other: &Self, params: &Params) -> f64 {
        let unit = (2.0 * params.slots() as f64).sqrt() * product_tail(params.slots());
        (self.std() * unit + self.bias) * (other.std() * unit + other.bias)
    }

    /// self + other for a vector or a number in the clear, of which the bound alone is known.
    #[must_use]
    pub fn add_plain(&self, other: &Self) -> Self {
        Self { origin: self.with_unknown(), ..self.add(other) }
    }

    /// self · other for a vector or a number in the clear, of which the bound alone is known.
    #[must_use]
    pub fn mul_plain(&self, other: &Self, params: &Params) -> Self {
        Self { origin: self.with_unknown(), ..self.mul(other, params) }
    }

    /// The origin after an operation with something that has no name.
    fn with_unknown(&self) -> Origin {
        Origin { shared: true, ..self.origin.after(Birth::Plain, 0) }
    }

    /// After a rescale that divides by the primes of `level`; `scale` is that of the result.
    #[must_use]
    pub fn rescale(&self, params: &Params, level: Level, scale: &Scale) -> Self {
        let std = rounding_variance(params).sqrt() / scale.to_f64();
        self.clone().born(Birth::Rescale, u64::from(level.get()), std, Factor::SECRET)
    }

    /// After a key switch (relinearisation or the one inside a rotation); `scale` is that of the value.
    #[must_use]
    pub fn key_switch(&self, params: &Params, switching: Switching, scale: &Scale) -> Self {
        self.switched(params, switching, 1.0, scale)
    }

    /// After a key switch merged with the rescale by the primes of `level` (one division by P and these, or a rescale of its own where
    /// another library does it so); `scale` is that of the result.
    #[must_use]
    pub fn key_switch_rescale(&self, params: &Params, switching: Switching, scale: &Scale) -> Self {
        let q = params.level_scale(switching.level).to_f64();
        match switching.manner.library {
            None => self.switched(params, switching, q, scale),
            // Two divisions: the rounding of the first is divided too.
            Some(_) => {
                let before = scale.mul(&params.level_scale(switching.level));
                self.switched(params, switching, 1.0, &before).rescale(params, switching.level, scale)
            }
        }
    }

    /// The inner product with the key, divided by `by` more than P, and the rounding of the division.
    fn switched(&self, params: &Params, switching: Switching, by: f64, scale: &Scale) -> Self {
        let Manner { layout, library } = switching.manner;
        let (all, largest) = inner_product_variance(params, switching.manner, switching.level);
        let factor = Factor {
            name: mix(Birth::KeySwitch as u64, switching.key),
            share: if all > 0.0 { largest / all } else { 1.0 },
        };
        let (scale, word) = (scale.to_f64(), mix(switching.name(), by.to_bits()));
        let mut inner = self.clone().born(Birth::KeySwitch, word, all.sqrt() / by / scale, factor);
        let mut rounding = rounding_variance(params);
        if let Some(library) = library {
            inner.bias += library.bias(params, layout, switching.level) / by / scale;
            rounding *= library.rounding(layout);
        }
        inner.born(Birth::Rounding, 0, rounding.sqrt() / scale, Factor::SECRET)
    }

    /// After X → X^g on `slots` packed slots, without the key switch that brings it back under the secret key.
    #[must_use]
    pub fn automorphism(&self, galois: GaloisElement, slots: usize) -> Self {
        let sources = self.sources.rotated(galois, slots);
        Self {
            sources,
            origin: self.origin.after(Birth::Automorphism, galois.value()),
            fresh: None,
            ..self.clone()
        }
    }

    /// After the way to the ephemeral secret, from level 0 to Q and back: multiples of 2^`bits` have been added, and the message,
    /// which fills `slots` slots, is divided by the number of its copies. `scale` is that of the result.
    #[must_use]
    pub fn raise(&self, params: &Params, scale: &Scale, slots: usize, bits: u32) -> Self {
        let magnitude = self.magnitude + raised_magnitude(slots, bits);
        let copies = (params.slots() / slots.max(1)) as f64;
        let special = params.p_moduli()[0].value() as f64;
        // A digit for each prime of level 0.
        let ratios =
            params.q_at(Level::ZERO).iter().map(|q| (q.value() as f64 / special).powi(2)).sum::<f64>();
        let switch = params.n() as f64 * params.sigma().powi(2) * ratios / 12.0;
        let below = (1.0 + f64::from(crate::keys::EPHEMERAL_WEIGHT)) / 12.0;
        let variance = 2.0 * switch + below + rounding_variance(params);
        let (sources, rest) = (self.sources.scaled(1.0 / copies), self.rest / copies);
        Self { sources, rest, bias: self.bias / copies, magnitude, fresh: None, ..self.clone() }.born(
            Birth::Raise,
            0,
            variance.sqrt() / scale.to_f64(),
            Factor::SECRET,
        )
    }

    /// What a ciphertext shows of its message: the error, named after the public seed, and the declared magnitude.
    fn sealed(&self, name: u64, std: f64, factor: Factor) -> Self {
        let message = Self { bias: self.bias, ..Self::exact(self.magnitude, 0) };
        Self::encryption(message, name, std.hypot(self.std()), factor)
    }

    /// The message of an encryption, off by its error alone.
    fn encryption(message: Self, name: u64, std: f64, factor: Factor) -> Self {
        let id = mix(Birth::Fresh as u64, name);
        let sources = Sources::one(Source { id, galois: 1, std, signed: true, factor });
        Self { sources, origin: Origin::new(id), fresh: Some(name), ..message }
    }

    /// The same message with an error more, a normal number in every coefficient that is drawn by itself: of deviation `std`, in units of
    /// the message.
    #[must_use]
    pub fn flooded(&self, std: f64) -> Self {
        self.clone().born(Birth::Flood, 0, std, Factor::NONE)
    }

    /// The same message, no slot off by more than `off` by a random error, at the confidence of [`Noise::error`], and by more than
    /// `bias` by an error that may be the same in all slots.
    #[must_use]
    pub fn off_by(&self, off: f64, bias: f64, slots: usize) -> Self {
        let unit = Self::exact(0.0, 0).born(Birth::Off, 0, 1.0, Factor::SECRET).error(slots);
        Self { bias: self.bias + bias, ..self.clone() }.born(Birth::Off, 0, off / unit, Factor::SECRET)
    }

    /// Adds a contribution that is born here.
    fn born(mut self, birth: Birth, word: u64, std: f64, factor: Factor) -> Self {
        let origin = self.origin.after(birth, word);
        let std = if origin.negative { -std } else { std };
        let source = Source { id: origin.name, galois: 1, std, signed: !origin.shared, factor };
        self.sources = self.sources.add(&Sources::one(source));
        (self.origin, self.fresh) = (origin, None);
        self.limited()
    }

    /// With at most as many names as are kept.
    fn limited(mut self) -> Self {
        self.rest += self.sources.limit();
        self
    }
}

/// A bound on |slot| of 2^bits·I, I the multiples of q_0 that a raise adds in 2·`slots` coefficients: each is a sum of h + 1 uniform
/// numbers, a slot is beyond twelve deviations with probability e^(−72).
pub fn raised_magnitude(slots: usize, bits: u32) -> f64 {
    let variance = (f64::from(crate::keys::EPHEMERAL_WEIGHT) + 1.0) / 12.0;
    12.0 * (2.0 * slots as f64 * variance).sqrt() * f64::from(bits).exp2()
}

/// Standard deviation of the rounding of one coefficient to an integer.
fn rounding_of_one() -> f64 {
    (1.0f64 / 12.0).sqrt()
}

/// Bound on what every slot is off by when the one coefficient of a number is rounded at a scale.
fn rounded_alike(scale: &Scale) -> f64 {
    0.5 / scale.to_f64()
}

/// Expected ‖s‖².
fn secret_norm(params: &Params) -> f64 {
    params.secret().norm_squared(params.n(), params.sigma())
}

/// Rounding r₀ + r₁·s of two polynomials to integers, before the scale.
fn rounding_variance(params: &Params) -> f64 {
    (1.0 + secret_norm(params)) / 12.0
}

/// The variance of Σⱼ dⱼ·eⱼ / P of a key switch at `level`, before the scale, and that of its largest term. What digits that are
/// not centred have in common in all coefficients is not in it.
fn inner_product_variance(params: &Params, manner: Manner, level: Level) -> (f64, f64) {
    let Manner { layout, library } = manner;
    let log_p = log2_product(&layout.special_primes(params.q_moduli(), params.p_moduli()));
    let squares = layout.digits(params.q_at(level).len()).map(|d| {
        let of = library.map_or(1.0, |library| library.digit_reach(d.len()));
        of * (2.0 * (log2_product(&params.q_moduli()[d]) - log_p)).exp2() / 12.0
    });
    let (sum, most) = squares.fold((0.0, 0.0f64), |(sum, most), square| (sum + square, most.max(square)));
    let unit = params.n() as f64 * params.sigma().powi(2);
    (unit * sum, unit * most)
}
