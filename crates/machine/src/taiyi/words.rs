//! Words of the tables: `rtl/taiyi/src/rm_taiyi_pkg.sv` has their fields.

use ringmill_program::limb::{Domain, Instruction, ModulusId, Opcode, Operand};
use ringmill_ring::Modulus;

use super::{Issued, Job, Shape, leaves, slot_of};
use crate::MachineError;

/// A table of the machine; queues come first, one a unit and one a direction of the way off chip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Table {
    /// Transforms.
    Ntt,
    /// Automorphisms.
    Auto,
    /// The element-wise engine.
    Ewe,
    /// Base conversions.
    Bconv,
    /// Inner products.
    Ip,
    /// Limbs that come.
    Load,
    /// Limbs that go.
    Store,
    /// How many words each queue has.
    Count,
    /// Moduli.
    Modulus,
    /// Powers for transforms.
    Powers,
    /// Sources of base conversions.
    Sources,
    /// Terms of inner products.
    Terms,
}

/// The queues.
pub(super) const QUEUES: [Table; 7] =
    [Table::Ntt, Table::Auto, Table::Ewe, Table::Bconv, Table::Ip, Table::Load, Table::Store];

/// A word that the host writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Write {
    /// Where.
    pub table: Table,
    /// Which word of the table.
    pub address: u32,
    /// 256 bits, the lowest first.
    pub data: [u64; 4],
}

/// An issue; fields as in `issue_t`.
#[derive(Debug, Clone, Copy, Default)]
struct Issue {
    k1: u64,
    k: u64,
    base: u32,
    p: u8,
    q: u8,
    mask: u8,
    op: u8,
    d: u32,
    operands: [u32; 3],
    cycle: u64,
}

impl Issue {
    fn data(self) -> [u64; 4] {
        let [a, b, c] = self.operands.map(u64::from);
        let low = self.cycle & 0xffff_ffff | a << 32 | b << 44 | c << 56;
        let high = c >> 8
            | u64::from(self.d) << 4
            | u64::from(self.op) << 16
            | u64::from(self.mask) << 20
            | u64::from(self.q) << 24
            | u64::from(self.p) << 32
            | u64::from(self.base) << 40;
        [low, high, self.k, self.k1]
    }
}

/// Everything that is written for a program.
pub(super) fn writes(job: &Job<'_>) -> Result<Vec<Write>, MachineError> {
    let mut words = Words { job, queues: Default::default(), sources: Vec::new(), terms: Vec::new() };
    let instructions = job.instructions();
    for issued in job.timetable.issues.iter().filter(|issued| issued.unit.is_some()) {
        words.issue(instructions[issued.instruction], issued);
    }
    for t in &job.timetable.transfers {
        let there = Issue { base: t.value, cycle: t.start, ..Issue::default() };
        if leaves(t.flow) {
            words.push(Table::Store, Issue { operands: [t.slot, 0, 0], mask: 1, ..there });
        } else {
            words.push(Table::Load, Issue { d: t.slot, ..there });
        }
    }
    let mut all = words.finish();
    for (at, m) in job.program.moduli().iter().enumerate() {
        all.extend(modulus(job.shape, at as u32, m.modulus)?);
    }
    Ok(all)
}

struct Words<'a, 'p> {
    job: &'a Job<'p>,
    queues: [Vec<Issue>; QUEUES.len()],
    sources: Vec<[u64; 4]>,
    terms: Vec<[u64; 4]>,
}

impl Words<'_, '_> {
    fn push(&mut self, queue: Table, issue: Issue) {
        self.queues[queue as usize].push(issue);
    }

    fn slot(&self, issued: &Issued, operand: Operand) -> u32 {
        slot_of(issued, self.job.limb(operand.source()))
    }

    fn modulus_of(&self, operand: Operand) -> Option<ModulusId> {
        self.job.program.operand_type(operand).modulus()
    }

    fn issue(&mut self, i: usize, issued: &Issued) {
        let program = self.job.program;
        let made = program.defined(i).map(|v| program.value_type(v));
        let target = made.and_then(|ty| ty.modulus());
        let q = target.map_or(0, |m| m.index() as u8);
        let base = Issue { d: issued.result.1, q, cycle: issued.start, ..Issue::default() };
        let reads = |of: &[Operand]| {
            let mut slots = [0; 3];
            of.iter().zip(&mut slots).for_each(|(&o, slot)| *slot = self.slot(issued, o));
            Issue { operands: slots, mask: (1 << of.len()) - 1, ..base }
        };
        let operands = program.operands(i);
        let (queue, issue) = match program.instruction(i) {
            Instruction::Ntt { .. } => (Table::Ntt, reads(operands)),
            Instruction::Intt { .. } => (Table::Ntt, Issue { op: 1, ..reads(operands) }),
            Instruction::Automorphism { galois, .. } => (Table::Auto, Issue { k: galois, ..reads(operands) }),
            Instruction::Add { .. } => (Table::Ewe, reads(operands)),
            Instruction::Sub { .. } => (Table::Ewe, Issue { op: 1, ..reads(operands) }),
            Instruction::Neg { .. } => (Table::Ewe, Issue { op: 2, ..reads(operands) }),
            Instruction::Mul { .. } => (Table::Ewe, Issue { op: 3, ..reads(operands) }),
            Instruction::Mac { .. } => (Table::Ewe, Issue { op: 4, ..reads(operands) }),
            Instruction::MulConst { constant, .. } => {
                (Table::Ewe, Issue { op: 5, k: constant, ..reads(operands) })
            }
            Instruction::AddConst { constant, .. } => {
                (Table::Ewe, Issue { op: 6, k: constant, ..reads(operands) })
            }
            Instruction::SubMulConst { constant, .. } => {
                (Table::Ewe, Issue { op: 7, k: constant, ..reads(operands) })
            }
            Instruction::Lift { src, .. } => {
                let (from, to) = (self.modulus_of(src), target);
                let wrap = |from, to| program.modulus(to).reduce(program.modulus(from).value());
                let k1 = from.zip(to).map_or(0, |(from, to)| wrap(from, to));
                let p = from.map_or(0, |m| m.index() as u8);
                (Table::Ewe, Issue { op: 8, k: 1, k1, p, ..reads(operands) })
            }
            Instruction::Convert { sources, quotient, .. } => {
                let at = self.sources.len() as u32;
                let minus = self.list(issued, sources, target);
                let (op, p) = (u8::from(quotient.is_some()), sources.len() as u8);
                (Table::Bconv, Issue { op, k: minus, base: at, p, ..base })
            }
            Instruction::Dot { a, b, .. } => {
                let at = self.terms.len() as u32;
                for (&x, &key) in a.iter().zip(b) {
                    let (x, key) = (self.slot(issued, x), self.slot(issued, key));
                    self.terms.push([u64::from(x) | u64::from(key) << 12, 0, 0, 0]);
                }
                (Table::Ip, Issue { base: at, p: a.len() as u8, ..base })
            }
            Instruction::Load { .. } | Instruction::Store { .. } | Instruction::Quotient { .. } => {
                unreachable!("no unit runs a {}", program.opcode(i).name())
            }
        };
        debug_assert!(made.is_some_and(|ty| ty.domain() != Domain::Quotient));
        self.push(queue, issue);
    }

    /// Appends the sources of a conversion; returns −S mod q.
    fn list(&mut self, issued: &Issued, sources: &[Operand], target: Option<ModulusId>) -> u64 {
        let program = self.job.program;
        let moduli: Vec<Modulus> =
            sources.iter().filter_map(|&s| self.modulus_of(s)).map(|m| program.modulus(m)).collect();
        let Some(q) = target.map(|m| program.modulus(m)) else { return 0 };
        for (i, (&source, s)) in sources.iter().zip(&moduli).enumerate() {
            let others = moduli.iter().enumerate().filter(|(j, _)| *j != i);
            let factor = others.fold(1, |product, (_, m)| q.mul(product, q.reduce(m.value())));
            let shift = s.bits().saturating_sub(14);
            // At most 15 bits.
            let head = ((1u128 << (28 + shift)) / u128::from(s.value())) as u64;
            let slot = self.slot(issued, source);
            self.sources.push([u64::from(slot) | u64::from(shift) << 16 | head << 24, factor, 0, 0]);
        }
        q.neg(moduli.iter().fold(1, |product, m| q.mul(product, q.reduce(m.value()))))
    }

    fn finish(mut self) -> Vec<Write> {
        let mut all = Vec::new();
        for (queue, issues) in QUEUES.into_iter().zip(&mut self.queues) {
            issues.sort_by_key(|issue| issue.cycle);
            let word =
                |(at, issue): (usize, &Issue)| Write { table: queue, address: at as u32, data: issue.data() };
            all.extend(issues.iter().enumerate().map(word));
            let data = [issues.len() as u64, 0, 0, 0];
            all.push(Write { table: Table::Count, address: queue as u32, data });
        }
        for (table, list) in [(Table::Sources, &self.sources), (Table::Terms, &self.terms)] {
            let word = |(at, &data): (usize, &[u64; 4])| Write { table, address: at as u32, data };
            all.extend(list.iter().enumerate().map(word));
        }
        all
    }
}

/// A modulus, for all units and for transforms.
fn modulus(shape: Shape, at: u32, q: Modulus) -> Result<Vec<Write>, MachineError> {
    let psi = q.psi(shape.log_n)?;
    // Barrett's quotient has a bit more than a word.
    let aux = (1u128 << (shape.word_bits + q.bits() + 1)) / u128::from(q.value());
    let word = q.reduce_u128(1 << shape.word_bits);
    let data = [q.value(), word, aux as u64, (aux >> 64) as u64];
    let mut all = vec![Write { table: Table::Modulus, address: at, data }];
    let mut power = |field: u64, value: u128| {
        let address = (field as u32) << 8 | at;
        all.push(Write { table: Table::Powers, address, data: [value as u64, (value >> 64) as u64, 0, 0] });
    };
    power(0, q.value().into());
    power(1, aux);
    let r = 1u64 << shape.log_r;
    for i in 0..4 {
        for j in 0..r {
            let exponent = (j << (i * shape.log_r)) >> shape.missing();
            power(2 + r * u64::from(i) + j, q.pow(psi, exponent).into());
        }
    }
    Ok(all)
}

/// The unit that runs an instruction.
pub(super) const fn queue_of(opcode: Opcode) -> Option<Table> {
    match opcode {
        Opcode::Ntt | Opcode::Intt => Some(Table::Ntt),
        Opcode::Automorphism => Some(Table::Auto),
        Opcode::Convert | Opcode::ConvertFast => Some(Table::Bconv),
        Opcode::Dot => Some(Table::Ip),
        Opcode::Load | Opcode::Store | Opcode::Quotient => None,
        _ => Some(Table::Ewe),
    }
}
