//! What can go wrong between a limb program and a compact core.

use ringmill_errors::StructuredError;
use ringmill_ring::RingError;

/// A rule that a configuration, a program or a run breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, StructuredError)]
#[non_exhaustive]
#[allow(missing_docs)] // The message is the documentation of each variant and names all its fields.
pub enum CompactError {
    #[error("no compact core has {name} = {value}; it can be {allowed}")]
    Parameter { name: &'static str, value: String, allowed: String },
    #[error("the core was built for N = 2^{min} to 2^{max}; the program has N = 2^{log_n}")]
    Degree { log_n: u32, min: u32, max: u32 },
    #[error(
        "modulus {q} is outside the class of the core's {multiplier} multiplier: {class}, W = {word_bits}"
    )]
    ModulusClass { q: u64, multiplier: &'static str, word_bits: u32, class: &'static str },
    #[error(
        "modulus {q} = 2^({word_bits}-1) + f has ones of f elsewhere than the core's multipliers: ones={ones}. Take \
         primes whose f has ones among these bits alone, or a core with ones=0"
    )]
    Ones { q: u64, ones: u32, word_bits: u32 },
    #[error("the program has {found} moduli; the core's table holds {max}")]
    TooManyModuli { found: usize, max: u32 },
    #[error("the program needs {needed} bytes of memory and the core has {available}")]
    Memory { needed: u64, available: u64 },
    #[error(
        "a base conversion from {sources} primes sums up to 2^28 times as much, and no modulus of the program is so great"
    )]
    QuotientModulus { sources: usize },
    #[error(
        "CASA's own key switch does not decrypt: one digit of several limbs exceeds the one special prime, and so the \
         error exceeds the message. Take as many special primes as a digit has limbs; this sequence is planned for a \
         comparison of cycles, not run"
    )]
    CasaSequence,
    #[error("the core takes no {class} inputs, and `{input}` is one: these stay with the client")]
    ClientInput { input: String, class: &'static str },
    #[error("node {node} of the program finds no place in the banks; please report this")]
    Unschedulable { node: u32 },
    #[error("address {address} is not a multiple of {unit} bytes")]
    Unaligned { address: u64, unit: u64 },
    #[error("address {address} with {bytes} bytes ends beyond the memory of {available} bytes")]
    Address { address: u64, bytes: u64, available: u64 },
    #[error("instruction {index}: {reason}")]
    Instruction {
        index: u64,
        #[field(display)]
        reason: IllegalInstruction,
    },
    #[error("the core is busy; wait for its end or reset it")]
    Busy,
    #[error("the core stopped at instruction {index} with code {code} ({meaning})")]
    Stopped { index: u32, code: u8, meaning: &'static str },
    #[error("the core stopped at instruction {index} with code {code} ({meaning} at byte {address})")]
    Bus { index: u32, code: u8, meaning: &'static str, address: u64 },
    #[error("no END after {cycles} cycles: the core hangs or the limit is too low")]
    Watchdog { cycles: u64 },
    #[error("register ID reads {id:#010x}; a compact core reads {expected:#010x}")]
    NotACore { id: u32, expected: u32 },
    #[error(
        "the core has version {major}.{minor} of registers and instructions; this driver needs \
         {needed_major}.{needed_minor} or a later {needed_major}.x"
    )]
    Version { major: u32, minor: u32, needed_major: u32, needed_minor: u32 },
    #[error("the simulated core cannot be used: {reason}")]
    Simulator { reason: String },
    #[error("no compact core simulates as {name}; take one of: {known}")]
    UnknownCore { name: String, known: String },
    #[error(transparent)]
    Ring(#[from] RingError),
}

/// Why an instruction word means nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, StructuredError)]
#[non_exhaustive]
#[allow(missing_docs)] // As above.
pub enum IllegalInstruction {
    #[error("no opcode {0:#04x}")]
    Opcode(u8),
    #[error("reserved bits are set")]
    Reserved,
    #[error("bank {0} is out of reach of the transform units")]
    Bank(u8),
    /// A pair of banks beside one of its own banks.
    #[error("bank {0} is a pair; the instruction also names one of its banks by itself")]
    Split(u8),
    #[error("modulus {0} is not in the table")]
    Modulus(u8),
    #[error(
        "the table holds {held} roots of modulus {modulus}, and a transform of this degree needs {needed}: make the entry for \
         the program's degree"
    )]
    Roots { modulus: u8, held: usize, needed: u32 },
    #[error("{0} does not take these operands")]
    Operands(&'static str),
    #[error("a permutation reads operand A, writes another bank and has an odd Galois element")]
    Permutation,
    #[error("it reads what store {needed} writes and waits for {waits} stores only")]
    After { needed: u64, waits: u64 },
    #[error("it waits for {waits} stores, but only {before} stand before it")]
    NeverStored { waits: u64, before: u64 },
    #[error("the program ends without END")]
    NoEnd,
}
