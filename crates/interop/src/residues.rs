//! Polynomials between the key bases of libraries and ours.

use ringmill_ckks::{CkksError, GaloisKeys, Params, SwitchKey};
use ringmill_ring::{Domain, GaloisElement, Permutation, Poly};

/// The digits of a key-switching key, b apart from a.
pub(crate) type Halves = (Vec<Poly>, Vec<Poly>);

/// A key-switching key from its digits (b_j, a_j) over all primes.
pub(crate) fn switch_key(params: &Params, (b, a): &Halves) -> Result<SwitchKey, CkksError> {
    SwitchKey::from_residues(params, (b, a), None)
}

/// The digits of a key-switching key.
pub(crate) fn halves(key: &SwitchKey) -> Result<Halves, CkksError> {
    let params = key.params();
    let moduli: Vec<_> = params.key_moduli().collect();
    let part = |part: usize, digit: usize| {
        let mut poly = Poly::zeros(params.n(), moduli.len(), Domain::Evaluation);
        for (row, limb) in poly.limbs_mut().enumerate() {
            limb.copy_from_slice(&key.base().limb(digit, part, row).to_words(params.n()));
        }
        poly
    };
    let all = |of: usize| (0..params.dnum()).map(|digit| part(of, digit)).collect();
    Ok((all(0), all(1)))
}

/// The image of every digit under X → X^g.
///
/// A key from s to s(X^(1/g)), as ours and OpenFHE's are, becomes one from s(X^g) to s, as SEAL's are; by the inverse of g the
/// other way. Errors are permuted with it and stay as small as they were.
pub(crate) fn turned(params: &Params, (b, a): &Halves, element: GaloisElement) -> Result<Halves, CkksError> {
    let permutation = Permutation::new(params.log_n(), element.value())?;
    let turn = |poly: &Poly| {
        let mut out = Poly::zeros(params.n(), poly.limb_count(), Domain::Evaluation);
        for (row, (to, from)) in out.limbs_mut().zip(poly.limbs()).enumerate() {
            params.ring(row)?.automorphism_eval(to, from, &permutation)?;
        }
        Ok(out)
    };
    let all = |part: &[Poly]| part.iter().map(turn).collect::<Result<Vec<_>, CkksError>>();
    Ok((all(b)?, all(a)?))
}

/// The first limbs of a polynomial.
pub(crate) fn first(poly: &Poly, limbs: usize) -> Poly {
    let mut out = poly.clone();
    out.truncate(limbs);
    out
}

/// Galois keys from digits under their elements, which lead from s to s(X^(1/g)).
pub(crate) fn galois_keys(
    params: &Params,
    keys: impl IntoIterator<Item = Result<(GaloisElement, Halves), CkksError>>,
) -> Result<GaloisKeys, CkksError> {
    let mut galois = GaloisKeys::new(params);
    for key in keys {
        let (element, halves) = key?;
        galois.insert(element, switch_key(params, &halves)?)?;
    }
    Ok(galois)
}
