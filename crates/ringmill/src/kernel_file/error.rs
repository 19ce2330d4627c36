//! What can be wrong with the file of a kernel, or with what is computed by it.

use ringmill_ckks::file::FileError;
use ringmill_program::he::HeError;

use crate::Error;
use crate::bundle::BundleError;

/// Why a kernel file was not read, or its arguments.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // each message names its fields
pub enum KernelFileError {
    #[error(transparent)]
    Bundle(#[from] BundleError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Program(#[from] HeError),
    #[error(transparent)]
    Face(#[from] Error),
    #[error("the kernel file is damaged: {why}; transfer or create it again")]
    Damaged { why: &'static str },
    #[error(
        "the kernel switches keys by {found:?}, whose choice depends on the machine that computes; compile it with \
         switching=\"hybrid\", which gives the same bits everywhere"
    )]
    Switching { found: String },
    #[error(
        "the {what} belongs to program {found:.8}, but {expected:.8} is wanted here; compile the kernel and encrypt the arguments \
         with this version"
    )]
    OtherProgram { what: &'static str, found: String, expected: String },
    #[error("the arguments miss {}; encrypt all arguments together", missing.join(", "))]
    Incomplete { missing: Vec<String> },
    #[error(
        "the arguments do not say how many records they hold, or another number than they have ciphertexts for; the kernel takes \
         {lanes} at once; encrypt them with this kernel"
    )]
    Records { lanes: usize },
    #[error(
        "the signature of kernel {kernel:?} names other inputs or outputs than its program; compile the kernel again"
    )]
    Signature { kernel: String },
    #[error(
        "the ciphertext {part:?} does not depend on what was encrypted: the numbers of the kernel make it constant, and everybody \
         who has it could decrypt it; leave it out of the results"
    )]
    Transparent { part: String },
}

impl KernelFileError {
    /// The name of the broken rule, stable between versions.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Bundle(error) => error.code(),
            Self::File(_) => "File",
            Self::Program(_) => "Program",
            Self::Face(Error::Ckks(_)) => "Mismatch",
            Self::Face(_) => "Evaluation",
            Self::Damaged { .. } => "Damaged",
            Self::Switching { .. } => "Switching",
            Self::OtherProgram { .. } => "OtherProgram",
            Self::Incomplete { .. } => "Incomplete",
            Self::Records { .. } => "Records",
            Self::Signature { .. } => "Signature",
            Self::Transparent { .. } => "Transparent",
        }
    }
}
