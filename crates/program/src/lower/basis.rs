//! The moduli of a chain as rows of the program's table, and the constants of the algorithms.

use std::ops::Range;

use ringmill_ckks::{KeyLayout, Level, Levels};
use ringmill_ring::{Modulus, RingError};

use super::LowerError;
use crate::limb::{LimbBuilder, ModulusId};

/// q_0 … q_L, p_0 … p_(K−1) and the limbs a digit.
#[derive(Debug, Clone)]
pub struct Basis {
    q: Vec<ModulusId>,
    p: Vec<ModulusId>,
    alpha: usize,
    levels: Levels,
    /// Ciphertext primes of the chain above those of `q`.
    above: Vec<Modulus>,
    /// The modulus of each id: ids count through q, p, and what was declared since.
    moduli: Vec<Modulus>,
    /// Primes for KLSS among them.
    t: usize,
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
        let levels = Levels::single(q.len());
        Ok(Self { q: q_ids, p: p_ids, alpha, levels, above: Vec::new(), moduli: [q, p].concat(), t: 0 })
    }

    /// Says which limbs belong to which level; one each by default.
    pub(super) fn levelled(&mut self, levels: &Levels) {
        self.levels = levels.clone();
    }

    /// Limbs of level 0.
    pub(super) fn base_limbs(&self) -> usize {
        self.levels.limbs(Level::ZERO)
    }

    /// How many of `limbs` limbs a division leaves: all, or those of the level below where a rescale is merged into it.
    ///
    /// # Errors
    /// [`LowerError::LevelExhausted`] for a rescale at level 0; [`LowerError::NoLevel`] for limbs that no level has.
    pub(super) fn kept(&self, limbs: usize, rescale: bool) -> Result<usize, LowerError> {
        if !rescale {
            return Ok(limbs);
        }
        let level = self.levels.of_limbs(limbs).ok_or(LowerError::NoLevel { limbs })?;
        let below = level.down().ok_or(LowerError::LevelExhausted)?;
        Ok(self.levels.limbs(below))
    }

    /// Says that the chain goes on: `above` are its ciphertext primes beyond those declared. They are declared once they
    /// serve as special primes.
    pub(super) fn goes_on(&mut self, above: &[Modulus]) {
        self.above = above.to_vec();
    }

    /// The layout that every level can use.
    pub fn base_layout(&self) -> KeyLayout {
        KeyLayout { limbs: self.q.len(), special: self.p.len(), alpha: self.alpha }
    }

    /// The special primes of a layout, declared if need be.
    ///
    /// # Errors
    /// [`LowerError::Layout`] if the chain does not allow it.
    pub(super) fn special(
        &mut self,
        b: &mut LimbBuilder,
        layout: KeyLayout,
    ) -> Result<Vec<ModulusId>, LowerError> {
        if self.p.is_empty() {
            return Err(LowerError::NoSpecialPrime);
        }
        let (q, p) = self.chain();
        // The layout of the chain itself is the business of who made the chain.
        if layout != (KeyLayout { limbs: q.len(), ..self.base_layout() }) {
            layout.check(&q, &p)?;
        }
        let primes = layout.special_primes(&q, &p);
        let names = layout.special_indices(q.len(), p.len());
        Ok(names.zip(primes).map(|(i, m)| self.auxiliary(b, || format!("q{i}"), m)).collect())
    }

    /// All primes of the chain.
    pub(super) fn chain(&self) -> (Vec<Modulus>, Vec<Modulus>) {
        let (q, p) = self.moduli.split_at(self.q.len());
        ([q, &self.above].concat(), p[..self.p.len()].to_vec())
    }

    /// A modulus that may be declared already.
    pub(super) fn auxiliary(
        &mut self,
        b: &mut LimbBuilder,
        name: impl FnOnce() -> String,
        m: Modulus,
    ) -> ModulusId {
        if let Some(at) = self.moduli.iter().position(|&x| x == m) {
            return ModulusId(at as u16);
        }
        self.moduli.push(m);
        b.modulus(name(), m)
    }

    /// A prime for KLSS, t_0, t_1, … as they are declared: methods that differ in them may share some.
    pub(super) fn t(&mut self, b: &mut LimbBuilder, m: Modulus) -> ModulusId {
        let (t, declared) = (self.t, self.moduli.len());
        let id = self.auxiliary(b, || format!("t{t}"), m);
        self.t += self.moduli.len() - declared;
        id
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
        self.base_layout().digits(limbs)
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
