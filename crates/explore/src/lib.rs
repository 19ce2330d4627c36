//! From a kernel, a device and constraints to Pareto-optimal parameters and hardware.
//!
//! | folder | subject |
//! |---|---|
//! | [`design`] | a design with all that is predicted of it, and its JSON form |
//! | [`device`] | devices as data |
//! | [`kernel`] | a traced kernel under parameters |
//! | [`constraints`], [`space`] | constraints and objective, and the space that is searched |
//! | [`target`] | kinds of machines: which there are for a device, cycles, resources, energy |
//! | [`predict`], [`power`] | all that is predicted of a design |
//! | [`search`] | enumeration with pruning and proof |
//! | [`store`] | results in a file |
//!
//! How it is done: `docs/explorer.md`.

pub mod constraints;
pub mod design;
pub mod device;
mod error;
pub mod kernel;
mod near;
pub mod power;
pub mod predict;
pub mod search;
pub mod space;
mod stop;
pub mod store;
pub mod target;

pub use constraints::{Constraints, Objective};
pub use design::{Built, Design, Figure, Origin, Parameters, Predicted, Resource};
pub use device::Device;
pub use error::ExploreError;
pub use kernel::Kernel;
pub use search::{Outcome, Progress, Request, explore};
pub use space::Space;
pub use stop::Stop;
pub use store::Store;
pub use target::Target;
