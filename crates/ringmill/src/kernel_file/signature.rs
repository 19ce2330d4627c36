//! The signature of a kernel: names, shapes and packing of what is encrypted.

use std::collections::BTreeSet;

use ringmill_program::he::Program;

use super::KernelFileError;
use crate::bundle::{Json, MAX_ENTRIES};

/// More slots than any ring has.
const MOST_SLOTS: i128 = 1 << 16;

/// Axes that NumPy has at least, and bytes of a name.
const MOST_AXES: usize = 32;
const LONGEST_NAME: usize = 1 << 10;

/// What every signature has.
const NAMES: [&str; 7] = ["format", "version", "name", "slots", "real", "inputs", "outputs"];

/// How results stand together at the client.
const FORMS: [&str; 4] = ["dict", "list", "namedtuple", "tuple"];

/// A number of slots or lanes.
fn power_of_two(json: &Json) -> Option<usize> {
    match json {
        Json::Whole(k) if (1..=MOST_SLOTS).contains(k) && k & (k - 1) == 0 => Some(*k as usize),
        _ => None,
    }
}

/// What a server needs of a signature.
pub(super) struct Signature {
    pub(super) name: String,
    pub(super) real: bool,
    /// Records in one ciphertext, of a kernel that takes batches.
    pub(super) lanes: Option<usize>,
    /// Names of the input ciphertexts.
    pub(super) inputs: Vec<String>,
    outputs: Vec<String>,
}

/// The members of an object, which are these and no others.
fn members<'a, const K: usize>(json: &'a Json, names: [&str; K]) -> Option<[&'a Json; K]> {
    let Json::Object(found) = json else { return None };
    if found.len() != K {
        return None;
    }
    let all: Option<Vec<_>> = names.iter().map(|name| json.get(name)).collect();
    all?.try_into().ok()
}

/// Sizes or strides of axes.
fn sizes(json: &Json) -> Option<Vec<usize>> {
    let Json::List(items) = json else { return None };
    let size = |item: &Json| match item {
        Json::Whole(k) if (1..=MOST_SLOTS).contains(k) => Some(*k as usize),
        _ => None,
    };
    if items.len() > MOST_AXES { None } else { items.iter().map(size).collect() }
}

/// The names of the ciphertexts that carry an argument.
fn parts(name: &str, spec: &Json) -> Option<Vec<String>> {
    let (shape, packing, real) = match spec.get("low") {
        None => {
            let [shape, packing, real] = members(spec, ["shape", "packing", "real"])?;
            (shape, packing, real)
        }
        Some(_) => {
            let [shape, packing, real, low, high] =
                members(spec, ["shape", "packing", "real", "low", "high"])?;
            if low.as_float()? >= high.as_float()? {
                return None;
            }
            (shape, packing, real)
        }
    };
    let shape = sizes(shape)?;
    if name.len() > LONGEST_NAME || !matches!(real, Json::Bool(_)) {
        return None;
    }
    let numbered = |count: usize| (0..count).map(|j| format!("{name}.{j}")).collect();
    match (packing.as_text()?, &shape[..]) {
        ("slots", _) => Some(vec![name.to_owned()]),
        ("columns", [_, count]) | ("scalars", [count]) if *count < MAX_ENTRIES => Some(numbered(*count)),
        _ => None,
    }
}

/// The names of the ciphertexts that carry a result.
fn carried(result: &Json) -> Option<Vec<String>> {
    let [parts, shape, strides, stacked] = members(result, ["parts", "shape", "strides", "stacked"])?;
    let Json::List(parts) = parts else { return None };
    let even = sizes(shape)?.len() == sizes(strides)?.len();
    if !even || !matches!(stacked, Json::Bool(_)) || parts.is_empty() {
        return None;
    }
    parts.iter().map(|part| part.as_text().map(str::to_owned)).collect()
}

impl Signature {
    /// Reads what Python's `Signature.to_json` wrote, in its one form: the digest of a kernel follows from it.
    pub(super) fn read(json: &Json) -> Result<Self, &'static str> {
        Self::of(json).ok_or("its signature is not one that Ringmill writes")
    }

    fn of(json: &Json) -> Option<Self> {
        let Json::Object(found) = json else { return None };
        let optional = ["lanes", "form"].iter().filter(|name| json.get(name).is_some()).count();
        let all: Option<Vec<_>> = NAMES.iter().map(|name| json.get(name)).collect();
        let [format, version, name, slots, real, inputs, outputs] = all?.try_into().ok()?;
        let slots = power_of_two(slots)?;
        let lanes = match json.get("lanes") {
            Some(lanes) => Some(power_of_two(lanes)?),
            None => None,
        };
        let form = json.get("form").map_or(Some("dict"), Json::as_text)?;
        if found.len() != NAMES.len() + optional || !FORMS.contains(&form) {
            return None;
        }
        let (Json::Object(inputs), Json::Object(outputs), Json::Bool(real)) = (inputs, outputs, real) else {
            return None;
        };
        let known = format.as_text() == Some("ringmill-kernel") && *version == Json::Whole(1);
        if !known || lanes.is_some_and(|lanes| lanes > slots) || inputs.is_empty() || outputs.is_empty() {
            return None;
        }
        let mut all = (Vec::new(), Vec::new());
        for (name, spec) in inputs {
            all.0.extend(parts(name, spec)?);
        }
        for (_, result) in outputs {
            all.1.extend(carried(result)?);
        }
        if all.0.len().max(all.1.len()) >= MAX_ENTRIES {
            return None;
        }
        let name = name.as_text()?.to_owned();
        Some(Self { name, real: *real, lanes, inputs: all.0, outputs: all.1 })
    }

    /// Refuses a signature that does not name the program's inputs and outputs.
    pub(super) fn names(&self, program: &Program) -> Result<(), KernelFileError> {
        let inputs: BTreeSet<&str> = self.inputs.iter().map(|name| &name[..]).collect();
        let outputs: BTreeSet<&str> = self.outputs.iter().map(|name| &name[..]).collect();
        let same =
            program.outputs().iter().map(|output| &output.name[..]).collect::<BTreeSet<_>>() == outputs;
        match same && program.inputs().all(|(_, name, _)| inputs.contains(name)) {
            true => Ok(()),
            false => Err(KernelFileError::Signature { kernel: self.name.clone() }),
        }
    }
}
