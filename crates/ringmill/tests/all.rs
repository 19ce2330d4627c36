//! The integration tests of this crate as one program: it is linked once.
//! Tests that count what the whole process allocates are programs of their own.

mod bootstrap;
mod circuits;
mod common;
mod eager;
mod identity;
mod kernels;
mod lookups;
mod methods;
mod optimism;
mod plan;
