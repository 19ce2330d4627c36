//! Word-by-word operations of [`LimbRing`]. In either domain; multiplication means products of residues.

use super::LimbRing;
use crate::RingError;
use crate::kernel::{pointwise, transform::Shoup};

impl LimbRing {
    /// out = a + b.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn add(&self, out: &mut [u64], a: &[u64], b: &[u64]) -> Result<(), RingError> {
        self.check(&[("out", out.len()), ("a", a.len()), ("b", b.len())])?;
        pointwise::zip(out, a, b, |a, b| self.q.add(a, b));
        Ok(())
    }

    /// a += b.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn add_assign(&self, a: &mut [u64], b: &[u64]) -> Result<(), RingError> {
        self.check(&[("a", a.len()), ("b", b.len())])?;
        pointwise::zip_assign(a, b, |a, b| self.q.add(a, b));
        Ok(())
    }

    /// out = a − b.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn sub(&self, out: &mut [u64], a: &[u64], b: &[u64]) -> Result<(), RingError> {
        self.check(&[("out", out.len()), ("a", a.len()), ("b", b.len())])?;
        pointwise::zip(out, a, b, |a, b| self.q.sub(a, b));
        Ok(())
    }

    /// a −= b.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn sub_assign(&self, a: &mut [u64], b: &[u64]) -> Result<(), RingError> {
        self.check(&[("a", a.len()), ("b", b.len())])?;
        pointwise::zip_assign(a, b, |a, b| self.q.sub(a, b));
        Ok(())
    }

    /// out = −a.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn neg(&self, out: &mut [u64], a: &[u64]) -> Result<(), RingError> {
        self.check(&[("out", out.len()), ("a", a.len())])?;
        pointwise::zip_assign(out, a, |_, a| self.q.neg(a));
        Ok(())
    }

    /// a = −a.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn neg_assign(&self, a: &mut [u64]) -> Result<(), RingError> {
        self.check(&[("a", a.len())])?;
        a.iter_mut().for_each(|a| *a = self.q.neg(*a));
        Ok(())
    }

    /// out = a·b, word by word.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn mul(&self, out: &mut [u64], a: &[u64], b: &[u64]) -> Result<(), RingError> {
        self.check(&[("out", out.len()), ("a", a.len()), ("b", b.len())])?;
        pointwise::zip(out, a, b, |a, b| self.q.mul(a, b));
        Ok(())
    }

    /// a = a·b, word by word.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn mul_assign(&self, a: &mut [u64], b: &[u64]) -> Result<(), RingError> {
        self.check(&[("a", a.len()), ("b", b.len())])?;
        pointwise::zip_assign(a, b, |a, b| self.q.mul(a, b));
        Ok(())
    }

    /// acc += a·b, word by word.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn mac(&self, acc: &mut [u64], a: &[u64], b: &[u64]) -> Result<(), RingError> {
        self.check(&[("acc", acc.len()), ("a", a.len()), ("b", b.len())])?;
        pointwise::mac(acc, a, b, self.q);
        Ok(())
    }

    /// out = a·c for any 64-bit c.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn mul_scalar(&self, out: &mut [u64], a: &[u64], c: u64) -> Result<(), RingError> {
        self.check(&[("out", out.len()), ("a", a.len())])?;
        let (c, q) = (self.constant(c), self.q.value());
        pointwise::zip_assign(out, a, |_, a| c.mul(a, q));
        Ok(())
    }

    /// a = a·c for any 64-bit c.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn mul_scalar_assign(&self, a: &mut [u64], c: u64) -> Result<(), RingError> {
        self.check(&[("a", a.len())])?;
        let (c, q) = (self.constant(c), self.q.value());
        a.iter_mut().for_each(|a| *a = c.mul(*a, q));
        Ok(())
    }

    /// out = a + c for any 64-bit c, in every word.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn add_scalar(&self, out: &mut [u64], a: &[u64], c: u64) -> Result<(), RingError> {
        self.check(&[("out", out.len()), ("a", a.len())])?;
        let c = self.q.reduce(c);
        pointwise::zip_assign(out, a, |_, a| self.q.add(a, c));
        Ok(())
    }

    /// a += c for any 64-bit c, in every word.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn add_scalar_assign(&self, a: &mut [u64], c: u64) -> Result<(), RingError> {
        self.check(&[("a", a.len())])?;
        let c = self.q.reduce(c);
        a.iter_mut().for_each(|a| *a = self.q.add(*a, c));
        Ok(())
    }

    /// out = (a − b)·c for any 64-bit c: the last step of a division by a prime or by P.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn sub_mul_scalar(&self, out: &mut [u64], a: &[u64], b: &[u64], c: u64) -> Result<(), RingError> {
        self.check(&[("out", out.len()), ("a", a.len()), ("b", b.len())])?;
        let (c, q) = (self.constant(c), self.q.value());
        pointwise::zip(out, a, b, |a, b| pointwise::sub_mul(a, b, c, q));
        Ok(())
    }

    /// a = (a − b)·c for any 64-bit c.
    ///
    /// # Errors
    /// [`RingError::Length`].
    pub fn sub_mul_scalar_assign(&self, a: &mut [u64], b: &[u64], c: u64) -> Result<(), RingError> {
        self.check(&[("a", a.len()), ("b", b.len())])?;
        let (c, q) = (self.constant(c), self.q.value());
        pointwise::zip_assign(a, b, |a, b| pointwise::sub_mul(a, b, c, q));
        Ok(())
    }

    fn constant(&self, c: u64) -> Shoup {
        Shoup::new(self.q.reduce(c), self.q)
    }
}
