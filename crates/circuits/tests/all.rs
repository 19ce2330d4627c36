//! The integration tests of this crate as one program: it is linked once.

mod algebra;
mod bootstrap;
mod choosing;
mod common;
mod linear;
mod lookups;
mod methods;
mod placing;
mod polynomials;
mod products;
