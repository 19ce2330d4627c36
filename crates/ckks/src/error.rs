//! What can go wrong with CKKS data: one variant a violated rule.

use ringmill_errors::StructuredError;
use ringmill_ring::{Domain, RingError};

use crate::keys::{KeyIdentity, KeyLayout, LayoutError};
use crate::params::{Fingerprint, Level, ModulusSize, ParamsError};
use crate::scale::ScaleError;

/// A rule of CKKS data that an argument breaks.
#[derive(Debug, Clone, PartialEq, thiserror::Error, StructuredError)]
#[non_exhaustive]
pub enum CkksError {
    /// The parameters are wrong.
    #[error(transparent)]
    Params(#[from] ParamsError),
    /// A scale is wrong.
    #[error(transparent)]
    Scale(#[from] ScaleError),
    /// The ring refuses.
    #[error(transparent)]
    Ring(#[from] RingError),
    /// The layout of a key does not go with the parameters.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// A public key that does not divide, where that is asked for.
    #[error(
        "this public key encrypts without dividing by the first special prime, which is asked for; use the key that was drawn or \
         read, not undivided()"
    )]
    Undivided,
    /// A key without the form that a program was compiled for.
    #[error(
        "the program switches keys with {layout:?}, but the key-switching key has only {present:?}; add that form with \
         KeyGenerator::extend_relin_key or extend_galois_key"
    )]
    MissingForm {
        /// What is missing.
        #[field(display)]
        layout: KeyLayout,
        /// The layouts that the key has.
        present: Vec<KeyLayout>,
    },
    /// Two things of different contexts meet.
    #[error(
        "the {left} has parameters {left_print} but the {right} has {right_print}; use keys and ciphertexts of one \
         context"
    )]
    ParamsMismatch {
        /// The first thing.
        left: &'static str,
        /// Its parameters.
        #[field(display)]
        left_print: Fingerprint,
        /// The second thing.
        right: &'static str,
        /// Its parameters.
        #[field(display)]
        right_print: Fingerprint,
    },
    /// Two things of different secret keys meet.
    #[error(
        "the {left} and the {right} are of different secret keys, {left_identity} and {right_identity}: nothing would decrypt \
         what they give together; use keys and ciphertexts of one secret key"
    )]
    KeysMismatch {
        /// The first thing.
        left: String,
        /// Its secret key.
        #[field(display)]
        left_identity: KeyIdentity,
        /// The second thing.
        right: String,
        /// Its secret key.
        #[field(display)]
        right_identity: KeyIdentity,
    },
    /// A ciphertext under another secret key than the one that shall decrypt it.
    #[error(
        "the ciphertext is under secret key {expected}, and decrypts to noise with secret key {found}; give secret key \
         {expected}"
    )]
    OtherSecret {
        /// The secret key of the ciphertext.
        #[field(display)]
        expected: KeyIdentity,
        /// The secret key given.
        #[field(display)]
        found: KeyIdentity,
    },
    /// A level above the top.
    #[error(
        "level {level} is above the top level {max} of the parameters; take a level from 0 to {max}, or parameters of more \
         primes"
    )]
    LevelRange {
        /// The level given.
        level: Level,
        /// The top level.
        max: Level,
    },
    /// A slot count that cannot be packed.
    #[error("{slots} slots cannot be packed; the count must be a power of two up to N/2 = {max}")]
    Slots {
        /// The count given.
        slots: usize,
        /// N/2.
        max: usize,
    },
    /// A ciphertext with too few or too many polynomials.
    #[error("a ciphertext has 2 polynomials, or 3 before relinearisation; {got} were given")]
    PolyCount {
        /// How many were given.
        got: usize,
    },
    /// A polynomial of the wrong shape.
    #[error("polynomial {index} of the {what} has {got}; its parameters and level need {expected}")]
    Shape {
        /// What the polynomial belongs to.
        what: &'static str,
        /// Which polynomial.
        index: usize,
        /// The shape needed.
        #[field(display)]
        expected: PolyShape,
        /// The shape given.
        #[field(display)]
        got: PolyShape,
    },
    /// A word that is not a residue.
    #[error("limb {limb} of the {what} holds {value}, which is not below its prime {q}")]
    NotCanonical {
        /// What the limb belongs to.
        what: &'static str,
        /// Index of the limb.
        limb: usize,
        /// The word.
        value: u64,
        /// The prime.
        q: u64,
    },
    /// The key for a rotation or conjugation is missing.
    #[error(
        "no key for {what} (Galois element {galois} = {power} mod {two_n}); generate one with `galois_keys` before \
         evaluating (keys present: {present})"
    )]
    MissingGaloisKey {
        /// `rotation by 3` or `conjugation`.
        what: String,
        /// The Galois element.
        galois: u64,
        /// The element by powers of the generator: `5^3`, or `−1` for conjugation.
        power: String,
        /// 2N.
        two_n: usize,
        /// The keys that are present, as text.
        present: String,
    },
    /// Several keys of a program are missing.
    #[error(
        "{count} keys of the program are missing: {what} (keys of rotation and conjugation present: {present}); generate them with \
         `evaluation_keys`"
    )]
    MissingKeys {
        /// How many.
        count: usize,
        /// As text, at most a dozen of them.
        what: String,
        /// The keys of rotation and conjugation that are present, as text.
        present: String,
    },
    /// The relinearisation key is missing.
    #[error("the product of two ciphertexts needs the relinearisation key; generate one with `relin_key`")]
    MissingRelinKey,
    /// The encapsulation key is missing.
    #[error("bootstrapping needs the encapsulation key; generate one with `encapsulation_key`")]
    MissingEncapsulationKey,
    /// A key under a sparse secret that is not known to keep 128 bits, at parameters that are not marked insecure.
    #[error(
        "the encapsulation key is under a secret of weight {weight} modulo q_0·p_0 = 2^{}, which is insecure at N = \
         2^{log_n}: 128 bits are known {}. Use parameters laid out for bootstrapping, or `insecure: true` for tests",
        log_qp.beside(limit.unwrap_or(0)),
        limit.map_or_else(|| "from N = 2^15 on".to_owned(), |limit| format!("there up to 2^{limit}"))
    )]
    InsecureEncapsulation {
        /// Weight of the ephemeral secret.
        weight: u32,
        /// log2 of q_0·p_0.
        #[field(display)]
        log_qp: ModulusSize,
        /// log2 N.
        log_n: u32,
        /// The greatest log2 of q_0·p_0 there that is known to keep 128 bits.
        limit: Option<u32>,
    },
    /// Secret coefficients that the parameters do not draw.
    #[error("the secret key is not one of {expected}: {why}")]
    SecretShape {
        /// The distribution of the parameters.
        expected: String,
        /// What is wrong.
        why: &'static str,
    },
}

/// Shape of a polynomial, for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PolyShape {
    /// Limbs.
    pub limbs: usize,
    /// Words a limb.
    pub n: usize,
    /// What the words mean.
    pub domain: Domain,
}

impl std::fmt::Display for PolyShape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} limbs of {} words in the {} domain", self.limbs, self.n, self.domain)
    }
}
