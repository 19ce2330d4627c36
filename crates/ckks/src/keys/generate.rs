//! Key generation.

use ringmill_ring::{GaloisElement, Poly};

use super::switch::Origin;
use super::{
    EncapsulationKey, EvaluationKeys, GaloisKeys, KeyForm, KeyIdentity, KeyLayout, PublicKey, RelinKey,
    SecretKey, SwitchKey,
};
use crate::error::CkksError;
use crate::params::Params;
use crate::randomness::{Purpose, Randomness};

/// Draws keys for one parameter set.
///
/// ```
/// use ringmill_ckks::{KeyGenerator, NamedSet, Params};
/// let params = Params::named(NamedSet::I)?;
/// let mut keys = KeyGenerator::new(&params)?;
/// let secret = keys.secret_key()?;
/// let evaluation = keys.evaluation_keys(&secret, &[1, -2], true)?;
/// assert_eq!(evaluation.galois().len(), 3);
/// # Ok::<(), ringmill_ckks::CkksError>(())
/// ```
#[derive(Debug)]
pub struct KeyGenerator {
    params: Params,
    randomness: Randomness,
}

impl KeyGenerator {
    /// A generator with randomness from the operating system.
    ///
    /// # Errors
    /// [`CkksError::Ring`] if the system has none to give.
    pub fn new(params: &Params) -> Result<Self, CkksError> {
        Ok(Self::with_randomness(params, Randomness::from_os()?))
    }

    /// A generator with given randomness: reproducible for tests.
    pub fn with_randomness(params: &Params, randomness: Randomness) -> Self {
        Self { params: params.clone(), randomness }
    }

    /// A secret key of the parameters' distribution, with an identity of its own.
    ///
    /// # Errors
    /// [`CkksError::Ring`] from the ring.
    pub fn secret_key(&mut self) -> Result<SecretKey, CkksError> {
        let (mut rng, name) = self.randomness.next(Purpose::SecretKey);
        SecretKey::draw(&self.params, &mut rng, KeyIdentity::of(&name))
    }

    /// A public key of `secret`.
    ///
    /// # Errors
    /// [`CkksError::ParamsMismatch`], [`CkksError::Ring`].
    pub fn public_key(&mut self, secret: &SecretKey) -> Result<PublicKey, CkksError> {
        self.check(secret)?;
        let (mut rng, seed) = self.randomness.next(Purpose::PublicKey);
        PublicKey::draw(secret, &mut rng, seed)
    }

    /// A public key (b, a) of `secret` over all primes, ciphertext primes and then special ones: for libraries that encrypt
    /// modulo the special primes too.
    ///
    /// # Errors
    /// [`CkksError::ParamsMismatch`], [`CkksError::Ring`].
    pub fn public_key_over_key_primes(&mut self, secret: &SecretKey) -> Result<[Poly; 2], CkksError> {
        self.check(secret)?;
        let (mut rng, seed) = self.randomness.next(Purpose::PublicKey);
        PublicKey::over_key_primes(secret, &mut rng, seed, self.params.key_limbs())
    }

    /// The key from s² to s.
    ///
    /// # Errors
    /// [`CkksError::ParamsMismatch`], [`CkksError::Ring`].
    pub fn relin_key(&mut self, secret: &SecretKey) -> Result<RelinKey, CkksError> {
        self.check(secret)?;
        let (mut rng, seed) = self.randomness.next(Purpose::RelinKey);
        Ok(RelinKey(SwitchKey::draw(secret, &Origin::Square, &mut rng, seed)?))
    }

    /// The key from s to s(X^(1/g)): X → X^g takes what it gives to s, see [`GaloisKeys`].
    ///
    /// # Errors
    /// [`CkksError::ParamsMismatch`], [`CkksError::Ring`].
    pub fn galois_key(&mut self, secret: &SecretKey, element: GaloisElement) -> Result<SwitchKey, CkksError> {
        self.check(secret)?;
        let (mut rng, seed) = self.randomness.next(Purpose::GaloisKey);
        let target = secret.automorphism(element.inverse());
        SwitchKey::draw(&target, &Origin::Secret(secret), &mut rng, seed)
    }

    /// Adds to the key from s² to s a form of another layout.
    ///
    /// # Errors
    /// [`CkksError::Layout`], [`CkksError::ParamsMismatch`], [`CkksError::Ring`].
    pub fn extend_relin_key(
        &mut self,
        secret: &SecretKey,
        key: &mut RelinKey,
        layout: KeyLayout,
    ) -> Result<(), CkksError> {
        self.check(secret)?;
        let (mut rng, seed) = self.randomness.next(Purpose::RelinForm);
        key.0.insert(KeyForm::draw(secret, &Origin::Square, layout, &mut rng, seed)?)
    }

    /// Adds to the key from s to s(X^(1/g)) a form of another layout.
    ///
    /// # Errors
    /// As [`Self::extend_relin_key`].
    pub fn extend_galois_key(
        &mut self,
        secret: &SecretKey,
        (element, key): (GaloisElement, &mut SwitchKey),
        layout: KeyLayout,
    ) -> Result<(), CkksError> {
        self.check(secret)?;
        let (mut rng, seed) = self.randomness.next(Purpose::GaloisForm);
        let target = secret.automorphism(element.inverse());
        key.insert(KeyForm::draw(&target, &Origin::Secret(secret), layout, &mut rng, seed)?)
    }

    /// These keys, each with a form of every one of the layouts that it lacks.
    ///
    /// # Errors
    /// As [`Self::extend_relin_key`].
    pub fn extend_evaluation_keys(
        &mut self,
        secret: &SecretKey,
        keys: &EvaluationKeys,
        layouts: &[KeyLayout],
    ) -> Result<EvaluationKeys, CkksError> {
        let (mut relin, mut galois) = (keys.relin().ok().cloned(), GaloisKeys::new(&self.params));
        let lacks = |key: &SwitchKey, layout: KeyLayout| key.form(layout).is_err();
        if let Some(key) = &mut relin {
            for &layout in layouts {
                if lacks(&key.0, layout) {
                    self.extend_relin_key(secret, key, layout)?;
                }
            }
        }
        for (element, key) in keys.galois().iter() {
            let mut key = key.clone();
            for &layout in layouts {
                if lacks(&key, layout) {
                    self.extend_galois_key(secret, (element, &mut key), layout)?;
                }
            }
            galois.insert(element, key)?;
        }
        keys.with_switch_keys(relin, galois)
    }

    /// The keys to a fresh ephemeral secret and back, which bootstrapping needs.
    ///
    /// # Errors
    /// [`CkksError::InsecureEncapsulation`] beyond [`encapsulation_limit`](crate::params::encapsulation_limit); [`CkksError::ParamsMismatch`], [`CkksError::Ring`].
    pub fn encapsulation_key(&mut self, secret: &SecretKey) -> Result<EncapsulationKey, CkksError> {
        self.check(secret)?;
        let (mut rng, seed) = self.randomness.next(Purpose::EncapsulationKey);
        EncapsulationKey::draw(secret, &mut rng, seed)
    }

    /// Keys for these elements; the identity needs none and is left out.
    ///
    /// # Errors
    /// [`CkksError::ParamsMismatch`], [`CkksError::Ring`].
    pub fn galois_keys(
        &mut self,
        secret: &SecretKey,
        elements: &[GaloisElement],
    ) -> Result<GaloisKeys, CkksError> {
        let mut keys = GaloisKeys::new(&self.params);
        let mut elements: Vec<_> = elements.iter().copied().filter(|g| g.value() != 1).collect();
        elements.sort_unstable();
        elements.dedup();
        for g in elements {
            keys.insert(g, self.galois_key(secret, g)?)?;
        }
        Ok(keys)
    }

    /// Relinearisation key, keys for the given rotations, and for conjugation if asked for.
    ///
    /// # Errors
    /// [`CkksError::ParamsMismatch`], [`CkksError::Ring`].
    pub fn evaluation_keys(
        &mut self,
        secret: &SecretKey,
        rotations: &[i64],
        conjugation: bool,
    ) -> Result<EvaluationKeys, CkksError> {
        let log_n = self.params.log_n();
        let rotation = |&k: &i64| self.params.generator().rotation(k, log_n);
        let mut elements = rotations.iter().map(rotation).collect::<Result<Vec<_>, _>>()?;
        if conjugation {
            elements.push(GaloisElement::conjugation(log_n)?);
        }
        let relin = self.relin_key(secret)?;
        EvaluationKeys::new(Some(relin), self.galois_keys(secret, &elements)?)
    }

    fn check(&self, secret: &SecretKey) -> Result<(), CkksError> {
        crate::check::same_params(("key generator", &self.params), ("secret key", secret.params()))
    }
}
