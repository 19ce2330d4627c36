//! Sizes of builds, their descriptions, and the order of words in rows.

use ringmill_cycles::Description;
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
    /// log2 of the limbs that its scratchpad holds.
    pub log_slots: u32,
    /// Cycles of a row off chip.
    pub row_cycles: u32,
}

impl Shape {
    /// The build of the description `taiyi-small`.
    pub const SMALL: Self =
        Self { log_n: 10, log_l: 0, log_r: 3, word_bits: 36, log_slots: 6, row_cycles: 1 };

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

    /// Cycles from the first row of a limb in to that of its transform: the closed form of `rtl/taiyi_ntt/README.md` with a Barrett
    /// multiplier, whose 13 cycles are those of every word.
    const fn transform(self) -> u64 {
        const MULTIPLIER: u64 = 13;
        let log_r = self.log_r as u64;
        let mut cycles =
            (1 << self.log_rows()) + (2 << log_r) - 3 + 4 * log_r * (MULTIPLIER + 4) + 3 * MULTIPLIER;
        let mut i = 0;
        while i + self.log_l < self.log_r {
            cycles -= 2 << ((i + self.log_r - self.missing()) % self.log_r);
            i += 1;
        }
        cycles
    }

    /// Its times, as `taiyi-small` has them for one build.
    ///
    /// # Errors
    /// [`ringmill_cycles::DescriptionError`] for a word that no machine has.
    pub fn describe(self) -> Result<Description, ringmill_cycles::DescriptionError> {
        let elements = 1u64 << (self.log_l + self.log_r);
        let first = self.transform() + 2;
        let word = u64::from(self.word_bits);
        let (limbs, row) = (1u64 << self.log_slots, elements * word);
        let unit = |name: &str, rows: &str, more: u64, first: &str, behind: u64| {
            let rows = format!("{rows}/{elements}");
            let held = if more == 0 { rows.clone() } else { format!("{rows} + {more}") };
            format!(
                "[unit.{name}]\nrows = \"{held}\"\nfirst = \"{first}\"\nlast = \"{rows} + {behind}\"\nwidth = {elements}\n\
                 source = \"rtl/taiyi\"\n"
            )
        };
        let units = [
            unit("ntt", "n", 0, &first.to_string(), first),
            unit("auto", "n", 0, "4", 4),
            unit("ewe", "n", 0, "21", 21),
            unit("bconv", "n*terms", 0, "terms + 27", 28),
            unit("ip", "n*terms", 2, "terms + 28", 29),
        ];
        let rate = format!(
            "{}.{:03}",
            row / 8 / u64::from(self.row_cycles),
            row * 125 / u64::from(self.row_cycles) % 1000
        );
        let text = format!(
            "[machine]\nbase = \"taiyi-small\"\nname = \"taiyi\"\ntitle = \"a build of rtl/taiyi\"\nword_bits = {word}\n\
             source = \"rtl/taiyi\"\n{}[memory.limbs]\nbytes = {}\nsource = \"rtl/taiyi\"\n\
             [offchip.port]\nbytes_per_cycle = {rate}\nbeat = {}\nlatency = {}\nsource = \"rtl/taiyi\"\n",
            units.concat(),
            (limbs * word) << self.log_n >> 3,
            row / 8,
            41 - u64::from(self.row_cycles),
        );
        Description::from_toml("taiyi", &text)
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
        let n12 = (0..r).fold(0, |n, i| n | (((t >> place(i)) & 1) << i));
        let (upper, third) = ((l << (rows - r)) | (t >> r), r - self.missing());
        let (n22, n21) = (upper >> third, upper & ((1 << third) - 1));
        (e << (self.log_n - r)) | (n12 << (self.log_n - 2 * r)) | (n21 << r) | n22
    }
}
