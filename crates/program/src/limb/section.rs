//! Sections: runs of instructions that together are one operation of the scheme.
//!
//! A machine of fixed function performs whole operations. [`super::split()`] finds the sections that it serves. A section changes
//! nothing in what a program means, and every other machine ignores it. Its inputs are what its instructions read from outside,
//! its outputs what others read or an output stores ([`LimbProgram::borders`]).

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use super::program::LimbProgram;
use super::types::{Operand, ValueId};

/// An operation of the scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SectionKind {
    /// Product of two ciphertexts, or a square: three polynomials of `limbs` limbs.
    Tensor {
        /// Limbs of each polynomial.
        limbs: u32,
    },
    /// Division of one polynomial of `limbs` limbs by its last `primes` primes.
    Rescale {
        /// Limbs before the division.
        limbs: u32,
        /// Primes of the level.
        primes: u32,
    },
    /// The digits of a polynomial, raised to the primes of the key switches that share them.
    Raise(SwitchShape),
    /// A key switch with its addends and its division.
    KeySwitch {
        /// Method, limbs, digits, special primes.
        shape: SwitchShape,
        /// What it ends with.
        end: SwitchEnd,
        /// Whether its digits come from a [`SectionKind::Raise`].
        hoisted: bool,
        /// The automorphism that the result goes through.
        galois: Option<u64>,
    },
}

/// How the inner product of a key switch is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SwitchMethod {
    /// Modulo all primes of the key.
    Hybrid,
    /// Modulo auxiliary primes, block by block.
    Klss,
    /// As hybrid, with the integers of SEAL: digits are not centred.
    Seal,
    /// As hybrid, with the integers of OpenFHE: neither digits nor the remainder of the division are centred, and an
    /// automorphism stands between inner product and division.
    OpenFhe,
}

/// The size of a key switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SwitchShape {
    /// The method.
    pub method: SwitchMethod,
    /// Limbs of the polynomial that is switched.
    pub limbs: u32,
    /// Special primes.
    pub special: u32,
    /// Limbs of a digit.
    pub alpha: u32,
}

/// What a key switch ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SwitchEnd {
    /// A division by P.
    Divide,
    /// One by P and the primes of a level.
    Rescale {
        /// How many these are.
        primes: u32,
    },
    /// None: the result is P times what it stands for.
    Extended,
}

impl SwitchMethod {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Hybrid, Self::Klss, Self::Seal, Self::OpenFhe];

    /// The word used in text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hybrid => "hybrid",
            Self::Klss => "klss",
            Self::Seal => "seal",
            Self::OpenFhe => "openfhe",
        }
    }
}

/// As in text: `divide`, `rescale`, `rescale by 2` or `extended`.
impl fmt::Display for SwitchEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Divide => f.write_str("divide"),
            Self::Rescale { primes } => write!(f, "rescale{}", By(*primes)),
            Self::Extended => f.write_str("extended"),
        }
    }
}

/// The primes of a level, unless it is one.
struct By(u32);

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 1 { Ok(()) } else { write!(f, " by {}", self.0) }
    }
}

impl fmt::Display for SwitchShape {
    /// Method, limbs, special primes and limbs of a digit, as in `hybrid 26+9/9`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}+{}/{}", self.method.name(), self.limbs, self.special, self.alpha)
    }
}

impl fmt::Display for SectionKind {
    /// As in text, such as `key_switch hybrid 5+2/2 rescale hoisted galois 25`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tensor { limbs } => write!(f, "tensor {limbs}"),
            Self::Rescale { limbs, primes } => write!(f, "rescale {limbs}{}", By(*primes)),
            Self::Raise(shape) => write!(f, "raise {shape}"),
            Self::KeySwitch { shape, end, hoisted, galois } => {
                write!(f, "key_switch {shape} {end}")?;
                if *hoisted {
                    f.write_str(" hoisted")?;
                }
                galois.map_or(Ok(()), |galois| write!(f, " galois {galois}"))
            }
        }
    }
}

/// Instructions `first` .. `end` are one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section {
    /// The operation.
    pub kind: SectionKind,
    /// Its first instruction.
    pub first: u32,
    /// The instruction behind its last one.
    pub end: u32,
}

impl Section {
    /// Its instructions.
    pub const fn range(&self) -> Range<usize> {
        self.first as usize..self.end as usize
    }
}

/// What a run of instructions has in common with the rest of its program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Borders {
    /// Values from before and input limbs that it reads, each once, in the order of the first use.
    pub inputs: Vec<Operand>,
    /// Values that it defines and others read, in the order of their definition. What it stores itself is not among them.
    pub outputs: Vec<ValueId>,
}

impl LimbProgram {
    /// The sections, in order; they do not overlap. Scheduling drops them.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// What instructions `range` read from outside, and which of their values are read outside.
    ///
    /// # Panics
    /// If the range ends beyond [`Self::len`].
    pub fn borders(&self, range: Range<usize>) -> Borders {
        Lives::of(self).borders(range)
    }
}

/// Where each value of a program is defined and read for the last time.
#[derive(Debug)]
pub(super) struct Lives<'p> {
    program: &'p LimbProgram,
    defined_at: Vec<u32>,
    last_use: Vec<u32>,
}

impl<'p> Lives<'p> {
    pub(super) fn of(program: &'p LimbProgram) -> Self {
        let (mut defined_at, mut last_use) = (vec![0; program.values()], vec![0; program.values()]);
        for i in 0..program.len() {
            for v in program.operands(i).iter().filter_map(|o| o.value()) {
                last_use[v.index()] = i as u32;
            }
            if let Some(v) = program.defined(i) {
                defined_at[v.index()] = i as u32;
            }
        }
        Self { program, defined_at, last_use }
    }

    pub(super) fn borders(&self, range: Range<usize>) -> Borders {
        let program = self.program;
        let outside =
            |o: &Operand| o.value().is_none_or(|v| (self.defined_at[v.index()] as usize) < range.start);
        let (mut seen, mut inputs) = (HashSet::new(), Vec::new());
        for i in range.clone() {
            inputs.extend(program.operands(i).iter().filter(|o| outside(o) && seen.insert(**o)));
        }
        let read_behind = |v: &ValueId| self.last_use[v.index()] as usize >= range.end;
        let outputs = range.clone().filter_map(|i| program.defined(i)).filter(read_behind).collect();
        Borders { inputs, outputs }
    }
}
