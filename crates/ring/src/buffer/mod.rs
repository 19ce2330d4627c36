//! Storage of limbs: aligned word buffers, and polynomials over several primes.

mod poly;
#[cfg(test)]
mod tests;
mod words;

pub use poly::{Domain, Poly};

use crate::pool::Pool;
use std::fmt;
use std::ops::{Deref, DerefMut};
pub(crate) use words::Words;

/// Alignment of every buffer in bytes: a cache line, and the widest vector.
pub const ALIGNMENT: usize = 64;
/// Size and alignment of a huge page in bytes; buffers at least this long are aligned to it and ask for huge pages.
pub const HUGE_PAGE: usize = 2 << 20;

/// A fixed number of u64 words at an address divisible by [`ALIGNMENT`].
///
/// A buffer taken from a [`Pool`] goes back to it when dropped.
pub struct Buffer {
    words: Words,
    home: Option<Pool>,
    secret: bool,
}

impl Buffer {
    /// `len` zero words that belong to no pool.
    pub fn zeros(len: usize) -> Self {
        Self { words: Words::zeros(len), home: None, secret: false }
    }

    /// This buffer, which is overwritten with zeros when dropped: what it holds is left in no pool and in no free memory. So are
    /// copies of it.
    #[must_use]
    pub fn wiped(mut self) -> Self {
        self.secret = true;
        self
    }

    /// `len` words from `pool`; their contents are whatever their last user left.
    pub fn unspecified_in(pool: &Pool, len: usize) -> Self {
        let words = pool.take(len).unwrap_or_else(|| Words::zeros(len));
        Self { words, home: Some(pool.clone()), secret: false }
    }

    /// As [`Self::unspecified_in`], but if `pool` has no such buffer free, any longer one serves.
    pub fn any_in(pool: &Pool, len: usize) -> Self {
        let words = pool.take_at_least(len).unwrap_or_else(|| Words::zeros(len));
        Self { words, home: Some(pool.clone()), secret: false }
    }

    /// `len` zero words from `pool`.
    pub fn zeros_in(pool: &Pool, len: usize) -> Self {
        let mut buffer = Self::unspecified_in(pool, len);
        buffer.fill(0);
        buffer
    }

    /// The pool that the words go back to.
    pub fn home(&self) -> Option<&Pool> {
        self.home.as_ref()
    }

    /// Keeps the first `len` words; no effect if there are no more than that.
    pub fn truncate(&mut self, len: usize) {
        self.words.truncate(len);
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.secret {
            // With what was cut off.
            self.words.restore();
            self.words.fill(0);
            // The compiler must not leave out what nothing reads before the memory is free.
            std::hint::black_box(&*self.words);
        }
        if let Some(home) = &self.home {
            home.put(std::mem::replace(&mut self.words, Words::empty()));
        }
    }
}

impl Clone for Buffer {
    /// A copy from the same pool, if there is one.
    fn clone(&self) -> Self {
        let mut copy = match &self.home {
            Some(pool) => Self::unspecified_in(pool, self.len()),
            None => Self::zeros(self.len()),
        };
        copy.secret = self.secret;
        copy.copy_from_slice(self);
        copy
    }
}

impl Deref for Buffer {
    type Target = [u64];
    #[inline]
    fn deref(&self) -> &[u64] {
        &self.words
    }
}

impl DerefMut for Buffer {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }
}

impl fmt::Debug for Buffer {
    /// The length only: buffers hold secrets and a hundred thousand words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer").field("len", &self.len()).finish_non_exhaustive()
    }
}
