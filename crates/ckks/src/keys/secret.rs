//! The secret key.

use std::fmt;

use ringmill_ring::sample::{GAUSSIAN_BOUND, SecretRng, small_to_residues};
use ringmill_ring::{Domain, GaloisElement};
use zeroize::Zeroizing;

use super::KeyIdentity;
use crate::error::CkksError;
use crate::params::{Params, Secret};

/// A secret key: wiped on drop, never printed, written to a file only by the call that names it.
pub struct SecretKey {
    params: Params,
    /// Coefficients, |s_i| ≤ 42.
    small: Zeroizing<Vec<i8>>,
    identity: Option<KeyIdentity>,
}

impl SecretKey {
    pub(crate) fn draw(
        params: &Params,
        rng: &mut SecretRng,
        identity: Option<KeyIdentity>,
    ) -> Result<Self, CkksError> {
        let mut small = Zeroizing::new(vec![0i8; params.n()]);
        match params.secret() {
            Secret::Ternary => rng.ternary(&mut small),
            Secret::TernaryWeight { weight } => rng.ternary_of_weight(weight as usize, &mut small)?,
            Secret::Gaussian => rng.gaussian(&mut small),
        }
        Ok(Self { params: params.clone(), small, identity })
    }

    /// A key with these coefficients, for instance from a file.
    ///
    /// # Errors
    /// [`CkksError::SecretShape`] if the parameters' distribution never draws them.
    pub fn from_coefficients(
        params: &Params,
        small: Zeroizing<Vec<i8>>,
        identity: Option<KeyIdentity>,
    ) -> Result<Self, CkksError> {
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
            _ => Ok(Self { params: params.clone(), small, identity }),
        }
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Its identity, which is independent of it. Everything made with the key carries it. `None` if it is not
    /// known.
    pub fn identity(&self) -> Option<KeyIdentity> {
        self.identity
    }

    /// The coefficients: for writing to a file and for nothing else.
    pub fn expose_coefficients(&self) -> &[i8] {
        &self.small
    }

    /// The first `limbs` limbs of s over the key basis: for the secret input of a program that a client machine runs.
    ///
    /// # Errors
    /// [`CkksError::Ring`] if the key basis has fewer.
    pub fn residues(&self, limbs: usize, domain: Domain) -> Result<Vec<Zeroizing<Vec<u64>>>, CkksError> {
        let limb = |i| match domain {
            Domain::Evaluation => self.limb(i),
            Domain::Coefficient => {
                let mut out = Zeroizing::new(vec![0; self.small.len()]);
                small_to_residues(&self.small, self.params.ring(i)?.modulus(), &mut out)?;
                Ok(out)
            }
        };
        (0..limbs).map(limb).collect()
    }

    /// s modulo prime `i` of the key basis, in the evaluation domain. Computed each time: kept, all limbs would take
    /// as much memory as a ciphertext and more.
    pub(crate) fn limb(&self, i: usize) -> Result<Zeroizing<Vec<u64>>, CkksError> {
        transformed(&self.params, i, &self.small)
    }

    /// s(X^g), of the same identity: keys to it belong to s.
    pub(crate) fn automorphism(&self, element: GaloisElement) -> Self {
        let n = self.small.len();
        let mut turned = Zeroizing::new(vec![0i8; n]);
        let mask = 2 * n - 1;
        for (i, &c) in self.small.iter().enumerate() {
            // X^i → X^(ig), and X^(N + j) = −X^j. Positions are public, values are not looked at.
            let to = (i * element.value() as usize) & mask;
            turned[to % n] = if to < n { c } else { -c };
        }
        Self { params: self.params.clone(), small: turned, identity: self.identity }
    }
}

/// Small coefficients modulo prime `i` of the key basis, transformed.
pub(super) fn transformed(params: &Params, i: usize, small: &[i8]) -> Result<Zeroizing<Vec<u64>>, CkksError> {
    let (ring, mut out) = (params.ring(i)?, Zeroizing::new(vec![0; small.len()]));
    small_to_residues(small, ring.modulus(), &mut out)?;
    ring.forward(&mut out)?;
    Ok(out)
}

/// The parameters, nothing of the key.
impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey(…, parameters {})", self.params.fingerprint())
    }
}
