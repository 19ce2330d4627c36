//! From Rust errors to the exceptions of `ringmill.errors`.
//!
//! The exception's class stands for a family of rules, its message is the error's `Display`, its `code` the
//! name of the variant and its `fields` the variant's fields.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use ringmill::Error as FaceError;
use ringmill::machine::MachineError;
use ringmill_circuits::CircuitError;
use ringmill_ckks::CkksError;
use ringmill_ckks::file::FileError;
use ringmill_errors::{Field, StructuredError};
#[cfg(feature = "full")]
use ringmill_explore::ExploreError;
use ringmill_program::he::HeError;
use ringmill_program::manage::ChooseError;
use ringmill_ring::lanes::Isa;

/// The classes of `ringmill.errors` that native code raises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Encoding,
    Explore,
    File,
    KeyMissing,
    Level,
    Machine,
    Mismatch,
    Parameter,
    Program,
    Secret,
}

impl Family {
    fn class(self) -> &'static str {
        match self {
            Self::Encoding => "EncodingError",
            Self::Explore => "ExploreError",
            Self::File => "FileFormatError",
            Self::KeyMissing => "KeyMissingError",
            Self::Level => "LevelError",
            Self::Machine => "MachineError",
            Self::Mismatch => "MismatchError",
            Self::Parameter => "ParameterError",
            Self::Program => "ProgramError",
            Self::Secret => "SecretError",
        }
    }
}

/// The call that makes a Galois key, where it is not known which.
const GALOIS_KEYS: &str = "with keygen(rotations=…, conjugation=…)";

/// The call that makes several keys.
const SOME_KEYS: &str = "keygen(rotations=…, conjugation=…)";

/// An exception in the making: built without the interpreter, raised with it.
#[derive(Debug)]
pub(crate) struct Failure {
    family: Family,
    code: String,
    message: String,
    fields: Vec<(&'static str, Field)>,
}

impl Failure {
    /// From any error with a code and fields.
    pub(crate) fn of<E: StructuredError>(family: Family, error: &E) -> Self {
        let said = error.to_string();
        match Isa::detect() {
            // Whatever wraps it on its way here: no work of any kind is done on such an instruction set.
            Err(isa) if said.contains(&isa.to_string()) => Self::plainly(Family::Machine, &isa),
            _ => Self::plainly(family, error),
        }
    }

    fn plainly<E: StructuredError>(family: Family, error: &E) -> Self {
        Self {
            family,
            code: error.code().to_owned(),
            message: sentence(&error.to_string()),
            fields: error.fields(),
        }
    }

    /// The same, with the call that makes all keys wherever some are missing.
    pub(crate) fn all_keys(mut self, call: &str) -> Self {
        if self.family == Family::KeyMissing && self.code != "MissingForm" {
            let said = self.message.trim_end_matches('.');
            self.message = match said.strip_suffix(SOME_KEYS) {
                Some(said) => format!("{said}{call}."),
                None => format!("{said}; all that are needed with {call}."),
            };
        }
        self
    }

    /// The same of an input that is too low for a program that bootstraps, where bootstrapping it first would do.
    pub(crate) fn or_bootstrapped(mut self) -> Self {
        if self.code == "InputLevel" {
            self.message =
                format!("{}, or bootstrap it first: x.bootstrap().", self.message.trim_end_matches('.'));
        }
        self
    }

    /// The same, with what stands in the way of the one alternative.
    pub(crate) fn nor(mut self, other: &Self) -> Self {
        self.message = format!("{} Nor does bootstrapping on the way: {}", self.message, other.message);
        self
    }

    /// For a rule that this crate checks itself.
    pub(crate) fn rule(family: Family, code: &str, message: &str) -> Self {
        Self { family, code: code.to_owned(), message: sentence(message), fields: Vec::new() }
    }

    /// The same with fields.
    pub(crate) fn with<const N: usize>(mut self, fields: [(&'static str, Field); N]) -> Self {
        self.fields.extend(fields);
        self
    }

    /// From the rules of CKKS data.
    pub(crate) fn ckks(error: &CkksError) -> Self {
        match error {
            CkksError::Params(e) => Self::of(Family::Parameter, e),
            CkksError::InsecureEncapsulation { .. } => Self::of(Family::Parameter, error),
            CkksError::Scale(e) => Self::of(Family::Encoding, e),
            CkksError::Ring(e) => Self::of(Family::Machine, e),
            CkksError::MissingGaloisKey { what, .. } => {
                let call = match what.strip_prefix("rotation by ") {
                    Some(step) => format!("with keygen(params, rotations=[{step}])"),
                    None => "with keygen(params, conjugation=True)".to_owned(),
                };
                let mut failure = Self::of(Family::KeyMissing, error);
                failure.message = failure.message.replace(GALOIS_KEYS, &call);
                failure
            }
            CkksError::MissingKeys { .. }
            | CkksError::MissingRelinKey
            | CkksError::MissingEncapsulationKey => Self::of(Family::KeyMissing, error),
            CkksError::MissingForm { layout, present } => {
                let present = present.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
                let message = format!(
                    "the program switches keys by the key form {layout}, but a key has only {present}; make it with \
                     keygen(forms=…) or the kernel's own keygen(), and send evaluation.forms with evaluation.keys \
                     (rm.load_evaluation_keys reads both)"
                );
                Self::rule(Family::KeyMissing, "MissingForm", &message)
            }
            CkksError::LevelRange { .. } => Self::of(Family::Level, error),
            CkksError::Slots { .. } => Self::of(Family::Encoding, error),
            CkksError::NotCanonical { .. } | CkksError::SecretShape { .. } => Self::of(Family::File, error),
            _ => Self::of(Family::Mismatch, error),
        }
    }

    /// From the rules of files; keys and ciphertexts of another context are a mismatch, not damage.
    pub(crate) fn file(error: &FileError) -> Self {
        match error {
            FileError::Context { .. } => Self::of(Family::Mismatch, error),
            FileError::Io { action, source } => {
                let fields = [("action", action.clone()), ("reason", source.to_string())];
                let fields = fields.map(|(name, text)| (name, Field::Text(text)));
                Self { fields: fields.to_vec(), ..Self::of(Family::File, error) }
            }
            _ => Self::of(Family::File, error),
        }
    }

    /// From an HE program: with the line of its text and the place in the user's source.
    pub(crate) fn he(error: &HeError) -> Self {
        let (code, mut fields) = (error.rule.code().to_owned(), error.rule.fields());
        if let Some(line) = error.line {
            fields.push(("line", Field::Integer(line.into())));
        }
        if let Some(source) = &error.source {
            fields.push(("source", Field::Text(source.to_string())));
        }
        Self { family: Family::Program, code, message: sentence(&error.to_string()), fields }
    }

    /// From a circuit that cannot be built.
    pub(crate) fn circuit(error: &CircuitError) -> Self {
        match error {
            CircuitError::Program(e) => Self::he(e),
            CircuitError::Params(e) => Self::of(Family::Parameter, e),
            CircuitError::Precision { .. }
            | CircuitError::Iterations { .. }
            | CircuitError::NeedSlots { .. }
            | CircuitError::NeedScale { .. }
            | CircuitError::Transforms { .. }
            | CircuitError::Arcsine { .. }
            | CircuitError::LookupBits { .. }
            | CircuitError::Wide { .. } => Self::of(Family::Parameter, error),
            other => Self::of(Family::Program, other),
        }
    }

    /// From an exploration: files are files, everything else is a constraint that cannot be met or is
    /// invalid.
    #[cfg(feature = "full")]
    pub(crate) fn explore(error: &ExploreError) -> Self {
        use ExploreError as E;
        let family = match error {
            E::DeviceFile { .. } | E::DesignFile { .. } | E::Schema { .. } | E::Store { .. } => Family::File,
            E::Params(e) => return Self::of(Family::Parameter, e),
            E::Machine(MachineError::Compact(e)) => return Self::of(Family::Machine, e),
            E::Machine(MachineError::Board(e)) => return Self::of(Family::Machine, e),
            E::Machine(MachineError::Capacity(e)) => return Self::of(Family::Program, &**e),
            E::Machine(e) => return Self::of(Family::Machine, e),
            _ => Family::Explore,
        };
        let mut failure = Self::plainly(family, error);
        if let E::Infeasible { nearest: Some(nearest), .. } = error
            && let Ok(constraints) = serde_json::to_string(nearest)
        {
            failure.fields.push(("nearest", Field::Text(constraints)));
        }
        failure
    }

    /// From the choice of parameters.
    pub(crate) fn choose(error: &ChooseError) -> Self {
        match error {
            ChooseError::Program(e) => Self::he(e),
            other => Self::of(Family::Parameter, other),
        }
    }

    /// From the Rust facade.
    pub(crate) fn face(error: &FaceError) -> Self {
        use FaceError as E;
        let family = match error {
            E::Ckks(e) => return Self::ckks(e),
            E::Params(e) => return Self::of(Family::Parameter, e),
            E::Encoder(e) => return Self::of(Family::Encoding, e),
            E::Ring(e) => return Self::of(Family::Machine, e),
            E::Program(e) => return Self::he(e),
            E::Lower(e) => return Self::of(Family::Program, e),
            E::Layout(e) => return Self::of(Family::Parameter, e),
            E::Machine(MachineError::Compact(e)) => return Self::of(Family::Machine, e),
            E::Machine(MachineError::Board(e)) => return Self::of(Family::Machine, e),
            E::Machine(e @ MachineError::Costs { .. }) => return Self::of(Family::Mismatch, e),
            E::Machine(MachineError::Spec(e)) => return Self::of(Family::Machine, e),
            E::Machine(MachineError::Description(e)) => return Self::of(Family::Machine, &**e),
            E::Machine(e) => return Self::of(Family::Machine, e),
            E::Choose(e) => return Self::choose(e),
            E::Circuit(e) => return Self::circuit(e),
            E::NeitherWay { refused, why } => return Self::choose(refused).nor(&Self::face(why)),
            E::BootstrapAccuracy { bits, most, slots } => {
                let message = format!(
                    "{bits} bits of accuracy are not reached by bootstrappings precise to {most} bits; ask for fewer, promise \
                     closer bounds with rm.within, or give params=rm.Params.bootstrapping(levels, bits=…, slots={slots}), which \
                     holds results to none"
                );
                return Self::rule(Family::Parameter, "BootstrapAccuracy", &message);
            }
            E::BootstrapSecurity { .. } => Family::Parameter,
            E::LevelExhausted { .. } | E::DropUp { .. } | E::ScaleOverflow { .. } => Family::Level,
            E::NotFinite { .. } | E::SumRange { .. } | E::BeyondBound { .. } | E::BadBound { .. } => {
                Family::Encoding
            }
            E::MissingInput { .. } | E::UnknownInput { .. } => Family::Program,
            _ => Family::Mismatch,
        };
        Self::of(family, error)
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        Python::attach(|py| build(py, failure).unwrap_or_else(|broken| broken))
    }
}

fn build(py: Python<'_>, failure: Failure) -> PyResult<PyErr> {
    let fields = PyDict::new(py);
    for (name, value) in failure.fields {
        fields.set_item(name, object(py, value)?)?;
    }
    let class = py.import("ringmill.errors")?.getattr(failure.family.class())?;
    Ok(PyErr::from_value(class.call1((failure.message, failure.code, fields))?))
}

/// A field as Python has it.
fn object(py: Python<'_>, field: Field) -> PyResult<Bound<'_, PyAny>> {
    Ok(match field {
        Field::Nothing => py.None().into_bound(py),
        Field::Truth(v) => v.into_pyobject(py)?.to_owned().into_any(),
        Field::Integer(v) => v.into_pyobject(py)?.into_any(),
        Field::Float(v) => v.into_pyobject(py)?.into_any(),
        Field::Text(v) => v.into_pyobject(py)?.into_any(),
        Field::Several(all) => {
            let all = all.into_iter().map(|one| object(py, one)).collect::<PyResult<Vec<_>>>()?;
            PyTuple::new(py, all)?.into_any()
        }
    })
}

/// Messages are sentences: a capital where the first word is one, a full stop at the end; options and functions are
/// spelled as in Python.
fn sentence(text: &str) -> String {
    let text = text
        .replace("`insecure: true`", "insecure=True")
        .replace("`security: 128`", "security=128")
        .replace("one of `Need::arranged` is not", "one from Params.bootstrapping(…) is not")
        .replace("with `galois_keys`", GALOIS_KEYS)
        .replace("with `relin_key`", "with keygen(relin=True)")
        .replace("`evaluation_keys`", SOME_KEYS)
        .replace("with `encapsulation_key`", "with keygen(encapsulation=True)");
    let first = text.split([' ', ',']).next().unwrap_or("");
    let is_word = !first.is_empty() && first != "log" && first.chars().all(|c| c.is_ascii_lowercase());
    let (head, tail) = text.split_at(usize::from(is_word));
    let stop = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{}{tail}{stop}", head.to_uppercase())
}
