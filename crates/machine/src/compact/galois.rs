//! The permutation that a read through an automorphism makes, and its Galois elements.

use ringmill_ring::reference::bit_reverse;

/// out\[k\] = a\[j\] with 2·brv(j) + 1 = g·(2·brv(k) + 1) mod 2N. `a.len()` must be a power of two, `g` odd.
pub(super) fn permute(a: &[u64], g: u64) -> Vec<u64> {
    let (n, bits) = (a.len(), a.len().trailing_zeros());
    (0..n).map(|k| a[source(k, g, bits)]).collect()
}

/// j for k.
pub(super) fn source(k: usize, g: u64, bits: u32) -> usize {
    let exponent = (g as usize).wrapping_mul(2 * bit_reverse(k, bits) + 1) & ((2 << bits) - 1);
    bit_reverse(exponent / 2, bits)
}
