//! Kinds of instructions, by which a machine chooses units, and classes of limbs, by which it chooses memories.

/// What an instruction does, as far as units differ by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs)] // Most are opcodes of the limb program; ABOUT says what the others are.
pub enum Kind {
    Ntt,
    Intt,
    Add,
    Sub,
    Neg,
    Mul,
    Mac,
    MulConst,
    AddConst,
    SubMulConst,
    Lift,
    Quotient,
    Convert,
    ConvertFast,
    Dot,
    Automorphism,
    Scale,
    DotKey,
    DotPlain,
    MulPlain,
    MacPlain,
}

impl Kind {
    /// How many there are.
    pub const COUNT: usize = 21;

    /// All of them, in order.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Ntt,
        Self::Intt,
        Self::Add,
        Self::Sub,
        Self::Neg,
        Self::Mul,
        Self::Mac,
        Self::MulConst,
        Self::AddConst,
        Self::SubMulConst,
        Self::Lift,
        Self::Quotient,
        Self::Convert,
        Self::ConvertFast,
        Self::Dot,
        Self::Automorphism,
        Self::Scale,
        Self::DotKey,
        Self::DotPlain,
        Self::MulPlain,
        Self::MacPlain,
    ];

    /// Its name in descriptions.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ntt => "ntt",
            Self::Intt => "intt",
            Self::Add => "add",
            Self::Sub => "sub",
            Self::Neg => "neg",
            Self::Mul => "mul",
            Self::Mac => "mac",
            Self::MulConst => "mul_const",
            Self::AddConst => "add_const",
            Self::SubMulConst => "sub_mul_const",
            Self::Lift => "lift",
            Self::Quotient => "quotient",
            Self::Convert => "convert",
            Self::ConvertFast => "convert_fast",
            Self::Dot => "dot",
            Self::Automorphism => "automorphism",
            Self::Scale => "scale",
            Self::DotKey => "dot_key",
            Self::DotPlain => "dot_plain",
            Self::MulPlain => "mul_plain",
            Self::MacPlain => "mac_plain",
        }
    }

    /// What runs it where a description does not say: `scale` is a `mul_const` of coefficients, the others are products with keys
    /// and with plaintexts.
    pub const fn otherwise(self) -> Option<Self> {
        match self {
            Self::Scale => Some(Self::MulConst),
            Self::DotKey | Self::DotPlain => Some(Self::Dot),
            Self::MulPlain => Some(Self::Mul),
            Self::MacPlain => Some(Self::Mac),
            _ => None,
        }
    }

    /// Whether it reads one limb and nothing else, so that it can be part of the instruction before or behind it.
    pub const fn joins(self) -> bool {
        matches!(
            self,
            Self::Ntt
                | Self::Intt
                | Self::Neg
                | Self::MulConst
                | Self::AddConst
                | Self::Lift
                | Self::Automorphism
                | Self::Scale
        )
    }

    /// The kind of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// What a limb belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Class {
    /// The result of an instruction.
    Value,
    /// Of an evaluation key.
    Key,
    /// Of the uniform half of an evaluation key, which a seed can stand for.
    SeededKey,
    /// Of an encoded plaintext.
    Plain,
    /// Of a ciphertext.
    Data,
}

impl Class {
    /// All of them, in order.
    pub const ALL: [Self; 5] = [Self::Value, Self::Key, Self::SeededKey, Self::Plain, Self::Data];

    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::Key => "key",
            Self::SeededKey => "seeded key",
            Self::Plain => "plain",
            Self::Data => "data",
        }
    }

    /// Its name in descriptions, where both halves of a key are one class.
    pub const fn stored(self) -> &'static str {
        match self {
            Self::SeededKey => "key",
            _ => self.name(),
        }
    }
}
