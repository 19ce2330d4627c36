//! What stands in the way of exploring.

use ringmill_errors::StructuredError;

use crate::Constraints;

/// Why a device, a design or an exploration was refused.
#[derive(Debug, thiserror::Error, StructuredError)]
#[non_exhaustive]
pub enum ExploreError {
    /// No device of this name.
    #[error("no device {name:?}{hint}; there are {known}, and a path to a TOML file adds one")]
    UnknownDevice {
        /// The name given.
        name: String,
        /// The nearest name, as a question in brackets.
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
    #[error("the {what} has schema {found}, this version reads schema {expected}; {remedy}")]
    Schema {
        /// Which file.
        what: &'static str,
        /// Its version.
        found: String,
        /// The version that is read.
        expected: u32,
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
    /// A kernel that cannot be read or lowered.
    #[error("kernel {name}: {why}")]
    Kernel {
        /// Its name.
        name: String,
        /// What is wrong.
        why: String,
    },
    /// A number that must be positive and finite.
    #[error("{what} is {value}; it must be a positive number")]
    NotPositive {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A constraint, or an axis of the space, with an invalid value.
    #[error("{constraint} is {value}; it must be {right}")]
    Constraint {
        /// Which one.
        constraint: &'static str,
        /// Its value.
        value: String,
        /// What would be right.
        right: String,
    },
    /// Constraints that cannot be met together.
    #[error("the constraints cannot be met; {binding} binds: {why}")]
    Infeasible {
        /// The constraint that binds: kernel, security, error, latency or device.
        binding: &'static str,
        /// Why.
        why: String,
        /// The nearest constraints that can be met, if relaxing one number is enough.
        #[field(skip)]
        nearest: Option<Box<Constraints>>,
    },
    /// Stopped before the first point was simulated.
    #[error(
        "stopped before the first design was found; what was simulated is in the results file, if there is one"
    )]
    Stopped,
    /// The threads that an exploration takes are not there.
    #[error(
        "this process was forked from one that computed, whose threads it lacks; start it anew (multiprocessing's \
         start method \"spawn\")"
    )]
    Forked,
    /// Data that come with the program cannot be read.
    #[error("{file}: {why}")]
    Data {
        /// Which file.
        file: &'static str,
        /// What is wrong.
        why: String,
    },
    /// A results file that cannot be read or written.
    #[error("the results file: {why}")]
    Store {
        /// What is wrong.
        why: String,
    },
    /// A results file of another request.
    #[error(
        "{file} holds the exploration of another kernel, device, space or set of constraints; choose another file, or repeat that one to \
         resume it"
    )]
    OtherExploration {
        /// The file.
        file: String,
    },
    /// Invalid parameters of a design.
    #[error(transparent)]
    Params(#[from] ringmill_ckks::ParamsError),
    /// A machine that cannot be built, or that cannot run a program.
    #[error(transparent)]
    Machine(#[from] ringmill_machine::MachineError),
}
