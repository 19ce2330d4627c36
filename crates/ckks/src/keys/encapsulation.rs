//! Keys to a sparse ephemeral secret and back: what keeps bootstrapping cheap while the secret itself stays dense.
//!
//! Raising a ciphertext from q_0 to Q adds q_0·I(X) with |I| ≤ (h + 1)/2, h the weight of the secret that it is under. So it
//! goes to a secret of weight h = [`EPHEMERAL_WEIGHT`] first, modulo q_0·p_0 alone, and comes back above (Bossuat,
//! Troncoso-Pastoriza and Hubaux, ACNS 2022). Security: [`encapsulation_limit`] and `docs/algorithms/bootstrapping.md`.
//!
//! Both are keys of one digit: the polynomial switched is below q_0, which p_0 balances. Neither needs the other special
//! primes, and the key under the sparse secret must not have them. Where level 0 has several primes, there is a digit for each:
//! d_0 + q_0·(d_1 + q_1·(d_2 + …)), the polynomial as an integer. Digits by residues would be it modulo Q_0 alone, and above
//! Q_0 multiples of it under the dense secret would come in.

use std::fmt;

use ringmill_ring::sample::{SecretRng, Seed, uniform};
use ringmill_ring::{Domain, Poly};
use zeroize::Zeroizing;

use super::KeyIdentity;
use super::public::masked_error;
use super::secret::{SecretKey, transformed};
use crate::check;
use crate::error::CkksError;
use crate::limbs;
use crate::params::{Level, Params, encapsulation_limit};

/// Hamming weight of the ephemeral secret.
pub const EPHEMERAL_WEIGHT: u32 = 32;

/// Which way a key leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// From the secret to the sparse one, modulo the primes of level 0 and p_0.
    Down,
    /// From the sparse secret to the secret, modulo q_0 … q_L·p_0.
    Up,
}

impl Direction {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Down, Self::Up];

    /// Primes of its key in storage order, digit after digit, as indices into the key basis.
    pub(crate) fn primes(self, params: &Params) -> Vec<usize> {
        let (q, digits) = (params.q_moduli().len(), params.limbs(Level::ZERO));
        let of_digit: Vec<usize> = match self {
            Self::Down => (0..digits).chain([q]).collect(),
            Self::Up => (0..=q).collect(),
        };
        of_digit.repeat(digits)
    }

    /// Limbs of each digit of its key: those that are switched, and that of p_0.
    pub fn limbs_of_digit(self, params: &Params) -> usize {
        self.primes(params).len() / params.limbs(Level::ZERO)
    }

    fn label(self) -> &'static [u8] {
        match self {
            Self::Down => b"encapsulation key a, down",
            Self::Up => b"encapsulation key a, up",
        }
    }
}

/// b and a over the primes of a direction: b + a·to = e + p_0·from, by the weight of the digit.
#[derive(Clone, PartialEq)]
struct Half {
    b: Poly,
    a: Poly,
}

/// The keys to the ephemeral secret and back. The ephemeral secret itself is forgotten when they are drawn.
#[derive(Clone, PartialEq)]
pub struct EncapsulationKey {
    params: Params,
    down: Half,
    up: Half,
    seed: Seed,
    identity: Option<KeyIdentity>,
}

impl EncapsulationKey {
    /// Draws an ephemeral secret and both keys.
    pub(crate) fn draw(secret: &SecretKey, rng: &mut SecretRng, seed: Seed) -> Result<Self, CkksError> {
        let params = secret.params();
        check_security(params)?;
        let mut sparse = Zeroizing::new(vec![0i8; params.n()]);
        rng.ternary_of_weight(EPHEMERAL_WEIGHT as usize, &mut sparse)?;
        let dense = secret.expose_coefficients();
        let down = half(params, Direction::Down, (dense, &sparse), rng, &seed)?;
        let up = half(params, Direction::Up, (&sparse, dense), rng, &seed)?;
        Ok(Self { params: params.clone(), down, up, seed, identity: secret.identity() })
    }

    /// From stored parts, b of both directions; every a is expanded again.
    ///
    /// # Errors
    /// [`CkksError::Shape`].
    pub fn from_parts(
        params: &Params,
        (down, up): (Poly, Poly),
        seed: Seed,
        identity: Option<KeyIdentity>,
    ) -> Result<Self, CkksError> {
        let whole = |index: usize, direction: Direction, b: Poly| {
            check::shape("encapsulation key", index, params, direction.primes(params).len(), &b)?;
            Ok::<_, CkksError>(Half { b, a: expand(params, direction, &seed) })
        };
        let (down, up) = (whole(0, Direction::Down, down)?, whole(1, Direction::Up, up)?);
        Ok(Self { params: params.clone(), down, up, seed, identity })
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// b of each digit: of the primes of level 0 and p_0 down; of q_0 … q_L, p_0 up.
    pub fn b(&self, direction: Direction) -> &Poly {
        &self.half(direction).b
    }

    /// a, as [`Self::b`].
    pub fn a(&self, direction: Direction) -> &Poly {
        &self.half(direction).a
    }

    /// Bytes of the residues.
    pub fn bytes(&self) -> usize {
        [&self.down, &self.up]
            .map(|half| size_of_val(half.b.words()) + size_of_val(half.a.words()))
            .iter()
            .sum()
    }

    fn half(&self, direction: Direction) -> &Half {
        match direction {
            Direction::Down => &self.down,
            Direction::Up => &self.up,
        }
    }

    /// The seed that both a expand from.
    pub fn seed(&self) -> &Seed {
        &self.seed
    }

    /// The secret key that they lead from and back to, if it is known; the ephemeral one has no identity of its own.
    pub fn identity(&self) -> Option<KeyIdentity> {
        self.identity
    }
}

impl fmt::Debug for EncapsulationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EncapsulationKey(parameters {})", self.params.fingerprint())
    }
}

/// Refuses a key under the sparse secret that is not known to keep 128 bits, unless the parameters are marked insecure.
fn check_security(params: &Params) -> Result<(), CkksError> {
    if params.may_encapsulate() {
        return Ok(());
    }
    let (log_n, log_qp) = (params.log_n(), params.encapsulation());
    let limit = encapsulation_limit(log_n);
    Err(CkksError::InsecureEncapsulation { weight: EPHEMERAL_WEIGHT, log_qp, log_n, limit })
}

fn expand(params: &Params, direction: Direction, seed: &Seed) -> Poly {
    let (primes, of_digit) = (direction.primes(params), direction.limbs_of_digit(params));
    let moduli: Vec<_> = params.key_moduli().collect();
    let mut a = Poly::zeros(params.n(), primes.len(), Domain::Evaluation);
    limbs::fill(&mut a, |i, limb| {
        let number = (i / of_digit * moduli.len() + primes[i]) as u32;
        uniform(seed, direction.label(), number, moduli[primes[i]], limb);
    });
    a
}

/// The key `from` → `to`, coefficients of both given.
fn half(
    params: &Params,
    direction: Direction,
    (from, to): (&[i8], &[i8]),
    rng: &mut SecretRng,
    seed: &Seed,
) -> Result<Half, CkksError> {
    let (n, primes) = (params.n(), direction.primes(params));
    let of_digit = direction.limbs_of_digit(params);
    let a = expand(params, direction, seed);
    let errors: Vec<_> = (0..primes.len() / of_digit)
        .map(|_| {
            let mut error = Zeroizing::new(vec![0i8; n]);
            rng.gaussian(&mut error);
            error
        })
        .collect();
    let (special, q) = (params.p_moduli()[0].value(), params.q_moduli().len());
    let mut b = Poly::zeros(n, primes.len(), Domain::Evaluation);
    limbs::for_each(&mut b, |i, limb| {
        let (prime, digit) = (primes[i], i / of_digit);
        masked_error(params, prime, &errors[digit], a.limb(i), &transformed(params, prime, to)?, limb)?;
        if prime < q {
            let (ring, from) = (params.ring(prime)?, transformed(params, prime, from)?);
            let m = ring.modulus();
            // p_0 times the primes of the digits below.
            let below = params.q_moduli()[..digit].iter().map(|q| q.value());
            let weight = below.fold(m.reduce(special), |weight, q| m.mul(weight, m.reduce(q)));
            let mut scaled = Zeroizing::new(vec![0u64; n]);
            ring.mul_scalar(&mut scaled, &from, weight)?;
            ring.add_assign(limb, &scaled)?;
        }
        Ok(())
    })?;
    Ok(Half { b, a })
}
