//! Inner products of limbs with limbs.

use super::prime::Prime;
use super::sum::{OnSum, Sum, SumKernel, vectors};
use crate::Backend;
use crate::form::Form;
use crate::lanes::U64Lanes;

/// P inner products with the same left factors, which are read once.
struct Dot<'a, const P: usize> {
    out: [&'a mut [u64]; P],
    a: &'a [&'a [u64]],
    /// See [`Left`].
    factors: usize,
    b: [&'a [&'a [u64]]; P],
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
            if unroll == 4 { self.vectors::<S, 4>(s, i) } else { self.vectors::<S, 2>(s, i) }
        }
        for i in (whole..words).step_by(S::L::WIDTH) {
            self.vectors::<S, 1>(s, i);
        }
    }
}

impl<const P: usize> Dot<'_, P> {
    #[inline(always)]
    fn vectors<S: Sum, const U: usize>(&mut self, s: S, i: usize) {
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
            for j in first..last {
                // SAFETY: `dot` saw that there are as many `b` as `a`, and that all limbs are as long as `out`;
                // i + U·width ≤ that length.
                let a = unsafe { self.a.get_unchecked(j).as_ptr().add(i) };
                let mut x = [s.split(l.splat(0)); U];
                for (u, x) in x.iter_mut().enumerate() {
                    // SAFETY: as above.
                    let word = unsafe { l.load_ptr(a.add(u * width)) };
                    *x = if j < self.factors { s.factor(word) } else { s.split(word) };
                }
                for p in 0..P {
                    // SAFETY: as above.
                    let b = unsafe { self.b[p].get_unchecked(j).as_ptr().add(i) };
                    for u in 0..U {
                        // SAFETY: as above.
                        let y = unsafe { l.load_ptr(b.add(u * width)) };
                        sums[p][u] = s.add(sums[p][u], x[u], s.split(y));
                    }
                }
            }
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

/// out_p,i = Σ_j a_j,i · b_p,j,i mod q; as many `b` as `a` for each p, all limbs as long as the first `out`.
pub(crate) fn dot<const P: usize>(
    backend: Backend,
    prime: &Prime,
    out: [&mut [u64]; P],
    a: Left<'_>,
    b: [&[&[u64]]; P],
) {
    let Left { limbs: a, factors, form } = a;
    let words = out[0].len();
    debug_assert!(out.iter().all(|out| out.len() == words) && b.iter().all(|b| b.len() == a.len()));
    debug_assert!(a.iter().chain(b.iter().copied().flatten()).all(|limb| limb.len() == words));
    let room = if factors > 0 && form == Form::Low52 { prime.room52 } else { prime.room };
    backend.run(OnSum(prime, room, Dot { out, a, factors, b }));
}
