//! Instruction sets by name, their detection, and the one place where compiled-for-the-CPU code is entered.

use std::{ffi::OsStr, fmt, str::FromStr, sync::OnceLock};

#[cfg(target_arch = "aarch64")]
use super::Neon;
#[cfg(target_arch = "x86_64")]
use super::{Avx2, Avx512, Avx512Ifma};
use super::{Emulated, Kernel, Scalar};
use crate::RingError;

/// An instruction set that kernels are built for; also its plain-code twins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Isa {
    /// One lane in plain code.
    Scalar,
    /// Four lanes in plain code: the twin of [`Isa::Neon`] and [`Isa::Avx2`].
    Emulated4,
    /// Eight lanes in plain code with 52-bit multiply-add: the twin of [`Isa::Ifma`].
    Emulated8,
    /// NEON, four lanes in two registers.
    Neon,
    /// AVX2 and FMA, four lanes.
    Avx2,
    /// AVX-512, eight lanes.
    Avx512,
    /// AVX-512 with 52-bit multiply-add and VBMI2, eight lanes.
    Ifma,
}

impl Isa {
    /// All of them, slowest first.
    pub const ALL: [Self; 7] =
        [Self::Scalar, Self::Emulated4, Self::Emulated8, Self::Neon, Self::Avx2, Self::Avx512, Self::Ifma];
    /// The environment variable that overrides detection.
    pub const VARIABLE: &'static str = "RINGMILL_ISA";

    /// The name, as `RINGMILL_ISA` takes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Emulated4 => "emulated4",
            Self::Emulated8 => "emulated8",
            Self::Neon => "neon",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Ifma => "ifma",
        }
    }

    /// Words in a vector.
    pub const fn width(self) -> usize {
        match self {
            Self::Scalar => 1,
            Self::Emulated4 | Self::Neon | Self::Avx2 => 4,
            Self::Emulated8 | Self::Avx512 | Self::Ifma => 8,
        }
    }

    /// Whether products of 64-bit words take fewer instructions on its lanes than on one lane: [`super::U64Lanes::PRODUCTS64`].
    pub(crate) const fn has_products64(self) -> bool {
        !matches!(self, Self::Neon)
    }

    /// Whether this CPU executes it.
    pub fn is_available(self) -> bool {
        Token::detect(self).is_some()
    }

    /// Those that this CPU executes, slowest first.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|isa| isa.is_available())
    }

    /// The best native instruction set of this CPU, or what `RINGMILL_ISA` names. Decided once a process.
    ///
    /// # Errors
    /// [`RingError::UnknownIsa`] and [`RingError::IsaUnavailable`], if the variable names none or one that the CPU lacks.
    pub fn detect() -> Result<Self, RingError> {
        static CHOICE: OnceLock<Result<Isa, RingError>> = OnceLock::new();
        CHOICE
            .get_or_init(|| Self::choose(std::env::var_os(Self::VARIABLE).as_deref(), Self::is_available))
            .clone()
    }

    /// [`Isa::detect`] for a given value of the variable, on a CPU that executes what `executes` says; a value that is no
    /// UTF-8 names none.
    pub(crate) fn choose(name: Option<&OsStr>, executes: fn(Self) -> bool) -> Result<Self, RingError> {
        match name {
            Some(name) if !name.is_empty() => {
                let isa: Self = name.to_string_lossy().parse()?;
                if executes(isa) { Ok(isa) } else { Err(isa.unavailable(executes)) }
            }
            _ => {
                let fastest = Self::ALL.into_iter().rev().find(|isa| !isa.is_emulated() && executes(*isa));
                Ok(fastest.unwrap_or(Self::Scalar))
            }
        }
    }

    /// What is wrong with asking for it on a CPU that executes what `executes` says.
    fn unavailable(self, executes: fn(Self) -> bool) -> RingError {
        let available: Vec<_> = Self::ALL.into_iter().filter(|&isa| executes(isa)).map(Self::name).collect();
        RingError::IsaUnavailable { isa: self, available: available.join(", ") }
    }

    /// The plain-code twin whose kernels take the same steps.
    pub const fn twin(self) -> Self {
        match self {
            Self::Emulated8 | Self::Ifma => Self::Emulated8,
            Self::Scalar | Self::Emulated4 | Self::Neon | Self::Avx2 | Self::Avx512 => Self::Emulated4,
        }
    }

    /// Whether it is a plain-code twin, for tests.
    pub const fn is_emulated(self) -> bool {
        matches!(self, Self::Emulated4 | Self::Emulated8)
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Isa {
    type Err = RingError;

    fn from_str(name: &str) -> Result<Self, RingError> {
        Self::ALL.into_iter().find(|isa| isa.name() == name).ok_or_else(|| RingError::UnknownIsa {
            name: name.into(),
            known: Self::ALL.map(Self::name).join(", "),
        })
    }
}

/// An instruction set that this CPU is known to execute.
#[derive(Debug, Clone, Copy)]
pub struct Backend(Token);

#[derive(Debug, Clone, Copy)]
enum Token {
    Scalar,
    Emulated4,
    Emulated8,
    #[cfg(target_arch = "aarch64")]
    Neon(Neon),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
    #[cfg(target_arch = "x86_64")]
    Ifma(Avx512Ifma),
}

impl Token {
    /// Asks the CPU.
    fn detect(isa: Isa) -> Option<Self> {
        match isa {
            Isa::Scalar => Some(Self::Scalar),
            Isa::Emulated4 => Some(Self::Emulated4),
            Isa::Emulated8 => Some(Self::Emulated8),
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => Neon::detect().map(Self::Neon),
            #[cfg(not(target_arch = "aarch64"))]
            Isa::Neon => None,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => Avx2::detect().map(Self::Avx2),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => Avx512::detect().map(Self::Avx512),
            #[cfg(target_arch = "x86_64")]
            Isa::Ifma => Avx512Ifma::detect().map(Self::Ifma),
            #[cfg(not(target_arch = "x86_64"))]
            Isa::Avx2 | Isa::Avx512 | Isa::Ifma => None,
        }
    }
}

impl Backend {
    /// Asks the CPU.
    ///
    /// # Errors
    /// [`RingError::IsaUnavailable`] if the CPU lacks the instructions.
    pub fn new(isa: Isa) -> Result<Self, RingError> {
        Token::detect(isa).map(Self).ok_or_else(|| isa.unavailable(Isa::is_available))
    }

    /// Its name.
    pub const fn isa(self) -> Isa {
        match self.0 {
            Token::Scalar => Isa::Scalar,
            Token::Emulated4 => Isa::Emulated4,
            Token::Emulated8 => Isa::Emulated8,
            #[cfg(target_arch = "aarch64")]
            Token::Neon(_) => Isa::Neon,
            #[cfg(target_arch = "x86_64")]
            Token::Avx2(_) => Isa::Avx2,
            #[cfg(target_arch = "x86_64")]
            Token::Avx512(_) => Isa::Avx512,
            #[cfg(target_arch = "x86_64")]
            Token::Ifma(_) => Isa::Ifma,
        }
    }

    /// Runs a kernel on it: [`Kernel::run52`] on [`Isa::Ifma`] and its twin [`Isa::Emulated8`], [`Kernel::run`] elsewhere.
    #[inline]
    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self.0 {
            Token::Scalar => kernel.run(Scalar),
            Token::Emulated4 => kernel.run(Emulated::<4>),
            Token::Emulated8 => kernel.run52(Emulated::<8>),
            #[cfg(target_arch = "aarch64")]
            // SAFETY: the token proves that the CPU has the instructions the entry is compiled for; so below.
            Token::Neon(t) => unsafe { enter_neon(t, kernel) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Token::Avx2(t) => unsafe { enter_avx2(t, kernel) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Token::Avx512(t) => unsafe { enter_avx512(t, kernel) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Token::Ifma(t) => unsafe { enter_ifma(t, kernel) },
        }
    }
}

#[cfg(target_arch = "aarch64")]
#[target_feature(enable = "neon")]
fn enter_neon<K: Kernel>(token: Neon, kernel: K) -> K::Output {
    kernel.run(token)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi2")]
fn enter_avx2<K: Kernel>(token: Avx2, kernel: K) -> K::Output {
    kernel.run(token)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma,bmi2")]
fn enter_avx512<K: Kernel>(token: Avx512, kernel: K) -> K::Output {
    kernel.run(token)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx512ifma,avx512vbmi2,avx2,fma,bmi2")]
fn enter_ifma<K: Kernel>(token: Avx512Ifma, kernel: K) -> K::Output {
    kernel.run52(token)
}
