//! The moduli of a chain as rows of the program's table, and the constants of the algorithms.

use std::ops::Range;

use ringmill_ring::{Modulus, RingError};

use super::LowerError;
use crate::limb::{LimbBuilder, ModulusId};

/// q_0 … q_L, p_0 … p_(K−1) and the limbs a digit.
#[derive(Debug, Clone)]
pub struct Basis {
    q: Vec<ModulusId>,
    p: Vec<ModulusId>,
    alpha: usize,
    /// The modulus of each id: ids count through q, then p.
    moduli: Vec<Modulus>,
}

impl Basis {
    /// Declares the moduli in `builder`, which must have none yet.
    ///
    /// # Errors
    /// [`LowerError::Digits`] if `alpha` is 0.
    pub fn declare(
        b: &mut LimbBuilder,
        q: &[Modulus],
        p: &[Modulus],
        alpha: usize,
    ) -> Result<Self, LowerError> {
        if alpha == 0 {
            return Err(LowerError::Digits { alpha });
        }
        let mut row = |prefix: &str, (i, &m): (usize, &Modulus)| b.modulus(format!("{prefix}{i}"), m);
        let q_ids = q.iter().enumerate().map(|m| row("q", m)).collect();
        let p_ids = p.iter().enumerate().map(|m| row("p", m)).collect();
        Ok(Self { q: q_ids, p: p_ids, alpha, moduli: [q, p].concat() })
    }

    /// The ciphertext primes q_0 … q_L.
    pub fn q(&self) -> &[ModulusId] {
        &self.q
    }

    /// The special primes.
    pub fn p(&self) -> &[ModulusId] {
        &self.p
    }

    /// The digits of a polynomial of `limbs` limbs, as ranges of limbs: α each, the last cut short.
    pub fn digits(&self, limbs: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let alpha = self.alpha;
        (0..limbs).step_by(alpha).map(move |first| first..limbs.min(first + alpha))
    }

    /// The integer modulus of an id of this basis.
    pub fn modulus(&self, id: ModulusId) -> Modulus {
        self.moduli[id.index()]
    }

    /// Π `of` mod `m`.
    pub fn product(&self, of: impl IntoIterator<Item = ModulusId>, m: ModulusId) -> u64 {
        let m = self.modulus(m);
        of.into_iter().fold(1, |product, x| m.mul(product, m.reduce(self.modulus(x).value())))
    }

    /// (Π `of`)^−1 mod `m`.
    ///
    /// # Errors
    /// [`RingError::NotInvertible`] if `m` is among `of`.
    pub fn inverse(&self, of: impl IntoIterator<Item = ModulusId>, m: ModulusId) -> Result<u64, RingError> {
        self.modulus(m).inv(self.product(of, m))
    }

    /// Refuses a polynomial whose limbs the chain does not have.
    pub(super) fn check_limbs(&self, found: usize) -> Result<(), LowerError> {
        let max = self.q.len();
        if (1..=max).contains(&found) { Ok(()) } else { Err(LowerError::Limbs { found, max }) }
    }
}
