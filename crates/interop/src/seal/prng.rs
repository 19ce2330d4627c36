//! The generators of SEAL, BLAKE2xb and SHAKE256, and what it draws from them: uniform polynomials, and the samples of an
//! encryption.

use std::str::FromStr;

use shake::Shake256;
use shake::digest::{ExtendableOutput, Update, XofReader};

use ringmill_ring::{Domain, Poly};
use zeroize::Zeroizing;

use super::SealError;

#[cfg(test)]
#[path = "../../../ring/src/sample/tally.rs"]
mod tally;

/// Bytes of a seed.
pub const SEED: usize = 64;
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

impl FromStr for PrngKind {
    type Err = SealError;

    fn from_str(text: &str) -> Result<Self, SealError> {
        match text {
            "blake2xb" => Ok(Self::Blake2xb),
            "shake256" => Ok(Self::Shake256),
            _ => Err(SealError::UnknownChoice {
                what: "generator",
                given: text.into(),
                known: "blake2xb and shake256",
            }),
        }
    }
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
    buffer: Zeroizing<[u8; BUFFER]>,
    at: usize,
}

impl<'a> Prng<'a> {
    fn new(kind: PrngKind, seed: &'a [u8; SEED]) -> Self {
        Self { kind, seed, count: 0, buffer: [0; BUFFER].into(), at: BUFFER }
    }

    /// The next byte. Requests are one stream, whatever their sizes.
    fn byte(&mut self) -> u8 {
        if self.at == BUFFER {
            let counter = self.count.to_le_bytes();
            match self.kind {
                PrngKind::Blake2xb => blake2xb(self.seed, &counter, &mut self.buffer),
                PrngKind::Shake256 => {
                    let mut hasher = Shake256::default();
                    hasher.update(self.seed);
                    hasher.update(&counter);
                    hasher.finalize_xof().read(self.buffer.as_mut_slice());
                }
            }
            (self.count, self.at) = (self.count + 1, 0);
        }
        self.at += 1;
        self.buffer[self.at - 1]
    }

    fn bytes<const K: usize>(&mut self) -> [u8; K] {
        std::array::from_fn(|_| self.byte())
    }

    fn word(&mut self) -> u64 {
        u64::from_le_bytes(self.bytes())
    }

    /// Uniform in −1, 0, 1: the upper half of thrice a word of 32 bits. A word of 0 is drawn anew, for 2^32 is one more than
    /// a multiple of 3. So does `std::uniform_int_distribution` of the GNU library, of version 11 and later.
    fn ternary(&mut self) -> i8 {
        loop {
            let word = u32::from_le_bytes(self.bytes());
            if word != 0 {
                return ((u64::from(word) * 3) >> 32) as i8 - 1;
            }
        }
    }

    /// Centred binomial: of 6 bytes, the ones in the first 21 bits less those in bits 24 to 44.
    fn binomial(&mut self) -> i8 {
        let [a, b, c, d, e, f] = self.bytes();
        let ones = |bytes: [u8; 3]| bytes.iter().map(|byte| byte.count_ones() as i8).sum::<i8>();
        ones([a, b, c & 31]) - ones([d, e, f & 31])
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

/// What SEAL draws for an encryption under the public key: v uniform ternary, e₀ and e₁ centred binomial of variance 10.5.
pub(super) fn draw(kind: PrngKind, seed: &[u8; SEED], n: usize) -> [Zeroizing<Vec<i8>>; 3] {
    fn samples<'a>(prng: &mut Prng<'a>, n: usize, sample: fn(&mut Prng<'a>) -> i8) -> Zeroizing<Vec<i8>> {
        Zeroizing::new((0..n).map(|_| sample(prng)).collect())
    }
    let mut prng = Prng::new(kind, seed);
    [Prng::ternary, Prng::binomial, Prng::binomial].map(|sample| samples(&mut prng, n, sample))
}

#[cfg(test)]
mod tests {
    use super::tally::Tally;
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

    #[test]
    fn samples_have_their_distributions() {
        let n = 1 << 14;
        for kind in [PrngKind::Blake2xb, PrngKind::Shake256] {
            let [v, e0, e1] = draw(kind, &[9; SEED], n);
            let count = |value| v.iter().filter(|&&c| c == value).count() as f64;
            // Five deviations of a count.
            let (third, around) = (n as f64 / 3.0, 5.0 * (n as f64 * 2.0 / 9.0).sqrt());
            assert!([-1, 0, 1].iter().all(|&value| (count(value) - third).abs() < around));
            for e in [&e0, &e1] {
                assert!(e.iter().all(|c| c.abs() <= 21));
                let variance = e.iter().map(|&c| f64::from(c).powi(2)).sum::<f64>() / n as f64;
                assert!((variance - 10.5).abs() < 0.7, "{variance}");
            }
            assert_ne!(e0, e1);
        }
    }

    /// 10^8 coefficients of encryptions, from a seed each: exactly what the hardware's sampler draws in its mode `Seal`.
    #[test]
    #[ignore = "long: make test-full"]
    fn many_samples_have_their_distributions() {
        let (n, objects) = (1 << 15, 3052u64);
        // Of 42 coins, the chance of 21 + x heads: C(42, 21 + x) / 2^42, in integers.
        let ways = |heads: u64| (1..=heads).fold(1u64, |c, k| c * (43 - k) / k);
        let binomial = (0..=42).map(|heads| ways(heads) as f64 / (1u64 << 42) as f64).collect();
        let mut errors = Tally::new(binomial);
        let mut ternary = Tally::new(vec![1.0 / 3.0; 3]);
        for object in 0..objects {
            let mut seed = [42; SEED];
            seed[..8].copy_from_slice(&object.to_le_bytes());
            let [v, e0, e1] = draw(PrngKind::Blake2xb, &seed, n);
            ternary.add(&v);
            errors.add(&e0);
            errors.add(&e1);
        }
        ternary.check("ternary of SEAL", 100_000_000);
        errors.check("centred binomial", 100_000_000);
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
