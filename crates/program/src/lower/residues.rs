//! A polynomial known modulo some primes, taken modulo another one, and division by the product of the former.
//!
//! Both halves of a key switch and rescaling are these two steps: with S the product of the sources,
//!
//! - *modulo*: \[x\]_S centred in about (−S/2, S/2\], then mod m;
//! - *divide*: (x − \[x\]_S)·S^−1 mod m, which is x/S rounded to the nearest integer.
//!
//! For one source `lift` is exact. For a sources, `quotient` drops less than 2^−13 of each y_i/s_i and its
//! constants less than 2^−14. So it can pick the other representative when |\[x\]_S| lies within a·2^−12·S of
//! S/2. The rounding is then off by one, which changes the rounding error of that coefficient from at most
//! 1/2 to at most 1/2 + a·2^−25.

use super::{LowerError, Lowering};
use crate::limb::{ModulusId, OpSpec, Operand};

/// A polynomial in the coefficient domain modulo one or more primes, ready to be taken modulo others.
#[derive(Debug, Clone)]
pub struct Residues {
    moduli: Vec<ModulusId>,
    /// One source: its residues. Several: \[x_i·(S/s_i)^−1\] mod s_i.
    limbs: Vec<Operand>,
    /// The rounded quotient, for several sources; none if conversions do not centre.
    quotient: Option<Operand>,
    /// Whether a single source is centred.
    lifted: bool,
}

/// Whether residues stand for the nearest integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Centring {
    /// Those of a single prime.
    pub(super) one: bool,
    /// Those of several.
    pub(super) several: bool,
}

impl Centring {
    /// No: integers in \[0, a·S).
    pub(super) const NONE: Self = Self { one: false, several: false };
}

impl Lowering {
    /// Prepares coefficient limbs, one of each modulus, for [`Self::modulo`].
    ///
    /// # Errors
    /// More sources than a base conversion takes, or a modulus twice.
    pub fn residues(
        &mut self,
        moduli: &[ModulusId],
        coefficients: &[Operand],
    ) -> Result<Residues, LowerError> {
        self.residues_by(moduli, coefficients, self.centring())
    }

    /// What the engine's own conversions centre.
    pub(super) fn centring(&self) -> Centring {
        Centring { one: true, several: self.centred }
    }

    /// The same with a choice of what is centred.
    pub(super) fn residues_by(
        &mut self,
        moduli: &[ModulusId],
        coefficients: &[Operand],
        centring: Centring,
    ) -> Result<Residues, LowerError> {
        let lifted = centring.one;
        if moduli.len() > OpSpec::MAX_SOURCES {
            return Err(LowerError::TooManySources { found: moduli.len(), max: OpSpec::MAX_SOURCES });
        }
        let moduli = moduli.to_vec();
        if let [_] = moduli[..] {
            return Ok(Residues { moduli, limbs: coefficients.to_vec(), quotient: None, lifted });
        }
        let mut limbs = Vec::with_capacity(moduli.len());
        for (&m, &x) in moduli.iter().zip(coefficients) {
            let others = moduli.iter().copied().filter(|&other| other != m);
            let factor = self.basis.inverse(others, m)?;
            limbs.push(self.builder.mul_const(x, factor));
        }
        let quotient = centring.several.then(|| self.builder.quotient(&limbs));
        Ok(Residues { moduli, limbs, quotient, lifted })
    }

    /// The centred integer modulo `to`, in the evaluation domain. Without centring: an integer in \[0, a·S).
    pub fn modulo(&mut self, x: &Residues, to: ModulusId) -> Operand {
        let coefficients = self.coefficients_modulo(x, to);
        self.builder.ntt(coefficients)
    }

    /// As [`Self::modulo`], in the coefficient domain.
    pub(super) fn coefficients_modulo(&mut self, x: &Residues, to: ModulusId) -> Operand {
        match (x.quotient, &x.limbs[..]) {
            (Some(quotient), limbs) => self.builder.convert(limbs, quotient, to),
            (None, &[limb]) if x.lifted => self.builder.lift(limb, to),
            (None, limbs) => self.builder.convert_fast(limbs, to),
        }
    }

    /// One limb of x/S rounded: `limb` is x mod `m`, `x` is x mod S, and the transform of x mod S is subtracted in the
    /// evaluation domain.
    ///
    /// # Errors
    /// `m` divides S.
    pub fn divide(&mut self, limb: Operand, x: &Residues, m: ModulusId) -> Result<Operand, LowerError> {
        let inverse = self.basis.inverse(x.moduli.iter().copied(), m)?;
        let remainder = self.modulo(x, m);
        Ok(self.builder.sub_mul_const(limb, remainder, inverse))
    }
}
