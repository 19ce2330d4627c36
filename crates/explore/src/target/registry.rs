//! Every target that there is, a row each.

use serde_json::Value;

use super::compact::{CompactCores, older};
use super::encryptor::Encryptors;
use super::erased::AnyTarget;
use super::pipelined::PipelinedEngines;
use crate::ExploreError;
use crate::near::hint;

/// The targets; the first is the one that is explored unless another is named.
pub static TARGETS: [&dyn AnyTarget; 3] = [&CompactCores, &PipelinedEngines, &Encryptors];

/// The target of a name.
///
/// # Errors
/// [`ExploreError::UnknownWord`].
pub fn named(name: &str) -> Result<&'static dyn AnyTarget, ExploreError> {
    named_in(&TARGETS, name)
}

/// The same among other targets.
///
/// # Errors
/// As [`named`].
pub fn named_in(
    targets: &[&'static dyn AnyTarget],
    name: &str,
) -> Result<&'static dyn AnyTarget, ExploreError> {
    let names = || targets.iter().map(|target| target.row().name);
    targets.iter().copied().find(|target| target.row().name == name).ok_or_else(|| {
        ExploreError::UnknownWord {
            what: "target",
            word: name.into(),
            hint: hint(name, names()),
            known: names().collect::<Vec<_>>().join(", "),
        }
    })
}

/// The target that is explored unless another is named.
pub(crate) fn default() -> &'static dyn AnyTarget {
    TARGETS[0]
}

/// Makes a design of a version without targets one of this version: all of these were compact cores.
pub(crate) fn upgrade(design: &mut Value) -> Result<(), ExploreError> {
    older::upgrade(design)
}
