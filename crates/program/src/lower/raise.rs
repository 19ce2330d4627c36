//! From level 0 to the top, under a sparse secret on the way: Bossuat, Troncoso-Pastoriza and Hubaux (ACNS 2022).
//!
//! 1. *Down*: the key switch of c_1, one limb and one digit, to the ephemeral secret, modulo q_0·p_0.
//! 2. *Raise*: the centred residues modulo q_0 modulo every other prime. As integers c_0 + c_1·s̃ = m + q_0·I, and |I| ≤
//!    (h + 1)/2 for a secret s̃ of weight h.
//! 3. *Up*: the switch back. c_1 is below q_0 still, so the key has one digit too, and p_0 is its only special prime.
//!
//! ℓ + 5 transforms for the first step and the second, 2(ℓ + 1) + 2 and as many products for the third.
//!
//! Where level 0 has t primes, Q_0 their product, a polynomial is d_0 + q_0·(d_1 + q_1·(d_2 + …)), each digit centred modulo its
//! prime: its centred residue modulo Q_0 as an integer. Keys have t digits then, and what is raised is the sum modulo each prime.

use ringmill_ckks::keys::Direction;

use super::{LowerError, Lowering, Poly};
use crate::limb::{Domain, InputClass, ModulusId, Operand};

/// The limbs of an encapsulation key as inputs of the program.
#[derive(Debug, Clone)]
pub struct EncapsulationInputs {
    /// \[b, a\] of the primes of level 0 and p_0, digit after digit.
    down: [Poly; 2],
    /// \[b, a\] of q_0 … q_L, p_0, digit after digit.
    up: [Poly; 2],
}

impl Lowering {
    /// The special prime of both switches.
    fn balance(&self) -> Result<ModulusId, LowerError> {
        self.basis.p().first().copied().ok_or(LowerError::NoSpecialPrime)
    }

    /// Declares one polynomial of the key, digit after digit.
    pub(super) fn encapsulation_input(
        &mut self,
        name: &str,
        direction: Direction,
    ) -> Result<Poly, LowerError> {
        let digits = self.basis.base_limbs();
        let last = match direction {
            Direction::Down => digits,
            Direction::Up => self.basis.q().len(),
        };
        let moduli = [&self.basis.q()[..last], &[self.balance()?]].concat().repeat(digits);
        Ok(self.builder.input(name, InputClass::Key, Domain::Eval, &moduli))
    }

    /// Steps 1 to 3: a ciphertext of level 0 as one of all limbs.
    ///
    /// # Errors
    /// [`LowerError::NoSpecialPrime`]; other limbs than those of level 0.
    pub fn mod_raise(
        &mut self,
        c: [&[Operand]; 2],
        key: &EncapsulationInputs,
    ) -> Result<[Poly; 2], LowerError> {
        let base = self.basis.base_limbs();
        if let Some(other) = c.iter().find(|part| part.len() != base) {
            return Err(LowerError::Levels { left: other.len(), right: base });
        }
        let balance = self.balance()?;
        self.region("to the ephemeral secret");
        let of_base = [&self.basis.q()[..base], &[balance]].concat();
        let digits = self.digits_of_base(c[1])?;
        let lifted = self.lifts(&digits, c[1][0], &of_base);
        let [y0, y1] = self.switch_small(&lifted, &key.down)?;
        let low: [Poly; 2] = [y0.iter().zip(c[0]).map(|(&y, &x)| self.builder.add(y, x)).collect(), y1];
        self.region("raise");
        let all = self.basis.q().to_vec();
        let digits = [self.digits_of_base(&low[0])?, self.digits_of_base(&low[1])?];
        let mut raised = low[0].clone();
        for &m in &all[base..] {
            raised.push(self.of_digits(&digits[0], m));
        }
        let lifted = self.lifts(&digits[1], low[1][0], &[&all[..], &[balance]].concat());
        self.region("to the secret");
        let [mut y0, y1] = self.switch_small(&lifted, &key.up)?;
        for (y, &x) in y0.iter_mut().zip(&raised) {
            *y = self.builder.add(*y, x);
        }
        Ok([y0, y1])
    }

    /// The digits of a polynomial of level 0, coefficients, digit j modulo q_j.
    fn digits_of_base(&mut self, x: &[Operand]) -> Result<Poly, LowerError> {
        let q = self.basis.q()[..x.len()].to_vec();
        let mut digits: Poly = Vec::with_capacity(x.len());
        for (j, &limb) in x.iter().enumerate() {
            let mut rest = self.builder.intt(limb);
            for (i, &digit) in digits.iter().enumerate() {
                let lower = self.builder.lift(digit, q[j]);
                let inverse = self.basis.inverse([q[i]], q[j])?;
                rest = self.builder.sub_mul_const(rest, lower, inverse);
            }
            digits.push(rest);
        }
        Ok(digits)
    }

    /// The integer that digits stand for modulo a prime above, in the evaluation domain.
    fn of_digits(&mut self, digits: &[Operand], m: ModulusId) -> Operand {
        let mut sum = None;
        for (i, &digit) in digits.iter().enumerate().rev() {
            let lifted = self.builder.lift(digit, m);
            sum = Some(match sum {
                None => lifted,
                Some(sum) => {
                    let weight = self.basis.product([self.basis.q()[i]], m);
                    let scaled = self.builder.mul_const(sum, weight);
                    self.builder.add(scaled, lifted)
                }
            });
        }
        let sum = sum.unwrap_or_else(|| unreachable!("level 0 has a prime"));
        self.builder.ntt(sum)
    }

    /// Each digit modulo `moduli`, in the evaluation domain; `own` is the first one modulo q_0.
    fn lifts(&mut self, digits: &[Operand], own: Operand, moduli: &[ModulusId]) -> Vec<Poly> {
        let mut all = Vec::with_capacity(digits.len());
        for (j, &digit) in digits.iter().enumerate() {
            let of = self.basis.q()[j];
            let mut lifted = Vec::with_capacity(moduli.len());
            for &m in moduli {
                lifted.push(match m == of {
                    true if j == 0 => own,
                    true => self.builder.ntt(digit),
                    false => {
                        let lifted = self.builder.lift(digit, m);
                        self.builder.ntt(lifted)
                    }
                });
            }
            all.push(lifted);
        }
        all
    }

    /// Σ d_j·key_j/p_0 for digits modulo the key's primes, that of p_0 last.
    fn switch_small(&mut self, d: &[Poly], key: &[Poly; 2]) -> Result<[Poly; 2], LowerError> {
        let special = self.balance()?;
        let moduli = self.basis.q().to_vec();
        let limbs = d.first().map_or(0, Vec::len);
        let mut parts = [Vec::new(), Vec::new()];
        for (part, out) in parts.iter_mut().enumerate() {
            let product = |low: &mut Self, i: usize| {
                let digits: Poly = d.iter().map(|digit| digit[i]).collect();
                let key: Poly = (0..d.len()).map(|j| key[part][j * limbs + i]).collect();
                match (&digits[..], &key[..]) {
                    (&[digit], &[key]) => low.builder.mul(digit, key),
                    _ => low.builder.dot(&digits, &key),
                }
            };
            let t = product(self, limbs - 1);
            let t = self.builder.intt(t);
            let rest = self.residues(&[special], &[t])?;
            for (i, &m) in moduli.iter().enumerate().take(limbs - 1) {
                let t = product(self, i);
                out.push(self.divide(t, &rest, m)?);
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
