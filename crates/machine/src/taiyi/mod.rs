//! The small whole machine of `rtl/taiyi`: what a host writes into it for a limb program.
//!
//! The schedule is the simulator's, for the description `taiyi-small`. The machine begins each instruction and each transfer in the cycle
//! that the schedule names. So its cycles are those of the simulator, and its bits those of every other machine.

mod emulate;
mod machine;
mod shape;
#[cfg(test)]
mod tests;
mod text;
mod words;

use ringmill_cycles::replay::Flow;
use ringmill_cycles::timetable::Issued;
use ringmill_cycles::{Graph, Settings, Timetable, timetable};
use ringmill_program::limb::{Instruction, LimbProgram, Opcode, Source};

pub use machine::{ENTRY, Taiyi};
pub use shape::Shape;
pub use words::{Table, Write};

use crate::{Described, MachineError, client};

/// A limb program for the machine.
#[derive(Debug, Clone)]
pub struct Job<'p> {
    program: &'p LimbProgram,
    shape: Shape,
    timetable: Timetable,
    writes: Vec<Write>,
    /// The limb of each value of the program, as the timetable numbers them.
    limbs: Vec<u32>,
}

impl<'p> Job<'p> {
    /// Schedules a program for the build of the description `taiyi-small`, and says what to write into it.
    ///
    /// # Errors
    /// [`MachineError::Unsupported`] for a program of another ring degree, with longer primes, with more moduli or longer sums than
    /// the machine takes; [`MachineError::ClientOnly`].
    pub fn new(program: &'p LimbProgram) -> Result<Self, MachineError> {
        Self::on(program, Shape::SMALL, &Described::named("taiyi-small")?)
    }

    /// The same for another build, whose times a description states.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn on(program: &'p LimbProgram, shape: Shape, machine: &Described) -> Result<Self, MachineError> {
        client::check(machine, program)?;
        let refused = |reason: String| MachineError::Unsupported {
            machine: machine.description().name.clone(),
            program: program.name().into(),
            reason,
        };
        fits(program, shape).map_err(refused)?;
        let graph = Graph::of(program).map_err(|e| refused(e.to_string()))?;
        let timetable = timetable(machine.description(), &graph, &Settings::default());
        let timetable = timetable.map_err(|e| refused(e.to_string()))?;
        let limbs = limbs(program);
        let mut job = Self { program, shape, timetable, writes: Vec::new(), limbs };
        job.writes = words::writes(&job)?;
        Ok(job)
    }

    /// When everything happens.
    pub const fn timetable(&self) -> &Timetable {
        &self.timetable
    }

    /// What the host writes before a run, in any order.
    pub fn writes(&self) -> &[Write] {
        &self.writes
    }

    /// The build that it is for.
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// The limb of an operand, as the timetable numbers them.
    fn limb(&self, source: Source) -> u32 {
        match source {
            Source::Input(i) => i.0,
            Source::Value(v) => self.limbs[v.index()],
        }
    }

    /// The limb of each output, in order: where it is off chip when the run is over.
    pub fn outputs(&self) -> Vec<u32> {
        let mut all = vec![0; self.program.output_types().len()];
        for instruction in self.program.instructions() {
            if let Instruction::Store { output, src } = instruction {
                all[output.index()] = self.limb(src.source());
            }
        }
        all
    }

    /// Instructions of the program that the schedule has, in order.
    fn instructions(&self) -> Vec<usize> {
        let executed = |i: &usize| !matches!(self.program.opcode(*i), Opcode::Load | Opcode::Store);
        (0..self.program.len()).filter(executed).collect()
    }
}

/// Whether a build has the ring of a program and space for its moduli; what would be right if not.
fn fits(program: &LimbProgram, shape: Shape) -> Result<(), String> {
    let (built, found) = (shape.log_n, program.log_n());
    if built != found {
        return Err(format!("it is built for N = 2^{built}, and the program has N = 2^{found}"));
    }
    let (most, found) = (Shape::MODULI, program.moduli().len());
    if found > most {
        return Err(format!("it holds {most} moduli, and the program has {found}"));
    }
    Ok(())
}

/// The limb of each value: inputs come first, loads are the limbs that they copy.
fn limbs(program: &LimbProgram) -> Vec<u32> {
    let mut limbs = vec![0; program.values()];
    let mut next = program.input_types().len() as u32;
    for i in 0..program.len() {
        let Some(made) = program.defined(i) else { continue };
        limbs[made.index()] = match (program.opcode(i), program.operands(i)) {
            (Opcode::Load, [from]) => match from.source() {
                Source::Input(input) => input.0,
                Source::Value(v) => limbs[v.index()],
            },
            _ => {
                next += 1;
                next - 1
            }
        };
    }
    limbs
}

/// Whether a limb leaves.
const fn leaves(flow: Flow) -> bool {
    matches!(flow, Flow::Spill | Flow::Result)
}

/// The slot of a limb that an instruction reads.
fn slot_of(issued: &Issued, limb: u32) -> u32 {
    let found = issued.operands.iter().find(|(value, _)| *value == limb);
    found.map_or_else(|| unreachable!("an instruction reads its operands"), |(_, slot)| *slot)
}
