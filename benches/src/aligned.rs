//! Words that start on a cache line, so that both sides meet memory alike.

/// Words of one cache line.
const LINE: usize = 8;

/// A vector of words whose first word is aligned to 64 bytes.
pub(crate) struct Aligned {
    words: Vec<u64>,
    first: usize,
    len: usize,
}

impl Aligned {
    /// `len` residues below `q`, from a fixed sequence (SplitMix64): a benchmark needs spread, not secrecy.
    pub(crate) fn residues(len: usize, q: u64) -> Self {
        let mut words = vec![0; len + LINE];
        let first = words.as_ptr().align_offset(64);
        let mut state = 1u64;
        for word in &mut words[first..first + len] {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            *word = (z ^ (z >> 31)) % q;
        }
        Self { words, first, len }
    }

    pub(crate) fn as_mut(&mut self) -> &mut [u64] {
        &mut self.words[self.first..self.first + self.len]
    }
}
