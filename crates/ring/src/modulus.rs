//! A prime modulus and scalar arithmetic on its canonical residues.

use crate::RingError;

/// A prime q of [`Modulus::MIN_BITS`] to [`Modulus::MAX_BITS`] bits, with the constants of its scalar arithmetic.
///
/// All operands and results are canonical residues in \[0, q) unless a line says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Modulus {
    q: u64,
    /// ⌊2^128 / q⌋, high and low word.
    barrett: (u64, u64),
}

impl Modulus {
    /// Least bit length of a modulus.
    pub const MIN_BITS: u32 = 20;
    /// Greatest bit length of a modulus.
    pub const MAX_BITS: u32 = 60;
    /// Greatest bit length of those that one multiply-add of a vector unit serves: of 52-bit integers or of binary64. Longer ones
    /// take several.
    pub const NARROW_BITS: u32 = 50;

    /// Checks the size and that `q` is prime.
    pub fn new(q: u64) -> Result<Self, RingError> {
        let bits = u64::BITS - q.leading_zeros();
        if !(Self::MIN_BITS..=Self::MAX_BITS).contains(&bits) {
            return Err(RingError::ModulusSize { q, bits, min: Self::MIN_BITS, max: Self::MAX_BITS });
        }
        let m = Self::with_constants(q);
        if m.is_prime() { Ok(m) } else { Err(RingError::NotPrime { q }) }
    }

    fn with_constants(q: u64) -> Self {
        // ⌊(2^128 - 1) / q⌋ equals ⌊2^128 / q⌋ because q > 1 is odd and so does not divide 2^128.
        let m = u128::MAX / u128::from(q);
        Self { q, barrett: ((m >> 64) as u64, m as u64) }
    }

    /// The modulus as an integer.
    #[inline]
    pub const fn value(self) -> u64 {
        self.q
    }

    /// Bit length of q.
    #[inline]
    pub const fn bits(self) -> u32 {
        u64::BITS - self.q.leading_zeros()
    }

    /// x mod q for any 128-bit x (Barrett; the quotient is short by at most 1).
    #[inline]
    pub const fn reduce_u128(self, x: u128) -> u64 {
        let (x1, x0) = ((x >> 64) as u64, x as u64);
        let (m1, m0) = self.barrett;
        let lo = (x0 as u128 * m0 as u128) >> 64;
        let mid = x1 as u128 * m0 as u128;
        let mid2 = x0 as u128 * m1 as u128;
        // Three terms below 2^64 · 2^64: the sum of two 128-bit products and a carry is split to stay in range.
        let carry = ((mid as u64) as u128 + (mid2 as u64) as u128 + lo) >> 64;
        let quotient = (x1 as u128 * m1 as u128).wrapping_add((mid >> 64) + (mid2 >> 64) + carry) as u64;
        let r = (x0).wrapping_sub(quotient.wrapping_mul(self.q));
        if r >= self.q { r - self.q } else { r }
    }

    /// x mod q for any 64-bit x.
    #[inline]
    pub const fn reduce(self, x: u64) -> u64 {
        x % self.q
    }

    /// The residue of a signed integer.
    #[inline]
    pub const fn reduce_i64(self, x: i64) -> u64 {
        let r = self.reduce(x.unsigned_abs());
        if x < 0 { self.neg(r) } else { r }
    }

    /// a + b mod q.
    #[inline]
    pub const fn add(self, a: u64, b: u64) -> u64 {
        let s = a + b;
        if s >= self.q { s - self.q } else { s }
    }

    /// a − b mod q.
    #[inline]
    pub const fn sub(self, a: u64, b: u64) -> u64 {
        if a >= b { a - b } else { a + self.q - b }
    }

    /// −a mod q.
    #[inline]
    pub const fn neg(self, a: u64) -> u64 {
        if a == 0 { 0 } else { self.q - a }
    }

    /// a·b mod q.
    #[inline]
    pub const fn mul(self, a: u64, b: u64) -> u64 {
        self.reduce_u128(a as u128 * b as u128)
    }

    /// base^exponent mod q. Variable time in the exponent.
    pub const fn pow(self, base: u64, exponent: u64) -> u64 {
        let (mut b, mut e, mut r) = (base, exponent, 1);
        while e > 0 {
            if e & 1 == 1 {
                r = self.mul(r, b);
            }
            b = self.mul(b, b);
            e >>= 1;
        }
        r
    }

    /// a^−1 mod q. Variable time.
    ///
    /// # Errors
    /// [`RingError::NotInvertible`] if a is 0.
    pub fn inv(self, a: u64) -> Result<u64, RingError> {
        if a == 0 {
            return Err(RingError::NotInvertible { value: a, q: self.q });
        }
        Ok(self.pow(a, self.q - 2))
    }

    /// The representative of a in (−q/2, q/2).
    #[inline]
    pub const fn centred(self, a: u64) -> i64 {
        if a > self.q / 2 { a as i64 - self.q as i64 } else { a as i64 }
    }

    /// The least primitive 2N-th root of unity, N = 2^log_n: the ψ of every transform in the project,
    /// so that evaluation-domain data mean the same everywhere.
    ///
    /// # Errors
    /// [`RingError::NoRoot`] if q ≢ 1 mod 2N.
    pub fn psi(self, log_n: u32) -> Result<u64, RingError> {
        let two_n = 2u64 << log_n;
        if self.q % two_n != 1 {
            return Err(RingError::NoRoot { q: self.q, two_n });
        }
        // ψ = g^((q−1)/2N) is primitive iff ψ^N = −1; every other primitive root is an odd power of it.
        let any = (2..)
            .map(|g| self.pow(g, (self.q - 1) / two_n))
            .find(|&r| self.pow(r, two_n / 2) == self.q - 1)
            .expect("a field with q ≡ 1 mod 2N holds a primitive 2N-th root");
        let square = self.mul(any, any);
        let (mut least, mut r) = (any, any);
        for _ in 1..two_n / 2 {
            r = self.mul(r, square);
            least = least.min(r);
        }
        Ok(least)
    }

    /// Miller–Rabin with the first twelve primes as bases, which decides every 64-bit integer (Sorenson, Webster 2015).
    fn is_prime(self) -> bool {
        const BASES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
        let q = self.q;
        if BASES.iter().any(|&p| q.is_multiple_of(p)) {
            return BASES.contains(&q);
        }
        let s = (q - 1).trailing_zeros();
        let d = (q - 1) >> s;
        BASES.iter().all(|&a| {
            let mut x = self.pow(a, d);
            x == 1
                || (0..s).any(|_| {
                    let hit = x == q - 1;
                    x = self.mul(x, x);
                    hit
                })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reduction_agrees_with_the_integers() {
        for q in [1_048_573, (1 << 50) - 27, 1_152_921_504_606_846_883] {
            let Ok(m) = Modulus::new(q) else { panic!("{q} is prime") };
            let mut x = 0x9e37_79b9_7f4a_7c15_u128 << 64 | 0x1234_5678_9abc_def1;
            for _ in 0..10_000 {
                x = x.wrapping_mul(0xda94_2042_e4dd_58b5_0000_0000_0000_0001).rotate_left(17) ^ x >> 9;
                assert_eq!(u128::from(m.reduce_u128(x)), x % u128::from(q), "{x} mod {q}");
            }
            for x in [0, 1, u128::from(q), u128::from(q) * u128::from(q), u128::MAX] {
                assert_eq!(u128::from(m.reduce_u128(x)), x % u128::from(q), "{x} mod {q}");
            }
        }
    }

    #[test]
    fn bad_moduli_are_named() {
        assert!(matches!(Modulus::new(17), Err(RingError::ModulusSize { bits: 5, .. })));
        assert!(matches!(Modulus::new(1 << 60), Err(RingError::ModulusSize { bits: 61, .. })));
        assert_eq!(Modulus::new((1 << 30) + 1), Err(RingError::NotPrime { q: (1 << 30) + 1 }));
    }

    #[test]
    fn psi_is_primitive_and_needs_the_right_congruence() {
        let m = Modulus::new(0x0020_0000_010c_0001).unwrap();
        let psi = m.psi(16).unwrap();
        assert_eq!(m.pow(psi, 1 << 16), m.value() - 1);
        assert!(matches!(Modulus::new(1_048_573).unwrap().psi(10), Err(RingError::NoRoot { .. })));
    }
}
