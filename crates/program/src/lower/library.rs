//! Key switches with the integers of another library: every residue of the result is the one that it computes.
//!
//! The steps are those of [`key_switch`](super::key_switch). What differs:
//!
//! | | engine | SEAL 4 | OpenFHE 1.6, HYBRID |
//! |---|---|---|---|
//! | digit j | in about (−D_j/2, D_j/2\] | in \[0, q_j) | Σ y_i·(D_j/q_i) in \[0, α·D_j) |
//! | remainder modulo P | in about (−P/2, P/2\] | in (−p/2, p/2) | Σ y_k·(P/p_k) in \[0, K·P) |
//! | automorphism | of the result | of c_0 and c_1 before | of the inner products, all ℓ + 1 + K limbs |
//! | rescale behind it | one division by P·q_ℓ | a rescale of its own | a rescale of its own |
//!
//! Digits that are not centred change under an automorphism: σ, X → X^g, turns a coefficient d into −d, which is read as q − d. So
//! rotations of SEAL share no digits. Those of OpenFHE do, since its automorphism comes later; and it comes before the division,
//! because a remainder that is not centred is no odd function either.
//!
//! SEAL's keys for its order, from s(X^g) to s, are the images under σ of the keys here, from s to s(X^(1/g)). So digits of σ(c_1)
//! are taken back by σ^−1 where they are raised, and the inner product goes through σ: Σ σ^−1(d_j)·key_j = σ^−1(Σ d_j·σ(key_j)). A
//! digit's own limbs need neither.
//!
//! Tensor products and rescales (the centred residue of the dropped prime) are the engine's in both libraries.

use ringmill_ckks::Library;

use super::key_inputs::KeyInputs;
use super::key_switch::{End, Parts};
use super::residues::Centring;
use super::{LowerError, Lowering, Poly};
use crate::limb::Operand;

impl KeyInputs {
    /// How its digits are read.
    pub(super) fn centring(&self, own: Centring) -> Centring {
        self.library.map_or(own, |_| Centring::NONE)
    }

    /// How the remainder of the division is read.
    pub(super) fn centring_of_remainder(&self, own: Centring) -> Centring {
        match self.library {
            Some(Library::OpenFhe) => Centring::NONE,
            Some(Library::Seal) | None => own,
        }
    }

    /// The library whose rotations with this key share no digits.
    pub(super) fn unshared(&self) -> Option<Library> {
        self.library.filter(|&library| library == Library::Seal)
    }

    /// The automorphism of a switch that its digits go through.
    pub(super) fn turn_of_digits(&self, galois: Option<u64>) -> Option<u64> {
        galois.filter(|_| self.library == Some(Library::Seal))
    }

    /// What is done at the end of a switch, before a rescale of its own.
    pub(super) fn end(&self, end: End) -> End {
        match (self.library, end) {
            (Some(_), End::Rescale) => End::Divide,
            _ => end,
        }
    }
}

impl Lowering {
    /// The addends of a switch, under its automorphism where a library adds them behind it.
    pub(super) fn turned_addends(
        &mut self,
        add: Parts<Option<&[Operand]>>,
        key: &KeyInputs,
        galois: Option<u64>,
    ) -> Parts<Option<Poly>> {
        let galois = galois.filter(|_| key.library.is_some());
        add.map(|poly| poly.map(|poly| poly.iter().map(|&x| self.turned(x, galois)).collect()))
    }

    /// The rescale of both parts that a library does behind a key switch.
    pub(super) fn rescaled_behind(
        &mut self,
        parts: Parts<Poly>,
        key: &KeyInputs,
        end: End,
    ) -> Result<Parts<Poly>, LowerError> {
        if key.library.is_none() || end != End::Rescale {
            return Ok(parts);
        }
        let [b, a] = parts;
        Ok([self.rescale(&b)?, self.rescale(&a)?])
    }
}

/// The inverse of an odd number modulo 2N, N = 2^`log_n`.
pub(super) fn inverse_galois(galois: u64, log_n: u32) -> u64 {
    // Newton: g is its own inverse modulo 8, and each step doubles the bits.
    let step = |x: u64, _| x.wrapping_mul(2u64.wrapping_sub(galois.wrapping_mul(x)));
    (0..5).fold(galois, step) & ((2 << log_n) - 1)
}
