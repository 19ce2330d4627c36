//! Constants that several steps share.

use ringmill_ring::ntt;
use ringmill_ring::{ConvertConstants, Modulus, Permutation, RingError, SourceBasis};

use super::plan::Short;

/// Distinct source bases, conversions and permutations of a program.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) bases: Vec<SourceBasis>,
    pub(super) conversions: Vec<ConvertConstants>,
    /// The basis of each conversion.
    conversion_basis: Vec<u32>,
    pub(super) permutations: Vec<Permutation>,
    pub(super) shorts: Vec<Short>,
}

impl Tables {
    /// The number of a source basis.
    pub(super) fn basis(&mut self, moduli: &[Modulus]) -> Result<u32, RingError> {
        if let Some(i) = self.bases.iter().position(|basis| basis.moduli() == moduli) {
            return Ok(i as u32);
        }
        self.bases.push(SourceBasis::new(moduli)?);
        Ok(self.bases.len() as u32 - 1)
    }

    /// The number of a conversion from a basis to a modulus.
    pub(super) fn conversion(&mut self, moduli: &[Modulus], target: Modulus) -> Result<u32, RingError> {
        let basis = self.basis(moduli)?;
        let mut known = self.conversions.iter().zip(&self.conversion_basis);
        if let Some(i) = known.position(|(c, &b)| b == basis && c.target() == target) {
            return Ok(i as u32);
        }
        self.conversions.push(ConvertConstants::new(&self.bases[basis as usize], target));
        self.conversion_basis.push(basis);
        Ok(self.conversions.len() as u32 - 1)
    }

    /// The number of a short transform of degree 2^`log_n` within `whole`, of an operand modulo `from`.
    pub(super) fn short(
        &mut self,
        whole: &ntt::Plan,
        log_n: u32,
        from: Option<Modulus>,
    ) -> Result<u32, RingError> {
        let same =
            |s: &Short| s.plan.n() == 1 << log_n && s.plan.modulus() == whole.modulus() && s.from == from;
        if let Some(i) = self.shorts.iter().position(same) {
            return Ok(i as u32);
        }
        self.shorts.push(Short { plan: whole.subring(log_n)?, from });
        Ok(self.shorts.len() as u32 - 1)
    }

    /// The number of a permutation.
    pub(super) fn permutation(&mut self, log_n: u32, galois: u64) -> Result<u32, RingError> {
        let mask = (2u64 << log_n) - 1;
        if let Some(i) = self.permutations.iter().position(|p| p.galois() == galois & mask) {
            return Ok(i as u32);
        }
        self.permutations.push(Permutation::new(log_n, galois)?);
        Ok(self.permutations.len() as u32 - 1)
    }
}
