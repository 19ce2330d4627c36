//! The instructions that need more than one line, as the table of instructions states them.

use ringmill_ring::Modulus;
use ringmill_ring::reference::bit_reverse;

/// v\[k\] = ⌊(2^27 + Σ_i ⌊y_i\[k\]/2^h_i⌋·R_i) / 2^28⌋.
///
/// Each term is below 2^28 and there are at most 64, so the sum stays below 2^34 + 2^27.
pub(super) fn quotient(y: &[&[u64]], s: &[Modulus]) -> Vec<u64> {
    let constants: Vec<(u32, u64)> = s
        .iter()
        .map(|s| {
            let shift = s.bits().saturating_sub(14);
            (shift, ((1u128 << (28 + shift)) / u128::from(s.value())) as u64)
        })
        .collect();
    (0..y[0].len())
        .map(|k| {
            let sum: u64 = y.iter().zip(&constants).map(|(y, &(shift, r))| (y[k] >> shift) * r).sum();
            (sum + (1 << 27)) >> 28
        })
        .collect()
}

/// r\[k\] = Σ_i y_i\[k\]·(S/s_i) − v\[k\]·S mod q.
pub(super) fn convert(y: &[&[u64]], v: Option<&[u64]>, s: &[Modulus], q: Modulus) -> Vec<u64> {
    let product = |skip: usize| {
        let others = s.iter().enumerate().filter(|&(i, _)| i != skip);
        others.fold(1, |p, (_, s)| q.mul(p, q.reduce(s.value())))
    };
    let hats: Vec<u64> = (0..s.len()).map(product).collect();
    let whole = product(s.len());
    (0..y[0].len())
        .map(|k| {
            let sum = y.iter().zip(&hats).fold(0, |sum, (y, &hat)| q.add(sum, q.mul(q.reduce(y[k]), hat)));
            v.map_or(sum, |v| q.sub(sum, q.mul(q.reduce(v[k]), whole)))
        })
        .collect()
}

/// r\[k\] = Σ_i a_i\[k\]·b_i\[k\] mod q.
pub(super) fn dot(a: &[&[u64]], b: &[&[u64]], q: Modulus) -> Vec<u64> {
    (0..a[0].len()).map(|k| a.iter().zip(b).fold(0, |sum, (a, b)| q.add(sum, q.mul(a[k], b[k])))).collect()
}

/// r\[k\] = a\[j\] with 2·brv(j) + 1 = galois·(2·brv(k) + 1) mod 2N.
pub(super) fn automorphism(a: &[u64], galois: u64) -> Vec<u64> {
    let (n, log_n) = (a.len() as u64, a.len().trailing_zeros());
    (0..a.len())
        .map(|k| {
            let exponent = galois * (2 * bit_reverse(k, log_n) as u64 + 1) % (2 * n);
            a[bit_reverse((exponent / 2) as usize, log_n)]
        })
        .collect()
}
