//! Limbs of keys as words, in the order in which a key switch reads them.
//!
//! An inner product goes through its limbs block by block: so the blocks that it reads together stand together. They are
//! one stream from memory, where whole limbs were sixteen or more.

use ringmill_ring::source::BLOCK;
use ringmill_ring::{Buffer, LimbSource};

use crate::error::CkksError;
use crate::limbs;

/// Words between the starts of blocks beyond those: a cache line, lest equal words of many blocks fall into one cache set.
const BEYOND: usize = 8;

/// Groups of equally many limbs; the limbs of a group are read together.
pub(super) struct Expanded {
    words: Buffer,
    shape: Shape,
}

#[derive(Clone, Copy)]
struct Shape {
    /// Words of a block, and blocks of a limb.
    block: usize,
    blocks: usize,
    /// Limbs of a group.
    limbs: usize,
}

impl Shape {
    /// Words between two blocks of a limb.
    fn stride(self) -> usize {
        self.limbs * (self.block + BEYOND)
    }

    fn group(self) -> usize {
        self.blocks * self.stride()
    }

    /// Where limb i of a group begins.
    fn first(self, i: usize) -> usize {
        assert!(i < self.limbs, "limb {i} of {}", self.limbs);
        i * (self.block + BEYOND)
    }
}

impl Expanded {
    /// Zeros, limbs of n words.
    pub(super) fn zeros(n: usize, groups: usize, limbs: usize) -> Self {
        let block = BLOCK.min(n);
        let shape = Shape { block, blocks: n / block, limbs };
        Self { words: Buffer::zeros(groups * shape.group()), shape }
    }

    /// `f` on each group with its index, like [`limbs::for_each_chunk`].
    pub(super) fn for_each_group(
        &mut self,
        f: impl Fn(usize, &mut Group<'_>) -> Result<(), CkksError> + Sync,
    ) -> Result<(), CkksError> {
        let shape = self.shape;
        limbs::for_each_chunk(&mut self.words, shape.group(), |i, words| f(i, &mut Group { words, shape }))
    }

    /// A group, to be set.
    ///
    /// # Panics
    /// If there is none.
    pub(super) fn group(&mut self, i: usize) -> Group<'_> {
        let (shape, words) = (self.shape, self.shape.group());
        Group { words: &mut self.words[i * words..(i + 1) * words], shape }
    }

    /// A limb of a group.
    ///
    /// # Panics
    /// If there is no such group or limb.
    pub(super) fn limb(&self, group: usize, i: usize) -> LimbSource<'_> {
        let Shape { block, blocks, .. } = self.shape;
        let (first, stride) = (group * self.shape.group() + self.shape.first(i), self.shape.stride());
        let words = &self.words[first..first + (blocks - 1) * stride + block];
        LimbSource::Blocks { words, block, stride }
    }

    /// Bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.words[..])
    }
}

/// The limbs of a group.
pub(super) struct Group<'a> {
    words: &'a mut [u64],
    shape: Shape,
}

impl Group<'_> {
    /// Sets limb i, whose blocks are filled in order.
    ///
    /// # Panics
    /// If there is none.
    pub(super) fn set(&mut self, i: usize, mut fill: impl FnMut(&mut [u64])) {
        let first = self.shape.first(i);
        let blocks = self.words.chunks_exact_mut(self.shape.stride());
        blocks.for_each(|limbs| fill(&mut limbs[first..first + self.shape.block]));
    }

    /// Sets limb i to N words.
    ///
    /// # Panics
    /// As [`Self::set`].
    pub(super) fn copy(&mut self, i: usize, words: &[u64]) {
        let mut blocks = words.chunks_exact(self.shape.block);
        self.set(i, |block| block.copy_from_slice(blocks.next().unwrap_or_default()));
    }
}
