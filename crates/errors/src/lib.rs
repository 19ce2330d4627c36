//! Errors as a code and fields, for callers that are programs: an exception in Python, an answer of a service.
//!
//! A message is for people and may change. The code names the rule that was broken, the fields what broke it.
//!
//! ```
//! use ringmill_errors::{Field, StructuredError};
//!
//! #[derive(Debug, thiserror::Error, StructuredError)]
//! enum Refused {
//!     #[error("level {level} is below {least}")]
//!     TooLow { level: u32, least: u32 },
//!     #[error("{path} cannot be read: {source}")]
//!     Unreadable {
//!         path: std::path::PathBuf,
//!         #[field(display)]
//!         source: std::io::Error,
//!     },
//! }
//!
//! let error = Refused::TooLow { level: 2, least: 3 };
//! assert_eq!(error.code(), "TooLow");
//! assert_eq!(error.fields(), [("level", Field::Integer(2)), ("least", Field::Integer(3))]);
//! ```
//!
//! A field whose type says nothing here does not compile, so that none is left out unseen:
//!
//! ```compile_fail
//! use ringmill_errors::StructuredError;
//!
//! #[derive(Debug, thiserror::Error, StructuredError)]
//! #[error("unreadable")]
//! struct Unreadable {
//!     source: std::io::Error,
//! }
//! ```

mod field;

pub use field::{Field, ToField};
pub use ringmill_errors_derive::StructuredError;

/// An error with a code and fields. `#[derive(StructuredError)]` implements it.
pub trait StructuredError: std::error::Error {
    /// The rule that was broken: stable, for programs.
    fn code(&self) -> &'static str;

    /// What broke it, by name.
    fn fields(&self) -> Vec<(&'static str, Field)>;
}

impl<E: StructuredError> StructuredError for Box<E> {
    fn code(&self) -> &'static str {
        (**self).code()
    }

    fn fields(&self) -> Vec<(&'static str, Field)> {
        (**self).fields()
    }
}
