//! Checks of arguments, shared by everything that holds polynomials.

use ringmill_ring::{Domain, Modulus, Poly};

use crate::error::{CkksError, PolyShape};
use crate::params::{Level, Params};

/// `left` and `right` belong to one context.
pub(crate) fn same_params(
    left: (&'static str, &Params),
    right: (&'static str, &Params),
) -> Result<(), CkksError> {
    if left.1 == right.1 {
        return Ok(());
    }
    Err(CkksError::ParamsMismatch {
        left: left.0,
        left_print: left.1.fingerprint(),
        right: right.0,
        right_print: right.1.fingerprint(),
    })
}

/// The level exists.
pub(crate) fn level(params: &Params, level: Level) -> Result<(), CkksError> {
    let max = params.max_level();
    if level <= max { Ok(()) } else { Err(CkksError::LevelRange { level, max }) }
}

/// The slots can be packed.
pub(crate) fn slots(params: &Params, slots: usize) -> Result<(), CkksError> {
    let max = params.slots();
    if slots.is_power_of_two() && slots <= max { Ok(()) } else { Err(CkksError::Slots { slots, max }) }
}

/// `poly` has `limbs` limbs of N words in the evaluation domain.
pub(crate) fn shape(
    what: &'static str,
    index: usize,
    params: &Params,
    limbs: usize,
    poly: &Poly,
) -> Result<(), CkksError> {
    let expected = PolyShape { limbs, n: params.n(), domain: Domain::Evaluation };
    let got = PolyShape { limbs: poly.limb_count(), n: poly.n(), domain: poly.domain() };
    if got == expected { Ok(()) } else { Err(CkksError::Shape { what, index, expected, got }) }
}

/// Every word is below its prime. One pass over the data.
pub(crate) fn canonical(
    what: &'static str,
    moduli: impl Iterator<Item = Modulus>,
    poly: &Poly,
) -> Result<(), CkksError> {
    for (limb, (words, m)) in poly.limbs().zip(moduli).enumerate() {
        let q = m.value();
        if let Some(&value) = words.iter().find(|&&w| w >= q) {
            return Err(CkksError::NotCanonical { what, limb, value, q });
        }
    }
    Ok(())
}
