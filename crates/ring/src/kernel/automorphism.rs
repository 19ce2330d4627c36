//! The automorphisms X → X^g of Z_q\[X\]/(X^N + 1), g odd, in both domains.

use crate::{Modulus, RingError, limb_ring::check_degree, reference::bit_reverse};

/// X → X^g in the evaluation domain: a permutation of the words of a limb, the same for every prime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permutation {
    galois: u64,
    /// Word k of the image is word `sources[k]`.
    sources: Vec<u32>,
}

impl Permutation {
    /// For N = 2^`log_n` and an odd Galois element g, which counts modulo 2N.
    ///
    /// # Errors
    /// [`RingError::Degree`], [`RingError::EvenGalois`].
    pub fn new(log_n: u32, galois: u64) -> Result<Self, RingError> {
        check_degree(log_n)?;
        let galois = odd(galois, log_n)?;
        // Word k is the value at ψ^e, e = 2·brv(k) + 1, and p(X^g) takes there the value of p at ψ^(g·e).
        let mask = (2u64 << log_n) - 1;
        let source = |k: usize| {
            let e = (galois.wrapping_mul(2 * bit_reverse(k, log_n) as u64 + 1) & mask) >> 1;
            bit_reverse(e as usize, log_n) as u32
        };
        Ok(Self { galois, sources: (0..1usize << log_n).map(source).collect() })
    }

    /// The Galois element, in \[0, 2N).
    pub fn galois(&self) -> u64 {
        self.galois
    }

    /// N.
    pub fn n(&self) -> usize {
        self.sources.len()
    }

    /// Which word of the source stands at each place of the image.
    pub fn sources(&self) -> &[u32] {
        &self.sources
    }
}

/// g mod 2N if it is odd.
pub(crate) fn odd(galois: u64, log_n: u32) -> Result<u64, RingError> {
    if galois % 2 == 1 { Ok(galois & ((2u64 << log_n) - 1)) } else { Err(RingError::EvenGalois { galois }) }
}

/// Evaluation domain; `src` is as long as the permutation that `sources` is a part of.
pub(crate) fn evaluations(out: &mut [u64], src: &[u64], sources: &[u32]) {
    for (out, &k) in out.iter_mut().zip(sources) {
        *out = src[k as usize];
    }
}

/// Coefficient domain: coefficient i goes to place i·g mod 2N, negated beyond N; g odd and below 2N.
pub(crate) fn coefficients(out: &mut [u64], src: &[u64], galois: u64, q: Modulus) {
    let n = src.len();
    let mut place = 0;
    for &x in src {
        let reduced = place & (n - 1);
        out[reduced] = if place & n == 0 { x } else { q.neg(x) };
        place = (place + galois as usize) & (2 * n - 1);
    }
}
