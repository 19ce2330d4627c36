//! What can go wrong between a program and its machine.

use ringmill_cycles::{CapacityError, DescriptionError};
use ringmill_errors::StructuredError;
use ringmill_ring::RingError;

use crate::board::BoardError;
use crate::compact::CompactError;
use crate::spec::SpecError;

/// A rule that a binding or a program breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, StructuredError)]
#[non_exhaustive]
#[allow(missing_docs)] // The message is the documentation of each variant and names all its fields.
pub enum MachineError {
    #[error("program {program} takes {expected} {what} limbs, but {found} are bound")]
    LimbCount { program: String, what: &'static str, expected: usize, found: usize },
    #[error(
        "{what} limb {limb} has {found} words, but the program's ring has degree {expected}; bind limbs of that degree"
    )]
    LimbLength { what: &'static str, limb: String, expected: usize, found: usize },
    #[error("word {word} of input limb {limb} is {value}, not a canonical residue modulo {q}")]
    NotCanonical { limb: String, word: usize, value: u64, q: u64 },
    #[error("program {program} has no {what} called `{name}`; it has {known}")]
    UnknownGroup { program: String, what: &'static str, name: String, known: String },
    #[error("{what} `{name}` is not bound; bind all of its limbs before the program runs")]
    Unbound { what: &'static str, name: String },
    #[error("{what} `{name}` has {expected} limbs, but {found} are given")]
    GroupCount { what: &'static str, name: String, expected: usize, found: usize },
    #[error("machine {machine} cannot run program {program}: {reason}")]
    Unsupported { machine: String, program: String, reason: String },
    #[error(
        "machine {machine} takes no {class} inputs, and `{input}` of program {program} is one: these stay with the client; use a \
         machine of the client, as cpu:role=client"
    )]
    ClientOnly { machine: String, program: String, input: String, class: &'static str },
    #[error("nothing here draws {distribution} samples, as input `{input}` needs them; bind its limbs")]
    Unsampled { input: String, distribution: &'static str },
    #[error("the device behind the machine failed: {reason}")]
    Device { reason: String },
    #[error("the run was stopped before its end; there are no results")]
    Stopped,
    #[error("no pool of {threads} threads: {why}; ask for fewer")]
    Threads { threads: usize, why: String },
    #[error("the costs of this machine in {path}: {why}; run `ringmill calibrate`, or delete the file")]
    Costs { path: String, why: String },
    #[error("machine {machine} does not estimate programs; {others} do")]
    NoEstimate { machine: &'static str, others: String },
    #[error(transparent)]
    Spec(#[from] SpecError),
    #[error(transparent)]
    Description(#[from] Box<DescriptionError>),
    #[error(transparent)]
    Capacity(Box<CapacityError>),
    #[error(transparent)]
    Board(#[from] BoardError),
    #[error(transparent)]
    Compact(#[from] CompactError),
    #[error(transparent)]
    Ring(#[from] RingError),
}
