//! The file of a compiled kernel, and those of its encrypted arguments and results: what a server reads and writes.
//!
//! Python's `Compiled.save` writes a kernel file, `Values.save` the others. The program in it is parsed, managed and checked
//! anew. The results of a run are the same bytes that `ringmill evaluate` writes for the same files.

mod batches;
mod declared;
mod error;
mod signature;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Arc;

use ringmill_ckks::file::{FileError, Stored, params_from_bytes};
use ringmill_ckks::{Ciphertext, KeyForm, KeyLayout, Level, Library, Params, SeededCiphertext};
use ringmill_machine::Machine;
use ringmill_program::cost::{CostTable, Work};
use ringmill_program::he::{self, Type};
use ringmill_program::lower::{Method, lower_by};
use ringmill_program::manage::{Encryption, Promise};
use ringmill_program::schedule::Statistics;
use ringmill_ring::{GaloisElement, Poly};

pub use batches::Batches;
use declared::Declared;
pub use error::KernelFileError;

use crate::bundle::{self, Bundle, Json};
use crate::{Evaluator, Kernel, Plan, PlanOptions, Stated};
use signature::Signature;

/// Bits that results promise where none were asked for.
const PRECISION: u32 = 20;

/// No precision that is asked for has more bits.
const MOST_BITS: i128 = 64;

/// Rotations of the largest ring.
const MOST_KEYS: i128 = 1 << 16;

/// Levels of the longest chain are fewer.
const MOST_LEVELS: i128 = 100;

/// A compiled kernel.
#[derive(Debug, Clone)]
pub struct KernelFile {
    name: String,
    digest: String,
    plan: Plan,
    precision: u32,
    /// Whose residues it computes, if not the engine's.
    library: Option<Library>,
    /// Names of the ciphertexts that the signature lists.
    inputs: Vec<String>,
    /// Records in one ciphertext, of a kernel that takes batches.
    lanes: Option<usize>,
    /// What results state where weights are private.
    declared: Option<Declared>,
}

/// The evaluation keys that a program needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeysNeeded {
    /// The relinearisation key.
    pub relin: bool,
    /// Galois elements of rotations, by their distance in slots to the left, and of conjugation, by 0.
    pub galois: BTreeMap<u32, u64>,
    /// The key of bootstrapping that leads to a sparse secret.
    pub encapsulation: bool,
}

/// What one run takes on one core, by counting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Predicted {
    /// Seconds of the run, by a table of costs.
    pub seconds: f64,
    /// Bytes of arguments, results and the program's constants.
    pub data_bytes: u64,
    /// Bytes of values that live at once.
    pub peak_bytes: u64,
    /// Bytes of the keys, every residue a word.
    pub key_bytes: u64,
}

impl KernelFile {
    /// Reads a kernel file.
    ///
    /// # Errors
    /// Any [`KernelFileError`] but those of arguments.
    pub fn read(input: impl Read) -> Result<Self, KernelFileError> {
        Self::from_bundle(&Bundle::read(input, "kernel")?)
    }

    /// The kernel of a bundle.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn from_bundle(read: &Bundle) -> Result<Self, KernelFileError> {
        let damaged = |why| KernelFileError::Damaged { why };
        let mut parts: Vec<_> = read.parts.iter().map(|(name, _)| &name[..]).collect();
        parts.sort_unstable();
        if parts != ["params", "program", "signature"] {
            return Err(damaged("it lacks the program, the signature or the parameters"));
        }
        let part = |name| read.part(name).unwrap_or_default();
        let text = std::str::from_utf8(part("program")).map_err(|_| damaged("its program is no text"))?;
        let json = Json::parse(part("signature")).map_err(|_| damaged("its signature cannot be read"))?;
        let signature = Signature::read(&json).map_err(damaged)?;
        let facts = Stating(read);
        let (magnitude, bound) = facts.bounds().ok_or(damaged("its bounds are not positive numbers"))?;
        let library = facts.library()?;
        let whole = |name, least, most, why| facts.whole(name, least, most).map_err(|()| damaged(why));
        let level = whole("output_level", 0, MOST_LEVELS - 1, "its last level is none")?;
        let keys = whole("rotation_keys", 0, MOST_KEYS, "its number of rotation keys is none")?;
        let precision = whole("precision", 1, MOST_BITS, "its precision is not a number of bits")?;
        let params = params_from_bytes(part("params"))?;
        let layout = KeyLayout::base(&params);
        library.map_or(Ok(()), |library| library.check(layout)).map_err(crate::Error::from)?;
        let encryption = facts.encryption().ok_or(damaged("its encryption is none"))?;
        let real = signature.real;
        let promise = Promise { inputs: magnitude, plain: magnitude, values: bound, real, encryption };
        let options = PlanOptions {
            output_level: level.map(|level| Level::new(level as u32)),
            rotation_keys: keys.map(|count| count as usize),
            ..PlanOptions::default()
        };
        let plan = Plan::with_params(&he::parse(text)?, &params, promise, &options)?;
        signature.names(&plan.managed.program)?;
        let digest = digest(&plan, &json);
        match read.fact("program").and_then(Json::as_text) {
            Some(found) if found == digest => {}
            found => {
                let found = found.unwrap_or("none").to_owned();
                return Err(KernelFileError::OtherProgram { what: "kernel file", found, expected: digest });
            }
        }
        let precision = precision.map_or(PRECISION, |bits| bits as u32);
        let declared = read.fact("declared").map(|fact| Declared::read(fact, &plan.managed.program));
        let declared = declared.transpose().map_err(damaged)?;
        let (name, inputs, lanes) = (signature.name, signature.inputs, signature.lanes);
        Ok(Self { name, digest, plan, precision, library, inputs, lanes, declared })
    }

    /// The kernel's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What arguments and results are made for: it follows from public facts alone.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.plan.params
    }

    /// The managed program, and what is known of its values.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The evaluation keys that the program needs.
    ///
    /// # Errors
    /// None for a plan that was made here.
    pub fn keys_needed(&self) -> Result<KeysNeeded, KernelFileError> {
        let (needed, params) = (&self.plan.managed.summary.keys, &self.plan.params);
        let mut galois = BTreeMap::new();
        for &steps in &needed.rotations {
            let element = params.generator().rotation(steps as i64, params.log_n());
            galois.insert(steps as u32, element.map_err(crate::Error::from)?.value());
        }
        if needed.conjugate {
            let element = GaloisElement::conjugation(params.log_n()).map_err(crate::Error::from)?;
            galois.insert(0, element.value());
        }
        Ok(KeysNeeded { relin: needed.relin, galois, encapsulation: needed.encapsulation })
    }

    /// What one run takes on one core.
    ///
    /// # Errors
    /// What lowering refuses.
    pub fn predict(&self, costs: &CostTable) -> Result<Predicted, KernelFileError> {
        let params = &self.plan.params;
        let base = KeyLayout::base(params);
        let method = self.library.map_or(Method::Hybrid(base), |library| Method::Of(library, base));
        let lowered =
            lower_by(&self.plan.managed.program, &|_| method.clone()).map_err(crate::Error::from)?;
        let counts = Statistics::of(&lowered.program);
        let needed = self.keys_needed()?;
        let switched =
            needed.galois.len() + usize::from(needed.relin) + 2 * usize::from(needed.encapsulation);
        let key = KeyForm::expanded_bytes(params, base).map_err(crate::Error::from)?;
        Ok(Predicted {
            seconds: costs.nanoseconds(&Work::of(&lowered.program), params.log_n()) / 1e9,
            data_bytes: counts.data_bytes + counts.output_bytes,
            peak_bytes: u64::from(counts.peak_live) * counts.words as u64 * 8,
            key_bytes: (switched * key) as u64,
        })
    }

    /// The program lowered for a machine.
    ///
    /// # Errors
    /// As [`Kernel::new`].
    pub fn kernel(&self, machine: Arc<dyn Machine>) -> Result<Kernel, KernelFileError> {
        let mut evaluator = Evaluator::with_machine(&self.plan.params, machine)?;
        if let Some(library) = self.library {
            evaluator = evaluator.computing_as(library)?;
        }
        let kernel = Kernel::new(&evaluator, self.plan.managed.clone())?;
        let encryption = self.plan.promise.encryption;
        let stated = Stated::Promise { bits: Some(self.precision), encryption };
        Ok(kernel.with_bounds(self.plan.bounds(), self.plan.promise.real).stating(stated))
    }

    /// Reads arguments that were encrypted for this kernel: those that the program takes, of all records.
    ///
    /// # Errors
    /// [`KernelFileError::OtherProgram`], [`KernelFileError::Incomplete`], [`KernelFileError::Records`]; files that are damaged or of
    /// other parameters.
    pub fn arguments(&self, input: impl Read) -> Result<Batches, KernelFileError> {
        let read = Bundle::read(input, "arguments")?;
        let found = read.fact("program").and_then(Json::as_text).unwrap_or("none");
        if found != self.digest {
            let (found, expected) = (found.to_owned(), self.digest.clone());
            return Err(KernelFileError::OtherProgram { what: "arguments", found, expected });
        }
        let records = batches::records(&read, self.lanes)?;
        let lanes = self.lanes.unwrap_or(1);
        let count = batches::runs(records, lanes);
        let program = &self.plan.managed.program;
        let taken = |name: &&String| program.inputs().any(|(_, input, _)| input == &name[..]);
        let needed: Vec<_> = self.inputs.iter().filter(taken).collect();
        let mut parts = BTreeMap::new();
        for (name, bytes) in &read.parts {
            parts.insert(&name[..], self.ciphertext(bytes)?);
        }
        // Before the names of more runs are made than a file has parts.
        if count > 1 && needed.len().saturating_mul(count) > parts.len() {
            return Err(KernelFileError::Records { lanes });
        }
        let (mut runs, mut missing) = (Vec::new(), Vec::new());
        for run in 0..count {
            let mut arguments = BTreeMap::new();
            for name in &needed {
                let part = batches::part(name, run, count);
                match parts.remove(&part[..]) {
                    Some(cipher) => drop(arguments.insert((*name).clone(), cipher)),
                    None => missing.push(part),
                }
            }
            runs.push(arguments);
        }
        match missing.is_empty() {
            true => Ok(Batches { records, runs }),
            false => Err(KernelFileError::Incomplete { missing }),
        }
    }

    fn ciphertext(&self, bytes: &[u8]) -> Result<Ciphertext, KernelFileError> {
        let params = &self.plan.params;
        match SeededCiphertext::from_bytes(params, bytes) {
            Ok(seeded) => Ok(seeded.expand()),
            Err(FileError::Kind { .. }) => Ok(Ciphertext::from_bytes(params, bytes)?),
            Err(error) => Err(error.into()),
        }
    }

    /// The file of results of all runs. Those of private weights state what follows from declared bounds.
    ///
    /// # Errors
    /// [`KernelFileError::Transparent`] of a result that everybody could decrypt.
    pub fn results(&self, results: &Batches) -> Result<Bundle, KernelFileError> {
        let mut facts = vec![
            ("kernel".to_owned(), Json::Text(self.name.clone())),
            ("program".to_owned(), Json::Text(self.digest.clone())),
        ];
        facts.extend(results.records.map(|count| ("records".to_owned(), Json::Whole(count.into()))));
        let mut parts = Vec::new();
        for (run, ciphers) in results.runs.iter().enumerate() {
            for (name, cipher) in ciphers {
                parts.push((batches::part(name, run, results.runs.len()), self.result(name, cipher)?));
            }
        }
        Ok(Bundle { kind: "results".to_owned(), version: bundle::VERSION, facts, parts })
    }

    /// The bytes of a result.
    fn result(&self, name: &str, cipher: &Ciphertext) -> Result<Vec<u8>, KernelFileError> {
        let zero = |poly: &Poly| poly.limbs().all(|limb| limb.iter().all(|&word| word == 0));
        if cipher.polys()[1..].iter().all(zero) {
            return Err(KernelFileError::Transparent { part: name.to_owned() });
        }
        Ok(match &self.declared {
            Some(declared) => declared.stated(name, cipher, self.precision)?.to_bytes()?,
            None => cipher.to_bytes()?,
        })
    }
}

/// Identifies what arguments are made for.
fn digest(plan: &Plan, signature: &Json) -> String {
    let inputs = plan.managed.program.inputs().filter_map(|(_, _, ty)| match ty {
        Type::Ct(t) => Some(t.scale.to_text()),
        _ => None,
    });
    let scale = inputs.into_iter().next().unwrap_or_else(|| plan.params.default_scale().to_text());
    let facts = [
        ("signature", signature.clone()),
        ("params", Json::Text(plan.params.fingerprint().to_string())),
        ("magnitude", Json::Float(plan.promise.inputs)),
        ("level", Json::Whole(plan.managed.summary.input_level.get().into())),
        ("scale", Json::Text(scale)),
    ];
    let facts = facts.map(|(name, value)| (name.to_owned(), value)).into();
    bundle::digest(Json::Object(facts).sorted().to_string().as_bytes())
}

/// What the header of a kernel file states.
struct Stating<'a>(&'a Bundle);

impl Stating<'_> {
    /// The bounds on arguments and on all values.
    fn bounds(&self) -> Option<(f64, f64)> {
        let float = |name| self.0.fact(name)?.as_float();
        let (magnitude, bound) = (float("magnitude")?, float("bound")?);
        (0.0 < magnitude && magnitude <= bound && bound < f64::INFINITY).then_some((magnitude, bound))
    }

    /// How arguments are encrypted. Files from before keys that divide say nothing where any public key will do.
    fn encryption(&self) -> Option<Encryption> {
        match self.0.fact("encryption").map(|fact| fact.as_text()) {
            None => Some(Encryption::Undivided),
            Some(Some("divided")) => Some(Encryption::Public),
            Some(Some("secret")) => Some(Encryption::Secret),
            Some(_) => None,
        }
    }

    /// The library as which keys are switched, if it is one; what depends on the machine is refused.
    fn library(&self) -> Result<Option<Library>, KernelFileError> {
        match self.0.fact("switching") {
            None => Ok(None),
            Some(Json::Text(text)) if text == "hybrid" => Ok(None),
            Some(Json::Text(text)) => match text.parse() {
                Ok(library) => Ok(Some(library)),
                Err(_) => Err(KernelFileError::Switching { found: text.clone() }),
            },
            Some(_) => Err(KernelFileError::Damaged { why: "its key switching is none" }),
        }
    }

    fn whole(&self, name: &str, least: i128, most: i128) -> Result<Option<i128>, ()> {
        match self.0.fact(name) {
            None | Some(Json::Null) => Ok(None),
            Some(Json::Whole(k)) if (least..=most).contains(k) => Ok(Some(*k)),
            Some(_) => Err(()),
        }
    }
}
