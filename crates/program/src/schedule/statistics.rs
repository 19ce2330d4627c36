//! What a program costs, by counting.

use std::collections::HashSet;
use std::fmt;

use super::lifetime::{Readers, peak};
use crate::limb::{InputClass, InputId, LimbProgram, OpSpec, Opcode, Source};

/// Counts over one run of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statistics {
    /// N, words a limb.
    pub words: usize,
    /// Instructions of each kind, in the order of [`OpSpec::TABLE`].
    pub by_kind: [usize; OpSpec::TABLE.len()],
    /// Forward transforms.
    pub ntt: usize,
    /// Inverse transforms.
    pub intt: usize,
    /// Butterflies of all transforms, N/2·log2 N each.
    pub butterflies: u64,
    /// Multiplications of words outside of transforms, with or without an addition: a product is one a word, an inner
    /// product one a term, a conversion one a source and one for the quotient, a quotient one a source.
    pub multiply_adds: u64,
    /// Bytes of distinct key limbs.
    pub key_bytes: u64,
    /// The same with every residue as long as its prime.
    pub key_bytes_packed: u64,
    /// Of these, bytes of uniform halves, which can be made from seeds where they are used.
    pub key_bytes_seeded: u64,
    /// Bytes of key limbs read: more than [`Self::key_bytes`] if a limb is read several times.
    pub key_bytes_read: u64,
    /// Bytes of distinct ciphertext and plaintext limbs read.
    pub data_bytes: u64,
    /// Bytes of outputs.
    pub output_bytes: u64,
    /// The most values that need a buffer at once, in the order as it stands.
    pub peak_live: u32,
}

impl Statistics {
    /// Counts a program.
    pub fn of(program: &LimbProgram) -> Self {
        let (n, log_n) = (program.n() as u64, u64::from(program.log_n()));
        let mut by_kind = [0; OpSpec::TABLE.len()];
        let (mut products, mut key_reads) = (0u64, 0u64);
        let (mut keys, mut data) = (HashSet::new(), HashSet::new());
        for i in 0..program.len() {
            let op = program.opcode(i);
            by_kind[op as usize] += 1;
            products += multiply_adds(op, program.operands(i).len() as u64);
            for o in program.operands(i) {
                let Source::Input(input) = o.source() else { continue };
                if program.input_group(input).class == InputClass::Key {
                    key_reads += 1;
                    keys.insert(input);
                } else {
                    data.insert(input);
                }
            }
        }
        let packed = |seeded: bool| {
            let counted = |input: &&InputId| !seeded || program.input_group(**input).is_uniform_half();
            let bits = |input: &InputId| {
                let modulus = program.input_types()[input.index()].modulus();
                modulus.map_or(0, |m| u64::from(program.modulus(m).bits()))
            };
            n * keys.iter().filter(counted).map(bits).sum::<u64>() / 8
        };
        let (ntt, intt) = (by_kind[Opcode::Ntt as usize], by_kind[Opcode::Intt as usize]);
        let order: Vec<u32> = (0..program.len() as u32).collect();
        Self {
            words: program.n(),
            by_kind,
            ntt,
            intt,
            butterflies: (ntt + intt) as u64 * (n / 2) * log_n,
            multiply_adds: products * n,
            key_bytes: 8 * n * keys.len() as u64,
            key_bytes_packed: packed(false),
            key_bytes_seeded: packed(true),
            key_bytes_read: 8 * n * key_reads,
            data_bytes: 8 * n * data.len() as u64,
            output_bytes: 8 * n * program.output_types().len() as u64,
            peak_live: peak(program, &Readers::of(program), &order),
        }
    }
}

/// Products of words an instruction takes for each word of its result.
fn multiply_adds(op: Opcode, operands: u64) -> u64 {
    match op {
        Opcode::Mul | Opcode::Mac | Opcode::MulConst | Opcode::SubMulConst => 1,
        Opcode::Dot => operands / 2,
        Opcode::Quotient | Opcode::Convert | Opcode::ConvertFast => operands,
        Opcode::Load
        | Opcode::Store
        | Opcode::Ntt
        | Opcode::Intt
        | Opcode::Add
        | Opcode::Sub
        | Opcode::Neg
        | Opcode::AddConst
        | Opcode::Lift
        | Opcode::Automorphism => 0,
    }
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in OpSpec::TABLE.iter().filter(|row| self.by_kind[row.op as usize] > 0) {
            writeln!(f, "{:>9} {}", self.by_kind[row.op as usize], row.name)?;
        }
        writeln!(f, "{:>9} transforms, {} butterflies", self.ntt + self.intt, self.butterflies)?;
        writeln!(f, "{:>9} multiply-adds outside of transforms", self.multiply_adds)?;
        writeln!(f, "{:>9} bytes of keys, {} read", self.key_bytes, self.key_bytes_read)?;
        writeln!(f, "{:>9} bytes of data in, {} out", self.data_bytes, self.output_bytes)?;
        writeln!(f, "{:>9} limbs of {} words live at once", self.peak_live, self.words)
    }
}
