//! Models, each held to a measurement; `docs/explorer.md` says to which and how well.

pub mod bound;
pub mod exact;
pub mod logic;
pub mod memory;
pub mod power;
