//! Keys: secret, public, and the key-switching keys of relinearisation and automorphisms.
//!
//! A key-switching key from s′ to s has one pair (b_j, a_j) a digit j over all primes q_0..q_L, p_0..p_{K−1},
//! in the evaluation domain. It satisfies b_j + a_j·s = e_j + P·g_j·s′, where g_j is 1 modulo the primes of
//! digit j and 0 modulo the other ciphertext primes. Every a_j is the expansion of a public seed, so keys are
//! stored at half size. Besides this form a key may have others for fewer limbs ([`KeyLayout`]); what KLSS
//! key switching reads ([`KlssKey`]) is a function of a form and is not stored.

mod encapsulation;
mod evaluation;
#[cfg(test)]
mod form_tests;
mod generate;
mod identity;
#[cfg(test)]
mod identity_tests;
mod klss;
mod layout;
mod memory;
mod origin;
mod public;
#[cfg(test)]
mod residue_tests;
mod secret;
mod switch;
#[cfg(test)]
mod tests;

pub use encapsulation::{Direction, EPHEMERAL_WEIGHT, EncapsulationKey};
pub use evaluation::{EvaluationKeys, GaloisKeys, RelinKey};
pub use generate::KeyGenerator;
pub use identity::KeyIdentity;
pub use klss::{KlssKey, KlssLayout};
pub use layout::{KeyLayout, LayoutError};
pub(crate) use memory::Bytes;
pub use memory::KeyMemory;
pub use public::PublicKey;
pub(crate) use public::masked_error;
pub use secret::SecretKey;
pub use switch::{KeyForm, SwitchKey};
