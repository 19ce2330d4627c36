//! What a compact core was built for.

use ringmill_ring::Modulus;

use super::CompactError;
use super::parameters::{PARAMETERS, ROOMY};
use crate::parameter::Parameter;

/// The modular multiplier of a core: `a·b·2^−R mod q` with R of [`Self::factor_bits`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Multiplier {
    /// Word Montgomery by half words, for q ≡ 1 mod 2^(W/2).
    WordMontgomery,
    /// The same with a short product for q = 2^(W−1) + δ·2^(W/2) + 1, −2^11 ≤ δ < 2^11.
    SparseWordMontgomery,
    /// CASA's PRF-FIKO in its integer form, for q = 2^(W−1) + f, 0 < f < 2^(W/2).
    PrfFiko,
    /// Montgomery for any odd q below 2^W.
    Montgomery,
    /// Barrett for any q below 2^W.
    Barrett,
    /// Word Montgomery by words of 13 bits, for q = 2^b + δ·2^13 + 1, 26 ≤ b ≤ W, −2^12 ≤ δ < 2^12: the primes of SEAL and
    /// OpenFHE from N = 2^12 on, of any lengths side by side.
    Ntt,
}

impl Multiplier {
    /// All kinds.
    pub const ALL: [Self; 6] = [
        Self::WordMontgomery,
        Self::SparseWordMontgomery,
        Self::PrfFiko,
        Self::Montgomery,
        Self::Barrett,
        Self::Ntt,
    ];

    /// The kind of a name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The number of the kind in `rm_modmul_pkg`.
    pub const fn code(self) -> u32 {
        self as u32
    }

    /// The name in messages and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::WordMontgomery => "word-montgomery",
            Self::SparseWordMontgomery => "sparse-word-montgomery",
            Self::PrfFiko => "prf-fiko",
            Self::Montgomery => "montgomery",
            Self::Barrett => "barrett",
            Self::Ntt => "ntt",
        }
    }

    /// R for words of `word_bits` bits: a product comes out multiplied by 2^−R.
    pub const fn factor_bits(self, word_bits: u32) -> u32 {
        match self {
            Self::WordMontgomery | Self::SparseWordMontgomery | Self::Montgomery => word_bits,
            Self::PrfFiko => word_bits / 2,
            Self::Barrett => 0,
            Self::Ntt => NTT_WORD * word_bits.div_ceil(NTT_WORD),
        }
    }

    /// The class of primes that it serves, as text.
    const fn class(self) -> &'static str {
        match self {
            Self::WordMontgomery => "q ≡ 1 mod 2^(W/2), q < 2^W",
            Self::SparseWordMontgomery => "q = 2^(W−1) + δ·2^(W/2) + 1, −2^11 ≤ δ < 2^11",
            Self::PrfFiko => "q = 2^(W−1) + f, 0 < f < 2^(W/2)",
            Self::Montgomery | Self::Barrett => "q < 2^W",
            Self::Ntt => "q = 2^b + δ·2^13 + 1 < 2^W, 26 ≤ b ≤ W, −2^12 ≤ δ < 2^12",
        }
    }

    fn serves(self, q: u64, w: u32) -> bool {
        let fits = q >> w == 0;
        fits && match self {
            Self::WordMontgomery => q % (1 << (w / 2)) == 1,
            Self::SparseWordMontgomery => {
                let delta = (q >> (w / 2)) as i64 - (1 << (w / 2 - 1));
                q % (1 << (w / 2)) == 1 && (-(1 << 11)..1 << 11).contains(&delta)
            }
            Self::PrfFiko => q >> (w / 2) == 1 << (w / 2 - 1),
            Self::Montgomery | Self::Barrett => q % 2 == 1,
            Self::Ntt => ntt_length(q, w).is_some(),
        }
    }
}

/// t, bits of a word of [`Multiplier::Ntt`].
pub(super) const NTT_WORD: u32 = 13;
/// Bits of its signed δ.
pub(super) const NTT_DELTA_BITS: u32 = 13;

/// The b of q = 2^b + δ·2^t + 1 in the class of [`Multiplier::Ntt`] for words of `w` bits: next to q, so there is one at most.
pub(super) fn ntt_length(q: u64, w: u32) -> Option<u32> {
    let half = 1i64 << (NTT_DELTA_BITS - 1);
    let near = |b: &u32| (-half..half).contains(&((q as i64 - (1 << b)) >> NTT_WORD));
    if q % (1 << NTT_WORD) == 1 { (NTT_WORD + NTT_DELTA_BITS..=w).find(near) } else { None }
}

/// What a plan is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Policy {
    /// The fewest cycles for the whole program.
    #[default]
    Throughput,
    /// Results as early as possible, on average over the outputs: the limbs that others wait for, special ones above
    /// all, come first, so that their inverse transforms start at once (coxHE, §IV-A).
    LowLatency,
    /// CASA's own key switch, one digit and one special prime whatever the number of limbs: for comparing cycles only.
    Casa,
}

impl Policy {
    /// Those that a core can run.
    pub const RUNNABLE: [Self; 2] = [Self::Throughput, Self::LowLatency];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::LowLatency => "low-latency",
            Self::Casa => "casa",
        }
    }

    /// The one of [`Self::RUNNABLE`] with a name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::RUNNABLE.into_iter().find(|policy| policy.name() == name)
    }
}

/// The memory beside the core, as the model and the scheduler see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MemoryTiming {
    /// Cycles from a read request to its first beat, and from the last beat written to its response.
    pub latency: u32,
    /// Cycles from one beat to the next in each direction: 1 is full speed.
    pub beat_cycles: u32,
}

/// The build-time parameters of a core and its memory. Validated: there is no other way to hold one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CompactConfig(CompactLiteral);

/// The same, as written down. [`PARAMETERS`] says what each may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CompactLiteral {
    /// W, bits of a word on chip.
    pub word_bits: u32,
    /// Butterflies of each of the two transform units.
    pub butterflies: u32,
    /// log2 of the greatest N.
    pub log_n_max: u32,
    /// Entries of the modulus table.
    pub moduli: u32,
    /// The modular multiplier.
    pub multiplier: Multiplier,
    /// Of [`Multiplier::PrfFiko`], q = 2^(W−1) + f: the places of ones of every f, as bits; 0 for any f.
    pub ones: u32,
    /// Bits of a beat of the memory bus.
    pub bus_bits: u32,
    /// Rows that are read ahead.
    pub read_rows: u32,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Speed of the memory.
    pub timing: MemoryTiming,
}

impl Default for CompactLiteral {
    /// The default of each parameter: the core as its top module stands.
    fn default() -> Self {
        let mut literal = Self::ZERO;
        for p in PARAMETERS {
            if let Some(preset) = p.parameter.default {
                (p.set)(&mut literal, &preset.into());
            }
        }
        literal
    }
}

impl CompactLiteral {
    /// Bits of a word on chip that there are.
    pub const WORD_BITS: [u32; 5] = [32, 36, 52, 54, 60];
    /// Butterflies of a lane that there are.
    pub const BUTTERFLIES: [u32; 5] = [1, 2, 4, 8, 16];
    /// Bits of the memory bus that there are.
    pub const BUS_BITS: [u32; 5] = [64, 128, 256, 512, 1024];
    /// Numbers of rows read ahead that there are.
    pub const READ_ROWS: [u32; 5] = [64, 128, 256, 512, 1024];
    /// Most cycles between two beats.
    pub const BEAT_CYCLES_MAX: u32 = 64;
    /// Most cycles to the first beat.
    pub const LATENCY_MAX: u32 = 100_000;

    /// What [`Self::default`] fills in.
    const ZERO: Self = Self {
        word_bits: 0,
        butterflies: 0,
        log_n_max: 0,
        moduli: 0,
        multiplier: Multiplier::Montgomery,
        ones: 0,
        bus_bits: 0,
        read_rows: 0,
        memory_bytes: 0,
        timing: MemoryTiming { latency: 0, beat_cycles: 0 },
    };

    /// The core that runs most programs: the longest words, the greatest degree and the most moduli that there are; all else as by
    /// default.
    pub fn roomy() -> Self {
        let mut literal = Self::default();
        for p in PARAMETERS.iter().filter(|p| ROOMY.contains(&p.parameter.field)) {
            if let Some(most) = p.parameter.allowed.most() {
                (p.set)(&mut literal, &most.into());
            }
        }
        literal
    }

    /// Checks every parameter.
    ///
    /// # Errors
    /// [`CompactError::Parameter`], naming the first one that cannot be built.
    pub fn build(self) -> Result<CompactConfig, CompactError> {
        for p in PARAMETERS {
            let (value, Parameter { field, allowed, .. }) = ((p.get)(&self), &p.parameter);
            if allowed.check(&value).is_err() {
                let (value, allowed) = (value.to_string(), allowed.to_string());
                return Err(CompactError::Parameter { name: field, value, allowed });
            }
        }
        self.check_ones()?;
        Ok(CompactConfig(self))
    }

    /// Places of ones are those of odd f < 2^(W/2), and no other multiplier has any.
    fn check_ones(&self) -> Result<(), CompactError> {
        let Self { ones, multiplier, word_bits, .. } = *self;
        let half = word_bits / 2;
        if ones == 0 || (multiplier == Multiplier::PrfFiko && ones % 2 == 1 && ones >> half == 0) {
            return Ok(());
        }
        let allowed = match multiplier {
            Multiplier::PrfFiko => format!("0, or odd and below 2^{half}, half of the word"),
            other => format!("0 with multiplier={}; prf-fiko alone has places", other.name()),
        };
        Err(CompactError::Parameter { name: "ones", value: ones.to_string(), allowed })
    }

    /// log2 of the smallest N of every core.
    pub const LOG_N_MIN: u32 = 10;
    /// log2 of the greatest N that there is.
    pub const LOG_N_MAX: u32 = 15;
}

impl CompactConfig {
    /// The same, as written down.
    pub const fn literal(&self) -> &CompactLiteral {
        &self.0
    }

    /// W, bits of a word on chip.
    pub const fn word_bits(&self) -> u32 {
        self.0.word_bits
    }

    /// Butterflies of each transform unit.
    pub const fn butterflies(&self) -> u32 {
        self.0.butterflies
    }

    /// log2 of the greatest N.
    pub const fn log_n_max(&self) -> u32 {
        self.0.log_n_max
    }

    /// Entries of the modulus table.
    pub const fn moduli(&self) -> u32 {
        self.0.moduli
    }

    /// The modular multiplier.
    pub const fn multiplier(&self) -> Multiplier {
        self.0.multiplier
    }

    /// Of [`Multiplier::PrfFiko`]: the places of ones of every f, as bits; 0 for any f.
    pub const fn ones(&self) -> u32 {
        self.0.ones
    }

    /// Bits of a beat of the memory bus.
    pub const fn bus_bits(&self) -> u32 {
        self.0.bus_bits
    }

    /// Rows that are read ahead.
    pub const fn read_rows(&self) -> u32 {
        self.0.read_rows
    }

    /// Bytes of memory.
    pub const fn memory_bytes(&self) -> u64 {
        self.0.memory_bytes
    }

    /// Speed of the memory.
    pub const fn timing(&self) -> MemoryTiming {
        self.0.timing
    }

    /// R: a product comes out multiplied by 2^−R.
    pub const fn factor_bits(&self) -> u32 {
        self.0.multiplier.factor_bits(self.0.word_bits)
    }

    /// Words of a row, 2·NBF: what a bank delivers in a cycle.
    pub const fn row_words(&self) -> u32 {
        2 * self.0.butterflies
    }

    /// Rows of a limb of 2^`log_n` words.
    pub const fn rows(&self, log_n: u32) -> u32 {
        (1 << log_n) / self.row_words()
    }

    /// Cycles of one transform if nothing were lost: the slot in which programs are measured.
    pub const fn slot(&self, log_n: u32) -> u64 {
        log_n as u64 * self.rows(log_n) as u64
    }

    /// Checks a degree.
    ///
    /// # Errors
    /// [`CompactError::Degree`] outside of what was built.
    pub const fn check_degree(&self, log_n: u32) -> Result<(), CompactError> {
        let (min, max) = (CompactLiteral::LOG_N_MIN, self.0.log_n_max);
        if min <= log_n && log_n <= max { Ok(()) } else { Err(CompactError::Degree { log_n, min, max }) }
    }

    /// Checks that the multiplier serves a prime.
    ///
    /// # Errors
    /// [`CompactError::ModulusClass`].
    pub fn check_modulus(&self, q: Modulus) -> Result<(), CompactError> {
        let (q, w, kind, ones) = (q.value(), self.0.word_bits, self.0.multiplier, self.0.ones);
        if kind.serves(q, w) {
            // f of the class has half of a word.
            let f = q & ((1 << (w / 2)) - 1);
            if ones == 0 || f & !u64::from(ones) == 0 {
                return Ok(());
            }
            return Err(CompactError::Ones { q, ones, word_bits: w });
        }
        Err(CompactError::ModulusClass { q, multiplier: kind.name(), word_bits: w, class: kind.class() })
    }
}
