//! Sizes of the build, and the order of words in rows.

use ringmill_program::limb::Domain;

/// A build of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// log2 of the ring degree.
    pub log_n: u32,
    /// log2 of lanes, and of the elements of a lane.
    pub log_l: u32,
    /// See `log_l`.
    pub log_r: u32,
    /// Bits of a word.
    pub word_bits: u32,
}

impl Shape {
    /// The description of its times.
    pub const DESCRIPTION: &str = "taiyi-small";

    /// The build of that description.
    pub const SMALL: Self = Self { log_n: 10, log_l: 0, log_r: 3, word_bits: 36 };

    /// Moduli that it holds.
    pub const MODULI: usize = 64;

    /// log2 of the rows of a limb.
    pub const fn log_rows(self) -> u32 {
        self.log_n - self.log_l - self.log_r
    }

    /// Digit bits that the third factor of N lacks (`rtl/taiyi_ntt/README.md`).
    pub(super) const fn missing(self) -> u32 {
        4 * self.log_r - self.log_n
    }

    /// Which word of a limb in a domain is word `at` of its rows, row after row, lane after lane, element after element.
    pub fn word(self, domain: Domain, at: usize) -> usize {
        let (rows, r) = (self.log_rows(), self.log_r);
        let (e, l) = (at & ((1 << r) - 1), (at >> r) & ((1 << self.log_l) - 1));
        let t = at >> (r + self.log_l);
        if domain != Domain::Coeff {
            return (l << (self.log_n - self.log_l)) | (t << r) | e;
        }
        let place = |i: u32| (i + r - self.missing()) % r;
        let n12 = (0..r).fold(0, |n, i| n | ((t >> place(i)) & 1) << i);
        let (upper, third) = ((l << (rows - r)) | (t >> r), r - self.missing());
        let (n22, n21) = (upper >> third, upper & ((1 << third) - 1));
        (e << (self.log_n - r)) | (n12 << (self.log_n - 2 * r)) | (n21 << r) | n22
    }
}
