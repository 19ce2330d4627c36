//! Loops over whole limbs, behind [`crate::LimbRing`]: lengths are checked there, none panics here.

pub(crate) mod automorphism;
pub(crate) mod convert;
pub(crate) mod dot;
pub(crate) mod pointwise;
pub(crate) mod transform;
