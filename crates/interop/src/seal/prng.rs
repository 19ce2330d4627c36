//! The generators that expand seeds, BLAKE2xb and SHAKE256, and the uniform polynomials that come of them.

use shake::Shake256;
use shake::digest::{ExtendableOutput, Update, XofReader};

use ringmill_ring::{Domain, Poly};

use super::SealError;

/// Bytes of a seed.
pub(super) const SEED: usize = 64;
/// Bytes that a generator makes at a time.
const BUFFER: usize = 4096;

/// Which generator a seed is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum PrngKind {
    /// BLAKE2xb, SEAL's own choice.
    Blake2xb = 1,
    /// SHAKE256.
    Shake256 = 2,
}

impl PrngKind {
    pub(super) fn from_number(found: u8) -> Result<Self, SealError> {
        match found {
            1 => Ok(Self::Blake2xb),
            2 => Ok(Self::Shake256),
            _ => Err(SealError::Prng { found }),
        }
    }
}

struct Prng<'a> {
    kind: PrngKind,
    seed: &'a [u8; SEED],
    /// Buffers made so far.
    count: u64,
    buffer: [u8; BUFFER],
    at: usize,
}

impl<'a> Prng<'a> {
    fn new(kind: PrngKind, seed: &'a [u8; SEED]) -> Self {
        Self { kind, seed, count: 0, buffer: [0; BUFFER], at: BUFFER }
    }

    fn word(&mut self) -> u64 {
        if self.at == BUFFER {
            let counter = self.count.to_le_bytes();
            match self.kind {
                PrngKind::Blake2xb => blake2xb(self.seed, &counter, &mut self.buffer),
                PrngKind::Shake256 => {
                    let mut hasher = Shake256::default();
                    hasher.update(self.seed);
                    hasher.update(&counter);
                    hasher.finalize_xof().read(&mut self.buffer);
                }
            }
            (self.count, self.at) = (self.count + 1, 0);
        }
        // All requests are for whole words, and the buffer holds a whole number of them.
        let word = self.buffer[self.at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        self.at += 8;
        word
    }
}

/// BLAKE2Xb of a keyed message: the root hash, then one node for each 64 bytes of output.
fn blake2xb(key: &[u8], message: &[u8], out: &mut [u8; BUFFER]) {
    let length = (BUFFER as u64) << 32;
    let root = blake2b_simd::Params::new().key(key).node_offset(length).hash(message);
    let mut node = blake2b_simd::Params::new();
    node.fanout(0).max_depth(0).max_leaf_length(64).inner_hash_length(64);
    for (i, block) in out.chunks_exact_mut(64).enumerate() {
        block.copy_from_slice(node.node_offset(length | i as u64).hash(root.as_bytes()).as_bytes());
    }
}

/// The uniform polynomial of a seed. All words of all limbs are drawn first; then those that would favour small residues
/// are replaced, limb by limb, by what follows.
pub(super) fn expand(kind: PrngKind, seed: &[u8; SEED], n: usize, moduli: &[u64]) -> Poly {
    let mut prng = Prng::new(kind, seed);
    let mut poly = Poly::zeros(n, moduli.len(), Domain::Evaluation);
    poly.words_mut().iter_mut().for_each(|word| *word = prng.word());
    for (words, &q) in poly.limbs_mut().zip(moduli) {
        // The greatest multiple of q that is at most 2^64 − 2, as SEAL has it.
        let bound = u64::MAX - u64::MAX % q - 1;
        for word in words {
            while *word >= bound {
                *word = prng.word();
            }
            *word %= q;
        }
    }
    poly
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first bytes, by `hashlib.shake_256`, and by BLAKE2X on top of `hashlib.blake2b`.
    #[test]
    fn generators_give_the_published_streams() {
        let seed: [u8; SEED] = std::array::from_fn(|i| i as u8);
        let first = |kind| Prng::new(kind, &seed).word().to_le_bytes();
        let hex = |bytes: [u8; 8]| bytes.map(|b| format!("{b:02x}")).concat();
        assert_eq!(hex(first(PrngKind::Shake256)), SHAKE);
        assert_eq!(hex(first(PrngKind::Blake2xb)), BLAKE);
    }
    const SHAKE: &str = "50a1cb963bec11dc";
    const BLAKE: &str = "17b9767f6395a77a";

    #[test]
    fn residues_are_below_their_primes() {
        let (seed, moduli) = ([7; SEED], [(1 << 60) - 93, 1_073_479_681, 3]);
        let poly = expand(PrngKind::Blake2xb, &seed, 4096, &moduli);
        for (limb, q) in poly.limbs().zip(moduli) {
            assert!(limb.iter().all(|&w| w < q));
            let mean = limb.iter().map(|&w| w as f64 / q as f64).sum::<f64>() / 4096.0;
            assert!((0.2..0.6).contains(&mean), "{mean}");
        }
    }
}
