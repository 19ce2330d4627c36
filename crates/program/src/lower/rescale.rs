//! Rescaling: division by q_ℓ, rounded to the nearest integer.

use super::{LowerError, Lowering, Poly};
use crate::limb::{Operand, SectionKind};

impl Lowering {
    /// x/q_ℓ rounded, for x of ℓ + 1 limbs: one INTT, then for every remaining limb a lift, an NTT and a
    /// subtraction in the evaluation domain.
    ///
    /// # Errors
    /// [`LowerError::LevelExhausted`] for one limb.
    pub fn rescale(&mut self, x: &[Operand]) -> Result<Poly, LowerError> {
        self.basis.check_limbs(x.len())?;
        let Some((&last, kept)) = x.split_last().filter(|(_, kept)| !kept.is_empty()) else {
            return Err(LowerError::LevelExhausted);
        };
        self.region("rescale");
        self.section(SectionKind::Rescale { limbs: x.len() as u32 }, |low| {
            let coefficients = low.builder.intt(last);
            let dropped = low.residues(&[low.basis.q()[kept.len()]], &[coefficients])?;
            (0..kept.len()).map(|i| low.divide(kept[i], &dropped, low.basis.q()[i])).collect()
        })
    }
}
