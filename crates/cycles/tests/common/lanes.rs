//! The machine of the reference model.

use ringmill_cycles::Description;

/// Taiyi's lanes, as the reference model has them: one figure of latency a unit, no ports, banks or chaining.
#[derive(Clone, Copy)]
pub(crate) struct Lanes {
    pub(crate) word: u32,
    pub(crate) bytes: u64,
    pub(crate) bytes_per_cycle: f64,
    pub(crate) seeded: bool,
    pub(crate) serial: bool,
    /// What runs sums of products, and what runs lifts.
    pub(crate) runs: [&'static str; 2],
}

impl Lanes {
    pub(crate) fn describe(&self) -> Description {
        let unit = |name: &str, rate: u32, terms: &str, latency: u32| {
            format!(
                "[unit.{name}]\nrows = \"n{terms}/{rate}\"\nfirst = \"n{terms}/{rate} + {latency}\"\nlast = \
                 \"n{terms}/{rate} + {latency}\"\nwidth = {rate}\nsource = \"test\"\n"
            )
        };
        let units = [
            unit("ntt", 1024, "", 256),
            unit("bconv", 12288, "*terms", 64),
            unit("ip", 24576, "*terms", 32),
            unit("ewe", 1024, "*terms", 16),
            unit("auto", 1024, "", 32),
            unit("prng", 1024, "", 64),
        ]
        .concat();
        let kinds = [
            ("ntt", "ntt"),
            ("intt", "ntt"),
            ("convert", "bconv"),
            ("convert_fast", "bconv"),
            ("quotient", "bconv"),
            ("scale", "bconv"),
            ("dot_key", "ip"),
            ("automorphism", "auto"),
            ("add", "ewe"),
            ("sub", "ewe"),
            ("neg", "ewe"),
            ("mul", "ewe"),
            ("mac", "ewe"),
            ("mul_const", "ewe"),
            ("add_const", "ewe"),
            ("sub_mul_const", "ewe"),
            ("dot", self.runs[0]),
            ("lift", self.runs[1]),
        ];
        let runs: String = kinds.iter().map(|(kind, unit)| format!("{kind} = \"{unit}\"\n")).collect();
        let mode = if self.serial { "serial" } else { "parallel" };
        let text = format!(
            "[machine]\nname = \"lanes\"\nword_bits = {}\nghz = 1\nmode = \"{mode}\"\nsource = \"test\"\n{units}\n[runs]\n{runs}\n\
             [memory.limbs]\nbytes = {}\nsource = \"test\"\n[offchip.hbm]\nbytes_per_cycle = {}\nsource = \"test\"\n\
             [keys]\nseeded = {}\nexpand = \"prng\"\nsource = \"test\"\n",
            self.word, self.bytes, self.bytes_per_cycle, self.seeded
        );
        Description::from_toml("lanes", &text).unwrap_or_else(|e| panic!("{e}"))
    }
}
