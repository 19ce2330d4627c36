//! The machine in the registry: its words are executed, and its cycles are those of its schedule.

use std::collections::HashMap;
use std::sync::Arc;

use ringmill_program::cost::CostTable;
use ringmill_program::limb::LimbProgram;
use ringmill_ring::LimbSource;

use super::emulate::emulate;
use super::words::Write;
use super::{Job, Shape, fits};
use crate::bindings::check_borders;
use crate::parameter::{Allowed, Parameter, Preset};
use crate::registry::{Entry, Estimates, Setting};
use crate::{Described, Executable, Machine, MachineError, Timing, client};

static WORD: Parameter = Parameter {
    name: "word",
    field: "word_bits",
    rtl: Some("W"),
    allowed: Allowed::Range(20, 60),
    default: Some(Preset::Whole(60)),
    unit: "bits",
    about: "length of a word: primes are shorter",
};

static SLOTS: Parameter = Parameter {
    name: "log_slots",
    field: "log_slots",
    rtl: Some("LogSlots"),
    allowed: Allowed::Range(4, 12),
    default: Some(Preset::Whole(9)),
    unit: "",
    about: "log2 of the limbs on chip",
};

/// The machine `taiyi`.
pub static ENTRY: Entry = Entry {
    name: "taiyi",
    about: "the small whole machine of rtl/taiyi",
    runs: "those of N = 2^10 to 2^12 whose primes fit its words",
    estimates: Estimates::Schedule,
    simulates: "the words that a host writes, an instruction at a time",
    shared: false,
    options: &[Setting::default(&WORD), Setting::default(&SLOTS)],
    open: |spec| {
        let number = |p: &Parameter, otherwise| spec.whole(p.name).map_or(otherwise, |n| n as u32);
        Ok(Arc::new(Taiyi { word_bits: number(&WORD, 60), log_slots: number(&SLOTS, 9) }))
    },
};

/// The small whole machine, built for the ring of each program.
#[derive(Debug, Clone, Copy)]
pub struct Taiyi {
    word_bits: u32,
    log_slots: u32,
}

impl Taiyi {
    /// The build for a program.
    fn build(self, program: &LimbProgram) -> Result<(Shape, Described), MachineError> {
        let log_n = program.log_n();
        let refused = |reason: String| MachineError::Unsupported {
            machine: ENTRY.name.into(),
            program: program.name().into(),
            reason,
        };
        if !(10..=12).contains(&log_n) {
            return Err(refused(format!(
                "it is built for N = 2^10 to 2^12, and the program has N = 2^{log_n}; file:taiyi estimates the published \
                 machine"
            )));
        }
        let (word_bits, log_slots) = (self.word_bits, self.log_slots);
        let shape = Shape { log_n, word_bits, log_slots, ..Shape::SMALL };
        fits(program, shape).map_err(refused)?;
        Ok((shape, Described::new(shape.describe().map_err(Box::new)?)))
    }
}

impl Machine for Taiyi {
    fn name(&self) -> &str {
        ENTRY.name
    }

    /// Nothing is measured of it: those that ship, so that it does the same everywhere.
    fn costs(&self) -> Result<CostTable, MachineError> {
        Ok(CostTable::shipped())
    }

    fn computes_here(&self) -> bool {
        true
    }

    fn accepts(&self, program: &LimbProgram) -> Result<(), MachineError> {
        client::check(self, program)?;
        self.build(program)?.1.accepts(program)
    }

    fn estimate(&self, program: &LimbProgram) -> Result<Option<Timing>, MachineError> {
        client::check(self, program)?;
        self.build(program)?.1.estimate(program)
    }

    fn prepare(&self, program: &LimbProgram) -> Result<Box<dyn Executable>, MachineError> {
        client::check(self, program)?;
        let (shape, described) = self.build(program)?;
        let job = Job::on(program, shape, &described)?;
        let (writes, outputs) = (job.writes().to_vec(), job.outputs());
        Ok(Box::new(Prepared { program: program.clone(), writes, outputs }))
    }
}

struct Prepared {
    program: LimbProgram,
    writes: Vec<Write>,
    outputs: Vec<u32>,
}

impl Executable for Prepared {
    fn program(&self) -> &LimbProgram {
        &self.program
    }

    fn run(&self, inputs: &[&[u64]], outputs: &mut [&mut [u64]]) -> Result<(), MachineError> {
        let sources: Vec<_> = inputs.iter().copied().map(LimbSource::Words).collect();
        check_borders(&self.program, &sources, outputs)?;
        let limbs = inputs.iter().zip(0u64..);
        let mut off_chip: HashMap<u64, Vec<u64>> = limbs.map(|(words, at)| (at, words.to_vec())).collect();
        emulate(self.program.log_n(), &self.writes, &mut off_chip)?;
        for (out, limb) in outputs.iter_mut().zip(&self.outputs) {
            if let Some(words) = off_chip.get(&u64::from(*limb)) {
                out.copy_from_slice(words);
            }
        }
        Ok(())
    }
}
