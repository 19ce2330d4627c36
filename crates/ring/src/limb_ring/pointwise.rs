//! Word-by-word operations of [`LimbRing`]. In either domain; multiplication means products of residues.

use super::LimbRing;
use crate::RingError;
use crate::kernel::pointwise::{
    self, Add, AddScalar, Mul, MulAddScalar, MulScalar, Neg, Sub, SubMulAdd, SubMulScalar, map, map_assign,
};
use crate::kernel::prime::Factor;

impl LimbRing {
    /// out = a + b.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn add(&self, out: &mut [u64], a: &[u64], b: &[u64]) -> Result<(), RingError> {
        self.check(&[("out", out.len()), ("a", a.len()), ("b", b.len())])?;
        map(self.backend, &self.prime, Add, out, [a, b, &[]]);
        Ok(())
    }

    /// a += b.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn add_assign(&self, a: &mut [u64], b: &[u64]) -> Result<(), RingError> {
        self.check(&[("a", a.len()), ("b", b.len())])?;
        map_assign(self.backend, &self.prime, Add, a, b);
        Ok(())
    }

    /// out = a − b.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn sub(&self, out: &mut [u64], a: &[u64], b: &[u64]) -> Result<(), RingError> {
        self.check(&[("out", out.len()), ("a", a.len()), ("b", b.len())])?;
        map(self.backend, &self.prime, Sub, out, [a, b, &[]]);
        Ok(())
    }

    /// a −= b.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn sub_assign(&self, a: &mut [u64], b: &[u64]) -> Result<(), RingError> {
        self.check(&[("a", a.len()), ("b", b.len())])?;
        map_assign(self.backend, &self.prime, Sub, a, b);
        Ok(())
    }

    /// out = −a.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn neg(&self, out: &mut [u64], a: &[u64]) -> Result<(), RingError> {
        self.check(&[("out", out.len()), ("a", a.len())])?;
        map(self.backend, &self.prime, Neg, out, [a, &[], &[]]);
        Ok(())
    }

    /// a = −a.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn neg_assign(&self, a: &mut [u64]) -> Result<(), RingError> {
        self.check(&[("a", a.len())])?;
        map_assign(self.backend, &self.prime, Neg, a, &[]);
        Ok(())
    }

    /// out = a·b, word by word.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn mul(&self, out: &mut [u64], a: &[u64], b: &[u64]) -> Result<(), RingError> {
        self.check(&[("out", out.len()), ("a", a.len()), ("b", b.len())])?;
        map(self.backend, &self.prime, Mul, out, [a, b, &[]]);
        Ok(())
    }

    /// a = a·b, word by word.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn mul_assign(&self, a: &mut [u64], b: &[u64]) -> Result<(), RingError> {
        self.check(&[("a", a.len()), ("b", b.len())])?;
        map_assign(self.backend, &self.prime, Mul, a, b);
        Ok(())
    }

    /// acc += a·b, word by word.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn mac(&self, acc: &mut [u64], a: &[u64], b: &[u64]) -> Result<(), RingError> {
        self.check(&[("acc", acc.len()), ("a", a.len()), ("b", b.len())])?;
        pointwise::mac(self.backend, &self.prime, acc, a, b);
        Ok(())
    }

    /// out = a·c for any 64-bit c.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn mul_scalar(&self, out: &mut [u64], a: &[u64], c: u64) -> Result<(), RingError> {
        self.check(&[("out", out.len()), ("a", a.len())])?;
        map(self.backend, &self.prime, MulScalar(self.factor(c)), out, [a, &[], &[]]);
        Ok(())
    }

    /// out = a·c.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn mul_factor(&self, out: &mut [u64], a: &[u64], c: &Factor) -> Result<(), RingError> {
        self.check(&[("out", out.len()), ("a", a.len())])?;
        map(self.backend, &self.prime, MulScalar(*c), out, [a, &[], &[]]);
        Ok(())
    }

    /// out = (a − b)·c.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn sub_mul_factor(&self, out: &mut [u64], a: &[u64], b: &[u64], c: &Factor) -> Result<(), RingError> {
        self.check(&[("out", out.len()), ("a", a.len()), ("b", b.len())])?;
        map(self.backend, &self.prime, SubMulScalar(*c), out, [a, b, &[]]);
        Ok(())
    }

    /// out = (a − b)·c + d.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn sub_mul_add_factor(
        &self,
        out: &mut [u64],
        [a, b, d]: [&[u64]; 3],
        c: &Factor,
    ) -> Result<(), RingError> {
        self.check(&[("out", out.len()), ("a", a.len()), ("b", b.len()), ("d", d.len())])?;
        map(self.backend, &self.prime, SubMulAdd(*c), out, [a, b, d]);
        Ok(())
    }

    /// out = a·c + d.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn mul_add_factor(&self, out: &mut [u64], a: &[u64], d: &[u64], c: &Factor) -> Result<(), RingError> {
        self.check(&[("out", out.len()), ("a", a.len()), ("d", d.len())])?;
        map(self.backend, &self.prime, MulAddScalar(*c), out, [d, a, &[]]);
        Ok(())
    }

    /// a = a·c for any 64-bit c.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn mul_scalar_assign(&self, a: &mut [u64], c: u64) -> Result<(), RingError> {
        self.check(&[("a", a.len())])?;
        map_assign(self.backend, &self.prime, MulScalar(self.factor(c)), a, &[]);
        Ok(())
    }

    /// out = a + c for any 64-bit c, in every word.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn add_scalar(&self, out: &mut [u64], a: &[u64], c: u64) -> Result<(), RingError> {
        self.check(&[("out", out.len()), ("a", a.len())])?;
        map(self.backend, &self.prime, AddScalar(self.modulus().reduce(c)), out, [a, &[], &[]]);
        Ok(())
    }

    /// a += c for any 64-bit c, in every word.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn add_scalar_assign(&self, a: &mut [u64], c: u64) -> Result<(), RingError> {
        self.check(&[("a", a.len())])?;
        map_assign(self.backend, &self.prime, AddScalar(self.modulus().reduce(c)), a, &[]);
        Ok(())
    }

    /// out = (a − b)·c for any 64-bit c: the last step of a division by a prime or by P.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn sub_mul_scalar(&self, out: &mut [u64], a: &[u64], b: &[u64], c: u64) -> Result<(), RingError> {
        self.check(&[("out", out.len()), ("a", a.len()), ("b", b.len())])?;
        map(self.backend, &self.prime, SubMulScalar(self.factor(c)), out, [a, b, &[]]);
        Ok(())
    }

    /// a = (a − b)·c for any 64-bit c.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn sub_mul_scalar_assign(&self, a: &mut [u64], b: &[u64], c: u64) -> Result<(), RingError> {
        self.check(&[("a", a.len()), ("b", b.len())])?;
        map_assign(self.backend, &self.prime, SubMulScalar(self.factor(c)), a, b);
        Ok(())
    }
}
