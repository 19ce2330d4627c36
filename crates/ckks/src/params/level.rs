//! The level of a ciphertext.

use std::fmt;

use ringmill_errors::{Field, ToField};
use serde::{Deserialize, Serialize};

/// Rescales that remain. How many limbs a polynomial has there, [`Levels`](super::Levels) say: one more than the level, where each
/// level has one prime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Level(u32);

impl Level {
    /// The last level: no rescale left.
    pub const ZERO: Self = Self(0);

    /// A level by number.
    pub const fn new(level: u32) -> Self {
        Self(level)
    }

    /// The number.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The number as an index of what there is one of a level.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The level after one rescale; `None` at level 0.
    pub const fn down(self) -> Option<Self> {
        match self.0.checked_sub(1) {
            Some(l) => Some(Self(l)),
            None => None,
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl ToField for Level {
    fn to_field(&self) -> Field {
        self.0.to_field()
    }
}
