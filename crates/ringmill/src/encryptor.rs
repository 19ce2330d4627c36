//! Encryption and decryption on the simulated encryption engine of a client: the ciphertexts of `ringmill_ckks` for the same
//! randomness, and cycles.

use std::path::Path;

use ringmill_ckks::randomness::Purpose;
use ringmill_ckks::{
    Ciphertext, CkksError, Level, Meta, Params, Plaintext, PublicKey, Randomness, SecretKey, SeededCiphertext,
};
use ringmill_errors::StructuredError;
use ringmill_machine::encryptor::{Built, EncryptorError, EncryptorLibrary, Job, Mode, Seeds, Words};

use ringmill_ring::{Domain, Modulus, Poly};
use zeroize::Zeroizing;

/// What the engine refuses, or what keys and ciphertexts do.
#[derive(Debug, Clone, PartialEq, thiserror::Error, StructuredError)]
#[non_exhaustive]
#[allow(missing_docs)] // The message is the documentation of each variant and names all its fields.
pub enum EncryptorRefusal {
    #[error(
        "the encryption engine takes ternary secret keys, and a coefficient of this one is {coefficient}; take parameters whose \
         secret is ternary, or encrypt in software"
    )]
    EncryptorSecret { coefficient: i8 },
    #[error(
        "the encryption engine decrypts ciphertexts of 2 parts, and this one has {parts}; relinearise it first"
    )]
    EncryptorParts { parts: usize },
    #[error(transparent)]
    Engine(#[from] EncryptorError),
    #[error(transparent)]
    Ckks(#[from] CkksError),
}

/// The simulated encryption engine, built for ciphertexts of one level.
#[derive(Debug, Clone)]
pub struct Encryptor {
    library: EncryptorLibrary,
}

impl Encryptor {
    /// Loads an engine that `ringmill.encryptor` has built in Python.
    ///
    /// # Errors
    /// [`EncryptorError::EncryptorLibrary`].
    pub fn load(path: &Path) -> Result<Self, EncryptorRefusal> {
        Ok(Self { library: EncryptorLibrary::load(path)? })
    }

    /// What it is built for.
    pub fn built(&self) -> Built {
        self.library.built()
    }

    /// As [`PublicKey::encrypt`], with the cycles that it takes.
    ///
    /// # Errors
    /// Those of the engine, and of a ciphertext.
    pub fn encrypt(
        &self,
        key: &PublicKey,
        plain: &Plaintext,
        randomness: &mut Randomness,
    ) -> Result<(Ciphertext, u64), EncryptorRefusal> {
        let (params, level) =
            (same(("plaintext", plain.params()), ("public key", key.params()))?, plain.level());
        let mode = if key.divides() { Mode::Divided } else { Mode::Public };
        let primes = self.primes(params, level, mode)?;
        let (b, a) = halves(key, level, key.divides().then_some(params.q_moduli().len()));
        let message = coefficients(params, plain)?;
        let seeds = randomness.seeds(Purpose::PublicEncryption);
        let (parts, cycles) = self.library.run(&Job {
            mode,
            primes: &primes,
            seeds: Some(Seeds::Own(&seeds.secret, &seeds.public)),
            secret: None,
            message: Some(&message),
            keys: Some([&b, &a]),
        })?;
        let (scale, name) = (plain.scale(), seeds.public.name());
        let noise = match mode {
            Mode::Divided => plain.noise().encrypt_public_divided(params, scale, name),
            _ => plain.noise().encrypt_public(params, scale, name),
        };
        let meta = Meta { noise, ..plain.meta().clone() };
        Ok((two_parts(key, &parts, meta)?, cycles))
    }

    /// As SEAL encrypts from a seed of its generator BLAKE2xb, with the cycles that it takes: the residues of
    /// `PublicKey::encrypt_drawn` for what SEAL draws. `name` names the encryption there.
    ///
    /// # Errors
    /// As [`Self::encrypt`]; [`CkksError::Undivided`].
    pub fn encrypt_seal(
        &self,
        key: &PublicKey,
        plain: &Plaintext,
        seed: &[u8; 64],
        name: u64,
    ) -> Result<(Ciphertext, u64), EncryptorRefusal> {
        let (params, level) =
            (same(("plaintext", plain.params()), ("public key", key.params()))?, plain.level());
        if !key.divides() {
            return Err(CkksError::Undivided.into());
        }
        // The prime above the plaintext's divides, be it a special one or not.
        let primes = self.primes(params, level, Mode::Seal)?;
        let (b, a) = halves(key, level, Some(params.limbs(level)));
        let message = coefficients(params, plain)?;
        let (parts, cycles) = self.library.run(&Job {
            mode: Mode::Seal,
            primes: &primes,
            seeds: Some(Seeds::Seal(seed)),
            secret: None,
            message: Some(&message),
            keys: Some([&b, &a]),
        })?;
        let noise = plain.noise().encrypt_public_divided(params, plain.scale(), name);
        let meta = Meta { noise, ..plain.meta().clone() };
        Ok((two_parts(key, &parts, meta)?, cycles))
    }

    /// As [`SecretKey::encrypt_seeded`], with the cycles that it takes.
    ///
    /// # Errors
    /// As [`Self::encrypt`]; [`EncryptorRefusal::EncryptorSecret`].
    pub fn encrypt_seeded(
        &self,
        key: &SecretKey,
        plain: &Plaintext,
        randomness: &mut Randomness,
    ) -> Result<(SeededCiphertext, u64), EncryptorRefusal> {
        let (params, level) =
            (same(("plaintext", plain.params()), ("secret key", key.params()))?, plain.level());
        let primes = self.primes(params, level, Mode::Symmetric)?;
        let message = coefficients(params, plain)?;
        let seeds = randomness.seeds(Purpose::SecretEncryption);
        let (parts, cycles) = self.library.run(&Job {
            mode: Mode::Symmetric,
            primes: &primes,
            seeds: Some(Seeds::Own(&seeds.secret, &seeds.public)),
            secret: Some(ternary(key)?),
            message: Some(&message),
            keys: None,
        })?;
        let noise = plain.noise().encrypt_secret(params, plain.scale(), seeds.public.name());
        let meta = Meta { noise, ..plain.meta().clone() };
        let c0 = Poly::from_words(params.n(), &parts[0], Domain::Evaluation).map_err(CkksError::from)?;
        Ok((SeededCiphertext::from_parts(params, c0, seeds.public, meta, key.identity())?, cycles))
    }

    /// As [`SecretKey::decrypt`], with the cycles that it takes.
    ///
    /// # Errors
    /// As [`Self::encrypt_seeded`]; [`EncryptorRefusal::EncryptorParts`] for ciphertexts of three parts.
    pub fn decrypt(
        &self,
        key: &SecretKey,
        cipher: &Ciphertext,
    ) -> Result<(Plaintext, u64), EncryptorRefusal> {
        let (params, level) =
            (same(("ciphertext", cipher.params()), ("secret key", key.params()))?, cipher.level());
        if let (Some(expected), Some(found)) = (cipher.identity(), key.identity())
            && expected != found
        {
            return Err(CkksError::OtherSecret { expected, found }.into());
        }
        let [c0, c1] = cipher.polys() else {
            return Err(EncryptorRefusal::EncryptorParts { parts: cipher.polys().len() });
        };
        let whole = |poly: &Poly| -> Vec<u64> { poly.limbs().flatten().copied().collect() };
        let (c0, c1) = (whole(c0), whole(c1));
        let (parts, cycles) = self.library.run(&Job {
            mode: Mode::Decrypt,
            primes: &self.primes(params, level, Mode::Decrypt)?,
            seeds: None,
            secret: Some(ternary(key)?),
            message: None,
            keys: Some([&c1, &c0]),
        })?;
        let message =
            Poly::from_words(params.n(), &parts[0], Domain::Evaluation).map_err(CkksError::from)?.wiped();
        Ok((Plaintext::from_parts(params, message, cipher.meta().clone())?, cycles))
    }

    /// The primes of a level as the engine takes them.
    fn primes(&self, params: &Params, level: Level, mode: Mode) -> Result<Vec<Modulus>, EncryptorRefusal> {
        let (built, limbs) = (self.built(), params.limbs(level));
        let extra = built.extra == 1;
        if built.log_n != params.log_n()
            || built.limbs as usize != limbs
            || (mode.divides() && !extra)
            || (mode == Mode::Seal && built.seal == 0)
        {
            let with = match mode {
                Mode::Seal => "an extra prime, for SEAL",
                Mode::Divided => "an extra prime",
                _ => "no extra prime",
            };
            let asked = format!("N = 2^{}, {limbs} limbs and {with}", params.log_n());
            return Err(EncryptorError::EncryptorBuild { built: built.to_string(), asked }.into());
        }
        let above = if mode == Mode::Seal { limbs } else { params.q_moduli().len() };
        let extra = extra.then_some(above);
        Ok((0..limbs).chain(extra).map(|i| modulus(params, i)).collect())
    }
}

/// The parameters of a plaintext or ciphertext and a key, which must be the same.
fn same<'p>(
    (left, found): (&'static str, &'p Params),
    (right, expected): (&'static str, &Params),
) -> Result<&'p Params, CkksError> {
    if found == expected {
        return Ok(found);
    }
    let (left_print, right_print) = (found.fingerprint(), expected.fingerprint());
    Err(CkksError::ParamsMismatch { left, left_print, right, right_print })
}

/// A prime of the key's chain: ciphertext primes, then special ones.
fn modulus(params: &Params, i: usize) -> Modulus {
    let q = params.q_moduli();
    if i < q.len() { q[i] } else { params.p_moduli()[i - q.len()] }
}

/// Both halves of a public key: the limbs of a level, and that of the prime which divides.
fn halves(key: &PublicKey, level: Level, over: Option<usize>) -> (Vec<u64>, Vec<u64>) {
    let half = |poly: &Poly| -> Vec<u64> {
        (0..key.params().limbs(level)).chain(over).flat_map(|i| poly.limb(i).iter().copied()).collect()
    };
    (half(key.b()), half(key.a()))
}

/// The ciphertext of two parts that the engine gave.
fn two_parts(key: &PublicKey, parts: &[Words], meta: Meta) -> Result<Ciphertext, CkksError> {
    let params = key.params();
    let poly = |part: &Words| Poly::from_words(params.n(), part, Domain::Evaluation);
    let polys: Result<_, _> = parts.iter().map(poly).collect();
    Ciphertext::from_parts(params, polys?, meta, key.identity())
}

/// The coefficients of a ternary secret key.
fn ternary(key: &SecretKey) -> Result<&[i8], EncryptorRefusal> {
    let all = key.expose_coefficients();
    match all.iter().find(|c| c.abs() > 1) {
        Some(&coefficient) => Err(EncryptorRefusal::EncryptorSecret { coefficient }),
        None => Ok(all),
    }
}

/// The residues of a plaintext's coefficients, limb after limb.
fn coefficients(params: &Params, plain: &Plaintext) -> Result<Zeroizing<Vec<u64>>, CkksError> {
    let mut all = Zeroizing::new(Vec::with_capacity(params.n() * plain.poly().limb_count()));
    for (i, limb) in plain.poly().limbs().enumerate() {
        all.extend_from_slice(limb);
        params.ring(i)?.inverse(&mut all[i * params.n()..])?;
    }
    Ok(all)
}
