//! One engine with its memory, its link and its clock.

use ringmill_machine::compact::Multiplier;
use ringmill_machine::parameter::Value;
use ringmill_machine::pipelined::ENTRY;
use ringmill_machine::{MachineError, MachineSpec};

use super::{POOL, STREAMS};
use crate::ExploreError;

/// Which engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Build {
    /// The chain of streaming transforms.
    Streams {
        /// Most limbs.
        limbs: u32,
        /// Words of a row.
        lanes: u32,
    },
    /// The pool of transform units.
    Pool {
        /// Most limbs, special primes and digits.
        limbs: u32,
        /// Special primes.
        special: u32,
        /// Digits.
        digits: u32,
        /// Transform units.
        units: u32,
        /// Transforms whose rows can enter at once.
        feeds: u32,
    },
}

/// An engine beside a processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Machine {
    /// Which one.
    pub build: Build,
    /// log2 of the greatest degree.
    pub log_n: u32,
    /// Bits of a word.
    pub word_bits: u32,
    /// The modular multiplier.
    pub multiplier: Multiplier,
    /// Whether one half of the keys is expanded on chip.
    pub seeded: bool,
    /// MHz.
    pub clock: u32,
    /// MB a second of the memory off chip, and cycles to its first bytes.
    pub bandwidth: u32,
    /// Cycles.
    pub latency: u32,
    /// MB a second of the link each way, and its nanoseconds.
    pub link: u32,
    /// Nanoseconds.
    pub link_latency: u32,
}

impl Build {
    /// Limbs, special primes, limbs a digit, as the machine takes them where they are not said.
    pub fn most(self) -> [u32; 3] {
        match self {
            Self::Streams { limbs, .. } => [limbs, 1, 1],
            Self::Pool { limbs, special, digits, .. } => {
                [limbs, special, limbs.div_ceil(digits).max(special)]
            }
        }
    }
}

impl Machine {
    /// As the text of a machine.
    ///
    /// # Errors
    /// A value that no machine has.
    pub fn spec(&self) -> Result<MachineSpec, ExploreError> {
        let mut spec = MachineSpec::new(&ENTRY);
        let mut set = |name: &str, value: Value| {
            spec = spec.clone().with(name, value).map_err(MachineError::from)?;
            Ok::<_, ExploreError>(())
        };
        let numbers = match self.build {
            Build::Streams { limbs, lanes } => {
                set("build", STREAMS.into())?;
                vec![("limbs", limbs), ("lanes", lanes)]
            }
            Build::Pool { limbs, special, digits, units, feeds } => {
                set("build", POOL.into())?;
                vec![
                    ("limbs", limbs),
                    ("special", special),
                    ("digits", digits),
                    ("units", units),
                    ("feeds", feeds),
                ]
            }
        };
        let beside = [
            ("log_n", self.log_n),
            ("word", self.word_bits),
            ("clock", self.clock),
            ("bandwidth", self.bandwidth),
            ("latency", self.latency),
            ("link", self.link),
            ("link_latency", self.link_latency),
        ];
        for (name, number) in numbers.into_iter().chain(beside) {
            set(name, u64::from(number).into())?;
        }
        set("multiplier", self.multiplier.name().into())?;
        set("keys", if self.seeded { "seeded" } else { "whole" }.into())?;
        set("costs", "shipped".into())?;
        Ok(spec)
    }

    /// The engine of a text that says all of it.
    ///
    /// # Errors
    /// [`ExploreError::DesignFile`] naming an option that is missing; those of a machine that there is not.
    pub fn read(spec: &MachineSpec) -> Result<Self, ExploreError> {
        let missing = |name: &str| ExploreError::DesignFile {
            why: format!("the machine {spec} does not say its {name}; give {name}="),
        };
        let number = |name: &str| spec.whole(name).map(|n| n as u32).ok_or_else(|| missing(name));
        let text = |name: &str| spec.text(name).ok_or_else(|| missing(name));
        let limbs = number("limbs")?;
        let build = if text("build")? == POOL {
            let (special, digits) = (number("special")?, number("digits")?);
            Build::Pool { limbs, special, digits, units: number("units")?, feeds: number("feeds")? }
        } else {
            Build::Streams { limbs, lanes: number("lanes")? }
        };
        let multiplier = Multiplier::by_name(text("multiplier")?).ok_or_else(|| missing("multiplier"))?;
        let machine = Self {
            build,
            log_n: number("log_n")?,
            word_bits: number("word")?,
            multiplier,
            seeded: text("keys")? == "seeded",
            clock: number("clock")?,
            bandwidth: number("bandwidth")?,
            latency: number("latency")?,
            link: number("link")?,
            link_latency: number("link_latency")?,
        };
        // What combinations there are, the machine knows.
        spec.open()?;
        Ok(machine)
    }
}
