//! The sets that this project and its peers are compared at.

use std::fmt;
use std::str::FromStr;

use super::{ParamsError, ParamsLiteral};

/// A named parameter set: 128 bits, ternary secrets.
///
/// The default scale is 2^(size of the primes that rescaling removes), at which a scale stays where it is over
/// all levels. In II, III, V50 the base prime is then at most one bit wider than the scale: messages at level 0
/// must stay below 1 in magnitude, or stop at level 1. Set I has scale 2^32 for the same reason.
/// Names with `/1` have one special prime (dnum = L + 1), as SEAL does. Names with B are for bootstrapping: their primes are laid out
/// for it (`docs/algorithms/bootstrapping.md`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NamedSet {
    /// N = 2^12, 2 + 1 primes of 36 bits, scale 2^32.
    I,
    /// N = 2^13, 4 + 1 primes of 43–44 bits.
    II,
    /// N = 2^14, 8 + 1 primes of 48–49 bits.
    III,
    /// N = 2^15, 14 primes of 46 bits (base 48) and 5 special, dnum 3.
    IV,
    /// As [`Self::IV`] with one special prime.
    IVSingle,
    /// N = 2^16, 24 primes of 52 bits (base 55) and 8 special, dnum 3.
    V,
    /// As [`Self::V`] with one special prime.
    VSingle,
    /// N = 2^16, 28 primes of 49–50 bits and 7 special, dnum 4; all below 2^50, which suits CPUs.
    V50,
    /// As [`Self::V50`] with one special prime.
    V50Single,
    /// N = 2^15 for bootstrapping: full slots come back with five levels of 30 bits.
    B15,
    /// N = 2^16 for bootstrapping: full slots come back with nine levels of 40 bits.
    B16,
}

impl NamedSet {
    /// Every set.
    pub const ALL: [Self; 11] = [
        Self::I,
        Self::II,
        Self::III,
        Self::IV,
        Self::IVSingle,
        Self::V,
        Self::VSingle,
        Self::V50,
        Self::V50Single,
        Self::B15,
        Self::B16,
    ];

    /// The name, as in a table.
    pub const fn name(self) -> &'static str {
        match self {
            Self::I => "I",
            Self::II => "II",
            Self::III => "III",
            Self::IV => "IV",
            Self::IVSingle => "IV/1",
            Self::V => "V",
            Self::VSingle => "V/1",
            Self::V50 => "V50",
            Self::V50Single => "V50/1",
            Self::B15 => "B15",
            Self::B16 => "B16",
        }
    }

    /// The literal. The set's primes of one size are those by turns, also where scales drift in the last levels: the primes
    /// of a name stay what they were.
    pub(super) fn literal(self) -> ParamsLiteral {
        let (log_n, base, bits, limbs): (u32, u32, u32, usize) = match self {
            Self::I => (12, 36, 36, 2),
            Self::II => (13, 44, 43, 4),
            Self::III => (14, 49, 48, 8),
            Self::IV | Self::IVSingle => (15, 48, 46, 14),
            Self::V | Self::VSingle => (16, 55, 52, 24),
            Self::V50 | Self::V50Single => (16, 50, 49, 28),
            Self::B15 => (15, 40, 30, 18),
            Self::B16 => (16, 50, 40, 26),
        };
        let mut q = vec![bits; limbs];
        q[0] = base;
        // Above the levels of the scale, those of the sine and of the maps towards slots.
        let above: &[u32] = match self {
            Self::B15 => &[56, 43, 43, 43, 47, 49, 51, 43, 43, 43],
            Self::B16 => &[60, 50, 50, 50, 50, 50, 54, 56, 58, 50, 50, 50, 50],
            _ => &[],
        };
        q[limbs - above.len()..].copy_from_slice(above);
        let (p, dnum): (&[u32], usize) = match self {
            Self::I => (&[36], 2),
            Self::II => (&[44], 4),
            Self::III => (&[49], 8),
            // 233 bits cover the digit of the base, 48 + 4·46 = 232, and keep log PQ within 881.
            Self::IV => (&[47, 47, 47, 46, 46], 3),
            Self::IVSingle => (&[49], 14),
            // 424 bits cover the digit of the base, 55 + 7·52 = 419.
            Self::V => (&[53; 8], 3),
            Self::VSingle => (&[55], 24),
            // 350 bits cover the digit of the base, 50 + 6·49 = 344.
            Self::V50 => (&[50; 7], 4),
            Self::V50Single => (&[50], 28),
            // 152 bits cover the widest digit, 47 + 49 + 51 = 147; the first holds constants of the maps at scale 2^43.
            Self::B15 => (&[45, 36, 36, 35], 6),
            // 450 bits cover the widest digit, 4·40 + 60 + 4·50 = 420.
            Self::B16 => (&[50; 9], 3),
        };
        let scale_bits = if self == Self::I { 32 } else { bits };
        ParamsLiteral { scale_bits, ..ParamsLiteral::from_bits(log_n, &q, p, dnum) }
    }
}

impl fmt::Display for NamedSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for NamedSet {
    type Err = ParamsError;

    fn from_str(name: &str) -> Result<Self, ParamsError> {
        Self::ALL.into_iter().find(|s| s.name().eq_ignore_ascii_case(name)).ok_or_else(|| {
            ParamsError::UnknownSet {
                name: name.chars().take(40).collect(),
                known: Self::ALL.map(Self::name).join(", "),
            }
        })
    }
}
