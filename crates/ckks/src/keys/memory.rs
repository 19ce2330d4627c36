//! Where the residues of keys are kept.

use std::fs::File;
use std::ops::Deref;
use std::sync::Arc;

use memmap2::Mmap;
use ringmill_ring::packed::packed_len;
use ringmill_ring::sample::Seed;
use ringmill_ring::{LimbSource, Modulus};

/// How evaluation keys that come from a file are kept. What they compute is the same, bit for bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KeyMemory {
    /// Every residue as a word: the fastest, and 128/b times the file for primes of b bits.
    #[default]
    Expanded,
    /// As they are in the file, packed and without what their seeds expand to; that is made block by block as a key is
    /// read.
    Seeded,
    /// As `Seeded`, but left in the file, which the system reads when a key is used and drops when memory is short. The
    /// file must stay as it is meanwhile: saving replaces files and never changes one, but who cuts it short ends the
    /// process, and who writes into it changes results.
    Mapped,
}

/// Bytes of a file, in memory or mapped.
pub(crate) enum Bytes {
    Memory(Vec<u8>),
    Mapped(Mmap),
}

impl Bytes {
    /// The whole of a file.
    pub(crate) fn map(file: &File) -> std::io::Result<Self> {
        // SAFETY: nothing but bytes is made of the mapping, and any bytes unpack to some residues; that nobody writes to
        // the file or cuts it is asked of the caller of `KeyMemory::Mapped`.
        Ok(Self::Mapped(unsafe { Mmap::map(file)? }))
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Memory(bytes)
    }
}

impl Deref for Bytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match self {
            Self::Memory(bytes) => bytes,
            Self::Mapped(map) => map,
        }
    }
}

/// What the a of a digit expands under.
pub(super) type Label = [u8; 27];

/// The b of a key, digit after digit, limb after limb, packed; and what its a are expanded from beside the seed.
pub(super) struct Halves {
    bytes: Arc<Bytes>,
    first: usize,
    /// Index and value of the prime of each row, and where its limbs begin in a digit.
    rows: Vec<(u32, Modulus, usize)>,
    digit_bytes: usize,
    labels: Vec<Label>,
    n: usize,
}

impl Halves {
    /// From byte `first` of `bytes` on.
    pub(super) fn new(
        n: usize,
        (bytes, first): (Arc<Bytes>, usize),
        rows: Vec<(u32, Modulus)>,
        labels: Vec<Label>,
    ) -> Self {
        let mut digit_bytes = 0;
        let mut place = |(i, q): (u32, Modulus)| {
            let at = digit_bytes;
            digit_bytes += packed_len(n, q.bits());
            (i, q, at)
        };
        let rows = rows.into_iter().map(&mut place).collect();
        Self { bytes, first, rows, digit_bytes, labels, n }
    }

    /// b of a digit modulo prime `row`.
    pub(super) fn b(&self, digit: usize, row: usize) -> LimbSource<'_> {
        let (_, q, at) = self.rows[row];
        let first = self.first + digit * self.digit_bytes + at;
        LimbSource::Packed { bytes: &self.bytes[first..first + packed_len(self.n, q.bits())], bits: q.bits() }
    }

    /// a of a digit modulo prime `row`.
    pub(super) fn a<'a>(&'a self, seed: &'a Seed, digit: usize, row: usize) -> LimbSource<'a> {
        let (limb, q, _) = self.rows[row];
        LimbSource::Uniform { seed, label: &self.labels[digit], limb, q }
    }

    /// Bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        match *self.bytes {
            Bytes::Memory(_) => self.labels.len() * self.digit_bytes,
            Bytes::Mapped(_) => 0,
        }
    }
}
