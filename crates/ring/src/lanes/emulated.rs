//! Lanes in plain code: the oracle of the vector backends, and their stand-in on CPUs without them.

use super::{F64Lanes, Madd52Lanes, U64Lanes};

/// `W` lanes in plain code.
#[derive(Debug, Clone, Copy, Default)]
pub struct Emulated<const W: usize>;

/// One lane: kernels written over lanes become scalar loops.
pub type Scalar = Emulated<1>;

const MASK52: u64 = (1 << 52) - 1;

macro_rules! each {
    ($i:ident => $e:expr) => {{
        let mut out = [Default::default(); W];
        let mut $i = 0;
        while $i < W {
            out[$i] = $e;
            $i += 1;
        }
        out
    }};
}

macro_rules! ops {
    ($v:ty; $($f:ident($($a:ident),+) = $e:expr;)+) => {
        $(#[inline(always)] fn $f(self, $($a: [$v; W]),+) -> [$v; W] { each!(i => { $(let $a = $a[i];)+ $e }) })+
    };
}

impl<const W: usize> U64Lanes for Emulated<W> {
    const WIDTH: usize = W;
    type U = [u64; W];

    #[inline(always)]
    unsafe fn load_ptr(self, p: *const u64) -> [u64; W] {
        // SAFETY: the caller vouches for W readable words.
        unsafe { p.cast::<[u64; W]>().read() }
    }
    #[inline(always)]
    unsafe fn store_ptr(self, p: *mut u64, v: [u64; W]) {
        // SAFETY: the caller vouches for W writable words.
        unsafe { p.cast::<[u64; W]>().write(v) }
    }
    #[inline(always)]
    fn splat(self, x: u64) -> [u64; W] {
        [x; W]
    }
    ops! { u64;
        add(a, b) = a.wrapping_add(b);
        sub(a, b) = a.wrapping_sub(b);
        and(a, b) = a & b;
        or(a, b) = a | b;
        xor(a, b) = a ^ b;
        csub(x, c) = if (x.wrapping_sub(c) as i64) < 0 { x } else { x.wrapping_sub(c) };
        select_lt(a, b, x, y) = if a < b { x } else { y };
        mul32(a, b) = u64::from(a as u32) * u64::from(b as u32);
        mul_lo(a, b) = a.wrapping_mul(b);
        mul_hi(a, b) = ((u128::from(a) * u128::from(b)) >> 64) as u64;
    }
    #[inline(always)]
    fn shl<const N: u32>(self, a: [u64; W]) -> [u64; W] {
        each!(i => a[i] << N)
    }
    #[inline(always)]
    fn shr<const N: u32>(self, a: [u64; W]) -> [u64; W] {
        each!(i => a[i] >> N)
    }
    #[inline(always)]
    fn shr_by(self, a: [u64; W], n: u32) -> [u64; W] {
        each!(i => a[i] >> n)
    }
    #[inline(always)]
    fn transpose<const N: usize>(self, v: &mut [[u64; W]; N]) {
        const { assert!(N >= W) }
        let old = *v;
        for (j, row) in v.iter_mut().enumerate().take(W) {
            *row = each!(i => old[i][j]);
        }
    }
}

impl<const W: usize> F64Lanes for Emulated<W> {
    type F = [f64; W];

    #[inline(always)]
    fn as_f(self, a: [u64; W]) -> [f64; W] {
        each!(i => f64::from_bits(a[i]))
    }
    #[inline(always)]
    fn as_u(self, a: [f64; W]) -> [u64; W] {
        each!(i => a[i].to_bits())
    }
    ops! { f64;
        fadd(a, b) = a + b;
        fsub(a, b) = a - b;
        fmul(a, b) = a * b;
        fma(a, b, c) = a.mul_add(b, c);
        fms(a, b, c) = a.mul_add(b, -c);
        fnma(a, b, c) = (-a).mul_add(b, c);
        select_sign(s, neg, pos) = if s.is_sign_negative() { neg } else { pos };
    }
}

impl<const W: usize> Madd52Lanes for Emulated<W> {
    ops! { u64;
        madd52_lo(c, a, b) = c.wrapping_add((a & MASK52).wrapping_mul(b & MASK52) & MASK52);
        madd52_hi(c, a, b) = c.wrapping_add(((u128::from(a & MASK52) * u128::from(b & MASK52)) >> 52) as u64);
    }
}
