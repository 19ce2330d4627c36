//! What can be wrong with a ring: one variant a violated rule.

use ringmill_errors::StructuredError;

/// A rule of the ring that an argument breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, StructuredError)]
#[non_exhaustive]
pub enum RingError {
    /// The modulus has too few or too many bits.
    #[error("modulus {q} has {bits} bits; moduli of {min} to {max} bits are supported")]
    ModulusSize {
        /// The modulus given.
        q: u64,
        /// Its bit length.
        bits: u32,
        /// Least bit length.
        min: u32,
        /// Greatest bit length.
        max: u32,
    },
    /// The modulus is composite.
    #[error("modulus {q} is not prime; take one from `primes`")]
    NotPrime {
        /// The modulus given.
        q: u64,
    },
    /// The modulus has no 2N-th root of unity.
    #[error("modulus {q} is not 1 mod 2N = {two_n}, so Z_q has no 2N-th root of unity")]
    NoRoot {
        /// The modulus given.
        q: u64,
        /// 2N.
        two_n: u64,
    },
    /// N out of range.
    #[error("ring degree 2^{log_n} is not supported; log2 N must lie in {min}..={max}")]
    Degree {
        /// log2 of the degree given.
        log_n: u32,
        /// Least log2 N.
        min: u32,
        /// Greatest log2 N.
        max: u32,
    },
    /// The value has no inverse.
    #[error("{value} has no inverse modulo {q}")]
    NotInvertible {
        /// The value.
        value: u64,
        /// The modulus.
        q: u64,
    },
    /// The search ran out of primes.
    #[error("only {found} of {wanted} primes found: {what}")]
    PrimesExhausted {
        /// How many exist.
        found: usize,
        /// How many were asked for.
        wanted: usize,
        /// The class that was searched.
        what: String,
    },
    /// `RINGMILL_ISA` names no instruction set.
    #[error("RINGMILL_ISA names no instruction set: {name}; take one of {known}")]
    UnknownIsa {
        /// The name given.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// The CPU lacks the instruction set.
    #[error("this CPU does not execute {isa}; it executes {available} (RINGMILL_ISA overrides the choice)")]
    IsaUnavailable {
        /// The instruction set asked for.
        #[field(display)]
        isa: crate::Isa,
        /// Those that this CPU executes.
        available: String,
    },
    /// A slice is not one limb long.
    #[error("{what} holds {got} words; this ring works on limbs of {expected}")]
    Length {
        /// Which argument.
        what: &'static str,
        /// N.
        expected: usize,
        /// The length given.
        got: usize,
    },
    /// Two lists that go together differ in length.
    #[error("{got} {what} given where {expected} are needed")]
    Count {
        /// What is counted.
        what: &'static str,
        /// How many are needed.
        expected: usize,
        /// How many were given.
        got: usize,
    },
    /// A ring that does not multiply by dense limbs.
    #[error(
        "modulo {q} limbs of {n} words are not multiplied by dense ones with {isa}; that takes 52-bit multiply-add, q < 2^50 and 128 \
         words (`LimbRing::packing`)"
    )]
    NotDense {
        /// The modulus.
        q: u64,
        /// N.
        n: usize,
        /// The ring's instruction set.
        #[field(display)]
        isa: crate::Isa,
    },
    /// A base conversion from no prime or from too many.
    #[error("a base conversion takes 1 to {max} source primes, not {got}")]
    SourceCount {
        /// How many were given.
        got: usize,
        /// Greatest number.
        max: usize,
    },
    /// A basis names one prime twice.
    #[error("modulus {q} appears twice in one basis; its primes must be distinct")]
    RepeatedModulus {
        /// The modulus.
        q: u64,
    },
    /// Constants made for another modulus.
    #[error("constants were made for modulus {got}, but the ring's modulus is {expected}")]
    ModulusMismatch {
        /// The ring's modulus.
        expected: u64,
        /// The modulus of the constants.
        got: u64,
    },
    /// A Galois element is even.
    #[error("Galois element {galois} is even; X -> X^g is an automorphism for odd g only")]
    EvenGalois {
        /// The element given.
        galois: u64,
    },
    /// Two Galois elements of rings of different degree.
    #[error("Galois elements of degree 2^{left} and 2^{right} do not compose; take both from the same ring")]
    DegreeMismatch {
        /// log2 N on the left.
        left: u32,
        /// log2 N on the right.
        right: u32,
    },
    /// More non-zero coefficients asked for than there are coefficients.
    #[error("Hamming weight {weight} exceeds the {n} coefficients")]
    Weight {
        /// The weight.
        weight: usize,
        /// N.
        n: usize,
    },
    /// The operating system gave no randomness.
    #[error("the operating system gives no randomness: {reason}")]
    Entropy {
        /// What it says.
        reason: String,
    },
}
