//! The integration tests of this crate as one program: it is linked once.

#[path = "adding/main.rs"]
mod adding;
mod answers;
mod board;
mod client;
mod lowered;
