//! Keys. The secret one never prints, never pickles, and is written by an explicit call only.

use std::path::PathBuf;

use numpy::{AllowTypeChange, Complex64, PyArray1, PyArrayLike1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use ringmill_ckks::file::{Stored, secret_key_from_bytes, write_secret_key};
use ringmill_ckks::{
    self as ckks, GaloisKeys, KeyForm, KeyGenerator, KeyLayout, KeyMemory, Level, Randomness,
};
use ringmill_ring::GaloisElement;
use zeroize::Zeroizing;

use crate::cipher::Ciphertext;
use crate::codec::{self, Target};
use crate::error::{Failure, Family};
use crate::evaluator::Evaluator;
use crate::params::Params;

/// A message as both keys encrypt it: at the top level, the default scale and the fewest slots unless told otherwise.
fn encode(
    params: &ckks::Params,
    values: &[Complex64],
    slots: Option<usize>,
    level: Option<u32>,
    magnitude: Option<f64>,
    scale: Option<&str>,
) -> Result<ckks::Plaintext, Failure> {
    let largest = values.iter().map(|z| z.norm()).fold(0.0, f64::max);
    // Values that are not finite are refused by the encoder.
    let largest = if largest.is_finite() { largest } else { 0.0 };
    let least = if largest > 0.0 { largest.log2().ceil().exp2() } else { 1.0 };
    // The logarithm of a number just above a power of two may be rounded to that of the power.
    let least = if least < largest { 2.0 * least } else { least };
    let magnitude = magnitude.unwrap_or(least.min(f64::MAX));
    if !(magnitude.is_finite() && magnitude > 0.0) || largest > magnitude {
        let message = format!(
            "values are up to {largest:e} in size, which the declared magnitude {magnitude:e} does not bound; declare a positive \
             number that does"
        );
        return Err(Failure::rule(Family::Encoding, "Magnitude", &message));
    }
    let scale = scale.map(str::parse).transpose().map_err(|e| Failure::of(Family::Encoding, &e))?;
    let target = Target {
        level: level.map_or(params.max_level(), Level::new),
        scale: scale.unwrap_or_else(|| params.default_scale()),
        slots: slots.unwrap_or_else(|| values.len().max(1).next_power_of_two()),
        magnitude,
    };
    codec::encode(params, values, &target)
}

fn randomness() -> Result<Randomness, Failure> {
    Randomness::from_os().map_err(|e| Failure::of(Family::Machine, &e))
}

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

fn generator(params: &ckks::Params) -> Result<KeyGenerator, Failure> {
    KeyGenerator::new(params).map_err(|e| Failure::ckks(&e))
}

/// A secret key; see `ringmill.keys`.
#[pyclass(frozen, module = "ringmill._native")]
pub(crate) struct SecretKey(pub(crate) ckks::SecretKey);

#[pymethods]
impl SecretKey {
    /// Draws a secret key with randomness from the operating system.
    #[staticmethod]
    fn generate(py: Python<'_>, params: &Bound<'_, Params>) -> PyResult<Self> {
        let params = params.get().inner.clone();
        py.detach(|| {
            generator(&params)?.secret_key().map(Self).map_err(|e| Failure::ckks(&e)).map_err(Into::into)
        })
    }

    #[getter]
    fn params(&self) -> Params {
        self.0.params().clone().into()
    }

    /// The public key.
    fn public_key(&self, py: Python<'_>) -> PyResult<PublicKey> {
        py.detach(|| {
            let key = generator(self.0.params())?.public_key(&self.0);
            Ok(key.map(PublicKey).map_err(|e| Failure::ckks(&e))?)
        })
    }

    /// Encrypts up to `slots` numbers; the ciphertext is stored at half size.
    #[pyo3(signature = (values, *, slots = None, level = None, magnitude = None, scale = None))]
    #[allow(clippy::too_many_arguments)] // named in Python
    fn encrypt(
        &self,
        py: Python<'_>,
        values: PyArrayLike1<'_, Complex64, AllowTypeChange>,
        slots: Option<usize>,
        level: Option<u32>,
        magnitude: Option<f64>,
        scale: Option<&str>,
    ) -> PyResult<Ciphertext> {
        let values = values.as_array().to_vec();
        py.detach(|| {
            let plain = encode(self.0.params(), &values, slots, level, magnitude, scale)?;
            let seeded = self.0.encrypt_seeded(&plain, &mut randomness()?).map_err(|e| Failure::ckks(&e))?;
            Ok(Ciphertext::seeded(seeded))
        })
    }

    /// Whether a public key or evaluation keys were made with this key, or a secret key is the same.
    fn made(&self, other: Made<'_>) -> PyResult<bool> {
        let made = match &other {
            Made::Public(key) => self.0.made_public(&key.get().0),
            Made::Evaluation(keys) => self.0.made(&keys.get().0),
            Made::Evaluator(evaluator) => self.0.made(evaluator.get().keys()),
            Made::Secret(key) => Ok(self.0.expose_coefficients() == key.get().0.expose_coefficients()),
        };
        made.map_err(|e| Failure::ckks(&e).into())
    }

    /// All slots of a ciphertext.
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        cipher: &Bound<'_, Ciphertext>,
    ) -> PyResult<Bound<'py, PyArray1<Complex64>>> {
        let cipher = cipher.get();
        let slots = py.detach(|| -> PyResult<Vec<Complex64>> {
            let plain = self.0.decrypt(cipher.full()).map_err(|e| Failure::ckks(&e))?;
            Ok(codec::decode(&plain)?)
        })?;
        Ok(PyArray1::from_vec(py, slots))
    }

    /// The secret key as bytes for a file. Whoever reads them can decrypt everything.
    fn export_secret<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut bytes = Zeroizing::new(Vec::new());
        write_secret_key(&self.0, &mut *bytes).map_err(|e| Failure::file(&e))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Reads what `export_secret` wrote.
    #[staticmethod]
    fn from_bytes(params: &Bound<'_, Params>, data: &[u8]) -> PyResult<Self> {
        let key = secret_key_from_bytes(&params.get().inner, data).map_err(|e| Failure::file(&e))?;
        Ok(Self(key))
    }

    fn __repr__(&self) -> String {
        format!("SecretKey(hidden; {})", self.0.params())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(Failure::rule(
            Family::Secret,
            "Pickle",
            "a secret key does not pickle or copy, so that it cannot leave the process by accident; use \
             export_secret() and a file that only its owner can read",
        )
        .into())
    }
}

/// What a secret key may have made.
#[derive(FromPyObject)]
enum Made<'py> {
    Public(Bound<'py, PublicKey>),
    Evaluation(Bound<'py, EvaluationKeys>),
    Evaluator(Bound<'py, Evaluator>),
    Secret(Bound<'py, SecretKey>),
}

/// A public key: encrypts, and decrypts nothing.
#[pyclass(frozen, module = "ringmill._native")]
pub(crate) struct PublicKey(pub(crate) ckks::PublicKey);

#[pymethods]
impl PublicKey {
    #[getter]
    fn params(&self) -> Params {
        self.0.params().clone().into()
    }

    /// Encrypts up to `slots` numbers.
    #[pyo3(signature = (values, *, slots = None, level = None, magnitude = None, scale = None))]
    #[allow(clippy::too_many_arguments)] // named in Python
    fn encrypt(
        &self,
        py: Python<'_>,
        values: PyArrayLike1<'_, Complex64, AllowTypeChange>,
        slots: Option<usize>,
        level: Option<u32>,
        magnitude: Option<f64>,
        scale: Option<&str>,
    ) -> PyResult<Ciphertext> {
        let values = values.as_array().to_vec();
        py.detach(|| {
            let plain = encode(self.0.params(), &values, slots, level, magnitude, scale)?;
            let cipher = self.0.encrypt(&plain, &mut randomness()?).map_err(|e| Failure::ckks(&e))?;
            Ok(cipher.into())
        })
    }

    /// The key as bytes for a file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.0.to_bytes().map_err(|e| Failure::file(&e))?))
    }

    /// Reads what `to_bytes` wrote.
    #[staticmethod]
    fn from_bytes(params: &Bound<'_, Params>, data: &[u8]) -> PyResult<Self> {
        Ok(Self(ckks::PublicKey::from_bytes(&params.get().inner, data).map_err(|e| Failure::file(&e))?))
    }

    fn __repr__(&self) -> String {
        format!("PublicKey({})", self.0.params())
    }
}

/// What a server needs to compute: relinearisation, rotation and conjugation keys.
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
    fn new(params: &Bound<'_, Params>) -> PyResult<Self> {
        Self::of(None, GaloisKeys::new(&params.get().inner))
    }

    #[getter]
    fn params(&self) -> Params {
        self.0.params().clone().into()
    }

    /// These keys and the one for products.
    fn with_relin(&self, py: Python<'_>, secret: &Bound<'_, SecretKey>) -> PyResult<Self> {
        let secret = secret.get();
        py.detach(|| {
            let relin = generator(self.0.params())?.relin_key(&secret.0).map_err(|e| Failure::ckks(&e))?;
            self.with(Some(relin), self.0.galois().clone())
        })
    }

    /// These keys and the one for a rotation by `steps` slots to the left.
    fn with_rotation(&self, py: Python<'_>, secret: &Bound<'_, SecretKey>, steps: i64) -> PyResult<Self> {
        let element = GaloisElement::rotation(steps, self.0.params().log_n())
            .map_err(|e| Failure::of(Family::Encoding, &e))?;
        self.with_element(py, secret.get(), element)
    }

    /// These keys and the one for conjugation.
    fn with_conjugation(&self, py: Python<'_>, secret: &Bound<'_, SecretKey>) -> PyResult<Self> {
        let element = GaloisElement::conjugation(self.0.params().log_n())
            .map_err(|e| Failure::of(Family::Encoding, &e))?;
        self.with_element(py, secret.get(), element)
    }

    /// These keys and those to a sparse secret and back.
    fn with_encapsulation(&self, py: Python<'_>, secret: &Bound<'_, SecretKey>) -> PyResult<Self> {
        let secret = secret.get();
        py.detach(|| {
            let key = generator(self.0.params())?.encapsulation_key(&secret.0);
            let key = key.map_err(|e| Failure::ckks(&e))?;
            let keys = (*self.0).clone().with_encapsulation(key).map_err(|e| Failure::ckks(&e))?;
            Ok(Self(std::sync::Arc::new(keys)))
        })
    }

    /// These keys, each with a form of every layout named, as `26+9/9`.
    fn with_forms(
        &self,
        py: Python<'_>,
        secret: &Bound<'_, SecretKey>,
        forms: Vec<String>,
    ) -> PyResult<Self> {
        let (secret, layouts) = (secret.get(), layouts(&forms)?);
        py.detach(|| {
            let keys = generator(self.0.params())?.extend_evaluation_keys(&secret.0, &self.0, &layouts);
            Ok(Self(std::sync::Arc::new(keys.map_err(|e| Failure::ckks(&e))?)))
        })
    }

    /// The forms that every key has beside the base one.
    #[getter]
    fn forms(&self) -> Vec<String> {
        let mut keys = self.0.switch_keys().map(|(_, key)| key);
        let Some(first) = keys.next() else { return Vec::new() };
        let others: Vec<_> = keys.collect();
        let common = |layout: &KeyLayout| others.iter().all(|key| key.form(*layout).is_ok());
        first
            .forms()
            .skip(1)
            .map(|form| form.layout())
            .filter(common)
            .map(|layout| layout.to_string())
            .collect()
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
    fn with_form_bytes(&self, element: u64, data: &[u8]) -> PyResult<Self> {
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

    #[getter]
    fn has_relin(&self) -> bool {
        self.0.relin().is_ok()
    }

    /// Galois elements that have keys.
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
    #[staticmethod]
    fn from_bytes(py: Python<'_>, params: &Bound<'_, Params>, data: &[u8]) -> PyResult<Self> {
        let params = params.get().inner.clone();
        let keys =
            py.detach(|| ckks::EvaluationKeys::from_bytes(&params, data)).map_err(|e| Failure::file(&e))?;
        Ok(Self(std::sync::Arc::new(keys)))
    }

    /// Writes the keys to a file, limb by limb and atomically: what `to_bytes` gives, without a second copy in memory.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        Ok(py.detach(|| self.0.save(path)).map_err(|e| Failure::file(&e))?)
    }

    /// Reads a file of keys, to be kept as one of `MEMORIES` says.
    #[staticmethod]
    #[pyo3(signature = (params, path, *, memory = "expanded"))]
    fn load(py: Python<'_>, params: &Bound<'_, Params>, path: PathBuf, memory: &str) -> PyResult<Self> {
        let (params, memory) = (params.get().inner.clone(), key_memory(memory)?);
        let keys = py.detach(|| ckks::EvaluationKeys::load_in(&params, path, memory));
        Ok(Self(std::sync::Arc::new(keys.map_err(|e| Failure::file(&e))?)))
    }

    /// The same keys with the half of each alone that its seed does not expand to, packed.
    fn seeded(&self, py: Python<'_>) -> Self {
        Self(std::sync::Arc::new(py.detach(|| self.0.seeded())))
    }

    /// Bytes that the keys take in memory; a mapped file is none.
    #[getter]
    fn nbytes(&self) -> usize {
        self.0.bytes()
    }

    fn __repr__(&self) -> String {
        let relin = if self.has_relin() { "relinearisation" } else { "no relinearisation" };
        let megabytes = self.0.bytes() as f64 / 1e6;
        let forms = match self.forms().join(" ") {
            none if none.is_empty() => none,
            forms => format!("forms {forms}; "),
        };
        format!(
            "EvaluationKeys({relin}, {} Galois keys; {forms}{megabytes:.1} MB in memory; {})",
            self.0.galois().len(),
            self.0.params()
        )
    }
}
