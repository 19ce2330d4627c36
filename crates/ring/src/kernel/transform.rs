//! The plain transform with precomputed tables: Shoup multiplication on canonical words.

use crate::{Modulus, RingError, reference::bit_reverse};

/// A constant w with ⌊2^64·w/q⌋: Shoup's multiplication takes one high and two low products.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shoup {
    w: u64,
    quotient: u64,
}

impl Shoup {
    pub(crate) fn new(w: u64, q: Modulus) -> Self {
        Self { w, quotient: ((u128::from(w) << 64) / u128::from(q.value())) as u64 }
    }

    /// x·w mod q for any 64-bit x: the quotient is short by at most 1, so one subtraction makes it canonical.
    #[inline(always)]
    pub(crate) fn mul(self, x: u64, q: u64) -> u64 {
        let h = ((u128::from(x) * u128::from(self.quotient)) >> 64) as u64;
        let r = x.wrapping_mul(self.w).wrapping_sub(h.wrapping_mul(q));
        r.min(r.wrapping_sub(q))
    }
}

/// Powers of ψ in bit-reversed order and their inverses.
#[derive(Debug, Clone)]
pub(crate) struct Tables {
    q: Modulus,
    forward: Vec<Shoup>,
    inverse: Vec<Shoup>,
    n_inverse: Shoup,
}

impl Tables {
    pub(crate) fn new(log_n: u32, q: Modulus) -> Result<Self, RingError> {
        let n = 1usize << log_n;
        let psi = q.psi(log_n)?;
        let table = |root: u64| {
            let mut powers = vec![1; n];
            for i in 1..n {
                powers[i] = q.mul(powers[i - 1], root);
            }
            (0..n).map(|i| Shoup::new(powers[bit_reverse(i, log_n)], q)).collect()
        };
        let n_inverse = Shoup::new(q.inv(q.reduce(n as u64))?, q);
        Ok(Self { q, forward: table(psi), inverse: table(q.inv(psi)?), n_inverse })
    }

    pub(crate) fn forward(&self, a: &mut [u64]) {
        let (mut m, mut t) = (1, a.len() / 2);
        while t > 0 {
            for (block, &w) in a.chunks_exact_mut(2 * t).zip(&self.forward[m..]) {
                let (low, high) = block.split_at_mut(t);
                for (x, y) in low.iter_mut().zip(high) {
                    let p = w.mul(*y, self.q.value());
                    (*x, *y) = (self.q.add(*x, p), self.q.sub(*x, p));
                }
            }
            (m, t) = (2 * m, t / 2);
        }
    }

    pub(crate) fn inverse(&self, a: &mut [u64]) {
        let (mut m, mut t) = (a.len() / 2, 1);
        while m > 0 {
            for (block, &w) in a.chunks_exact_mut(2 * t).zip(&self.inverse[m..]) {
                let (low, high) = block.split_at_mut(t);
                for (x, y) in low.iter_mut().zip(high) {
                    (*x, *y) = (self.q.add(*x, *y), w.mul(self.q.sub(*x, *y), self.q.value()));
                }
            }
            (m, t) = (m / 2, 2 * t);
        }
        for x in a {
            *x = self.n_inverse.mul(*x, self.q.value());
        }
    }
}
