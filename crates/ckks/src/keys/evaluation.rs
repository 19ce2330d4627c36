//! What a server needs: the keys that programs compute with.

use std::collections::{BTreeMap, BTreeSet};

use ringmill_ring::GaloisElement;

use super::{EncapsulationKey, KeyIdentity, SwitchKey};
use crate::check;
use crate::error::CkksError;
use crate::params::Params;

/// The key from s² to s.
#[derive(Clone, PartialEq, Debug)]
pub struct RelinKey(pub SwitchKey);

/// For each Galois element g the key from s to s(X^(1/g)).
///
/// c_0 + c_1·s goes to parts that are read with s(X^(1/g)), and X → X^g takes those to c_0(X^g) + c_1(X^g)·s(X^g) under s.
/// In this order rotations of one ciphertext share its digits as they are, and only results are permuted.
#[derive(Clone, PartialEq, Debug)]
pub struct GaloisKeys {
    params: Params,
    keys: BTreeMap<GaloisElement, SwitchKey>,
}

impl GaloisKeys {
    /// No key yet.
    pub fn new(params: &Params) -> Self {
        Self { params: params.clone(), keys: BTreeMap::new() }
    }

    /// Adds or replaces the key of `element`. The identity needs no key, so none is kept for it: files of keys have another under
    /// its name.
    ///
    /// # Errors
    /// [`CkksError::ParamsMismatch`], [`CkksError::KeysMismatch`], [`CkksError::Ring`] if the element belongs to another degree.
    pub fn insert(&mut self, element: GaloisElement, key: SwitchKey) -> Result<(), CkksError> {
        check::same_params(("key set", &self.params), ("key", key.params()))?;
        KeyIdentity::common([("key set", self.identity()), ("key", key.identity())])?;
        let identity = GaloisElement::identity(self.params.log_n())?;
        if element.compose(identity)? != identity {
            self.keys.insert(element, key);
        }
        Ok(())
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// The key of `element`.
    ///
    /// # Errors
    /// [`CkksError::MissingGaloisKey`] names the rotation, the Galois element and the keys that are present.
    pub fn get(&self, element: GaloisElement) -> Result<&SwitchKey, CkksError> {
        self.keys.get(&element).ok_or_else(|| CkksError::MissingGaloisKey {
            what: self.name(element),
            galois: element.value(),
            power: self.power(element),
            two_n: 2 * self.params.n(),
            present: self.describe(),
        })
    }

    /// The secret key that they belong to, if that is known.
    pub fn identity(&self) -> Option<KeyIdentity> {
        self.keys.values().find_map(SwitchKey::identity)
    }

    /// Elements and keys, ascending by element.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (GaloisElement, &SwitchKey)> {
        self.keys.iter().map(|(&g, k)| (g, k))
    }

    /// Steps of the rotations that have keys, from 1 to N/2 − 1.
    pub fn rotations(&self) -> BTreeSet<u32> {
        let powers = self.keys.keys().map(|&g| self.params.generator().decompose(g));
        powers.filter(|(_, conjugates)| !conjugates).map(|(steps, _)| steps).collect()
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// True without any key.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// What is wrong if a program needs the keys of these elements, and those of relinearisation and encapsulation are missing
    /// or not: [`CkksError::MissingKeys`] names all that are, for a single one its own error does.
    pub fn missing(
        &self,
        (relin, encapsulation): (bool, bool),
        elements: impl IntoIterator<Item = GaloisElement>,
    ) -> Option<CkksError> {
        let others = [
            relin.then_some(("relinearisation", CkksError::MissingRelinKey)),
            encapsulation.then_some(("encapsulation", CkksError::MissingEncapsulationKey)),
        ];
        let mut all: Vec<(String, CkksError)> =
            others.into_iter().flatten().map(|(name, error)| (name.to_owned(), error)).collect();
        let mut elements: Vec<GaloisElement> = elements.into_iter().collect();
        elements.sort_unstable_by_key(|element| {
            let (k, conjugates) = self.params.generator().decompose(*element);
            (conjugates, k)
        });
        for element in elements {
            if let Err(error) = self.get(element) {
                let name = self.name(element);
                all.push((format!("{name} ({} = {})", element.value(), self.power(element)), error));
            }
        }
        if all.len() < 2 {
            return all.pop().map(|(_, error)| error);
        }
        let (count, what) = (all.len(), dozen(all.into_iter().map(|(name, _)| name)));
        Some(CkksError::MissingKeys { count, what, present: self.describe() })
    }

    /// An automorphism as text, to the left or, with a minus, to the right, whichever is shorter.
    fn name(&self, element: GaloisElement) -> String {
        let slots = self.params.slots() as i64;
        let (k, conjugates) = self.params.generator().decompose(element);
        let steps = if i64::from(k) > slots / 2 { i64::from(k) - slots } else { i64::from(k) };
        match (steps, conjugates) {
            (0, true) => "conjugation".into(),
            (_, true) => format!("rotation by {steps} and conjugation"),
            _ => format!("rotation by {steps}"),
        }
    }

    /// An element by powers of the generator.
    fn power(&self, element: GaloisElement) -> String {
        let generator = self.params.generator();
        match generator.decompose(element) {
            (0, true) => "−1".into(),
            (k, conjugates) => format!("{}{generator}^{k}", if conjugates { "−" } else { "" }),
        }
    }

    /// The keys present, as text.
    fn describe(&self) -> String {
        dozen(self.keys.keys().map(|&g| self.name(g)))
    }
}

/// At most a dozen of a list, and how many more there are.
fn dozen(list: impl ExactSizeIterator<Item = String>) -> String {
    let more = list.len().saturating_sub(12);
    let mut words: Vec<_> = list.take(12).collect();
    if more > 0 {
        words.push(format!("{more} more"));
    }
    if words.is_empty() { "none".into() } else { words.join(", ") }
}

/// Everything that evaluation may need, and nothing secret.
#[derive(Clone, PartialEq, Debug)]
pub struct EvaluationKeys {
    relin: Option<RelinKey>,
    galois: GaloisKeys,
    encapsulation: Option<EncapsulationKey>,
}

impl EvaluationKeys {
    /// Puts keys of one context and one secret key together.
    ///
    /// # Errors
    /// [`CkksError::ParamsMismatch`], [`CkksError::KeysMismatch`].
    pub fn new(relin: Option<RelinKey>, galois: GaloisKeys) -> Result<Self, CkksError> {
        if let Some(RelinKey(key)) = &relin {
            check::same_params(("relinearisation key", key.params()), ("Galois keys", galois.params()))?;
            KeyIdentity::common([
                ("relinearisation key", key.identity()),
                ("Galois keys", galois.identity()),
            ])?;
        }
        Ok(Self { relin, galois, encapsulation: None })
    }

    /// The keys of several sets of one context and one secret key; of a key that several have, the first.
    ///
    /// # Errors
    /// [`CkksError::ParamsMismatch`], [`CkksError::KeysMismatch`].
    pub fn joined(params: &Params, sets: impl IntoIterator<Item = Self>) -> Result<Self, CkksError> {
        let (mut relin, mut galois, mut encapsulation) = (None, GaloisKeys::new(params), None);
        let mut identity = None;
        for set in sets {
            check::same_params(("key set", params), ("key set", set.params()))?;
            identity = KeyIdentity::common([("key set", identity), ("another", set.identity())])?;
            relin = relin.or(set.relin);
            encapsulation = encapsulation.or(set.encapsulation);
            for (element, key) in set.galois.keys {
                if !galois.keys.contains_key(&element) {
                    galois.insert(element, key)?;
                }
            }
        }
        let keys = Self::new(relin, galois)?;
        match encapsulation {
            Some(key) => keys.with_encapsulation(key),
            None => Ok(keys),
        }
    }

    /// These keys with those of bootstrapping.
    ///
    /// # Errors
    /// [`CkksError::ParamsMismatch`], [`CkksError::KeysMismatch`].
    pub fn with_encapsulation(self, key: EncapsulationKey) -> Result<Self, CkksError> {
        check::same_params(("encapsulation key", key.params()), ("Galois keys", self.galois.params()))?;
        KeyIdentity::common([("encapsulation key", key.identity()), ("other keys", self.identity())])?;
        Ok(Self { encapsulation: Some(key), ..self })
    }

    /// Other keys of relinearisation and rotation beside the same encapsulation key.
    ///
    /// # Errors
    /// [`CkksError::ParamsMismatch`], [`CkksError::KeysMismatch`].
    pub fn with_switch_keys(&self, relin: Option<RelinKey>, galois: GaloisKeys) -> Result<Self, CkksError> {
        let keys = Self::new(relin, galois)?;
        match &self.encapsulation {
            Some(key) => keys.with_encapsulation(key.clone()),
            None => Ok(keys),
        }
    }

    /// The key-switching keys: that of relinearisation under no element, the others under theirs.
    pub fn switch_keys(&self) -> impl Iterator<Item = (Option<GaloisElement>, &SwitchKey)> {
        let relin = self.relin.iter().map(|key| (None, &key.0));
        relin.chain(self.galois.iter().map(|(element, key)| (Some(element), key)))
    }

    /// The keys to the ephemeral secret and back.
    ///
    /// # Errors
    /// [`CkksError::MissingEncapsulationKey`].
    pub fn encapsulation(&self) -> Result<&EncapsulationKey, CkksError> {
        self.encapsulation.as_ref().ok_or(CkksError::MissingEncapsulationKey)
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        self.galois.params()
    }

    /// The secret key that they belong to, if that is known; none without a key.
    pub fn identity(&self) -> Option<KeyIdentity> {
        let switch = self.switch_keys().find_map(|(_, key)| key.identity());
        switch.or_else(|| self.encapsulation.as_ref().and_then(EncapsulationKey::identity))
    }

    /// The same keys in half the memory or less: of each one, what a seed does not expand to. The other half is expanded
    /// wherever a key is used.
    #[must_use]
    pub fn seeded(&self) -> Self {
        let mut galois = GaloisKeys::new(self.params());
        galois.keys.extend(self.galois.iter().map(|(element, key)| (element, key.seeded())));
        let relin = self.relin.as_ref().map(|key| RelinKey(key.0.seeded()));
        Self { relin, galois, encapsulation: self.encapsulation.clone() }
    }

    /// Bytes of the residues in memory, with what was derived from them; none for those of a mapped file.
    pub fn bytes(&self) -> usize {
        let encapsulation = self.encapsulation.as_ref().map_or(0, EncapsulationKey::bytes);
        self.switch_keys().map(|(_, key)| key.bytes()).sum::<usize>() + encapsulation
    }

    /// The relinearisation key.
    ///
    /// # Errors
    /// [`CkksError::MissingRelinKey`].
    pub fn relin(&self) -> Result<&RelinKey, CkksError> {
        self.relin.as_ref().ok_or(CkksError::MissingRelinKey)
    }

    /// The Galois keys.
    pub fn galois(&self) -> &GaloisKeys {
        &self.galois
    }
}
