//! What a user writes down of parameters.

use std::fmt::Display;

use pyo3::prelude::*;

use ringmill_ckks as ckks;

use crate::error::{Failure, Family};
use crate::whole::{whole, within};

/// How secret keys are drawn.
pub(crate) fn secret(name: &str, weight: Option<&Bound<'_, PyAny>>) -> Result<ckks::Secret, Failure> {
    let unknown = |message: &str| Failure::rule(Family::Parameter, "UnknownSecret", message);
    match (name, weight) {
        ("ternary", None) => Ok(ckks::Secret::Ternary),
        ("ternary", Some(weight)) => {
            let weight = whole(Family::Parameter, "weight", weight, "from 1 to N")?;
            Ok(ckks::Secret::TernaryWeight { weight })
        }
        ("gaussian", None) => Ok(ckks::Secret::Gaussian),
        ("gaussian", Some(weight)) => Err(unknown(&format!(
            "a Gaussian secret has no weight, and {weight} was given; leave the weight out, or choose \"ternary\""
        ))),
        _ => Err(unknown(&format!(
            "secret {name:?} is not known: choose \"ternary\", with or without a weight, or \"gaussian\""
        ))),
    }
}

/// A number given as `name`.
pub(crate) fn number<T: TryFrom<i128>>(
    name: &str,
    given: &Bound<'_, PyAny>,
    range: impl Display,
) -> Result<T, Failure> {
    whole(Family::Parameter, name, given, range)
}

/// A number given as `name`, if one was.
pub(crate) fn choice<T: TryFrom<i128>>(
    name: &str,
    given: Option<&Bound<'_, PyAny>>,
    range: &str,
) -> Result<Option<T>, Failure> {
    given.map(|given| number(name, given, range)).transpose()
}

/// The same, refused outside of the range.
pub(crate) fn limited<T: TryFrom<i128>>(
    name: &str,
    given: Option<&Bound<'_, PyAny>>,
    range: (i128, i128),
) -> Result<Option<T>, Failure> {
    given.map(|given| within(Family::Parameter, name, given, range)).transpose()
}

pub(crate) const LOG_N: &str = "from 10 to 17";
pub(crate) const COUNT: &str = "from 0 up, of a size that makes sense";
pub(crate) const SCALE: &str = "from 1 to 90";

/// Digits of a key switch over `primes` primes.
pub(crate) fn digits(given: &Bound<'_, PyAny>, primes: usize) -> Result<usize, Failure> {
    number("dnum", given, format_args!("from 1 to {}, the number of ciphertext primes", primes.max(1)))
}
