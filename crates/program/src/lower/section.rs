//! Key switches as sections of a program: their sizes and their ends.

use ringmill_ckks::Library;

use super::KeyInputs;
use super::key_switch::End;
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

impl End {
    pub(super) fn of_section(self) -> SwitchEnd {
        match self {
            Self::Divide => SwitchEnd::Divide,
            Self::Rescale => SwitchEnd::Rescale,
            Self::Extended => SwitchEnd::Extended,
        }
    }
}
