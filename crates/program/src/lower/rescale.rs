//! Rescaling: division by q_ℓ, rounded to the nearest integer.

use super::{LowerError, Lowering, Poly};
use crate::limb::Operand;

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
        let coefficients = self.builder.intt(last);
        let dropped = self.residues(&[self.basis.q()[kept.len()]], &[coefficients])?;
        (0..kept.len()).map(|i| self.divide(kept[i], &dropped, self.basis.q()[i])).collect()
    }
}
