//! The rules of a limb program, each with the sentence that a violation prints.

use ringmill_errors::StructuredError;

use crate::limb::types::Domain;

/// A broken invariant and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, StructuredError)]
#[error("{}{violation}", .at.map(|i| format!("instruction {i}: ")).unwrap_or_default())]
pub struct VerifyError {
    /// Index of the instruction; none for a fault of the declarations or of the program as a whole.
    pub at: Option<usize>,
    /// The rule broken.
    #[field(display)]
    pub violation: Violation,
}

/// A rule of the limb program that is broken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, StructuredError)]
#[non_exhaustive]
#[allow(missing_docs)] // The message is the documentation of each variant and names all its fields.
pub enum Violation {
    #[error("ring degree 2^{log_n} is not supported; log2 N must lie in 1..={max}")]
    Degree { log_n: u32, max: u32 },
    #[error("modulus {name} = {q} is not 1 mod 2N = {two_n}; limbs of this ring cannot be transformed by it")]
    Modulus { name: String, q: u64, two_n: u64 },
    #[error("{what} `{name}` is declared twice; rename one")]
    DuplicateName { what: &'static str, name: String },
    #[error("modulus {q} is declared twice, as {first} and {second}; use one name")]
    DuplicateModulus { q: u64, first: String, second: String },
    #[error("`{name}` is not a name: letters, digits and `_`, not starting with a digit")]
    BadName { name: String },
    #[error("{what} `{name}` cannot hold quotients; borders hold residues")]
    QuotientAtBorder { what: &'static str, name: String },
    #[error("modulus number {number} is not in the table of {count}")]
    UnknownModulus { number: usize, count: usize },
    #[error("input limb number {number} is not among the {count} declared")]
    UnknownInput { number: usize, count: usize },
    #[error("output limb number {number} is not among the {count} declared")]
    UnknownOutput { number: usize, count: usize },
    #[error("`{op}` has {found} operands; it is written `{syntax}`")]
    OperandCount { op: &'static str, found: usize, syntax: &'static str },
    #[error(
        "a base conversion of {found} limbs; {min} to {max} are possible (one limb: `lift`, or `convert_fast` if it is not to be centred)"
    )]
    SourceCount { found: usize, min: usize, max: usize },
    #[error("%{value} is read before it is defined")]
    UseBeforeDefinition { value: u32 },
    #[error("%{value} is defined a second time")]
    SecondDefinition { value: u32 },
    #[error("%{value} is never defined; number values 0..{count} without gaps")]
    NeverDefined { value: u32, count: usize },
    #[error("`load` reads an input limb, not the value %{value}")]
    LoadOfValue { value: u32 },
    #[error("operand {index} of `{op}` is of modulus {found}, but {expected} is needed")]
    OperandModulus { op: &'static str, index: usize, found: String, expected: String },
    #[error("operand {index} of `{op}` is in domain {found}, but {expected} is needed")]
    OperandDomain {
        op: &'static str,
        index: usize,
        #[field(display)]
        found: Domain,
        expected: &'static str,
    },
    #[error("result of `{op}` is declared {found}, but is {expected}")]
    ResultType { op: &'static str, found: String, expected: String },
    #[error("`{op}` from modulus {modulus} to itself; read the limb as it is")]
    SameModulus { op: &'static str, modulus: String },
    #[error("two sources of `{op}` are of modulus {modulus}")]
    RepeatedSource { op: &'static str, modulus: String },
    #[error("quotient %{value} was computed from other sources than those converted here")]
    ForeignQuotient { value: u32 },
    #[error(
        "coefficients of input {name} are said to stand 2^{log_stride} apart; 2^{most} is the most for a limb of its domain"
    )]
    Stride { name: String, log_stride: u32, most: u32 },
    #[error("input {name} is {class}: its limbs are in domain {expected}, not {found}")]
    SampleDomain {
        name: String,
        class: &'static str,
        #[field(display)]
        found: Domain,
        #[field(display)]
        expected: Domain,
    },
    #[error("input {name} is {class} and has two limbs of modulus {modulus}; leave one out")]
    RepeatedLimb { name: String, class: &'static str, modulus: String },
    #[error(
        "input {name} is {class}: none of its coefficients is zero by design; leave the distance 2^{log_stride} out"
    )]
    SampleStride { name: String, class: &'static str, log_stride: u32 },
    #[error(
        "output {name}.{limb} follows from the secret key or secret samples alone; a program must not give them away"
    )]
    SecretAlone { name: String, limb: u32 },
    #[error("constant {value} is not a canonical residue modulo {modulus}")]
    Constant { value: u64, modulus: String },
    #[error("Galois element {value} is not odd and below 2N = {two_n}")]
    Galois { value: u64, two_n: u64 },
    #[error("output {name}.{limb} is stored a second time")]
    SecondStore { name: String, limb: u32 },
    #[error("output {name}.{limb} is never stored")]
    NeverStored { name: String, limb: u32 },
    #[error("output {name}.{limb} is {expected}, but {found} is stored")]
    StoreType { name: String, limb: u32, expected: String, found: String },
    #[error("region `{label}` begins at instruction {first}, before its predecessor or past the end")]
    Region { label: String, first: u32 },
    #[error(
        "section `{kind}` of instructions {first}..{end} is empty, begins inside of its predecessor, or ends beyond the {count} \
         instructions"
    )]
    Section { kind: String, first: u32, end: u32, count: usize },
    #[error("`{label}` cannot label a region: one line without `#`, no space at its ends")]
    Label { label: String },
    #[error("allocation names the buffers of {found} values; there are {count}")]
    AllocationLength { found: usize, count: usize },
    #[error("buffer b{buffer} is not among the {count} allocated")]
    UnknownBuffer { buffer: u32, count: u32 },
    #[error("%{value} is read from b{buffer}, which holds %{holds}")]
    Overwritten { value: u32, buffer: u32, holds: u32 },
    #[error("result of `{op}` takes b{buffer}, which operand {index} still needs")]
    SharedBuffer { op: &'static str, buffer: u32, index: usize },
}
