//! How words stand for the left factors of inner products that a transform has just made.
//!
//! What only an inner product reads need not be canonical: it takes five operations a word to make it so, or seven, and the
//! product makes something else of it.

/// A form that transforms end in and inner products take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Residues in \[0, q).
    Canonical,
    /// The low 52 bits are a number that is congruent; those above mean nothing. Canonical words are such words too.
    Low52,
    /// The bits of a binary64 number within ±(q/2 + q·2^−49).
    Number,
}
