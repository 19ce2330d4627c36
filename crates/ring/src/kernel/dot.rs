//! Inner products of limbs with limbs.

use std::ops::Range;

use super::prime::Prime;
use super::sum::{Narrow, OnSum, Sum, SumKernel, vectors};
use crate::Backend;
use crate::dense::{self, GROUP, PACKED, Packing};
use crate::form::Form;
use crate::lanes::{Kernel, Lanes, Madd52Lanes, U64Lanes};

/// P inner products with the same left factors, which are read once.
struct Dot<'a, const P: usize> {
    out: [&'a mut [u64]; P],
    a: &'a [&'a [u64]],
    /// See [`Left`].
    factors: usize,
    b: [&'a [&'a [u64]]; P],
}

/// How right factors stand in memory.
trait Right<L: U64Lanes> {
    /// Words i .. i + U·width of a limb or block.
    ///
    /// # Safety
    /// The limb must have at least i + U vectors.
    unsafe fn load<const U: usize>(l: L, limb: *const u64, i: usize) -> [L::U; U];
}

/// As words.
struct Words;

impl<L: U64Lanes> Right<L> for Words {
    #[inline(always)]
    unsafe fn load<const U: usize>(l: L, limb: *const u64, i: usize) -> [L::U; U] {
        let mut vectors = [l.splat(0); U];
        for (u, vector) in vectors.iter_mut().enumerate() {
            // SAFETY: the caller's.
            *vector = unsafe { l.load_ptr(limb.add(i + u * L::WIDTH)) };
        }
        vectors
    }
}

/// Dense, the first twelve vectors of a group: below other bits.
struct Low;

impl<L: Madd52Lanes> Right<L> for Low {
    #[inline(always)]
    unsafe fn load<const U: usize>(l: L, limb: *const u64, i: usize) -> [L::U; U] {
        // SAFETY: the caller's: the first thirteen vectors of a group stand in order.
        unsafe { Words::load(l, limb.add(i / GROUP * PACKED), i % GROUP) }
    }
}

/// Dense, the last four vectors of a group: below other bits.
struct Last;

impl<L: Madd52Lanes> Right<L> for Last {
    #[inline(always)]
    unsafe fn load<const U: usize>(l: L, limb: *const u64, i: usize) -> [L::U; U] {
        const { assert!(U == 4 && L::WIDTH == dense::WIDTH) }
        // SAFETY: the caller's: the group takes thirteen vectors.
        let v: [L::U; 13] = unsafe { Words::load(l, limb.add(i / GROUP * PACKED), 0) };
        let mut last = [v[12]; U];
        for t in 0..3 {
            let mut head = l.shr::<52>(v[4 * t]);
            for k in 4 * t + 1..4 * t + 4 {
                head = l.shl_in::<12>(head, v[k]);
            }
            let tail = [v[12], l.shl::<4>(v[12]), l.shl::<8>(v[12])][t];
            last[1 + t] = l.shl_in::<4>(head, tail);
        }
        last
    }
}

impl<const P: usize> SumKernel for Dot<'_, P> {
    type Output = ();
    const BY_CONSTANTS: bool = false;

    #[inline(always)]
    fn run<S: Sum>(mut self, s: S) {
        let unroll = const { vectors::<S>(P) };
        let words = self.out[0].len();
        let whole = words / (unroll * S::L::WIDTH) * (unroll * S::L::WIDTH);
        for i in (0..whole).step_by(unroll * S::L::WIDTH) {
            match unroll {
                4 => self.vectors::<S, Words, 4>(s, i),
                2 => self.vectors::<S, Words, 2>(s, i),
                _ => self.vectors::<S, Words, 1>(s, i),
            }
        }
        for i in (whole..words).step_by(S::L::WIDTH) {
            self.vectors::<S, Words, 1>(s, i);
        }
    }
}

/// The same with [dense](crate::dense) right factors.
struct Dense<'a, const P: usize> {
    prime: &'a Prime,
    /// Products of a sum.
    terms: usize,
    dot: Dot<'a, P>,
}

impl<const P: usize> Kernel for Dense<'_, P> {
    type Output = ();

    fn run<L: Lanes>(self, _: L) {
        unreachable!("dense limbs are factors where there is 52-bit multiply-add");
    }

    #[inline(always)]
    fn run52<L: Lanes + Madd52Lanes>(mut self, l: L) {
        let s = Narrow::new(l, self.prime, self.terms);
        for group in (0..self.dot.out[0].len()).step_by(GROUP) {
            for i in (group..group + 12 * L::WIDTH).step_by(4 * L::WIDTH) {
                self.dot.vectors::<_, Low, 4>(s, i);
            }
            self.dot.vectors::<_, Last, 4>(s, group + 12 * L::WIDTH);
        }
    }
}

impl<const P: usize> Dot<'_, P> {
    #[inline(always)]
    fn vectors<S: Sum, R: Right<S::L>, const U: usize>(&mut self, s: S, i: usize) {
        let (l, width) = (s.lanes(), S::L::WIDTH);
        let mut residue = [[l.splat(0); U]; P];
        let mut first = 0;
        while first < self.a.len() {
            let last = self.a.len().min(first + s.terms());
            let mut sums = [[s.start(residue[0][0]); U]; P];
            for p in 0..P {
                for u in 0..U {
                    sums[p][u] = s.start(residue[p][u]);
                }
            }
            let made = self.factors.clamp(first, last);
            self.terms::<S, R, U, true>(s, i, first..made, &mut sums);
            self.terms::<S, R, U, false>(s, i, made..last, &mut sums);
            for p in 0..P {
                for u in 0..U {
                    residue[p][u] = s.fold(sums[p][u]);
                }
            }
            first = last;
        }
        for (out, residue) in self.out.iter_mut().zip(&residue) {
            for (u, &residue) in residue.iter().enumerate() {
                // SAFETY: i + U·width ≤ out.len().
                unsafe { l.store_ptr(out.as_mut_ptr().add(i + u * width), residue) };
            }
        }
    }

    /// Adds the products of some terms, whose left factors are in [`Left::form`] if `FACTORS`.
    #[inline(always)]
    fn terms<S: Sum, R: Right<S::L>, const U: usize, const FACTORS: bool>(
        &self,
        s: S,
        i: usize,
        terms: Range<usize>,
        sums: &mut [[S::Acc; U]; P],
    ) {
        let l = s.lanes();
        for j in terms {
            // SAFETY: `dot` saw that there are as many `b` as `a`, and that all limbs have the words of `out`;
            // i + U·width ≤ their number.
            let a: [_; U] = unsafe { Words::load(l, self.a.get_unchecked(j).as_ptr(), i) };
            let mut x = [s.split(l.splat(0)); U];
            for (x, a) in x.iter_mut().zip(a) {
                *x = if FACTORS { s.factor(a) } else { s.split(a) };
            }
            for p in 0..P {
                // SAFETY: as above.
                let b: [_; U] = unsafe { R::load(l, self.b[p].get_unchecked(j).as_ptr(), i) };
                for u in 0..U {
                    sums[p][u] = s.add(sums[p][u], x[u], s.split(b[u]));
                }
            }
        }
    }
}

/// Asks for the form of left factors of inner products of residues.
struct FormOf;

impl SumKernel for FormOf {
    type Output = Form;
    const BY_CONSTANTS: bool = false;

    fn run<S: Sum>(self, _: S) -> Form {
        S::FACTORS
    }
}

/// The form of left factors that [`dot`] takes beside canonical ones.
pub(crate) fn form(backend: Backend, prime: &Prime) -> Form {
    backend.run(OnSum(prime, prime.room, FormOf))
}

/// Left factors.
pub(crate) struct Left<'a> {
    pub(crate) limbs: &'a [&'a [u64]],
    /// How many of them, the first, are in this form, that of [`form`]; the others are canonical.
    pub(crate) factors: usize,
    pub(crate) form: Form,
}

/// out_p,i = Σ_j a_j,i · b_p,j,i mod q; as many `b` as `a` for each p, all limbs of the words of the first `out`, every `b` packed like
/// this. Dense ones are whole groups, where [`form`] is [`Form::Low52`].
pub(crate) fn dot<const P: usize>(
    backend: Backend,
    prime: &Prime,
    out: [&mut [u64]; P],
    a: Left<'_>,
    (b, packing): ([&[&[u64]]; P], Packing),
) {
    let Left { limbs: a, factors, form } = a;
    let words = out[0].len();
    debug_assert!(out.iter().all(|out| out.len() == words) && b.iter().all(|b| b.len() == a.len()));
    debug_assert!(a.iter().all(|limb| limb.len() == words));
    debug_assert!(b.iter().copied().flatten().all(|limb| limb.len() == packing.len(words)));
    let room = if factors > 0 && form == Form::Low52 { prime.room52 } else { prime.room };
    let dot = Dot { out, a, factors, b };
    match packing {
        Packing::Words => backend.run(OnSum(prime, room, dot)),
        Packing::Dense => backend.run(Dense { prime, terms: room.narrow(), dot }),
    }
}
