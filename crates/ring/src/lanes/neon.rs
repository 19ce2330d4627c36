//! Four lanes with NEON, two registers a vector: its 32 registers of 128 bits are then as many vectors as AVX2 has, and
//! kernels take the steps that they take there.

use std::arch::aarch64::*;

use super::{F64Lanes, U64Lanes};

/// Proof that the CPU has NEON (Advanced SIMD).
#[derive(Debug, Clone, Copy)]
pub struct Neon(());

impl Neon {
    /// The token, if this CPU has the instructions.
    pub fn detect() -> Option<Self> {
        std::arch::is_aarch64_feature_detected!("neon").then_some(Self(()))
    }
}

/// Operations that do the same in both registers.
macro_rules! ops {
    ($v:ty; $($f:ident($($a:ident),+) = $e:expr;)+) => {
        $(#[inline(always)] fn $f(self, $($a: [$v; 2]),+) -> [$v; 2] {
            // SAFETY: the token proves that the CPU has the instructions; values only, no memory.
            unsafe { [{ $(let $a = $a[0];)+ $e }, { $(let $a = $a[1];)+ $e }] }
        })+
    };
}

impl U64Lanes for Neon {
    const WIDTH: usize = 4;
    // A product takes three multiplications of halves, and halves must be moved next to each other: more instructions
    // than four products of one lane.
    const PRODUCTS64: bool = false;
    const PAIRS: bool = true;
    type U = [uint64x2_t; 2];

    #[inline(always)]
    unsafe fn load_ptr(self, p: *const u64) -> Self::U {
        // SAFETY: the token proves NEON; the caller vouches for four readable words.
        unsafe { [vld1q_u64(p), vld1q_u64(p.add(2))] }
    }
    #[inline(always)]
    unsafe fn store_ptr(self, p: *mut u64, v: Self::U) {
        // SAFETY: the token proves NEON; the caller vouches for four writable words.
        unsafe {
            vst1q_u64(p, v[0]);
            vst1q_u64(p.add(2), v[1]);
        }
    }
    #[inline(always)]
    fn splat(self, x: u64) -> Self::U {
        // SAFETY: the token proves NEON.
        unsafe { [vdupq_n_u64(x); 2] }
    }
    ops! { uint64x2_t;
        add(a, b) = vaddq_u64(a, b);
        sub(a, b) = vsubq_u64(a, b);
        and(a, b) = vandq_u64(a, b);
        or(a, b) = vorrq_u64(a, b);
        xor(a, b) = veorq_u64(a, b);
        csub(x, c) = vbslq_u64(is_negative(vsubq_u64(x, c)), x, vsubq_u64(x, c));
        select_lt(a, b, x, y) = vbslq_u64(vcltq_u64(a, b), x, y);
        shr_each(a, counts) = vshlq_u64(a, vnegq_s64(vreinterpretq_s64_u64(counts)));
    }
    #[inline(always)]
    fn mul32(self, a: Self::U, b: Self::U) -> Self::U {
        // SAFETY: the token proves NEON.
        unsafe { product(low(a), low(b)) }
    }
    #[inline(always)]
    fn mul_lo(self, a: Self::U, b: Self::U) -> Self::U {
        // SAFETY: the token proves NEON.
        unsafe {
            let cross = vmlaq_u32(vmulq_u32(high(a), low(b)), low(a), high(b));
            self.add(times_2_32(cross), product(low(a), low(b)))
        }
    }
    #[inline(always)]
    fn mul_sub_lo(self, a: Self::U, b: Self::U, c: Self::U, d: Self::U) -> Self::U {
        // SAFETY: the token proves NEON.
        unsafe {
            let cross = vmlaq_u32(vmulq_u32(high(a), low(b)), low(a), high(b));
            let cross = vmlsq_u32(vmlsq_u32(cross, high(c), low(d)), low(c), high(d));
            let sum = self.add(times_2_32(cross), product(low(a), low(b)));
            self.sub(sum, product(low(c), low(d)))
        }
    }
    #[inline(always)]
    fn mul_hi(self, a: Self::U, b: Self::U) -> Self::U {
        // SAFETY: the token proves NEON.
        unsafe {
            let [m, n] = [product(high(a), low(b)), product(low(a), high(b))];
            let sum = self.add(product(high(a), high(b)), self.shr::<32>(m));
            self.add(sum, self.shr::<32>(n))
        }
    }
    #[inline(always)]
    fn permute(self, v: Self::U, from: Self::U) -> Self::U {
        // SAFETY: the token proves NEON.
        unsafe {
            let table = uint8x16x2_t(vreinterpretq_u8_u64(v[0]), vreinterpretq_u8_u64(v[1]));
            let bytes = vreinterpretq_u8_u64(vdupq_n_u64(0x0706_0504_0302_0100));
            let mut out = v;
            let mut i = 0;
            while i < 2 {
                // Lane f stands in bytes 8f .. 8f + 7 of the table.
                let from = vshlq_n_u64::<3>(vandq_u64(from[i], vdupq_n_u64(3)));
                let first = vreinterpretq_u8_u64(from);
                let first = vtrn1q_u8(first, first);
                let first = vreinterpretq_u16_u8(first);
                let first = vreinterpretq_u32_u16(vtrn1q_u16(first, first));
                let first = vreinterpretq_u8_u32(vtrn1q_u32(first, first));
                out[i] = vreinterpretq_u64_u8(vqtbl2q_u8(table, vorrq_u8(first, bytes)));
                i += 1;
            }
            out
        }
    }
    #[inline(always)]
    fn shl<const N: u32>(self, a: Self::U) -> Self::U {
        // SAFETY: the token proves NEON.
        unsafe {
            let count = vdupq_n_s64(i64::from(N));
            [vshlq_u64(a[0], count), vshlq_u64(a[1], count)]
        }
    }
    #[inline(always)]
    fn shr<const N: u32>(self, a: Self::U) -> Self::U {
        self.shr_by(a, N)
    }
    #[inline(always)]
    fn shr_by(self, a: Self::U, n: u32) -> Self::U {
        // SAFETY: the token proves NEON; a negative count shifts right.
        unsafe {
            let count = vdupq_n_s64(-i64::from(n));
            [vshlq_u64(a[0], count), vshlq_u64(a[1], count)]
        }
    }
    #[inline(always)]
    fn transpose<const N: usize>(self, v: &mut [Self::U; N]) {
        const { assert!(N >= 4) }
        // SAFETY: the token proves NEON.
        unsafe {
            let [a, b, c, d] = [v[0], v[1], v[2], v[3]];
            v[0] = [vzip1q_u64(a[0], b[0]), vzip1q_u64(c[0], d[0])];
            v[1] = [vzip2q_u64(a[0], b[0]), vzip2q_u64(c[0], d[0])];
            v[2] = [vzip1q_u64(a[1], b[1]), vzip1q_u64(c[1], d[1])];
            v[3] = [vzip2q_u64(a[1], b[1]), vzip2q_u64(c[1], d[1])];
        }
    }
}

/// All ones where the top bit is set, else zero.
///
/// # Safety
/// Needs NEON.
#[inline(always)]
unsafe fn is_negative(a: uint64x2_t) -> uint64x2_t {
    // SAFETY: passed on to the caller.
    unsafe { vcltzq_s64(vreinterpretq_s64_u64(a)) }
}

/// The low halves of the lanes, in order.
///
/// # Safety
/// Needs NEON.
#[inline(always)]
unsafe fn low(a: [uint64x2_t; 2]) -> uint32x4_t {
    // SAFETY: passed on to the caller.
    unsafe { vuzp1q_u32(vreinterpretq_u32_u64(a[0]), vreinterpretq_u32_u64(a[1])) }
}

/// The high halves of the lanes, in order.
///
/// # Safety
/// Needs NEON.
#[inline(always)]
unsafe fn high(a: [uint64x2_t; 2]) -> uint32x4_t {
    // SAFETY: passed on to the caller.
    unsafe { vuzp2q_u32(vreinterpretq_u32_u64(a[0]), vreinterpretq_u32_u64(a[1])) }
}

/// The 64-bit products of halves.
///
/// # Safety
/// Needs NEON.
#[inline(always)]
unsafe fn product(a: uint32x4_t, b: uint32x4_t) -> [uint64x2_t; 2] {
    // SAFETY: passed on to the caller.
    unsafe { [vmull_u32(vget_low_u32(a), vget_low_u32(b)), vmull_high_u32(a, b)] }
}

/// Lanes whose high halves are these and whose low ones are zero.
///
/// # Safety
/// Needs NEON.
#[inline(always)]
unsafe fn times_2_32(a: uint32x4_t) -> [uint64x2_t; 2] {
    // SAFETY: passed on to the caller.
    unsafe {
        let zero = vdupq_n_u32(0);
        [vreinterpretq_u64_u32(vzip1q_u32(zero, a)), vreinterpretq_u64_u32(vzip2q_u32(zero, a))]
    }
}

impl F64Lanes for Neon {
    type F = [float64x2_t; 2];

    #[inline(always)]
    fn as_f(self, a: Self::U) -> Self::F {
        // SAFETY: the token proves NEON.
        unsafe { [vreinterpretq_f64_u64(a[0]), vreinterpretq_f64_u64(a[1])] }
    }
    #[inline(always)]
    fn as_u(self, a: Self::F) -> Self::U {
        // SAFETY: the token proves NEON.
        unsafe { [vreinterpretq_u64_f64(a[0]), vreinterpretq_u64_f64(a[1])] }
    }
    #[inline(always)]
    fn number(self, words: Self::U, less: f64) -> Self::F {
        // SAFETY: the token proves NEON.
        let number = unsafe { [vcvtq_f64_u64(words[0]), vcvtq_f64_u64(words[1])] };
        if less == 0.0 { number } else { self.fsub(number, self.fsplat(less)) }
    }
    const ROUNDS: bool = true;
    #[inline(always)]
    fn near_whole(self, a: Self::F, b: Self::F, _: Self::F) -> Self::F {
        self.fmul(a, b)
    }
    #[inline(always)]
    fn whole(self, near: Self::F, _: Self::F) -> Self::F {
        // SAFETY: the token proves NEON.
        unsafe { [vrndnq_f64(near[0]), vrndnq_f64(near[1])] }
    }
    ops! { float64x2_t;
        fadd(a, b) = vaddq_f64(a, b);
        fsub(a, b) = vsubq_f64(a, b);
        fmul(a, b) = vmulq_f64(a, b);
        fma(a, b, c) = vfmaq_f64(c, a, b);
        fms(a, b, c) = vfmaq_f64(vnegq_f64(c), a, b);
        fnma(a, b, c) = vfmsq_f64(c, a, b);
        select_sign(s, neg, pos) = vbslq_f64(is_negative(vreinterpretq_u64_f64(s)), neg, pos);
    }
}
