//! Rotation and conjugation: an automorphism X → X^g, then a key switch from s(X^g) back to s.

use super::key_switch::Raised;
use super::{Addend, KeyInputs, LowerError, Lowering, Poly};
use crate::limb::Operand;

/// One automorphism of a hoisted group.
#[derive(Debug, Clone, Copy)]
pub struct Rotation<'k> {
    /// The Galois element.
    pub galois: u64,
    /// The key from s(X^galois) to s.
    pub key: &'k KeyInputs,
    /// Whether to divide by q_ℓ too.
    pub rescale: bool,
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

    /// Several automorphisms of one ciphertext: its digits are raised once and permuted for each, since an
    /// automorphism maps the centred digits of c_1 to those of c_1(X^g) (Halevi, Shoup 2018, §4.2). The transforms
    /// of step 2 are spent once; all β·(ℓ + 1 + K) raised limbs stay alive.
    ///
    /// # Errors
    /// As [`Self::key_switch`].
    pub fn rotate_hoisted(
        &mut self,
        c: [&[Operand]; 2],
        rotations: &[Rotation<'_>],
    ) -> Result<Vec<[Poly; 2]>, LowerError> {
        let digits = self.digits(c[1])?;
        let mut raised = Vec::new();
        for target in self.targets(c[1].len()) {
            self.region("raise");
            raised.push(self.raise(&digits, target));
        }
        let mut all = Vec::with_capacity(rotations.len());
        for r in rotations {
            let add = [Some(Addend { poly: c[0], galois: Some(r.galois) }), None];
            let shared = Raised::Shared(&raised, r.galois);
            all.push(self.switch(&shared, c[1].len(), add, r.key, r.rescale)?);
        }
        Ok(all)
    }
}
