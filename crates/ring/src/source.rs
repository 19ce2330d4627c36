//! Where the words of a limb come from: memory, packed bits, or a seed.
//!
//! What computes on a limb block by block need not have all of it as words: [`LimbSource::reader`] gives them in order,
//! as few at a time as fit the first cache.

use std::borrow::Cow;

use crate::Modulus;
use crate::dense::Packing;
use crate::packed::{GROUP, packed_len, unpack};
use crate::sample::{Seed, Uniform};

/// Words of the blocks in which limbs are gone through: 16 KiB, so that those of two or three stay in the first cache.
pub const BLOCK: usize = 2048;

/// A limb: N canonical residues of one prime.
#[derive(Debug, Clone, Copy)]
pub enum LimbSource<'a> {
    /// As they are.
    Words(&'a [u64]),
    /// Block by block, others between them.
    Blocks {
        /// From the first block to the last one.
        words: &'a [u64],
        /// Words of a block, before they were packed.
        block: usize,
        /// Words between the starts of two blocks.
        stride: usize,
        /// How those of a block stand.
        packing: Packing,
    },
    /// Packed, each in as many bits as the prime has.
    Packed {
        /// [`packed_len`] of them.
        bytes: &'a [u8],
        /// Bits of a residue.
        bits: u32,
    },
    /// The expansion of a seed, [`uniform`](crate::sample::uniform).
    Uniform {
        /// Of all limbs of an object.
        seed: &'a Seed,
        /// What the polynomial is.
        label: &'a [u8],
        /// Index of the prime.
        limb: u32,
        /// The prime.
        q: Modulus,
    },
}

impl<'a> LimbSource<'a> {
    /// The words, if they are there already.
    pub fn words(self) -> Option<&'a [u64]> {
        if let Self::Words(words) = self { Some(words) } else { None }
    }

    /// Words `first` .. `first + words`, if they stand together in memory.
    #[inline]
    pub fn together(self, first: usize, words: usize) -> Option<&'a [u64]> {
        self.standing(Packing::Words, first, words)
    }

    /// Words `first` .. `first + words` as they stand, if they stand together in memory, packed like this, and are whole groups.
    #[inline]
    pub fn standing(self, as_packed: Packing, first: usize, words: usize) -> Option<&'a [u64]> {
        match self {
            Self::Words(limb) if as_packed == Packing::Words => Some(&limb[first..first + words]),
            Self::Blocks { words: limb, block, stride, packing } if as_packed == packing => {
                let whole = (first | words).is_multiple_of(packing.group());
                let at = first / block * stride + packing.len(first % block);
                (whole && first % block + words <= block).then(|| &limb[at..at + packing.len(words)])
            }
            _ => None,
        }
    }

    /// How its words stand in memory, if they do.
    pub fn packing(self) -> Option<Packing> {
        match self {
            Self::Words(_) => Some(Packing::Words),
            Self::Blocks { packing, .. } => Some(packing),
            Self::Packed { .. } | Self::Uniform { .. } => None,
        }
    }

    /// The pieces in which words `first` .. `first + words` stand in memory, packed as they are; none if they are still to be made.
    pub fn pieces(self, first: usize, words: usize) -> impl Iterator<Item = &'a [u64]> {
        let block = if let Self::Blocks { block, .. } = self { block } else { usize::MAX };
        let (packing, end) =
            self.packing().map_or((Packing::Words, first), |packing| (packing, first + words));
        let mut at = first;
        std::iter::from_fn(move || {
            let words = (block - at % block).min(end - at);
            let piece = if words > 0 { self.standing(packing, at, words) } else { None };
            at += words;
            piece
        })
    }

    /// Number of residues that there are, `n` if any number can be made.
    pub fn len_or(self, n: usize) -> usize {
        match self {
            Self::Words(words) => words.len(),
            Self::Blocks { words, block, stride, packing } => {
                let last = (words.len() % stride).min(packing.len(block));
                words.len() / stride * block + packing.words_of(last)
            }
            Self::Packed { bytes, bits } if bytes.len() == packed_len(n, bits) => n,
            Self::Packed { bytes, bits } => 8 * bytes.len() / bits.max(1) as usize,
            Self::Uniform { .. } => n,
        }
    }

    /// The words as they are, or the first `n` made now.
    pub fn to_words(self, n: usize) -> Cow<'a, [u64]> {
        if let Self::Words(words) = self {
            return Cow::Borrowed(words);
        }
        let mut words = vec![0; n];
        self.reader().fill(&mut words);
        Cow::Owned(words)
    }

    /// The words in order.
    pub fn reader(self) -> LimbReader<'a> {
        LimbReader(match self {
            Self::Words(_) | Self::Blocks { .. } => Reader::There { source: self, first: 0 },
            Self::Packed { bytes, bits } => Reader::Packed { bytes, bits },
            Self::Uniform { seed, label, limb, q } => Reader::Uniform(Uniform::new(seed, label, limb, q)),
        })
    }
}

impl<'a> From<&'a [u64]> for LimbSource<'a> {
    fn from(words: &'a [u64]) -> Self {
        Self::Words(words)
    }
}

/// The words of a [`LimbSource`] that have not been read yet.
#[derive(Debug, Clone)]
pub struct LimbReader<'a>(Reader<'a>);

#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant)] // A reader lives on the stack or in one list a thread.
enum Reader<'a> {
    /// In memory, from word `first` on.
    There {
        source: LimbSource<'a>,
        first: usize,
    },
    Packed {
        bytes: &'a [u8],
        bits: u32,
    },
    Uniform(Uniform),
}

impl LimbReader<'_> {
    /// The next words.
    ///
    /// # Panics
    /// If fewer than `out.len()` are left; if packed words are not read in groups of [`GROUP`], dense ones of
    /// [`dense::GROUP`](crate::dense::GROUP).
    pub fn fill(&mut self, out: &mut [u64]) {
        match &mut self.0 {
            Reader::There { source, first } => {
                let packing = source.packing().unwrap_or(Packing::Words);
                let group = packing.group();
                assert!(
                    (*first | out.len()).is_multiple_of(group),
                    "{} words are no whole groups",
                    out.len()
                );
                let pieces = source.pieces(*first, out.len());
                *first += out.len();
                let mut left = out;
                for piece in pieces {
                    let (now, later) = left.split_at_mut(packing.words_of(piece.len()));
                    packing.unpack(piece, now);
                    left = later;
                }
            }
            Reader::Packed { bytes, bits } => {
                assert!(out.len().is_multiple_of(GROUP), "{} words are no whole groups", out.len());
                unpack(bytes, *bits, out);
                *bytes = &bytes[packed_len(out.len(), *bits)..];
            }
            Reader::Uniform(uniform) => uniform.fill(out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packed::pack;
    use crate::primes::of_bits;
    use crate::sample::uniform;

    #[test]
    fn pieces_of_a_limb_are_those_of_the_whole() {
        let (n, q) = (1024, of_bits(59, 10, 1, &[]).unwrap()[0]);
        let seed = Seed::from_bytes([7; 32]);
        let mut whole = vec![0; n];
        uniform(&seed, b"limb", 3, q, &mut whole);
        let mut bytes = vec![0; packed_len(n, q.bits())];
        pack(&whole, q.bits(), &mut bytes);
        // Two blocks of 512 words, eight others between them.
        let blocks = [&whole[..512], &[9; 8], &whole[512..]].concat();
        let blocks = LimbSource::Blocks { words: &blocks, block: 512, stride: 520, packing: Packing::Words };
        let pieces = |first, words| blocks.pieces(first, words).collect::<Vec<_>>();
        assert_eq!(pieces(0, n), [&whole[..512], &whole[512..]]);
        assert_eq!(pieces(504, 16), [&whole[504..512], &whole[512..520]]);
        assert_eq!(blocks.together(520, 504), Some(&whole[520..]));
        assert_eq!((blocks.together(0, n), blocks.together(504, 16)), (None, None));
        // The same of words of 52 bits.
        let short: Vec<u64> = whole.iter().map(|word| word >> 7).collect();
        let halves = [&short[..512], &short[512..]].map(|half| {
            let mut packed = vec![0; Packing::Dense.len(512)];
            Packing::Dense.pack(half, &mut packed);
            packed
        });
        let packed = [&halves[0][..], &[9; 8], &halves[1]].concat();
        let packed = LimbSource::Blocks { words: &packed, block: 512, stride: 424, packing: Packing::Dense };
        assert_eq!(packed.pieces(0, n).collect::<Vec<_>>(), [&halves[0], &halves[1]]);
        assert_eq!(packed.standing(Packing::Dense, 640, 256), Some(&halves[1][104..312]));
        assert_eq!(
            [(0, n), (384, 256), (8, 128), (0, 64)].map(|(at, words)| packed.standing(
                Packing::Dense,
                at,
                words
            )),
            [None; 4]
        );
        assert_eq!((packed.together(0, 128), packed.len_or(n)), (None, n));
        assert_eq!(packed.to_words(n)[..], short[..]);
        let mut reader = packed.reader();
        for words in short.chunks(256) {
            let mut piece = vec![0; 256];
            reader.fill(&mut piece);
            assert_eq!(piece, words);
        }
        let words = LimbSource::Words(&whole);
        assert_eq!((words.together(8, 16), words.pieces(8, 16).count()), (Some(&whole[8..24]), 1));
        let sources = [
            blocks,
            LimbSource::Words(&whole),
            LimbSource::Packed { bytes: &bytes, bits: q.bits() },
            LimbSource::Uniform { seed: &seed, label: b"limb", limb: 3, q },
        ];
        for source in sources {
            assert_eq!(source.len_or(n), n);
            assert_eq!(source.to_words(n)[..], whole[..]);
            for pieces in [vec![n], vec![8, 504, 512], vec![16; 64]] {
                let (mut reader, mut found) = (source.reader(), Vec::new());
                for words in pieces {
                    let mut piece = vec![0; words];
                    reader.fill(&mut piece);
                    found.extend(piece);
                }
                assert_eq!(found, whole);
            }
        }
        assert_eq!(LimbSource::Packed { bytes: &bytes[8..], bits: q.bits() }.len_or(n), n - 2);
    }
}
