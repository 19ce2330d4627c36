//! What can be wrong with an HE program: one variant a violated rule.

use std::fmt;

use ringmill_errors::StructuredError;

use super::{Level, Source};

/// A violated rule at a place: the line of the text and, where known, of the user's source.
#[derive(Debug, Clone, PartialEq)]
pub struct HeError {
    /// Line of the program text, from 1.
    pub line: Option<u32>,
    /// The place in the user's source.
    pub source: Option<Source>,
    /// What is wrong.
    pub rule: Box<Rule>,
}

impl HeError {
    /// An error at no place in particular.
    pub fn new(rule: Rule) -> Self {
        Self { line: None, source: None, rule: Box::new(rule) }
    }

    pub(crate) fn at(mut self, line: Option<u32>, source: Option<&Source>) -> Self {
        self.line = self.line.or(line);
        self.source = self.source.or_else(|| source.cloned());
        self
    }
}

impl From<Rule> for HeError {
    fn from(rule: Rule) -> Self {
        Self::new(rule)
    }
}

impl fmt::Display for HeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, &self.source) {
            (Some(line), Some(s)) => write!(f, "line {line} ({s}): {}", self.rule),
            (Some(line), None) => write!(f, "line {line}: {}", self.rule),
            (None, Some(s)) => write!(f, "{s}: {}", self.rule),
            (None, None) => self.rule.fmt(f),
        }
    }
}

impl std::error::Error for HeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.rule)
    }
}

/// A rule of the HE program that is broken.
#[derive(Debug, Clone, PartialEq, thiserror::Error, StructuredError)]
#[non_exhaustive]
#[allow(missing_docs)] // each message names its fields
pub enum Rule {
    #[error("expected {expected}, found {found}")]
    Syntax { expected: String, found: String },
    #[error("{why}")]
    ScaleText { why: String },
    #[error("unknown operation '{word}'; operations are {known}")]
    UnknownOp { word: String, known: String },
    #[error("{op} does not exist in a {stage} program")]
    WrongStage { op: &'static str, stage: &'static str },
    #[error("{value} is not defined above this line")]
    Undefined { value: String },
    #[error("{value} is defined a second time; every value is assigned once")]
    Redefined { value: String },
    #[error("the {what} \"{name}\" is defined twice; names differ")]
    DuplicateName { name: String, what: &'static str },
    #[error("table @{name} is unknown: no data line above has this name")]
    UnknownTable { name: String },
    #[error("table {digest} is missing; give the file of tables that was written with this program")]
    MissingTable { digest: String },
    #[error("table {digest} has {found} numbers; it must have exactly one for each of the {slots} slots")]
    TableLength { digest: String, found: usize, slots: usize },
    #[error("slots is {slots}; it must be a power of two{limit}")]
    Slots { slots: usize, limit: String },
    #[error(
        "lanes is {lanes}; it must be a power of two, and {slots} slots in each lane at most {most} together"
    )]
    Lanes { lanes: usize, slots: usize, most: usize },
    #[error("the vector has {found} numbers; it must have exactly one for each of the {slots} slots")]
    ConstantLength { found: usize, slots: usize },
    #[error("a value is within {bound}; the bound must be positive and finite")]
    Within { bound: f64 },
    #[error(
        "a value is like {value} off {off}, bias {bias}; that must be a ciphertext from before it, as is the value, the distance \
         positive and finite, and the bias finite and not negative"
    )]
    Like { value: String, off: f64, bias: f64 },
    #[error("a table of {found} entries; tables of {least} to {most} entries can be looked up")]
    LookupEntries { found: usize, least: usize, most: usize },
    #[error("a table that starts at {first}; it must start from -{most} to {most}")]
    LookupFirst { first: i64, most: i64 },
    #[error(
        "numbers that are looked up may be {noise} from whole ones; that must be from 0 to less than 0.5"
    )]
    LookupNoise { noise: f64 },
    #[error("number {index} is not finite")]
    NotFinite { index: usize },
    #[error("the modulus chain is not valid: {what}")]
    Chain { what: String },
    #[error("a managed program needs a chain line before its first instruction")]
    NoChain,
    #[error("the program has no output")]
    NoOutput,
    #[error("{op} takes {expected}, but {given}")]
    Operands { op: &'static str, expected: &'static str, given: String },
    #[error(
        "{op} needs equal levels, but {left} has level {left_level} and {right} has level {right_level}; drop the higher one"
    )]
    LevelMismatch { op: &'static str, left: String, left_level: Level, right: String, right_level: Level },
    #[error(
        "{op} needs equal scales, but {left} has scale {left_scale} and {right} has scale {right_scale}; rescale, or multiply one of them by 1 at the quotient"
    )]
    ScaleMismatch { op: &'static str, left: String, left_scale: String, right: String, right_scale: String },
    #[error("{op} takes a ciphertext of {expected}, but {value} has {found} parts{remedy}")]
    Parts { op: &'static str, expected: &'static str, value: String, found: u8, remedy: &'static str },
    #[error(
        "{op} at level 0: {value} has no prime left to divide by; use parameters with more levels or multiply less deeply"
    )]
    LevelExhausted { op: &'static str, value: String },
    #[error("drop goes from level {from} to {to}; it must go down")]
    DropUp { from: Level, to: Level },
    #[error(
        "level {level} is above the chain's highest level {top}; take a level from 0 to {top}, or a chain of more primes"
    )]
    LevelAboveTop { level: Level, top: Level },
    #[error("sum over {count} slots of {slots}; count must lie in 1..={slots} and stride must not be 0")]
    SumRange { count: usize, slots: usize },
    #[error("rotation by {k} in a managed program; it must lie in 1..{slots}")]
    RotationRange { k: i64, slots: usize },
    #[error("raise takes a ciphertext at level 0, but {value} has level {level}; drop it first")]
    RaiseLevel { value: String, level: Level },
    #[error("raise takes a ciphertext of scale {wanted}, but {value} has {scale}")]
    RaiseScale { value: String, scale: String, wanted: String },
    #[error(
        "a raise by {bits} bits in a program that raises by {other}; one ratio of modulus to scale serves all"
    )]
    RaiseBits { bits: u32, other: u32 },
    #[error(
        "hoisting group {group} holds key switches of {first} and of {second}; a group shares one operand"
    )]
    Hoist { group: u32, first: String, second: String },
    #[error("the type is declared as {declared}, but the operation gives {inferred}")]
    TypeMismatch { declared: String, inferred: String },
    #[error("{what} needs a declared type, as in ': ct[2](level 3, scale 2^40)'")]
    TypeMissing { what: &'static str },
    #[error("a traced program has no types; leave ': …' away")]
    TypeInTraced,
    #[error("an output must be a ciphertext, but {value} is a plaintext")]
    OutputPlain { value: String },
    #[error(
        "the scale {scale} of {value} does not fit below the modulus of level {level} (2^{modulus_bits:.1}); rescale earlier or use a smaller scale"
    )]
    ScaleOverflow { value: String, scale: String, level: Level, modulus_bits: f64 },
    #[error("the program needs {needed} levels, but the chain has {available}: {what}")]
    Depth { needed: u32, available: u32, what: String },
    #[error(
        "at level {level} scales have drifted {drift:+.1} bits from {scale}; take a chain whose primes lie closer to the scale"
    )]
    ScaleDrift { drift: f64, level: Level, scale: String },
    #[error(
        "an output may be as large as {size:.3e}, which wraps around: at scale 2^{scale_bits:.0} the chain holds values up to \
         {most:.3e}; scale values down, promise a closer bound (in Python rm.within), or take parameters with more integer bits"
    )]
    WrapsAround { size: f64, scale_bits: f64, most: f64 },
    #[error(
        "{most} rotation key(s) are too few: with fewer than {least} the program would take more rotations than anybody waits for; \
         give it {least} or more"
    )]
    RotationKeys { most: usize, least: usize },
    #[error("input \"{name}\" is missing; give its slots under that name")]
    MissingInput { name: String },
    #[error("text after 'end'")]
    AfterEnd,
    #[error("the text stops before 'end'")]
    NoEnd,
}
