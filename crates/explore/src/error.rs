//! What stands in the way of exploring.

use crate::design::SCHEMA;

/// Why a device, a design or an exploration was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExploreError {
    /// No device of this name.
    #[error("no device {name:?}{hint}; there are {known}, and a path to a TOML file adds one")]
    UnknownDevice {
        /// The name given.
        name: String,
        /// The nearest name, in words.
        hint: String,
        /// All names.
        known: String,
    },
    /// A device file that cannot be read.
    #[error("{file}: {why}")]
    DeviceFile {
        /// Its path or name.
        file: String,
        /// What is wrong, and what would be right.
        why: String,
    },
    /// A design that cannot be read.
    #[error("the design cannot be read: {why}")]
    DesignFile {
        /// What is wrong.
        why: String,
    },
    /// A file of another version.
    #[error("the {what} has schema {found}, this version reads schema {SCHEMA}; {remedy}")]
    Schema {
        /// Which file.
        what: &'static str,
        /// Its version.
        found: String,
        /// What to do.
        remedy: &'static str,
    },
    /// A word that names no choice.
    #[error("no {what} {word:?}{hint}; there are {known}")]
    UnknownWord {
        /// Which choice.
        what: &'static str,
        /// The word given.
        word: String,
        /// The nearest word.
        hint: String,
        /// All of them.
        known: String,
    },
    /// Parameters of a design that are none.
    #[error(transparent)]
    Params(#[from] ringmill_ckks::ParamsError),
    /// Hardware of a design that cannot be built.
    #[error(transparent)]
    Core(#[from] ringmill_machine::compact::CompactError),
}

impl ExploreError {
    /// The word that stands for the kind of error: stable, for programs.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::UnknownDevice { .. } => "UnknownDevice",
            Self::DeviceFile { .. } => "DeviceFile",
            Self::DesignFile { .. } => "DesignFile",
            Self::Schema { .. } => "Schema",
            Self::UnknownWord { .. } => "UnknownWord",
            Self::Params(_) => "Parameters",
            Self::Core(_) => "Core",
        }
    }
}
