//! Opcodes and fields of the instructions of the compact core.
//!
//! Made from rtl/core/instructions.json by `python -m rtl.tools isa`.

/// What an instruction does. X is A if it is used, else S; Y is S if A and S are used, else C; mm(a, b) = a·b·2^−R mod q.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Op {
    /// Waits until all is stored, then stops.
    End = 0x00,
    /// Transform of bank A in place.
    Ntt = 0x01,
    /// Inverse transform of bank A in place.
    Intt = 0x02,
    /// Makes roots of the modulus in the unit of bank A; changes no word.
    Roots = 0x03,
    /// d = X.
    Copy = 0x10,
    /// d = X + Y mod q.
    Add = 0x11,
    /// d = X − Y mod q, swapped Y − X.
    Sub = 0x12,
    /// d = X + K0 mod q.
    AddK = 0x13,
    /// d = mm(X >> shift, K0) − K1; K1 is not there in a permuting one.
    MulK = 0x14,
    /// d = mm(X − Y, K0), swapped mm(Y − X, K0).
    SubK = 0x15,
    /// d = mm(X, Y).
    Mul = 0x16,
    /// d = C + mm(A, S).
    Mac = 0x17,
    /// d = C + mm(X >> shift, K0).
    MacK = 0x18,
    /// d = mm(X, K0) − (2X > p ? K1 : 0) mod q, p the modulus `source`.
    Lift = 0x19,
    /// d = (X + K0) >> shift on integers.
    ShrK = 0x1a,
}

impl Op {
    /// All opcodes.
    pub const ALL: [Self; 15] = [
        Self::End,
        Self::Ntt,
        Self::Intt,
        Self::Roots,
        Self::Copy,
        Self::Add,
        Self::Sub,
        Self::AddK,
        Self::MulK,
        Self::SubK,
        Self::Mul,
        Self::Mac,
        Self::MacK,
        Self::Lift,
        Self::ShrK,
    ];

    /// Its name in text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::End => "end",
            Self::Ntt => "ntt",
            Self::Intt => "intt",
            Self::Roots => "roots",
            Self::Copy => "copy",
            Self::Add => "add",
            Self::Sub => "sub",
            Self::AddK => "addk",
            Self::MulK => "mulk",
            Self::SubK => "subk",
            Self::Mul => "mul",
            Self::Mac => "mac",
            Self::MacK => "mack",
            Self::Lift => "lift",
            Self::ShrK => "shrk",
        }
    }
}

/// Some bits of one of the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Field {
    /// Number of the word.
    pub(super) word: usize,
    /// The lowest bit.
    pub(super) low: u32,
    /// How many bits.
    pub(super) bits: u32,
}

/// What it does: `w0[7:0]`.
pub(super) const OPCODE: Field = Field { word: 0, low: 0, bits: 8 };

/// Index of q in the table of moduli: `w0[12:8]`.
pub(super) const MODULUS: Field = Field { word: 0, low: 8, bits: 5 };

/// Index of the modulus of the operand of a lift: `w0[17:13]`.
pub(super) const SOURCE: Field = Field { word: 0, low: 13, bits: 5 };

/// Bank operand A: `w0[20:18]`.
pub(super) const A_BANK: Field = Field { word: 0, low: 18, bits: 3 };

/// Whether A is used: `w0[21]`.
pub(super) const A_USED: Field = Field { word: 0, low: 21, bits: 1 };

/// Bank operand C: `w0[24:22]`.
pub(super) const C_BANK: Field = Field { word: 0, low: 22, bits: 3 };

/// Whether C is used: `w0[25]`.
pub(super) const C_USED: Field = Field { word: 0, low: 25, bits: 1 };

/// The bank of the result D: `w0[28:26]`.
pub(super) const D_BANK: Field = Field { word: 0, low: 26, bits: 3 };

/// Whether D goes into a bank: `w0[29]`.
pub(super) const D_TO_BANK: Field = Field { word: 0, low: 29, bits: 1 };

/// Whether D goes to memory: `w0[30]`.
pub(super) const D_TO_MEM: Field = Field { word: 0, low: 30, bits: 1 };

/// Whether S, a limb from memory, is used: `w0[31]`.
pub(super) const S_USED: Field = Field { word: 0, low: 31, bits: 1 };

/// Where D goes in memory, in units of 64 bytes: `w0[63:32]`.
pub(super) const D_ADDR: Field = Field { word: 0, low: 32, bits: 32 };

/// Where S comes from, in units of 64 bytes: `w1[31:0]`.
pub(super) const S_ADDR: Field = Field { word: 1, low: 0, bits: 32 };

/// S may be fetched when this number of stores is complete, modulo 2^16: `w1[47:32]`.
pub(super) const AFTER: Field = Field { word: 1, low: 32, bits: 16 };

/// Bits that X, or the sum of `shrk`, is shifted right by: `w1[53:48]`.
pub(super) const SHIFT: Field = Field { word: 1, low: 48, bits: 6 };

/// Whether A is read through the automorphism of the Galois element K1: `w1[54]`.
pub(super) const PERMUTE: Field = Field { word: 1, low: 54, bits: 1 };

/// Whether X and Y of a difference are exchanged: `w1[55]`.
pub(super) const SWAP: Field = Field { word: 1, low: 55, bits: 1 };

/// Zero: `w1[63:56]`.
pub(super) const RESERVED: Field = Field { word: 1, low: 56, bits: 8 };

/// The first constant: `w2[63:0]`.
pub(super) const K0: Field = Field { word: 2, low: 0, bits: 64 };

/// The second constant, or a Galois element: `w3[63:0]`.
pub(super) const K1: Field = Field { word: 3, low: 0, bits: 64 };
