//! Base conversion: from the residues modulo s_0..s_{a−1} (product S) to the residue modulo another prime m.
//!
//! Three steps, each an exact statement about integers, so that every machine gives the same bits:
//! 1. y_i = x_i · (S/s_i)^−1 mod s_i, a multiplication by [`SourceBasis::inverse`] in the source prime;
//! 2. v = (2^27 + Σ_i (y_i >> sh_i) · R_i) >> 28 with sh_i = max(0, bits(s_i) − 14) and R_i = ⌊2^(28+sh_i) / s_i⌋;
//! 3. out = Σ_i y_i · (S/s_i mod m) − v · (S mod m) mod m.
//!
//! Σ_i y_i · S/s_i = x + S·⌊Σ_i y_i/s_i⌋ for the x in \[0, S) with those residues, and v is Σ_i y_i/s_i rounded, short by at
//! most [`SourceBasis::quotient_error`]. So step 3 gives a representative of x in about (−S/2, S/2\], exactly the one with v
//! taken as printed; with v = 0 ("fast" conversion) it gives one in \[0, a·S).
//!
//! Bounds: (y_i >> sh_i) · R_i ≤ 2^28 · y_i/s_i < 2^28, so with a ≤ 64 the sum stays below 2^34 + 2^27 and v ≤ a: it
//! fits a word of the narrowest core, whose multiplier sums it like any other product.

use crate::kernel::sum::{Room, SHORT_BITS};
use crate::{Modulus, RingError};

/// The quotient v has this many fraction bits.
pub const QUOTIENT_BITS: u32 = 28;
/// Bits of y that enter the quotient.
pub const QUOTIENT_HEAD: u32 = 14;

/// Source primes s_0..s_{a−1} of a base conversion, with the constants that do not depend on the target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceBasis {
    moduli: Vec<Modulus>,
    inverses: Vec<u64>,
    /// (sh_i, R_i)
    heads: Vec<(u32, u64)>,
}

impl SourceBasis {
    /// Greatest number of source primes.
    pub const MAX_PRIMES: usize = 64;

    /// # Errors
    /// [`RingError::SourceCount`] for no prime or more than [`Self::MAX_PRIMES`]; [`RingError::RepeatedModulus`].
    pub fn new(moduli: &[Modulus]) -> Result<Self, RingError> {
        if moduli.is_empty() || moduli.len() > Self::MAX_PRIMES {
            return Err(RingError::SourceCount { got: moduli.len(), max: Self::MAX_PRIMES });
        }
        for (i, s) in moduli.iter().enumerate() {
            if moduli[..i].contains(s) {
                return Err(RingError::RepeatedModulus { q: s.value() });
            }
        }
        let inverses = (0..moduli.len())
            .map(|i| moduli[i].inv(cofactor(moduli, i, moduli[i])))
            .collect::<Result<_, _>>()?;
        let heads = moduli
            .iter()
            .map(|s| {
                let shift = s.bits().saturating_sub(QUOTIENT_HEAD);
                (shift, ((1u128 << (QUOTIENT_BITS + shift)) / u128::from(s.value())) as u64)
            })
            .collect();
        Ok(Self { moduli: moduli.to_vec(), inverses, heads })
    }

    /// The source primes.
    pub fn moduli(&self) -> &[Modulus] {
        &self.moduli
    }

    /// (S/s_i)^−1 mod s_i: the constant of step 1. `i` must be below the number of primes.
    pub fn inverse(&self, i: usize) -> u64 {
        self.inverses[i]
    }

    /// sh_i and R_i of step 2, one pair a source prime.
    pub fn heads(&self) -> &[(u32, u64)] {
        &self.heads
    }

    /// Step 2 for one coefficient: the rounded quotient of Σ y_i · S/s_i by S. Each `y[i]` in \[0, s_i).
    pub fn quotient(&self, y: impl IntoIterator<Item = u64>) -> u64 {
        let terms = y.into_iter().zip(&self.heads).map(|(y, &(shift, r))| (y >> shift).wrapping_mul(r));
        terms.fold(1u64 << (QUOTIENT_BITS - 1), u64::wrapping_add) >> QUOTIENT_BITS
    }

    /// By how much Σ y_i/s_i may exceed what step 2 sums, in units of 1: the representative lies within
    /// (−S/2, S/2\] widened upwards by this times S. Each term loses less than 2^sh_i/s_i (bits of y that are dropped)
    /// plus 2^−(28+sh_i)·y_i ≤ 2^(14−28) (R_i rounded down).
    pub fn quotient_error(&self) -> f64 {
        self.moduli
            .iter()
            .zip(&self.heads)
            .map(|(s, &(shift, _))| {
                let dropped = if shift == 0 { 0.0 } else { (shift as f64).exp2() / s.value() as f64 };
                dropped + (s.value() as f64) * (-((QUOTIENT_BITS + shift) as f64)).exp2()
            })
            .sum()
    }
}

/// S/s_i mod m.
fn cofactor(moduli: &[Modulus], i: usize, m: Modulus) -> u64 {
    let others = moduli.iter().enumerate().filter(|&(j, _)| j != i);
    others.fold(m.reduce(1), |p, (_, s)| m.mul(p, m.reduce(s.value())))
}

/// Step 3 of a base conversion: the constants of one target prime m.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConvertConstants {
    target: Modulus,
    /// Of factors y, each below the greatest source prime.
    room: Room,
    /// Bit i: y_i is below 2^[`SHORT_BITS`].
    short: u64,
    /// What a sum lacks of which every y is taken less [`Room::offset`], and one with a quotient.
    missing: [u64; 2],
    factors: Vec<u64>,
    product: u64,
}

impl ConvertConstants {
    /// The constants for conversion from `from` to `target`.
    pub fn new(from: &SourceBasis, target: Modulus) -> Self {
        let moduli = from.moduli();
        let greatest = moduli.iter().map(|s| s.value()).max().unwrap_or(0);
        let room = Room::of_constants(greatest, target.value());
        let factors: Vec<u64> = (0..moduli.len()).map(|i| cofactor(moduli, i, target)).collect();
        let product = moduli.iter().fold(1, |p, s| target.mul(p, target.reduce(s.value())));
        let sum = factors.iter().fold(0, |sum, &factor| target.add(sum, factor));
        let missing =
            [sum, target.sub(sum, product)].map(|sum| target.mul(target.reduce(room.offset()), sum));
        let short = moduli.iter().rev().fold(0, |bits, s| bits << 1 | u64::from(s.bits() <= SHORT_BITS));
        Self { target, room, short, missing, factors, product }
    }

    /// The target prime m.
    pub fn target(&self) -> Modulus {
        self.target
    }

    /// How many sources make one sum.
    pub(crate) fn room(&self) -> Room {
        self.room
    }

    /// Whether row i of the sources, or the quotient behind them, is below 2^[`SHORT_BITS`].
    pub(crate) fn short(&self, i: usize) -> bool {
        i >= self.factors.len() || self.short >> i & 1 == 1
    }

    /// What a sum lacks of which every y, and the quotient if there is one, is taken less [`Room::offset`].
    pub(crate) fn missing(&self, quotient: bool) -> u64 {
        self.missing[usize::from(quotient)]
    }

    /// S/s_i mod m, one a source prime.
    pub fn factors(&self) -> &[u64] {
        &self.factors
    }

    /// S mod m.
    pub fn product(&self) -> u64 {
        self.product
    }

    /// Step 3 for one coefficient: the scalar reference. Each `y[i]` in \[0, s_i), `v` ≤ a as step 2 gives it.
    pub fn convert(&self, y: impl IntoIterator<Item = u64>, v: u64) -> u64 {
        let m = self.target;
        let sum = y.into_iter().zip(&self.factors).fold(0, |sum, (y, &f)| m.add(sum, m.mul(y, f)));
        m.sub(sum, m.mul(v, self.product))
    }
}

/// The centred residue: y in \[0, s) stands for y, or y − s if y > s/2, and that integer is reduced modulo `to`.
pub fn lift(y: u64, from: Modulus, to: Modulus) -> u64 {
    to.reduce_i64(from.centred(y))
}

#[cfg(test)]
mod tests;
