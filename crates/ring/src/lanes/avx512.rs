//! Eight lanes with AVX-512, with or without the 52-bit multiply-add (IFMA).

use std::arch::x86_64::*;

use super::{F64Lanes, Madd52Lanes, U64Lanes};

/// Proof that the CPU has AVX-512 F, DQ, VL, BW, FMA and BMI2; with `IFMA` also the 52-bit multiply-add and
/// VBMI2, which all but the first processor with it have.
#[derive(Debug, Clone, Copy)]
pub struct Avx512Any<const IFMA: bool>(());

/// AVX-512 without IFMA.
pub type Avx512 = Avx512Any<false>;
/// AVX-512 with IFMA.
pub type Avx512Ifma = Avx512Any<true>;

impl<const IFMA: bool> Avx512Any<IFMA> {
    /// The token, if this CPU has the instructions.
    pub fn detect() -> Option<Self> {
        let has = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("bmi2")
            && (!IFMA || is_x86_feature_detected!("avx512ifma") && is_x86_feature_detected!("avx512vbmi2"));
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

impl<const IFMA: bool> U64Lanes for Avx512Any<IFMA> {
    const WIDTH: usize = 8;
    type U = __m512i;

    #[inline(always)]
    unsafe fn load_ptr(self, p: *const u64) -> __m512i {
        // SAFETY: the token proves AVX-512; the caller vouches for eight readable words.
        unsafe { _mm512_loadu_si512(p.cast()) }
    }
    #[inline(always)]
    unsafe fn store_ptr(self, p: *mut u64, v: __m512i) {
        // SAFETY: the token proves AVX-512; the caller vouches for eight writable words.
        unsafe { _mm512_storeu_si512(p.cast(), v) }
    }
    #[inline(always)]
    fn splat(self, x: u64) -> __m512i {
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_set1_epi64(x as i64) }
    }
    ops! { __m512i;
        add(a, b) = _mm512_add_epi64(a, b);
        sub(a, b) = _mm512_sub_epi64(a, b);
        and(a, b) = _mm512_and_si512(a, b);
        or(a, b) = _mm512_or_si512(a, b);
        xor(a, b) = _mm512_xor_si512(a, b);
        // x < c makes x − c wrap above 2^63, beyond x: the lesser is the reduced one.
        csub(x, c) = _mm512_min_epu64(x, _mm512_sub_epi64(x, c));
        select_lt(a, b, x, y) = _mm512_mask_blend_epi64(_mm512_cmplt_epu64_mask(a, b), y, x);
        shr_each(a, counts) = _mm512_srlv_epi64(a, counts);
        mul32(a, b) = _mm512_mul_epu32(a, b);
        permute(v, from) = _mm512_permutexvar_epi64(from, v);
        mul_lo(a, b) = _mm512_mullo_epi64(a, b);
        mul_hi(a, b) = {
            let (a1, b1) = (_mm512_srli_epi64::<32>(a), _mm512_srli_epi64::<32>(b));
            let (m, n) = (_mm512_mul_epu32(a1, b), _mm512_mul_epu32(a, b1));
            let low = _mm512_add_epi64(_mm512_srli_epi64::<32>(m), _mm512_srli_epi64::<32>(n));
            _mm512_add_epi64(_mm512_mul_epu32(a1, b1), low)
        };
    }
    #[inline(always)]
    fn shl<const N: u32>(self, a: __m512i) -> __m512i {
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_slli_epi64::<N>(a) }
    }
    #[inline(always)]
    fn shr<const N: u32>(self, a: __m512i) -> __m512i {
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_srli_epi64::<N>(a) }
    }
    #[inline(always)]
    fn shr_by(self, a: __m512i, n: u32) -> __m512i {
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_srl_epi64(a, _mm_cvtsi32_si128(n as i32)) }
    }
    #[inline(always)]
    fn transpose<const N: usize>(self, v: &mut [__m512i; N]) {
        const { assert!(N >= 8) }
        // SAFETY: the token proves AVX-512.
        unsafe {
            let mut t = [v[0]; 8];
            for i in 0..4 {
                t[2 * i] = _mm512_unpacklo_epi64(v[2 * i], v[2 * i + 1]);
                t[2 * i + 1] = _mm512_unpackhi_epi64(v[2 * i], v[2 * i + 1]);
            }
            let mut u = [v[0]; 8];
            for i in 0..4 {
                let (a, b) = (t[i / 2 * 4 + i % 2], t[i / 2 * 4 + i % 2 + 2]);
                u[i] = _mm512_shuffle_i64x2::<0x88>(a, b); // 128-bit pieces 0 and 2 of each
                u[i + 4] = _mm512_shuffle_i64x2::<0xdd>(a, b); // pieces 1 and 3
            }
            for i in 0..2 {
                v[i] = _mm512_shuffle_i64x2::<0x88>(u[i], u[i + 2]);
                v[i + 4] = _mm512_shuffle_i64x2::<0xdd>(u[i], u[i + 2]);
                v[i + 2] = _mm512_shuffle_i64x2::<0x88>(u[i + 4], u[i + 6]);
                v[i + 6] = _mm512_shuffle_i64x2::<0xdd>(u[i + 4], u[i + 6]);
            }
        }
    }
}

impl<const IFMA: bool> F64Lanes for Avx512Any<IFMA> {
    type F = __m512d;

    #[inline(always)]
    fn as_f(self, a: __m512i) -> __m512d {
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_castsi512_pd(a) }
    }
    #[inline(always)]
    fn as_u(self, a: __m512d) -> __m512i {
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_castpd_si512(a) }
    }
    ops! { __m512d;
        fadd(a, b) = _mm512_add_pd(a, b);
        fsub(a, b) = _mm512_sub_pd(a, b);
        fmul(a, b) = _mm512_mul_pd(a, b);
        fma(a, b, c) = _mm512_fmadd_pd(a, b, c);
        fms(a, b, c) = _mm512_fmsub_pd(a, b, c);
        fnma(a, b, c) = _mm512_fnmadd_pd(a, b, c);
        select_sign(s, neg, pos) = _mm512_mask_blend_pd(_mm512_movepi64_mask(_mm512_castpd_si512(s)), pos, neg);
    }
}

impl Madd52Lanes for Avx512Ifma {
    ops! { __m512i;
        madd52_lo(c, a, b) = _mm512_madd52lo_epu64(c, a, b);
        madd52_hi(c, a, b) = _mm512_madd52hi_epu64(c, a, b);
    }
    #[inline(always)]
    fn shl_in<const N: i32>(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the token proves VBMI2.
        unsafe { _mm512_shldi_epi64::<N>(a, b) }
    }
    #[inline(always)]
    fn lookup(self, table: [__m512i; 2], index: __m512i) -> __m512i {
        // SAFETY: the token proves AVX-512.
        unsafe { _mm512_permutex2var_epi64(table[0], index, table[1]) }
    }
}
