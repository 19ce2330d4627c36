//! Four lanes with AVX2 and FMA.

use std::arch::x86_64::*;

use super::{F64Lanes, U64Lanes};

/// Proof that the CPU has AVX2, FMA and BMI2.
#[derive(Debug, Clone, Copy)]
pub struct Avx2(());

impl Avx2 {
    /// The token, if this CPU has the instructions.
    pub fn detect() -> Option<Self> {
        let has = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("bmi2");
        has.then_some(Self(()))
    }
}

macro_rules! ops {
    ($v:ty; $($f:ident($($a:ident),+) = $e:expr;)+) => {
        $(#[inline(always)] fn $f(self, $($a: $v),+) -> $v {
            // SAFETY: the token proves that the CPU has the instructions; values only, no memory.
            unsafe { $e }
        })+
    };
}

impl U64Lanes for Avx2 {
    const WIDTH: usize = 4;
    type U = __m256i;

    #[inline(always)]
    unsafe fn load_ptr(self, p: *const u64) -> __m256i {
        // SAFETY: the token proves AVX2; the caller vouches for four readable words.
        unsafe { _mm256_loadu_si256(p.cast()) }
    }
    #[inline(always)]
    unsafe fn store_ptr(self, p: *mut u64, v: __m256i) {
        // SAFETY: the token proves AVX2; the caller vouches for four writable words.
        unsafe { _mm256_storeu_si256(p.cast(), v) }
    }
    #[inline(always)]
    fn splat(self, x: u64) -> __m256i {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_set1_epi64x(x as i64) }
    }
    ops! { __m256i;
        add(a, b) = _mm256_add_epi64(a, b);
        sub(a, b) = _mm256_sub_epi64(a, b);
        and(a, b) = _mm256_and_si256(a, b);
        or(a, b) = _mm256_or_si256(a, b);
        xor(a, b) = _mm256_xor_si256(a, b);
        csub(x, c) = blend_by_sign(_mm256_sub_epi64(x, c), x, _mm256_sub_epi64(x, c));
        select_lt(a, b, x, y) = _mm256_blendv_epi8(y, x, _mm256_cmpgt_epi64(b, a));
        shr_each(a, counts) = _mm256_srlv_epi64(a, counts);
        mul32(a, b) = _mm256_mul_epu32(a, b);
        permute(v, from) = {
            // The halves of lane j are 32-bit lanes 2j and 2j + 1; the instruction reads three bits of an index.
            let even = _mm256_add_epi64(from, from);
            let odd = _mm256_or_si256(_mm256_slli_epi64::<32>(even), _mm256_set1_epi64x(1 << 32));
            _mm256_permutevar8x32_epi32(v, _mm256_or_si256(even, odd))
        };
        mul_lo(a, b) = {
            let cross = _mm256_mullo_epi32(swap(a), b);
            _mm256_add_epi64(_mm256_mul_epu32(a, b), sum_of_halves(cross))
        };
        mul_sub_lo(a, b, c, d) = {
            let cross = _mm256_sub_epi32(_mm256_mullo_epi32(swap(a), b), _mm256_mullo_epi32(c, swap(d)));
            let low = _mm256_sub_epi64(_mm256_mul_epu32(a, b), _mm256_mul_epu32(c, d));
            _mm256_add_epi64(low, sum_of_halves(cross))
        };
        mul_hi(a, b) = {
            let (a1, b1) = (swap(a), swap(b));
            let low = _mm256_add_epi64(high(_mm256_mul_epu32(a1, b)), high(_mm256_mul_epu32(a, b1)));
            _mm256_add_epi64(_mm256_mul_epu32(a1, b1), low)
        };
    }
    #[inline(always)]
    fn shl<const N: u32>(self, a: __m256i) -> __m256i {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_sll_epi64(a, _mm_cvtsi32_si128(N as i32)) }
    }
    #[inline(always)]
    fn shr<const N: u32>(self, a: __m256i) -> __m256i {
        self.shr_by(a, N)
    }
    #[inline(always)]
    fn shr_by(self, a: __m256i, n: u32) -> __m256i {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_srl_epi64(a, _mm_cvtsi32_si128(n as i32)) }
    }
    #[inline(always)]
    fn transpose<const N: usize>(self, v: &mut [__m256i; N]) {
        const { assert!(N >= 4) }
        // SAFETY: the token proves AVX2.
        unsafe {
            let (a, b) = (_mm256_unpacklo_epi64(v[0], v[1]), _mm256_unpackhi_epi64(v[0], v[1]));
            let (c, d) = (_mm256_unpacklo_epi64(v[2], v[3]), _mm256_unpackhi_epi64(v[2], v[3]));
            v[0] = _mm256_permute2x128_si256::<0x20>(a, c);
            v[1] = _mm256_permute2x128_si256::<0x20>(b, d);
            v[2] = _mm256_permute2x128_si256::<0x31>(a, c);
            v[3] = _mm256_permute2x128_si256::<0x31>(b, d);
        }
    }
}

/// The halves of each lane, exchanged.
///
/// # Safety
/// Needs AVX2.
#[inline(always)]
unsafe fn swap(a: __m256i) -> __m256i {
    // SAFETY: passed on to the caller.
    unsafe { _mm256_shuffle_epi32::<0b10_11_00_01>(a) }
}

/// 2^32 times the sum of the halves of each lane, modulo 2^64.
///
/// # Safety
/// Needs AVX2.
#[inline(always)]
unsafe fn sum_of_halves(a: __m256i) -> __m256i {
    // SAFETY: passed on to the caller.
    unsafe {
        let sums = _mm256_add_epi32(a, _mm256_slli_epi64::<32>(a));
        _mm256_blend_epi32::<0b1010_1010>(_mm256_setzero_si256(), sums)
    }
}

/// The high 32 bits of each lane, moved to the low ones.
///
/// # Safety
/// Needs AVX2.
#[inline(always)]
unsafe fn high(a: __m256i) -> __m256i {
    // SAFETY: passed on to the caller.
    unsafe { _mm256_srli_epi64::<32>(a) }
}

/// `neg` where the top bit of `s` is set, else `pos`.
///
/// # Safety
/// Needs AVX2.
#[inline(always)]
unsafe fn blend_by_sign(s: __m256i, neg: __m256i, pos: __m256i) -> __m256i {
    // SAFETY: passed on to the caller.
    unsafe {
        let (s, neg, pos) = (_mm256_castsi256_pd(s), _mm256_castsi256_pd(neg), _mm256_castsi256_pd(pos));
        _mm256_castpd_si256(_mm256_blendv_pd(pos, neg, s))
    }
}

impl F64Lanes for Avx2 {
    type F = __m256d;

    #[inline(always)]
    fn as_f(self, a: __m256i) -> __m256d {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_castsi256_pd(a) }
    }
    #[inline(always)]
    fn as_u(self, a: __m256d) -> __m256i {
        // SAFETY: the token proves AVX2.
        unsafe { _mm256_castpd_si256(a) }
    }
    ops! { __m256d;
        fadd(a, b) = _mm256_add_pd(a, b);
        fsub(a, b) = _mm256_sub_pd(a, b);
        fmul(a, b) = _mm256_mul_pd(a, b);
        fma(a, b, c) = _mm256_fmadd_pd(a, b, c);
        fms(a, b, c) = _mm256_fmsub_pd(a, b, c);
        fnma(a, b, c) = _mm256_fnmadd_pd(a, b, c);
        select_sign(s, neg, pos) = _mm256_blendv_pd(pos, neg, s);
    }
}
