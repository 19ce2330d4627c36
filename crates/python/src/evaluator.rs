//! Operations one by one: each is a small HE program, lowered once a shape.

use std::collections::BTreeMap;
use std::sync::Arc;

use num_complex::Complex64;
use numpy::{AllowTypeChange, PyArrayLike1};
use pyo3::prelude::*;

use ringmill::{Bootstrapper, Input, Number, Runner};
use ringmill_ckks as ckks;
use ringmill_ckks::{Level, Scale};
use ringmill_program::he::{HeError, INTEGER_FACTOR_MAX, Lookup};
use ringmill_program::manage::{Encryption, KeySet, Promise};

use crate::argument::{Arg, Told, given};
use crate::bootstrap::content;
use crate::cipher::Ciphertext;
use crate::codec;
use crate::error::{Failure, Family};
use crate::evaluation::EvaluationKeys;
use crate::executable::stoppable;
use crate::literal::choice;
use crate::machines::{self, Named};
use crate::packing::declared;
use crate::params::Params;
use crate::switching;
use crate::whole::{STEPS, whole, wholes, within};

/// Computes on ciphertexts of one parameter set with the keys it was given, one operation at a time.
///
/// Each operation is a small program, lowered once a shape (operation, level, polynomials) and kept. Operands are native
/// ciphertexts, as keys' `encrypt` gives them and `rm.Ciphertext.native` holds them. Both of a pair have one level and as many
/// slots: `rm.Ciphertext` brings together what an evaluator refuses. Every result has a predicted error (`error_log2`) and a
/// bound on its size (`magnitude`).
///
/// Every operation raises `MismatchError` for ciphertexts of other parameters or of different secret keys. An
/// operation that takes keys raises it also for a ciphertext under another secret key than theirs.
/// `LevelError`: a result whose scale is too large for the modulus of its level.
///
/// Args:
///     keys: what it computes with; nothing secret.
///     machine: "cpu" (the default), "reference" (written for clarity), "compact" (the emulated core), each perhaps with options as
///         "cpu:threads=4", or a value of `rm.machines`. Results are the same bit for bit.
///     threads: an option of `machine` in its old place; it will go.
///     switching: how keys are switched, as `Kernel.compile` takes it; "seal" and "openfhe" give the residues that the library
///         would compute for the same operations.
///
/// Raises
/// ------
///     MachineError: another machine, an option that it has not, or threads that the system refuses.
///     ParameterError: a way of key switching that there is not, or that the parameters do not allow.
#[pyclass(frozen, module = "ringmill._native")]
pub(crate) struct Evaluator {
    face: ringmill::Evaluator,
    machine: String,
    keys: Arc<ckks::EvaluationKeys>,
    bootstrapper: Arc<Bootstrapper>,
    runner: Arc<Runner>,
}

type Outcome = Result<ckks::Ciphertext, ringmill::Error>;

impl Evaluator {
    /// Runs without the interpreter's lock.
    fn run(
        &self,
        py: Python<'_>,
        operation: impl FnOnce(&ringmill::Evaluator) -> Outcome + Send,
    ) -> PyResult<Ciphertext> {
        py.detach(|| operation(&self.face)).map(Ciphertext::from).map_err(|e| Failure::face(&e).into())
    }

    /// The scale of a plaintext factor: that of `a`, so that all products at a level have one scale. If the
    /// prime that a rescale divides by is [far](is_near) from it, the scale is that prime, and the scale of
    /// `a` stays.
    fn factor_scale(&self, a: &ckks::Ciphertext) -> Result<Scale, Failure> {
        let prime = self.face.factor_scale(a).map_err(|e| Failure::face(&e))?;
        Ok(if is_near(a.scale(), &prime) { a.scale().clone() } else { prime })
    }

    fn plain(
        &self,
        a: &ckks::Ciphertext,
        values: &[Complex64],
        magnitude: Option<f64>,
        scale: &Scale,
    ) -> Result<ckks::Plaintext, Failure> {
        let real = codec::real(values);
        let values = codec::slots(values, real.as_deref());
        self.face
            .encode_within(values, declared(magnitude), a.slots(), a.level(), scale)
            .map_err(|e| Failure::face(&e))
    }

    /// The same to multiply by: never zero.
    fn factor(
        &self,
        a: &ckks::Ciphertext,
        values: &[Complex64],
        magnitude: Option<f64>,
        scale: &Scale,
    ) -> Result<ckks::Plaintext, Failure> {
        let real = codec::real(values);
        let values = codec::slots(values, real.as_deref());
        self.face
            .encode_factor(values, declared(magnitude), a.slots(), a.level(), scale)
            .map_err(|e| Failure::face(&e))
    }
}

/// Whether a scale and a prime are within a factor of two: a product of two such values that the prime divides has hardly another
/// scale than they.
pub(crate) fn is_near(scale: &Scale, prime: &Scale) -> bool {
    (scale.log2() - prime.log2()).abs() < 1.0
}

/// The call that makes keys.
fn keygen(keys: &KeySet) -> String {
    let rotations: Vec<String> = keys.rotations.iter().map(ToString::to_string).collect();
    let flag = |wanted: bool, word: &str| if wanted { format!(", {word}=True") } else { String::new() };
    let (conjugation, encapsulation) =
        (flag(keys.conjugate, "conjugation"), flag(keys.encapsulation, "encapsulation"));
    format!("keygen(params, rotations=[{}]{conjugation}{encapsulation})", rotations.join(", "))
}

#[pymethods]
impl Evaluator {
    #[new]
    #[pyo3(signature = (keys, machine = None, threads = None, *, switching = "hybrid"))]
    fn new(
        keys: Arg<Bound<'_, EvaluationKeys>>,
        machine: Option<Arg<Named>>,
        threads: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = given)] switching: &str,
    ) -> PyResult<Self> {
        let mut spec = machine.map_or_else(|| Named::Text("cpu".into()), |named| named.0).spec()?;
        if let Some(threads) = threads {
            spec = machines::with(spec, "threads", threads)?;
            machines::deprecated(keys.py(), "threads", &spec)?;
        }
        let keys = keys.get().0.clone();
        let machine = machines::open(&spec)?;
        let face = match switching {
            // Without a choice no costs are needed.
            "hybrid" => {
                ringmill::Evaluator::with_machine(keys.params(), machine).map_err(|e| Failure::face(&e))?
            }
            _ => switching::evaluator(keys.params(), machine, switching)?,
        };
        let (bootstrapper, runner) =
            (Arc::new(Bootstrapper::new(&face)), Arc::new(Runner::with_keys(&face, keys.galois())));
        Ok(Self { face, machine: spec.to_string(), keys, bootstrapper, runner })
    }

    /// The identity of the secret key of its keys, as `EvaluationKeys.identity`.
    #[getter]
    fn identity(&self) -> Option<String> {
        self.keys.identity().map(|identity| identity.to_string())
    }

    /// The parameters of its keys.
    #[getter]
    fn params(&self) -> Params {
        self.face.params().clone().into()
    }

    /// a + b, slot by slot, at the level and scale of both. Exact; errors add up.
    ///
    /// Raises
    /// ------
    ///     MismatchError: other parameters, levels, scales or numbers of slots.
    fn add(
        &self,
        py: Python<'_>,
        a: Arg<Bound<'_, Ciphertext>>,
        b: Arg<Bound<'_, Ciphertext>>,
    ) -> PyResult<Ciphertext> {
        let (a, b) = (a.get().full(), b.get().full());
        self.run(py, |e| e.add(a, b))
    }

    /// a − b, slot by slot, at the level and scale of both. Exact; errors add up.
    ///
    /// Raises
    /// ------
    ///     MismatchError: other parameters, levels, scales or numbers of slots.
    fn sub(
        &self,
        py: Python<'_>,
        a: Arg<Bound<'_, Ciphertext>>,
        b: Arg<Bound<'_, Ciphertext>>,
    ) -> PyResult<Ciphertext> {
        let (a, b) = (a.get().full(), b.get().full());
        self.run(py, |e| e.sub(a, b))
    }

    /// −a, at the same level and scale. Exact.
    ///
    /// Raises
    /// ------
    ///     MismatchError: other parameters.
    fn negate(&self, py: Python<'_>, a: Arg<Bound<'_, Ciphertext>>) -> PyResult<Ciphertext> {
        let a = a.get().full();
        self.run(py, |e| e.negate(a))
    }

    /// a · b, slot by slot, relinearised and rescaled: one level less. The scale is the product of both over the prime that
    /// is given up. The product of an object with itself is a square, which takes less.
    ///
    /// Raises
    /// ------
    ///     KeyMissingError: no relinearisation key.
    ///     LevelError: at level 0.
    ///     MismatchError: other parameters, levels or numbers of slots.
    fn multiply(
        &self,
        py: Python<'_>,
        a: Arg<Bound<'_, Ciphertext>>,
        b: Arg<Bound<'_, Ciphertext>>,
    ) -> PyResult<Ciphertext> {
        let square = a.is(&*b);
        let (a, b) = (a.get().full(), b.get().full());
        self.run(py, |e| match square {
            true => e.square_relinearise_rescale(a, self.keys.relin()?),
            false => e.multiply_relinearise_rescale(a, b, self.keys.relin()?),
        })
    }

    /// a + values, slot by slot, at the same level and scale.
    ///
    /// Args:
    ///     a: the ciphertext.
    ///     values: real or complex numbers in one dimension, at most as many as `a` has slots; the slots beyond them stay.
    ///     magnitude: bound on the size of the values, which is public; 1 if it is not given.
    ///
    /// Raises
    /// ------
    ///     EncodingError: values that are not finite, too many, beyond the bound, or too large for the level.
    ///     MismatchError: other parameters.
    #[pyo3(signature = (a, values, magnitude = None))]
    fn add_plain(
        &self,
        py: Python<'_>,
        a: Arg<Bound<'_, Ciphertext>>,
        values: Arg<PyArrayLike1<'_, Complex64, AllowTypeChange>>,
        #[pyo3(from_py_with = given)] magnitude: Option<f64>,
    ) -> PyResult<Ciphertext> {
        let (a, values) = (a.get().full(), values.as_array().to_vec());
        let plain = py.detach(|| self.plain(a, &values, magnitude, a.scale()))?;
        self.run(py, |e| e.add_plain(a, &plain))
    }

    /// a · values, slot by slot, rescaled: one level less, at the scale that products of `a` with ciphertexts have there.
    ///
    /// Args:
    ///     a: the ciphertext.
    ///     values: real or complex numbers in one dimension, at most as many as `a` has slots; the slots beyond them become 0.
    ///     magnitude: bound on the size of the values, which is public; 1 if it is not given.
    ///
    /// Raises
    /// ------
    ///     EncodingError: values that are not finite, too many, beyond the bound, or too large for the level.
    ///     LevelError: at level 0.
    ///     MismatchError: other parameters.
    #[pyo3(signature = (a, values, magnitude = None))]
    fn multiply_plain(
        &self,
        py: Python<'_>,
        a: Arg<Bound<'_, Ciphertext>>,
        values: Arg<PyArrayLike1<'_, Complex64, AllowTypeChange>>,
        #[pyo3(from_py_with = given)] magnitude: Option<f64>,
    ) -> PyResult<Ciphertext> {
        let (a, values) = (a.get().full(), values.as_array().to_vec());
        let scale = self.factor_scale(a)?;
        let plain = py.detach(|| self.factor(a, &values, magnitude, &scale))?;
        self.run(py, |e| e.rescale(&e.multiply_plain(a, &plain)?))
    }

    /// a + c in every slot, at the same level and scale.
    ///
    /// Args:
    ///     a: the ciphertext.
    ///     c: the number.
    ///     magnitude: bound on its size, which is public; 1 if it is not given.
    ///
    /// Raises
    /// ------
    ///     EncodingError: a number that is not finite, or beyond the bound.
    ///     MismatchError: other parameters.
    #[pyo3(signature = (a, c, magnitude = None))]
    fn add_scalar(
        &self,
        py: Python<'_>,
        a: Arg<Bound<'_, Ciphertext>>,
        #[pyo3(from_py_with = given)] c: f64,
        #[pyo3(from_py_with = given)] magnitude: Option<f64>,
    ) -> PyResult<Ciphertext> {
        let a = a.get().full();
        self.run(py, |e| e.add_scalar(a, Number { value: c, declared: declared(magnitude) }))
    }

    /// a · c in every slot, rounded at the scale of products: one level less, whatever the number is.
    ///
    /// Args:
    ///     a: the ciphertext.
    ///     c: the number.
    ///     magnitude: bound on its size, which is public; 1 if it is not given.
    ///
    /// Raises
    /// ------
    ///     EncodingError: a number that is not finite, or beyond the bound.
    ///     LevelError: at level 0.
    ///     MismatchError: other parameters.
    #[pyo3(signature = (a, c, magnitude = None))]
    fn multiply_scalar(
        &self,
        py: Python<'_>,
        a: Arg<Bound<'_, Ciphertext>>,
        #[pyo3(from_py_with = given)] c: f64,
        #[pyo3(from_py_with = given)] magnitude: Option<f64>,
    ) -> PyResult<Ciphertext> {
        let a = a.get().full();
        let scale = self.factor_scale(a)?;
        // What would be rounded to zero is rounded to one, so that the product is no transparent ciphertext.
        let (unit, declared) = ((-scale.log2()).exp2(), declared(magnitude));
        let value = if c.abs() < unit && unit <= declared.get() { unit } else { c };
        self.run(py, |e| e.rescale(&e.multiply_scalar_at(a, Number { value, declared }, scale)?))
    }

    /// a · c in every slot for a whole number, exactly and at the same level and scale. The number is public.
    ///
    /// Raises
    /// ------
    ///     EncodingError: a number that is not whole, or not within ±2^20.
    ///     MismatchError: other parameters.
    fn multiply_integer(
        &self,
        py: Python<'_>,
        a: Arg<Bound<'_, Ciphertext>>,
        c: &Bound<'_, PyAny>,
    ) -> PyResult<Ciphertext> {
        let most = INTEGER_FACTOR_MAX as i128;
        let c: i32 = within(Family::Encoding, "c", c, (-most, most))?;
        let a = a.get().full();
        self.run(py, |e| e.multiply_integer(a, c))
    }

    /// Slot i of the result is slot i + `steps` of `a`, cyclically over its slots: as `numpy.roll(a, -steps)`. The same level
    /// and scale.
    ///
    /// Args:
    ///     a: the ciphertext.
    ///     steps: slots to the left, any whole number; negative ones rotate to the right, and 0 needs no key.
    ///
    /// Raises
    /// ------
    ///     EncodingError: steps that are no whole number.
    ///     KeyMissingError: no key for this rotation.
    ///     MismatchError: other parameters.
    fn rotate(
        &self,
        py: Python<'_>,
        a: Arg<Bound<'_, Ciphertext>>,
        steps: &Bound<'_, PyAny>,
    ) -> PyResult<Ciphertext> {
        let (a, steps) = (a.get().full(), whole(Family::Encoding, "steps", steps, STEPS)?);
        self.run(py, |e| e.rotate(a, steps, self.keys.galois()))
    }

    /// Several rotations of one ciphertext, each as `rotate` gives it. What they share is computed once: eight take
    /// little more than half of the time.
    ///
    /// Args:
    ///     a: the ciphertext.
    ///     steps: a list of what `rotate` takes.
    ///
    /// Raises
    /// ------
    ///     EncodingError: no list of whole numbers.
    ///     KeyMissingError: no key for one of these rotations.
    ///     MismatchError: other parameters.
    fn rotate_hoisted(
        &self,
        py: Python<'_>,
        a: Arg<Bound<'_, Ciphertext>>,
        steps: &Bound<'_, PyAny>,
    ) -> PyResult<Vec<Ciphertext>> {
        let (a, steps) = (a.get().full(), wholes::<i64>(Family::Encoding, "steps", steps, STEPS)?);
        let turned = py.detach(|| self.face.rotate_hoisted(a, &steps, self.keys.galois()));
        Ok(turned.map_err(|e| Failure::face(&e))?.into_iter().map(Ciphertext::from).collect())
    }

    /// The complex conjugate of every slot, at the same level and scale.
    ///
    /// Raises
    /// ------
    ///     KeyMissingError: no conjugation key.
    ///     MismatchError: other parameters.
    fn conjugate(&self, py: Python<'_>, a: Arg<Bound<'_, Ciphertext>>) -> PyResult<Ciphertext> {
        let a = a.get().full();
        self.run(py, |e| e.conjugate(a, self.keys.galois()))
    }

    /// Every slot becomes the sum of `count` slots from it on, cyclically; of all of them, the total. The same level and scale.
    ///
    /// Args:
    ///     a: the ciphertext.
    ///     count: 1 to the slots of `a`. A power of two needs the keys of rotations by the powers of two below it; another
    ///         count up to twice as many, of which an error names the first that is missing.
    ///
    /// Raises
    /// ------
    ///     EncodingError: another count.
    ///     KeyMissingError: no key for one of the rotations.
    ///     MismatchError: other parameters.
    fn sum(
        &self,
        py: Python<'_>,
        a: Arg<Bound<'_, Ciphertext>>,
        count: &Bound<'_, PyAny>,
    ) -> PyResult<Ciphertext> {
        let a = a.get().full();
        let count = whole(Family::Encoding, "count", count, format_args!("from 1 to {}", a.slots()))?;
        self.run(py, |e| e.sum(a, count, 1, self.keys.galois()))
    }

    /// Divides by the last prime: one level less, the scale divided by that prime, the same values up to rounding.
    ///
    /// Raises
    /// ------
    ///     LevelError: at level 0.
    ///     MismatchError: other parameters.
    fn rescale(&self, py: Python<'_>, a: Arg<Bound<'_, Ciphertext>>) -> PyResult<Ciphertext> {
        let a = a.get().full();
        self.run(py, |e| e.rescale(a))
    }

    /// The same values and scale at a lower level: less to compute and to send. Exact.
    ///
    /// Args:
    ///     a: the ciphertext.
    ///     level: 0 to the level of `a`.
    ///
    /// Raises
    /// ------
    ///     LevelError: another level, or one whose modulus does not hold the scale.
    ///     MismatchError: other parameters.
    fn drop_level(
        &self,
        py: Python<'_>,
        a: Arg<Bound<'_, Ciphertext>>,
        level: &Bound<'_, PyAny>,
    ) -> PyResult<Ciphertext> {
        let a = a.get().full();
        let level = whole(Family::Level, "level", level, format_args!("from 0 to {}", a.level()))?;
        self.run(py, |e| e.drop_level(a, Level::new(level)))
    }

    /// The same values with fresh levels, as many as `params.bootstraps["levels"]`, and more error than before.
    ///
    /// Args:
    ///     a: four slots or more, at the level `params.bootstraps["start"]` or above.
    ///     real: whether all values are real, which takes less time. The imaginary part is lost.
    ///     iterations: 1, or 2 for up to 36 bits in twice the time; None for `params.bootstraps["iterations"]`.
    ///     progress: hears now and then the steps that the machine has done and all that it will do.
    ///
    /// Raises
    /// ------
    ///     KeyMissingError: a key that `rm.bootstrap_keys` lists is missing.
    ///     MismatchError: other parameters, or a level too low.
    ///     ParameterError: another number of iterations.
    ///     ProgramError: too few slots, or parameters with too few levels to bootstrap.
    #[pyo3(signature = (a, real, iterations = None, progress = None))]
    fn bootstrap(
        &self,
        py: Python<'_>,
        a: Arg<Bound<'_, Ciphertext>>,
        #[pyo3(from_py_with = given)] real: bool,
        iterations: Option<&Bound<'_, PyAny>>,
        progress: Option<Arg<Told>>,
    ) -> PyResult<Ciphertext> {
        let (a, keys, bootstrapper) = (a.get().full().clone(), self.keys.clone(), self.bootstrapper.clone());
        let iterations = choice("iterations", iterations, "from 1 to 2")?;
        let result = stoppable(py, progress.map(|reported| reported.0.0), move |watch| {
            bootstrapper.bootstrap_watched(&a, &keys, content(real), iterations, watch).map_err(|error| {
                let real = if real { "" } else { ", real=False" };
                let all = format!("keygen(params, **rm.bootstrap_keys(params, {}{real}))", a.slots());
                Failure::face(&error).all_keys(&all)
            })
        })?;
        Ok(Ciphertext::from(result))
    }

    /// The entries of a table for the whole numbers in all slots, with fresh levels.
    ///
    /// Args:
    ///     a: four slots or more, at the level `params.bootstraps["start"]` or above.
    ///     entries: 2 to 256 numbers, not all equal.
    ///     first: the number that the first entry is for.
    ///     noise: how far the numbers may be from whole ones, less than 0.5.
    ///     progress: hears now and then the steps that the machine has done and all that it will do.
    ///
    /// Raises
    /// ------
    ///     KeyMissingError: a key that `rm.bootstrap_keys` lists is missing.
    ///     MismatchError: other parameters, a level too low, or an error that reaches one half.
    ///     ProgramError: a table that cannot be looked up, too few slots, or parameters with too few levels.
    #[pyo3(signature = (a, entries, first, noise, progress = None))]
    fn lookup(
        &self,
        py: Python<'_>,
        a: Arg<Bound<'_, Ciphertext>>,
        entries: Arg<Vec<f64>>,
        first: Arg<i64>,
        noise: Arg<f64>,
        progress: Option<Arg<Told>>,
    ) -> PyResult<Ciphertext> {
        let (a, keys, bootstrapper) = (a.get().full().clone(), self.keys.clone(), self.bootstrapper.clone());
        let table =
            Lookup::new(entries.0, first.0, noise.0).map_err(|rule| Failure::he(&HeError::new(rule)))?;
        let result = stoppable(py, progress.map(|reported| reported.0.0), move |watch| {
            bootstrapper.look_up_watched(&a, &keys, &table, watch).map_err(|error| {
                let all = format!("keygen(params, **rm.bootstrap_keys(params, {}))", a.slots());
                Failure::face(&error).all_keys(&all)
            })
        })?;
        Ok(Ciphertext::from(result))
    }

    /// Runs a traced program (`Traced.text`) on ciphertexts as they are; its results end as high as their level lets them. The
    /// program is compiled once for each level and scale, and the latest eight are kept.
    ///
    /// Args:
    ///     text: the program.
    ///     inputs: ciphertexts of one level, one scale and as many slots as the program has, by the names of its inputs; what no
    ///         result needs is not read.
    ///     magnitude: bound on the size of the inputs.
    ///     bound: bound on the size of every value.
    ///     real: whether all inputs are real.
    ///     progress: hears now and then the steps that the machine has done and all that it will do.
    ///     vectors: public bounds on the size of vectors that the program holds, by their names; of another vector the next power of
    ///         two shows, and numbers that stand in all slots show in full.
    ///
    /// Raises
    /// ------
    ///     KeyMissingError: keys that the program needs are missing.
    ///     MismatchError: ciphertexts of other parameters, levels, scales or numbers of slots, or under different secret keys.
    ///     ProgramError: no traced program, one of other inputs, or one that is deeper than the level and cannot be bootstrapped.
    #[pyo3(signature = (text, inputs, magnitude, bound, real, progress = None, vectors = None))]
    #[allow(clippy::too_many_arguments)] // the facade in Python names them
    fn evaluate(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = given)] text: &str,
        #[pyo3(from_py_with = given)] inputs: BTreeMap<String, Py<Ciphertext>>,
        #[pyo3(from_py_with = given)] magnitude: f64,
        #[pyo3(from_py_with = given)] bound: f64,
        #[pyo3(from_py_with = given)] real: bool,
        progress: Option<Arg<Told>>,
        #[pyo3(from_py_with = given)] vectors: Option<BTreeMap<String, f64>>,
    ) -> PyResult<BTreeMap<String, Ciphertext>> {
        // At the prompt ciphertexts say their errors.
        let encryption = Encryption::default();
        let promise = Promise { inputs: magnitude, plain: magnitude, values: bound, real, encryption };
        let inputs: Vec<_> = inputs.into_iter().map(|(name, c)| (name, c.get().full().clone())).collect();
        let (text, keys, runner) = (text.to_owned(), self.keys.clone(), self.runner.clone());
        let vectors = vectors.unwrap_or_default();
        let results = stoppable(py, progress.map(|reported| reported.0.0), move |watch| {
            let Some((_, first)) = inputs.first() else {
                return Err(Failure::rule(Family::Program, "Arguments", "a program without ciphertexts"));
            };
            let at = (first.level(), first.scale());
            let kernel = runner.kernel(&text, at, promise, &vectors).map_err(|e| Failure::face(&e))?;
            let takes = |name: &str| kernel.cipher_inputs().any(|(taken, ..)| taken == name);
            let taken = inputs.iter().filter(|(name, _)| takes(name));
            let inputs = taken.map(|(name, c)| (name.clone(), Input::Cipher(c))).collect();
            let results = kernel.run_watched(&inputs, &keys, watch);
            results.map_err(|e| Failure::face(&e).all_keys(&keygen(&kernel.summary().keys)).or_bootstrapped())
        })?;
        Ok(results.into_iter().map(|(name, c)| (name, Ciphertext::from(c))).collect())
    }

    /// `a` at the exact scale of `b` and at `level`: a product with 1 at the scale that is missing, rescaled. Where that scale
    /// cannot be encoded `a` keeps its own, and sums with `b` say that they differ.
    ///
    /// Args:
    ///     a: the ciphertext to bring.
    ///     b: whose scale is taken.
    ///     level: 0 to one below the level of `a`.
    ///
    /// Raises
    /// ------
    ///     LevelError: another level, or `a` at level 0.
    ///     MismatchError: other parameters.
    fn aligned(
        &self,
        py: Python<'_>,
        a: Arg<Bound<'_, Ciphertext>>,
        b: Arg<Bound<'_, Ciphertext>>,
        level: &Bound<'_, PyAny>,
    ) -> PyResult<Ciphertext> {
        let (a, b) = (a.get().full(), b.get().full());
        let Some(most) = a.level().down().map(|l| i128::from(l.get())) else {
            return Err(Failure::face(&ringmill::Error::LevelExhausted { op: "aligned" }).into());
        };
        let level = Level::new(within(Family::Level, "level", level, (0, most))?);
        let above = Level::new(level.get() + 1);
        self.run(py, |e| {
            let a = if a.level() > above { e.drop_level(a, above)? } else { (**a).clone() };
            let factor = b.scale().mul(&e.factor_scale(&a)?).div(a.scale());
            match e.encode(vec![1.0; a.slots()].as_slice(), a.slots(), above, &factor) {
                Ok(one) => e.rescale(&e.multiply_plain(&a, &one)?),
                // A factor that cannot be encoded: let the operation itself say that the scales differ.
                Err(_) => e.drop_level(&a, level),
            }
        })
    }

    fn __repr__(&self) -> String {
        format!("Evaluator(machine \"{}\"; {})", self.machine, crate::evaluation::described(&self.keys))
    }
}
