//! Right factors of inner products in the order in which these read them, as words or, where the machine multiplies by them as
//! they stand, dense. So keys stand.
//!
//! An inner product goes through its limbs block by block: so the blocks that it reads together stand together. They are
//! one stream from memory, where whole limbs were sixteen or more.

use crate::dense::Packing;
use crate::source::BLOCK;
use crate::{Buffer, Isa, LimbSource, Modulus, RingError};

/// Words between the starts of blocks beyond those: a cache line, so that equal words of many blocks do not
/// fall into one cache set.
const BEYOND: usize = 8;

/// Groups of equally many limbs of one prime each; the limbs of a group are read together.
pub struct Interleaved {
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
    packing: Packing,
    /// Limbs of the group.
    limbs: usize,
}

impl Shape {
    /// Words that a block takes.
    fn taken(self) -> usize {
        self.packing.len(self.block)
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

impl Interleaved {
    /// Zeros: for each of these primes a group of `count` limbs of N = 2^`log_n` words.
    ///
    /// # Errors
    /// Those of [`Isa::detect`].
    pub fn zeros(
        log_n: u32,
        primes: impl IntoIterator<Item = Modulus>,
        limbs: usize,
    ) -> Result<Self, RingError> {
        let (groups, words) = shapes(log_n, primes, limbs)?;
        Ok(Self { words: Buffer::zeros(words), groups })
    }

    /// The bytes that [`Self::zeros`] takes.
    ///
    /// # Errors
    /// As [`Self::zeros`].
    pub fn bytes_of(
        log_n: u32,
        primes: impl IntoIterator<Item = Modulus>,
        limbs: usize,
    ) -> Result<usize, RingError> {
        Ok(shapes(log_n, primes, limbs)?.1 * size_of::<u64>())
    }

    /// The groups in order, to be set.
    pub fn groups_mut(&mut self) -> impl Iterator<Item = Group<'_>> {
        let mut left = &mut self.words[..];
        self.groups.iter().map(move |&shape| {
            let (words, later) = std::mem::take(&mut left).split_at_mut(shape.words());
            left = later;
            Group { words, shape }
        })
    }

    /// A group, to be set.
    ///
    /// # Panics
    /// If the index is out of range.
    pub fn group(&mut self, i: usize) -> Group<'_> {
        let shape = self.groups[i];
        Group { words: &mut self.words[shape.first..shape.first + shape.words()], shape }
    }

    /// A limb of a group.
    ///
    /// # Panics
    /// If there is no such group or limb.
    pub fn limb(&self, group: usize, i: usize) -> LimbSource<'_> {
        let shape @ Shape { block, packing, .. } = self.groups[group];
        let (first, stride) = (shape.first + shape.limb(i), shape.stride());
        let words = &self.words[first..first + (shape.blocks - 1) * stride + shape.taken()];
        LimbSource::Blocks { words, block, stride, packing }
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.words[..])
    }
}

/// Those of all groups, and the words that they take.
fn shapes(
    log_n: u32,
    primes: impl IntoIterator<Item = Modulus>,
    limbs: usize,
) -> Result<(Vec<Shape>, usize), RingError> {
    let (n, isa) = (1 << log_n, Isa::detect()?);
    let block = BLOCK.min(n);
    let mut first = 0;
    let shape = |q| {
        let packing = Packing::of_factors(log_n, q, isa);
        let shape = Shape { first, block, blocks: n / block, packing, limbs };
        first += shape.words();
        shape
    };
    let groups = primes.into_iter().map(shape).collect();
    Ok((groups, first))
}

/// The limbs of a group, to be set.
pub struct Group<'a> {
    words: &'a mut [u64],
    shape: Shape,
}

impl Group<'_> {
    /// Sets limb i, whose blocks are filled in order.
    ///
    /// # Panics
    /// If the index is out of range.
    pub fn set(&mut self, i: usize, mut fill: impl FnMut(&mut [u64])) {
        let packing = self.shape.packing;
        let mut block = vec![0; self.shape.block];
        for out in self.blocks(i) {
            fill(&mut block);
            packing.pack(&block, out);
        }
    }

    /// Sets limb i to N words.
    ///
    /// # Panics
    /// As [`Self::set`].
    pub fn copy(&mut self, i: usize, words: &[u64]) {
        let Shape { block, packing, .. } = self.shape;
        self.blocks(i).zip(words.chunks_exact(block)).for_each(|(out, words)| packing.pack(words, out));
    }

    /// Where the blocks of limb i stand, in order.
    fn blocks(&mut self, i: usize) -> impl Iterator<Item = &mut [u64]> {
        let (first, taken, stride) = (self.shape.limb(i), self.shape.taken(), self.shape.stride());
        self.words.chunks_exact_mut(stride).map(move |limbs| &mut limbs[first..first + taken])
    }
}
