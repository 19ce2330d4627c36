//! The integration tests of this crate as one program: it is linked once.

#[path = "adding/main.rs"]
mod adding;
mod bound;
mod common;
mod encryptor;
mod golden;
mod nine;
mod search;
mod space;
mod store;
