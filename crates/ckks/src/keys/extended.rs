//! The public key over one prime more: encryptions modulo Q_ℓ·p, divided by p = p_0.
//!
//! The division takes the errors v·e + e₀ + e₁·s of an encryption under the public key down to the rounding of both parts,
//! about √(N/18) in place of σ·√(4N/3). It is how SEAL and hardware engines encrypt. The message is added after the division.

use std::fmt;

use ringmill_ring::{Domain, LimbRing, Poly};
use zeroize::Zeroizing;

use super::KeyIdentity;
use super::secret::transformed;
use crate::check;
use crate::ciphertext::{Ciphertext, Meta, Plaintext};
use crate::encrypt::draw;
use crate::error::{CkksError, PolyShape};
use crate::limbs;
use crate::params::Params;
use crate::randomness::{Purpose, Randomness};

/// A public key (b, a) with b + a·s = e over q_0 … q_L and p_0, in the evaluation domain.
#[derive(Clone, PartialEq)]
pub struct ExtendedPublicKey {
    params: Params,
    parts: [Poly; 2],
    identity: Option<KeyIdentity>,
}

impl ExtendedPublicKey {
    /// From (b, a): limbs q_0 … q_L, p_0. Residues are taken as canonical.
    ///
    /// # Errors
    /// [`CkksError::Shape`].
    pub fn from_residues(
        params: &Params,
        parts: [Poly; 2],
        identity: Option<KeyIdentity>,
    ) -> Result<Self, CkksError> {
        let limbs = params.q_moduli().len() + 1;
        for (index, poly) in parts.iter().enumerate() {
            let expected = PolyShape { limbs, n: params.n(), domain: Domain::Evaluation };
            let got = PolyShape { limbs: poly.limb_count(), n: poly.n(), domain: poly.domain() };
            if got != expected {
                return Err(CkksError::Shape { what: "extended public key", index, expected, got });
            }
        }
        Ok(Self { params: params.clone(), parts, identity })
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// b, L + 2 limbs.
    pub fn b(&self) -> &Poly {
        &self.parts[0]
    }

    /// a, L + 2 limbs.
    pub fn a(&self) -> &Poly {
        &self.parts[1]
    }

    /// The secret key that it was made with, if that is known.
    pub fn identity(&self) -> Option<KeyIdentity> {
        self.identity
    }

    /// Encrypts: (⌊(v·b + e₀)/p⌉ + m, ⌊(v·a + e₁)/p⌉) with v uniform ternary, drawn as [`PublicKey`](super::PublicKey) draws.
    ///
    /// # Errors
    /// [`CkksError::ParamsMismatch`] if the plaintext belongs to another context; [`CkksError::Ring`].
    pub fn encrypt(&self, plain: &Plaintext, randomness: &mut Randomness) -> Result<Ciphertext, CkksError> {
        let params = &self.params;
        check::same_params(("plaintext", plain.params()), ("public key", params))?;
        let (mut rng, seed) = randomness.next(Purpose::PublicEncryption);
        let [v, e0, e1] = draw(params.n(), &mut rng);
        let errors = [&e0, &e1];
        let extra = params.q_moduli().len();
        let over = params.ring(extra)?;
        let mask = transformed(params, extra, &v)?;
        let mut dropped = [Zeroizing::new(Vec::new()), Zeroizing::new(Vec::new())];
        for part in 0..2 {
            dropped[part] = transformed(params, extra, errors[part])?;
            over.mac(&mut dropped[part], &mask, self.parts[part].limb(extra))?;
            over.inverse(&mut dropped[part])?;
        }
        let limb = |i: usize, mask: &[u64], part: usize, out: &mut [u64]| -> Result<(), CkksError> {
            let ring = params.ring(i)?;
            let inverse = ring.modulus().inv(ring.modulus().reduce(over.modulus().value()))?;
            let mut rest = Zeroizing::new(vec![0; params.n()]);
            ring.lift(&mut rest, &dropped[part], over.modulus())?;
            ring.forward(&mut rest)?;
            out.copy_from_slice(&transformed(params, i, errors[part])?);
            ring.mac(out, mask, self.parts[part].limb(i))?;
            ring.sub_mul_scalar_assign(out, &rest, inverse)?;
            add_message(ring, out, (part == 0).then(|| plain.poly().limb(i)))
        };
        let count = plain.level().limbs();
        let part = || Poly::unspecified_like(plain.poly(), count, Domain::Evaluation);
        let (mut c0, mut c1) = (part(), part());
        limbs::for_each_pair((&mut c0, &mut c1), |i, c0, c1| {
            let mask = transformed(params, i, &v)?;
            limb(i, &mask, 0, c0)?;
            limb(i, &mask, 1, c1)
        })?;
        let extra = over.modulus().value() as f64;
        let noise = plain.noise().encrypt_public_divided(params, plain.scale(), extra, seed.name());
        let meta = Meta { noise, ..plain.meta().clone() };
        Ciphertext::from_parts(params, vec![c0, c1], meta, self.identity)
    }
}

fn add_message(ring: &LimbRing, out: &mut [u64], message: Option<&[u64]>) -> Result<(), CkksError> {
    Ok(message.map_or(Ok(()), |m| ring.add_assign(out, m))?)
}

impl fmt::Debug for ExtendedPublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ExtendedPublicKey(parameters {})", self.params.fingerprint())
    }
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
        let key = keys.extended_public_key(&secret).unwrap();
        let short = KeyGenerator::with_randomness(&params, randomness(3)).public_key(&secret).unwrap();
        for (extended, q) in [(key.b(), short.b()), (key.a(), short.a())] {
            assert!(extended.limbs().take(4).eq(q.limbs()), "one seed, one key");
        }
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
