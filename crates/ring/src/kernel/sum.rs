//! Sums of products of two unsigned words, reduced once: behind inner products and base conversion.
//!
//! | sum | operands | operations a product |
//! |---|---|---|
//! | [`Narrow`] | below 2^52, q < 2^50 | 2 with 52-bit multiply-add |
//! | [`Tall`] | below 2^60, right ones constants, q < 2^50 | 4 with 52-bit multiply-add and 2 to split, or 2 if the left one is below 2^50 |
//! | [`Middle`] | below 2^55 | 3 with 52-bit multiply-add, and 1 to split each operand |
//! | [`Grid`] | below 2^50 | 4, two of them binary64 multiply-adds, and 2 to make a number of each operand |
//! | [`Columns`] | below 2^60, right ones constants | 6, and 2 or 3 to split each operand |
//! | [`Wide`] | below 2^60 | 8, and 2 to split each operand |

mod columns;
mod grid;
mod middle;
mod narrow;
mod tall;
mod wide;

use columns::Columns;
use grid::{GRID_BITS, Grid, Layout};
pub(crate) use middle::{MIDDLE_BITS, Middle, UNIT};
pub(crate) use narrow::Narrow;
use narrow::narrow_terms;
use tall::{Tall, tall_terms};
pub(crate) use wide::Wide;

use super::field;
use super::prime::Prime;
use crate::form::Form;
use crate::lanes::{Lanes, Madd52Lanes, U64Lanes};

/// Left operands below this power of two are short.
pub(crate) const SHORT_BITS: u32 = 50;

/// How a sum of products is held, extended and reduced.
pub(crate) trait Sum: Copy {
    type L: Lanes;
    /// An operand made ready.
    type Operand: Copy;
    /// The running sum.
    type Acc: Copy;
    fn lanes(self) -> Self::L;
    /// How many products a sum may take between [`Self::start`] and [`Self::fold`].
    fn terms(self) -> usize;
    fn split(self, x: <Self::L as U64Lanes>::U) -> Self::Operand;
    /// The form of left factors, beside canonical ones, that [`Self::factor`] takes.
    const FACTORS: Form = Form::Canonical;
    /// A left factor in that form, made ready.
    #[inline(always)]
    fn factor(self, x: <Self::L as U64Lanes>::U) -> Self::Operand {
        self.split(x)
    }
    /// A canonical residue as a right factor in all lanes.
    #[inline(always)]
    fn constant(self, c: u64) -> Self::Operand {
        self.split(self.lanes().splat(c))
    }
    /// Whether [`Self::split`] takes operands less [`Room::offset`].
    const LESS: bool = false;
    /// If an operand is costly to make and fits a word: in which of several forms.
    const FORM: Option<u32> = None;
    /// An operand as words, if it fits.
    #[inline(always)]
    fn words(self, _: Self::Operand) -> <Self::L as U64Lanes>::U {
        self.lanes().splat(0)
    }
    /// An operand of its [`Self::words`], or of what they were made of if it does not fit.
    #[inline(always)]
    fn operand(self, words: <Self::L as U64Lanes>::U) -> Self::Operand {
        self.split(words)
    }
    /// A sum that is a residue.
    fn start(self, residue: <Self::L as U64Lanes>::U) -> Self::Acc;
    fn add(self, acc: Self::Acc, a: Self::Operand, b: Self::Operand) -> Self::Acc;
    /// Whether [`Self::add_short`] takes less.
    const SHORT: bool = false;
    /// [`Self::add`] of a left factor below 2^[`SHORT_BITS`].
    #[inline(always)]
    fn add_short(self, acc: Self::Acc, a: <Self::L as U64Lanes>::U, b: Self::Operand) -> Self::Acc {
        self.add(acc, self.split(a), b)
    }
    /// The canonical residue of the sum.
    fn fold(self, acc: Self::Acc) -> <Self::L as U64Lanes>::U;
}

/// How many vectors are worked on at a time when each has `sums` sums, 1, 2 or 4: so that no sum waits for the one before, and
/// sums take half the registers. (Two vectors that are pairs of registers, with two sums each, spill eight of them.)
pub(crate) const fn vectors<S: Sum>(sums: usize) -> usize {
    let registers = if S::L::WIDTH == 8 { 32 } else { 16 };
    let each = sums * size_of::<S::Acc>() / size_of::<<S::L as U64Lanes>::U>();
    if S::L::PAIRS && 4 * each >= registers {
        1
    } else if 4 * each <= registers / 2 {
        4
    } else {
        2
    }
}

/// A computation over a sum, written once.
pub(crate) trait SumKernel {
    type Output;
    /// Whether all right factors are constants, of [`Sum::constant`].
    const BY_CONSTANTS: bool;
    fn run<S: Sum>(self, sum: S) -> Self::Output;
}

/// The greatest operands of a sum of products, and how many products make one sum, where that takes a division to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Room {
    /// Left factors lie below this, right ones below q.
    bound: u64,
    /// Of [`Narrow`] for bounds up to 2^52, of [`Tall`] beyond.
    narrow: usize,
    /// Of [`Grid`], for q and bounds up to 2^[`GRID_BITS`].
    grid: Layout,
}

impl Room {
    /// What left operands are taken less where constants multiply them, by a sum that says so: it then lacks this times the sum of
    /// the constants.
    pub(crate) fn offset(self) -> u64 {
        self.grid.offset()
    }

    /// How many products make one sum of [`Narrow`].
    pub(crate) fn narrow(self) -> usize {
        self.narrow
    }

    /// For residues modulo q on both sides.
    pub(crate) fn of_residues(q: u64) -> Self {
        Self { bound: q, narrow: narrow_terms(q, q), grid: Layout::of_residues(q) }
    }

    /// For left factors of 52 bits and residues modulo q.
    pub(crate) fn of_low52(q: u64) -> Self {
        Self { bound: 1 << 52, narrow: narrow_terms(1 << 52, q), grid: Layout::of_residues(q) }
    }

    /// For left factors below `bound` and constants modulo q.
    pub(crate) fn of_constants(bound: u64, q: u64) -> Self {
        let narrow = if bound <= 1 << 52 { narrow_terms(bound, q) } else { tall_terms(q) };
        Self { bound, narrow, grid: Layout::of_constants(bound, q) }
    }
}

/// Runs a [`SumKernel`] modulo a prime on the sum that suits the operands and the backend.
pub(crate) struct OnSum<'a, K>(pub(crate) &'a Prime, pub(crate) Room, pub(crate) K);

impl<K: SumKernel> crate::lanes::Kernel for OnSum<'_, K> {
    type Output = K::Output;

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> K::Output {
        let Self(prime, room, kernel) = self;
        let greatest = room.bound.max(prime.modulus.value());
        // One lane multiplies integers faster than it emulates fused multiply-add.
        if L::WIDTH > 1 && greatest <= 1 << GRID_BITS {
            // Residues are taken as they are, less nothing.
            if K::BY_CONSTANTS {
                kernel.run(Grid::<L, true>::new(l, prime, room.grid))
            } else {
                kernel.run(Grid::<L, false>::new(l, prime, room.grid))
            }
        } else if greatest <= 1 << 56 {
            wide::<L, 28, K>(l, prime, room, kernel)
        } else {
            wide::<L, 30, K>(l, prime, room, kernel)
        }
    }

    #[inline(always)]
    fn run52<L: Lanes + Madd52Lanes>(self, l: L) -> K::Output {
        let Self(prime, room, kernel) = self;
        let narrow = prime.modulus.bits() <= field::NARROW_BITS;
        if narrow && room.bound <= 1 << 52 {
            kernel.run(Narrow::new(l, prime, room.narrow))
        } else if K::BY_CONSTANTS && narrow {
            kernel.run(Tall::new(l, prime, room.narrow))
        } else if room.bound.max(prime.modulus.value()) <= 1 << MIDDLE_BITS {
            kernel.run(Middle::new(l, prime))
        } else {
            wide::<L, 30, K>(l, prime, room, kernel)
        }
    }
}

/// On integer halves.
#[inline(always)]
fn wide<L: Lanes, const H: u32, K: SumKernel>(l: L, prime: &Prime, room: Room, kernel: K) -> K::Output {
    if K::BY_CONSTANTS {
        kernel.run(Columns::<L, H>::new(l, prime, room.bound))
    } else {
        kernel.run(Wide::<L, H>::new(l, prime))
    }
}
