//! A job as text, for the test bench of `rtl/taiyi`.

use std::fmt;

use ringmill_program::limb::{Domain, Instruction, LimbType, OpSpec};

use super::words::queue_of;
use super::{Job, leaves};

/// A line each: sizes, moduli with their ψ, limbs that come in, instructions by their meaning, when each result is where, what leaves,
/// and what the host writes. `rtl/taiyi/README.md` has the fields.
impl fmt::Display for Job<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (program, s) = (self.program, self.shape);
        let ty = |ty: LimbType| {
            let domain = if ty.domain() == Domain::Coeff { 'c' } else { 'e' };
            (ty.modulus().map_or(0, |m| m.index()), domain)
        };
        writeln!(
            f,
            "# {}. Made by `RINGMILL_BLESS=1 cargo test -p ringmill-machine taiyi`.",
            program.name()
        )?;
        writeln!(f, "shape {} {} {} {} {}", s.word_bits, s.log_n, s.log_l, s.log_r, self.timetable.cycles)?;
        for m in program.moduli() {
            let psi = m.modulus.psi(s.log_n).map_err(|_| fmt::Error)?;
            writeln!(f, "modulus {} {psi}", m.modulus.value())?;
        }
        for &input in program.input_types() {
            let (m, domain) = ty(input);
            writeln!(f, "in {m} {domain}")?;
        }
        for i in self.instructions() {
            let Some(made) = program.defined(i) else { continue };
            let (m, domain) = ty(program.value_type(made));
            let spec: &OpSpec = program.opcode(i).spec();
            write!(f, "op {} {m} {domain} {}", spec.name, program.operands(i).len())?;
            for o in program.operands(i) {
                write!(f, " {}", self.limb(o.source()))?;
            }
            writeln!(f, " {}", constant(program.instruction(i)))?;
        }
        let instructions = self.instructions();
        for issued in &self.timetable.issues {
            if let Some(queue) = queue_of(program.opcode(instructions[issued.instruction])) {
                let (queue, slot, limb) = (queue as u8, issued.result.1, issued.result.0);
                writeln!(f, "made {queue} {slot} {limb} {} {}", issued.first, issued.done)?;
            }
        }
        for t in &self.timetable.transfers {
            let way = if leaves(t.flow) { "left" } else { "came" };
            writeln!(f, "{way} {} {} {} {}", t.slot, t.value, t.start, t.there)?;
        }
        for (at, limb) in self.outputs().into_iter().enumerate() {
            let (m, domain) = ty(program.output_types()[at]);
            writeln!(f, "out {limb} {m} {domain}")?;
        }
        for w in self.writes() {
            let [a, b, c, d] = w.data;
            writeln!(f, "write {} {} {a:x} {b:x} {c:x} {d:x}", w.table as u8, w.address)?;
        }
        Ok(())
    }
}

/// What an instruction has beside its operands.
const fn constant(instruction: Instruction<'_>) -> u64 {
    match instruction {
        Instruction::MulConst { constant, .. }
        | Instruction::AddConst { constant, .. }
        | Instruction::SubMulConst { constant, .. } => constant,
        Instruction::Automorphism { galois, .. } => galois,
        _ => 0,
    }
}
