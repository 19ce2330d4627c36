//! The key of hybrid key switching.

use std::fmt;

use ringmill_ring::sample::{SecretRng, Seed, uniform};
use ringmill_ring::{Buffer, Modulus, Poly};
use zeroize::Zeroizing;

use super::public::masked_error;
use crate::check;
use crate::error::CkksError;
use crate::keys::secret::{SecretKey, transformed};
use crate::limbs;
use crate::params::Params;

/// What a switching key leads from.
pub(crate) enum Origin {
    /// s².
    Square,
    /// The secret with these coefficients.
    Secret(Zeroizing<Vec<i8>>),
}

impl Origin {
    /// s′ modulo prime `i` of the key basis, from s modulo that prime.
    fn limb(&self, params: &Params, i: usize, s: &[u64]) -> Result<Zeroizing<Vec<u64>>, CkksError> {
        match self {
            Self::Square => {
                let mut square = Zeroizing::new(vec![0; s.len()]);
                params.ring(i)?.mul(&mut square, s, s)?;
                Ok(square)
            }
            Self::Secret(small) => transformed(params, i, small),
        }
    }
}

/// A switching key from some s′ to the secret s: for each digit j of the top level (b_j, a_j) over q_0..q_L,
/// p_0..p_{K−1} in the evaluation domain, with b_j = e_j + P·g_j·s′ − a_j·s and a_j uniform, the expansion of a seed.
///
/// Serves every level: at a lower one, the limbs of missing primes are not read and the last digit is cut short.
/// All limbs stand in one buffer in the order in which a key switch reads them: by prime, then digit, then b before a.
#[derive(Clone)]
pub struct SwitchKey {
    params: Params,
    /// Limbs are [`stride`] words apart; between them are zeros.
    words: Buffer,
    seed: Seed,
}

impl PartialEq for SwitchKey {
    fn eq(&self, other: &Self) -> bool {
        self.params == other.params && self.seed == other.seed && self.words[..] == other.words[..]
    }
}

impl SwitchKey {
    /// A key from `origin` to `secret`.
    pub(crate) fn draw(
        secret: &SecretKey,
        origin: &Origin,
        rng: &mut SecretRng,
        seed: Seed,
    ) -> Result<Self, CkksError> {
        let params = secret.params();
        let (n, stride) = (params.n(), stride(params));
        let mut errors = Zeroizing::new(vec![0i8; n * params.dnum()]);
        errors.chunks_exact_mut(n).for_each(|error| rng.gaussian(error));
        let (digits, moduli) = (params.digits(params.max_level()), moduli(params));
        let mut words = zeros(params);
        limbs::for_each_chunk(&mut words, 2 * params.dnum() * stride, |i, limbs| {
            let s = secret.limb(i)?;
            let from = origin.limb(params, i, &s)?;
            for (j, (pair, error)) in
                limbs.chunks_exact_mut(2 * stride).zip(errors.chunks_exact(n)).enumerate()
            {
                let (b, a) = pair.split_at_mut(stride);
                let (b, a) = (&mut b[..n], &mut a[..n]);
                uniform(&seed, &label(j), i as u32, moduli[i], a);
                masked_error(params, i, error, a, &s, b)?;
                // P·g_j is P modulo the digit's own primes, 0 modulo the other q and modulo every p.
                if digits[j].contains(&i) {
                    add_product(params, i, &from, b)?;
                }
            }
            Ok(())
        })?;
        Ok(Self { params: params.clone(), words, seed })
    }

    /// From stored parts; every a is expanded again.
    ///
    /// # Errors
    /// [`CkksError::Shape`], also for a wrong number of digits.
    pub fn from_parts(params: &Params, b: &[Poly], seed: Seed) -> Result<Self, CkksError> {
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
        let (n, stride, moduli) = (params.n(), stride(params), moduli(params));
        let mut words = zeros(params);
        limbs::for_each_chunk(&mut words, 2 * params.dnum() * stride, |i, limbs| {
            for (j, (pair, poly)) in limbs.chunks_exact_mut(2 * stride).zip(b).enumerate() {
                let (b, a) = pair.split_at_mut(stride);
                b[..n].copy_from_slice(poly.limb(i));
                uniform(&seed, &label(j), i as u32, moduli[i], &mut a[..n]);
            }
            Ok(())
        })?;
        Ok(Self { params: params.clone(), words, seed })
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// b of a digit modulo prime `i` of the key basis.
    ///
    /// # Panics
    /// If there is no such digit or prime, like every index.
    pub fn b(&self, digit: usize, i: usize) -> &[u64] {
        self.limb(digit, i, 0)
    }

    /// a of a digit modulo prime `i` of the key basis.
    ///
    /// # Panics
    /// As [`Self::b`].
    pub fn a(&self, digit: usize, i: usize) -> &[u64] {
        self.limb(digit, i, 1)
    }

    fn limb(&self, digit: usize, i: usize, part: usize) -> &[u64] {
        let digits = self.params.dnum();
        assert!(digit < digits, "digit {digit} of {digits}");
        let first = (2 * (i * digits + digit) + part) * stride(&self.params);
        &self.words[first..first + self.params.n()]
    }

    /// The seed that every a expands from.
    pub fn seed(&self) -> &Seed {
        &self.seed
    }

    /// Bytes of the residues in memory.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.words[..])
    }
}

impl fmt::Debug for SwitchKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SwitchKey({} digits, parameters {})", self.params.dnum(), self.params.fingerprint())
    }
}

fn moduli(params: &Params) -> Vec<Modulus> {
    params.key_moduli().collect()
}

/// N and a little: a key switch reads the same words of many limbs at a time, which must not fall into one set of a cache.
fn stride(params: &Params) -> usize {
    params.n() + 17 * 8
}

fn zeros(params: &Params) -> Buffer {
    Buffer::zeros(2 * params.dnum() * params.key_limbs() * stride(params))
}

/// The label under which a of digit `j` expands.
fn label(j: usize) -> [u8; 27] {
    let mut label = *b"switching key a, digit 0000";
    let at = label.len() - 4;
    label[at..].copy_from_slice(&(j as u32).to_le_bytes());
    label
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
