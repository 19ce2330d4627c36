//! From a kernel, a device and wishes to Pareto-optimal parameters and hardware.
//!
//! | folder | subject |
//! |---|---|
//! | [`design`] | a design with all that is predicted of it, and its JSON form |
//! | [`device`] | devices as data |
//!
//! How it is done: `docs/explorer.md`.

pub mod design;
pub mod device;
mod error;
mod near;

pub use design::{Design, Figure, Hardware, Origin, Parameters, Predicted, Resource};
pub use device::Device;
pub use error::ExploreError;
