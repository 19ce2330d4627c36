//! From a limb program to nodes that a schedule can be made of.

pub(super) mod build;
mod fold;
pub(super) mod graph;
