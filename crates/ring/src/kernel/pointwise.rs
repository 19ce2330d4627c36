//! Word-by-word arithmetic of canonical limbs.

use super::transform::Shoup;
use crate::Modulus;

/// out_i = f(a_i, b_i).
#[inline(always)]
pub(crate) fn zip(out: &mut [u64], a: &[u64], b: &[u64], f: impl Fn(u64, u64) -> u64) {
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *out = f(a, b);
    }
}

/// a_i = f(a_i, b_i).
#[inline(always)]
pub(crate) fn zip_assign(a: &mut [u64], b: &[u64], f: impl Fn(u64, u64) -> u64) {
    for (a, &b) in a.iter_mut().zip(b) {
        *a = f(*a, b);
    }
}

/// acc_i += a_i·b_i.
pub(crate) fn mac(acc: &mut [u64], a: &[u64], b: &[u64], q: Modulus) {
    for ((acc, &a), &b) in acc.iter_mut().zip(a).zip(b) {
        *acc = q.reduce_u128(u128::from(a) * u128::from(b) + u128::from(*acc));
    }
}

/// (a − b)·c.
#[inline(always)]
pub(crate) fn sub_mul(a: u64, b: u64, c: Shoup, q: u64) -> u64 {
    c.mul(a.wrapping_sub(b).wrapping_add(q), q)
}
