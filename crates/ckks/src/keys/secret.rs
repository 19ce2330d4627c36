//! The secret key.

use std::fmt;

use ringmill_ring::sample::{GAUSSIAN_BOUND, SecretRng, small_to_residues};
use ringmill_ring::{Domain, GaloisElement, SecretPoly};
use zeroize::Zeroizing;

use crate::error::CkksError;
use crate::limbs;
use crate::params::{Params, Secret};

/// A secret key: wiped on drop, never printed, written to a file only by the call that names it.
pub struct SecretKey {
    params: Params,
    /// Coefficients, |s_i| ≤ 42.
    small: Zeroizing<Vec<i8>>,
    /// Residues over q_0..q_L, p_0..p_{K−1} in the evaluation domain.
    residues: SecretPoly,
}

impl SecretKey {
    pub(crate) fn draw(params: &Params, rng: &mut SecretRng) -> Result<Self, CkksError> {
        let mut small = Zeroizing::new(vec![0i8; params.n()]);
        match params.secret() {
            Secret::Ternary => rng.ternary(&mut small),
            Secret::TernaryWeight { weight } => rng.ternary_of_weight(weight as usize, &mut small)?,
            Secret::Gaussian => rng.gaussian(&mut small),
        }
        Self::from_small(params, small)
    }

    /// A key with these coefficients, for instance from a file.
    ///
    /// # Errors
    /// [`CkksError::SecretShape`] if the parameters' distribution never draws them.
    pub fn from_coefficients(params: &Params, small: Zeroizing<Vec<i8>>) -> Result<Self, CkksError> {
        let wrong = |why| CkksError::SecretShape { expected: params.secret().to_string(), why };
        if small.len() != params.n() {
            return Err(wrong("it does not have N coefficients"));
        }
        let bound = if params.secret() == Secret::Gaussian { GAUSSIAN_BOUND } else { 1 };
        if small.iter().any(|c| !(-bound..=bound).contains(c)) {
            return Err(wrong("a coefficient is out of range"));
        }
        let weight = small.iter().filter(|&&c| c != 0).count();
        match params.secret() {
            Secret::TernaryWeight { weight: w } if w as usize != weight => Err(wrong("its weight differs")),
            _ if weight == 0 => Err(wrong("it is zero")),
            _ => Self::from_small(params, small),
        }
    }

    fn from_small(params: &Params, small: Zeroizing<Vec<i8>>) -> Result<Self, CkksError> {
        let mut residues = SecretPoly::zeros(params.n(), params.key_limbs(), Domain::Evaluation);
        transform(params, &small, &mut residues)?;
        Ok(Self { params: params.clone(), small, residues })
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// The coefficients: for writing to a file and for nothing else.
    pub fn expose_coefficients(&self) -> &[i8] {
        &self.small
    }

    /// s modulo prime `i` of the key basis, in the evaluation domain.
    pub(crate) fn limb(&self, i: usize) -> &[u64] {
        self.residues.expose().limb(i)
    }

    /// s(X^g) over the key basis, in the evaluation domain.
    pub(crate) fn automorphism(&self, element: GaloisElement) -> Result<SecretPoly, CkksError> {
        let n = self.small.len();
        let mut turned = Zeroizing::new(vec![0i8; n]);
        let mask = 2 * n - 1;
        for (i, &c) in self.small.iter().enumerate() {
            // X^i → X^(ig), and X^(N + j) = −X^j. Positions are public, values are not looked at.
            let to = (i * element.value() as usize) & mask;
            turned[to % n] = if to < n { c } else { -c };
        }
        let mut residues = SecretPoly::zeros(n, self.params.key_limbs(), Domain::Evaluation);
        transform(&self.params, &turned, &mut residues)?;
        Ok(residues)
    }

    /// s² over the key basis, in the evaluation domain.
    pub(crate) fn square(&self) -> Result<SecretPoly, CkksError> {
        let mut square = self.residues.clone();
        limbs::for_each(square.expose_mut(), |i, limb| {
            Ok(self.params.ring(i)?.mul_assign(limb, self.limb(i))?)
        })?;
        Ok(square)
    }
}

/// Residues of small coefficients modulo every prime of the key basis, transformed.
fn transform(params: &Params, small: &[i8], out: &mut SecretPoly) -> Result<(), CkksError> {
    limbs::for_each(out.expose_mut(), |i, limb| {
        let ring = params.ring(i)?;
        small_to_residues(small, ring.modulus(), limb)?;
        Ok(ring.forward(limb)?)
    })
}

/// The parameters, nothing of the key.
impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey(…, parameters {})", self.params.fingerprint())
    }
}
