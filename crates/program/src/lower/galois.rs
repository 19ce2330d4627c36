//! Rotation and conjugation: an automorphism X → X^g, then a key switch from s(X^g) back to s.

use super::key_switch::{Raised, Switching};
use super::{Addend, KeyInputs, LowerError, Lowering, Poly};
use crate::limb::Operand;

/// An automorphism with its key switch.
#[derive(Debug, Clone, Copy)]
pub struct Rotation<'k> {
    /// The Galois element.
    pub galois: u64,
    /// The key from s(X^galois) to s.
    pub key: &'k KeyInputs,
    /// Whether to divide by q_ℓ too.
    pub rescale: bool,
}

/// The digits of a polynomial modulo every prime of its key switch, in the evaluation domain.
#[derive(Debug, Clone)]
pub struct Hoisted {
    /// \[prime\]\[digit\]
    raised: Vec<Poly>,
}

impl Lowering {
    /// The automorphism on every limb.
    pub fn automorphism(&mut self, a: &[Operand], galois: u64) -> Poly {
        a.iter().map(|&a| self.builder.automorphism(a, galois)).collect()
    }

    /// c_0(X^g) + c_1(X^g)·s(X^g) under s again.
    ///
    /// # Errors
    /// As [`Self::key_switch`].
    pub fn rotate(&mut self, c: [&[Operand]; 2], rotation: Rotation<'_>) -> Result<[Poly; 2], LowerError> {
        let Rotation { galois, key, rescale } = rotation;
        self.region("automorphism");
        let c1 = self.automorphism(c[1], galois);
        let add = [Some(Addend { poly: c[0], galois: Some(galois) }), None];
        self.key_switch(&c1, add, key, rescale)
    }

    /// Raises the digits of c_1 once for several automorphisms: one maps the centred digits of c_1 to those of
    /// c_1(X^g), so that they need only be permuted (Halevi, Shoup 2018, §4.2). The transforms of step 2 of a key
    /// switch are spent once; all β·(ℓ + 1 + K) raised limbs (β·α′ for KLSS) stay alive until the last
    /// [`Self::rotate_hoisted`]. `key` stands for all keys, which must be of one layout.
    ///
    /// # Errors
    /// More limbs than the chain has.
    pub fn hoist(&mut self, c1: &[Operand], key: &KeyInputs) -> Result<Hoisted, LowerError> {
        let digits = self.digits(c1, key)?;
        self.region("raise");
        Ok(Hoisted { raised: self.raise_all(&digits, key) })
    }

    /// As [`Self::rotate`], with the digits of c_1 that [`Self::hoist`] has raised.
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
        let add = [Some(Addend { poly: c0, galois: Some(galois) }), None];
        let raised = Raised::Shared(&hoisted.raised, galois);
        self.switch(&Switching { raised, limbs: c0.len(), add, rescale }, key)
    }
}
