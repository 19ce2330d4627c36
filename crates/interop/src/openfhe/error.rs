//! What can be wrong with a file of OpenFHE: what is wrong and what would be right.

use ringmill_errors::StructuredError;

/// Why a file of OpenFHE was not read or written.
#[derive(Debug, thiserror::Error, StructuredError)]
#[non_exhaustive]
pub enum OpenFheError {
    /// The system refuses.
    #[error("{action} failed: {source}")]
    Io {
        /// What was being done.
        action: &'static str,
        /// What the system says.
        #[field(display)]
        source: std::io::Error,
    },
    /// Neither JSON nor binary.
    #[error(
        "this is no file of OpenFHE: it begins with byte {found:#04x}, a file in JSON with a brace and one in the binary form \
         with 0x01"
    )]
    Form {
        /// The first byte.
        found: u8,
    },
    /// Text that is no JSON.
    #[error("the {what} is no JSON: {why}")]
    Syntax {
        /// What is read.
        what: &'static str,
        /// What the parser says.
        why: String,
    },
    /// More text than is read.
    #[error(
        "the {what} in JSON goes on after {most} bytes, the most that are read; write it in the binary form"
    )]
    TooLong {
        /// What is read.
        what: &'static str,
        /// The most bytes of text.
        most: u64,
    },
    /// A field that is missing or of another kind.
    #[error("the {what} has no {wanted} where {field} is: it is damaged or an object of another kind")]
    Field {
        /// What is read.
        what: &'static str,
        /// Name of the field.
        field: String,
        /// What was wanted.
        wanted: &'static str,
    },
    /// The file ends early.
    #[error(
        "the file ends in the middle of the {what}; it was cut short, or holds an object of another kind"
    )]
    Truncated {
        /// What is read.
        what: &'static str,
    },
    /// The file goes on.
    #[error("bytes follow the {what}; a file holds one object")]
    Trailing {
        /// What was read.
        what: &'static str,
    },
    /// A number out of its range.
    #[error("the {what} has {found} {field}; {expected}")]
    Count {
        /// What is read.
        what: &'static str,
        /// What is counted.
        field: &'static str,
        /// The number found.
        found: u64,
        /// What is right.
        expected: String,
    },
    /// A class of another version.
    #[error("the {what} has {class} of version {found}; version {known}, that of OpenFHE 1.6, is read")]
    Version {
        /// What is read.
        what: &'static str,
        /// The class.
        class: &'static str,
        /// Its version in the file.
        found: u32,
        /// The version that is read.
        known: u32,
    },
    /// A class other than the one wanted.
    #[error(
        "the {what} holds {found:?} where {wanted:?} stands in CKKS: these are objects of another scheme"
    )]
    Class {
        /// What is read.
        what: &'static str,
        /// The class found.
        found: String,
        /// The class wanted.
        wanted: &'static str,
    },
    /// A pointer that points nowhere.
    #[error("the {what} refers to object {found}, which does not come before: it is damaged")]
    Pointer {
        /// What is read.
        what: &'static str,
        /// The number of the object.
        found: u32,
    },
    /// Bootstrapping data, which are not read.
    #[error(
        "the context of the {what} holds data of {which}; write it before Enable(FHE) and Enable(SCHEMESWITCH)"
    )]
    Precomputed {
        /// What is read.
        what: &'static str,
        /// Of which feature.
        which: &'static str,
    },
    /// A setting that is not supported.
    #[error("{why}")]
    Unsupported {
        /// What is set, and what would be supported.
        why: String,
    },
    /// An object of another context.
    #[error("the {what} belongs to another context: {why}")]
    OtherContext {
        /// What is read.
        what: &'static str,
        /// What differs.
        why: String,
    },
    /// Evaluation keys of several secrets.
    #[error("the {what} holds keys of {count} secret keys; those of one are wanted, write them with its tag")]
    Tags {
        /// What is read.
        what: &'static str,
        /// How many.
        count: usize,
    },
    /// Coefficients where values are wanted.
    #[error("the {what} is in coefficient form; objects of CKKS are in evaluation form")]
    Coefficients {
        /// What is read.
        what: &'static str,
    },
    /// A residue that is no residue.
    #[error(
        "the {what} has the word {value} in tower {tower}, where residues are below {modulus}: it is damaged"
    )]
    NotCanonical {
        /// What is read.
        what: &'static str,
        /// Tower.
        tower: usize,
        /// The word.
        value: u64,
        /// The modulus.
        modulus: u64,
    },
    /// A root of unity that is not the least.
    #[error(
        "tower {tower} has the root of unity {found}, not the least one, {least}: its words stand in another order"
    )]
    Root {
        /// Tower.
        tower: usize,
        /// The root found.
        found: u64,
        /// The least root.
        least: u64,
    },
    /// A secret that is not ternary.
    #[error("the private key is damaged: {why}")]
    Secret {
        /// What is wrong.
        why: &'static str,
    },
    /// A scale that has no exact form.
    #[error(
        "the ciphertext has scale {found}, which is no power of two and no quotient of one by primes of the chain; say what it \
         is exactly with scale=\"2^80*1099511480321^-1\" or the like"
    )]
    InexactScale {
        /// Its value.
        found: f64,
    },
    /// A rule of our own types that the object breaks.
    #[error("the {what} cannot be taken over: {source}")]
    Content {
        /// What is converted.
        what: &'static str,
        /// The rule.
        #[field(display)]
        source: ringmill_ckks::CkksError,
    },
    /// Parameters that ours cannot be.
    #[error("these parameters cannot be taken over: {source}")]
    Parameters {
        /// The rule.
        #[field(display)]
        source: ringmill_ckks::ParamsError,
    },
}
