//! Arguments of one type. A value of another type is refused with a message, here for all functions.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::PathBuf;

use numpy::{AllowTypeChange, Complex64, PyArrayLike1, PyReadonlyArray1};
use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString, PyType};
use ringmill_errors::Field;

use crate::cipher::Ciphertext;
use crate::error::{Failure, Family};
use crate::evaluation::EvaluationKeys;
use crate::keys::{Key, Made, PublicKey, SecretKey};
use crate::params::Params;
use crate::plan::Plan;
use crate::switching::Costs;
use crate::whole::shown;

/// An argument that is read as a `T`. Anything else is a `MismatchError`, to which Python adds the argument's name
/// (`RingmillError.add_note`).
pub(crate) struct Arg<T>(pub(crate) T);

impl<T> Deref for Arg<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// What is read as an argument.
pub(crate) trait Wanted {
    /// What to give, as text for the message.
    const WORDS: &'static str;
}

impl<'a, 'py, T: Wanted + FromPyObject<'a, 'py>> FromPyObject<'a, 'py> for Arg<T> {
    type Error = PyErr;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        given.extract().map(Self).map_err(|e: T::Error| {
            let error = e.into();
            // An interrupt is no refusal.
            if error.is_instance_of::<PyException>(given.py()) { refused(&given, T::WORDS) } else { error }
        })
    }
}

/// A function that receives the progress of a run.
pub(crate) struct Told(pub(crate) Py<PyAny>);

impl<'py> FromPyObject<'_, 'py> for Told {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        // A class is callable too, and is never what was meant.
        if given.is_callable() && !given.is_instance_of::<PyType>() {
            return Ok(Self(given.to_owned().unbind()));
        }
        Err(PyTypeError::new_err("not a function"))
    }
}

impl Wanted for Told {
    const WORDS: &'static str = "a function of the steps that are done and all steps";
}

/// As [`Arg`], for arguments with a default.
pub(crate) fn given<'a, 'py, T: Wanted + FromPyObject<'a, 'py>>(given: &'a Bound<'py, PyAny>) -> PyResult<T> {
    given.extract().map(|Arg(read)| read)
}

/// The error of an argument that is not one of `words`, still without the argument's name.
fn refused(given: &Bound<'_, PyAny>, words: &str) -> PyErr {
    let plain = given.is_none()
        || given.is_instance_of::<PyBool>()
        || given.is_instance_of::<PyInt>()
        || given.is_instance_of::<PyFloat>()
        || given.is_instance_of::<PyString>();
    // Of other things the type alone: bytes may be a secret key's.
    let found = match given.get_type().name() {
        Ok(name) if !plain => format!("of type {name}"),
        _ => shown(given),
    };
    let message = format!("the argument is {found}; give {words}");
    let fields = [("expected", Field::Text(words.into())), ("found", Field::Text(found))];
    Failure::rule(Family::Mismatch, "WrongKind", &message).with(fields).into()
}

impl<T: Wanted> Wanted for Option<T> {
    const WORDS: &'static str = T::WORDS;
}

macro_rules! wanted {
    ($($type:ty: $words:literal;)*) => {$(
        impl Wanted for $type {
            const WORDS: &'static str = $words;
        }
    )*};
}

wanted! {
    &str: "a text";
    f64: "a number";
    i64: "a whole number";
    u64: "a whole number from 0 up";
    bool: "True or False";
    PathBuf: "a path";
    &[u8]: "the bytes of a file, as pathlib.Path(path).read_bytes() reads them";
    Vec<String>: "a list of texts";
    Vec<f64>: "a list of numbers";
    PyArrayLike1<'_, Complex64, AllowTypeChange>: "numbers in one dimension";
    PyReadonlyArray1<'_, i64>: "whole numbers in one dimension, as an array of int64";
    Bound<'_, Params>: "Params, as rm.Params.named(\"III\")";
    Bound<'_, Costs>: "Costs, as ringmill.switching.costs_of(\"cpu\")";
    Bound<'_, Plan>: "a Plan, as compiled.plan";
    Bound<'_, SecretKey>: "a SecretKey, as keys.secret";
    Made<'_>: "a PublicKey or EvaluationKeys, as keys.public or keys.evaluation";
    Key<'_>: "a PublicKey or SecretKey, as keys.public or keys.secret";
    Bound<'_, PublicKey>: "a PublicKey, as keys.public";
    Bound<'_, EvaluationKeys>: "EvaluationKeys, as keys.evaluation";
    BTreeMap<String, Py<Ciphertext>>: "native ciphertexts by the names of inputs";
    BTreeMap<String, f64>: "numbers by the names of vectors";
    Bound<'_, Ciphertext>: "a native Ciphertext, as x.native or what key.encrypt() gives";
}
