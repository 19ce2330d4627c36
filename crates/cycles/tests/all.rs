//! The integration tests of this crate as one program: it is linked once.

mod closed_forms;
mod common;
mod page;
mod reference;
