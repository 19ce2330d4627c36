//! Vectors of complex numbers in two precisions, written once for every vector length.

use pulp::Simd;

/// A twiddle factor as (re.hi, im.hi, re.lo, im.lo).
pub(super) type Root = [f64; 4];

/// Complex numbers stored in planes (all real parts, all imaginary parts, …), a vector of them at a time.
pub(super) trait Number: 'static {
    /// Planes of f64 that hold one complex array: 2, or 4 with low parts.
    const PLANES: usize;
    /// One vector of complex numbers.
    type V<S: Simd>: Copy;
    /// One vector of twiddle factors with what multiplication by them and their conjugates needs.
    type W<S: Simd>: Copy;

    /// Vector `i` of planes of `stride` vectors each.
    fn load<S: Simd>(data: &[S::f64s], stride: usize, i: usize) -> Self::V<S>;
    /// Stores vector `i`.
    fn store<S: Simd>(data: &mut [S::f64s], stride: usize, i: usize, v: Self::V<S>);
    /// The same twiddle factor in every lane.
    fn splat<S: Simd>(simd: S, root: Root) -> Self::W<S>;
    /// Twiddle factors from four planes.
    fn roots<S: Simd>(simd: S, data: &[S::f64s], stride: usize, i: usize) -> Self::W<S>;
    /// The conjugate.
    fn conj<S: Simd>(w: Self::W<S>) -> Self::W<S>;
    /// a + b.
    fn add<S: Simd>(simd: S, a: Self::V<S>, b: Self::V<S>) -> Self::V<S>;
    /// a − b.
    fn sub<S: Simd>(simd: S, a: Self::V<S>, b: Self::V<S>) -> Self::V<S>;
    /// a + i·b.
    fn add_i<S: Simd>(simd: S, a: Self::V<S>, b: Self::V<S>) -> Self::V<S>;
    /// a − i·b.
    fn sub_i<S: Simd>(simd: S, a: Self::V<S>, b: Self::V<S>) -> Self::V<S>;
    /// −i·a.
    fn minus_i<S: Simd>(simd: S, a: Self::V<S>) -> Self::V<S>;
    /// a·w.
    fn mul<S: Simd>(simd: S, a: Self::V<S>, w: Self::W<S>) -> Self::V<S>;
}

/// binary64: relative error about 2^−52 a transform.
pub(super) struct Plain;

/// Real and imaginary parts, or a twiddle factor (re, im, −im).
#[derive(Clone, Copy)]
pub(super) struct Pair<T> {
    re: T,
    im: T,
}

#[derive(Clone, Copy)]
pub(super) struct PlainRoot<T> {
    re: T,
    im: T,
    minus_im: T,
}

impl Number for Plain {
    const PLANES: usize = 2;
    type V<S: Simd> = Pair<S::f64s>;
    type W<S: Simd> = PlainRoot<S::f64s>;

    #[inline(always)]
    fn load<S: Simd>(data: &[S::f64s], stride: usize, i: usize) -> Self::V<S> {
        Pair { re: data[i], im: data[stride + i] }
    }

    #[inline(always)]
    fn store<S: Simd>(data: &mut [S::f64s], stride: usize, i: usize, v: Self::V<S>) {
        data[i] = v.re;
        data[stride + i] = v.im;
    }

    #[inline(always)]
    fn splat<S: Simd>(simd: S, root: Root) -> Self::W<S> {
        let (re, im) = (simd.splat_f64s(root[0]), simd.splat_f64s(root[1]));
        PlainRoot { re, im, minus_im: simd.splat_f64s(-root[1]) }
    }

    #[inline(always)]
    fn roots<S: Simd>(simd: S, data: &[S::f64s], stride: usize, i: usize) -> Self::W<S> {
        let (re, im) = (data[i], data[stride + i]);
        PlainRoot { re, im, minus_im: simd.neg_f64s(im) }
    }

    #[inline(always)]
    fn conj<S: Simd>(w: Self::W<S>) -> Self::W<S> {
        PlainRoot { re: w.re, im: w.minus_im, minus_im: w.im }
    }

    #[inline(always)]
    fn add<S: Simd>(simd: S, a: Self::V<S>, b: Self::V<S>) -> Self::V<S> {
        Pair { re: simd.add_f64s(a.re, b.re), im: simd.add_f64s(a.im, b.im) }
    }

    #[inline(always)]
    fn sub<S: Simd>(simd: S, a: Self::V<S>, b: Self::V<S>) -> Self::V<S> {
        Pair { re: simd.sub_f64s(a.re, b.re), im: simd.sub_f64s(a.im, b.im) }
    }

    #[inline(always)]
    fn add_i<S: Simd>(simd: S, a: Self::V<S>, b: Self::V<S>) -> Self::V<S> {
        Pair { re: simd.sub_f64s(a.re, b.im), im: simd.add_f64s(a.im, b.re) }
    }

    #[inline(always)]
    fn sub_i<S: Simd>(simd: S, a: Self::V<S>, b: Self::V<S>) -> Self::V<S> {
        Pair { re: simd.add_f64s(a.re, b.im), im: simd.sub_f64s(a.im, b.re) }
    }

    #[inline(always)]
    fn minus_i<S: Simd>(simd: S, a: Self::V<S>) -> Self::V<S> {
        Pair { re: a.im, im: simd.neg_f64s(a.re) }
    }

    #[inline(always)]
    fn mul<S: Simd>(simd: S, a: Self::V<S>, w: Self::W<S>) -> Self::V<S> {
        Pair {
            re: simd.mul_add_f64s(a.re, w.re, simd.mul_f64s(a.im, w.minus_im)),
            im: simd.mul_add_f64s(a.re, w.im, simd.mul_f64s(a.im, w.re)),
        }
    }
}

/// Double-double: relative error about 2^−100 a transform.
pub(super) struct Double;

/// hi + lo in every lane.
#[derive(Clone, Copy)]
pub(super) struct Hl<T> {
    hi: T,
    lo: T,
}

#[derive(Clone, Copy)]
pub(super) struct DoubleRoot<T> {
    re: Hl<T>,
    im: Hl<T>,
    minus_im: Hl<T>,
    minus_re_hi: T,
}

#[inline(always)]
fn two_sum<S: Simd>(simd: S, a: S::f64s, b: S::f64s) -> Hl<S::f64s> {
    let hi = simd.add_f64s(a, b);
    let bb = simd.sub_f64s(hi, a);
    let left = simd.sub_f64s(a, simd.sub_f64s(hi, bb));
    Hl { hi, lo: simd.add_f64s(left, simd.sub_f64s(b, bb)) }
}

#[inline(always)]
fn quick_two_sum<S: Simd>(simd: S, a: S::f64s, b: S::f64s) -> Hl<S::f64s> {
    let hi = simd.add_f64s(a, b);
    Hl { hi, lo: simd.sub_f64s(b, simd.sub_f64s(hi, a)) }
}

/// a + b with an error of 2^−103 (|a| + |b|), which is all that a transform needs.
#[inline(always)]
fn add_hl<S: Simd>(simd: S, a: Hl<S::f64s>, b: Hl<S::f64s>) -> Hl<S::f64s> {
    let s = two_sum(simd, a.hi, b.hi);
    quick_two_sum(simd, s.hi, simd.add_f64s(s.lo, simd.add_f64s(a.lo, b.lo)))
}

#[inline(always)]
fn sub_hl<S: Simd>(simd: S, a: Hl<S::f64s>, b: Hl<S::f64s>) -> Hl<S::f64s> {
    let hi = simd.sub_f64s(a.hi, b.hi);
    let bb = simd.sub_f64s(hi, a.hi);
    let lo = simd.sub_f64s(simd.sub_f64s(a.hi, simd.sub_f64s(hi, bb)), simd.add_f64s(b.hi, bb));
    quick_two_sum(simd, hi, simd.add_f64s(lo, simd.sub_f64s(a.lo, b.lo)))
}

/// a·x + b·y, given −x.hi and −y.hi for the exact errors of the leading products.
#[inline(always)]
fn dot<S: Simd>(
    simd: S,
    (a, x, minus_x): (Hl<S::f64s>, Hl<S::f64s>, S::f64s),
    (b, y, minus_y): (Hl<S::f64s>, Hl<S::f64s>, S::f64s),
) -> Hl<S::f64s> {
    let (p, q) = (simd.mul_f64s(a.hi, x.hi), simd.mul_f64s(b.hi, y.hi));
    // p − a·x and q − b·y, exactly.
    let (dp, dq) = (simd.mul_add_f64s(a.hi, minus_x, p), simd.mul_add_f64s(b.hi, minus_y, q));
    let s = two_sum(simd, p, q);
    let low = simd.sub_f64s(s.lo, simd.add_f64s(dp, dq));
    let low = simd.mul_add_f64s(a.hi, x.lo, low);
    let low = simd.mul_add_f64s(a.lo, x.hi, low);
    let low = simd.mul_add_f64s(b.hi, y.lo, low);
    quick_two_sum(simd, s.hi, simd.mul_add_f64s(b.lo, y.hi, low))
}

impl Number for Double {
    const PLANES: usize = 4;
    type V<S: Simd> = Pair<Hl<S::f64s>>;
    type W<S: Simd> = DoubleRoot<S::f64s>;

    #[inline(always)]
    fn load<S: Simd>(data: &[S::f64s], stride: usize, i: usize) -> Self::V<S> {
        Pair {
            re: Hl { hi: data[i], lo: data[2 * stride + i] },
            im: Hl { hi: data[stride + i], lo: data[3 * stride + i] },
        }
    }

    #[inline(always)]
    fn store<S: Simd>(data: &mut [S::f64s], stride: usize, i: usize, v: Self::V<S>) {
        data[i] = v.re.hi;
        data[stride + i] = v.im.hi;
        data[2 * stride + i] = v.re.lo;
        data[3 * stride + i] = v.im.lo;
    }

    #[inline(always)]
    fn splat<S: Simd>(simd: S, root: Root) -> Self::W<S> {
        DoubleRoot {
            re: Hl { hi: simd.splat_f64s(root[0]), lo: simd.splat_f64s(root[2]) },
            im: Hl { hi: simd.splat_f64s(root[1]), lo: simd.splat_f64s(root[3]) },
            minus_im: Hl { hi: simd.splat_f64s(-root[1]), lo: simd.splat_f64s(-root[3]) },
            minus_re_hi: simd.splat_f64s(-root[0]),
        }
    }

    #[inline(always)]
    fn roots<S: Simd>(simd: S, data: &[S::f64s], stride: usize, i: usize) -> Self::W<S> {
        let Pair { re, im } = Self::load::<S>(data, stride, i);
        DoubleRoot {
            re,
            im,
            minus_im: Hl { hi: simd.neg_f64s(im.hi), lo: simd.neg_f64s(im.lo) },
            minus_re_hi: simd.neg_f64s(re.hi),
        }
    }

    #[inline(always)]
    fn conj<S: Simd>(w: Self::W<S>) -> Self::W<S> {
        DoubleRoot { im: w.minus_im, minus_im: w.im, ..w }
    }

    #[inline(always)]
    fn add<S: Simd>(simd: S, a: Self::V<S>, b: Self::V<S>) -> Self::V<S> {
        Pair { re: add_hl(simd, a.re, b.re), im: add_hl(simd, a.im, b.im) }
    }

    #[inline(always)]
    fn sub<S: Simd>(simd: S, a: Self::V<S>, b: Self::V<S>) -> Self::V<S> {
        Pair { re: sub_hl(simd, a.re, b.re), im: sub_hl(simd, a.im, b.im) }
    }

    #[inline(always)]
    fn add_i<S: Simd>(simd: S, a: Self::V<S>, b: Self::V<S>) -> Self::V<S> {
        Pair { re: sub_hl(simd, a.re, b.im), im: add_hl(simd, a.im, b.re) }
    }

    #[inline(always)]
    fn sub_i<S: Simd>(simd: S, a: Self::V<S>, b: Self::V<S>) -> Self::V<S> {
        Pair { re: add_hl(simd, a.re, b.im), im: sub_hl(simd, a.im, b.re) }
    }

    #[inline(always)]
    fn minus_i<S: Simd>(simd: S, a: Self::V<S>) -> Self::V<S> {
        Pair { re: a.im, im: Hl { hi: simd.neg_f64s(a.re.hi), lo: simd.neg_f64s(a.re.lo) } }
    }

    #[inline(always)]
    fn mul<S: Simd>(simd: S, a: Self::V<S>, w: Self::W<S>) -> Self::V<S> {
        Pair {
            re: dot(simd, (a.re, w.re, w.minus_re_hi), (a.im, w.minus_im, w.im.hi)),
            im: dot(simd, (a.re, w.im, w.minus_im.hi), (a.im, w.re, w.minus_re_hi)),
        }
    }
}
