//! Rotation and conjugation: a key switch from s to s(X^(1/g)), then the automorphism X → X^g, which takes that to s.
//!
//! In this order the digits of c_1 are those of c_1 itself whatever g is, so that rotations of one ciphertext share
//! them, and only the two parts of the result are permuted: 2(ℓ + 1) limbs instead of β·(ℓ + 1 + K).

use super::key_switch::{End, Raised, Switching};
use super::{KeyInputs, LowerError, Lowering, Poly};
use crate::limb::{Operand, SectionKind};

/// An automorphism with its key switch.
#[derive(Debug, Clone, Copy)]
pub struct Rotation<'k> {
    /// The Galois element.
    pub galois: u64,
    /// The key from s to s(X^(1/galois)).
    pub key: &'k KeyInputs,
    /// Whether to divide by the primes of the level too.
    pub rescale: bool,
}

/// The same, as the walk over a program knows it.
#[derive(Clone, Copy)]
pub(super) struct Turn<'k> {
    pub(super) galois: u64,
    pub(super) key: &'k KeyInputs,
    pub(super) end: End,
}

/// The digits of a polynomial modulo every prime of its key switch, in the evaluation domain.
#[derive(Debug, Clone)]
pub struct Hoisted {
    /// \[prime\]\[digit\]
    raised: Vec<Poly>,
    /// Limbs of what they are digits of.
    limbs: usize,
}

impl Lowering {
    /// c_0(X^g) + c_1(X^g)·s(X^g) under s again.
    ///
    /// # Errors
    /// As [`Self::key_switch`].
    pub fn rotate(&mut self, c: [&[Operand]; 2], rotation: Rotation<'_>) -> Result<[Poly; 2], LowerError> {
        let Rotation { galois, key, rescale } = rotation;
        self.turn(c, Turn { galois, key, end: End::of(rescale) })
    }

    /// As [`Self::rotate`]; c_0 may be extended.
    pub(super) fn turn(&mut self, c: [&[Operand]; 2], turn: Turn<'_>) -> Result<[Poly; 2], LowerError> {
        let Turn { galois, key, end } = turn;
        self.switch_turned(c[1], [Some(c[0]), None], key, end, Some(galois))
    }

    /// Raises the digits of c_1 once for several automorphisms (Halevi, Shoup 2018, §4.2; with keys to s(X^(1/g)) as in
    /// Bossuat, Mouchet, Troncoso-Pastoriza, Hubaux 2021, §3.2). The transforms of step 2 of a key switch are spent once;
    /// all β·(ℓ + 1 + K) raised limbs (β·α′ for KLSS) stay alive until the last [`Self::rotate_hoisted`]. `key` stands for
    /// all keys, which must be of one layout.
    ///
    /// # Errors
    /// More limbs than the chain has; [`LowerError::Shared`] for a key of SEAL's.
    pub fn hoist(&mut self, c1: &[Operand], key: &KeyInputs) -> Result<Hoisted, LowerError> {
        if let Some(library) = key.unshared() {
            return Err(LowerError::Shared { library });
        }
        self.section(SectionKind::Raise(key.shape(c1.len())), |low| {
            let digits = low.digits(c1, key)?;
            low.region("raise");
            Ok(Hoisted { raised: low.raise_all(&digits, key), limbs: c1.len() })
        })
    }

    /// As [`Self::rotate`], with the digits of c_1 that [`Self::hoist`] has raised: the same bits.
    ///
    /// # Errors
    /// As [`Self::key_switch`].
    pub fn rotate_hoisted(
        &mut self,
        hoisted: &Hoisted,
        c0: &[Operand],
        rotation: Rotation<'_>,
    ) -> Result<[Poly; 2], LowerError> {
        let Rotation { galois, key, rescale } = rotation;
        self.turn_hoisted(hoisted, c0, Turn { galois, key, end: End::of(rescale) })
    }

    /// As [`Self::rotate_hoisted`]; c_0 may be extended.
    pub(super) fn turn_hoisted(
        &mut self,
        hoisted: &Hoisted,
        c0: &[Operand],
        turn: Turn<'_>,
    ) -> Result<[Poly; 2], LowerError> {
        let Turn { galois, key, end } = turn;
        if let Some(library) = key.unshared() {
            return Err(LowerError::Shared { library });
        }
        let [c0, _] = self.turned_addends([Some(c0), None], key, Some(galois));
        let c0 = c0.unwrap_or_default();
        let (shape, own) = (key.shape(hoisted.limbs), key.end(end));
        let section_end = self.section_end(own, hoisted.limbs)?;
        let kind = SectionKind::KeySwitch { shape, end: section_end, hoisted: true, galois: Some(galois) };
        let parts = self.section(kind, |low| low.switch(&hoisted.switching(&c0, own, galois), key))?;
        self.rescaled_behind(parts, key, end)
    }
}

impl Hoisted {
    pub(super) fn of(raised: Vec<Poly>, limbs: usize) -> Self {
        Self { raised, limbs }
    }

    /// The digits as a key switch takes them.
    pub(super) fn raised(&self) -> Raised<'_> {
        Raised::Shared(&self.raised)
    }

    /// Limbs of what they are digits of.
    pub(super) fn limbs(&self) -> usize {
        self.limbs
    }

    /// The key switch of a rotation of c_0 + c_1·s by these digits of c_1.
    pub(super) fn switching<'a>(&'a self, c0: &'a [Operand], end: End, galois: u64) -> Switching<'a> {
        let (raised, add) = (Raised::Shared(&self.raised), [Some(c0), None]);
        Switching { raised, limbs: self.limbs, add, end, galois: Some(galois) }
    }
}
