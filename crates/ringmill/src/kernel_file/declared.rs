//! What results of private weights state: errors and bounds that hold for all weights within their declared bounds.

use std::collections::BTreeMap;

use ringmill_ckks::{Ciphertext, Meta, Noise};
use ringmill_program::he::Program;

use super::KernelFileError;
use crate::Stated;
use crate::bundle::Json;

/// By result: log2 of the error of encryption in the worst slot, and the bound on a slot.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Declared(BTreeMap<String, (f64, f64)>);

impl Declared {
    /// What the header of a kernel file says of them.
    pub(super) fn read(fact: &Json, program: &Program) -> Result<Self, &'static str> {
        let numbers = |name| {
            let Json::Object(members) = fact else { return None };
            let Json::Object(of) = &members.iter().find(|(n, _)| n == name)?.1 else { return None };
            of.iter().map(|(name, x)| Some((&name[..], x.as_float()?))).collect::<Option<BTreeMap<_, _>>>()
        };
        let unread = "what it says of private weights cannot be read";
        let (errors, bounds) = (numbers("errors").ok_or(unread)?, numbers("bounds").ok_or(unread)?);
        let mut found = BTreeMap::new();
        for output in program.outputs() {
            let name = &output.name[..];
            let (Some(&error), Some(&bound)) = (errors.get(name), bounds.get(name)) else {
                return Err("what it says of private weights is not of its results");
            };
            if !(error.abs() < 1100.0 && 0.0 < bound && bound < f64::INFINITY) {
                return Err("its bounds of results are not positive numbers");
            }
            found.insert(output.name.clone(), (error, bound));
        }
        let of_results = found.len() == errors.len() && found.len() == bounds.len();
        if of_results {
            Ok(Self(found))
        } else {
            Err("what it says of private weights is not of its results")
        }
    }

    /// A result that states this, or what it states already where that is more.
    pub(super) fn stated(
        &self,
        name: &str,
        cipher: &Ciphertext,
        precision: u32,
    ) -> Result<Ciphertext, KernelFileError> {
        let unknown =
            KernelFileError::Damaged { why: "what it says of private weights is not of its results" };
        let &(error, bound) = self.0.get(name).ok_or(unknown)?;
        let (error, bound) = Stated::promised(Some(precision), error.exp2(), bound);
        let meta = cipher.meta().clone();
        let error = error.log2().max(meta.error_log2()).exp2();
        let noise = Noise::exact(bound.max(meta.noise.magnitude()), 0).with_bias(error);
        Ok(cipher.clone().with_meta(Meta { noise, ..meta }).map_err(crate::Error::from)?)
    }
}
