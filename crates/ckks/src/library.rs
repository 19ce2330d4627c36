//! Libraries whose residues can be computed in place of the engine's own.

use std::fmt;
use std::str::FromStr;

use ringmill_errors::StructuredError;

use crate::keys::{KeyLayout, LayoutError};

/// A library of CKKS. Key switches can be done as it does them, so that every residue of a result is the one that it would
/// compute.
///
/// | | engine | SEAL 4 | OpenFHE 1.6, HYBRID |
/// |---|---|---|---|
/// | digit of one prime | in (−q/2, q/2) | in \[0, q) | in \[0, q) |
/// | digit of several | the nearest integer | one prime a digit | fast conversion: off by up to α − 1 times their product |
/// | division by P | rounded to nearest | rounded to nearest, one special prime | fast conversion: rounded down, off by up to K − 1 |
/// | rotation | after the key switch | before it | between inner product and division |
/// | rescale of a product | in the same division | a division of its own | a division of its own |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Library {
    /// Microsoft SEAL, versions 4.
    Seal,
    /// OpenFHE 1.6, key switching HYBRID.
    OpenFhe,
}

impl Library {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Seal, Self::OpenFhe];

    /// The word used in text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Seal => "seal",
            Self::OpenFhe => "openfhe",
        }
    }

    /// Refuses keys of a layout that the library does not have: SEAL's have one special prime and digits of one prime.
    ///
    /// # Errors
    /// [`LayoutError::Library`].
    pub fn check(self, layout: KeyLayout) -> Result<(), LayoutError> {
        match self {
            Self::Seal if layout.special != 1 || layout.alpha != 1 => Err(LayoutError::Library {
                layout,
                library: "SEAL",
                has: "one special prime and digits of one prime",
            }),
            Self::Seal | Self::OpenFhe => Ok(()),
        }
    }

    /// How far digit numbers of \[0, α·D) reach, in units of D: α primes are converted without their quotient.
    pub(crate) fn digit_reach(self, alpha: usize) -> f64 {
        match self {
            Self::Seal => 1.0,
            Self::OpenFhe => alpha as f64,
        }
    }
}

impl fmt::Display for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// There is no library of a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, StructuredError)]
#[error("there is no library {name:?}; there are \"seal\" and \"openfhe\"")]
pub struct UnknownLibrary {
    /// What was asked for.
    pub name: String,
}

impl FromStr for Library {
    type Err = UnknownLibrary;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|library| library.name() == name);
        found.ok_or_else(|| UnknownLibrary { name: name.to_owned() })
    }
}
