//! Negacyclic transforms on vector lanes.
//!
//! One [`Plan`] per degree, prime and instruction set. The algorithm is written once ([`engine`]) over an
//! arithmetic ([`arith::Arith`]), of which there are five:
//!
//! | arithmetic | primes | on |
//! |---|---|---|
//! | [`window52`]: 52-bit multiply-add, Shoup, words within 8q | within 2^-11 of a power of two up to 2^49 | IFMA |
//! | [`fold52`]: 52-bit multiply-add, Montgomery | within 2^-11 of a power of two up to 2^51 | IFMA |
//! | [`binary64`]: exact floating point | below 2^50 | AVX2, AVX-512, IFMA |
//! | [`wide64`]: the same, with even quotients | of 51 and 52 bits, or next above 2^52 | AVX2, AVX-512, IFMA |
//! | [`shoup64`]: 64-bit integers, Shoup | all | everywhere |
//!
//! Results are canonical residues and so the same bits whichever is chosen.

mod arith;
mod binary64;
mod choice;
mod engine;
mod fold52;
mod parts;
mod piped;
mod plan;
mod registers;
mod schedule;
mod shared;
mod shoup64;
mod tables;
#[cfg(test)]
mod tests;
mod unroll;
mod wide64;
mod window52;

pub use parts::{CentredLift, Difference, DifferenceFactor, TailFactor};
pub use plan::Plan;
