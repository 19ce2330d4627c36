//! A machine as somebody would add it, by the steps of docs/how-to/add-a-machine.md: its folder and its row.
//!
//! It runs every program by the reference interpreter, and says that each instruction takes a number of cycles.

use std::sync::Arc;

use ringmill_machine::parameter::{Allowed, Parameter, Preset};
use ringmill_machine::registry::{Entry, Estimates, Setting};
use ringmill_machine::{Executable, Machine, MachineError, Reference, Timing, client};
use ringmill_program::limb::LimbProgram;

static PACE: Parameter = Parameter {
    name: "pace",
    field: "pace",
    rtl: None,
    allowed: Allowed::Range(1, 1000),
    default: Some(Preset::Whole(10)),
    unit: "cycles",
    about: "what an instruction takes",
};

/// The row.
pub(crate) static ENTRY: Entry = Entry {
    name: "toy",
    about: "an example of a machine",
    runs: "all of at most 1,000 instructions",
    estimates: Estimates::Cycles,
    simulates: "scalar arithmetic",
    shared: false,
    options: &[Setting::default(&PACE)],
    open: |spec| Ok(Arc::new(Toy { pace: spec.whole("pace").unwrap_or(10) })),
};

struct Toy {
    pace: u64,
}

impl Machine for Toy {
    fn name(&self) -> &str {
        "toy"
    }

    fn accepts(&self, program: &LimbProgram) -> Result<(), MachineError> {
        client::check(self, program)?;
        if program.len() <= 1000 {
            return Ok(());
        }
        let (machine, program_name) = ("toy".to_owned(), program.name().to_owned());
        let reason = format!("it has {} instructions; 1000 are the most", program.len());
        Err(MachineError::Unsupported { machine, program: program_name, reason })
    }

    fn estimate(&self, program: &LimbProgram) -> Result<Option<Timing>, MachineError> {
        self.accepts(program)?;
        Ok(Some(Timing {
            cycles: Some(self.pace * program.len() as u64),
            seconds: None,
            counters: Vec::new(),
            busy: Vec::new(),
            parts: Vec::new(),
            energy: Vec::new(),
            spans: Vec::new(),
            by: "its pace".to_owned(),
        }))
    }

    fn prepare(&self, program: &LimbProgram) -> Result<Box<dyn Executable>, MachineError> {
        self.accepts(program)?;
        Reference.prepare(program)
    }
}
