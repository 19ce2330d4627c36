//! The operations and the table that says which stage knows which.

use std::sync::Arc;

use super::{Constant, Level, Lookup, Scale, Stage, Value};

/// One operation with its operands.
#[derive(Debug, Clone, PartialEq)]
pub enum Op {
    /// An encrypted input.
    Input(String),
    /// A plaintext given at run time.
    Plain(String),
    /// A constant.
    Const(Constant),
    /// a + b.
    Add(Value, Value),
    /// a − b.
    Sub(Value, Value),
    /// a · b.
    Mul(Value, Value),
    /// −a.
    Neg(Value),
    /// a · a.
    Square(Value),
    /// a\[(i + k) mod S\].
    Rotate {
        /// Operand.
        a: Value,
        /// Slots to the left.
        k: i64,
        /// Number of the hoisting group: all members share the operand.
        hoist: Option<u32>,
    },
    /// Complex conjugate.
    Conj {
        /// Operand.
        a: Value,
        /// Number of the hoisting group.
        hoist: Option<u32>,
    },
    /// Σ_j a\[(i + j·stride) mod S\], 0 ≤ j < count. Traced only.
    Sum {
        /// Operand.
        a: Value,
        /// How many slots are added up.
        count: usize,
        /// Distance between them.
        stride: i64,
    },
    /// From the lowest level to the highest one: a plus 2^bits times a polynomial of small integers, which the program
    /// then removes (bootstrapping).
    Raise {
        /// Operand.
        a: Value,
        /// log2 of q_0 over the operand's scale.
        bits: u32,
    },
    /// The same slots, higher on the chain. Traced only: a circuit takes its place before management.
    Bootstrap {
        /// Operand.
        a: Value,
        /// Bootstrappings in a row; as many as the chain is laid out for if `None`.
        iterations: Option<u32>,
    },
    /// The entry of a table for the whole number in every slot, higher on the chain. Traced only: a bootstrapping takes its place that
    /// gives the entry of what it brings back.
    Lookup {
        /// Operand.
        a: Value,
        /// The table.
        table: Arc<Lookup>,
    },
    /// Ciphertext plus plaintext. Managed only, as all that follow.
    AddPlain(Value, Value),
    /// Ciphertext minus plaintext.
    SubPlain(Value, Value),
    /// Ciphertext times plaintext.
    MulPlain(Value, Value),
    /// Ciphertext plus a real number.
    AddScalar(Value, f64),
    /// Ciphertext times a real number, which is rounded at `scale`.
    MulScalar {
        /// Operand.
        a: Value,
        /// The factor.
        c: f64,
        /// The factor's scale.
        scale: Scale,
    },
    /// Three parts to two.
    Relin(Value),
    /// Divide by q_level.
    Rescale(Value),
    /// Forget the limbs above a level.
    Drop(Value, Level),
}

/// An operation without its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)] // the rows of TABLE say what they are
pub enum OpKind {
    Input,
    Plain,
    Const,
    Add,
    Sub,
    Mul,
    Neg,
    Square,
    Rotate,
    Conj,
    Sum,
    Raise,
    Bootstrap,
    Lookup,
    AddPlain,
    SubPlain,
    MulPlain,
    AddScalar,
    MulScalar,
    Relin,
    Rescale,
    Drop,
}

/// A row of the operation table: kind, word, stages (traced, managed).
const TABLE: [(OpKind, &str, bool, bool); 22] = [
    (OpKind::Input, "input", true, true),
    (OpKind::Plain, "plain", true, true),
    (OpKind::Const, "const", true, true),
    (OpKind::Add, "add", true, true),
    (OpKind::Sub, "sub", true, true),
    (OpKind::Mul, "mul", true, true),
    (OpKind::Neg, "neg", true, true),
    (OpKind::Square, "square", true, true),
    (OpKind::Rotate, "rotate", true, true),
    (OpKind::Conj, "conj", true, true),
    (OpKind::Sum, "sum", true, false),
    (OpKind::Raise, "raise", true, true),
    (OpKind::Bootstrap, "bootstrap", true, false),
    (OpKind::Lookup, "lookup", true, false),
    (OpKind::AddPlain, "add_plain", false, true),
    (OpKind::SubPlain, "sub_plain", false, true),
    (OpKind::MulPlain, "mul_plain", false, true),
    (OpKind::AddScalar, "add_scalar", false, true),
    (OpKind::MulScalar, "mul_scalar", false, true),
    (OpKind::Relin, "relin", false, true),
    (OpKind::Rescale, "rescale", false, true),
    (OpKind::Drop, "drop", false, true),
];

impl OpKind {
    /// The word of the text form.
    pub fn word(self) -> &'static str {
        TABLE.iter().find(|row| row.0 == self).map_or("?", |row| row.1)
    }

    /// The kind of a word.
    pub fn from_word(word: &str) -> Option<Self> {
        TABLE.iter().find(|row| row.1 == word).map(|row| row.0)
    }

    /// Whether a stage knows the operation.
    pub fn allowed_in(self, stage: Stage) -> bool {
        TABLE.iter().any(|row| {
            row.0 == self
                && match stage {
                    Stage::Traced => row.2,
                    Stage::Managed => row.3,
                }
        })
    }

    /// Every kind, in the order of the documentation.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.0)
    }
}

/// At most two operands, without allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operands {
    values: [Value; 2],
    len: u8,
}

impl Operands {
    fn new(list: &[Value]) -> Self {
        let mut values = [Value(0); 2];
        values[..list.len()].copy_from_slice(list);
        Self { values, len: list.len() as u8 }
    }

    /// The operands in order.
    pub fn as_slice(&self) -> &[Value] {
        &self.values[..usize::from(self.len)]
    }
}

impl Op {
    /// The operation without its operands.
    pub fn kind(&self) -> OpKind {
        match self {
            Self::Input(_) => OpKind::Input,
            Self::Plain(_) => OpKind::Plain,
            Self::Const(_) => OpKind::Const,
            Self::Add(..) => OpKind::Add,
            Self::Sub(..) => OpKind::Sub,
            Self::Mul(..) => OpKind::Mul,
            Self::Neg(_) => OpKind::Neg,
            Self::Square(_) => OpKind::Square,
            Self::Rotate { .. } => OpKind::Rotate,
            Self::Conj { .. } => OpKind::Conj,
            Self::Sum { .. } => OpKind::Sum,
            Self::Raise { .. } => OpKind::Raise,
            Self::Bootstrap { .. } => OpKind::Bootstrap,
            Self::Lookup { .. } => OpKind::Lookup,
            Self::AddPlain(..) => OpKind::AddPlain,
            Self::SubPlain(..) => OpKind::SubPlain,
            Self::MulPlain(..) => OpKind::MulPlain,
            Self::AddScalar(..) => OpKind::AddScalar,
            Self::MulScalar { .. } => OpKind::MulScalar,
            Self::Relin(_) => OpKind::Relin,
            Self::Rescale(_) => OpKind::Rescale,
            Self::Drop(..) => OpKind::Drop,
        }
    }

    /// The values that the operation reads.
    pub fn operands(&self) -> Operands {
        match *self {
            Self::Input(_) | Self::Plain(_) | Self::Const(_) => Operands::new(&[]),
            Self::Add(a, b)
            | Self::Sub(a, b)
            | Self::Mul(a, b)
            | Self::AddPlain(a, b)
            | Self::SubPlain(a, b)
            | Self::MulPlain(a, b) => Operands::new(&[a, b]),
            Self::Neg(a)
            | Self::Square(a)
            | Self::Rotate { a, .. }
            | Self::Conj { a, .. }
            | Self::Sum { a, .. }
            | Self::Raise { a, .. }
            | Self::Bootstrap { a, .. }
            | Self::Lookup { a, .. }
            | Self::AddScalar(a, _)
            | Self::MulScalar { a, .. }
            | Self::Relin(a)
            | Self::Rescale(a)
            | Self::Drop(a, _) => Operands::new(&[a]),
        }
    }

    /// The same operation on other values.
    pub fn map_operands(&self, mut f: impl FnMut(Value) -> Value) -> Self {
        let mut op = self.clone();
        match &mut op {
            Self::Input(_) | Self::Plain(_) | Self::Const(_) => {}
            Self::Add(a, b)
            | Self::Sub(a, b)
            | Self::Mul(a, b)
            | Self::AddPlain(a, b)
            | Self::SubPlain(a, b)
            | Self::MulPlain(a, b) => (*a, *b) = (f(*a), f(*b)),
            Self::Neg(a)
            | Self::Square(a)
            | Self::Rotate { a, .. }
            | Self::Conj { a, .. }
            | Self::Sum { a, .. }
            | Self::Raise { a, .. }
            | Self::Bootstrap { a, .. }
            | Self::Lookup { a, .. }
            | Self::AddScalar(a, _)
            | Self::MulScalar { a, .. }
            | Self::Relin(a)
            | Self::Rescale(a)
            | Self::Drop(a, _) => *a = f(*a),
        }
        op
    }

    /// Whether the operation needs a switch key.
    pub fn switches_keys(&self) -> bool {
        matches!(self.kind(), OpKind::Relin | OpKind::Rotate | OpKind::Conj)
    }
}
