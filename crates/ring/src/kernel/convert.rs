//! Base conversion of whole limbs; the semantics stand in [`crate::convert`].

use std::mem::MaybeUninit;

use super::prime::Prime;
use super::sum::{OnSum, Sum, SumKernel, vectors};
use crate::ahead::Ahead;
use crate::convert::{QUOTIENT_BITS, SourceBasis};
use crate::first_cache::first_cache_bytes;
use crate::lanes::{Kernel, Lanes, U64Lanes};
use crate::limb_ring::BLOCK_WORDS;
use crate::{Backend, ConvertConstants, Isa, Modulus};

struct Quotient<'a> {
    out: &'a mut [u64],
    y: &'a [&'a [u64]],
    from: &'a SourceBasis,
}

impl Kernel for Quotient<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let heads = self.from.heads();
        for i in (0..self.out.len()).step_by(L::WIDTH) {
            let mut sum = l.splat(1 << (QUOTIENT_BITS - 1));
            for (y, &(shift, r)) in self.y.iter().zip(heads) {
                // SAFETY: `quotient` saw that all limbs are as long as `out`, a multiple of the width.
                let head = l.shr_by(unsafe { l.load_ptr(y.as_ptr().add(i)) }, shift);
                // The head is below 2^14 and R at most 2^15.
                sum = l.add(sum, l.mul32(head, l.splat(r)));
            }
            // SAFETY: as above.
            unsafe { l.store_ptr(self.out.as_mut_ptr().add(i), l.shr::<QUOTIENT_BITS>(sum)) };
        }
    }
}

/// out_i = v of the y_·,i; one `y` a source prime, all as long as `out`.
pub(crate) fn quotient(backend: Backend, out: &mut [u64], y: &[&[u64]], from: &SourceBasis) {
    let words = out.len();
    debug_assert!(y.len() == from.moduli().len() && y.iter().all(|limb| limb.len() == words));
    backend.run(Quotient { out, y, from });
}

/// Words of one limb to convert to, of [`crate::LimbRing::convert_target`].
#[derive(Debug)]
pub struct ConvertTarget<'a> {
    pub(crate) prime: &'a Prime,
    pub(crate) constants: &'a ConvertConstants,
    pub(crate) out: &'a mut [u64],
}

/// Rows of a piece at most: the sources and their quotient.
const ROWS: usize = SourceBasis::MAX_PRIMES + 1;
/// Words of a piece, and of all its rows: they take 27 of 32 KiB of a first cache.
const PIECE: usize = 384;
const PIECES: usize = 9 * PIECE;
/// Words of a target, at most, between two requests for what the next piece reads.
const STEP: usize = 16;

/// What one piece of the sources is to all targets.
struct Piece<'a> {
    /// Its words of each y and, if there is one, of v: one more source, whose factor is −S mod m.
    rows: &'a [&'a [u64]],
    quotient: bool,
    /// The rows again as left operands, one after the other, if several targets use them.
    operands: Option<&'a mut [MaybeUninit<u64>; PIECES]>,
    /// What is read next.
    ahead: Ahead<'a>,
    /// The form of these and what the words were taken less, once they have been made.
    made: Option<(u32, u64)>,
}

impl Piece<'_> {
    /// Makes the operands, if the last target has not made the same.
    #[inline(always)]
    fn prepare<S: Sum>(&mut self, s: S, form: u32, less: u64) {
        let Some(operands) = &mut self.operands else { return };
        if self.made == Some((form, less)) {
            return;
        }
        let (l, words) = (s.lanes(), self.rows[0].len());
        for (row, operands) in self.rows.iter().zip(operands.chunks_exact_mut(words)) {
            for i in (0..words).step_by(S::L::WIDTH) {
                // SAFETY: the row and its operands are `words` words, a multiple of the width.
                unsafe {
                    let word = s.words(s.split(l.load_ptr(row.as_ptr().add(i))));
                    l.store_ptr(operands.as_mut_ptr().cast::<u64>().add(i), word);
                }
            }
        }
        self.made = Some((form, less));
    }
}

/// The words of one target that belong to a piece.
struct Convert<'a, 'b> {
    out: &'a mut [u64],
    piece: &'a mut Piece<'b>,
    constants: &'a ConvertConstants,
}

impl SumKernel for Convert<'_, '_> {
    type Output = ();
    const BY_CONSTANTS: bool = true;

    #[inline(always)]
    fn run<S: Sum>(mut self, s: S) {
        let quotient = self.piece.quotient.then(|| self.constants.target().neg(self.constants.product()));
        let mut factors = [MaybeUninit::uninit(); ROWS];
        let mut count = 0;
        for (operand, &factor) in factors.iter_mut().zip(self.constants.factors().iter().chain(&quotient)) {
            operand.write(s.constant(factor));
            count += 1;
        }
        // SAFETY: the first `count` have been written.
        let factors = unsafe { std::slice::from_raw_parts(factors.as_ptr().cast::<S::Operand>(), count) };
        let start = s.lanes().splat(if S::LESS { self.constants.missing(quotient.is_some()) } else { 0 });
        if let Some(form) = S::FORM {
            self.piece.prepare(s, form, if S::LESS { self.constants.room().offset() } else { 0 });
        }
        if S::FORM.is_some() && self.piece.operands.is_some() {
            self.all::<S, true>(s, start, factors);
        } else {
            self.all::<S, false>(s, start, factors);
        }
    }
}

impl Convert<'_, '_> {
    #[inline(always)]
    fn all<S: Sum, const READY: bool>(&mut self, s: S, start: <S::L as U64Lanes>::U, factors: &[S::Operand]) {
        let vectors = const { vectors::<S>(1) };
        let (stride, words) = (vectors * S::L::WIDTH, self.out.len());
        let whole = words / stride * stride;
        for i in (0..whole).step_by(stride) {
            if READY {
                self.piece.ahead.request();
            }
            match vectors {
                4 => self.vectors::<S, 4, READY>(s, start, factors, i),
                2 => self.vectors::<S, 2, READY>(s, start, factors, i),
                _ => self.vectors::<S, 1, READY>(s, start, factors, i),
            }
        }
        for i in (whole..words).step_by(S::L::WIDTH) {
            self.vectors::<S, 1, READY>(s, start, factors, i);
        }
    }

    /// U vectors from word i on; `READY`: of operands that have been made.
    #[inline(always)]
    fn vectors<S: Sum, const U: usize, const READY: bool>(
        &mut self,
        s: S,
        start: <S::L as U64Lanes>::U,
        factors: &[S::Operand],
        i: usize,
    ) {
        let (l, words) = (s.lanes(), self.out.len());
        let (mut sums, mut room) = ([s.start(start); U], s.terms());
        let mut operands =
            self.piece.operands.as_ref().map_or(std::ptr::null(), |o| o.as_ptr().cast::<u64>());
        for (j, (row, &factor)) in self.piece.rows.iter().zip(factors).enumerate() {
            let short = S::SHORT && self.constants.short(j);
            if room == 0 {
                for u in 0..U {
                    sums[u] = s.start(s.fold(sums[u]));
                }
                room = s.terms();
            }
            room -= 1;
            for u in 0..U {
                let at = i + u * S::L::WIDTH;
                // SAFETY: rows, and as many operands for each, are as long as `out`, and i + U·width ≤ that length.
                let y = unsafe { l.load_ptr(if READY { operands.add(at) } else { row.as_ptr().add(at) }) };
                sums[u] = if short {
                    s.add_short(sums[u], y, factor)
                } else {
                    s.add(sums[u], if READY { s.operand(y) } else { s.split(y) }, factor)
                };
            }
            operands = operands.wrapping_add(words);
        }
        for u in 0..U {
            // SAFETY: i + U·width ≤ out.len().
            unsafe { l.store_ptr(self.out.as_mut_ptr().add(i + u * S::L::WIDTH), s.fold(sums[u])) };
        }
    }
}

/// Words of each of `count` rows in a piece of `words`. The 52-bit multiply-add takes words as they are. With
/// it, pieces save time if the first cache holds more than their sources (48 KB: Zen 5). Otherwise (32 KB:
/// Zen 4) long streams from the second cache are faster.
fn piece_words(backend: Backend, count: usize, words: usize) -> usize {
    if backend.isa() == Isa::Ifma && first_cache_bytes() < 48 << 10 {
        return words.max(BLOCK_WORDS);
    }
    (PIECES / count / BLOCK_WORDS * BLOCK_WORDS).min(PIECE)
}

/// out_i = Σ_j y_j,i·c_j − v_i·S mod m for each target; one `y` a source prime, all as long as each `out`. A piece at a time
/// of all targets, so that the sources stay in the first cache meanwhile.
pub(crate) fn convert(backend: Backend, targets: &mut [ConvertTarget<'_>], y: &[&[u64]], v: Option<&[u64]>) {
    debug_assert!(targets.iter().all(|target| {
        let words = target.out.len();
        y.len() == target.constants.factors().len() && y.iter().chain(&v).all(|limb| limb.len() == words)
    }));
    let words = targets.first().map_or(0, |target| target.out.len());
    let count = y.len() + usize::from(v.is_some());
    let length = piece_words(backend, count, words);
    let mut operands = [MaybeUninit::uninit(); PIECES];
    for first in (0..words).step_by(length) {
        let end = words.min(first + length);
        let (mut rows, mut next) = ([&[][..]; ROWS], [&[][..]; ROWS]);
        for ((row, next), &limb) in rows.iter_mut().zip(&mut next).zip(y.iter().chain(&v)) {
            (*row, *next) = (&limb[first..end], &limb[end..words.min(end + length)]);
        }
        let steps = targets.len() * (end - first) / STEP;
        let mut piece = Piece {
            ahead: Ahead::new((std::ptr::null(), 0), &next[..count], steps),
            rows: &rows[..count],
            quotient: v.is_some(),
            operands: (targets.len() > 1 && count * length <= PIECES).then_some(&mut operands),
            made: None,
        };
        for ConvertTarget { prime, constants, out } in targets.iter_mut() {
            let kernel = Convert { out: &mut out[first..end], piece: &mut piece, constants };
            backend.run(OnSum(prime, constants.room(), kernel));
        }
    }
}

struct Lift<'a> {
    out: &'a mut [u64],
    y: &'a [u64],
    from: Modulus,
    to: &'a Prime,
}

impl Kernel for Lift<'_> {
    type Output = ();

    /// y ≤ s/2 stands for itself, y > s/2 for y − s. If s < 2m then |y − s| and y ≤ s/2 are below m: y or y − s + m is
    /// canonical. Otherwise y is reduced first (the quotient ⌊y·⌊2^64/m⌋/2^64⌋ is short by at most 1, as y < 2^60, and by
    /// `mul_hi` at most 2 more) and s mod m subtracted.
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let (s, m) = (self.from.value(), self.to.modulus.value());
        let (above_half, modulus) = (l.splat(s / 2 + 1), l.splat(m));
        let near = s < 2 * m;
        let reciprocal = l.splat(self.to.one64);
        // What is added to y > s/2: m − s modulo 2^64, or m − (s mod m) ∈ (0, m\].
        let negative = l.splat(if near { m.wrapping_sub(s) } else { m - s % m });
        for i in (0..self.out.len()).step_by(L::WIDTH) {
            // SAFETY: `lift` saw that both limbs are equally long, a multiple of the width.
            let y = unsafe { l.load_ptr(self.y.as_ptr().add(i)) };
            let offset = l.select_lt(y, above_half, l.splat(0), negative);
            let r = if near {
                l.add(y, offset)
            } else {
                let r = l.sub(y, l.mul_lo(l.mul_hi(y, reciprocal), modulus));
                let r = l.csub(l.csub(r, l.add(modulus, modulus)), modulus);
                l.csub(l.add(r, offset), modulus)
            };
            // SAFETY: as above.
            unsafe { l.store_ptr(self.out.as_mut_ptr().add(i), r) };
        }
    }
}

/// The centred residue of each word; both limbs equally long.
pub(crate) fn lift(backend: Backend, out: &mut [u64], y: &[u64], from: Modulus, to: &Prime) {
    debug_assert_eq!(out.len(), y.len());
    backend.run(Lift { out, y, from, to });
}
