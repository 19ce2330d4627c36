//! Uniform residues from a public seed.

use std::fmt;

use super::Seed;
use crate::Modulus;

/// Names this expansion, so that a seed used elsewhere with BLAKE3 gives unrelated output. Part of the file format.
const CONTEXT: &[u8] = b"ringmill uniform v1";

/// Bytes drawn from the generator at a time: long enough for its widest vector path, short enough for the L1 cache.
const BLOCK: usize = 8192;

/// Fills `out` with uniform residues in \[0, q) that depend on the seed, the label, the limb index and q alone.
///
/// `label` says what the polynomial is (kind of key, digit, …): any bytes. `limb` is the index of the prime in the
/// full chain, so limbs may be expanded in any order and on any thread.
///
/// The generator is BLAKE3 keyed with the seed over context ‖ length of label (u64) ‖ label ‖ limb (u32), little
/// endian; its output is read as u64 words w. A word is accepted if w·q mod 2^64 ≥ 2^64 mod q and then gives
/// ⌊w·q / 2^64⌋, which is exactly uniform (Lemire 2019); at most one word in sixteen is refused at 60 bits.
pub fn uniform(seed: &Seed, label: &[u8], limb: u32, q: Modulus, out: &mut [u64]) {
    Uniform::new(seed, label, limb, q).fill(out);
}

/// What [`uniform`] gives, piece by piece.
#[derive(Clone)]
pub struct Uniform {
    stream: blake3::OutputReader,
    q: u64,
    threshold: u64,
}

impl Uniform {
    /// The residues of a limb from the first one on.
    pub fn new(seed: &Seed, label: &[u8], limb: u32, q: Modulus) -> Self {
        let mut hasher = blake3::Hasher::new_keyed(seed.as_bytes());
        hasher.update(CONTEXT);
        hasher.update(&(label.len() as u64).to_le_bytes());
        hasher.update(label);
        hasher.update(&limb.to_le_bytes());
        let threshold = q.value().wrapping_neg() % q.value();
        Self { stream: hasher.finalize_xof(), q: q.value(), threshold }
    }

    /// The next residues: how many are asked for at a time makes no difference.
    pub fn fill(&mut self, out: &mut [u64]) {
        let mut block = [0; BLOCK];
        let mut rest = out;
        while !rest.is_empty() {
            // Whole words for what is missing; refused words cost another turn.
            let bytes = &mut block[..BLOCK.min(rest.len() * 8)];
            self.stream.fill(bytes);
            let filled = accept(bytes, self.q, self.threshold, rest);
            rest = &mut rest[filled..];
        }
    }
}

impl fmt::Debug for Uniform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Uniform(modulo {})", self.q)
    }
}

/// Words decided together: one branch for the group, nearly always the same way.
const GROUP: usize = 8;

/// Writes the residues of the accepted words to the front of `out` and returns their number; `out` holds at least
/// one place a word.
fn accept(bytes: &[u8], q: u64, threshold: u64, out: &mut [u64]) -> usize {
    let mut filled = 0;
    let mut groups = bytes.chunks_exact(8 * GROUP);
    for group in &mut groups {
        let words: [u64; GROUP] = std::array::from_fn(|i| read(&group[8 * i..8 * i + 8]));
        let products = words.map(|w| u128::from(w) * u128::from(q));
        if products.iter().fold(true, |all, &p| all & (p as u64 >= threshold)) {
            out[filled..filled + GROUP].copy_from_slice(&products.map(|p| (p >> 64) as u64));
            filled += GROUP;
        } else {
            filled += accept_each(&products, threshold, &mut out[filled..]);
        }
    }
    for word in groups.remainder().chunks_exact(8) {
        filled += accept_each(&[u128::from(read(word)) * u128::from(q)], threshold, &mut out[filled..]);
    }
    filled
}

fn accept_each(products: &[u128], threshold: u64, out: &mut [u64]) -> usize {
    let mut filled = 0;
    for &product in products.iter().filter(|&&p| p as u64 >= threshold) {
        out[filled] = (product >> 64) as u64;
        filled += 1;
    }
    filled
}

#[inline]
fn read(word: &[u8]) -> u64 {
    u64::from_le_bytes(word.try_into().expect("eight bytes"))
}
