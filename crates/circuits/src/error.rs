//! What can be wrong with a circuit: one variant a violated rule.

use num_complex::Complex64;
use ringmill_errors::StructuredError;
use ringmill_program::he::HeError;

/// A circuit that cannot be built as asked.
#[derive(Debug, Clone, PartialEq, thiserror::Error, StructuredError)]
#[non_exhaustive]
pub enum CircuitError {
    /// The program refuses an operation.
    #[error(transparent)]
    Program(#[from] HeError),
    /// A coefficient is NaN or infinite.
    #[error("coefficient {index} of the polynomial is {value}; only finite numbers can be encoded")]
    Coefficient {
        /// Its index.
        index: usize,
        /// What stands there.
        value: f64,
    },
    /// A polynomial without a variable.
    #[error("a polynomial of degree 0 does not depend on the encrypted value; use the constant itself")]
    ConstantPolynomial,
    /// A polynomial whose plan would be larger than any chain of primes.
    #[error("a polynomial of degree {degree} is too large; the highest degree is {most}")]
    Degree {
        /// The degree given.
        degree: usize,
        /// The highest that is taken.
        most: usize,
    },
    /// A table that gives the same for every number.
    #[error("all entries of the table are one number; use that number itself")]
    ConstantTable,
    /// More entries than a bootstrapping of so little precision distinguishes.
    #[error(
        "a bootstrapping precise to {bits} bits does not distinguish {entries} numbers; take parameters for {least} bits"
    )]
    LookupBits {
        /// Entries of the table.
        entries: usize,
        /// Bits that the parameters are laid out for.
        bits: u32,
        /// Bits that it takes.
        least: u32,
    },
    /// A map that makes everything zero.
    #[error("the product with a matrix of zeros is zero; leave it out")]
    ZeroMap,
    /// An entry that cannot be encoded or has no slot.
    #[error(
        "the entry of row {row} and column {column} is {value}; entries are finite and lie in the {slots} slots of a ciphertext"
    )]
    Entry {
        /// Row, a slot of the result.
        row: usize,
        /// Column, a slot of the operand.
        column: usize,
        /// What stands there.
        #[field(display)]
        value: Complex64,
        /// Slots of a ciphertext.
        slots: usize,
    },
    /// Messages so large or small that a bootstrapping would leave nothing of them.
    #[error(
        "messages up to {magnitude} cannot be bootstrapped: their bound has to lie between {least:.1e} and {most:.1e}; declare \
         or promise a bound in that range, or multiply before and after"
    )]
    Magnitude {
        /// Bound on |slot|.
        magnitude: f64,
        /// The least bound that is taken.
        least: f64,
        /// The greatest.
        most: f64,
    },
    /// An arc on which the sine is no line.
    #[error("{room} bits of margin let messages reach where the sine turns; take {least} or more")]
    Room {
        /// log2 of the modulus over the greatest message.
        room: u32,
        /// The least that is taken.
        least: u32,
    },
    /// More precision than the widest primes give, or less than is laid out for.
    #[error(
        "a bootstrapping precise to {bits} bits; {least} to {most} are to be had, up to 36 by two iterations"
    )]
    Precision {
        /// Bits wanted.
        bits: u32,
        /// The fewest.
        least: u32,
        /// The most.
        most: u32,
    },
    /// More bootstrappings in a row than gain anything, or none.
    #[error("{iterations} iterations of a bootstrapping; 1 to {most} are to be had")]
    Iterations {
        /// Iterations wanted.
        iterations: u32,
        /// The most.
        most: u32,
    },
    /// No parameters bootstrap as asked.
    #[error(transparent)]
    Params(#[from] ringmill_ckks::ParamsError),
    /// Too few slots to be bootstrapped.
    #[error("bootstrapping works on {least} slots or more; the program has {slots}")]
    BootstrapSlots {
        /// Slots of the program.
        slots: usize,
        /// The fewest that are taken.
        least: usize,
    },
    /// Slots that no ring packs, or too few to be bootstrapped.
    #[error(
        "no parameters bootstrap vectors of {slots} slots; slots are a power of two from {least} to {most}: take {nearest}"
    )]
    NeedSlots {
        /// Slots wanted.
        slots: usize,
        /// The fewest.
        least: usize,
        /// The most, N/2 of the greatest ring.
        most: usize,
        /// The next such number on either side.
        nearest: String,
    },
    /// Transforms of more levels than they have stages, or of so few that their maps are full.
    #[error(
        "the transforms of a bootstrapping of {slots} slots in {levels} level(s) each; {least} to {most} are to be had"
    )]
    Transforms {
        /// Levels wanted of each.
        levels: usize,
        /// Slots of a vector.
        slots: usize,
        /// The fewest.
        least: usize,
        /// The most.
        most: usize,
    },
    /// More precision than a sine gives that the arcsine does not correct.
    #[error(
        "a sine that the arcsine does not correct needs a scale of 2^{wide_bits} for this precision, and primes hold up to 2^{most}; \
         ask for fewer bits, or leave the correction in"
    )]
    Arcsine {
        /// log2 of the scale that the sine would need.
        wide_bits: u32,
        /// The most.
        most: u32,
    },
    /// A scale of results that no sine is above.
    #[error("no bootstrapping brings values back at scale 2^{scale_bits}; take scale_bits up to {most}")]
    NeedScale {
        /// log2 of the scale.
        scale_bits: u32,
        /// The most.
        most: u32,
    },
    /// A scale of the sine that leaves no precision, lies below that of the results or beyond the widest primes.
    #[error(
        "a sine at scale 2^{wide_bits} does not bring values back at scale 2^{scale_bits}; take wide_bits from {least} to {most}"
    )]
    Wide {
        /// log2 of the sine's scale.
        wide_bits: u32,
        /// log2 of the scale of the results.
        scale_bits: u32,
        /// The least.
        least: u32,
        /// The most.
        most: u32,
    },
    /// A vector of another length than the program's.
    #[error(
        "a diagonal of {found} numbers in a program of {slots} slots; one number for each slot is needed"
    )]
    SlotCount {
        /// Numbers given.
        found: usize,
        /// Slots of the program.
        slots: usize,
    },
    /// An invalid matrix, or one that is too large.
    #[error("{entries} entries are no {rows}×{columns} matrix that fits {slots} slots")]
    MatrixShape {
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
        /// Numbers given.
        entries: usize,
        /// Slots of a ciphertext.
        slots: usize,
    },
    /// Matrices that cannot be multiplied.
    #[error("inner dimensions differ: {left} columns on the left, {right} rows on the right")]
    Inner {
        /// Columns of the left matrix.
        left: usize,
        /// Rows of the right one.
        right: usize,
    },
    /// A convolution whose shapes do not go together.
    #[error("this convolution is not possible: {what}")]
    Convolution {
        /// Why.
        what: String,
    },
}
