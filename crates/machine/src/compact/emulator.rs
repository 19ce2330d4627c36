//! The instruction set as an executable specification: one instruction after the other, canonical integers, no time.
//!
//! It refuses what the hardware would refuse, and also what the hardware could only get wrong: a read from memory that
//! does not wait for the store whose words it needs.

use ringmill_ring::Modulus;

use super::core::{Core, Counters};
use super::error::IllegalInstruction as Illegal;
use super::isa::{ADDRESS_UNIT, Bank, INSTRUCTION_WORDS, Instruction, Op, Stream};
use super::product::{Product, low_bits};
use super::{CompactConfig, CompactError, TableEntry};

/// Words of an address unit.
const UNIT_WORDS: usize = ADDRESS_UNIT as usize / 8;

/// One modulus as the table has it. Words that should be below q and are not give some word of W bits.
#[derive(Debug, Clone)]
struct Entry {
    q: u64,
    /// 2^W − 1.
    mask: u64,
    product: Product,
    roots: Vec<u64>,
}

impl Entry {
    /// a·b·2^−R mod q for any word a, if the constant in the table is right.
    fn mm(&self, a: u64, b: u64) -> u64 {
        self.product.of(a, b)
    }

    /// a + b mod q.
    const fn add(&self, a: u64, b: u64) -> u64 {
        let sum = a + b;
        (if sum >= self.q { sum - self.q } else { sum }) & self.mask
    }

    /// a − b mod q.
    const fn sub(&self, a: u64, b: u64) -> u64 {
        (if a >= b { a - b } else { (a + self.q).wrapping_sub(b) }) & self.mask
    }

    /// The roots of stage `s`: T(0) = ρ_s, T(i + 2^b) = T(i)·ρ_b, all times 2^R.
    fn stage(&self, s: usize) -> Vec<u64> {
        let mut roots = vec![self.roots[s]];
        for b in 0..s {
            let next: Vec<u64> = roots.iter().map(|&t| self.mm(t, self.roots[b])).collect();
            roots.extend(next);
        }
        roots
    }

    fn forward(&self, x: &mut [u64]) {
        for s in 0..x.len().ilog2() as usize {
            let distance = x.len() >> (s + 1);
            for (block, root) in x.chunks_exact_mut(2 * distance).zip(self.stage(s)) {
                let (low, high) = block.split_at_mut(distance);
                for (x, y) in low.iter_mut().zip(high) {
                    let t = self.mm(*y, root);
                    (*x, *y) = (self.add(*x, t), self.sub(*x, t));
                }
            }
        }
    }

    /// Stages backwards, X = (x + y)/2, Y = (y − x)/2·T(m − 1 − i): T(i)^−1 = −T(m − 1 − i).
    fn inverse(&self, x: &mut [u64]) {
        let half = |v: u64| if v.is_multiple_of(2) { v / 2 } else { (v + self.q) / 2 };
        for s in (0..x.len().ilog2() as usize).rev() {
            let distance = x.len() >> (s + 1);
            let roots = self.stage(s);
            for (block, &root) in x.chunks_exact_mut(2 * distance).zip(roots.iter().rev()) {
                let (low, high) = block.split_at_mut(distance);
                for (x, y) in low.iter_mut().zip(high) {
                    let (sum, difference) = (self.add(*x, *y), self.sub(*y, *x));
                    (*x, *y) = (half(sum), self.mm(half(difference), root));
                }
            }
        }
    }
}

/// What an instruction did, for traces.
#[derive(Debug)]
pub struct Step<'a> {
    /// Its number.
    pub index: u64,
    /// The instruction.
    pub instruction: &'a Instruction,
    /// The limb that came out; nothing for END and ROOTS.
    pub result: &'a [u64],
}

/// The emulated core.
#[derive(Debug, Clone)]
pub struct Emulator {
    config: CompactConfig,
    memory: Vec<u64>,
    /// The number of the last store into each address unit, from 1.
    stored: Vec<u32>,
    banks: [Vec<u64>; Bank::COUNT],
    table: Vec<Option<Entry>>,
    stores: u64,
}

impl Emulator {
    /// A core whose memory is all zero.
    pub fn new(config: CompactConfig) -> Self {
        let table = vec![None; config.moduli() as usize];
        Self { config, memory: Vec::new(), stored: Vec::new(), banks: Default::default(), table, stores: 0 }
    }

    /// As [`Core::run`], showing every step.
    ///
    /// # Errors
    /// As [`Core::run`].
    pub fn run_observed(
        &mut self,
        program: u64,
        log_n: u32,
        mut observe: impl FnMut(Step<'_>),
    ) -> Result<Counters, CompactError> {
        self.config.check_degree(log_n)?;
        self.stores = 0;
        self.stored.fill(0);
        self.banks.iter_mut().for_each(|bank| *bank = vec![0; 1 << log_n]);
        let first = self.range(program, INSTRUCTION_WORDS)?.start;
        for index in 0.. {
            let at = first + index as usize * INSTRUCTION_WORDS;
            let illegal = |reason| CompactError::Instruction { index, reason };
            let words = self.memory.get(at..at + INSTRUCTION_WORDS).ok_or(illegal(Illegal::NoEnd))?;
            let words = std::array::from_fn(|i| words[i]);
            let instruction = Instruction::decode(words, self.config.moduli()).map_err(illegal)?;
            if instruction.op == Op::End {
                observe(Step { index, instruction: &instruction, result: &[] });
                return Ok(Counters { instructions: index + 1, ..Counters::default() });
            }
            let result = self.step(index, &instruction)?;
            observe(Step { index, instruction: &instruction, result: &result });
        }
        unreachable!("the loop has no end of its own")
    }

    fn step(&mut self, index: u64, i: &Instruction) -> Result<Vec<u64>, CompactError> {
        let missing = CompactError::Instruction { index, reason: Illegal::Modulus(i.modulus) };
        let entry = self.table[usize::from(i.modulus)].clone().ok_or(missing)?;
        if i.op == Op::Roots {
            return Ok(Vec::new());
        }
        if let (Some(bank), true) = (i.a, i.op.is_transform()) {
            let (held, needed) = (entry.roots.len(), self.banks[0].len().ilog2());
            if held < needed as usize {
                let reason = Illegal::Roots { modulus: i.modulus, held, needed };
                return Err(CompactError::Instruction { index, reason });
            }
            let mut x = self.limb(bank);
            if i.op == Op::Ntt {
                entry.forward(&mut x);
            } else {
                entry.inverse(&mut x);
            }
            self.put(bank, &x);
            return Ok(x);
        }
        let a = i.a.map(|bank| match i.permute {
            None => self.limb(bank),
            Some(g) => super::galois::permute(&self.limb(bank), g.into()),
        });
        let s = i.s.map(|s| self.stream(index, s)).transpose()?;
        let c = i.c.map(|bank| self.limb(bank));
        let p = self.table[usize::from(i.source)].as_ref().map_or(0, |e| e.q);
        let result = arithmetic(i, &entry, p, [a, c, s]);
        if let Some(bank) = i.d {
            self.put(bank, &result);
        }
        if let Some(address) = i.store {
            self.store(address, &result)?;
        }
        Ok(result)
    }

    /// The limb in a bank, or in the first halves of a pair.
    fn limb(&self, bank: Bank) -> Vec<u64> {
        let words = self.banks[0].len() >> u32::from(bank.is_pair());
        bank.parts().flat_map(|b| self.banks[b.index()][..words].iter().copied()).collect()
    }

    fn put(&mut self, bank: Bank, limb: &[u64]) {
        let words = limb.len() >> u32::from(bank.is_pair());
        for (b, part) in bank.parts().zip(limb.chunks_exact(words)) {
            self.banks[b.index()][..words].copy_from_slice(part);
        }
    }

    /// The words of operand S, if it waits for the stores that it needs and for no others.
    fn stream(&self, index: u64, s: Stream) -> Result<Vec<u64>, CompactError> {
        let n = self.banks[0].len();
        let address = u64::from(s.address) * ADDRESS_UNIT;
        let range = self.range(address, n)?;
        let units = range.start / UNIT_WORDS..range.end / UNIT_WORDS;
        let needed = self.stored[units].iter().copied().max().map_or(0, u64::from);
        // The count that it waits for, from its low 16 bits: within 2^15 of the stores so far.
        let ahead = i64::from((self.stores as u16).wrapping_sub(s.after) as i16);
        let waits = self.stores.saturating_add_signed(-ahead);
        let illegal = |reason| Err(CompactError::Instruction { index, reason });
        if waits > self.stores {
            return illegal(Illegal::NeverStored { waits, before: self.stores });
        }
        if waits < needed {
            return illegal(Illegal::After { needed, waits });
        }
        let mask = (1u64 << self.config.word_bits()) - 1;
        Ok(self.memory[range].iter().map(|w| w & mask).collect())
    }

    fn store(&mut self, address: u32, words: &[u64]) -> Result<(), CompactError> {
        let range = self.range(u64::from(address) * ADDRESS_UNIT, words.len())?;
        self.stores += 1;
        self.stored[range.start / UNIT_WORDS..range.end / UNIT_WORDS].fill(self.stores as u32);
        self.memory[range].copy_from_slice(words);
        Ok(())
    }

    fn range(&self, address: u64, words: usize) -> Result<std::ops::Range<usize>, CompactError> {
        check_range(address, words, 8 * self.memory.len() as u64)?;
        let start = (address / 8) as usize;
        Ok(start..start + words)
    }
}

/// Checks that words lie aligned and inside `available` bytes.
pub(super) fn check_range(address: u64, words: usize, available: u64) -> Result<(), CompactError> {
    if !address.is_multiple_of(ADDRESS_UNIT) {
        return Err(CompactError::Unaligned { address, unit: ADDRESS_UNIT });
    }
    let bytes = 8 * words as u64;
    if address.checked_add(bytes).is_none_or(|end| end > available) {
        return Err(CompactError::Address { address, bytes, available });
    }
    Ok(())
}

/// The result of an arithmetic instruction on whole limbs.
fn arithmetic(i: &Instruction, e: &Entry, p: u64, acs: [Option<Vec<u64>>; 3]) -> Vec<u64> {
    let [a, c, s] = acs;
    let none = Vec::new();
    let (k0, k1) = (i.k0 & e.mask, i.k1 & e.mask);
    let x = a.as_ref().or(s.as_ref()).unwrap_or(&none);
    let y = if a.is_some() && s.is_some() { &s } else { &c }.as_ref().unwrap_or(&none);
    let unary = |f: &dyn Fn(u64) -> u64| x.iter().map(|&x| f(x)).collect();
    let binary = |f: &dyn Fn(u64, u64) -> u64| x.iter().zip(y).map(|(&x, &y)| f(x, y)).collect();
    let difference = |x: u64, y: u64| if i.swap { e.sub(y, x) } else { e.sub(x, y) };
    match i.op {
        Op::End | Op::Ntt | Op::Intt | Op::Roots => none,
        Op::Copy => x.clone(),
        Op::Add => binary(&|x, y| e.add(x, y)),
        Op::Sub => binary(&difference),
        Op::AddK => unary(&|x| e.add(x, k0)),
        // Any K1 up to q; a permuting one has its Galois element there.
        Op::MulK => unary(&|x| e.sub(e.mm(x >> i.shift, k0), if i.permute.is_some() { 0 } else { k1 })),
        Op::SubK => binary(&|x, y| e.mm(difference(x, y), k0)),
        Op::Mul => binary(&|x, y| e.mm(x, y)),
        Op::Mac => {
            let c = c.as_ref().unwrap_or(&none);
            c.iter().zip(x.iter().zip(y)).map(|(&c, (&x, &y))| e.add(c, e.mm(x, y))).collect()
        }
        Op::MacK => {
            let c = c.as_ref().unwrap_or(&none);
            c.iter().zip(x).map(|(&c, &x)| e.add(c, e.mm(x >> i.shift, k0))).collect()
        }
        Op::Lift => unary(&|x| {
            let above = if 2 * x > p { k1 } else { 0 };
            e.sub(e.mm(x, k0), above)
        }),
        Op::ShrK => unary(&|x| ((x + k0) >> i.shift) & e.mask),
    }
}

impl Core for Emulator {
    fn config(&self) -> &CompactConfig {
        &self.config
    }

    fn write(&mut self, address: u64, words: &[u64]) -> Result<(), CompactError> {
        check_range(address, words.len(), self.config.memory_bytes())?;
        let start = (address / 8) as usize;
        let end = (start + words.len()).next_multiple_of(UNIT_WORDS);
        if end > self.memory.len() {
            self.memory.resize(end, 0);
            self.stored.resize(end / UNIT_WORDS, 0);
        }
        self.memory[start..start + words.len()].copy_from_slice(words);
        Ok(())
    }

    fn read(&mut self, address: u64, words: &mut [u64]) -> Result<(), CompactError> {
        let range = self.range(address, words.len())?;
        words.copy_from_slice(&self.memory[range]);
        Ok(())
    }

    fn set_modulus(&mut self, index: usize, entry: &TableEntry) -> Result<(), CompactError> {
        let q = Modulus::new(entry.q)?;
        self.config.check_modulus(q)?;
        let beyond = CompactError::TooManyModuli { found: index + 1, max: self.config.moduli() };
        let slot = self.table.get_mut(index).ok_or(beyond)?;
        *slot = Some(Entry {
            q: entry.q,
            mask: low_bits(self.config.word_bits()),
            product: Product::new(&self.config, entry.q, entry.aux),
            roots: entry.roots.clone(),
        });
        Ok(())
    }

    fn run(&mut self, program: u64, log_n: u32) -> Result<Counters, CompactError> {
        self.run_observed(program, log_n, |_| {})
    }
}
