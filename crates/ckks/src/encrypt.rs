//! Encryption under the secret or the public key.

use ringmill_ring::sample::{SecretRng, small_to_residues};
use ringmill_ring::{Domain, LimbRing, Poly};
use zeroize::Zeroizing;

use crate::check;
use crate::ciphertext::{Ciphertext, Meta, Plaintext, SeededCiphertext, expand_c1};
use crate::error::CkksError;
use crate::keys::{PublicKey, SecretKey, masked_error};
use crate::limbs;
use crate::randomness::{Purpose, Randomness};

impl SecretKey {
    /// Encrypts at half size: c₀ = m + e − c₁·s, with c₁ the expansion of a fresh seed.
    ///
    /// # Errors
    /// [`CkksError::ParamsMismatch`] if the plaintext belongs to another context; [`CkksError::Ring`].
    pub fn encrypt_seeded(
        &self,
        plain: &Plaintext,
        randomness: &mut Randomness,
    ) -> Result<SeededCiphertext, CkksError> {
        let params = self.params();
        check::same_params(("plaintext", plain.params()), ("secret key", params))?;
        let (mut rng, seed) = randomness.next(Purpose::SecretEncryption);
        let c1 = expand_c1(params, &seed, plain.level());
        let mut error = Zeroizing::new(vec![0i8; params.n()]);
        rng.gaussian(&mut error);
        let mut c0 = Poly::unspecified_like(plain.poly(), plain.level().limbs(), Domain::Evaluation);
        limbs::for_each(&mut c0, |i, out| {
            masked_error(params, i, &error, c1.limb(i), &self.limb(i)?, out)?;
            Ok(params.ring(i)?.add_assign(out, plain.poly().limb(i))?)
        })?;
        let noise = plain.noise().encrypt_secret(params, plain.scale(), seed.name());
        let meta = Meta { noise, ..plain.meta().clone() };
        SeededCiphertext::from_parts(params, c0, seed, meta, self.identity())
    }

    /// Encrypts: [`SecretKey::encrypt_seeded`] written out.
    ///
    /// # Errors
    /// As [`SecretKey::encrypt_seeded`].
    pub fn encrypt(&self, plain: &Plaintext, randomness: &mut Randomness) -> Result<Ciphertext, CkksError> {
        Ok(self.encrypt_seeded(plain, randomness)?.expand())
    }
}

impl PublicKey {
    /// Encrypts: (v·b + e₀ + m, v·a + e₁) with v uniform ternary.
    ///
    /// # Errors
    /// [`CkksError::ParamsMismatch`] if the plaintext belongs to another context; [`CkksError::Ring`].
    pub fn encrypt(&self, plain: &Plaintext, randomness: &mut Randomness) -> Result<Ciphertext, CkksError> {
        let params = self.params();
        check::same_params(("plaintext", plain.params()), ("public key", params))?;
        let (mut rng, seed) = randomness.next(Purpose::PublicEncryption);
        let [v, e0, e1] = draw(params.n(), &mut rng);
        let limbs = plain.level().limbs();
        // From the pool of the plaintext, as dropped ciphertexts return to it: fresh pages would take as long as the arithmetic.
        let part = || Poly::unspecified_like(plain.poly(), limbs, Domain::Evaluation);
        let (mut c0, mut c1) = (part(), part());
        limbs::for_each_pair((&mut c0, &mut c1), |i, c0, c1| {
            let ring = params.ring(i)?;
            let mut mask = plain.poly().scratch(params.n()).wiped();
            small(ring, &v, &mut mask)?;
            small(ring, &e0, c0)?;
            ring.add_assign(c0, plain.poly().limb(i))?;
            ring.mac(c0, &mask, self.b().limb(i))?;
            small(ring, &e1, c1)?;
            Ok(ring.mac(c1, &mask, self.a().limb(i))?)
        })?;
        let noise = plain.noise().encrypt_public(params, plain.scale(), seed.name());
        let meta = Meta { noise, ..plain.meta().clone() };
        Ciphertext::from_parts(params, vec![c0, c1], meta, self.identity())
    }
}

/// v uniform ternary, e₀ and e₁ Gaussian.
pub(crate) fn draw(n: usize, rng: &mut SecretRng) -> [Zeroizing<Vec<i8>>; 3] {
    let mut all = [(); 3].map(|()| Zeroizing::new(vec![0i8; n]));
    rng.ternary(&mut all[0]);
    rng.gaussian(&mut all[1]);
    rng.gaussian(&mut all[2]);
    all
}

/// Residues of small coefficients in the evaluation domain.
fn small(ring: &LimbRing, coefficients: &[i8], out: &mut [u64]) -> Result<(), CkksError> {
    small_to_residues(coefficients, ring.modulus(), out)?;
    ring.forward(out)?;
    Ok(())
}
