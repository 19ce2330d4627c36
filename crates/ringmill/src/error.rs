//! Errors of the Rust facade: every rule names both sides and the remedy.

use ringmill_circuits::CircuitError;
use ringmill_ckks::encoder::EncoderError;
use ringmill_ckks::{CkksError, LayoutError, Level, ParamsError};
use ringmill_errors::StructuredError;
use ringmill_machine::MachineError;
use ringmill_program::he::HeError;
use ringmill_program::lower::LowerError;
use ringmill_program::manage::ChooseError;
use ringmill_ring::RingError;

/// A rule that an operation's operands break.
#[derive(Debug, thiserror::Error, StructuredError)]
#[non_exhaustive]
#[allow(missing_docs)] // each message names its fields
pub enum Error {
    #[error(transparent)]
    Ckks(#[from] CkksError),
    #[error(transparent)]
    Encoder(#[from] EncoderError),
    #[error(transparent)]
    Params(#[from] ParamsError),
    #[error(transparent)]
    Layout(#[from] LayoutError),
    #[error(transparent)]
    Ring(#[from] RingError),
    #[error(transparent)]
    Program(#[from] HeError),
    #[error(transparent)]
    Lower(#[from] LowerError),
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error(transparent)]
    Choose(#[from] ChooseError),
    #[error(transparent)]
    Circuit(#[from] CircuitError),
    #[error(
        "parameters that bootstrap are chosen for 128 bits of security, not for {security}; give `security: 128`"
    )]
    BootstrapSecurity { security: u32 },
    #[error(
        "{bits} bits of accuracy are not reached by bootstrappings precise to {most} bits; ask for fewer, promise closer bounds with \
         `Builder::promise`, or plan with parameters of a `Need` of {slots} slots, which holds results to none"
    )]
    BootstrapAccuracy { bits: u32, most: u32, slots: usize },
    #[error(
        "{place}numbers that are looked up may err by {error:.3}, and lie {noise:.3} from whole ones before that: half a step \
         is another entry. Take parameters of a larger scale, or bootstrap the numbers before they err by half"
    )]
    LookupError { place: String, error: f64, noise: f64 },
    #[error("{refused}; nor does bootstrapping on the way: {why}")]
    NeitherWay {
        #[field(display)]
        refused: Box<ChooseError>,
        #[field(display)]
        why: Box<Error>,
    },
    #[error(
        "{op} needs operands of one level, but {left_name} has level {left} and {right_name} has level {right}; \
         call drop_level on the higher one"
    )]
    LevelMismatch {
        op: &'static str,
        left_name: &'static str,
        left: Level,
        right_name: &'static str,
        right: Level,
    },
    #[error(
        "{op} needs operands of one scale, but {left_name} has scale {left} and {right_name} has scale {right}; \
         rescale the product first, or encode the plaintext at the ciphertext's scale"
    )]
    ScaleMismatch {
        op: &'static str,
        left_name: &'static str,
        left: String,
        right_name: &'static str,
        right: String,
    },
    #[error(
        "{op} needs operands with as many slots, but {left_name} has {left} and {right_name} has {right}; encrypt or \
         encode both in the same number of slots"
    )]
    SlotsMismatch {
        op: &'static str,
        left_name: &'static str,
        left: usize,
        right_name: &'static str,
        right: usize,
    },
    #[error("{op} takes ciphertexts of 2 polynomials, but {name} has 3; relinearise it first")]
    NotRelinearised { op: &'static str, name: &'static str },
    #[error("relinearise takes a product of 3 polynomials, but the ciphertext has 2; there is nothing to do")]
    NothingToRelinearise,
    #[error(
        "{op} at level 0: no prime is left to divide by; take parameters with more levels, or multiply less deeply"
    )]
    LevelExhausted { op: &'static str },
    #[error("drop_level goes from level {from} to {to}; it can only go down")]
    DropUp { from: Level, to: Level },
    #[error("{what} is {value}; numbers must be finite")]
    NotFinite { what: &'static str, value: f64 },
    #[error(
        "{what} is larger than {bound}, the declared bound ({default} where none is declared); declare a magnitude that holds: \
         it is public, and predictions rely on it"
    )]
    BeyondBound { what: &'static str, bound: f64, default: f64 },
    #[error("the declared bound on {what} is {bound:e}; a bound is a positive finite number")]
    BadBound { what: &'static str, bound: f64 },
    #[error("sum over {count} of {slots} slots; the count must lie in 1..={slots}")]
    SumRange { count: usize, slots: usize },
    #[error(
        "the result's scale is {scale} at level {level}, whose modulus has {modulus:.1} bits: it would wrap around; \
         rescale first or use smaller scales"
    )]
    ScaleOverflow { scale: String, level: Level, modulus: f64 },
    #[error("input \"{name}\" of the program is missing; it takes {expected}")]
    MissingInput { name: String, expected: String },
    #[error("the program has no input \"{name}\"; it takes {expected}")]
    UnknownInput { name: String, expected: String },
    #[error("input \"{name}\" is a {given}, but the program takes a {expected} there")]
    InputKind { name: String, given: &'static str, expected: &'static str },
    #[error(
        "input \"{name}\" has level {given}, but the program needs level {needed} or more; encrypt it at level {needed}"
    )]
    InputLevel { name: String, given: Level, needed: Level },
    #[error(
        "input \"{name}\" has scale {given}, but the program needs scale {needed}; encrypt it at that scale"
    )]
    InputScale { name: String, given: String, needed: String },
    #[error("input \"{name}\" has {given} slots, but the program is written for {needed}")]
    InputSlots { name: String, given: usize, needed: usize },
    #[error("the program is managed for other parameters: {what}; compile it for {print}")]
    ProgramParams { what: &'static str, print: String },
}
