//! Errors of key switches with the integers of another library.
//!
//! A digit that is not centred is D/2·(1 + X + … + X^(N−1)), and a centred remainder of the same variance as the engine's. The
//! first part is the same in every key switch. With J = 1 + X + … + X^(N−1), |J(ζ)| = 1/sin(πt/2N) at ζ = e^(iπt/N), t odd:
//! 2N/π in the slot nearest to 1, where a polynomial of independent coefficients would have √N. So this part is the error of
//! few slots, and it is a bias: it follows from the key, the same way in every ciphertext.
//!
//! | part | bound on a slot, times the scale |
//! |---|---|
//! | digits: Σ_j c_j·J·e_j, c_j = a_j·D_j/(2P), e_j the errors of the key | x·(2N/π)·σ·√(N·Σ_j c_j²) |
//! | remainder that is not centred, from K special primes: (K/2)·J·(1 + s) | (K/2)·(2N/π)·(1 + x·‖s‖) |
//!
//! a_j is 1 for digits of SEAL, and the number of its primes for one of OpenFHE, whose fast conversion adds up to a_j − 1 times
//! D_j; its variance is a_j·D_j²/12. The remainder of K special primes has the variance K/12, since it is a sum of K uniform numbers.
//!
//! e_j(ζ) and s(ζ) are complex normal, and |J(ζ)| falls as 1/t: P(any slot beyond x) ≤ 2·Σ_t e^(−x²t²) < 3·e^(−x²), t = 1, 3, ….
//! x is taken for a part of [`FAILURE`] so small that several keys may have it.

use super::{FAILURE, secret_norm};
use crate::keys::KeyLayout;
use crate::library::Library;
use crate::params::{Level, Params, log2_product};

/// Keys, and digits with s itself, whose bounds hold together: the part of the failures that each may take.
const KEYS: f64 = 64.0;

impl Library {
    /// The bound on |slot| of what a key switch adds that is not random, before the scale.
    pub(super) fn bias(self, params: &Params, layout: KeyLayout, level: Level) -> f64 {
        let n = params.n() as f64;
        let x = (3.0 * KEYS / FAILURE).ln().sqrt();
        let j = 1.0 / (std::f64::consts::PI / (2.0 * n)).sin();
        let log_p = log2_product(&layout.special_primes(params.q_moduli(), params.p_moduli()));
        let squares = layout.digits(params.q_at(level).len()).map(|digit| {
            let reach = self.digit_reach(digit.len());
            let c = reach / 2.0 * (log2_product(&params.q_moduli()[digit]) - log_p).exp2();
            c * c
        });
        let digits = x * j * params.sigma() * (n * squares.sum::<f64>()).sqrt();
        let remainder = match self {
            Self::Seal => 0.0,
            Self::OpenFhe => layout.special as f64 / 2.0 * j * (1.0 + x * secret_norm(params).sqrt()),
        };
        digits + remainder
    }

    /// The variance of the rounding in the division by P, in units of that of a rounding to the nearest integer.
    pub(super) fn rounding(self, layout: KeyLayout) -> f64 {
        match self {
            Self::Seal => 1.0,
            Self::OpenFhe => layout.special as f64,
        }
    }
}
