//! Z_q\[X\]/(X^N + 1) for one prime: everything that is done to one limb.

mod pointwise;
#[cfg(test)]
mod tests;

use crate::dense::Packing;
use crate::form::Form;
use crate::kernel::dot::{self, Left};
use crate::kernel::prime::{Factor, Prime};
use crate::kernel::{automorphism, convert};
use crate::ntt::Plan;
use crate::{Backend, ConvertConstants, Isa, Modulus, Permutation, RingError, SourceBasis};
pub use convert::ConvertTarget;

/// Least log2 N.
pub const MIN_LOG_N: u32 = 3;
/// Greatest log2 N.
pub const MAX_LOG_N: u32 = 17;
/// Blocks of limbs are multiples of this many words: the widest vector, and the shortest limb.
pub const BLOCK_WORDS: usize = 1 << MIN_LOG_N;

/// The ring of one prime q and degree N = 2^log_n, with its transform tables and the kernels chosen for this CPU.
///
/// Words are canonical residues in \[0, q), in operands and results; others give unspecified residues, nothing worse.
/// Transforms and automorphisms take whole limbs of N words. All other operations also take *blocks*: equally long runs
/// of words, a multiple of [`BLOCK_WORDS`] and at most N. Cloning shares the tables.
#[derive(Debug, Clone)]
pub struct LimbRing {
    log_n: u32,
    prime: Prime,
    backend: Backend,
    plan: Plan,
    /// The form in which transforms leave factors that inner products take.
    factors: Form,
}

pub(crate) fn check_degree(log_n: u32) -> Result<(), RingError> {
    if (MIN_LOG_N..=MAX_LOG_N).contains(&log_n) {
        Ok(())
    } else {
        Err(RingError::Degree { log_n, min: MIN_LOG_N, max: MAX_LOG_N })
    }
}

impl LimbRing {
    /// The ring on the instruction set of [`Isa::detect`].
    ///
    /// # Errors
    /// [`RingError::Degree`], [`RingError::NoRoot`] if q ≢ 1 mod 2N, and those of [`Isa::detect`].
    pub fn new(log_n: u32, q: Modulus) -> Result<Self, RingError> {
        Self::with_isa(log_n, q, Isa::detect()?)
    }

    /// The ring on a given instruction set: the residues are the same on all.
    ///
    /// # Errors
    /// [`RingError::Degree`], [`RingError::NoRoot`] if q ≢ 1 mod 2N, [`RingError::IsaUnavailable`].
    pub fn with_isa(log_n: u32, q: Modulus, isa: Isa) -> Result<Self, RingError> {
        check_degree(log_n)?;
        let (backend, prime, plan) = (Backend::new(isa)?, Prime::new(q), Plan::new(log_n, q, isa)?);
        let taken = dot::form(backend, &prime);
        let factors = if taken == plan.factors() { taken } else { Form::Canonical };
        Ok(Self { log_n, prime, backend, plan, factors })
    }

    /// N.
    #[inline]
    pub fn n(&self) -> usize {
        1 << self.log_n
    }

    /// log2 N.
    #[inline]
    pub fn log_n(&self) -> u32 {
        self.log_n
    }

    /// q.
    #[inline]
    pub fn modulus(&self) -> Modulus {
        self.prime.modulus
    }

    /// The transform of this ring.
    #[inline]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The instruction set of the kernels.
    #[inline]
    pub fn isa(&self) -> Isa {
        self.backend.isa()
    }

    /// Whether the slices are limbs.
    #[inline]
    fn check_limbs(&self, limbs: &[(&'static str, usize)]) -> Result<(), RingError> {
        let expected = self.n();
        match limbs.iter().find(|&&(_, got)| got != expected) {
            None => Ok(()),
            Some(&(what, got)) => Err(RingError::Length { what, expected, got }),
        }
    }

    /// Whether the slices are limbs or equally long blocks of limbs. The first one must exist.
    #[inline]
    fn check(&self, blocks: &[(&'static str, usize)]) -> Result<(), RingError> {
        let (what, got) = blocks[0];
        if got > self.n() || got % BLOCK_WORDS != 0 {
            return Err(RingError::Length { what, expected: self.n(), got });
        }
        match blocks.iter().find(|&&(_, other)| other != got) {
            None => Ok(()),
            Some(&(what, other)) => Err(RingError::Length { what, expected: got, got: other }),
        }
    }

    fn check_all(&self, words: usize, what: &'static str, blocks: &[&[u64]]) -> Result<(), RingError> {
        blocks.iter().try_for_each(|block| self.check(&[("out", words), (what, block.len())]))
    }

    /// A constant made ready for [`Self::mul_factor`] and [`Self::sub_mul_factor`]; any 64-bit c.
    pub fn factor(&self, c: u64) -> Factor {
        Factor::new(c, self.modulus())
    }

    /// Coefficients → evaluations, in place: the order of [`crate::reference::forward`].
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn forward(&self, a: &mut [u64]) -> Result<(), RingError> {
        self.plan.forward(a)
    }

    /// Evaluations → coefficients, in place: undoes [`Self::forward`].
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn inverse(&self, a: &mut [u64]) -> Result<(), RingError> {
        self.plan.inverse(a)
    }

    /// [`Plan::forward_blocks`] to words that [`Self::dot_factors`] alone may read: they are made canonical only where it
    /// wants them so, which takes up to a tenth of a transform's operations.
    ///
    /// # Errors
    /// As [`Plan::forward_blocks`].
    pub fn forward_factors(
        &self,
        a: &mut [u64],
        first: usize,
        words: usize,
        ahead: &[&[u64]],
    ) -> Result<(), RingError> {
        self.plan.forward_ending(a, (first, words), self.factors != Form::Canonical, ahead)
    }

    /// out = Σ_j a_j·b_j, word by word. An empty sum is 0.
    ///
    /// # Errors
    /// [`RingError::Count`] if there are not as many `b` as `a`; [`RingError::Length`].
    pub fn dot(&self, out: &mut [u64], a: &[&[u64]], b: &[&[u64]]) -> Result<(), RingError> {
        self.dot_factors([out], a, 0, [b], Packing::Words)
    }

    /// P inner products with the same left factors, which are read once: out\[p\] = Σ_j a_j·b\[p\]_j. The first `made` of
    /// `a` are words of [`Self::forward_factors`]; every `b` is packed like this.
    ///
    /// # Errors
    /// As [`Self::dot`]; [`RingError::Count`] too if `made` is more than there are; [`RingError::NotDense`] for dense factors unless
    /// [`Self::packing`] is dense.
    pub fn dot_factors<const P: usize>(
        &self,
        out: [&mut [u64]; P],
        a: &[&[u64]],
        made: usize,
        b: [&[&[u64]]; P],
        packing: Packing,
    ) -> Result<(), RingError> {
        const { assert!(P > 0) }
        if packing == Packing::Dense && self.packing() != packing {
            return Err(RingError::NotDense { q: self.modulus().value(), n: self.n(), isa: self.isa() });
        }
        if made > a.len() {
            return Err(RingError::Count { what: "left factors", expected: made, got: a.len() });
        }
        let words = out[0].len();
        let what = if packing == Packing::Dense { "dense factor" } else { "right factor" };
        for (out, b) in out.iter().zip(b) {
            if a.len() != b.len() {
                return Err(RingError::Count { what: "right factors", expected: a.len(), got: b.len() });
            }
            self.check(&[("out", out.len())])?;
            self.check_all(out.len(), "left factor", a)?;
            let expected = packing.len(out.len());
            if let Some(limb) = b.iter().find(|limb| limb.len() != expected) {
                return Err(RingError::Length { what, expected, got: limb.len() });
            }
        }
        self.check_all(words, "out", &out.each_ref().map(|out| &**out))?;
        if !words.is_multiple_of(packing.group()) {
            return Err(RingError::Length { what: "out", expected: self.n(), got: words });
        }
        let factors = if self.factors == Form::Canonical { 0 } else { made };
        let left = Left { limbs: a, factors, form: self.factors };
        dot::dot(self.backend, &self.prime, out, left, (b, packing));
        Ok(())
    }

    /// The most compact form in which [`Self::dot_factors`] takes right factors.
    pub fn packing(&self) -> Packing {
        Packing::of_factors(self.log_n, self.modulus(), self.isa())
    }

    /// out = the centred residue of `src`, canonical modulo `from`, in this ring: y stands for y, or y − s if y > s/2.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn lift(&self, out: &mut [u64], src: &[u64], from: Modulus) -> Result<(), RingError> {
        self.check(&[("out", out.len()), ("src", src.len())])?;
        convert::lift(self.backend, out, src, from, &self.prime);
        Ok(())
    }

    /// out = v, the rounded quotient of step 2 of a base conversion: integers in \[0, a\], not residues.
    /// `y[i]` is canonical modulo the i-th prime of `from`. The ring's own prime plays no part.
    ///
    /// # Errors
    /// [`RingError::Count`] if there are not as many `y` as source primes; [`RingError::Length`].
    pub fn quotient(&self, out: &mut [u64], y: &[&[u64]], from: &SourceBasis) -> Result<(), RingError> {
        self.check_sources(out, y, from.moduli().len())?;
        convert::quotient(self.backend, out, y, from);
        Ok(())
    }

    /// out = Σ_i y_i·(S/s_i) − v·S mod q: step 3 of a base conversion, see [`crate::convert`].
    /// `y[i]` is canonical modulo the i-th source prime, and `v` is the result of [`Self::quotient`].
    ///
    /// # Errors
    /// [`RingError::ModulusMismatch`] if the constants are for another prime, [`RingError::Count`] if there are not
    /// as many `y` as source primes; [`RingError::Length`].
    pub fn convert(
        &self,
        out: &mut [u64],
        y: &[&[u64]],
        v: &[u64],
        constants: &ConvertConstants,
    ) -> Result<(), RingError> {
        self.convert_checked(out, y, Some(v), constants)
    }

    /// [`Self::convert`] with v = 0: a representative in \[0, a·S) instead of the centred one.
    ///
    /// # Errors
    /// As [`Self::convert`].
    pub fn convert_fast(
        &self,
        out: &mut [u64],
        y: &[&[u64]],
        constants: &ConvertConstants,
    ) -> Result<(), RingError> {
        self.convert_checked(out, y, None, constants)
    }

    fn convert_checked(
        &self,
        out: &mut [u64],
        y: &[&[u64]],
        v: Option<&[u64]>,
        constants: &ConvertConstants,
    ) -> Result<(), RingError> {
        self.convert_all(&mut [self.convert_target(constants, out)?], y, v)
    }

    /// Where a base conversion goes to.
    ///
    /// # Errors
    /// [`RingError::ModulusMismatch`] if the constants are for another prime.
    pub fn convert_target<'a>(
        &'a self,
        constants: &'a ConvertConstants,
        out: &'a mut [u64],
    ) -> Result<ConvertTarget<'a>, RingError> {
        if constants.target() != self.modulus() {
            let (expected, got) = (self.modulus().value(), constants.target().value());
            return Err(RingError::ModulusMismatch { expected, got });
        }
        Ok(ConvertTarget { prime: &self.prime, constants, out })
    }

    /// [`Self::convert`] to several primes, or [`Self::convert_fast`] if there is no `v`; all limbs are equally long. The sources
    /// go through the caches once for all. The ring's own prime plays no part.
    ///
    /// # Errors
    /// [`RingError::Count`] if there are not as many `y` as source primes; [`RingError::Length`].
    pub fn convert_all(
        &self,
        targets: &mut [ConvertTarget<'_>],
        y: &[&[u64]],
        v: Option<&[u64]>,
    ) -> Result<(), RingError> {
        let Some(words) = targets.first().map(|target| target.out.len()) else { return Ok(()) };
        for target in targets.iter() {
            self.check_all(words, "out", &[&*target.out])?;
            self.check_sources(target.out, y, target.constants.factors().len())?;
        }
        self.check_all(words, "quotient", v.as_slice())?;
        convert::convert(self.backend, targets, y, v);
        Ok(())
    }

    fn check_sources(&self, out: &[u64], y: &[&[u64]], expected: usize) -> Result<(), RingError> {
        if y.len() != expected {
            return Err(RingError::Count { what: "source limbs", expected, got: y.len() });
        }
        self.check(&[("out", out.len())])?;
        self.check_all(out.len(), "source limb", y)
    }

    /// out = the image of `src` under X → X^g, both in the evaluation domain.
    ///
    /// # Errors
    /// [`RingError::Length`], also for a permutation of another degree.
    pub fn automorphism_eval(
        &self,
        out: &mut [u64],
        src: &[u64],
        permutation: &Permutation,
    ) -> Result<(), RingError> {
        self.check_limbs(&[("out", out.len()), ("src", src.len()), ("permutation", permutation.n())])?;
        automorphism::evaluations(self.backend, out, src, permutation, 0);
        Ok(())
    }

    /// The words of [`Self::automorphism_eval`] from number `first` on, as many as `out` holds; `src` is whole.
    ///
    /// # Errors
    /// [`RingError::Length`], also if the block begins at no multiple of [`BLOCK_WORDS`] or reaches beyond the limb.
    pub fn automorphism_block(
        &self,
        out: &mut [u64],
        src: &[u64],
        permutation: &Permutation,
        first: usize,
    ) -> Result<(), RingError> {
        self.check_block(("out", out.len()), ("src", src.len()), permutation, first)?;
        automorphism::evaluations(self.backend, out, src, permutation, first);
        Ok(())
    }

    /// Writes into `out`, which is whole, what the words of the operand from number `first` on, `src`, become under X → X^g:
    /// all blocks of a limb together are [`Self::automorphism_eval`].
    ///
    /// # Errors
    /// As [`Self::automorphism_block`].
    pub fn automorphism_scatter(
        &self,
        out: &mut [u64],
        src: &[u64],
        permutation: &Permutation,
        first: usize,
    ) -> Result<(), RingError> {
        self.check_block(("src", src.len()), ("out", out.len()), permutation, first)?;
        automorphism::scattered(self.backend, out, src, permutation, first);
        Ok(())
    }

    /// Whether a block from word `first` on, a whole limb and a permutation fit together.
    fn check_block(
        &self,
        block: (&'static str, usize),
        whole: (&'static str, usize),
        permutation: &Permutation,
        first: usize,
    ) -> Result<(), RingError> {
        self.check(&[block])?;
        self.check_limbs(&[whole, ("permutation", permutation.n())])?;
        let end = first.saturating_add(block.1);
        if !first.is_multiple_of(BLOCK_WORDS) || end > self.n() {
            return Err(RingError::Length { what: "block", expected: self.n(), got: end });
        }
        Ok(())
    }

    /// out = the image of `src` under X → X^g, both in the coefficient domain. g counts modulo 2N.
    ///
    /// # Errors
    /// [`RingError::Length`], [`RingError::EvenGalois`].
    pub fn automorphism_coeff(&self, out: &mut [u64], src: &[u64], galois: u64) -> Result<(), RingError> {
        self.check_limbs(&[("out", out.len()), ("src", src.len())])?;
        automorphism::coefficients(out, src, automorphism::odd(galois, self.log_n)?, self.modulus());
        Ok(())
    }
}
