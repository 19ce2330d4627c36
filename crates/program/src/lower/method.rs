//! The methods of key switching, and what a program may know when one is chosen.

use ringmill_ckks::{KeyLayout, KlssLayout};

use super::KeyId;

/// How a polynomial is switched from one secret to another.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Method {
    /// Digits raised to every prime ([`super::key_switch`]).
    Hybrid(KeyLayout),
    /// Digits raised to the primes of T, inner products block by block ([`super::klss`]).
    Klss(KlssLayout),
}

impl Method {
    /// Limbs, digits and special primes.
    pub fn layout(&self) -> KeyLayout {
        match self {
            Self::Hybrid(layout) => *layout,
            Self::Klss(layout) => layout.digits(),
        }
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
