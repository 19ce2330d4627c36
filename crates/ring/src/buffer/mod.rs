//! Storage of limbs: aligned word buffers, polynomials over several primes, and their secret variant.

mod poly;
mod secret;
#[cfg(test)]
mod tests;

pub use poly::{Domain, Poly};
pub use secret::SecretPoly;

use crate::pool::Pool;
use aligned_vec::{AVec, RuntimeAlign};
use std::fmt;
use std::ops::{Deref, DerefMut};
use zeroize::Zeroize;

/// Alignment of every buffer in bytes: a cache line, and the widest vector.
pub const ALIGNMENT: usize = 64;
/// Size and alignment of a huge page in bytes; buffers at least this long are aligned to it and ask for huge pages.
pub const HUGE_PAGE: usize = 2 << 20;

/// A fixed number of u64 words at an address divisible by [`ALIGNMENT`].
///
/// A buffer taken from a [`Pool`] goes back to it when dropped.
pub struct Buffer {
    words: AVec<u64, RuntimeAlign>,
    home: Option<Pool>,
}

impl Buffer {
    /// `len` zero words that belong to no pool.
    pub fn zeros(len: usize) -> Self {
        Self { words: allocate(len), home: None }
    }

    /// `len` words from `pool`; their contents are whatever their last user left.
    pub fn unspecified_in(pool: &Pool, len: usize) -> Self {
        let words = pool.take(len).unwrap_or_else(|| allocate(len));
        Self { words, home: Some(pool.clone()) }
    }

    /// `len` zero words from `pool`.
    pub fn zeros_in(pool: &Pool, len: usize) -> Self {
        let mut buffer = Self::unspecified_in(pool, len);
        buffer.fill(0);
        buffer
    }

    /// Keeps the first `len` words; no effect if there are no more than that.
    pub fn truncate(&mut self, len: usize) {
        self.words.truncate(len);
    }

    /// Overwrites every word, also those cut off by [`truncate`](Self::truncate), in a way the compiler may not remove.
    pub fn wipe(&mut self) {
        // Growing back within the capacity moves nothing and covers the words cut off.
        let capacity = self.words.capacity();
        self.words.resize(capacity, 0);
        self.words.as_mut_slice().zeroize();
    }
}

/// `len` zero words, on huge pages if there are enough of them.
fn allocate(len: usize) -> AVec<u64, RuntimeAlign> {
    let bytes = len * size_of::<u64>();
    let align = if bytes >= HUGE_PAGE { HUGE_PAGE } else { ALIGNMENT };
    let mut words = AVec::with_capacity(align, len);
    if bytes >= HUGE_PAGE {
        // Before the first touch, which decides the page size.
        prefer_huge_pages(words.as_mut_ptr(), bytes);
    }
    words.resize(len, 0);
    words
}

/// Asks for huge pages in the whole huge pages of an allocation; a refusal costs speed only and is ignored.
#[cfg(target_os = "linux")]
fn prefer_huge_pages(start: *mut u64, bytes: usize) {
    let whole = bytes / HUGE_PAGE * HUGE_PAGE;
    // SAFETY: the range lies inside one live allocation and is page aligned; the advice changes how it is backed,
    // never its contents.
    let _ = unsafe { rustix::mm::madvise(start.cast(), whole, rustix::mm::Advice::LinuxHugepage) };
}

#[cfg(not(target_os = "linux"))]
fn prefer_huge_pages(_start: *mut u64, _bytes: usize) {}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Some(home) = &self.home {
            home.put(std::mem::replace(&mut self.words, AVec::new(ALIGNMENT)));
        }
    }
}

impl Clone for Buffer {
    /// A copy from the same pool, if there is one.
    fn clone(&self) -> Self {
        let mut copy = match &self.home {
            Some(pool) => Self::unspecified_in(pool, self.len()),
            None => Self { words: allocate(self.len()), home: None },
        };
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
