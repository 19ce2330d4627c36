//! What can be wrong with a description of a machine, and why a machine cannot run a program.

use ringmill_errors::StructuredError;

/// A rule that a description breaks: where, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, StructuredError)]
#[non_exhaustive]
#[allow(missing_docs)] // The message is the documentation of each variant and names all its fields.
pub enum DescriptionError {
    #[error("{file}: the file cannot be read: {why}")]
    Unreadable { file: Box<str>, why: Box<str> },
    #[error(
        "no machine {name:?} comes with the program{hint}; there are {known}, and a path that ends in .toml names a file"
    )]
    Unknown { name: Box<str>, hint: Box<str>, known: Box<str> },
    #[error("{file}: no TOML: {why}")]
    Syntax { file: Box<str>, why: Box<str> },
    #[error("{file}: there is no table [{table}]{hint}; tables are {known}")]
    UnknownTable { file: Box<str>, table: Box<str>, hint: Box<str>, known: Box<str> },
    #[error("{file}: the table [{table}] is missing; {about}")]
    MissingTable { file: Box<str>, table: Box<str>, about: &'static str },
    #[error("{file}, [{table}]: there is no field `{field}`{hint}; fields are {known}")]
    UnknownField { file: Box<str>, table: Box<str>, field: Box<str>, hint: Box<str>, known: Box<str> },
    #[error("{file}, [{table}]: the field `{field}` is missing; give {expected}")]
    MissingField { file: Box<str>, table: Box<str>, field: Box<str>, expected: Box<str> },
    #[error("{file}, [{table}]: `{field}` is {found}; give {expected}")]
    Value { file: Box<str>, table: Box<str>, field: Box<str>, found: Box<str>, expected: Box<str> },
    #[error("{file}, [{table}]: `{field}` = {text:?} is no figure: {why}")]
    Expression { file: Box<str>, table: Box<str>, field: Box<str>, text: Box<str>, why: Box<str> },
    #[error(
        "{file}, [{table}]: `{field}` has no source; write source = \"where the numbers of the table come from\", or \
         sources = {{ {field} = \"…\" }}, which may begin with \"assumed:\""
    )]
    NoSource { file: Box<str>, table: Box<str>, field: Box<str> },
    #[error(
        "{file}, [{table}]: `{field}` names the {what} {name:?}, which is not described{hint}; there are {known}"
    )]
    UnknownName {
        file: Box<str>,
        table: Box<str>,
        field: Box<str>,
        what: &'static str,
        name: Box<str>,
        hint: Box<str>,
        known: Box<str>,
    },
    #[error("{file}, [{table}]: {why}")]
    Contradiction { file: Box<str>, table: Box<str>, why: Box<str> },
    #[error("{file}: a base names a base more than {most} times; describe one of them in full")]
    Bases { file: Box<str>, most: usize },
}

/// Why a machine cannot run a program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, StructuredError)]
#[non_exhaustive]
#[allow(missing_docs)] // The message is the documentation of each variant and names all its fields.
pub enum Refused {
    #[error(
        "{what} has {bits} bits, and words have {word}; choose primes below 2^{word}, or a machine with longer words"
    )]
    Word { what: String, bits: u32, word: u32 },
    #[error("nothing runs `{kind}`; name a unit for it in [runs]")]
    Kind { kind: &'static str },
    #[error(
        "a `{kind}` has {terms} terms, and unit `{unit}` accumulates {accumulators}; compile with fewer digits, or choose another machine"
    )]
    Accumulators { unit: String, kind: &'static str, terms: u32, accumulators: u32 },
    #[error(
        "memory `{memory}` holds {slots} limbs of N = 2^{log_n}, and a `{kind}` needs {needed} at once; choose a smaller \
         ring, or a machine with more memory"
    )]
    Capacity { memory: String, slots: u64, log_n: u32, kind: &'static str, needed: usize },
    #[error("the program takes more than 2^{log} cycles")]
    Long { log: u32 },
}

/// Why it cannot be said what a program moves over the edge of a chip.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, StructuredError)]
#[non_exhaustive]
#[allow(missing_docs)] // The message is the documentation of each variant and names all its fields.
pub enum CapacityError {
    #[error(
        "a capacity of {limbs} limbs is too small for program {program}: a `{kind}` reads and writes {least} at once; give at \
         least {least} limbs, {bytes} bytes"
    )]
    Least { program: String, limbs: u64, least: u64, kind: &'static str, bytes: u64 },
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error(transparent)]
    Graph(#[from] GraphError),
}

/// A rule that a graph breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, StructuredError)]
#[non_exhaustive]
#[allow(missing_docs)] // The message is the documentation of each variant and names all its fields.
pub enum GraphError {
    #[error(
        "instruction {instruction} reads value {value}, which no input and no instruction before it defines"
    )]
    Undefined { instruction: usize, value: u32 },
    #[error("a ring of degree 2^{log_n} is too large; at most 2^{most}")]
    Degree { log_n: u32, most: u32 },
    #[error("instruction {instruction} reads {operands} limbs; at most {most}")]
    Operands { instruction: usize, operands: usize, most: usize },
}
