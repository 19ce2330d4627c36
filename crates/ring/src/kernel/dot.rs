//! Sums of products, reduced once.

use crate::Modulus;

/// Products of two words below 2^60 that fit in 128 bits together with a residue: 2^120 · 255 + 2^60 < 2^128.
const TERMS: usize = 255;

/// out_i = Σ_j a_j,i · b_j,i mod q; every slice as long as `out`.
pub(crate) fn dot(out: &mut [u64], a: &[&[u64]], b: &[&[u64]], q: Modulus) {
    for (i, out) in out.iter_mut().enumerate() {
        let mut sum = 0;
        for (a, b) in a.chunks(TERMS).zip(b.chunks(TERMS)) {
            let products = a.iter().zip(b).map(|(a, b)| u128::from(a[i]) * u128::from(b[i]));
            sum = q.reduce_u128(products.fold(u128::from(sum), u128::wrapping_add));
        }
        *out = sum;
    }
}
