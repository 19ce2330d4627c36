//! What a compact core was built for.

use ringmill_ring::Modulus;

use super::CompactError;

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

    /// The number of the kind in `modmul_pkg`.
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

    /// The primes it serves, in words.
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
    /// One beat every so many cycles in each direction: 1 is full speed.
    pub beat_cycles: u32,
}

/// The build-time parameters of a core and its memory. Validated: there is no other way to hold one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CompactConfig {
    word_bits: u32,
    butterflies: u32,
    log_n_max: u32,
    moduli: u32,
    multiplier: Multiplier,
    bus_bits: u32,
    memory_bytes: u64,
    timing: MemoryTiming,
}

/// The same, as written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CompactLiteral {
    /// W, bits of a word on chip: 36, 52, 54 or 60.
    pub word_bits: u32,
    /// Butterflies of each of the two transform units: 1, 2, 4, 8 or 16.
    pub butterflies: u32,
    /// log2 of the greatest N, 10 to 15.
    pub log_n_max: u32,
    /// Entries of the modulus table, 2 to 32.
    pub moduli: u32,
    /// The modular multiplier.
    pub multiplier: Multiplier,
    /// Bits of a beat of the memory bus: 64 to 1024.
    pub bus_bits: u32,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Speed of the memory.
    pub timing: MemoryTiming,
}

impl Default for CompactLiteral {
    /// Four butterflies, any prime of up to 60 bits, N up to 2^15, 512-bit bus, 4 GiB.
    fn default() -> Self {
        Self {
            word_bits: 60,
            butterflies: 4,
            log_n_max: 15,
            moduli: 32,
            multiplier: Multiplier::Montgomery,
            bus_bits: 512,
            memory_bytes: 4 << 30,
            timing: MemoryTiming { latency: 40, beat_cycles: 1 },
        }
    }
}

impl CompactLiteral {
    /// Bits of a word on chip that there are.
    pub const WORD_BITS: [u32; 4] = [36, 52, 54, 60];
    /// Butterflies of a lane that there are.
    pub const BUTTERFLIES: [u32; 5] = [1, 2, 4, 8, 16];
    /// Bits of the memory bus that there are.
    pub const BUS_BITS: [u32; 5] = [64, 128, 256, 512, 1024];
    /// Most cycles between two beats.
    pub const BEAT_CYCLES_MAX: u32 = 64;
    /// Most cycles to the first beat.
    pub const LATENCY_MAX: u32 = 100_000;

    /// Checks every parameter.
    ///
    /// # Errors
    /// [`CompactError::Parameter`], naming the first one that cannot be built.
    pub fn build(self) -> Result<CompactConfig, CompactError> {
        let check = |ok: bool, name: &'static str, value: u64, allowed: &'static str| {
            if ok { Ok(()) } else { Err(CompactError::Parameter { name, value, allowed }) }
        };
        let w = self.word_bits;
        check(Self::WORD_BITS.contains(&w), "word_bits", w.into(), "36, 52, 54 or 60")?;
        let b = self.butterflies;
        check(Self::BUTTERFLIES.contains(&b), "butterflies", b.into(), "1, 2, 4, 8 or 16")?;
        let n = self.log_n_max;
        check((Self::LOG_N_MIN..=15).contains(&n), "log_n_max", n.into(), "10 to 15")?;
        check((2..=32).contains(&self.moduli), "moduli", self.moduli.into(), "2 to 32")?;
        let bus = self.bus_bits;
        check(Self::BUS_BITS.contains(&bus), "bus_bits", bus.into(), "64, 128, 256, 512 or 1024")?;
        let bytes = self.memory_bytes;
        check((1 << 16..=1 << 38).contains(&bytes), "memory_bytes", bytes, "2^16 to 2^38")?;
        let cycles = self.timing.beat_cycles;
        check((1..=Self::BEAT_CYCLES_MAX).contains(&cycles), "beat_cycles", cycles.into(), "1 to 64")?;
        let latency = self.timing.latency;
        check((1..=Self::LATENCY_MAX).contains(&latency), "latency", latency.into(), "1 to 100000")?;
        Ok(CompactConfig {
            word_bits: w,
            butterflies: b,
            log_n_max: n,
            moduli: self.moduli,
            multiplier: self.multiplier,
            bus_bits: bus,
            memory_bytes: bytes,
            timing: self.timing,
        })
    }

    /// log2 of the smallest N of every core.
    pub const LOG_N_MIN: u32 = 10;
}

impl CompactConfig {
    /// W, bits of a word on chip.
    pub const fn word_bits(&self) -> u32 {
        self.word_bits
    }

    /// Butterflies of each transform unit.
    pub const fn butterflies(&self) -> u32 {
        self.butterflies
    }

    /// log2 of the greatest N.
    pub const fn log_n_max(&self) -> u32 {
        self.log_n_max
    }

    /// Entries of the modulus table.
    pub const fn moduli(&self) -> u32 {
        self.moduli
    }

    /// The modular multiplier.
    pub const fn multiplier(&self) -> Multiplier {
        self.multiplier
    }

    /// Bits of a beat of the memory bus.
    pub const fn bus_bits(&self) -> u32 {
        self.bus_bits
    }

    /// Bytes of memory.
    pub const fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }

    /// Speed of the memory.
    pub const fn timing(&self) -> MemoryTiming {
        self.timing
    }

    /// R: a product comes out multiplied by 2^−R.
    pub const fn factor_bits(&self) -> u32 {
        self.multiplier.factor_bits(self.word_bits)
    }

    /// Words of a row, 2·NBF: what a bank delivers in a cycle.
    pub const fn row_words(&self) -> u32 {
        2 * self.butterflies
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
        let (min, max) = (CompactLiteral::LOG_N_MIN, self.log_n_max);
        if min <= log_n && log_n <= max { Ok(()) } else { Err(CompactError::Degree { log_n, min, max }) }
    }

    /// Checks that the multiplier serves a prime.
    ///
    /// # Errors
    /// [`CompactError::ModulusClass`].
    pub fn check_modulus(&self, q: Modulus) -> Result<(), CompactError> {
        let (q, w, kind) = (q.value(), self.word_bits, self.multiplier);
        if kind.serves(q, w) {
            return Ok(());
        }
        Err(CompactError::ModulusClass { q, multiplier: kind.name(), word_bits: w, class: kind.class() })
    }
}
