//! The key of hybrid key switching.

use std::fmt;

use ringmill_ring::sample::{SecretRng, Seed, uniform};
use ringmill_ring::{Domain, Modulus, Poly, SecretPoly};
use zeroize::Zeroizing;

use super::public::masked_error;
use crate::check;
use crate::error::CkksError;
use crate::keys::SecretKey;
use crate::limbs;
use crate::params::Params;

/// One digit of a switching key: (b, a) over q_0..q_L, p_0..p_{K−1}, in the evaluation domain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DigitKey {
    /// b = e + P·g·s′ − a·s.
    pub b: Poly,
    /// Uniform, the expansion of the key's seed.
    pub a: Poly,
}

/// A switching key from some s′ to the secret s: one [`DigitKey`] a digit at the top level.
///
/// Serves every level: at a lower one, the limbs of missing primes are not read and the last digit is cut short.
#[derive(Clone, PartialEq)]
pub struct SwitchKey {
    params: Params,
    digits: Vec<DigitKey>,
    seed: Seed,
}

impl SwitchKey {
    /// A key from `from` (over the key basis, evaluation domain) to `secret`.
    pub(crate) fn draw(
        secret: &SecretKey,
        from: &SecretPoly,
        rng: &mut SecretRng,
        seed: Seed,
    ) -> Result<Self, CkksError> {
        let params = secret.params();
        let mut digits = Vec::with_capacity(params.dnum());
        let mut error = Zeroizing::new(vec![0i8; params.n()]);
        for (j, digit) in params.digits(params.max_level()).into_iter().enumerate() {
            rng.gaussian(&mut error);
            let a = expand(params, &seed, j);
            let mut b = Poly::zeros(params.n(), params.key_limbs(), Domain::Evaluation);
            limbs::for_each(&mut b, |i, limb| {
                masked_error(params, i, &error, a.limb(i), secret.limb(i), limb)?;
                // P·g_j is P modulo the digit's own primes, 0 modulo the other q and modulo every p.
                if digit.contains(&i) { add_product(params, i, from.expose().limb(i), limb) } else { Ok(()) }
            })?;
            digits.push(DigitKey { b, a });
        }
        Ok(Self { params: params.clone(), digits, seed })
    }

    /// From stored parts; every a is expanded again.
    ///
    /// # Errors
    /// [`CkksError::Shape`], also for a wrong number of digits.
    pub fn from_parts(params: &Params, b: Vec<Poly>, seed: Seed) -> Result<Self, CkksError> {
        if b.len() != params.dnum() {
            let why = ringmill_ring::RingError::Count {
                what: "digits of a switching key",
                expected: params.dnum(),
                got: b.len(),
            };
            return Err(why.into());
        }
        for (j, poly) in b.iter().enumerate() {
            check::shape("switching key", j, params, params.key_limbs(), poly)?;
        }
        let digit = |(j, b)| DigitKey { b, a: expand(params, &seed, j) };
        Ok(Self { params: params.clone(), digits: b.into_iter().enumerate().map(digit).collect(), seed })
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// The digits, dnum of them.
    pub fn digits(&self) -> &[DigitKey] {
        &self.digits
    }

    /// The seed that every a expands from.
    pub fn seed(&self) -> &Seed {
        &self.seed
    }

    /// Bytes of the residues in memory.
    pub fn bytes(&self) -> usize {
        self.digits.iter().map(|d| 2 * size_of_val(d.b.words())).sum()
    }
}

impl fmt::Debug for SwitchKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SwitchKey({} digits, parameters {})", self.digits.len(), self.params.fingerprint())
    }
}

/// a of digit `j`.
fn expand(params: &Params, seed: &Seed, j: usize) -> Poly {
    let mut label = *b"switching key a, digit 0000";
    let at = label.len() - 4;
    label[at..].copy_from_slice(&(j as u32).to_le_bytes());
    let mut a = Poly::zeros(params.n(), params.key_limbs(), Domain::Evaluation);
    let moduli: Vec<Modulus> = params.key_moduli().collect();
    limbs::fill(&mut a, |i, limb| uniform(seed, &label, i as u32, moduli[i], limb));
    a
}

/// out += P·from modulo ciphertext prime `i`.
fn add_product(params: &Params, i: usize, from: &[u64], out: &mut [u64]) -> Result<(), CkksError> {
    let ring = params.ring(i)?;
    let p = product_mod(params.p_moduli(), ring.modulus());
    let mut scaled = Zeroizing::new(vec![0u64; out.len()]);
    ring.mul_scalar(&mut scaled, from, p)?;
    ring.add_assign(out, &scaled)?;
    Ok(())
}

/// The product of `moduli` modulo q.
pub(crate) fn product_mod(moduli: &[Modulus], q: Modulus) -> u64 {
    moduli.iter().fold(1, |r, p| q.mul(r, q.reduce(p.value())))
}
