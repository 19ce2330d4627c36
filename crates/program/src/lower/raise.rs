//! From level 0 to the top, under a sparse secret on the way: Bossuat, Troncoso-Pastoriza and Hubaux (ACNS 2022).
//!
//! 1. *Down*: the key switch of c_1, one limb and one digit, to the ephemeral secret, modulo q_0·p_0.
//! 2. *Raise*: the centred residues modulo q_0 modulo every other prime. As integers c_0 + c_1·s̃ = m + q_0·I, and |I| ≤
//!    (h + 1)/2 for a secret s̃ of weight h.
//! 3. *Up*: the switch back. c_1 is below q_0 still, so the key has one digit too, and p_0 is its only special prime.
//!
//! ℓ + 5 transforms for the first step and the second, 2(ℓ + 1) + 2 and as many products for the third.

use ringmill_ckks::keys::Direction;

use super::{LowerError, Lowering, Poly};
use crate::limb::{Domain, InputClass, ModulusId, Operand};

/// The limbs of an encapsulation key as inputs of the program.
#[derive(Debug, Clone)]
pub struct EncapsulationInputs {
    /// \[b, a\] of q_0, p_0.
    down: [Poly; 2],
    /// \[b, a\] of q_0 … q_L, p_0.
    up: [Poly; 2],
}

impl Lowering {
    /// The special prime of both switches.
    fn balance(&self) -> Result<ModulusId, LowerError> {
        self.basis.p().first().copied().ok_or(LowerError::NoSpecialPrime)
    }

    /// Declares one polynomial of the key.
    pub(super) fn encapsulation_input(
        &mut self,
        name: &str,
        direction: Direction,
    ) -> Result<Poly, LowerError> {
        let last = match direction {
            Direction::Down => 1,
            Direction::Up => self.basis.q().len(),
        };
        let moduli = [&self.basis.q()[..last], &[self.balance()?]].concat();
        Ok(self.builder.input(name, InputClass::Key, Domain::Eval, &moduli))
    }

    /// Steps 1 to 3: a ciphertext of one limb as one of all limbs.
    ///
    /// # Errors
    /// [`LowerError::NoSpecialPrime`]; more than one limb.
    pub fn mod_raise(
        &mut self,
        c: [&[Operand]; 2],
        key: &EncapsulationInputs,
    ) -> Result<[Poly; 2], LowerError> {
        let [&[c0], &[c1]] = c else {
            return Err(LowerError::Levels { left: c[0].len(), right: 1 });
        };
        let balance = self.balance()?;
        self.region("to the ephemeral secret");
        let coefficients = self.builder.intt(c1);
        let lifted = self.lifts(coefficients, c1, &[balance]);
        let [y0, y1] = self.switch_small(&lifted, &key.down)?;
        let low = [self.builder.add(y0[0], c0), y1[0]];
        self.region("raise");
        let others = self.basis.q()[1..].to_vec();
        let balanced = [&others[..], &[balance]].concat();
        let coefficients = low.map(|limb| self.builder.intt(limb));
        let raised =
            [self.lifts(coefficients[0], low[0], &others), self.lifts(coefficients[1], low[1], &balanced)];
        self.region("to the secret");
        let [mut y0, y1] = self.switch_small(&raised[1], &key.up)?;
        for (y, &x) in y0.iter_mut().zip(&raised[0]) {
            *y = self.builder.add(*y, x);
        }
        Ok([y0, y1])
    }

    /// A limb modulo itself and the primes of `others`.
    fn lifts(&mut self, coefficients: Operand, limb: Operand, others: &[ModulusId]) -> Poly {
        let up = |low: &mut Self, m| {
            let lifted = low.builder.lift(coefficients, m);
            low.builder.ntt(lifted)
        };
        std::iter::once(limb).chain(others.iter().map(|&m| up(self, m))).collect()
    }

    /// d·key/p_0 for d of the key's limbs, that of p_0 last.
    fn switch_small(&mut self, d: &[Operand], key: &[Poly; 2]) -> Result<[Poly; 2], LowerError> {
        let special = self.balance()?;
        let moduli = self.basis.q().to_vec();
        let Some((&top, kept)) = d.split_last() else { return Err(LowerError::LevelExhausted) };
        let mut parts = [Vec::new(), Vec::new()];
        for (part, out) in parts.iter_mut().enumerate() {
            let t = self.builder.mul(top, key[part][kept.len()]);
            let t = self.builder.intt(t);
            let rest = self.residues(&[special], &[t])?;
            for (i, &x) in kept.iter().enumerate() {
                let t = self.builder.mul(x, key[part][i]);
                out.push(self.divide(t, &rest, moduli[i])?);
            }
        }
        Ok(parts)
    }
}

impl EncapsulationInputs {
    /// From declared polynomials, b before a.
    pub(super) fn new(down: [Poly; 2], up: [Poly; 2]) -> Self {
        Self { down, up }
    }
}
