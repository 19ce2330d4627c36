//! Loops over whole limbs, behind [`crate::LimbRing`]: lengths are checked there, nothing panics here.
//!
//! A limb holds a power of two of words, at least eight, so it is a whole number of vectors on every backend.

// Iterator adaptors over arrays of vectors would be compiled without the instruction set: see `crate::lanes`.
#![allow(clippy::needless_range_loop)]

pub(crate) mod automorphism;
pub(crate) mod convert;
pub(crate) mod dot;
pub(crate) mod field;
pub(crate) mod pointwise;
pub(crate) mod prime;
pub(crate) mod sum;
