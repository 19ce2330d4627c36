//! Whole numbers that a user gives, held to their range in one place.

use std::fmt::Display;

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};

use crate::error::{Failure, Family};

/// A rotation.
pub(crate) const STEPS: &str = "of slots between -2^63 and 2^63, negative to rotate right";

/// Characters shown of what is no such number.
const SHOWN: usize = 60;

/// What a user gave, as Python writes it.
pub(crate) fn shown(given: &Bound<'_, PyAny>) -> String {
    let Ok(text) = given.repr() else { return "a number of too many digits".into() };
    let text = text.to_string_lossy();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}

fn number<T: TryFrom<i128>>(given: &Bound<'_, PyAny>) -> Option<T> {
    let whole = if given.is_instance_of::<PyBool>() { None } else { given.extract::<i128>().ok() };
    whole.and_then(|n| T::try_from(n).ok())
}

fn refused(family: Family, name: &str, given: &Bound<'_, PyAny>, range: impl Display) -> Failure {
    let message = format!("the argument {name} is {}; give a whole number {range}", shown(given));
    Failure::rule(family, "WholeNumber", &message)
}

/// The number given as `name`. A value that is no whole number, or outside `T`, is refused with the `range`
/// as text. A narrower range is checked by the caller.
pub(crate) fn whole<T: TryFrom<i128>>(
    family: Family,
    name: &str,
    given: &Bound<'_, PyAny>,
    range: impl Display,
) -> Result<T, Failure> {
    number(given).ok_or_else(|| refused(family, name, given, range))
}

/// The same, refused outside of `least` to `most`.
pub(crate) fn within<T: TryFrom<i128>>(
    family: Family,
    name: &str,
    given: &Bound<'_, PyAny>,
    (least, most): (i128, i128),
) -> Result<T, Failure> {
    let kept = number::<i128>(given).filter(|n| (least..=most).contains(n));
    let kept = kept.and_then(|n| T::try_from(n).ok());
    kept.ok_or_else(|| refused(family, name, given, format_args!("from {least} to {most}")))
}

/// A list of numbers given as `name`, each in the `range`.
pub(crate) fn wholes<T: TryFrom<i128>>(
    family: Family,
    name: &str,
    given: &Bound<'_, PyAny>,
    range: impl Display,
) -> Result<Vec<T>, Failure> {
    let items = if given.is_instance_of::<PyString>() { None } else { given.try_iter().ok() };
    let items = items.and_then(|items| items.collect::<PyResult<Vec<_>>>().ok());
    let items = items.ok_or_else(|| {
        let message =
            format!("the argument {name} is {}; give a list of whole numbers {range}", shown(given));
        Failure::rule(family, "NotAList", &message)
    })?;
    items.iter().enumerate().map(|(i, item)| whole(family, &format!("{name}[{i}]"), item, &range)).collect()
}
