//! The HE program, the limb program, and the one lowering between them.

pub mod cost;
pub mod he;
pub mod limb;
pub mod lower;
pub mod manage;
pub mod schedule;
