//! Work on all limbs of a polynomial.

use rayon::prelude::*;
use ringmill_ring::Poly;
use ringmill_ring::process::has_shared_threads;

use crate::error::CkksError;

/// Whether the current thread pool has more than one thread, and these are alive.
pub(crate) fn parallel() -> bool {
    let here = rayon::current_thread_index().is_some();
    rayon::current_num_threads() > 1 && (here || has_shared_threads())
}

/// `f` on every limb with its index, in parallel where the current thread pool has more than one thread.
pub(crate) fn for_each(
    poly: &mut Poly,
    f: impl Fn(usize, &mut [u64]) -> Result<(), CkksError> + Sync,
) -> Result<(), CkksError> {
    let n = poly.n();
    if !parallel() {
        return poly.limbs_mut().enumerate().try_for_each(|(i, limb)| f(i, limb));
    }
    poly.words_mut().par_chunks_exact_mut(n).enumerate().try_for_each(|(i, limb)| f(i, limb))
}

/// `f` on each of these with its index, like [`for_each`].
pub(crate) fn for_each_of<T: Send>(
    mut items: Vec<T>,
    f: impl Fn(usize, &mut T) -> Result<(), CkksError> + Sync,
) -> Result<(), CkksError> {
    if !parallel() {
        return items.iter_mut().enumerate().try_for_each(|(i, item)| f(i, item));
    }
    items.par_iter_mut().enumerate().try_for_each(|(i, item)| f(i, item))
}

/// `f` on the limbs of two polynomials of one shape, like [`for_each`].
pub(crate) fn for_each_pair(
    (a, b): (&mut Poly, &mut Poly),
    f: impl Fn(usize, &mut [u64], &mut [u64]) -> Result<(), CkksError> + Sync,
) -> Result<(), CkksError> {
    let n = a.n();
    if !parallel() {
        return a.limbs_mut().zip(b.limbs_mut()).enumerate().try_for_each(|(i, (a, b))| f(i, a, b));
    }
    let pairs = a.words_mut().par_chunks_exact_mut(n).zip(b.words_mut().par_chunks_exact_mut(n));
    pairs.enumerate().try_for_each(|(i, (a, b))| f(i, a, b))
}

/// Fills a polynomial limb by limb; `f` cannot fail.
pub(crate) fn fill(poly: &mut Poly, f: impl Fn(usize, &mut [u64]) + Sync) {
    let n = poly.n();
    if !parallel() {
        poly.limbs_mut().enumerate().for_each(|(i, limb)| f(i, limb));
    } else {
        poly.words_mut().par_chunks_exact_mut(n).enumerate().for_each(|(i, limb)| f(i, limb));
    }
}
