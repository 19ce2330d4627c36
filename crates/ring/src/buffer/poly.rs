//! A polynomial over several primes: limbs one after the other in one buffer.

use super::Buffer;
use crate::RingError;
use crate::pool::Pool;
use std::fmt;

/// What the words of a limb mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Domain {
    /// Coefficients of X^0, X^1, …
    Coefficient,
    /// Values at the odd powers of ψ in bit-reversed order (NTT domain).
    Evaluation,
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Coefficient => "coefficient",
            Self::Evaluation => "evaluation",
        })
    }
}

/// Limbs × N words, limb by limb, all in one [`Domain`].
///
/// Which prime a limb belongs to is the caller's to know; canonical residues of it everywhere.
#[derive(Clone)]
pub struct Poly {
    words: Buffer,
    n: usize,
    domain: Domain,
}

impl Poly {
    /// The zero polynomial with `limbs` limbs of `n` words.
    pub fn zeros(n: usize, limbs: usize, domain: Domain) -> Self {
        Self { words: Buffer::zeros(n * limbs), n, domain }
    }

    /// The zero polynomial in memory of `pool`.
    pub fn zeros_in(pool: &Pool, n: usize, limbs: usize, domain: Domain) -> Self {
        Self { words: Buffer::zeros_in(pool, n * limbs), n, domain }
    }

    /// A polynomial in memory of `pool` that the caller overwrites. Its contents are what the last user left.
    pub fn unspecified_in(pool: &Pool, n: usize, limbs: usize, domain: Domain) -> Self {
        Self { words: Buffer::unspecified_in(pool, n * limbs), n, domain }
    }

    /// A polynomial that the caller overwrites, in memory of the pool that `other` comes from. It takes any
    /// free buffer that is large enough, so it may hold more than it needs and must not be kept. Without a
    /// pool, zero.
    pub fn unspecified_beside(other: &Self, limbs: usize, domain: Domain) -> Self {
        let n = other.n;
        let words = other.words.home().map(|pool| Buffer::any_in(pool, n * limbs));
        Self { words: words.unwrap_or_else(|| Buffer::zeros(n * limbs)), n, domain }
    }

    /// A polynomial that the caller overwrites, in memory of the pool that `other` comes from; without a
    /// pool, zero.
    pub fn unspecified_like(other: &Self, limbs: usize, domain: Domain) -> Self {
        Self { words: other.scratch(other.n * limbs), n: other.n, domain }
    }

    /// `len` words that the caller overwrites, from the pool of this polynomial; without a pool, zeros.
    pub fn scratch(&self, len: usize) -> Buffer {
        match self.words.home() {
            Some(pool) => Buffer::unspecified_in(pool, len),
            None => Buffer::zeros(len),
        }
    }

    /// This polynomial, which is overwritten with zeros when dropped, as [`Buffer::wiped`].
    #[must_use]
    pub fn wiped(self) -> Self {
        Self { words: self.words.wiped(), ..self }
    }

    /// A polynomial with the given words, limb by limb.
    ///
    /// # Errors
    /// [`RingError::Count`] if the number of words is no multiple of `n` > 0.
    pub fn from_words(n: usize, words: &[u64], domain: Domain) -> Result<Self, RingError> {
        if n == 0 || !words.len().is_multiple_of(n) {
            let expected = words.len().checked_next_multiple_of(n).unwrap_or(0);
            return Err(RingError::Count { what: "words of a polynomial", expected, got: words.len() });
        }
        let mut poly = Self::zeros(n, words.len() / n, domain);
        poly.words.copy_from_slice(words);
        Ok(poly)
    }

    /// N, the number of words of a limb.
    #[inline]
    pub fn n(&self) -> usize {
        self.n
    }

    /// The number of limbs.
    #[inline]
    pub fn limb_count(&self) -> usize {
        self.words.len().checked_div(self.n).unwrap_or(0)
    }

    /// What the words mean.
    #[inline]
    pub fn domain(&self) -> Domain {
        self.domain
    }

    /// Declares what the words mean after the caller transformed every limb.
    #[inline]
    pub fn set_domain(&mut self, domain: Domain) {
        self.domain = domain;
    }

    /// Limb `i`, N words.
    ///
    /// # Panics
    /// If `i` is not below [`limb_count`](Self::limb_count), like every index.
    #[inline]
    pub fn limb(&self, i: usize) -> &[u64] {
        &self.words[i * self.n..(i + 1) * self.n]
    }

    /// Limb `i`, N words.
    ///
    /// # Panics
    /// If `i` is not below [`limb_count`](Self::limb_count), like every index.
    #[inline]
    pub fn limb_mut(&mut self, i: usize) -> &mut [u64] {
        &mut self.words[i * self.n..(i + 1) * self.n]
    }

    /// The limbs in order.
    pub fn limbs(&self) -> std::slice::ChunksExact<'_, u64> {
        self.words.chunks_exact(self.n.max(1))
    }

    /// The limbs in order.
    pub fn limbs_mut(&mut self) -> std::slice::ChunksExactMut<'_, u64> {
        let n = self.n.max(1);
        self.words.chunks_exact_mut(n)
    }

    /// All words, limb by limb.
    #[inline]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// All words, limb by limb.
    #[inline]
    pub fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// Keeps the first `limbs` limbs; no effect if there are no more than that.
    pub fn truncate(&mut self, limbs: usize) {
        self.words.truncate(limbs * self.n);
    }
}

impl PartialEq for Poly {
    fn eq(&self, other: &Self) -> bool {
        self.n == other.n && self.domain == other.domain && self.words() == other.words()
    }
}

impl Eq for Poly {}

impl fmt::Debug for Poly {
    /// The shape only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Poly({} limbs × {} words, {} domain)", self.limb_count(), self.n, self.domain)
    }
}
