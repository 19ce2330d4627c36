//! Encoding: vectors of complex numbers to integer polynomials and back, by the canonical embedding.
//!
//! Slot i of a polynomial m(X) of degree below N at scale Δ is m(ζ^(5^i))/Δ, ζ = e^(iπ/N). A vector of n < N/2 slots
//! (a power of two) lives in the polynomials of X^(N/2n) alone; every slot then repeats N/2n times.
//!
//! Coefficients are the nearest integers to the exact ones up to a small part of a unit: transforms run in binary64
//! where that suffices and in double-double (about 100 bits) where it does not, chosen from the scale and the
//! largest value. All arithmetic is spelt out to the last rounding, so every machine encodes to the same integers.

mod crt;
mod dd;
mod error;
mod fft;
mod ints;
mod number;
#[cfg(test)]
mod tests;

pub use error::EncoderError;

use crate::Scale;
use dd::{Dd, Dyadic, pow2};
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

/// Values to encode.
#[derive(Debug, Clone, Copy)]
pub enum Slots<'a> {
    /// Real numbers.
    Real(&'a [f64]),
    /// Complex numbers.
    Complex(&'a [Complex64]),
}

impl<'a> From<&'a [f64]> for Slots<'a> {
    fn from(values: &'a [f64]) -> Self {
        Self::Real(values)
    }
}

impl<'a> From<&'a [Complex64]> for Slots<'a> {
    fn from(values: &'a [Complex64]) -> Self {
        Self::Complex(values)
    }
}

impl Slots<'_> {
    /// The number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::Real(v) => v.len(),
            Self::Complex(v) => v.len(),
        }
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Real parts, or real and imaginary parts by turns.
    fn parts(&self) -> &[f64] {
        match self {
            Self::Real(v) => v,
            Self::Complex(v) => bytemuck::cast_slice(v),
        }
    }

    /// The index of the first part for which `is` holds, and the value as text.
    fn name(&self, is: impl Fn(f64) -> bool) -> (usize, String) {
        let part = self.parts().iter().position(|&x| is(x)).unwrap_or(0);
        match self {
            Self::Real(v) => (part, v.get(part).map(f64::to_string).unwrap_or_default()),
            Self::Complex(v) => (part / 2, v.get(part / 2).map(Complex64::to_string).unwrap_or_default()),
        }
    }
}

/// Encoder and decoder of one ring degree. Tables of each number of slots are made when first used.
#[derive(Debug)]
pub struct Encoder {
    log_n: u32,
    arch: Arch,
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
        Ok(Self { log_n, arch, plans, pool: Pool::default() })
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
        let mut work = Poly::unspecified_in(&self.pool, self.n(), rings.len(), Domain::Coefficient);
        let evaluations = poly.domain() == Domain::Evaluation;
        let words = poly.words();
        for_each_indexed(work.words_mut(), self.n(), rings, |i, limb, ring| {
            limb.copy_from_slice(&words[i * limb.len()..(i + 1) * limb.len()]);
            if evaluations { Ok(ring.borrow().inverse(limb)?) } else { Ok(()) }
        })?;
        let count = crt::digits(&mut work, rings, &self.pool)?;
        let digits = &work.words()[..count * self.n()];
        let delta = exact(scale);
        let mut planes = self.floats(4 * out.len());
        let planes = floats(&mut planes);
        let gap = self.max_slots() / out.len();
        let exponent = crt::reals(self.arch, digits, &rings[..count], delta.recip(), gap, planes);
        let size = ints::max_abs(self.arch, &planes[..2 * out.len()]);
        if size.log2() + exponent as f64 + delta.log2() <= PLAIN_BITS {
            plan.forward::<Plain>(self.arch, &mut planes[..2 * out.len()]);
            planes[2 * out.len()..].fill(0.0);
        } else {
            plan.forward::<Double>(self.arch, planes);
        }
        gather(plan, planes, exponent, out);
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
            return Err(EncoderError::TooManyValues { values: values.len(), slots });
        }
        out.set_domain(domain);
        let largest = largest(self.arch, &values)?;
        if largest == 0.0 {
            out.words_mut().fill(0);
            return Ok(());
        }
        let mut planes = self.floats(4 * slots);
        let planes = floats(&mut planes);
        let (mut low, mut high) = (self.floats(self.n()), None);
        let shift = self.round(plan, &values, largest, scale, rings, planes, &mut low, &mut high)?;
        let high = high.as_deref().map(bytemuck::cast_slice);
        let integers = Integers { low: bytemuck::cast_slice(&low), high, shift };
        for_each_limb(out.words_mut(), self.n(), rings, |limb, ring| {
            let ring = ring.borrow();
            let mut scratch = Buffer::unspecified_in(&self.pool, if high.is_some() { limb.len() } else { 0 });
            ints::residues(self.arch, &integers, ring, limb, &mut scratch)?;
            if domain == Domain::Evaluation { Ok(ring.forward(limb)?) } else { Ok(()) }
        })
    }

    /// The coefficients of all powers of X as integers; returns the power of two they are to be multiplied by.
    #[allow(clippy::too_many_arguments)]
    fn round<R: Borrow<LimbRing>>(
        &self,
        plan: &Plan,
        values: &Slots<'_>,
        largest: f64,
        scale: &Scale,
        rings: &[R],
        planes: &mut [f64],
        low: &mut Buffer,
        high: &mut Option<Buffer>,
    ) -> Result<u32, EncoderError> {
        let slots = plan.len();
        let size = Dyadic::new(Dd { hi: largest, lo: 0.0 });
        let delta = exact(scale);
        // No coefficient exceeds the largest slot, whose modulus is at most √2 times its larger part.
        let bound = size.mul(delta).mul(Dyadic::new(Dd { hi: 1.415, lo: 0.0 }));
        let factor = delta.shifted(size.exponent - i64::from(slots.trailing_zeros()));
        scatter(plan, values, size.exponent, planes);
        let plain =
            bound.log2() - 0.5 * f64::from(slots.trailing_zeros()) <= PLAIN_BITS && bound.exponent < LOW_BITS;
        if plain {
            plan.inverse::<Plain>(self.arch, &mut planes[..2 * slots]);
        } else {
            plan.inverse::<Double>(self.arch, planes);
        }
        let modulus =
            rings.iter().fold(Dyadic::ONE, |q, r| q.mul(Dyadic::from_u64(r.borrow().modulus().value())));
        if !bound.less(modulus.shifted(-1)) {
            let top = Dd { hi: ints::max_abs(self.arch, &planes[..2 * slots]), lo: 0.0 };
            let coefficient = if top.hi > 0.0 { Dyadic::new(top).mul(factor) } else { factor };
            if !coefficient.less(modulus.shifted(-1)) {
                let (index, value) = values.name(|x| x.abs() == largest);
                return Err(EncoderError::Overflow {
                    index,
                    value,
                    log_scale: scale.log2(),
                    log_coefficient: coefficient.log2(),
                    log_modulus: modulus.log2(),
                });
            }
        }
        // Below 2^−1000 everything rounds to 0, whatever the exponent.
        let factor = Dyadic { exponent: factor.exponent.max(-1000), ..factor };
        let low: &mut [i64] = bytemuck::cast_slice_mut(low);
        let shift = (bound.exponent + 1 - BOTH_BITS).max(0);
        if plain {
            ints::round_low::<Plain>(self.arch, &planes[..2 * slots], factor, &mut low[..2 * slots]);
        } else if bound.exponent < LOW_BITS {
            ints::round_low::<Double>(self.arch, planes, factor, &mut low[..2 * slots]);
        } else {
            let high = high.insert(self.floats(self.n()));
            let high: &mut [i64] = bytemuck::cast_slice_mut(high);
            ints::round_both(
                self.arch,
                planes,
                factor.shifted(-shift),
                &mut low[..2 * slots],
                &mut high[..2 * slots],
            );
            spread(high, 2 * slots);
        }
        spread(low, 2 * slots);
        Ok(shift as u32)
    }

    fn plan(&self, slots: usize) -> Result<&Plan, EncoderError> {
        if !slots.is_power_of_two() || slots > self.max_slots() {
            return Err(EncoderError::Slots { slots, max: self.max_slots() });
        }
        let log = slots.trailing_zeros();
        Ok(self.plans[log as usize].get_or_init(|| Plan::new(log)))
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
    fn floats(&self, len: usize) -> Buffer {
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

/// The largest absolute value of a real or imaginary part.
fn largest(arch: Arch, values: &Slots<'_>) -> Result<f64, EncoderError> {
    let parts = values.parts();
    // 0·x is 0 for finite x and NaN otherwise; a sum keeps a NaN.
    let finite = arch.dispatch(|| {
        let mut lanes = [0f64; 8];
        let (chunks, rest) = parts.as_chunks::<8>();
        for chunk in chunks {
            for i in 0..8 {
                lanes[i] += 0.0 * chunk[i];
            }
        }
        lanes.iter().chain(rest).all(|&x| (0.0 * x) == 0.0)
    });
    if finite {
        Ok(ints::max_abs(arch, parts))
    } else {
        let (index, value) = values.name(|x| !x.is_finite());
        Err(EncoderError::NotFinite { index, value })
    }
}

/// Values·2^−exponent to their positions, everything else 0.
fn scatter(plan: &Plan, values: &Slots<'_>, exponent: i64, planes: &mut [f64]) {
    let n = plan.len();
    // 2^−exponent itself can be out of range.
    let half = exponent / 2;
    let (first, second) = (pow2(-half), pow2(half - exponent));
    planes.fill(0.0);
    let (re, im) = planes.split_at_mut(n);
    let positions = plan.positions().iter().map(|&p| p as usize);
    match values {
        Slots::Real(v) => positions.zip(*v).for_each(|(p, &x)| re[p] = x * first * second),
        Slots::Complex(v) => positions.zip(*v).for_each(|(p, z)| {
            (re[p], im[p]) = (z.re * first * second, z.im * first * second);
        }),
    }
}

/// Slots·2^exponent from their positions.
fn gather(plan: &Plan, planes: &[f64], exponent: i64, out: &mut [Complex64]) {
    let n = plan.len();
    let exponent = exponent.clamp(-2000, 2000);
    let half = exponent / 2;
    let (first, second) = (pow2(half), pow2(exponent - half));
    for (z, &p) in out.iter_mut().zip(plan.positions()) {
        let p = p as usize;
        let (re, im) = (planes[p] + planes[2 * n + p], planes[n + p] + planes[3 * n + p]);
        *z = Complex64::new(re * first * second, im * first * second);
    }
}

/// Moves the first `count` entries to equal distances over the whole slice, zeros between.
fn spread(values: &mut [i64], count: usize) {
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
    for_each_indexed(words, n, rings, |_, limb, ring| f(limb, ring))
}

fn for_each_indexed<R: Sync>(
    words: &mut [u64],
    n: usize,
    rings: &[R],
    f: impl Fn(usize, &mut [u64], &R) -> Result<(), EncoderError> + Sync,
) -> Result<(), EncoderError> {
    if rings.len() < 2 || rayon::current_num_threads() == 1 {
        words.chunks_exact_mut(n).zip(rings).enumerate().try_for_each(|(i, (limb, ring))| f(i, limb, ring))
    } else {
        words
            .par_chunks_exact_mut(n)
            .zip(rings)
            .enumerate()
            .try_for_each(|(i, (limb, ring))| f(i, limb, ring))
    }
}
