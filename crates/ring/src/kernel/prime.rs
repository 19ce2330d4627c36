//! What the kernels need to know of a prime, computed once.

use super::sum::{Room, UNIT};
use crate::Modulus;

/// ⌊2^bits·w/q⌋ for w < q: the companion of a constant factor w.
pub(crate) fn companion(w: u64, q: u64, bits: u32) -> u64 {
    ((u128::from(w) << bits) / u128::from(q)) as u64
}

/// c·w mod q for c < q and w with its companion of 64 bits (Shoup).
#[inline(always)]
pub(crate) fn times(c: u64, (w, companion): (u64, u64), q: u64) -> u64 {
    let quotient = ((u128::from(c) * u128::from(companion)) >> 64) as u64;
    // Below 2q.
    let product = c.wrapping_mul(w).wrapping_sub(quotient.wrapping_mul(q));
    product.min(product.wrapping_sub(q))
}

/// Where the sums of long words cut them.
pub(crate) const TALL: u32 = 48;

/// −1/q mod 2^30 for odd q, by Newton's iteration: each round doubles the bits that are right, of which q has three.
const fn negated_inverse(q: u64) -> u64 {
    let (mut x, mut bits) = (q, 3);
    while bits < 30 {
        x = x.wrapping_mul(2u64.wrapping_sub(q.wrapping_mul(x)));
        bits *= 2;
    }
    x.wrapping_neg() & ((1 << 30) - 1)
}
const _: () = assert!(negated_inverse(3).wrapping_mul(3).wrapping_add(1) & ((1 << 30) - 1) == 0);

/// Constants of all fields and sums.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Prime {
    pub(crate) modulus: Modulus,
    /// 2^52 mod q and its companion of 52 bits.
    pub(crate) two52: (u64, u64),
    /// 2^[`TALL`] mod q and its companion of 64 bits.
    pub(crate) two48: (u64, u64),
    /// ⌊2^52/q⌋ and ⌊2^64/q⌋.
    pub(crate) one52: u64,
    pub(crate) one64: u64,
    /// 2^2H mod q and its companion of 64 bits, for H = 28, 30.
    tops: [(u64, u64); 2],
    /// −1/q mod 2^30.
    pub(crate) negated_inverse: u64,
    /// The least g with 2^g > U/q, and ⌊2^(52−g)·U/q⌋, for U = 2^[`UNIT`].
    pub(crate) ratio: (u32, u64),
    /// Products of two residues in one sum, and of factors of 52 bits with residues.
    pub(crate) room: Room,
    pub(crate) room52: Room,
}

impl Prime {
    pub(crate) fn new(modulus: Modulus) -> Self {
        let q = modulus.value();
        let power = |bits: u32| {
            let w = (1 << bits) % q;
            (w, companion(w, q, 64))
        };
        let two52 = (1 << 52) % q;
        let g = u64::BITS - ((1u64 << UNIT) / q).leading_zeros();
        Self {
            modulus,
            two52: (two52, companion(two52, q, 52)),
            two48: power(TALL),
            one52: companion(1, q, 52),
            one64: companion(1, q, 64),
            tops: [power(56), power(60)],
            negated_inverse: negated_inverse(q),
            ratio: (g, companion(1, q, 52 - g + UNIT)),
            room: Room::of_residues(q),
            room52: Room::of_low52(q),
        }
    }

    /// 2^2H mod q with its companion; H = 28 or 30.
    #[inline(always)]
    pub(crate) fn top<const H: u32>(&self) -> (u64, u64) {
        const { assert!(H == 28 || H == 30) }
        self.tops[(H as usize - 28) / 2]
    }
}

/// A constant factor c, canonical, with the companions that the fields take.
#[derive(Debug, Clone, Copy)]
pub struct Factor {
    pub(crate) c: u64,
    /// Of 52 bits.
    pub(crate) c52: u64,
    /// Of 64 bits.
    pub(crate) c64: u64,
    /// 2^32·c mod q with its companion of 52 bits.
    pub(crate) upper: (u64, u64),
    /// c − q if c > q/2, else c.
    pub(crate) centred: f64,
}

impl Factor {
    /// For any 64-bit c.
    pub(crate) fn new(c: u64, modulus: Modulus) -> Self {
        let (c, q) = (modulus.reduce(c), modulus.value());
        let upper = modulus.mul(c, (1 << 32) % q);
        Self {
            c,
            c52: companion(c, q, 52),
            c64: companion(c, q, 64),
            upper: (upper, companion(upper, q, 52)),
            centred: modulus.centred(c) as f64,
        }
    }

    /// c.
    pub fn value(&self) -> u64 {
        self.c
    }
}
