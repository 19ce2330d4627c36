//! The constants of a plan, encoded for its arithmetic, in the order of use.

use crate::{
    Modulus, RingError,
    lanes::U64Lanes,
    ntt::{
        arith::Arith,
        schedule::{self, Region, Run},
    },
    reference::bit_reverse,
};

/// One cache line, so that vectors of constants never straddle two.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Line([u64; 8]);

/// Words on a cache-line boundary.
#[derive(Debug, Clone)]
pub(super) struct AlignedWords(Vec<Line>);

impl AlignedWords {
    /// `count` words. The memory for them is allocated at once, because a heap does not return what grows in
    /// steps.
    fn collect(count: usize, words: impl Iterator<Item = u64>) -> Self {
        let (mut lines, mut fill) = (Vec::with_capacity(count.div_ceil(8)), 8);
        for word in words {
            if fill == 8 {
                lines.push(Line([0; 8]));
                fill = 0;
            }
            if let Some(line) = lines.last_mut() {
                line.0[fill] = word;
            }
            fill += 1;
        }
        Self(lines)
    }

    #[inline(always)]
    pub(super) fn as_ptr(&self) -> *const u64 {
        self.0.as_ptr().cast()
    }
}

/// Constants of the forward transform. Those of the inverse are theirs, negated, at mirrored places: node k = m + i
/// (block i of the stage with m blocks) stands for an odd power ψ^e of e ≤ N, node m + (m − 1 − i) for ψ^(N − e), and
/// ψ^−e = −ψ^(N − e).
#[derive(Debug, Clone)]
pub(super) struct Tables {
    pub(super) log_n: u32,
    pub(super) runs: Vec<Run>,
    region: Region,
    /// Two words for node k, for stages whose blocks are ≥ L words apart.
    pub(super) nodes: AlignedWords,
    /// For each block of L·L words and each of the L − 1 nodes below a transposed lane: L first words, unless they are made
    /// from the second ones ([`Arith::LEAF_WORDS`]), and L second words.
    pub(super) leaves: AlignedWords,
    /// 1/N, and 1/N times ψ^(−N/2), the constant of the last inverse stage, two words each.
    pub(super) scale: [[u64; 2]; 2],
    /// The same as residues.
    ends: [u64; 2],
    encode: fn(Modulus, u64) -> [u64; 2],
}

impl Tables {
    /// How the runs divide.
    pub(super) fn region(&self) -> Region {
        self.region
    }

    /// [`Self::scale`] times a residue.
    pub(super) fn scaled(&self, q: Modulus, c: u64) -> [[u64; 2]; 2] {
        self.ends.map(|w| (self.encode)(q, q.mul(w, c)))
    }

    /// A factor in every lane.
    pub(super) fn encoded(&self, q: Modulus, c: u64) -> [u64; 2] {
        (self.encode)(q, c)
    }

    /// ψ must be a primitive 2N-th root of unity modulo q, and N at least 2·L·L.
    pub(super) fn new<A: Arith>(log_n: u32, q: Modulus, psi: u64) -> Result<Self, RingError> {
        let n = 1usize << log_n;
        // powers[k]: the constant of node k.
        let (mut powers, mut p) = (vec![0; n], 1);
        for e in 0..n {
            powers[bit_reverse(e, log_n)] = p;
            p = q.mul(p, psi);
        }
        let l = <A::L as U64Lanes>::WIDTH;
        let powers = &powers;
        let nodes = powers[..n / l].iter().flat_map(|&w| A::encode(q, w));
        let leaves = (n / (l * l)..2 * n / (l * l)).flat_map(|k| {
            (0..l.trailing_zeros()).flat_map(move |s| (0..1usize << s).map(move |r| (s, r))).flat_map(
                move |(s, r)| {
                    (2 - A::LEAF_WORDS..2).flat_map(move |word| {
                        (0..l).map(move |lane| A::encode(q, powers[((l * k + lane) << s) + r])[word])
                    })
                },
            )
        });
        let n_inverse = q.inv(q.reduce(n as u64))?;
        let ends = [n_inverse, q.neg(q.mul(n_inverse, powers[1]))];
        let runs = schedule::runs::<A>(log_n);
        Ok(Self {
            log_n,
            region: Region::of(&runs, n),
            runs,
            scale: ends.map(|w| A::encode(q, w)),
            ends,
            encode: A::encode,
            nodes: AlignedWords::collect(2 * n / l, nodes),
            leaves: AlignedWords::collect(A::LEAF_WORDS * n / l * (l - 1), leaves),
        })
    }
}
