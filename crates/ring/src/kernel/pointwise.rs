//! Word-by-word arithmetic of canonical limbs.

use super::field::{Field, FieldKernel, OnField, Vector};
use super::prime::{Factor, Prime};
use crate::Backend;
use crate::lanes::U64Lanes;

/// One word of the result from up to three words of the operands.
pub(crate) trait Op: Copy {
    /// How many operands are read.
    const OPERANDS: usize;
    fn apply<F: Field>(self, field: F, x: [Vector<F>; 3]) -> Vector<F>;
}

macro_rules! ops {
    ($($(#[$doc:meta])* $name:ident$(($c:ident: $word:ty))? [$n:literal] |$f:ident, $a:ident, $b:ident, $acc:ident| $e:expr;)+) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(crate) struct $name$((pub(crate) $word))?;
        impl Op for $name {
            const OPERANDS: usize = $n;
            #[inline(always)]
            fn apply<F: Field>(self, $f: F, [$a, $b, $acc]: [Vector<F>; 3]) -> Vector<F> {
                $(let $c = self.0;)?
                $e
            }
        }
    )+ };
}

// Unread operands are copies of the first.
ops! {
    /// a + b.
    Add[2] |f, a, b, _x| f.add(a, b);
    /// a − b.
    Sub[2] |f, a, b, _x| f.sub(a, b);
    /// −a, from q − a ∈ (0, q\].
    Neg[1] |f, a, _b, _x| f.lanes().csub(f.lanes().sub(f.q(), a), f.q());
    /// a·b.
    Mul[2] |f, a, b, _x| f.mul(a, b);
    /// acc + a·b.
    Mac[3] |f, a, b, acc| f.mac(acc, a, b);
    /// a·c.
    MulScalar(c: Factor)[1] |f, a, _b, _x| f.mul_constant(a, f.constant(&c));
    /// a + c.
    AddScalar(c: u64)[1] |f, a, _b, _x| f.add(a, f.lanes().splat(c));
    /// (a − b)·c, from a − b + q ∈ (0, 2q).
    SubMulScalar(c: Factor)[2] |f, a, b, _x| f.mul_constant(f.lanes().add(a, f.lanes().sub(f.q(), b)), f.constant(&c));
    /// (a − b)·c + d.
    SubMulAdd(c: Factor)[3] |f, a, b, d| f.add(SubMulScalar(c).apply(f, [a, b, d]), d);
    /// a·c + d, from the second and the first operand.
    MulAddScalar(c: Factor)[2] |f, d, a, _x| f.add(f.mul_constant(a, f.constant(&c)), d);
}

struct Map<O> {
    op: O,
    out: *mut u64,
    src: [*const u64; 3],
    words: usize,
}

impl<O: Op> FieldKernel for Map<O> {
    type Output = ();

    #[inline(always)]
    fn run<F: Field>(self, f: F) {
        let l = f.lanes();
        let mut i = 0;
        while i < self.words {
            // SAFETY: `map` was called with pointers to `words` words, a multiple of the width.
            unsafe {
                let a = l.load_ptr(self.src[0].add(i));
                let b = if O::OPERANDS > 1 { l.load_ptr(self.src[1].add(i)) } else { a };
                let c = if O::OPERANDS > 2 { l.load_ptr(self.src[2].add(i)) } else { a };
                l.store_ptr(self.out.add(i), self.op.apply(f, [a, b, c]));
            }
            i += F::L::WIDTH;
        }
    }
}

/// out = op(src), all as long as `out`; operands that the operation does not read may be empty.
pub(crate) fn map<O: Op>(backend: Backend, prime: &Prime, op: O, out: &mut [u64], src: [&[u64]; 3]) {
    debug_assert!(src[..O::OPERANDS].iter().all(|s| s.len() == out.len()));
    let kernel = Map { op, out: out.as_mut_ptr(), src: src.map(<[u64]>::as_ptr), words: out.len() };
    backend.run(OnField(prime, kernel));
}

/// a = op(a, rest).
pub(crate) fn map_assign<O: Op>(backend: Backend, prime: &Prime, op: O, a: &mut [u64], rest: &[u64]) {
    debug_assert!(O::OPERANDS == 1 || O::OPERANDS == 2 && rest.len() == a.len());
    let out = a.as_mut_ptr();
    let kernel = Map { op, out, src: [out.cast_const(), rest.as_ptr(), out.cast_const()], words: a.len() };
    backend.run(OnField(prime, kernel));
}

/// acc += a·b.
pub(crate) fn mac(backend: Backend, prime: &Prime, acc: &mut [u64], a: &[u64], b: &[u64]) {
    debug_assert!(a.len() == acc.len() && b.len() == acc.len());
    let out = acc.as_mut_ptr();
    let kernel = Map { op: Mac, out, src: [a.as_ptr(), b.as_ptr(), out.cast_const()], words: acc.len() };
    backend.run(OnField(prime, kernel));
}
