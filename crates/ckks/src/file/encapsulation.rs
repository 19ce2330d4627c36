//! The encapsulation key inside a file of evaluation keys: both of its halves over all primes, zero where it has none.

use ringmill_ring::{Domain, LimbSource, Poly};

use super::header::SeedBytes;
use super::objects::{content, damaged};
use super::{FileError, Kind};
use crate::keys::{Direction, EncapsulationKey, EvaluationKeys, KeyIdentity};
use crate::params::{MAX_LOG_N, Params};

/// Stands for the key among Galois elements: the identity, which needs none.
const ELEMENT: u64 = 1;

/// Polynomials of the key.
pub(super) const POLYS: usize = 2;

/// A limb of a prime that the key does not have.
static ZEROS: [u64; 1 << MAX_LOG_N] = [0; 1 << MAX_LOG_N];

/// The entry of the header.
pub(super) fn seed(keys: &EvaluationKeys) -> impl Iterator<Item = (u64, SeedBytes)> {
    keys.encapsulation().ok().map(|key| (ELEMENT, key.seed().into())).into_iter()
}

/// The entry of the header, and the others.
pub(super) fn split(elements: &[(u64, SeedBytes)]) -> (Option<SeedBytes>, &[(u64, SeedBytes)]) {
    match elements {
        [(ELEMENT, seed), others @ ..] => (Some(*seed), others),
        others => (None, others),
    }
}

/// The limbs that are stored.
pub(super) fn halves(key: &EncapsulationKey) -> impl Iterator<Item = Vec<LimbSource<'_>>> {
    let params = key.params();
    Direction::ALL.into_iter().map(move |direction| {
        let mut limbs = vec![LimbSource::Words(&ZEROS[..params.n()]); params.key_limbs()];
        for (limb, i) in key.b(direction).limbs().zip(direction.primes(params)) {
            limbs[i] = LimbSource::Words(limb);
        }
        limbs
    })
}

/// A key from the next two polynomials.
pub(super) fn take(
    kind: Kind,
    params: &Params,
    (seed, identity): (SeedBytes, Option<KeyIdentity>),
    polys: &mut impl Iterator<Item = Poly>,
) -> Result<EncapsulationKey, FileError> {
    let mut half = |direction: Direction| {
        let whole = polys.next().ok_or_else(|| damaged(kind)("it has too few polynomials".into()))?;
        let primes = direction.primes(params);
        let mut b = Poly::zeros(params.n(), primes.len(), Domain::Evaluation);
        for (limb, &i) in b.limbs_mut().zip(&primes) {
            limb.copy_from_slice(whole.limb(i));
        }
        let beside = |i: usize| !primes.contains(&i) && whole.limb(i).iter().any(|&w| w != 0);
        match (0..whole.limb_count()).any(beside) {
            true => Err(damaged(kind)("its encapsulation key has limbs of other primes".into())),
            false => Ok(b),
        }
    };
    let (down, up) = (half(Direction::Down)?, half(Direction::Up)?);
    EncapsulationKey::from_parts(params, (down, up), seed.into(), identity).map_err(content(kind))
}
