//! Vector lanes: the few operations that kernels are written over, once, and the backends that supply them.
//!
//! | backend | width | 52-bit multiply-add | runs on |
//! |---|---|---|---|
//! | [`Scalar`] | 1 | no | everything |
//! | `Neon` | 4, in two registers | no | AArch64 |
//! | [`Avx2`] | 4 | no | AVX2 and FMA (Zen 3) |
//! | [`Avx512`] | 8 | no | AVX-512 F, DQ, VL, BW |
//! | [`Avx512Ifma`] | 8 | yes | the same, IFMA and VBMI2 (Zen 4) |
//! | [`Emulated<4>`](Emulated), [`Emulated<8>`](Emulated) | 4, 8 | yes | everything, in plain code, for tests |
//!
//! A backend is a zero-sized *token*. It can only be had from detection, so holding one proves that the CPU
//! executes its instructions, and the arithmetic on it is safe to call. Raw loads and stores stay `unsafe`.
//!
//! A computation implements [`Kernel`] and goes through [`Backend::run`], which enters one function compiled
//! for the instruction set. Everything below it must be `#[inline(always)]`. A function that is not inlined
//! there is compiled without the instructions: correct, but many times slower. The same holds for closures
//! passed to functions of `std` such as `array::map`: use loops.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod emulated;
mod isa;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(test)]
mod tests;

#[cfg(target_arch = "x86_64")]
pub use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub use avx512::{Avx512, Avx512Any, Avx512Ifma};
pub use emulated::{Emulated, Scalar, multiplications};
pub use isa::{Backend, Isa};
#[cfg(target_arch = "aarch64")]
pub use neon::Neon;

/// A computation over lanes, written once.
pub trait Kernel {
    /// What it returns.
    type Output;
    /// The computation on any backend. Mark it `#[inline(always)]`.
    fn run<L: Lanes>(self, lanes: L) -> Self::Output;
    /// The computation where 52-bit multiply-add exists; the plain one unless overridden. Mark it `#[inline(always)]`.
    #[inline(always)]
    fn run52<L: Lanes + Madd52Lanes>(self, lanes: L) -> Self::Output
    where
        Self: Sized,
    {
        self.run(lanes)
    }
}

/// Lanes that hold u64 and, bit-cast, f64: what every backend offers.
pub trait Lanes: F64Lanes {}
impl<L: F64Lanes> Lanes for L {}

/// Vectors of [`Self::WIDTH`] words of 64 bits. Sums and products wrap modulo 2^64.
pub trait U64Lanes: Copy + Send + Sync + std::fmt::Debug + 'static {
    /// Words in a vector.
    const WIDTH: usize;
    /// Whether code for these lanes runs in tests only, and had better be small than fast.
    const EMULATED: bool = false;
    /// Whether products of 64-bit words take fewer instructions on these lanes than on one lane.
    const PRODUCTS64: bool = true;
    /// Whether a vector is two registers. Every operation is then two that do not wait for each other, so that kernels need
    /// not work on two vectors at a time.
    const PAIRS: bool = false;
    /// One vector.
    type U: Copy + std::fmt::Debug;

    /// Loads `WIDTH` words.
    ///
    /// # Safety
    /// `p` must be valid for reading `WIDTH` words; no alignment beyond that of u64.
    unsafe fn load_ptr(self, p: *const u64) -> Self::U;
    /// Stores `WIDTH` words.
    ///
    /// # Safety
    /// `p` must be valid for writing `WIDTH` words; no alignment beyond that of u64.
    unsafe fn store_ptr(self, p: *mut u64, v: Self::U);
    /// Loads the first `WIDTH` words; panics if the slice is shorter.
    #[inline(always)]
    fn load(self, src: &[u64]) -> Self::U {
        let src = &src[..Self::WIDTH];
        // SAFETY: the slice holds WIDTH words.
        unsafe { self.load_ptr(src.as_ptr()) }
    }
    /// Stores to the first `WIDTH` words; panics if the slice is shorter.
    #[inline(always)]
    fn store(self, dst: &mut [u64], v: Self::U) {
        let dst = &mut dst[..Self::WIDTH];
        // SAFETY: the slice holds WIDTH words.
        unsafe { self.store_ptr(dst.as_mut_ptr(), v) }
    }
    /// `x` in every lane.
    fn splat(self, x: u64) -> Self::U;
    /// a + b.
    fn add(self, a: Self::U, b: Self::U) -> Self::U;
    /// a − b.
    fn sub(self, a: Self::U, b: Self::U) -> Self::U;
    /// Bitwise and.
    fn and(self, a: Self::U, b: Self::U) -> Self::U;
    /// Bitwise or.
    fn or(self, a: Self::U, b: Self::U) -> Self::U;
    /// Bitwise exclusive or.
    fn xor(self, a: Self::U, b: Self::U) -> Self::U;
    /// a shifted left by `N` < 64 bits.
    fn shl<const N: u32>(self, a: Self::U) -> Self::U;
    /// a shifted right by `N` < 64 bits, zeros shifted in.
    fn shr<const N: u32>(self, a: Self::U) -> Self::U;
    /// a shifted right by `n` < 64 bits, the same for all lanes, known only at run time.
    fn shr_by(self, a: Self::U, n: u32) -> Self::U;
    /// Each lane of a shifted right by the same lane of `counts`, all below 64. Where the count is known only at run
    /// time this beats [`Self::shr_by`] on Zen 4, whose shift by a register's low word also occupies a multiplier.
    fn shr_each(self, a: Self::U, counts: Self::U) -> Self::U;
    /// x − c if x ≥ c, else x; x − c in \[−2^63, 2^63) and c ≤ 2^63: one step of reduction.
    fn csub(self, x: Self::U, c: Self::U) -> Self::U;
    /// `x` where a < b, else `y`; a and b below 2^63.
    fn select_lt(self, a: Self::U, b: Self::U, x: Self::U, y: Self::U) -> Self::U;
    /// The 64-bit product of the low 32 bits of a and of b.
    fn mul32(self, a: Self::U, b: Self::U) -> Self::U;
    /// The low 64 bits of a·b.
    fn mul_lo(self, a: Self::U, b: Self::U) -> Self::U;
    /// The low 64 bits of a·b − c·d.
    #[inline(always)]
    fn mul_sub_lo(self, a: Self::U, b: Self::U, c: Self::U, d: Self::U) -> Self::U {
        self.sub(self.mul_lo(a, b), self.mul_lo(c, d))
    }
    /// The high 64 bits of a·b, short by at most 2: vectors take three of the four 32-bit products,
    /// a1·b1 + ⌊a1·b0/2^32⌋ + ⌊a0·b1/2^32⌋. (All four together are an idiom that the compiler takes apart into scalars.)
    fn mul_hi(self, a: Self::U, b: Self::U) -> Self::U;
    /// Lane i of the result is lane `from`_i mod `WIDTH` of v.
    fn permute(self, v: Self::U, from: Self::U) -> Self::U;
    /// Transposes the `WIDTH` × `WIDTH` matrix in the first `WIDTH` vectors (N ≥ `WIDTH`, checked when compiled).
    fn transpose<const N: usize>(self, v: &mut [Self::U; N]);
}

/// Vectors of as many binary64 numbers, with fused multiply-add; every operation rounds once, to nearest even.
pub trait F64Lanes: U64Lanes {
    /// One vector.
    type F: Copy + std::fmt::Debug;

    /// The same bits as numbers.
    fn as_f(self, a: Self::U) -> Self::F;
    /// The same bits as words.
    fn as_u(self, a: Self::F) -> Self::U;
    /// `x` in every lane.
    #[inline(always)]
    fn fsplat(self, x: f64) -> Self::F {
        self.as_f(self.splat(x.to_bits()))
    }
    /// Words below 2^52 as numbers, less the integer `less` < 2^52.
    #[inline(always)]
    fn number(self, words: Self::U, less: f64) -> Self::F {
        const TWO52: f64 = (1u64 << 52) as f64;
        let two52 = self.as_u(self.fsplat(TWO52));
        self.fsub(self.as_f(self.or(words, two52)), self.fsplat(TWO52 + less))
    }
    /// a + b.
    fn fadd(self, a: Self::F, b: Self::F) -> Self::F;
    /// a − b.
    fn fsub(self, a: Self::F, b: Self::F) -> Self::F;
    /// a·b.
    fn fmul(self, a: Self::F, b: Self::F) -> Self::F;
    /// a·b + c, rounded once.
    fn fma(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// a·b − c, rounded once.
    fn fms(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// c − a·b, rounded once.
    fn fnma(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// Whether an instruction rounds to integers: [`Self::near_whole`] then rounds the product first.
    const ROUNDS: bool = false;
    /// What [`Self::whole`] makes an integer next to a·b of, below 2^51·u for a multiple of u; `magic` is 1.5·2^52·u, u ≥ 1.
    #[inline(always)]
    fn near_whole(self, a: Self::F, b: Self::F, magic: Self::F) -> Self::F {
        self.fma(a, b, magic)
    }
    /// An integer: of [`Self::near_whole`] the multiple of u nearest to a·b, or where it [`Self::ROUNDS`] the integer nearest to
    /// the rounded product.
    #[inline(always)]
    fn whole(self, near: Self::F, magic: Self::F) -> Self::F {
        self.fsub(near, magic)
    }
    /// `neg` where the sign bit of `s` is set, else `pos`.
    fn select_sign(self, s: Self::F, neg: Self::F, pos: Self::F) -> Self::F;
}

/// Multiply-add of 52-bit operands with 104-bit products (IFMA), and shifts and look-ups in two registers. The multiplier reads the low 52 bits of a and b only.
pub trait Madd52Lanes: U64Lanes {
    /// c + (a·b mod 2^52), modulo 2^64.
    fn madd52_lo(self, c: Self::U, a: Self::U, b: Self::U) -> Self::U;
    /// c + ⌊a·b / 2^52⌋, modulo 2^64.
    fn madd52_hi(self, c: Self::U, a: Self::U, b: Self::U) -> Self::U;
    /// a shifted left by 0 < `N` < 64 bits, the most significant ones of b shifted in.
    fn shl_in<const N: i32>(self, a: Self::U, b: Self::U) -> Self::U;
    /// Lane i of the result is entry `index`_i mod 2·`WIDTH` of the table.
    fn lookup(self, table: [Self::U; 2], index: Self::U) -> Self::U;
}
