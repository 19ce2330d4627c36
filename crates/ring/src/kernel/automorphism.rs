//! The automorphisms X → X^g of Z_q\[X\]/(X^N + 1), g odd, in both domains.

use crate::lanes::{Kernel, Lanes};
use crate::limb_ring::{BLOCK_WORDS, check_degree};
use crate::{Backend, Modulus, RingError, reference::bit_reverse};

/// X → X^g in the evaluation domain: a permutation of the words of a limb, the same for every prime.
///
/// It takes aligned blocks of W = 8 words to aligned blocks. Word k = 8·b + r holds the value at ψ^e with
/// e = 2·brv(k) + 1 = (2·brv(b) + 1) + (2N/8)·brv₃(r), brv₃ the reversal of three bits, and the image holds there the
/// value at ψ^(g·e). Below its three top bits g·e depends on b alone, so one block holds all eight; its top bits are
/// h + g·brv₃(r) mod 8, h those of g·(2·brv(b) + 1). So word r comes from word brv₃(h + g·brv₃(r)), one of eight orders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permutation {
    galois: u64,
    /// For each block of the image 8·(the block that it comes from) + h.
    blocks: Vec<u32>,
    /// The same from the other end: for each block 8·(the block of the image that it goes to) + h.
    targets: Vec<u32>,
    orders: [Order; WORDS],
}

/// For each word of a block where in its block it comes from. Each half (word r has brv₃(r) = 2·brv₂(r mod 4) + ⌊r/4⌋)
/// comes from one half: h + g·brv₃(r) is even or odd throughout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(64))]
struct Order([u64; WORDS]);

/// W.
const WORDS: usize = BLOCK_WORDS;
const _: () = assert!(WORDS == 8);

impl Permutation {
    /// For N = 2^`log_n` and an odd Galois element g, which counts modulo 2N.
    ///
    /// # Errors
    /// [`RingError::Degree`], [`RingError::EvenGalois`].
    pub fn new(log_n: u32, galois: u64) -> Result<Self, RingError> {
        check_degree(log_n)?;
        let galois = odd(galois, log_n)?;
        let (mask, log_blocks) = ((2u64 << log_n) - 1, log_n - WORDS.ilog2());
        let block = |b: usize| {
            let e = galois.wrapping_mul(2 * bit_reverse(b, log_blocks) as u64 + 1) & mask;
            let (h, low) = (e >> (log_blocks + 1), e >> 1 & ((1 << log_blocks) - 1));
            (bit_reverse(low as usize, log_blocks) * WORDS) as u32 | h as u32
        };
        let order = |h: usize| {
            Order(std::array::from_fn(|r| {
                let h = h.wrapping_add((galois as usize).wrapping_mul(bit_reverse(r, 3)));
                bit_reverse(h % WORDS, 3) as u64
            }))
        };
        let blocks: Vec<u32> = (0..1usize << log_blocks).map(block).collect();
        let mut targets = vec![0; blocks.len()];
        for (image, &entry) in blocks.iter().enumerate() {
            let (from, h) = (entry as usize / WORDS, entry as usize % WORDS);
            targets[from] = (image * WORDS + h) as u32;
        }
        Ok(Self { galois, blocks, targets, orders: std::array::from_fn(order) })
    }

    /// The Galois element, in \[0, 2N).
    pub fn galois(&self) -> u64 {
        self.galois
    }

    /// N.
    pub fn n(&self) -> usize {
        self.blocks.len() * WORDS
    }

    /// Where in the image the `words` words from number `first` on go: they fill as many, from this number on. `words` is a power of
    /// two and `first` a multiple of it, as blocks are; what holds for blocks of eight words holds for longer ones.
    ///
    /// # Panics
    /// If `first` is not below N.
    pub fn image(&self, first: usize, words: usize) -> usize {
        let target = self.targets[first / WORDS] as usize / WORDS * WORDS;
        target / words * words
    }
}

/// g mod 2N if it is odd.
pub(crate) fn odd(galois: u64, log_n: u32) -> Result<u64, RingError> {
    if galois % 2 == 1 { Ok(galois & ((2u64 << log_n) - 1)) } else { Err(RingError::EvenGalois { galois }) }
}

struct Evaluations<'a> {
    out: &'a mut [u64],
    src: &'a [u64],
    blocks: &'a [u32],
    orders: &'a [Order; WORDS],
}

impl Kernel for Evaluations<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        for (out, &entry) in self.out.chunks_exact_mut(WORDS).zip(self.blocks) {
            let entry = entry as usize;
            let (first, order) = (entry / WORDS * WORDS, &self.orders[entry % WORDS].0);
            for r in (0..WORDS).step_by(L::WIDTH) {
                let part = order[r] as usize / L::WIDTH * L::WIDTH;
                // SAFETY: `evaluations` saw that `src` is as long as the whole permutation: block `first` lies in it,
                // and part + WIDTH ≤ 8. A block of `out` and an order hold eight words.
                unsafe {
                    let v = l.load_ptr(self.src.as_ptr().add(first + part));
                    let v = l.permute(v, l.load_ptr(order.as_ptr().add(r)));
                    l.store_ptr(out.as_mut_ptr().add(r), v);
                }
            }
        }
    }
}

struct Scattered<'a> {
    out: &'a mut [u64],
    src: &'a [u64],
    targets: &'a [u32],
    orders: &'a [Order; WORDS],
}

impl Kernel for Scattered<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        for (src, &entry) in self.src.chunks_exact(WORDS).zip(self.targets) {
            let entry = entry as usize;
            let (first, order) = (entry / WORDS * WORDS, &self.orders[entry % WORDS].0);
            for r in (0..WORDS).step_by(L::WIDTH) {
                let part = order[r] as usize / L::WIDTH * L::WIDTH;
                // SAFETY: `scattered` saw that `out` is as long as the whole permutation: block `first` lies in it. A block
                // of `src` and an order hold eight words, and part + WIDTH ≤ 8.
                unsafe {
                    let v = l.load_ptr(src.as_ptr().add(part));
                    let v = l.permute(v, l.load_ptr(order.as_ptr().add(r)));
                    l.store_ptr(self.out.as_mut_ptr().add(first + r), v);
                }
            }
        }
    }
}

/// Evaluation domain: what the words of the operand from number `first` on, `src`, become in the image, which is whole;
/// first and their number are multiples of eight, not beyond the limb.
pub(crate) fn scattered(
    backend: Backend,
    out: &mut [u64],
    src: &[u64],
    permutation: &Permutation,
    first: usize,
) {
    debug_assert!(out.len() == permutation.n() && first.is_multiple_of(WORDS));
    debug_assert!(first + src.len() <= out.len());
    let targets = &permutation.targets[first / WORDS..];
    backend.run(Scattered { out, src, targets, orders: &permutation.orders });
}

/// Evaluation domain: the words of the image from number `first` on, as many as `out` holds; both multiples of eight,
/// not beyond the limb. `src` is as long as the permutation.
pub(crate) fn evaluations(
    backend: Backend,
    out: &mut [u64],
    src: &[u64],
    permutation: &Permutation,
    first: usize,
) {
    debug_assert!(src.len() == permutation.n() && first.is_multiple_of(WORDS));
    debug_assert!(first + out.len() <= src.len());
    let blocks = &permutation.blocks[first / WORDS..];
    backend.run(Evaluations { out, src, blocks, orders: &permutation.orders });
}

/// Coefficient domain: coefficient i goes to place i·g mod 2N, negated beyond N; g odd and below 2N.
pub(crate) fn coefficients(out: &mut [u64], src: &[u64], galois: u64, q: Modulus) {
    let n = src.len();
    let mut place = 0;
    for &x in src {
        let reduced = place & (n - 1);
        out[reduced] = if place & n == 0 { x } else { q.neg(x) };
        place = (place + galois as usize) & (2 * n - 1);
    }
}
