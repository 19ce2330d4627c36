//! The methods of key switching, and what a program may know when one is chosen.

use ringmill_ckks::noise::Manner;
use ringmill_ckks::{KeyLayout, KlssLayout, Library};

use super::KeyId;

/// How a polynomial is switched from one secret to another.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Method {
    /// Digits raised to every prime ([`super::key_switch`]).
    Hybrid(KeyLayout),
    /// Digits raised to the primes of T, inner products block by block ([`super::klss`]).
    Klss(KlssLayout),
    /// As another library does it, with keys of this layout: the residues are that library's.
    Of(Library, KeyLayout),
}

impl Method {
    /// Limbs, digits and special primes.
    pub fn layout(&self) -> KeyLayout {
        match self {
            Self::Hybrid(layout) | Self::Of(_, layout) => *layout,
            Self::Klss(layout) => layout.digits(),
        }
    }

    /// Whose residues it gives, if not the engine's.
    pub fn library(&self) -> Option<Library> {
        match self {
            Self::Of(library, _) => Some(*library),
            Self::Hybrid(_) | Self::Klss(_) => None,
        }
    }

    /// What its error depends on.
    pub fn manner(&self) -> Manner {
        Manner { layout: self.layout(), library: self.library() }
    }
}

/// A key switch for which a method is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Switch {
    /// The key.
    pub key: KeyId,
    /// Limbs of the polynomial.
    pub limbs: usize,
    /// How many key switches share its digits: 1 if not hoisted.
    pub hoisted: usize,
    /// Whether a rescale is merged into the division.
    pub rescale: bool,
}
