//! The readable scalar reference: what every fast kernel is compared with. Written for clarity, not speed.

use crate::Modulus;

/// The low `bits` bits of `i`, reversed.
pub const fn bit_reverse(i: usize, bits: u32) -> usize {
    if bits == 0 { 0 } else { i.reverse_bits() >> (usize::BITS - bits) }
}

/// Forward negacyclic transform in place: natural order in, bit-reversed order out, canonical residues.
///
/// Word k becomes p(ψ^(2·brv(k)+1)). Decimation in time as in Longa, Naehrig (2016), Algorithm 1.
/// `a.len()` must be a power of two and q ≡ 1 mod 2N.
pub fn forward(a: &mut [u64], q: Modulus, psi: u64) {
    let n = a.len();
    let log_n = n.trailing_zeros();
    let (mut m, mut t) = (1, n / 2);
    while m < n {
        for i in 0..m {
            let w = q.pow(psi, bit_reverse(m + i, log_n) as u64);
            for j in 2 * i * t..(2 * i + 1) * t {
                let (x, y) = (a[j], q.mul(a[j + t], w));
                (a[j], a[j + t]) = (q.add(x, y), q.sub(x, y));
            }
        }
        (m, t) = (2 * m, t / 2);
    }
}

/// Inverse of [`forward`]: bit-reversed order in, natural order out, 1/N included.
pub fn inverse(a: &mut [u64], q: Modulus, psi: u64) {
    let n = a.len();
    let log_n = n.trailing_zeros();
    let psi_inv = q.pow(psi, 2 * n as u64 - 1);
    let (mut m, mut t) = (n / 2, 1);
    while m > 0 {
        for i in 0..m {
            let w = q.pow(psi_inv, bit_reverse(m + i, log_n) as u64);
            for j in 2 * i * t..(2 * i + 1) * t {
                let (x, y) = (a[j], a[j + t]);
                (a[j], a[j + t]) = (q.add(x, y), q.mul(q.sub(x, y), w));
            }
        }
        (m, t) = (m / 2, 2 * t);
    }
    let n_inv = q.pow(q.reduce(n as u64), q.value() - 2);
    for x in a {
        *x = q.mul(*x, n_inv);
    }
}

/// The product of two polynomials modulo X^N + 1 and q by the definition, in N² steps.
pub fn negacyclic_product(a: &[u64], b: &[u64], q: Modulus) -> Vec<u64> {
    let n = a.len();
    let mut c = vec![0; n];
    for (i, &x) in a.iter().enumerate() {
        for (j, &y) in b.iter().enumerate() {
            let k = (i + j) % n;
            let p = q.mul(x, y);
            c[k] = if i + j < n { q.add(c[k], p) } else { q.sub(c[k], p) };
        }
    }
    c
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transform_is_evaluation_at_odd_powers() {
        let (log_n, q) = (4, Modulus::new(0x0020_0000_010c_0001).unwrap());
        let psi = q.psi(log_n).unwrap();
        let a: Vec<u64> = (0..16).map(|i| q.pow(3, 7 * i + 1)).collect();
        let mut x = a.clone();
        forward(&mut x, q, psi);
        for (k, &value) in x.iter().enumerate() {
            let point = q.pow(psi, 2 * bit_reverse(k, log_n) as u64 + 1);
            let horner = a.iter().rev().fold(0, |s, &c| q.add(q.mul(s, point), c));
            assert_eq!(value, horner, "word {k}");
        }
        inverse(&mut x, q, psi);
        assert_eq!(x, a);
    }

    #[test]
    fn pointwise_product_is_the_negacyclic_product() {
        let (log_n, q) = (5, Modulus::new(0x0020_0000_010c_0001).unwrap());
        let psi = q.psi(log_n).unwrap();
        let mut a: Vec<u64> = (0..32).map(|i| q.pow(5, i)).collect();
        let mut b: Vec<u64> = (0..32).map(|i| q.pow(7, i)).collect();
        let want = negacyclic_product(&a, &b, q);
        forward(&mut a, q, psi);
        forward(&mut b, q, psi);
        let mut c: Vec<u64> = a.iter().zip(&b).map(|(&x, &y)| q.mul(x, y)).collect();
        inverse(&mut c, q, psi);
        assert_eq!(c, want);
    }
}
