//! Whose a key is, by proof, where its identity is a hint: with one secret key alone its residues give an error.

use ringmill_ring::sample::GAUSSIAN_BOUND;

use super::{EvaluationKeys, KeyIdentity, PublicKey, SecretKey, SwitchKey};
use crate::check;
use crate::error::CkksError;

impl SecretKey {
    /// Whether the public key was made with this one.
    ///
    /// # Errors
    /// [`CkksError::ParamsMismatch`].
    pub fn made_public(&self, key: &PublicKey) -> Result<bool, CkksError> {
        check::same_params(("secret key", self.params()), ("public key", key.params()))?;
        Ok(self.may_own(key.identity()) && self.leaves_error(0, key.b().limb(0), key.a().limb(0))?)
    }

    /// Whether the evaluation keys were made with this one, by the relinearisation key or else the first Galois key: what
    /// holds none of them was made with any.
    ///
    /// # Errors
    /// [`CkksError::ParamsMismatch`].
    pub fn made(&self, keys: &EvaluationKeys) -> Result<bool, CkksError> {
        check::same_params(("secret key", self.params()), ("evaluation keys", keys.params()))?;
        if !self.may_own(keys.identity()) {
            return Ok(false);
        }
        match keys.switch_keys().next() {
            None => Ok(true),
            Some((None, relin)) => self.made_switch(relin),
            // It leads to s(X^(1/g)).
            Some((Some(g), key)) => self.automorphism(g.inverse()).made_switch(key),
        }
    }

    /// Whether an identity is that of this key, as far as both are known.
    fn may_own(&self, identity: Option<KeyIdentity>) -> bool {
        self.identity().zip(identity).is_none_or(|(mine, theirs)| mine == theirs)
    }

    /// b + a·s is the error alone modulo a special prime, which P·g_j·s′ is a multiple of.
    fn made_switch(&self, key: &SwitchKey) -> Result<bool, CkksError> {
        let (n, prime) = (self.params().n(), self.params().q_moduli().len());
        let part = |part| key.base().limb(0, part, prime).to_words(n);
        self.leaves_error(prime, &part(0), &part(1))
    }

    /// Whether b + a·s is as small as errors are, modulo prime `i` of the key basis. With another secret it is uniform: so it
    /// would be small by a chance of less than (85/q)^N.
    fn leaves_error(&self, i: usize, b: &[u64], a: &[u64]) -> Result<bool, CkksError> {
        let ring = self.params().ring(i)?;
        let mut e = zeroize::Zeroizing::new(b.to_vec());
        ring.mac(&mut e, a, &self.limb(i)?)?;
        ring.inverse(&mut e)?;
        let bound = i64::from(GAUSSIAN_BOUND);
        Ok(e.iter().all(|&c| (-bound..=bound).contains(&ring.modulus().centred(c))))
    }
}
