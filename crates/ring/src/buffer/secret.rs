//! A polynomial that is wiped when dropped and never printed.

use super::{Domain, Poly};
use std::fmt;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// A [`Poly`] that holds a secret: wiped on drop, never from or to a pool, opaque to `Debug`.
#[derive(PartialEq, Eq)]
pub struct SecretPoly(Poly);

impl SecretPoly {
    /// The zero polynomial with `limbs` limbs of `n` words.
    pub fn zeros(n: usize, limbs: usize, domain: Domain) -> Self {
        Self(Poly::zeros(n, limbs, domain))
    }

    /// The polynomial itself. A clone of it is not wiped; clone the secret instead.
    pub fn expose(&self) -> &Poly {
        &self.0
    }

    /// The polynomial itself, to be filled.
    pub fn expose_mut(&mut self) -> &mut Poly {
        &mut self.0
    }
}

impl Clone for SecretPoly {
    fn clone(&self) -> Self {
        let mut copy = Self::zeros(self.0.n(), self.0.limb_count(), self.0.domain());
        copy.0.words_mut().copy_from_slice(self.0.words());
        copy
    }
}

impl Zeroize for SecretPoly {
    fn zeroize(&mut self) {
        self.0.wipe();
    }
}

impl Drop for SecretPoly {
    fn drop(&mut self) {
        self.zeroize();
    }
}

impl ZeroizeOnDrop for SecretPoly {}

impl fmt::Debug for SecretPoly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretPoly(…)")
    }
}
