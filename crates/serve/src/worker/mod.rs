//! Workers: processes that read what strangers sent.
//!
//! The service itself looks at no more than the first bytes of a file. Checks and evaluations happen in child processes of the same
//! binary, with limits of memory and file sizes: what kills one kills no other, and not the service.

pub(crate) mod check;
pub(crate) mod child;
pub(crate) mod evaluate;
pub(crate) mod parent;
pub(crate) mod protocol;
#[cfg(test)]
mod tests;
