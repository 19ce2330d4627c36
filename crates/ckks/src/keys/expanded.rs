//! Limbs of keys in the order in which a key switch reads them, as words or, where the machine multiplies by them as they stand,
//! dense.
//!
//! An inner product goes through its limbs block by block: so the blocks that it reads together stand together. They are
//! one stream from memory, where whole limbs were sixteen or more.

use ringmill_ring::dense::{self, dense_len};
use ringmill_ring::source::BLOCK;
use ringmill_ring::{Buffer, Isa, LimbSource, Modulus};

use crate::error::CkksError;
use crate::limbs;

/// Words between the starts of blocks beyond those: a cache line, lest equal words of many blocks fall into one cache set.
const BEYOND: usize = 8;

/// Groups of equally many limbs; the limbs of a group are read together.
pub(super) struct Expanded {
    words: Buffer,
    groups: Vec<Shape>,
}

/// Of a group, whose limbs are of one prime.
#[derive(Clone, Copy)]
struct Shape {
    /// Where it begins.
    first: usize,
    /// Words of a block, and blocks of a limb.
    block: usize,
    blocks: usize,
    dense: bool,
    /// Limbs of the group.
    limbs: usize,
}

impl Shape {
    /// Words that a block takes.
    fn taken(self) -> usize {
        if self.dense { dense_len(self.block) } else { self.block }
    }

    /// Words between two blocks of a limb.
    fn stride(self) -> usize {
        self.limbs * (self.taken() + BEYOND)
    }

    fn words(self) -> usize {
        self.blocks * self.stride()
    }

    /// Where limb i of the group begins in it.
    fn limb(self, i: usize) -> usize {
        assert!(i < self.limbs, "limb {i} of {}", self.limbs);
        i * (self.taken() + BEYOND)
    }
}

impl Expanded {
    /// Zeros, a group of so many limbs of N = 2^`log_n` words for each of these primes.
    ///
    /// # Errors
    /// Those of [`Isa::detect`].
    pub(super) fn zeros(
        log_n: u32,
        primes: impl IntoIterator<Item = Modulus>,
        limbs: usize,
    ) -> Result<Self, CkksError> {
        let (groups, words) = shapes(log_n, primes, limbs)?;
        Ok(Self { words: Buffer::zeros(words), groups })
    }

    /// The bytes that [`Self::zeros`] takes.
    ///
    /// # Errors
    /// As [`Self::zeros`].
    pub(super) fn bytes_of(
        log_n: u32,
        primes: impl IntoIterator<Item = Modulus>,
        limbs: usize,
    ) -> Result<usize, CkksError> {
        Ok(shapes(log_n, primes, limbs)?.1 * size_of::<u64>())
    }

    /// `f` on each group with its index, in parallel like [`limbs::for_each`].
    pub(super) fn for_each_group(
        &mut self,
        f: impl Fn(usize, &mut Group<'_>) -> Result<(), CkksError> + Sync,
    ) -> Result<(), CkksError> {
        let mut left = &mut self.words[..];
        let group = |&shape: &Shape| {
            let (words, later) = std::mem::take(&mut left).split_at_mut(shape.words());
            left = later;
            Group { words, shape }
        };
        limbs::for_each_of(self.groups.iter().map(group).collect(), f)
    }

    /// A group, to be set.
    ///
    /// # Panics
    /// If there is none.
    pub(super) fn group(&mut self, i: usize) -> Group<'_> {
        let shape = self.groups[i];
        Group { words: &mut self.words[shape.first..shape.first + shape.words()], shape }
    }

    /// A limb of a group.
    ///
    /// # Panics
    /// If there is no such group or limb.
    pub(super) fn limb(&self, group: usize, i: usize) -> LimbSource<'_> {
        let shape @ Shape { block, dense, .. } = self.groups[group];
        let (first, stride) = (shape.first + shape.limb(i), shape.stride());
        let words = &self.words[first..first + (shape.blocks - 1) * stride + shape.taken()];
        if dense {
            LimbSource::Dense { words, block, stride }
        } else {
            LimbSource::Blocks { words, block, stride }
        }
    }

    /// Bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.words[..])
    }
}

/// Those of all groups, and the words that they take.
fn shapes(
    log_n: u32,
    primes: impl IntoIterator<Item = Modulus>,
    limbs: usize,
) -> Result<(Vec<Shape>, usize), CkksError> {
    let (n, isa) = (1 << log_n, Isa::detect()?);
    let block = BLOCK.min(n);
    let mut first = 0;
    let shape = |q| {
        let dense = dense::is_taken(log_n, q, isa);
        let shape = Shape { first, block, blocks: n / block, dense, limbs };
        first += shape.words();
        shape
    };
    let groups = primes.into_iter().map(shape).collect();
    Ok((groups, first))
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
        let shape = self.shape;
        let first = shape.limb(i);
        let mut block = vec![0; if shape.dense { shape.block } else { 0 }];
        for limbs in self.words.chunks_exact_mut(shape.stride()) {
            let out = &mut limbs[first..first + shape.taken()];
            if shape.dense {
                fill(&mut block);
                dense::pack(&block, out);
            } else {
                fill(out);
            }
        }
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
