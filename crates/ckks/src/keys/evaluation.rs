//! What a server needs: the keys that programs compute with.

use std::collections::BTreeMap;

use ringmill_ring::GaloisElement;

use super::SwitchKey;
use crate::check;
use crate::error::CkksError;
use crate::params::Params;

/// The key from s² to s.
#[derive(Clone, PartialEq, Debug)]
pub struct RelinKey(pub SwitchKey);

/// Keys from s(X^g) to s, by Galois element g.
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

    /// Adds or replaces the key of `element`.
    ///
    /// # Errors
    /// [`CkksError::ParamsMismatch`], [`CkksError::Ring`] if the element belongs to another degree.
    pub fn insert(&mut self, element: GaloisElement, key: SwitchKey) -> Result<(), CkksError> {
        check::same_params(("key set", &self.params), ("key", key.params()))?;
        element.compose(GaloisElement::identity(self.params.log_n())?)?;
        self.keys.insert(element, key);
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
        self.keys.get(&element).ok_or_else(|| {
            let two_n = 2 * self.params.n();
            let power = match element.decompose() {
                (k, false) => format!(" = 5^{k} mod {two_n}"),
                (0, true) => format!(" = 2N − 1 = −1 mod {two_n}"),
                (k, true) => format!(" = −5^{k} mod {two_n}"),
            };
            CkksError::MissingGaloisKey { element, power, present: self.describe() }
        })
    }

    /// Elements and keys, ascending by element.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (GaloisElement, &SwitchKey)> {
        self.keys.iter().map(|(&g, k)| (g, k))
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// True without any key.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The keys present, in words: rotations with small steps signed, at most a dozen.
    fn describe(&self) -> String {
        if self.keys.is_empty() {
            return "none".into();
        }
        let half = self.params.slots() as i64 / 2;
        let word = |g: &GaloisElement| match g.decompose() {
            (0, true) => "conjugation".to_owned(),
            (k, conjugates) => {
                let k = i64::from(k);
                let steps = if k > half { k - 2 * half } else { k };
                format!("rotation by {steps}{}", if conjugates { " and conjugation" } else { "" })
            }
        };
        let mut words: Vec<_> = self.keys.keys().take(12).map(word).collect();
        if self.keys.len() > words.len() {
            words.push(format!("{} more", self.keys.len() - words.len()));
        }
        words.join(", ")
    }
}

/// Everything that evaluation may need, and nothing secret.
#[derive(Clone, PartialEq, Debug)]
pub struct EvaluationKeys {
    relin: Option<RelinKey>,
    galois: GaloisKeys,
}

impl EvaluationKeys {
    /// Puts keys of one context together.
    ///
    /// # Errors
    /// [`CkksError::ParamsMismatch`].
    pub fn new(relin: Option<RelinKey>, galois: GaloisKeys) -> Result<Self, CkksError> {
        if let Some(RelinKey(key)) = &relin {
            check::same_params(("relinearisation key", key.params()), ("Galois keys", galois.params()))?;
        }
        Ok(Self { relin, galois })
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        self.galois.params()
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
