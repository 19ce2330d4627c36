//! Evaluation keys: what a server computes with.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use ringmill_ckks::file::Stored;
use ringmill_ckks::{self as ckks, GaloisKeys, KeyForm, KeyLayout, KeyMemory};
use ringmill_ring::GaloisElement;

use crate::argument::{Arg, given};
use crate::error::{Failure, Family};
use crate::keys::{SecretKey, generator};
use crate::params::Params;
use crate::whole::{STEPS, whole};

/// The words for where keys are kept.
const MEMORIES: [(&str, KeyMemory); 3] =
    [("expanded", KeyMemory::Expanded), ("seeded", KeyMemory::Seeded), ("mapped", KeyMemory::Mapped)];

fn key_memory(word: &str) -> Result<KeyMemory, Failure> {
    let found = MEMORIES.into_iter().find(|(name, _)| *name == word);
    found.map(|(_, memory)| memory).ok_or_else(|| {
        let message = format!(
            "there is no way {word:?} to keep keys; there are \"expanded\" (every word, the fastest), \"seeded\" (half of \
             each key, the other half made when it is used) and \"mapped\" (as seeded, left in the file)"
        );
        Failure::rule(Family::Parameter, "KeyMemory", &message)
    })
}

fn layouts(forms: &[String]) -> Result<Vec<KeyLayout>, Failure> {
    let one = |text: &String| text.parse().map_err(|e: ckks::LayoutError| Failure::of(Family::Parameter, &e));
    forms.iter().map(one).collect()
}

/// What a server needs to compute: relinearisation, rotation and conjugation keys; nothing secret.
///
/// A value of its own has no key yet; each `with_` gives these and one more. `rm.keygen` makes all at once.
#[pyclass(frozen, module = "ringmill._native")]
pub(crate) struct EvaluationKeys(pub(crate) std::sync::Arc<ckks::EvaluationKeys>);

impl EvaluationKeys {
    fn with_element(&self, py: Python<'_>, secret: &SecretKey, element: GaloisElement) -> PyResult<Self> {
        py.detach(|| {
            let mut galois = self.0.galois().clone();
            let key =
                generator(self.0.params())?.galois_key(&secret.0, element).map_err(|e| Failure::ckks(&e))?;
            galois.insert(element, key).map_err(|e| Failure::ckks(&e))?;
            self.with(self.0.relin().ok().cloned(), galois)
        })
    }

    /// These keys with others of relinearisation and rotation.
    fn with(&self, relin: Option<ckks::RelinKey>, galois: GaloisKeys) -> PyResult<Self> {
        let keys = self.0.with_switch_keys(relin, galois).map_err(|e| Failure::ckks(&e))?;
        Ok(Self(std::sync::Arc::new(keys)))
    }

    fn of(relin: Option<ckks::RelinKey>, galois: GaloisKeys) -> PyResult<Self> {
        let keys = ckks::EvaluationKeys::new(relin, galois).map_err(|e| Failure::ckks(&e))?;
        Ok(Self(std::sync::Arc::new(keys)))
    }
}

#[pymethods]
impl EvaluationKeys {
    /// No key yet.
    #[new]
    fn new(params: Arg<Bound<'_, Params>>) -> PyResult<Self> {
        Self::of(None, GaloisKeys::new(&params.get().inner))
    }

    /// The parameters that it was made for.
    #[getter]
    fn params(&self) -> Params {
        self.0.params().clone().into()
    }

    /// The identity of the secret key that they were made with: 16 hexadecimal digits that reveal nothing of it, the same for all
    /// that belongs to it. `None` without a key, and for files from before version 3.
    #[getter]
    fn identity(&self) -> Option<String> {
        self.0.identity().map(|identity| identity.to_string())
    }

    /// These keys and the one for products of ciphertexts (relinearisation).
    ///
    /// Raises
    /// ------
    ///     MismatchError: a secret key of other parameters, or another one than that of these keys.
    fn with_relin(&self, py: Python<'_>, secret: Arg<Bound<'_, SecretKey>>) -> PyResult<Self> {
        let secret = secret.get();
        py.detach(|| {
            let relin = generator(self.0.params())?.relin_key(&secret.0).map_err(|e| Failure::ckks(&e))?;
            self.with(Some(relin), self.0.galois().clone())
        })
    }

    /// These keys and the one for a rotation by `steps` slots to the left, any whole number; negative ones to the right. Steps
    /// count modulo N/2; a rotation by 0 needs no key.
    ///
    /// Raises
    /// ------
    ///     MismatchError: a secret key of other parameters, or another one than that of these keys.
    ///     ParameterError: steps that are no whole number.
    fn with_rotation(
        &self,
        py: Python<'_>,
        secret: Arg<Bound<'_, SecretKey>>,
        steps: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let steps = whole(Family::Parameter, "steps", steps, STEPS)?;
        let params = self.0.params();
        let element = params
            .generator()
            .rotation(steps, params.log_n())
            .map_err(|e| Failure::of(Family::Encoding, &e))?;
        match element.value() {
            1 => Ok(Self(self.0.clone())),
            _ => self.with_element(py, secret.get(), element),
        }
    }

    /// These keys and the one for complex conjugation.
    ///
    /// Raises
    /// ------
    ///     MismatchError: a secret key of other parameters, or another one than that of these keys.
    fn with_conjugation(&self, py: Python<'_>, secret: Arg<Bound<'_, SecretKey>>) -> PyResult<Self> {
        let element = GaloisElement::conjugation(self.0.params().log_n())
            .map_err(|e| Failure::of(Family::Encoding, &e))?;
        self.with_element(py, secret.get(), element)
    }

    /// These keys and those to a sparse secret and back (encapsulation), which bootstrapping takes.
    ///
    /// Raises
    /// ------
    ///     MismatchError: a secret key of other parameters, or another one than that of these keys.
    ///     ParameterError: a ring or modulus at which the sparse secret is not known to keep 128 bits, unless the parameters
    ///         are `insecure` (`Params.bootstraps`).
    fn with_encapsulation(&self, py: Python<'_>, secret: Arg<Bound<'_, SecretKey>>) -> PyResult<Self> {
        let secret = secret.get();
        py.detach(|| {
            let key = generator(self.0.params())?.encapsulation_key(&secret.0);
            let key = key.map_err(|e| Failure::ckks(&e))?;
            let keys = (*self.0).clone().with_encapsulation(key).map_err(|e| Failure::ckks(&e))?;
            Ok(Self(std::sync::Arc::new(keys)))
        })
    }

    /// These keys, each with a form of every layout named: LIMBS+SPECIAL/DIGIT, as "26+9/9" (`rm.key_switching`).
    ///
    /// Raises
    /// ------
    ///     MismatchError: a secret key of other parameters, or another one than that of these keys; a layout for more primes than there are.
    ///     ParameterError: a text that is no layout.
    fn with_forms(
        &self,
        py: Python<'_>,
        secret: Arg<Bound<'_, SecretKey>>,
        forms: Arg<Vec<String>>,
    ) -> PyResult<Self> {
        let (secret, layouts) = (secret.get(), layouts(&forms)?);
        py.detach(|| {
            let keys = generator(self.0.params())?.extend_evaluation_keys(&secret.0, &self.0, &layouts);
            Ok(Self(std::sync::Arc::new(keys.map_err(|e| Failure::ckks(&e))?)))
        })
    }

    /// The forms that every key has beside the base one, as `with_forms` takes them.
    #[getter]
    fn forms(&self) -> Vec<String> {
        forms(&self.0)
    }

    /// The forms beside the base one as bytes for a file, by Galois element, 0 for relinearisation, and layout.
    fn form_bytes<'py>(&self, py: Python<'py>) -> PyResult<Vec<(u64, String, Bound<'py, PyBytes>)>> {
        let all = self.0.switch_keys().flat_map(|(element, key)| {
            key.forms().skip(1).map(move |form| (element.map_or(0, GaloisElement::value), form))
        });
        all.map(|(element, form)| {
            let bytes = form.to_bytes().map_err(|e| Failure::file(&e))?;
            Ok((element, form.layout().to_string(), PyBytes::new(py, &bytes)))
        })
        .collect()
    }

    /// These keys with what `form_bytes` gave of one of them.
    fn with_form_bytes(
        &self,
        #[pyo3(from_py_with = given)] element: u64,
        #[pyo3(from_py_with = given)] data: &[u8],
    ) -> PyResult<Self> {
        let params = self.0.params();
        let form = KeyForm::from_bytes(params, data).map_err(|e| Failure::file(&e))?;
        let (mut relin, mut galois) = (self.0.relin().ok().cloned(), self.0.galois().clone());
        if element == 0 {
            let key =
                relin.as_mut().ok_or(ckks::CkksError::MissingRelinKey).map_err(|e| Failure::ckks(&e))?;
            key.0.insert(form).map_err(|e| Failure::ckks(&e))?;
        } else {
            let element =
                GaloisElement::new(element, params.log_n()).map_err(|e| Failure::of(Family::Encoding, &e))?;
            let mut key = galois.get(element).map_err(|e| Failure::ckks(&e))?.clone();
            key.insert(form).map_err(|e| Failure::ckks(&e))?;
            galois.insert(element, key).map_err(|e| Failure::ckks(&e))?;
        }
        self.with(relin, galois)
    }

    /// Whether the key for products of ciphertexts (relinearisation) is among them.
    #[getter]
    fn has_relin(&self) -> bool {
        self.0.relin().is_ok()
    }

    /// Whether the key of bootstrapping that leads to a sparse secret is among them.
    #[getter]
    fn has_encapsulation(&self) -> bool {
        self.0.encapsulation().is_ok()
    }

    /// Steps of the rotations that have keys, from 1 to slots − 1, ascending: slot i of the result is slot i + steps.
    #[getter]
    fn rotations(&self) -> Vec<u32> {
        self.0.galois().rotations().into_iter().collect()
    }

    /// Whether the key of conjugation is among them.
    #[getter]
    fn has_conjugation(&self) -> bool {
        self.0.galois().iter().any(|(g, _)| g.decompose() == (0, true))
    }

    /// Galois elements g of X → X^g that have keys: 5^k mod 2N for a rotation by k slots, 2N − 1 for conjugation.
    #[getter]
    fn galois_elements(&self) -> Vec<u64> {
        self.0.galois().iter().map(|(g, _)| g.value()).collect()
    }

    /// The keys as bytes for a file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.0.to_bytes()).map_err(|e| Failure::file(&e))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Reads what `to_bytes` wrote.
    ///
    /// Raises
    /// ------
    ///     FileFormatError: damaged bytes, or another kind of file.
    ///     MismatchError: keys of other parameters; no bytes.
    #[staticmethod]
    fn from_bytes(
        py: Python<'_>,
        params: Arg<Bound<'_, Params>>,
        #[pyo3(from_py_with = given)] data: &[u8],
    ) -> PyResult<Self> {
        let (params, data) = (params.get().inner.clone(), data);
        let keys =
            py.detach(|| ckks::EvaluationKeys::from_bytes(&params, data)).map_err(|e| Failure::file(&e))?;
        Ok(Self(std::sync::Arc::new(keys)))
    }

    /// Writes the keys to a file, limb by limb and atomically: what `to_bytes` gives, without a second copy in memory.
    ///
    /// Raises
    /// ------
    ///     FileFormatError: the file cannot be written.
    fn save(&self, py: Python<'_>, #[pyo3(from_py_with = given)] path: PathBuf) -> PyResult<()> {
        Ok(py.detach(|| self.0.save(path)).map_err(|e| Failure::file(&e))?)
    }

    /// Reads a file of keys.
    ///
    /// Args:
    ///     params: the parameters that they were made for.
    ///     path: the file.
    ///     memory: "expanded" (every word, the fastest), "seeded" (half of each key, packed; the other half is made
    ///         when it is used) or "mapped" (like seeded, in the file, which must not change).
    ///
    /// Raises
    /// ------
    ///     FileFormatError: the file is missing, damaged or of another kind.
    ///     MismatchError: keys of other parameters.
    ///     ParameterError: another word for `memory`.
    #[staticmethod]
    #[pyo3(signature = (params, path, *, memory = "expanded"))]
    fn load(
        py: Python<'_>,
        params: Arg<Bound<'_, Params>>,
        #[pyo3(from_py_with = given)] path: PathBuf,
        #[pyo3(from_py_with = given)] memory: &str,
    ) -> PyResult<Self> {
        let (params, memory) = (params.get().inner.clone(), key_memory(memory)?);
        let keys = py.detach(|| ckks::EvaluationKeys::load_in(&params, path, memory));
        Ok(Self(std::sync::Arc::new(keys.map_err(|e| Failure::file(&e))?)))
    }

    /// The same keys in less memory: of each the half alone that its seed does not expand to, packed. The other half is made
    /// when it is used.
    fn seeded(&self, py: Python<'_>) -> Self {
        Self(std::sync::Arc::new(py.detach(|| self.0.seeded())))
    }

    /// Bytes that the keys take in memory; what stays in a mapped file does not count.
    #[getter]
    fn nbytes(&self) -> usize {
        self.0.bytes()
    }

    fn __repr__(&self) -> String {
        format!("EvaluationKeys({})", described(&self.0))
    }
}

/// The forms that every key has beside the base one.
fn forms(keys: &ckks::EvaluationKeys) -> Vec<String> {
    let mut all = keys.switch_keys().map(|(_, key)| key);
    let Some(first) = all.next() else { return Vec::new() };
    let others: Vec<_> = all.collect();
    let common = |layout: &KeyLayout| others.iter().all(|key| key.form(*layout).is_ok());
    first.forms().skip(1).map(|form| form.layout()).filter(common).map(|layout| layout.to_string()).collect()
}

/// What keys there are, in how much memory, for which parameters.
pub(crate) fn described(keys: &ckks::EvaluationKeys) -> String {
    let relin = if keys.relin().is_ok() { "relinearisation" } else { "no relinearisation" };
    let megabytes = keys.bytes() as f64 / 1e6;
    let forms = match forms(keys).join(" ") {
        none if none.is_empty() => none,
        forms => format!("forms {forms}; "),
    };
    let galois = keys.galois().len();
    format!("{relin}, {galois} Galois keys; {forms}{megabytes:.1} MB in memory; {}", keys.params())
}
