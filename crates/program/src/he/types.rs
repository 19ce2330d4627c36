//! What a value is: its kind, and in a managed program its level and exact scale.

use std::fmt;
use std::sync::Arc;

use super::{Level, Scale};

/// A value of one program: the index of the instruction that defines it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

impl Value {
    /// The index into [`super::Program::instrs`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Which of the two stages a program is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stage {
    /// As a kernel says it: no levels, no scales.
    Traced,
    /// Levels, scales, relinearisation and rescaling explicit.
    Managed,
}

impl Stage {
    /// The word of the text form.
    pub fn word(self) -> &'static str {
        match self {
            Self::Traced => "traced",
            Self::Managed => "managed",
        }
    }
}

/// A managed ciphertext's type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CtType {
    /// Number of polynomials, 2 or 3.
    pub parts: u8,
    /// Level: each part has its limbs.
    pub level: Level,
    /// Exact scale.
    pub scale: Scale,
}

/// A managed plaintext's type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PtType {
    /// Level.
    pub level: Level,
    /// Exact scale.
    pub scale: Scale,
}

/// The type of a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Type {
    /// A ciphertext of a traced program.
    TracedCt,
    /// A plaintext of a traced program.
    TracedPt,
    /// A ciphertext of a managed program.
    Ct(CtType),
    /// A plaintext of a managed program.
    Pt(PtType),
}

impl Type {
    /// A managed ciphertext.
    pub fn ct(parts: u8, level: Level, scale: Scale) -> Self {
        Self::Ct(CtType { parts, level, scale })
    }

    /// A managed plaintext.
    pub fn pt(level: Level, scale: Scale) -> Self {
        Self::Pt(PtType { level, scale })
    }

    /// Whether the value is encrypted.
    pub fn is_ct(&self) -> bool {
        matches!(self, Self::TracedCt | Self::Ct(_))
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TracedCt => f.write_str("ct"),
            Self::TracedPt => f.write_str("pt"),
            Self::Ct(t) => write!(f, "ct[{}](level {}, scale {})", t.parts, t.level, t.scale.to_text()),
            Self::Pt(t) => write!(f, "pt(level {}, scale {})", t.level, t.scale.to_text()),
        }
    }
}

/// A place in the user's source that errors point to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Source {
    /// File name.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u32,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}
