//! The integration tests of this crate as one program: it is linked once.

mod answers;
mod board;
mod client;
mod lowered;
