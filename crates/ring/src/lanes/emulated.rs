//! Lanes in plain code: the oracle of the vector backends, and their stand-in on CPUs without them.

use std::cell::Cell;

use super::{F64Lanes, Madd52Lanes, U64Lanes};

thread_local! {
    static MULTIPLICATIONS: Cell<u64> = const { Cell::new(0) };
}

/// Words that [`Emulated`] lanes have multiplied in this thread so far, one for each word of each multiplying
/// instruction of the native twin. The difference around a kernel says how much a multiplier port has to do for it.
pub fn multiplications() -> u64 {
    MULTIPLICATIONS.get()
}

/// Counts `instructions` of `words` words each.
fn count(words: usize, instructions: u64) {
    MULTIPLICATIONS.set(MULTIPLICATIONS.get() + words as u64 * instructions);
}

/// `W` lanes in plain code. The operations are calls, because speed is not their purpose and code size is a price.
#[derive(Debug, Clone, Copy, Default)]
pub struct Emulated<const W: usize>;

/// One lane: kernels written over lanes become scalar loops.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scalar;

const MASK52: u64 = (1 << 52) - 1;

macro_rules! each {
    ($width:expr, $i:ident => $e:expr) => {{
        let mut out = [Default::default(); $width];
        let mut $i = 0;
        while $i < $width {
            out[$i] = $e;
            $i += 1;
        }
        out
    }};
}

macro_rules! op {
    ($how:ident, $width:expr, $v:ty, $f:ident($($a:ident),+) = $e:expr) => {
        #[inline($how)]
        fn $f(self, $($a: [$v; $width]),+) -> [$v; $width] {
            each!($width, i => { $(let $a = $a[i];)+ $e })
        }
    };
}

/// [`op`] for what takes `$times` multiplying instructions natively.
macro_rules! multiplying {
    ($how:ident, $width:expr, $v:ty, $times:expr, $f:ident($($a:ident),+) = $e:expr) => {
        #[inline($how)]
        fn $f(self, $($a: [$v; $width]),+) -> [$v; $width] {
            if <Self as U64Lanes>::EMULATED {
                count($width, $times);
            }
            each!($width, i => { $(let $a = $a[i];)+ $e })
        }
    };
}

/// The lanes of `$name`, `$width` of them, each operation marked `#[inline($how)]`.
macro_rules! plain_lanes {
    ({$($generics:tt)*} $name:ty, $width:expr, $how:ident) => {
impl $($generics)* U64Lanes for $name {
    const WIDTH: usize = $width;
    const EMULATED: bool = $width > 1;
    type U = [u64; $width];

    #[inline($how)]
    unsafe fn load_ptr(self, p: *const u64) -> [u64; $width] {
        // SAFETY: the caller vouches for WIDTH readable words.
        unsafe { p.cast::<[u64; $width]>().read() }
    }
    #[inline($how)]
    unsafe fn store_ptr(self, p: *mut u64, v: [u64; $width]) {
        // SAFETY: the caller vouches for WIDTH writable words.
        unsafe { p.cast::<[u64; $width]>().write(v) }
    }
    #[inline($how)]
    fn splat(self, x: u64) -> [u64; $width] {
        [x; $width]
    }
            op!($how, $width, u64, add(a, b) = a.wrapping_add(b));
            op!($how, $width, u64, sub(a, b) = a.wrapping_sub(b));
            op!($how, $width, u64, and(a, b) = a & b);
            op!($how, $width, u64, or(a, b) = a | b);
            op!($how, $width, u64, xor(a, b) = a ^ b);
            op!($how, $width, u64, csub(x, c) = if (x.wrapping_sub(c) as i64) < 0 { x } else { x.wrapping_sub(c) });
            op!($how, $width, u64, select_lt(a, b, x, y) = if a < b { x } else { y });
            multiplying!($how, $width, u64, 1, mul32(a, b) = u64::from(a as u32) * u64::from(b as u32));
            op!($how, $width, u64, shr_each(a, counts) = a >> counts);
            // Four lanes have 32-bit products only, of which one instruction makes two halves.
            multiplying!($how, $width, u64, if $width == 4 { 2 } else { 1 }, mul_lo(a, b) = a.wrapping_mul(b));
            multiplying!($how, $width, u64, if $width == 1 { 1 } else { 3 }, mul_hi(a, b) = {
                if $width == 1 {
                    ((u128::from(a) * u128::from(b)) >> 64) as u64
                } else {
                    let (a0, a1, b0, b1) = (a & 0xffff_ffff, a >> 32, b & 0xffff_ffff, b >> 32);
                    a1 * b1 + (a1 * b0 >> 32) + (a0 * b1 >> 32)
                }
            });
    #[inline($how)]
    fn shl<const N: u32>(self, a: [u64; $width]) -> [u64; $width] {
        each!($width, i => a[i] << N)
    }
    #[inline($how)]
    fn shr<const N: u32>(self, a: [u64; $width]) -> [u64; $width] {
        each!($width, i => a[i] >> N)
    }
    #[inline($how)]
    fn shr_by(self, a: [u64; $width], n: u32) -> [u64; $width] {
        each!($width, i => a[i] >> n)
    }
    #[inline($how)]
    #[allow(clippy::modulo_one, reason = "the scalar backend has one lane")]
    fn permute(self, v: [u64; $width], from: [u64; $width]) -> [u64; $width] {
        each!($width, i => v[from[i] as usize % $width])
    }
    #[inline($how)]
    fn transpose<const N: usize>(self, v: &mut [[u64; $width]; N]) {
        const { assert!(N >= $width) }
        let old = *v;
        for (j, row) in v.iter_mut().enumerate().take($width) {
            *row = each!($width, i => old[i][j]);
        }
    }
}

impl $($generics)* F64Lanes for $name {
    type F = [f64; $width];

    #[inline($how)]
    fn as_f(self, a: [u64; $width]) -> [f64; $width] {
        each!($width, i => f64::from_bits(a[i]))
    }
    #[inline($how)]
    fn as_u(self, a: [f64; $width]) -> [u64; $width] {
        each!($width, i => a[i].to_bits())
    }
            op!($how, $width, f64, fadd(a, b) = a + b);
            op!($how, $width, f64, fsub(a, b) = a - b);
            multiplying!($how, $width, f64, 1, fmul(a, b) = a * b);
            multiplying!($how, $width, f64, 1, fma(a, b, c) = a.mul_add(b, c));
            multiplying!($how, $width, f64, 1, fms(a, b, c) = a.mul_add(b, -c));
            multiplying!($how, $width, f64, 1, fnma(a, b, c) = (-a).mul_add(b, c));
            op!($how, $width, f64, select_sign(s, neg, pos) = if s.is_sign_negative() { neg } else { pos });
}

impl $($generics)* Madd52Lanes for $name {
            multiplying!($how, $width, u64, 1, madd52_lo(c, a, b) = c.wrapping_add((a & MASK52).wrapping_mul(b & MASK52) & MASK52));
            multiplying!($how, $width, u64, 1, madd52_hi(c, a, b) = c.wrapping_add(((u128::from(a & MASK52) * u128::from(b & MASK52)) >> 52) as u64));
    #[inline($how)]
    fn shl_in<const N: i32>(self, a: [u64; $width], b: [u64; $width]) -> [u64; $width] {
        each!($width, i => a[i] << N | b[i] >> (64 - N))
    }
    #[inline($how)]
    fn lookup(self, table: [[u64; $width]; 2], index: [u64; $width]) -> [u64; $width] {
        each!($width, i => table.as_flattened()[index[i] as usize % (2 * $width)])
    }
}
    };
}

plain_lanes!({<const W: usize>} Emulated<W>, W, never);
plain_lanes!({} Scalar, 1, always);
