//! Decryption.

use ringmill_ring::{Domain, Poly};

use crate::check;
use crate::ciphertext::{Ciphertext, Plaintext};
use crate::error::CkksError;
use crate::keys::SecretKey;
use crate::limbs;

impl SecretKey {
    /// Decrypts to the message and its error: c₀ + c₁·s, or c₀ + c₁·s + c₂·s² before relinearisation.
    ///
    /// The plaintext carries the predicted error of the ciphertext. It takes memory that rests in the pool of the
    /// ciphertext, more than it needs at times, and wipes it when dropped: decode it, and let it go.
    ///
    /// # Errors
    /// [`CkksError::ParamsMismatch`] if the ciphertext belongs to another context; [`CkksError::OtherSecret`] if it is under
    /// another secret key, as far as both identities are known; [`CkksError::Ring`].
    pub fn decrypt(&self, cipher: &Ciphertext) -> Result<Plaintext, CkksError> {
        let params = self.params();
        check::same_params(("ciphertext", cipher.params()), ("secret key", params))?;
        if let (Some(expected), Some(found)) = (cipher.identity(), self.identity())
            && expected != found
        {
            return Err(CkksError::OtherSecret { expected, found });
        }
        let [first, ..] = cipher.polys() else { return Err(CkksError::PolyCount { got: 0 }) };
        // With the error it depends on the key.
        let mut message = Poly::unspecified_beside(first, first.limb_count(), Domain::Evaluation).wiped();
        limbs::for_each(&mut message, |i, out| {
            let (ring, s) = (params.ring(i)?, self.limb(i)?);
            // Horner in s.
            let (last, rest) = cipher.polys().split_last().ok_or(CkksError::PolyCount { got: 0 })?;
            out.copy_from_slice(last.limb(i));
            for c in rest.iter().rev() {
                ring.mul_assign(out, &s)?;
                ring.add_assign(out, c.limb(i))?;
            }
            Ok(())
        })?;
        Plaintext::from_parts(params, message, cipher.meta().clone())
    }
}
