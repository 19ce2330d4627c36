//! Decryption.

use ringmill_ring::{Domain, Poly};
use zeroize::Zeroizing;

use crate::check;
use crate::ciphertext::{Ciphertext, Plaintext};
use crate::error::CkksError;
use crate::keys::SecretKey;

impl SecretKey {
    /// Decrypts to the message and its error: c₀ + c₁·s, or c₀ + c₁·s + c₂·s² before relinearisation.
    ///
    /// The plaintext carries the predicted error of the ciphertext.
    ///
    /// # Errors
    /// [`CkksError::ParamsMismatch`] if the ciphertext belongs to another context; [`CkksError::Ring`].
    pub fn decrypt(&self, cipher: &Ciphertext) -> Result<Plaintext, CkksError> {
        let params = self.params();
        check::same_params(("ciphertext", cipher.params()), ("secret key", params))?;
        let limbs = cipher.level().limbs();
        let mut message = Poly::zeros(params.n(), limbs, Domain::Evaluation);
        let mut sum = Zeroizing::new(vec![0u64; params.n()]);
        for i in 0..limbs {
            let (ring, s, out) = (params.ring(i)?, self.limb(i), message.limb_mut(i));
            match cipher.polys() {
                [c0, c1, c2] => {
                    // Horner in s.
                    sum.copy_from_slice(c1.limb(i));
                    ring.mac(&mut sum, c2.limb(i), s)?;
                    out.copy_from_slice(c0.limb(i));
                    ring.mac(out, &sum, s)?;
                }
                polys => {
                    out.copy_from_slice(polys[0].limb(i));
                    ring.mac(out, polys[1].limb(i), s)?;
                }
            }
        }
        Plaintext::from_parts(params, message, cipher.meta().clone())
    }
}
