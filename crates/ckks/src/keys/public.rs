//! The public key: an encryption of zero, over one prime more than ciphertexts have.
//!
//! An encryption is made modulo Q_ℓ·p, where p = p_0 is the first special prime, and divided by p. The division takes the errors
//! v·e + e₀ + e₁·s down to the rounding of both parts, about √(N/18) in place of σ·√(4N/3). It is how SEAL encrypts.

use std::fmt;

use ringmill_ring::sample::{SecretRng, Seed, uniform};
use ringmill_ring::{Domain, Poly};
use zeroize::Zeroizing;

use crate::check;
use crate::error::CkksError;
use crate::keys::switch::named_by;
use crate::keys::{KeyIdentity, SecretKey};
use crate::limbs::{fill, for_each};
use crate::params::Params;
use crate::randomness::PUBLIC_KEY_LABEL;

/// A public key (b, a) with b + a·s = e over q_0 … q_L and p_0, in the evaluation domain; a expands from a seed. Files from before
/// version 6, and some libraries, have keys without p_0, whose encryptions are not divided.
#[derive(Clone, PartialEq)]
pub struct PublicKey {
    params: Params,
    b: Poly,
    a: Poly,
    /// What a expands from, or a name for an a that expands from none.
    seed: Seed,
    seeded: bool,
    identity: Option<KeyIdentity>,
}

impl PublicKey {
    pub(crate) fn draw(secret: &SecretKey, rng: &mut SecretRng, seed: Seed) -> Result<Self, CkksError> {
        let params = secret.params();
        let [b, a] = Self::over_key_primes(secret, rng, seed, params.q_moduli().len() + 1)?;
        Ok(Self { params: params.clone(), b, a, seed, seeded: true, identity: secret.identity() })
    }

    /// (b, a) with b + a·s = e over the first `limbs` primes of the key basis, special ones too: a public key as other libraries
    /// have it.
    pub(crate) fn over_key_primes(
        secret: &SecretKey,
        rng: &mut SecretRng,
        seed: Seed,
        limbs: usize,
    ) -> Result<[Poly; 2], CkksError> {
        let (params, n) = (secret.params(), secret.params().n());
        let a = expand(params, &seed, limbs);
        let mut b = Poly::zeros(n, limbs, Domain::Evaluation);
        let mut error = Zeroizing::new(vec![0i8; n]);
        rng.gaussian(&mut error);
        for_each(&mut b, |i, limb| masked_error(params, i, &error, a.limb(i), &secret.limb(i)?, limb))?;
        Ok([b, a])
    }

    /// From stored parts, with p_0 or without; a is expanded again.
    ///
    /// # Errors
    /// [`CkksError::Shape`].
    pub fn from_parts(
        params: &Params,
        b: Poly,
        seed: Seed,
        identity: Option<KeyIdentity>,
    ) -> Result<Self, CkksError> {
        check::shape("public key", 0, params, limbs(params, &b), &b)?;
        let a = expand(params, &seed, b.limb_count());
        Ok(Self { params: params.clone(), b, a, seed, seeded: true, identity })
    }

    /// From both parts, with p_0 or without, as a key of another library has them. Residues are taken as canonical.
    ///
    /// # Errors
    /// [`CkksError::Shape`].
    pub fn from_residues(
        params: &Params,
        b: Poly,
        a: Poly,
        identity: Option<KeyIdentity>,
    ) -> Result<Self, CkksError> {
        for (i, poly) in [&b, &a].into_iter().enumerate() {
            check::shape("public key", i, params, limbs(params, &b), poly)?;
        }
        let seed = named_by(std::slice::from_ref(&a));
        Ok(Self { params: params.clone(), b, a, seed, seeded: false, identity })
    }

    /// Whether it has p_0: then encryptions are made modulo one prime more and divided by it, and have less error.
    pub fn divides(&self) -> bool {
        self.b.limb_count() > self.params.q_moduli().len()
    }

    /// The same key without p_0, as files had it before version 6.
    #[must_use]
    pub fn undivided(&self) -> Self {
        let mut key = self.clone();
        let limbs = self.params.q_moduli().len();
        key.b.truncate(limbs);
        key.a.truncate(limbs);
        key
    }

    /// Whether a expands from a seed: not in a key of another library.
    pub fn has_seed(&self) -> bool {
        self.seeded
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// b: L + 1 limbs, and that of p_0 where it [divides](Self::divides).
    pub fn b(&self) -> &Poly {
        &self.b
    }

    /// a, as many.
    pub fn a(&self) -> &Poly {
        &self.a
    }

    /// The seed that a expands from; of a key that [has none](Self::has_seed), its name.
    pub fn seed(&self) -> &Seed {
        &self.seed
    }

    /// The secret key that it was made with, if that is known.
    pub fn identity(&self) -> Option<KeyIdentity> {
        self.identity
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey(parameters {})", self.params.fingerprint())
    }
}

/// The limbs that a key is to have: one more than a ciphertext, or as many where it has no more.
fn limbs(params: &Params, b: &Poly) -> usize {
    let limbs = params.q_moduli().len();
    if b.limb_count() == limbs { limbs } else { limbs + 1 }
}

/// a over the first `limbs` primes of the key basis.
fn expand(params: &Params, seed: &Seed, limbs: usize) -> Poly {
    let mut a = Poly::zeros(params.n(), limbs, Domain::Evaluation);
    let moduli: Vec<_> = params.key_moduli().take(limbs).collect();
    fill(&mut a, |i, limb| uniform(seed, PUBLIC_KEY_LABEL, i as u32, moduli[i], limb));
    a
}

/// out = e − a·s modulo prime `i` of the key basis, in the evaluation domain.
pub(crate) fn masked_error(
    params: &Params,
    i: usize,
    error: &[i8],
    a: &[u64],
    s: &[u64],
    out: &mut [u64],
) -> Result<(), CkksError> {
    let ring = params.ring(i)?;
    ringmill_ring::sample::small_to_residues(error, ring.modulus(), out)?;
    ring.forward(out)?;
    // e − a·s = −(a·s − e), with one multiply-accumulate and no buffer.
    ring.neg_assign(out)?;
    ring.mac(out, a, s)?;
    ring.neg_assign(out)?;
    Ok(())
}
