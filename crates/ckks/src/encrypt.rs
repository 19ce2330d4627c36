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
        let mut c0 = Poly::unspecified_like(plain.poly(), plain.poly().limb_count(), Domain::Evaluation);
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
    /// Encrypts: (⌊(v·b + e₀)/p⌉ + m, ⌊(v·a + e₁)/p⌉) with v uniform ternary and p = p_0; by a key that does not
    /// [divide](Self::divides), (v·b + e₀ + m, v·a + e₁).
    ///
    /// # Errors
    /// [`CkksError::ParamsMismatch`] if the plaintext belongs to another context; [`CkksError::Ring`].
    pub fn encrypt(&self, plain: &Plaintext, randomness: &mut Randomness) -> Result<Ciphertext, CkksError> {
        let params = self.params();
        check::same_params(("plaintext", plain.params()), ("public key", params))?;
        let (mut rng, seed) = randomness.next(Purpose::PublicEncryption);
        let drawn = draw(params.n(), &mut rng);
        let limbs = plain.poly().limb_count();
        // From the pool of the plaintext, as dropped ciphertexts return to it: fresh pages would take as long as the arithmetic.
        let part = || Poly::unspecified_like(plain.poly(), limbs, Domain::Evaluation);
        let parts = (part(), part());
        let scale = plain.scale();
        let ((c0, c1), noise) = if self.divides() {
            let noise = plain.noise().encrypt_public_divided(params, scale, seed.name());
            (self.divided(plain, params.q_moduli().len(), &drawn, parts)?, noise)
        } else {
            (self.whole(plain, &drawn, parts)?, plain.noise().encrypt_public(params, scale, seed.name()))
        };
        let meta = Meta { noise, ..plain.meta().clone() };
        Ciphertext::from_parts(params, vec![c0, c1], meta, self.identity())
    }

    /// Encrypts with v, e₀ and e₁ that another library's generator gave, dividing as SEAL does: by the prime that follows
    /// those of the plaintext, which is p_0 for one of all ciphertext primes. Errors of encryptions with different
    /// names count as independent. Samples serve one encryption alone.
    ///
    /// # Errors
    /// As [`PublicKey::encrypt`]; [`CkksError::Undivided`].
    pub fn encrypt_drawn(
        &self,
        plain: &Plaintext,
        drawn: &[Zeroizing<Vec<i8>>; 3],
        name: u64,
    ) -> Result<Ciphertext, CkksError> {
        let params = self.params();
        check::same_params(("plaintext", plain.params()), ("public key", params))?;
        if !self.divides() {
            return Err(CkksError::Undivided);
        }
        let limbs = plain.poly().limb_count();
        let part = || Poly::unspecified_like(plain.poly(), limbs, Domain::Evaluation);
        let (c0, c1) = self.divided(plain, limbs, drawn, (part(), part()))?;
        // Beside the rounding, errors divided by p are at most 20/p, so the prediction for p_0 holds for every prime.
        let noise = plain.noise().encrypt_public_divided(params, plain.scale(), name);
        let meta = Meta { noise, ..plain.meta().clone() };
        Ciphertext::from_parts(params, vec![c0, c1], meta, self.identity())
    }

    /// (v·b + e₀ + m, v·a + e₁).
    fn whole(&self, plain: &Plaintext, [v, e0, e1]: &Drawn, parts: Parts) -> Result<Parts, CkksError> {
        let params = self.params();
        let (mut c0, mut c1) = parts;
        limbs::for_each_pair((&mut c0, &mut c1), |i, c0, c1| {
            let ring = params.ring(i)?;
            let mut mask = plain.poly().scratch(params.n()).wiped();
            small(ring, v, &mut mask)?;
            small(ring, e0, c0)?;
            ring.add_assign(c0, plain.poly().limb(i))?;
            ring.mac(c0, &mask, self.b().limb(i))?;
            small(ring, e1, c1)?;
            Ok(ring.mac(c1, &mask, self.a().limb(i))?)
        })?;
        Ok((c0, c1))
    }

    /// (⌊(v·b + e₀)/p⌉ + m, ⌊(v·a + e₁)/p⌉), p the prime of limb `extra` of the key. Errors join the residues modulo p in coefficients, so
    /// that a limb takes three transforms as without the division.
    fn divided(
        &self,
        plain: &Plaintext,
        extra: usize,
        [v, e0, e1]: &Drawn,
        parts: Parts,
    ) -> Result<Parts, CkksError> {
        let params = self.params();
        let over = params.ring(extra)?;
        let scratch = || plain.poly().scratch(params.n()).wiped();
        let (p, keys, errors) = (over.modulus(), [self.b(), self.a()], [e0, e1]);
        // v·k + e modulo p, in coefficients.
        let mut mask = scratch();
        small(over, v, &mut mask)?;
        let mut dropped = [scratch(), scratch()];
        for (part, dropped) in dropped.iter_mut().enumerate() {
            over.mul(dropped, &mask, keys[part].limb(extra))?;
            over.inverse(dropped)?;
            let mut error = scratch();
            small_to_residues(errors[part], p, &mut error)?;
            over.add_assign(dropped, &error)?;
        }
        let limb = |ring: &LimbRing, i: usize, mask: &[u64], part: usize, out: &mut [u64]| {
            // ((v·k + e) − [v·k + e]_p)/p
            let mut rest = scratch();
            ring.lift(&mut rest, &dropped[part], p)?;
            small_to_residues(errors[part], ring.modulus(), out)?;
            ring.sub_assign(&mut rest, out)?;
            ring.forward(&mut rest)?;
            ring.mul(out, mask, keys[part].limb(i))?;
            let inverse = ring.modulus().inv(ring.modulus().reduce(p.value()))?;
            ring.sub_mul_scalar_assign(out, &rest, inverse)
        };
        let (mut c0, mut c1) = parts;
        limbs::for_each_pair((&mut c0, &mut c1), |i, c0, c1| {
            let ring = params.ring(i)?;
            let mut mask = scratch();
            small(ring, v, &mut mask)?;
            limb(ring, i, &mask, 0, c0)?;
            ring.add_assign(c0, plain.poly().limb(i))?;
            Ok(limb(ring, i, &mask, 1, c1)?)
        })?;
        Ok((c0, c1))
    }
}

type Parts = (Poly, Poly);
type Drawn = [Zeroizing<Vec<i8>>; 3];

/// v uniform ternary, e₀ and e₁ Gaussian.
pub(crate) fn draw(n: usize, rng: &mut SecretRng) -> Drawn {
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

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;

    use crate::keys::KeyGenerator;
    use crate::params::Level;
    use crate::testing::{coefficients, message, plaintext, randomness, rms, toy};

    /// The error of an encryption, against the prediction from both sides, and against that of the plain public key.
    #[test]
    fn the_division_leaves_the_rounding_alone() {
        let params = toy();
        let mut keys = KeyGenerator::with_randomness(&params, randomness(3));
        let secret = keys.secret_key().unwrap();
        let key = keys.public_key(&secret).unwrap();
        let short = key.undivided();
        assert!(key.divides() && !short.divides());
        for level in 0..=params.max_level().get() {
            let level = Level::new(level);
            let m = message(params.n(), 25, 7);
            let plain = plaintext(&params, &m, level, params.default_scale());
            let mut draws = randomness(9);
            let cipher = key.encrypt(&plain, &mut draws).unwrap();
            let found = secret.decrypt(&cipher).unwrap();
            let found = coefficients(found.poly(), params.q_at(level));
            let error: Vec<BigInt> = found.iter().zip(&m).map(|(a, b)| a - b).collect();
            let predicted = cipher.meta().noise.std() * cipher.meta().scale.to_f64();
            let ratio = rms(&error) / predicted;
            assert!((0.85..1.15).contains(&ratio), "{level}: {} for {predicted}", rms(&error));
            let plainly = short.encrypt(&plain, &mut draws).unwrap();
            assert!(plainly.meta().noise.std() > 5.0 * cipher.meta().noise.std());
        }
    }
}
