//! From HE operations to limb programs. Each algorithm stands here once; no machine has its own copy.
//!
//! | file | algorithm |
//! |---|---|
//! | [`basis`] | the chain's moduli in the program, and the constants that follow from them |
//! | [`residues`] | taking a polynomial known modulo some primes modulo others: one limb `lift`, several `convert`; dividing by their product |
//! | [`pointwise`] | sums, products with constants, tensor product |
//! | [`rescale`] | division by q_ℓ |
//! | [`key_inputs`] | key-switching keys as inputs |
//! | [`key_switch`] | digits, inner product with the key, division by P or P·q_ℓ |
//! | `library` | what differs where residues are those of SEAL or OpenFHE |
//! | [`klss`] | the same with the inner product modulo auxiliary primes |
//! | [`method`] | which of the two, with which layout |
//! | [`galois`] | rotation, conjugation, hoisted rotations |
//! | [`raise`] | from level 0 to the top, by way of the ephemeral secret |
//! | `extended` | values that stay multiplied by P: double hoisting |
//! | `over_t` | the same for KLSS, where sums stay modulo T |
//! | `growth` | how long T must be for that |
//! | `compact` | many constant vectors as one limb each |
//! | `sums` | sums of products with plaintexts as inner products |
//! | `turns` | sums of rotations, prime by prime |
//! | [`scalar`] | real scalars as integers at an exact scale |
//! | [`program`] | the walk over an HE program |
//! | `section` | key switches as sections |
//! | `uses` | what to leave out and what to merge |
//! | [`encrypt`] | encryption, decryption and public keys, for machines of a client |
//! | [`single`] | one operation of the scheme as a program |
//! | [`interface`] | what the inputs and outputs of the result stand for |
//!
//! Polynomials are in the evaluation domain between these; they are [`Poly`], one operand a limb, q_0 first.
//! Derivations: `docs/algorithms`; an example with every text: `docs/walk.md`.

pub mod basis;
mod compact;
pub mod encrypt;
mod error;
mod extended;
pub mod galois;
mod growth;
pub mod interface;
pub mod key_inputs;
pub mod key_switch;
pub mod klss;
mod library;
pub mod method;
mod over_t;
pub mod pointwise;
pub mod program;
pub mod raise;
pub mod rescale;
pub mod residues;
pub mod scalar;
mod section;
pub mod single;
mod sums;
mod turns;
mod uses;

pub use basis::Basis;
pub use encrypt::{ClientProgram, Mode};
pub use error::LowerError;
pub use galois::{Hoisted, Rotation};
pub use interface::{InputSource, KeyId, Lowered, OutputSource};
pub use key_inputs::KeyInputs;
pub use method::{Method, Switch};
pub use program::{lower, lower_by, lower_compact};
pub use raise::EncapsulationInputs;
pub use single::{Operation, OperationWriter};
pub use uses::key_switches;

pub use ringmill_ckks::{KeyLayout, KlssLayout, LayoutError, Library};

use crate::limb::{Domain, LimbBuilder, LimbProgram, Operand, SectionKind};

/// The limbs of one polynomial in the evaluation domain, modulo q_0, q_1, …
pub type Poly = Vec<Operand>;

/// A limb program being written, over the moduli of one chain.
#[derive(Debug, Clone)]
pub struct Lowering {
    /// The program so far.
    pub builder: LimbBuilder,
    /// The moduli and their constants.
    pub basis: Basis,
    /// Whether conversions from several primes centre.
    centred: bool,
    /// What the labels of regions begin with.
    scope: String,
}

impl Lowering {
    /// An empty program over a chain.
    ///
    /// # Errors
    /// [`LowerError::Digits`] if `alpha` is 0.
    pub fn new(
        name: impl Into<String>,
        log_n: u32,
        q: &[ringmill_ring::Modulus],
        p: &[ringmill_ring::Modulus],
        alpha: usize,
    ) -> Result<Self, LowerError> {
        let mut builder = LimbBuilder::new(name, log_n);
        let basis = Basis::declare(&mut builder, q, p, alpha)?;
        Ok(Self { builder, basis, centred: true, scope: String::new() })
    }

    /// Conversions from several primes without centring, as papers often print them: fewer operations, more error.
    pub fn uncentred(self) -> Self {
        Self { centred: false, ..self }
    }

    /// Labels the regions of what follows, such as `%5 relin`.
    pub fn scope(&mut self, scope: impl Into<String>) {
        self.scope = scope.into();
    }

    /// Labels what follows `SCOPE STEP`; nothing if that is the label already.
    fn region(&mut self, step: impl std::fmt::Display) {
        let step = step.to_string();
        let label =
            if self.scope.ends_with(&step) { self.scope.clone() } else { format!("{} {step}", self.scope) };
        if self.builder.last_label() != Some(label.trim()) {
            self.builder.region(label.trim());
        }
    }

    /// Writes a section.
    fn section<T>(&mut self, kind: SectionKind, write: impl FnOnce(&mut Self) -> T) -> T {
        self.builder.begin_section(kind);
        let written = write(self);
        self.builder.end_section();
        written
    }

    /// Stores a polynomial in an output of its own.
    ///
    /// # Panics
    /// If it has more limbs than the program has ciphertext primes.
    pub fn output(&mut self, name: impl Into<String>, poly: &[Operand]) {
        let outputs = self.builder.output(name, Domain::Eval, &self.basis.q()[..poly.len()]);
        outputs.into_iter().zip(poly).for_each(|(output, &limb)| self.builder.store(output, limb));
    }

    /// The verified program.
    ///
    /// # Errors
    /// A broken invariant: an operand used wrongly.
    pub fn finish(self) -> Result<LimbProgram, LowerError> {
        Ok(self.builder.finish()?)
    }
}
