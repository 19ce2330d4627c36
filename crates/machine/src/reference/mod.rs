//! The reference machine: interprets a limb program line by line with scalar arithmetic, for clarity.
//! What the other machines are compared with.
//!
//! A value lives in its own vector until its last use; an allocated program runs in its buffers instead,
//! so that a wrong allocation shows as wrong bits.

mod ops;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use ringmill_program::cost::CostTable;
use ringmill_program::limb::{Instruction, LimbProgram, Operand, Source, ValueId};
use ringmill_ring::reference as scalar;
use ringmill_ring::{LimbSource, Modulus};
use zeroize::Zeroize as _;

use crate::bindings::check_borders;
use crate::registry::{Entry, Estimates};
use crate::{Executable, Machine, MachineError, Watch, client};

/// The machine `reference`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reference;

/// The machine `reference` of a client: it takes programs with secret and sampled inputs too.
#[derive(Debug, Clone, Copy, Default)]
pub struct ClientReference;

/// The machine `reference` in the registry.
pub static ENTRY: Entry = Entry {
    name: "reference",
    about: "a plain interpreter, written for clarity",
    runs: "all; those with secret inputs in the role of a client",
    estimates: Estimates::No,
    simulates: "scalar arithmetic, line by line",
    shared: false,
    options: &[client::SETTING],
    open: |spec| Ok(if client::asked(spec) { Arc::new(ClientReference) } else { Arc::new(Reference) }),
};

impl Machine for Reference {
    fn name(&self) -> &str {
        "reference"
    }

    /// Nothing is measured of it: those that ship, so that it does the same everywhere.
    fn costs(&self) -> Result<CostTable, MachineError> {
        Ok(CostTable::shipped())
    }

    fn computes_here(&self) -> bool {
        true
    }

    fn prepare(&self, program: &LimbProgram) -> Result<Box<dyn Executable>, MachineError> {
        self.accepts(program)?;
        prepare(program)
    }
}

impl Machine for ClientReference {
    fn name(&self) -> &str {
        Reference.name()
    }

    fn costs(&self) -> Result<CostTable, MachineError> {
        Reference.costs()
    }

    fn computes_here(&self) -> bool {
        true
    }

    fn is_client(&self) -> bool {
        true
    }

    fn prepare(&self, program: &LimbProgram) -> Result<Box<dyn Executable>, MachineError> {
        prepare(program)
    }
}

fn prepare(program: &LimbProgram) -> Result<Box<dyn Executable>, MachineError> {
    let psi = program.moduli().iter().map(|m| m.modulus.psi(program.log_n())).collect::<Result<_, _>>()?;
    let mut last_use = vec![usize::MAX; program.values()];
    for i in 0..program.len() {
        for v in program.operands(i).iter().filter_map(|o| o.value()) {
            last_use[v.index()] = i;
        }
    }
    Ok(Box::new(Prepared { program: program.clone(), psi, last_use }))
}

struct Prepared {
    program: LimbProgram,
    /// ψ of each row of the table of moduli.
    psi: Vec<u64>,
    /// The last instruction that reads each value.
    last_use: Vec<usize>,
}

impl Executable for Prepared {
    fn program(&self) -> &LimbProgram {
        &self.program
    }

    fn run(&self, inputs: &[&[u64]], outputs: &mut [&mut [u64]]) -> Result<(), MachineError> {
        let inputs: Vec<_> = inputs.iter().copied().map(LimbSource::Words).collect();
        self.run_watched(&inputs, outputs, &Watch::default())
    }

    fn run_watched(
        &self,
        inputs: &[LimbSource<'_>],
        outputs: &mut [&mut [u64]],
        watch: &Watch,
    ) -> Result<(), MachineError> {
        check_borders(&self.program, inputs, outputs)?;
        let words: Vec<_> = inputs.iter().map(|limb| limb.to_words(self.program.n())).collect();
        let inputs: Vec<&[u64]> = words.iter().map(|limb| &**limb).collect();
        let slots = self.program.allocation().map_or(self.program.values(), |a| a.buffers as usize);
        let mut run = Run { prepared: self, inputs: &inputs, slots: vec![Vec::new(); slots] };
        watch.begin(self.program.len());
        for (i, instruction) in self.program.instructions().enumerate() {
            watch.go_on()?;
            run.step(instruction, outputs);
            watch.step();
            if self.program.allocation().is_none() {
                run.release(i);
            }
        }
        Ok(())
    }
}

/// One run under way.
struct Run<'a> {
    prepared: &'a Prepared,
    inputs: &'a [&'a [u64]],
    /// A buffer each once allocated, otherwise a value each.
    slots: Vec<Vec<u64>>,
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        std::mem::take(&mut self.slots).into_iter().for_each(|past| self.forget(past));
    }
}

impl Run<'_> {
    fn slot(&self, value: ValueId) -> usize {
        self.prepared.program.allocation().map_or(value.index(), |a| a.buffer_of[value.index()].index())
    }

    fn words(&self, operand: Operand) -> &[u64] {
        match operand.source() {
            Source::Value(v) => &self.slots[self.slot(v)],
            Source::Input(i) => self.inputs[i.index()],
        }
    }

    /// The modulus of a limb and its ψ; the verifier admits no quotients where this is called.
    fn modulus(&self, operand: Operand) -> (Modulus, u64) {
        let program = &self.prepared.program;
        let id = program
            .operand_type(operand)
            .modulus()
            .unwrap_or_else(|| unreachable!("quotients have no modulus"));
        (program.modulus(id), self.prepared.psi[id.index()])
    }

    fn moduli(&self, operands: &[Operand]) -> Vec<Modulus> {
        operands.iter().map(|&o| self.modulus(o).0).collect()
    }

    fn gather(&self, operands: &[Operand]) -> Vec<&[u64]> {
        operands.iter().map(|&o| self.words(o)).collect()
    }

    fn release(&mut self, i: usize) {
        for v in self.prepared.program.operands(i).iter().filter_map(|o| o.value()) {
            if self.prepared.last_use[v.index()] == i {
                let past = std::mem::take(&mut self.slots[v.index()]);
                self.forget(past);
            }
        }
    }

    fn step(&mut self, instruction: Instruction<'_>, outputs: &mut [&mut [u64]]) {
        use Instruction as I;
        let (dst, words) = match instruction {
            I::Store { output, src } => {
                outputs[output.index()].copy_from_slice(self.words(src));
                return;
            }
            I::Load { dst, input } => (dst, self.inputs[input.index()].to_vec()),
            I::Ntt { dst, src } => (dst, self.transform(src, scalar::forward)),
            I::Intt { dst, src } => (dst, self.transform(src, scalar::inverse)),
            I::Add { dst, a, b } => (dst, self.binary(a, b, |q, x, y| q.add(x, y))),
            I::Sub { dst, a, b } => (dst, self.binary(a, b, |q, x, y| q.sub(x, y))),
            I::Neg { dst, a } => (dst, self.unary(a, |q, x| q.neg(x))),
            I::Mul { dst, a, b } => (dst, self.binary(a, b, |q, x, y| q.mul(x, y))),
            I::Mac { dst, acc, a, b } => {
                let product = self.binary(a, b, |q, x, y| q.mul(x, y));
                let q = self.modulus(acc).0;
                (dst, self.words(acc).iter().zip(product).map(|(&x, p)| q.add(x, p)).collect())
            }
            I::MulConst { dst, a, constant } => (dst, self.unary(a, |q, x| q.mul(x, constant))),
            I::AddConst { dst, a, constant } => (dst, self.unary(a, |q, x| q.add(x, constant))),
            I::SubMulConst { dst, a, b, constant } => {
                (dst, self.binary(a, b, |q, x, y| q.mul(q.sub(x, y), constant)))
            }
            I::Lift { dst, src } => {
                let (from, to) = (self.modulus(src).0, self.modulus(dst.into()).0);
                (dst, self.words(src).iter().map(|&x| to.reduce_i64(from.centred(x))).collect())
            }
            I::Quotient { dst, sources } => {
                (dst, ops::quotient(&self.gather(sources), &self.moduli(sources)))
            }
            I::Convert { dst, sources, quotient } => {
                let quotient = quotient.map(|v| self.words(v));
                let to = self.modulus(dst.into()).0;
                (dst, ops::convert(&self.gather(sources), quotient, &self.moduli(sources), to))
            }
            I::Dot { dst, a, b } => {
                (dst, ops::dot(&self.gather(a), &self.gather(b), self.modulus(dst.into()).0))
            }
            I::Automorphism { dst, src, galois } => (dst, ops::automorphism(self.words(src), galois)),
        };
        let slot = self.slot(dst);
        let past = std::mem::replace(&mut self.slots[slot], words);
        self.forget(past);
    }

    /// Lets go of words, wiped if they may follow from a secret.
    fn forget(&self, mut past: Vec<u64>) {
        if self.prepared.program.client_input().is_some() {
            past.zeroize();
        }
    }

    fn transform(&self, src: Operand, kernel: fn(&mut [u64], Modulus, u64)) -> Vec<u64> {
        let (q, psi) = self.modulus(src);
        let mut words = self.words(src).to_vec();
        kernel(&mut words, q, psi);
        words
    }

    fn unary(&self, a: Operand, f: impl Fn(Modulus, u64) -> u64) -> Vec<u64> {
        let q = self.modulus(a).0;
        self.words(a).iter().map(|&x| f(q, x)).collect()
    }

    fn binary(&self, a: Operand, b: Operand, f: impl Fn(Modulus, u64, u64) -> u64) -> Vec<u64> {
        let q = self.modulus(a).0;
        self.words(a).iter().zip(self.words(b)).map(|(&x, &y)| f(q, x, y)).collect()
    }
}
