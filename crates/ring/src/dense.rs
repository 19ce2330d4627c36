//! Dense limbs: words below 2^52, sixteen vectors of eight in the space of thirteen.
//!
//! Of sixteen vectors r_0 … r_15 in a row, vector v_k of the packed ones holds r_k in its low 52 bits (k ≤ 12). A 52-bit multiplier
//! reads no others, so these are factors as they stand. The twelve bits above, c_k, hold the three vectors that are left: r_(13+t)
//! is c_4t, c_(4t+1), c_(4t+2), c_(4t+3) and then four bits of c_12, most significant ones first.

use crate::{Isa, Modulus};

/// Words of a vector.
pub(crate) const WIDTH: usize = 8;

/// Words that are packed together.
pub const GROUP: usize = 16 * WIDTH;

/// Words that they take.
pub const PACKED: usize = 13 * WIDTH;

/// How the words of a limb stand in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// As they are.
    Words,
    /// Dense, in whole [groups](GROUP).
    Dense,
}

impl Packing {
    /// The most compact form in which [`LimbRing::dot_factors`](crate::LimbRing::dot_factors) takes right
    /// factors for N = 2^`log_n`, q and an instruction set: dense with 52-bit multiply-add, for q < 2^50 and
    /// N of a [`GROUP`] at least.
    pub fn of_factors(log_n: u32, q: Modulus, isa: Isa) -> Self {
        let dense = matches!(isa, Isa::Ifma | Isa::Emulated8) && q.bits() <= Modulus::NARROW_BITS;
        if dense && 1 << log_n >= GROUP { Self::Dense } else { Self::Words }
    }

    /// Words that come together.
    pub const fn group(self) -> usize {
        match self {
            Self::Words => 1,
            Self::Dense => GROUP,
        }
    }

    /// Words that `n` words take; `n` is a multiple of [`Self::group`].
    pub const fn len(self, n: usize) -> usize {
        match self {
            Self::Words => n,
            Self::Dense => n / GROUP * PACKED,
        }
    }

    /// The number of residues in `packed` words, which are whole groups.
    pub const fn words_of(self, packed: usize) -> usize {
        match self {
            Self::Words => packed,
            Self::Dense => packed / PACKED * GROUP,
        }
    }

    /// Packs words, below 2^52 to be dense.
    ///
    /// # Panics
    /// If `out` is not [`Self::len`] words long, or the words are no whole groups.
    pub fn pack(self, words: &[u64], out: &mut [u64]) {
        self.check(words.len(), out.len());
        match self {
            Self::Words => out.copy_from_slice(words),
            Self::Dense => pack(words, out),
        }
    }

    /// Unpacks what [`Self::pack`] wrote.
    ///
    /// # Panics
    /// As [`Self::pack`].
    pub fn unpack(self, packed: &[u64], words: &mut [u64]) {
        self.check(words.len(), packed.len());
        match self {
            Self::Words => words.copy_from_slice(packed),
            Self::Dense => unpack(packed, words),
        }
    }

    fn check(self, words: usize, packed: usize) {
        let whole = words.is_multiple_of(self.group()) && packed == self.len(words);
        assert!(whole, "{words} words in {packed} dense ones");
    }
}

const LOW: u64 = (1 << 52) - 1;

fn pack(words: &[u64], out: &mut [u64]) {
    for (words, out) in words.chunks_exact(GROUP).zip(out.chunks_exact_mut(PACKED)) {
        let left = |t: usize, i: usize| words[(13 + t) * WIDTH + i];
        for i in 0..WIDTH {
            for k in 0..12 {
                let above = left(k / 4, i) >> (40 - 12 * (k % 4)) & 0xfff;
                out[k * WIDTH + i] = words[k * WIDTH + i] | above << 52;
            }
            let above = (0..3).fold(0, |above, t| above << 4 | left(t, i) & 0xf);
            out[12 * WIDTH + i] = words[12 * WIDTH + i] | above << 52;
        }
    }
}

fn unpack(packed: &[u64], words: &mut [u64]) {
    for (words, packed) in words.chunks_exact_mut(GROUP).zip(packed.chunks_exact(PACKED)) {
        for i in 0..WIDTH {
            let above = |k: usize| packed[k * WIDTH + i] >> 52;
            for k in 0..13 {
                words[k * WIDTH + i] = packed[k * WIDTH + i] & LOW;
            }
            for t in 0..3 {
                let head = (4 * t..4 * t + 4).fold(0, |head, k| head << 12 | above(k));
                words[(13 + t) * WIDTH + i] = head << 4 | above(12) >> (8 - 4 * t) & 0xf;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn packing_round_trips(groups in 1usize..4, seed: u64) {
            let word = |i: u64| (seed ^ i).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23) & LOW;
            let words: Vec<u64> = (0..(groups * GROUP) as u64).map(word).collect();
            let mut packed = vec![0; Packing::Dense.len(words.len())];
            Packing::Dense.pack(&words, &mut packed);
            let mut back = vec![9; words.len()];
            Packing::Dense.unpack(&packed, &mut back);
            prop_assert_eq!(&back, &words);
            // The layout by its definition, bit by bit: as text, most significant bits first.
            let bits = |word: u64, count: usize| format!("{word:064b}")[64 - count..].to_owned();
            for (group, packed) in packed.chunks_exact(PACKED).enumerate() {
                let r = |k: usize, i: usize| bits(words[group * GROUP + k * WIDTH + i], 52);
                let v = |k: usize, i: usize| bits(packed[k * WIDTH + i], 64);
                for i in 0..WIDTH {
                    for k in 0..13 {
                        prop_assert_eq!(&v(k, i)[12..], r(k, i));
                    }
                    for t in 0..3 {
                        let head: String = (4 * t..4 * t + 4).map(|k| v(k, i)[..12].to_owned()).collect();
                        prop_assert_eq!(head + &v(12, i)[4 * t..4 * t + 4], r(13 + t, i));
                    }
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "128 words in 103 dense ones")]
    fn room_is_asked_for() {
        Packing::Dense.pack(&[0; GROUP], &mut [0; PACKED - 1]);
    }
}
