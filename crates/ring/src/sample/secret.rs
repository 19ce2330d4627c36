//! Small secret polynomials.

use super::{SecretSeed, gaussian};
use crate::{Modulus, RingError};
use chacha20::ChaCha20Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use std::fmt;
use zeroize::Zeroize;

/// Bytes drawn at a time.
const BLOCK: usize = 4096;

/// Groups of Gaussian samples drawn at a time.
const GROUPS: usize = 16;

/// 3^5: bytes below it hold five uniform digits to base 3.
const TRITS_IN_BYTE: (u8, usize) = (243, 5);

/// Generator of secret polynomials with coefficients in i8: ChaCha20, wiped on drop.
///
/// Results depend on the seed and the stream number alone. Time depends on the number of rejected draws,
/// which is independent of those accepted.
pub struct SecretRng {
    inner: ChaCha20Rng,
}

impl SecretRng {
    /// A generator with a fresh seed from the operating system.
    ///
    /// # Errors
    /// [`RingError::Entropy`] if the system has none to give.
    pub fn from_os() -> Result<Self, RingError> {
        Ok(Self::new(&SecretSeed::from_os()?, 0))
    }

    /// Stream `stream` of the seed; different streams are independent.
    pub fn new(seed: &SecretSeed, stream: u64) -> Self {
        let mut bytes = *seed.expose();
        let mut inner = ChaCha20Rng::from_seed(bytes);
        bytes.zeroize();
        inner.set_stream(stream);
        Self { inner }
    }

    /// Uniform coefficients in {−1, 0, 1}.
    pub fn ternary(&mut self, out: &mut [i8]) {
        let mut block = [0; BLOCK];
        let mut rest = out;
        while !rest.is_empty() {
            let bytes = &mut block[..BLOCK.min(rest.len().div_ceil(TRITS_IN_BYTE.1))];
            self.inner.fill_bytes(bytes);
            let mut filled = 0;
            for &byte in bytes.iter().filter(|b| **b < TRITS_IN_BYTE.0) {
                let mut digits = u32::from(byte);
                for place in rest.iter_mut().skip(filled).take(TRITS_IN_BYTE.1) {
                    // A division by a constant is a multiplication: no data-dependent time.
                    *place = (digits % 3) as i8 - 1;
                    digits /= 3;
                }
                filled += TRITS_IN_BYTE.1;
            }
            let end = filled.min(rest.len());
            rest = &mut rest[end..];
        }
        block.zeroize();
    }

    /// Exactly `weight` coefficients ±1 at uniform places with uniform signs, the others 0.
    ///
    /// Every place is visited once (selection sampling: Knuth, volume 2, 3.4.2, Algorithm S), so neither time
    /// nor addresses reveal where the nonzero coefficients are.
    ///
    /// # Errors
    /// [`RingError::Weight`] if `weight` exceeds the number of coefficients.
    pub fn ternary_of_weight(&mut self, weight: usize, out: &mut [i8]) -> Result<(), RingError> {
        let n = out.len();
        if weight > n {
            return Err(RingError::Weight { weight, n });
        }
        let mut signs = 0;
        let mut missing = weight as u64;
        for (i, place) in out.iter_mut().enumerate() {
            if i % 64 == 0 {
                signs = self.inner.next_u64();
            }
            // Chosen with probability missing / places left.
            let chosen = i8::from(self.below((n - i) as u64) < missing);
            missing -= chosen as u64;
            *place = chosen * (1 - 2 * (signs & 1) as i8);
            signs >>= 1;
        }
        Ok(())
    }

    /// Discrete Gaussian coefficients of standard deviation [`SIGMA`](super::SIGMA), at most
    /// [`GAUSSIAN_BOUND`](super::GAUSSIAN_BOUND) in absolute value, in constant time.
    pub fn gaussian(&mut self, out: &mut [i8]) {
        let mut block = [0; 8 * gaussian::GROUP * GROUPS];
        for places in out.chunks_mut(gaussian::GROUP * GROUPS) {
            self.inner.fill_bytes(&mut block);
            for (places, bytes) in
                places.chunks_mut(gaussian::GROUP).zip(block.chunks_exact(8 * gaussian::GROUP))
            {
                let words = std::array::from_fn(|i| {
                    u64::from_le_bytes(bytes[8 * i..8 * i + 8].try_into().expect("eight bytes"))
                });
                let samples = gaussian::from_words(&words, &mut || self.inner.next_u64());
                places.copy_from_slice(&samples[..places.len()]);
            }
        }
        block.zeroize();
    }

    /// A uniform integer in \[0, bound), bound > 0 public (Lemire 2019).
    fn below(&mut self, bound: u64) -> u64 {
        let threshold = bound.wrapping_neg() % bound;
        loop {
            let product = u128::from(self.inner.next_u64()) * u128::from(bound);
            if product as u64 >= threshold {
                return (product >> 64) as u64;
            }
        }
    }
}

impl fmt::Debug for SecretRng {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretRng(…)")
    }
}

/// Writes the residues of small signed coefficients: out\[i\] = small\[i\] mod q, without branches.
///
/// # Errors
/// [`RingError::Count`] if the lengths differ.
pub fn small_to_residues(small: &[i8], q: Modulus, out: &mut [u64]) -> Result<(), RingError> {
    if small.len() != out.len() {
        return Err(RingError::Count { what: "small coefficients", expected: out.len(), got: small.len() });
    }
    for (residue, &x) in out.iter_mut().zip(small) {
        let x = i64::from(x);
        // |x| ≤ 128 < q; the shift spreads the sign over a mask.
        *residue = (x + (q.value() as i64 & (x >> 63))) as u64;
    }
    Ok(())
}
