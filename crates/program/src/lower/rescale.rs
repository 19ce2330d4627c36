//! Rescaling: division by the primes of a level, rounded to the nearest integer.

use super::{LowerError, Lowering, Poly};
use crate::limb::{Operand, SectionKind};

impl Lowering {
    /// x over the product of the primes of its level, rounded: an INTT for each of these, then for every remaining limb a
    /// conversion (a lift, of one prime), an NTT and a subtraction in the evaluation domain.
    ///
    /// # Errors
    /// [`LowerError::LevelExhausted`] at level 0; [`LowerError::NoLevel`] for limbs that no level has.
    pub fn rescale(&mut self, x: &[Operand]) -> Result<Poly, LowerError> {
        self.basis.check_limbs(x.len())?;
        let (kept, last) = x.split_at(self.basis.kept(x.len(), true)?);
        self.region("rescale");
        self.section(SectionKind::Rescale { limbs: x.len() as u32, primes: last.len() as u32 }, |low| {
            let moduli = low.basis.q()[kept.len()..x.len()].to_vec();
            let coefficients: Poly = last.iter().map(|&limb| low.builder.intt(limb)).collect();
            let dropped = low.residues(&moduli, &coefficients)?;
            (0..kept.len()).map(|i| low.divide(kept[i], &dropped, low.basis.q()[i])).collect()
        })
    }
}
