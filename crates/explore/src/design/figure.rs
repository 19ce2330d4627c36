//! Numbers that say where they come from.

use serde::{Deserialize, Serialize};

/// What kind of knowledge a number is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OriginKind {
    /// Follows from the design alone: bytes, blocks of memory.
    Exact,
    /// By a model that is held to measurements; the source names it.
    Model,
    /// Measured by this project's own tools.
    Measured,
    /// Printed in a paper or a data sheet.
    Published,
    /// Assumed until the user says better.
    Assumed,
    /// Said by the user.
    User,
}

/// Where a number comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// What kind of knowledge.
    pub kind: OriginKind,
    /// Which model, tool, paper or reason.
    pub source: String,
}

impl Origin {
    /// An origin.
    pub fn new(kind: OriginKind, source: impl Into<String>) -> Self {
        Self { kind, source: source.into() }
    }
}

/// A number with its origin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// The number.
    pub value: f64,
    /// Where it comes from.
    pub origin: Origin,
}

impl Figure {
    /// A number with its origin.
    pub fn new(value: f64, kind: OriginKind, source: impl Into<String>) -> Self {
        Self { value, origin: Origin::new(kind, source) }
    }
}
