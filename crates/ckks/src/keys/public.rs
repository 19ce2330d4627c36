//! The public key: an encryption of zero.

use std::fmt;

use ringmill_ring::sample::{SecretRng, Seed, uniform};
use ringmill_ring::{Domain, Poly};
use zeroize::Zeroizing;

use crate::check;
use crate::error::CkksError;
use crate::keys::switch::named_by;
use crate::keys::{KeyIdentity, SecretKey};
use crate::limbs;
use crate::params::Params;
use crate::randomness::PUBLIC_KEY_LABEL;

/// A public key (b, a) over the ciphertext primes with b + a·s = e, in the evaluation domain; a expands from a seed.
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
        let a = expand(params, &seed);
        let mut b = Poly::zeros(params.n(), a.limb_count(), Domain::Evaluation);
        let mut error = Zeroizing::new(vec![0i8; params.n()]);
        rng.gaussian(&mut error);
        limbs::for_each(&mut b, |i, limb| {
            masked_error(params, i, &error, a.limb(i), &secret.limb(i)?, limb)
        })?;
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
        let moduli: Vec<_> = params.key_moduli().take(limbs).collect();
        let part = || Poly::zeros(n, moduli.len(), Domain::Evaluation);
        let (mut b, mut a) = (part(), part());
        let mut error = Zeroizing::new(vec![0i8; n]);
        rng.gaussian(&mut error);
        limbs::fill(&mut a, |i, limb| uniform(&seed, PUBLIC_KEY_LABEL, i as u32, moduli[i], limb));
        limbs::for_each(&mut b, |i, limb| {
            masked_error(params, i, &error, a.limb(i), &secret.limb(i)?, limb)
        })?;
        Ok([b, a])
    }

    /// From stored parts; a is expanded again.
    ///
    /// # Errors
    /// [`CkksError::Shape`].
    pub fn from_parts(
        params: &Params,
        b: Poly,
        seed: Seed,
        identity: Option<KeyIdentity>,
    ) -> Result<Self, CkksError> {
        check::shape("public key", 0, params, params.q_moduli().len(), &b)?;
        let a = expand(params, &seed);
        Ok(Self { params: params.clone(), b, a, seed, seeded: true, identity })
    }

    /// From both parts, as a key of another library has them. Residues are taken as canonical.
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
            check::shape("public key", i, params, params.q_moduli().len(), poly)?;
        }
        let seed = named_by(std::slice::from_ref(&a));
        Ok(Self { params: params.clone(), b, a, seed, seeded: false, identity })
    }

    /// Whether a expands from a seed: not in a key of another library.
    pub fn has_seed(&self) -> bool {
        self.seeded
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// b, L + 1 limbs.
    pub fn b(&self) -> &Poly {
        &self.b
    }

    /// a, L + 1 limbs.
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

fn expand(params: &Params, seed: &Seed) -> Poly {
    let mut a = Poly::zeros(params.n(), params.q_moduli().len(), Domain::Evaluation);
    let q = params.q_moduli();
    limbs::fill(&mut a, |i, limb| uniform(seed, PUBLIC_KEY_LABEL, i as u32, q[i], limb));
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
