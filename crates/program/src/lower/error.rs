//! What cannot be lowered.

use ringmill_ckks::{LayoutError, Library};
use ringmill_errors::StructuredError;
use ringmill_ring::RingError;

use crate::limb::VerifyError;

/// Why a computation has no limb program.
#[derive(Debug, Clone, PartialEq, thiserror::Error, StructuredError)]
#[non_exhaustive]
#[allow(missing_docs)] // The message is the documentation of each variant and names all its fields.
pub enum LowerError {
    #[error("a key switch needs digits of at least one limb; alpha is {alpha}")]
    Digits { alpha: usize },
    #[error("a key switch needs a special prime and the chain has none; take parameters with at least one")]
    NoSpecialPrime,
    #[error("the divisor of a key switch has {found} primes; at most {max} can be converted at once")]
    TooManySources { found: usize, max: usize },
    #[error("a rescale needs level 1 or more; the ciphertext is at level 0")]
    LevelExhausted,
    #[error("{limbs} limbs are those of no level; rescale a polynomial of all limbs of its level")]
    NoLevel { limbs: usize },
    #[error("operands have {left} and {right} limbs; drop the higher one to the lower level first")]
    Levels { left: usize, right: usize },
    #[error("a polynomial of {found} limbs; the chain has {max} ciphertext primes and one limb is the least")]
    Limbs { found: usize, max: usize },
    #[error("the key-switching key has {found} {what}; {needed} are needed")]
    Key { what: &'static str, found: usize, needed: usize },
    #[error("HE program {program} is traced; lowering takes a managed one, with levels and scales")]
    NotManaged { program: String },
    #[error("the scalar {c} at scale {scale} is not an integer of at most {bits} bits")]
    Scalar { c: String, scale: String, bits: u32 },
    #[error("{}", if *.needed {
        format!("{mode} divides by an extra prime; give the first special prime")
    } else {
        format!("{mode} has no use for an extra prime; leave it out")
    })]
    Extra { mode: &'static str, needed: bool },
    #[error("the extra prime {extra} is one of the ciphertext primes; give the first special prime")]
    ExtraAmong { extra: u64 },
    #[error("a ciphertext of {found} parts cannot be decrypted; it has 2, or 3 before relinearisation")]
    Parts { found: usize },
    #[error(transparent)]
    Layout(#[from] LayoutError),
    #[error(
        "a rotation by {method} of digits that were raised for another method; hoist them with the key's own"
    )]
    Hoisted { method: &'static str },
    #[error(
        "rotations as {library} does them share no digits: it permutes before it decomposes; rotate one by one"
    )]
    Shared {
        #[field(display)]
        library: Library,
    },
    #[error(
        "{library} has no bootstrapping with the engine's keys; leave the library out, or the bootstrapping"
    )]
    Raise {
        #[field(display)]
        library: Library,
    },
    #[error(transparent)]
    Ring(#[from] RingError),
    #[error(transparent)]
    Verify(#[from] VerifyError),
}
