//! Constraints on a design, and the objective.

use ringmill_ckks::params::SecurityTable;
use serde::{Deserialize, Serialize};

use crate::ExploreError;
use crate::near::hint;

/// What is to be least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Objective {
    /// Milliseconds of one run.
    Latency,
    /// The part of the device that is taken: of the resource that runs out first.
    Area,
    /// The error.
    Error,
    /// Bits of security, the most of them.
    Security,
    /// Millijoules of one run.
    Energy,
}

impl Objective {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Latency, Self::Area, Self::Error, Self::Security, Self::Energy];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Latency => "latency",
            Self::Area => "area",
            Self::Error => "error",
            Self::Security => "security",
            Self::Energy => "energy",
        }
    }

    /// The objective of a name.
    ///
    /// # Errors
    /// [`ExploreError::UnknownWord`].
    pub fn by_name(word: &str) -> Result<Self, ExploreError> {
        Self::ALL.into_iter().find(|o| o.name() == word).ok_or_else(|| ExploreError::UnknownWord {
            what: "objective",
            word: word.into(),
            hint: hint(word, Self::ALL.map(Self::name)),
            known: Self::ALL.map(Self::name).join(", "),
        })
    }
}

/// Bounds that a design keeps, and what is to be least among those that keep them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constraints {
    /// The error of the worst slot, at most.
    pub max_error: f64,
    /// 128, 192 or 256 bits by the table, at least; 0 takes anything.
    pub security: u32,
    /// Which published table decides.
    pub table: SecurityTable,
    /// Milliseconds, at most.
    pub max_latency_ms: Option<f64>,
    /// The part of each of the device's resources that may be used, above 0 and at most 1. What is fuller is hard to route:
    /// three quarters is the usual advice.
    pub utilisation: f64,
    /// What is to be least.
    pub minimise: Objective,
}

impl Default for Constraints {
    fn default() -> Self {
        Self {
            max_error: 1e-3,
            security: 128,
            table: SecurityTable::Guidelines2024,
            max_latency_ms: None,
            utilisation: 0.75,
            minimise: Objective::Latency,
        }
    }
}

impl Constraints {
    /// Checks that every constraint is a number in its range.
    ///
    /// # Errors
    /// [`ExploreError::Constraint`] naming the one that is not.
    pub fn check(&self) -> Result<(), ExploreError> {
        let fail = |constraint: &'static str, value: String, right: &'static str| {
            Err(ExploreError::Constraint { constraint, value, right: right.into() })
        };
        if !(self.max_error > 0.0 && self.max_error.is_finite()) {
            return fail("max_error", self.max_error.to_string(), "a positive number, such as 1e-4");
        }
        if ![0, 128, 192, 256].contains(&self.security) {
            return fail("security", self.security.to_string(), "128, 192 or 256 bits, or 0 for any");
        }
        if let Some(ms) = self.max_latency_ms.filter(|ms| !(*ms > 0.0 && ms.is_finite())) {
            return fail("max_latency_ms", ms.to_string(), "a positive number of milliseconds");
        }
        if !(self.utilisation > 0.0 && self.utilisation <= 1.0) {
            return fail("utilisation", self.utilisation.to_string(), "above 0 and at most 1");
        }
        Ok(())
    }
}
