//! Inner products of limbs with limbs.

use super::prime::Prime;
use super::sum::{OnSum, Shape, Sum, SumKernel};
use crate::Backend;
use crate::lanes::U64Lanes;

struct Dot<'a> {
    out: &'a mut [u64],
    a: &'a [&'a [u64]],
    b: &'a [&'a [u64]],
}

impl SumKernel for Dot<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Sum>(mut self, s: S) {
        // Two or four vectors at a time: their sums fit the registers, and none waits for the one before.
        let unroll = if S::L::WIDTH == 8 { 4 } else { 2 };
        let whole = self.out.len() / (unroll * S::L::WIDTH) * (unroll * S::L::WIDTH);
        for i in (0..whole).step_by(unroll * S::L::WIDTH) {
            if S::L::WIDTH == 8 { self.vectors::<S, 4>(s, i) } else { self.vectors::<S, 2>(s, i) }
        }
        for i in (whole..self.out.len()).step_by(S::L::WIDTH) {
            self.vectors::<S, 1>(s, i);
        }
    }
}

impl Dot<'_> {
    #[inline(always)]
    fn vectors<S: Sum, const U: usize>(&mut self, s: S, i: usize) {
        let (l, width) = (s.lanes(), S::L::WIDTH);
        let mut residue = [l.splat(0); U];
        let mut first = 0;
        while first < self.a.len() {
            let last = self.a.len().min(first + s.terms());
            let mut sums = [s.start(residue[0]); U];
            for u in 1..U {
                sums[u] = s.start(residue[u]);
            }
            for j in first..last {
                // SAFETY: `dot` saw that all limbs are as long as `out`, and i + U·width ≤ that length.
                let (a, b) = unsafe {
                    (self.a.get_unchecked(j).as_ptr().add(i), self.b.get_unchecked(j).as_ptr().add(i))
                };
                for u in 0..U {
                    // SAFETY: as above.
                    let (x, y) = unsafe { (l.load_ptr(a.add(u * width)), l.load_ptr(b.add(u * width))) };
                    sums[u] = s.add(sums[u], s.split(x), s.split(y));
                }
            }
            for u in 0..U {
                residue[u] = s.fold(sums[u]);
            }
            first = last;
        }
        for (u, &residue) in residue.iter().enumerate() {
            // SAFETY: i + U·width ≤ out.len().
            unsafe { l.store_ptr(self.out.as_mut_ptr().add(i + u * width), residue) };
        }
    }
}

/// out_i = Σ_j a_j,i · b_j,i mod q; as many `a` as `b`, all as long as `out`.
pub(crate) fn dot(backend: Backend, prime: &Prime, out: &mut [u64], a: &[&[u64]], b: &[&[u64]]) {
    let words = out.len();
    debug_assert!(a.len() == b.len() && a.iter().chain(b).all(|limb| limb.len() == words));
    backend.run(OnSum(Shape { prime, bound: prime.modulus.value() }, Dot { out, a, b }));
}
