//! Ciphertexts.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use numpy::{AllowTypeChange, Complex64, PyArrayLike1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use ringmill_ckks as ckks;
use ringmill_ckks::file::{FileError, Stored};

use crate::argument::{Arg, given};
use crate::comparison::Comparison;
use crate::error::{Failure, Family};
use crate::params::Params;
use crate::whole::whole;

/// An encrypted vector, with level, exact scale, declared magnitude and predicted error; bound to no keys.
///
/// One that is fresh from a secret key keeps its seed, so that it is stored at half size; its second half is expanded when it
/// is first computed with. `rm.Ciphertext` has operators.
#[pyclass(frozen, module = "ringmill._native")]
pub(crate) struct Ciphertext {
    seeded: Option<ckks::SeededCiphertext>,
    full: OnceLock<Arc<ckks::Ciphertext>>,
}

impl From<ckks::Ciphertext> for Ciphertext {
    fn from(cipher: ckks::Ciphertext) -> Self {
        Self { seeded: None, full: OnceLock::from(Arc::new(cipher)) }
    }
}

impl Ciphertext {
    pub(crate) fn seeded(cipher: ckks::SeededCiphertext) -> Self {
        Self { seeded: Some(cipher), full: OnceLock::new() }
    }

    /// The whole ciphertext.
    pub(crate) fn full(&self) -> &Arc<ckks::Ciphertext> {
        self.full.get_or_init(|| match &self.seeded {
            Some(seeded) => Arc::new(seeded.expand()),
            // Both constructors fill one of the two.
            None => unreachable!("a ciphertext without content"),
        })
    }

    fn meta(&self) -> &ckks::Meta {
        self.seeded.as_ref().map_or_else(|| self.full().meta(), ckks::SeededCiphertext::meta)
    }

    /// The same residues, described otherwise.
    fn described(&self, meta: ckks::Meta) -> PyResult<Self> {
        let cipher = ckks::Ciphertext::clone(self.full()).with_meta(meta);
        Ok(cipher.map_err(|e| Failure::ckks(&e))?.into())
    }

    fn context(&self) -> &ckks::Params {
        self.seeded.as_ref().map_or_else(|| self.full().params(), ckks::SeededCiphertext::params)
    }
}

#[pymethods]
impl Ciphertext {
    /// The parameters that it was encrypted under.
    #[getter]
    fn params(&self) -> Params {
        self.context().clone().into()
    }

    /// The identity of the secret key that it is under: 16 hexadecimal digits, the same for all that belongs to it. `None` if it
    /// is not known, as that of a file from before version 3.
    #[getter]
    fn identity(&self) -> Option<String> {
        let identity =
            self.seeded.as_ref().map_or_else(|| self.full().identity(), |seeded| seeded.identity());
        identity.map(|identity| identity.to_string())
    }

    /// Rescales that remain, 0 to `params.max_level`: the number of products in a row.
    #[getter]
    fn level(&self) -> u32 {
        self.meta().level.get()
    }

    /// Whether everybody can decrypt it, since nothing of the secret key is in it: x − x, or a product with zero.
    #[getter]
    fn transparent(&self) -> bool {
        let zero = |poly: &ringmill_ring::Poly| poly.limbs().all(|limb| limb.iter().all(|&word| word == 0));
        self.seeded.is_none() && self.full().polys()[1..].iter().all(zero)
    }

    /// What values were multiplied by before they were rounded, exactly: a product of powers of 2 and of primes, as text.
    #[getter]
    fn scale(&self) -> String {
        self.meta().scale.to_text()
    }

    /// log2 of the scale.
    #[getter]
    fn scale_log2(&self) -> f64 {
        self.meta().scale.log2()
    }

    /// Packed slots: a power of two from 1 to N/2.
    #[getter]
    fn slots(&self) -> usize {
        self.meta().slots
    }

    /// log2 of the predicted error of the worst slot, exceeded with probability 2^−20: at −20 slots are right to 20 bits below
    /// the binary point.
    #[getter]
    fn error_log2(&self) -> f64 {
        self.meta().error_log2()
    }

    /// Bound on the size of a slot: declared at encryption, and followed through every operation. Not checked against what is
    /// encrypted; predicted errors and `headroom_log2` rely on it.
    #[getter]
    fn magnitude(&self) -> f64 {
        self.meta().noise.magnitude()
    }

    /// Bits between the greatest coefficient that values up to `magnitude` may have and half the modulus of the level. Negative if
    /// they may wrap around, and decrypt to other numbers.
    #[getter]
    fn headroom_log2(&self) -> f64 {
        let meta = self.meta();
        meta.noise.headroom_log2(self.context(), meta.level, &meta.scale)
    }

    /// The same ciphertext, with the promise that no slot is larger than `bound`, a positive number. A promise that is broken
    /// gives wrong predictions, and results that wrap around unnoticed.
    ///
    /// Raises
    /// ------
    ///     EncodingError: a bound that is not positive.
    fn within(&self, #[pyo3(from_py_with = given)] bound: f64) -> PyResult<Self> {
        if !bound.is_finite() || bound <= 0.0 {
            let message =
                format!("A bound of {bound:?} on the slots is not possible. Give a positive number.");
            return Err(Failure::rule(Family::Encoding, "BadBound", &message).into());
        }
        let meta = self.meta().clone();
        let bound = bound.min(meta.noise.magnitude());
        self.described(ckks::Meta { noise: meta.noise.with_magnitude(bound), ..meta })
    }

    /// The same ciphertext, which states this and nothing else of its size and its error.
    ///
    /// Args:
    ///     magnitude: bound on the size of a slot, at least the one that it states now.
    ///     error_log2: log2 of a bound on the error of a slot, at least the one that it states now.
    ///
    /// Raises
    /// ------
    ///     EncodingError: a bound that is not positive, or below the one that it states.
    fn restated(
        &self,
        #[pyo3(from_py_with = given)] magnitude: f64,
        #[pyo3(from_py_with = given)] error_log2: f64,
    ) -> PyResult<Self> {
        let meta = self.meta().clone();
        let (bound, error) = (meta.noise.magnitude(), meta.error_log2());
        // What was rounded on the way is taken for itself.
        let holds = magnitude >= bound * (1.0 - 1e-9) && error_log2 >= error - 1e-9;
        if !(holds && magnitude.is_finite() && magnitude > 0.0 && error_log2.is_finite()) {
            let message = format!(
                "A magnitude of {magnitude:?} and an error of 2^{error_log2:.1} do not hold: the ciphertext states {bound:?} and \
                 2^{error:.1}. Give bounds that are no smaller."
            );
            return Err(Failure::rule(Family::Encoding, "BadBound", &message).into());
        }
        let noise = ckks::Noise::exact(magnitude, 0).with_bias(error_log2.exp2());
        self.described(ckks::Meta { noise, ..meta })
    }

    /// Bytes of its residues: as it is stored, with a seed half as many.
    #[getter]
    fn nbytes(&self) -> usize {
        self.seeded.as_ref().map_or_else(|| self.full().bytes(), ckks::SeededCiphertext::bytes)
    }

    /// Polynomials: 2, or 3 for a product that is not relinearised.
    #[getter]
    fn parts(&self) -> usize {
        if self.seeded.is_some() { 2 } else { self.full().polys().len() }
    }

    /// The same ciphertext seen with another number of slots: more of them repeat those that there are; fewer are right
    /// only where the slots repeat so soon.
    ///
    /// Raises
    /// ------
    ///     EncodingError: a number of slots that is no power of two from 1 to N/2.
    fn with_slots(&self, slots: &Bound<'_, PyAny>) -> PyResult<Self> {
        let params = self.context();
        let power = format_args!("that is a power of two from 1 to {}", params.slots());
        let slots: usize = whole(Family::Encoding, "slots", slots, power)?;
        if !slots.is_power_of_two() || slots > params.n() / 2 {
            let message =
                format!("{slots} slots are no power of two up to {}, half of the degree", params.n() / 2);
            return Err(Failure::rule(Family::Encoding, "Slots", &message).into());
        }
        self.described(ckks::Meta { slots, ..self.meta().clone() })
    }

    /// The predicted error beside that of decrypted slots.
    ///
    /// Args:
    ///     decrypted: all slots, as `SecretKey.decrypt` gives them.
    ///     expected: what they should be, as many numbers.
    ///     predicted: log2 of the predicted error, if another one is known than the ciphertext carries.
    ///
    /// Raises
    /// ------
    ///     MismatchError: more or fewer numbers than slots.
    #[pyo3(signature = (decrypted, expected, predicted = None))]
    fn compare(
        &self,
        decrypted: Arg<PyArrayLike1<'_, Complex64, AllowTypeChange>>,
        expected: Arg<PyArrayLike1<'_, Complex64, AllowTypeChange>>,
        #[pyo3(from_py_with = given)] predicted: Option<f64>,
    ) -> PyResult<Comparison> {
        let (got, wanted) = (decrypted.as_array().to_vec(), expected.as_array().to_vec());
        let compared = self.meta().compare(&got, &wanted);
        let refused = |e| format!("{e}; give one number for every slot");
        let mut compared = compared.map_err(|e| Failure::rule(Family::Mismatch, "Count", &refused(e)))?;
        compared.predicted_log2 = predicted.unwrap_or(compared.predicted_log2);
        Ok(Comparison(compared))
    }

    /// The ciphertext as bytes for a file, with all its attributes and a checksum.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| match &self.seeded {
            Some(seeded) => seeded.to_bytes(),
            None => self.full().to_bytes(),
        });
        Ok(PyBytes::new(py, &bytes.map_err(|e| Failure::file(&e))?))
    }

    /// Reads what `to_bytes` wrote.
    ///
    /// Raises
    /// ------
    ///     FileFormatError: damaged bytes, or another kind of file.
    ///     MismatchError: a ciphertext of other parameters; no bytes.
    #[staticmethod]
    fn from_bytes(
        py: Python<'_>,
        params: Arg<Bound<'_, Params>>,
        #[pyo3(from_py_with = given)] data: &[u8],
    ) -> PyResult<Self> {
        let (params, data) = (params.get().inner.clone(), data);
        py.detach(|| match ckks::SeededCiphertext::from_bytes(&params, data) {
            Ok(seeded) => Ok(Self::seeded(seeded)),
            Err(FileError::Kind { .. }) => ckks::Ciphertext::from_bytes(&params, data).map(Self::from),
            Err(error) => Err(error),
        })
        .map_err(|e| Failure::file(&e).into())
    }

    /// Reads a file that holds what `to_bytes` wrote: no more of it than such a ciphertext has.
    ///
    /// Raises
    /// ------
    ///     FileFormatError: a file that cannot be read, is damaged or of another kind.
    ///     MismatchError: a ciphertext of other parameters.
    #[staticmethod]
    fn load(
        py: Python<'_>,
        params: Arg<Bound<'_, Params>>,
        #[pyo3(from_py_with = given)] path: PathBuf,
    ) -> PyResult<Self> {
        let params = params.get();
        py.detach(|| match ckks::SeededCiphertext::load(&params.inner, &path) {
            Ok(seeded) => Ok(Self::seeded(seeded)),
            Err(FileError::Kind { .. }) => ckks::Ciphertext::load(&params.inner, &path).map(Self::from),
            Err(error) => Err(error),
        })
        .map_err(|e| Failure::file(&e).into())
    }

    fn __repr__(&self) -> String {
        let meta = self.meta();
        format!(
            "Ciphertext({} slots, level {}, scale 2^{:.2}, predicted error 2^{:.1}, {} bytes)",
            meta.slots,
            meta.level,
            meta.scale.log2(),
            meta.error_log2(),
            self.nbytes()
        )
    }
}
