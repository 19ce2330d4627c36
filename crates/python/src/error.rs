//! From Rust errors to the exceptions of `ringmill.errors`.
//!
//! The exception's class stands for a family of rules, its message is the error's `Display`, its `code` the
//! name of the variant and its `fields` the variant's fields.

use std::fmt::{Debug, Display};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use ringmill_program::he::HeError;

use crate::debug_form::{Value, read};

/// The classes of `ringmill.errors` that native code raises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Parameter,
    Program,
}

impl Family {
    fn class(self) -> &'static str {
        match self {
            Self::Parameter => "ParameterError",
            Self::Program => "ProgramError",
        }
    }
}

/// Raises `family` with the error's text, variant and fields.
pub(crate) fn raise<E: Debug + Display>(family: Family, error: &E) -> PyErr {
    raise_as(family, error, &error.to_string())
}

fn raise_as<E: Debug>(family: Family, error: &E, message: &str) -> PyErr {
    Python::attach(|py| build(py, family, error, message).unwrap_or_else(|failure| failure))
}

/// Raises `ProgramError` with the rule's fields, the line of the program and the place in the user's source.
pub(crate) fn raise_he(error: &HeError) -> PyErr {
    let raised = raise_as(Family::Program, &*error.rule, &error.to_string());
    Python::attach(|py| {
        let placed = || {
            let fields = raised.value(py).getattr("fields")?;
            fields.set_item("line", error.line)?;
            fields.set_item("source", error.source.as_ref().map(ToString::to_string))
        };
        placed().map_or_else(|failure| failure, |()| raised.clone_ref(py))
    })
}

/// Raises `family` for a rule that this crate checks itself.
pub(crate) fn refuse(family: Family, code: &str, message: &str) -> PyErr {
    Python::attach(|py| {
        let raised = || {
            let class = py.import("ringmill.errors")?.getattr(family.class())?;
            PyResult::Ok(PyErr::from_value(class.call1((sentence(message), code))?))
        };
        raised().unwrap_or_else(|failure| failure)
    })
}

fn build<E: Debug>(py: Python<'_>, family: Family, error: &E, message: &str) -> PyResult<PyErr> {
    let form = format!("{error:?}");
    let fields = PyDict::new(py);
    let code = read(&form).map_or_else(String::new, |(name, values)| {
        for (field, value) in values {
            // A dictionary of strings and numbers: nothing that could fail but memory.
            let _ = match value {
                Value::Integer(v) => fields.set_item(field, v),
                Value::Float(v) => fields.set_item(field, v),
                Value::Text(v) => fields.set_item(field, v),
            };
        }
        name
    });
    let class = py.import("ringmill.errors")?.getattr(family.class())?;
    Ok(PyErr::from_value(class.call1((sentence(message), code, fields))?))
}

/// Messages are sentences: a capital at the start, a full stop at the end.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let capital: String = letters.next().map(|c| c.to_uppercase().collect()).unwrap_or_default();
    let stop = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{capital}{}{stop}", letters.as_str())
}
