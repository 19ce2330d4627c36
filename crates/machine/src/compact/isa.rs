//! The instructions of the compact core and their 32 bytes.

#[rustfmt::skip]
mod printed;

use super::error::IllegalInstruction as Illegal;
use printed::{self as at, Field};

pub use printed::Op;

/// Where a limb is: 0 and 1 are banks of lane 0, 2 and 3 of lane 1, 4 and 5 are the accumulators. 6 and 7 are
/// pairs, 0 with 2 and 1 with 3. The first half of the limb is in the first half of the bank of lane 0, the
/// second half in the first half of the bank of lane 1. So both transform units work on it together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bank(u8);

impl Bank {
    /// Number of banks.
    pub const COUNT: usize = 6;
    /// Banks and pairs of them.
    pub const CODES: usize = 8;
    /// Banks that the transform units reach.
    pub const IN_LANES: usize = 4;
    /// Banks of each transform unit.
    pub const PER_LANE: usize = 2;

    /// Bank or pair `index`, if there is one.
    pub const fn new(index: usize) -> Option<Self> {
        if index < Self::CODES { Some(Self(index as u8)) } else { None }
    }

    /// All banks, no pairs.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> + Clone {
        (0..Self::COUNT as u8).map(Self)
    }

    /// The pairs.
    pub fn pairs() -> impl DoubleEndedIterator<Item = Self> + Clone {
        (Self::COUNT as u8..Self::CODES as u8).map(Self)
    }

    /// Its number.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Whether it is two banks.
    #[inline]
    pub const fn is_pair(self) -> bool {
        self.index() >= Self::COUNT
    }

    /// The bank itself, or the two of a pair, that of lane 0 first.
    #[inline]
    pub fn parts(self) -> impl DoubleEndedIterator<Item = Self> + Clone {
        let first = if self.is_pair() { self.0 - Self::COUNT as u8 } else { self.0 };
        let second = self.is_pair().then_some(Self(first + Self::PER_LANE as u8));
        [Some(Self(first)), second].into_iter().flatten()
    }

    /// Whether both name some bank.
    #[inline]
    pub const fn overlaps(self, other: Self) -> bool {
        self.mask() & other.mask() != 0
    }

    /// One bit for each bank that it is.
    #[inline]
    const fn mask(self) -> u8 {
        if self.is_pair() { (1 | 1 << Self::PER_LANE) << (self.0 - Self::COUNT as u8) } else { 1 << self.0 }
    }

    /// Whether transform units reach it.
    #[inline]
    pub const fn in_lanes(self) -> bool {
        self.index() < Self::IN_LANES || self.is_pair()
    }

    /// The transform unit that reaches it, if it is one alone.
    #[inline]
    pub const fn lane(self) -> Option<usize> {
        if self.index() < Self::IN_LANES { Some(self.index() / Self::PER_LANE) } else { None }
    }
}

impl Op {
    /// Whether it transforms a bank.
    pub const fn is_transform(self) -> bool {
        matches!(self, Self::Ntt | Self::Intt)
    }

    /// Whether it waits in the queue of a transform unit.
    pub const fn is_in_lane(self) -> bool {
        matches!(self, Self::Ntt | Self::Intt | Self::Roots)
    }

    /// Whether it runs in the arithmetic unit.
    pub const fn is_arithmetic(self) -> bool {
        self as u8 >= Self::Copy as u8
    }
}

/// The limb read from memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stream {
    /// Its address in units of 64 bytes.
    pub address: u32,
    /// It may be fetched when this number of stores is complete, modulo 2^16.
    pub after: u16,
}

/// One instruction. X is A if used, else S; Y is S if A and S are used, else C.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Instruction {
    /// What it does.
    pub op: Op,
    /// Index of q in the modulus table.
    pub modulus: u8,
    /// Index of the modulus of the operand of a lift.
    pub source: u8,
    /// Bank operand A.
    pub a: Option<Bank>,
    /// Bank operand C.
    pub c: Option<Bank>,
    /// The bank of the result.
    pub d: Option<Bank>,
    /// Where the result goes in memory, in units of 64 bytes.
    pub store: Option<u32>,
    /// Memory operand S.
    pub s: Option<Stream>,
    /// Bits that X is shifted right by (`mulk`, `mack`), or the sum (`shrk`).
    pub shift: u8,
    /// Reads A through the automorphism of this Galois element.
    pub permute: Option<u32>,
    /// Exchanges X and Y in a difference.
    pub swap: bool,
    /// The first constant.
    pub k0: u64,
    /// The second constant of a lift or of `mulk`.
    pub k1: u64,
}

/// Bytes of an encoded instruction.
pub const INSTRUCTION_BYTES: u64 = 32;
/// Words of an encoded instruction.
pub const INSTRUCTION_WORDS: usize = 4;
/// Bytes of the unit in which addresses count.
pub const ADDRESS_UNIT: u64 = 64;
/// Bits of a Galois element.
const GALOIS_BITS: u32 = 18;

impl Field {
    /// Its value in an instruction.
    const fn get(self, words: &[u64; INSTRUCTION_WORDS]) -> u64 {
        words[self.word] >> self.low & (u64::MAX >> (u64::BITS - self.bits))
    }

    /// A word with this value in the field; the value fits.
    const fn put(self, value: u64) -> u64 {
        value << self.low
    }
}

impl Instruction {
    /// An instruction with nothing set but the opcode.
    pub const fn new(op: Op) -> Self {
        Self {
            op,
            modulus: 0,
            source: 0,
            a: None,
            c: None,
            d: None,
            store: None,
            s: None,
            shift: 0,
            permute: None,
            swap: false,
            k0: 0,
            k1: 0,
        }
    }

    /// The words w0 … w3.
    pub fn encode(&self) -> [u64; INSTRUCTION_WORDS] {
        let mut words = [0; INSTRUCTION_WORDS];
        let mut put = |field: Field, value: u64| words[field.word] |= field.put(value);
        put(at::OPCODE, self.op as u64);
        put(at::MODULUS, self.modulus.into());
        put(at::SOURCE, self.source.into());
        let banks = [
            (self.a, at::A_BANK, at::A_USED),
            (self.c, at::C_BANK, at::C_USED),
            (self.d, at::D_BANK, at::D_TO_BANK),
        ];
        for (bank, index, used) in banks {
            put(index, bank.map_or(0, |b| b.index() as u64));
            put(used, bank.is_some().into());
        }
        put(at::D_TO_MEM, self.store.is_some().into());
        put(at::D_ADDR, self.store.unwrap_or_default().into());
        put(at::S_USED, self.s.is_some().into());
        put(at::S_ADDR, self.s.map_or(0, |s| s.address.into()));
        put(at::AFTER, self.s.map_or(0, |s| s.after.into()));
        put(at::SHIFT, self.shift.into());
        put(at::PERMUTE, self.permute.is_some().into());
        put(at::SWAP, self.swap.into());
        put(at::K0, self.k0);
        put(at::K1, self.permute.map_or(self.k1, u64::from));
        words
    }

    /// The instruction of four words, for a table of `moduli` entries.
    ///
    /// # Errors
    /// Whatever the core would stop at.
    pub fn decode(words: [u64; INSTRUCTION_WORDS], moduli: u32) -> Result<Self, Illegal> {
        let get = |field: Field| field.get(&words);
        let is = |field: Field| get(field) == 1;
        let code = get(at::OPCODE) as u8;
        let op = Op::ALL.into_iter().find(|&op| op as u8 == code).ok_or(Illegal::Opcode(code))?;
        let bank = |index: Field, used: Field| {
            let index = get(index) as u8;
            match (is(used), Bank::new(index.into())) {
                (false, _) if index == 0 => Ok(None),
                (false, _) => Err(Illegal::Reserved),
                (true, None) => Err(Illegal::Bank(index)),
                (true, found) => Ok(found),
            }
        };
        let (permute, has_s, to_memory) = (is(at::PERMUTE), is(at::S_USED), is(at::D_TO_MEM));
        let stream = Stream { address: get(at::S_ADDR) as u32, after: get(at::AFTER) as u16 };
        let (address, k1) = (get(at::D_ADDR) as u32, get(at::K1));
        let decoded = Self {
            op,
            modulus: get(at::MODULUS) as u8,
            source: get(at::SOURCE) as u8,
            a: bank(at::A_BANK, at::A_USED)?,
            c: bank(at::C_BANK, at::C_USED)?,
            d: bank(at::D_BANK, at::D_TO_BANK)?,
            store: to_memory.then_some(address),
            s: has_s.then_some(stream),
            shift: get(at::SHIFT) as u8,
            permute: permute.then_some(k1 as u32),
            swap: is(at::SWAP),
            k0: get(at::K0),
            k1: if permute { 0 } else { k1 },
        };
        let unused = (!to_memory && address != 0)
            || (!has_s && (stream.address != 0 || stream.after != 0))
            || (permute && k1 >> GALOIS_BITS != 0);
        if get(at::RESERVED) != 0 || unused {
            return Err(Illegal::Reserved);
        }
        decoded.check(moduli)?;
        Ok(decoded)
    }

    /// Whether the core takes it.
    ///
    /// # Errors
    /// The first rule broken.
    pub fn check(&self, moduli: u32) -> Result<(), Illegal> {
        for modulus in [self.modulus, self.source] {
            if u32::from(modulus) >= moduli {
                return Err(Illegal::Modulus(modulus));
            }
        }
        if !self.takes_operands() {
            return Err(Illegal::Operands(self.op.name()));
        }
        if let Some(a) = self.a.filter(|a| self.op.is_in_lane() && !a.in_lanes()) {
            return Err(Illegal::Bank(a.index() as u8));
        }
        let split = |x: Option<Bank>, y: Option<Bank>| {
            x.zip(y).filter(|(x, y)| x != y && x.overlaps(*y)).map(|(x, y)| x.max(y))
        };
        let split = split(self.a, self.c).or_else(|| split(self.a, self.d)).or_else(|| split(self.c, self.d));
        if let Some(pair) = split {
            return Err(Illegal::Split(pair.index() as u8));
        }
        if let Some(g) = self.permute {
            let in_place = self.a.is_none() || self.a == self.d || self.a == self.c;
            if in_place || g % 2 == 0 || g >> GALOIS_BITS != 0 || self.op == Op::Lift {
                return Err(Illegal::Permutation);
            }
        }
        Ok(())
    }

    fn takes_operands(&self) -> bool {
        let used = (self.a.is_some(), self.c.is_some(), self.s.is_some());
        let result = self.d.is_some() || self.store.is_some();
        if self.swap && !matches!(self.op, Op::Sub | Op::SubK) {
            return false;
        }
        match self.op {
            Op::End => used == (false, false, false) && !result,
            Op::Ntt | Op::Intt | Op::Roots => {
                used == (true, false, false) && !result && self.permute.is_none()
            }
            Op::Copy | Op::AddK | Op::MulK | Op::Lift | Op::ShrK => {
                result && matches!(used, (true, false, false) | (false, false, true))
            }
            Op::Add | Op::Sub | Op::SubK | Op::Mul => {
                result && matches!(used, (true, true, false) | (true, false, true) | (false, true, true))
            }
            Op::Mac => result && used == (true, true, true),
            Op::MacK => result && matches!(used, (true, true, false) | (false, true, true)),
        }
    }

    /// Whether it is a transform on both lanes at once.
    pub fn is_ganged(&self) -> bool {
        self.op.is_transform() && self.a.is_some_and(Bank::is_pair)
    }

    /// The banks it uses, each once, both of a pair.
    pub fn banks(&self) -> impl Iterator<Item = Bank> + use<> {
        // Of `roots` the bank only says which unit.
        let [a, c, d] = [self.a.filter(|_| self.op != Op::Roots), self.c, self.d];
        let c = c.filter(|_| c != a);
        let d = d.filter(|_| d != a && d != self.c);
        [a, c, d].into_iter().flatten().flat_map(Bank::parts)
    }
}
