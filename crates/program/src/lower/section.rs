//! Key switches as sections of a program: their sizes and their ends.

use ringmill_ckks::Library;

use super::key_switch::End;
use super::{KeyInputs, LowerError, Lowering};
use crate::limb::{SwitchEnd, SwitchMethod, SwitchShape};

impl KeyInputs {
    /// The size of a key switch of `limbs` limbs with it.
    pub(super) fn shape(&self, limbs: usize) -> SwitchShape {
        let method = match (self.library, &self.klss) {
            (Some(Library::Seal), _) => SwitchMethod::Seal,
            (Some(Library::OpenFhe), _) => SwitchMethod::OpenFhe,
            (None, Some(_)) => SwitchMethod::Klss,
            (None, None) => SwitchMethod::Hybrid,
        };
        SwitchShape {
            method,
            limbs: limbs as u32,
            special: self.special().len() as u32,
            alpha: self.alpha as u32,
        }
    }
}

impl Lowering {
    /// What a key switch of `limbs` limbs ends with.
    ///
    /// # Errors
    /// As a rescale.
    pub(super) fn section_end(&self, end: End, limbs: usize) -> Result<SwitchEnd, LowerError> {
        Ok(match end {
            End::Divide => SwitchEnd::Divide,
            End::Rescale => SwitchEnd::Rescale { primes: (limbs - self.basis.kept(limbs, true)?) as u32 },
            End::Extended => SwitchEnd::Extended,
        })
    }
}
