//! Encoding: vectors of complex numbers to integer polynomials and back, by the canonical embedding.
//!
//! Slot i of a polynomial m(X) of degree below N at scale Δ is m(ζ^(5^i))/Δ, ζ = e^(iπ/N). A vector of n < N/2 slots
//! (a power of two) lives in the polynomials of X^(N/2n) alone; every slot then repeats N/2n times.
//!
//! Coefficients are the nearest integers to the exact ones up to a small part of a unit. Transforms run in binary64
//! where that suffices and in double-double (about 100 bits) where it does not; the scale and the largest value
//! decide. All arithmetic is spelt out to the last rounding, so every machine encodes to the same integers.

mod crt;
mod dd;
mod error;
mod fft;
mod ints;
mod number;
#[cfg(test)]
mod oracle;
mod slots;
#[cfg(test)]
mod tests;

pub use error::EncoderError;
pub use slots::Slots;

use crate::Scale;
use crate::generator::Generator;
use crate::limbs::parallel;
use crt::Residues;
use dd::{Dd, Dyadic};
use fft::Plan;
use ints::{BOTH_BITS, Integers, LOW_BITS};
use num_complex::Complex64;
use number::{Double, Plain};
use pulp::Arch;
use rayon::prelude::*;
use ringmill_ring::{Backend, Buffer, Domain, Isa, LimbRing, Poly, Pool, RingError};
use std::borrow::Borrow;
use std::sync::OnceLock;

/// Least log2 N of an encoder.
pub const MIN_LOG_N: u32 = 3;
/// Greatest log2 N of an encoder.
pub const MAX_LOG_N: u32 = 17;

/// log2 of the root mean square coefficient up to which a binary64 transform, with a relative error of about
/// 0.6·2^−53·√(log2 n), disturbs coefficients by less than an eighth of what rounding them does (0.29 units).
const PLAIN_BITS: f64 = 47.0;

/// How large values and their coefficients are.
struct Magnitude {
    /// Values are divided by 2^exponent before the transform, so that nothing overflows.
    exponent: i64,
    /// What the results of the transform are multiplied by to give coefficients.
    factor: Dyadic,
    /// No coefficient exceeds this.
    bound: Dyadic,
    /// The largest real or imaginary part.
    largest: f64,
    log_scale: f64,
}

impl Magnitude {
    /// `None` if all values are 0.
    fn of(arch: Arch, values: &Slots<'_>, slots: usize, scale: &Scale) -> Result<Option<Self>, EncoderError> {
        let largest = slots::largest(arch, values)?;
        if largest == 0.0 {
            return Ok(None);
        }
        let (size, delta) = (Dyadic::new(Dd { hi: largest, lo: 0.0 }), exact(scale));
        let exponent = size.exponent;
        // No coefficient exceeds the largest slot, whose absolute value is at most √2 times its larger part.
        let bound = size.mul(delta).mul(Dyadic::new(Dd { hi: 1.415, lo: 0.0 }));
        let factor = delta.shifted(exponent - i64::from(slots.trailing_zeros()));
        // Below 2^−1000 everything rounds to 0, whatever the exponent.
        let factor = Dyadic { exponent: factor.exponent.max(-1000), ..factor };
        Ok(Some(Self { exponent, factor, bound, largest, log_scale: scale.log2() }))
    }

    /// Whether binary64 suffices. The root mean square coefficient is that of the slots over √slots.
    fn plain(&self, slots: usize) -> bool {
        let rms = self.bound.log2() - 0.5 * f64::from(slots.trailing_zeros());
        rms <= PLAIN_BITS && self.bound.exponent < LOW_BITS
    }

    /// Refuses coefficients of half the modulus or more; `top` is the largest result of the transform.
    fn check_modulus<R: Borrow<LimbRing>>(
        &self,
        top: impl FnOnce() -> f64,
        rings: &[R],
        values: &Slots<'_>,
    ) -> Result<(), EncoderError> {
        let product = |q: Dyadic, r: &R| q.mul(Dyadic::from_u64(r.borrow().modulus().value()));
        let modulus = rings.iter().fold(Dyadic::ONE, product);
        let half = modulus.shifted(-1);
        if self.bound.less(half) {
            return Ok(());
        }
        let top = top();
        let coefficient = Dyadic::new(Dd { hi: top, lo: 0.0 }).mul(self.factor);
        if top == 0.0 || coefficient.less(half) {
            return Ok(());
        }
        let (index, value) = values.name(|x| x.abs() == self.largest);
        Err(EncoderError::Overflow {
            index,
            value,
            log_scale: self.log_scale,
            log_coefficient: coefficient.log2(),
            log_modulus: modulus.log2(),
        })
    }
}

/// Encoder and decoder of one ring degree. Tables of each number of slots are made when first used.
///
/// Scratch memory is reused. Decoding, whose messages have errors that depend on the key, wipes what it used; of encoding it
/// holds parts of messages until it is used again, or its pool is dropped.
#[derive(Debug)]
pub struct Encoder {
    log_n: u32,
    arch: Arch,
    generator: Generator,
    plans: Vec<OnceLock<Plan>>,
    pool: Pool,
}

impl Encoder {
    /// An encoder for N = 2^log_n on the instruction set of [`Isa::detect`].
    ///
    /// # Errors
    /// [`RingError::Degree`] outside [`MIN_LOG_N`]..=[`MAX_LOG_N`], and those of [`Isa::detect`].
    pub fn new(log_n: u32) -> Result<Self, EncoderError> {
        Self::with_isa(log_n, Isa::detect()?)
    }

    /// An encoder on a given instruction set; results are the same on all. Plain code serves the emulated ones.
    ///
    /// # Errors
    /// [`RingError::Degree`] outside [`MIN_LOG_N`]..=[`MAX_LOG_N`], [`RingError::IsaUnavailable`].
    pub fn with_isa(log_n: u32, isa: Isa) -> Result<Self, EncoderError> {
        if !(MIN_LOG_N..=MAX_LOG_N).contains(&log_n) {
            return Err(RingError::Degree { log_n, min: MIN_LOG_N, max: MAX_LOG_N }.into());
        }
        let arch = arch(Backend::new(isa)?.isa());
        let plans = (0..log_n).map(|_| OnceLock::new()).collect();
        Ok(Self { log_n, arch, generator: Generator::Five, plans, pool: Pool::default() })
    }

    /// Takes scratch memory from `pool` from now on.
    #[must_use]
    pub fn with_pool(mut self, pool: Pool) -> Self {
        self.pool = pool;
        self
    }

    /// Has slots in the order of this generator; the order is that of 5 by default.
    #[must_use]
    pub fn with_generator(mut self, generator: Generator) -> Self {
        self.plans = (0..self.log_n).map(|_| OnceLock::new()).collect();
        self.generator = generator;
        self
    }

    /// N.
    pub fn n(&self) -> usize {
        1 << self.log_n
    }

    /// The greatest number of slots, N/2.
    pub fn max_slots(&self) -> usize {
        self.n() / 2
    }

    /// Encodes `values` into `slots` slots (those without a value are 0), one limb of `out` a ring, in the
    /// evaluation domain.
    ///
    /// # Errors
    /// [`EncoderError::Slots`], [`EncoderError::TooManyValues`], [`EncoderError::NotFinite`],
    /// [`EncoderError::Overflow`] if a coefficient reaches half the product of the moduli, [`EncoderError::Shape`].
    pub fn encode_into<'a, R: Borrow<LimbRing> + Sync>(
        &self,
        values: impl Into<Slots<'a>>,
        slots: usize,
        scale: &Scale,
        rings: &[R],
        out: &mut Poly,
    ) -> Result<(), EncoderError> {
        self.encode(values.into(), slots, scale, rings, out, Domain::Evaluation)
    }

    /// [`encode_into`](Self::encode_into) without the transform: `out` is left in the coefficient domain.
    ///
    /// # Errors
    /// As there.
    pub fn encode_coefficients_into<'a, R: Borrow<LimbRing> + Sync>(
        &self,
        values: impl Into<Slots<'a>>,
        slots: usize,
        scale: &Scale,
        rings: &[R],
        out: &mut Poly,
    ) -> Result<(), EncoderError> {
        self.encode(values.into(), slots, scale, rings, out, Domain::Coefficient)
    }

    /// Decodes `out.len()` slots, a power of two up to N/2, of a polynomial in either domain; exact up to the
    /// rounding of the results to binary64 and errors far below a unit of the coefficients. A slot beyond the range
    /// of binary64 comes out infinite or NaN.
    ///
    /// # Errors
    /// [`EncoderError::Slots`], [`EncoderError::Shape`].
    pub fn decode_into<R: Borrow<LimbRing> + Sync>(
        &self,
        poly: &Poly,
        scale: &Scale,
        rings: &[R],
        out: &mut [Complex64],
    ) -> Result<(), EncoderError> {
        let plan = self.plan(out.len())?;
        self.check_shape(poly, rings)?;
        let digits = Residues { poly, rings, pool: &self.pool }.digits()?;
        let delta = exact(scale);
        let mut planes = self.scratch(4 * out.len()).wiped();
        let planes = floats(&mut planes);
        let gap = self.max_slots() / out.len();
        let exponent = crt::reals(self.arch, &digits, &rings[..digits.len()], delta.recip(), gap, planes);
        let size = ints::max_abs(self.arch, &planes[..2 * out.len()]);
        if size.log2() + exponent as f64 + delta.log2() <= PLAIN_BITS {
            plan.forward::<Plain>(self.arch, &mut planes[..2 * out.len()]);
            planes[2 * out.len()..].fill(0.0);
        } else {
            plan.forward::<Double>(self.arch, planes);
        }
        slots::gather(plan, planes, exponent, out);
        Ok(())
    }

    /// [`decode_into`](Self::decode_into) a new vector of `slots` values.
    ///
    /// # Errors
    /// As there.
    pub fn decode<R: Borrow<LimbRing> + Sync>(
        &self,
        poly: &Poly,
        slots: usize,
        scale: &Scale,
        rings: &[R],
    ) -> Result<Vec<Complex64>, EncoderError> {
        self.plan(slots)?;
        let mut out = vec![Complex64::ZERO; slots];
        self.decode_into(poly, scale, rings, &mut out)?;
        Ok(out)
    }

    fn encode<R: Borrow<LimbRing> + Sync>(
        &self,
        values: Slots<'_>,
        slots: usize,
        scale: &Scale,
        rings: &[R],
        out: &mut Poly,
        domain: Domain,
    ) -> Result<(), EncoderError> {
        let plan = self.plan(slots)?;
        self.check_shape(out, rings)?;
        if values.len() > slots {
            return Err(EncoderError::TooManyValues { values: values.len(), slots, max: self.max_slots() });
        }
        out.set_domain(domain);
        let Some(size) = Magnitude::of(self.arch, &values, slots, scale)? else {
            out.words_mut().fill(0);
            return Ok(());
        };
        let integers = self.round(plan, &values, &size, rings)?;
        for_each_limb(out.words_mut(), self.n(), rings, |limb, ring| {
            let ring = ring.borrow();
            match domain {
                Domain::Evaluation => integers.transform(self.arch, ring, limb, &self.pool)?,
                Domain::Coefficient => integers.residues(self.arch, ring, limb, &self.pool)?,
            }
            Ok(())
        })
    }

    /// The coefficients of all powers of X, rounded to integers.
    fn round<R: Borrow<LimbRing>>(
        &self,
        plan: &Plan,
        values: &Slots<'_>,
        size: &Magnitude,
        rings: &[R],
    ) -> Result<Integers, EncoderError> {
        let (slots, arch) = (plan.len(), self.arch);
        let mut planes = self.scratch(4 * slots);
        let planes = floats(&mut planes);
        slots::scatter(plan, values, size.exponent, planes);
        let plain = size.plain(slots);
        if plain {
            plan.inverse::<Plain>(arch, &mut planes[..2 * slots]);
        } else {
            plan.inverse::<Double>(arch, planes);
        }
        size.check_modulus(|| ints::max_abs(arch, &planes[..2 * slots]), rings, values)?;
        let factor = size.factor;
        let mut low = self.scratch(self.n());
        if size.bound.exponent < LOW_BITS {
            let words = &mut low[..2 * slots];
            if plain {
                ints::round_short::<Plain>(arch, &planes[..2 * slots], factor, words);
            } else {
                ints::round_short::<Double>(arch, planes, factor, words);
            }
            spread(&mut low, 2 * slots);
            let bound = ints::short_bound(ints::max_abs(arch, &planes[..2 * slots]), factor);
            return Ok(Integers::Short { words: low, bound });
        }
        let shift = (size.bound.exponent + 1 - BOTH_BITS).max(0);
        let mut high = self.scratch(self.n());
        let (front, back) = (&mut low[..2 * slots], &mut high[..2 * slots]);
        let parts = (bytemuck::cast_slice_mut(front), bytemuck::cast_slice_mut(back));
        ints::round_both(arch, planes, factor.shifted(-shift), parts.0, parts.1);
        spread(&mut low, 2 * slots);
        spread(&mut high, 2 * slots);
        Ok(Integers::Long { low, high, shift: shift as u32 })
    }

    fn plan(&self, slots: usize) -> Result<&Plan, EncoderError> {
        if !slots.is_power_of_two() || slots > self.max_slots() {
            return Err(EncoderError::Slots { slots, max: self.max_slots() });
        }
        let log = slots.trailing_zeros();
        Ok(self.plans[log as usize].get_or_init(|| Plan::new(log, self.generator)))
    }

    fn check_shape<R: Borrow<LimbRing>>(&self, poly: &Poly, rings: &[R]) -> Result<(), EncoderError> {
        let (limbs, n) = (poly.limb_count(), poly.n());
        let fits = rings.iter().all(|r| r.borrow().n() == self.n());
        if fits && !rings.is_empty() && (limbs, n) == (rings.len(), self.n()) {
            return Ok(());
        }
        let expected_n = rings.iter().map(|r| r.borrow().n()).find(|&n| n != self.n()).unwrap_or(self.n());
        Err(EncoderError::Shape { limbs, n, expected_limbs: rings.len(), expected_n })
    }

    /// Scratch for `len` numbers of 64 bits.
    fn scratch(&self, len: usize) -> Buffer {
        Buffer::unspecified_in(&self.pool, len)
    }
}

/// The vector unit for an instruction set that this CPU is known to execute.
fn arch(isa: Isa) -> Arch {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => pulp::x86::V3::try_new().map_or(Arch::Scalar, Arch::V3),
        Isa::Avx512 | Isa::Ifma => Arch::new(),
        _ => Arch::Scalar,
    }
}

fn floats(buffer: &mut Buffer) -> &mut [f64] {
    bytemuck::cast_slice_mut(buffer)
}

/// The scale to about a hundred bits.
fn exact(scale: &Scale) -> Dyadic {
    scale.factors().iter().fold(Dyadic::ONE, |product, &(base, e)| product.mul(Dyadic::from_u64(base).pow(e)))
}

/// Moves the first `count` entries to equal distances over the whole slice, zeros between.
fn spread(values: &mut [u64], count: usize) {
    let gap = values.len() / count;
    if gap == 1 {
        return;
    }
    values[count..].fill(0);
    // From the last one down: where an entry goes, the one before has gone already.
    (1..count).rev().for_each(|i| values.swap(i, i * gap));
}

/// `f` on every limb, in parallel where the current thread pool has more than one thread.
fn for_each_limb<R: Sync>(
    words: &mut [u64],
    n: usize,
    rings: &[R],
    f: impl Fn(&mut [u64], &R) -> Result<(), EncoderError> + Sync,
) -> Result<(), EncoderError> {
    if rings.len() < 2 || !parallel() {
        words.chunks_exact_mut(n).zip(rings).try_for_each(|(limb, ring)| f(limb, ring))
    } else {
        words.par_chunks_exact_mut(n).zip(rings).try_for_each(|(limb, ring)| f(limb, ring))
    }
}
