//! Base conversion of whole limbs; the semantics stand in [`crate::convert`].

use crate::{ConvertConstants, Modulus, SourceBasis, convert};

/// out_i = v of the y_·,i.
pub(crate) fn quotient(out: &mut [u64], y: &[&[u64]], from: &SourceBasis) {
    for (i, out) in out.iter_mut().enumerate() {
        *out = from.quotient(y.iter().map(|y| y[i]));
    }
}

/// out_i = Σ_j y_j,i·c_j − v_i·S mod m. At most 64 sources, so the sum of products below 2^60·2^60 fits in 128 bits.
pub(crate) fn convert(out: &mut [u64], y: &[&[u64]], v: Option<&[u64]>, constants: &ConvertConstants) {
    let m = constants.target();
    let minus_product = u128::from(m.neg(constants.product()));
    for (i, out) in out.iter_mut().enumerate() {
        let correction = v.map_or(0, |v| u128::from(v[i]).wrapping_mul(minus_product));
        let products = y.iter().zip(constants.factors()).map(|(y, &c)| u128::from(y[i]) * u128::from(c));
        *out = m.reduce_u128(products.fold(correction, u128::wrapping_add));
    }
}

/// The centred residue of each word.
pub(crate) fn lift(out: &mut [u64], y: &[u64], from: Modulus, to: Modulus) {
    for (out, &y) in out.iter_mut().zip(y) {
        *out = convert::lift(y, from, to);
    }
}
