//! A host with an engine of fixed function beside it: the engine runs the sections that it serves, the host everything else.

use std::fmt;
use std::sync::Arc;

use ringmill_program::cost::CostTable;
use ringmill_program::limb::split::{From, Part, Split, To};
use ringmill_program::limb::{LimbProgram, SectionKind, SplitError, split};

use crate::bindings::check_borders;
use crate::{Executable, Machine, MachineError, client};

/// Which sections an engine serves.
pub type Serves = Arc<dyn Fn(&SectionKind) -> bool + Send + Sync>;

/// The two as one machine. Programs without sections run on the host alone.
#[derive(Clone)]
pub struct Offload {
    name: String,
    host: Arc<dyn Machine>,
    engine: Arc<dyn Machine>,
    serves: Serves,
}

impl Offload {
    /// `engine` runs the sections that it `serves`, each as a program of its own, and `host` the rest.
    pub fn new(host: Arc<dyn Machine>, engine: Arc<dyn Machine>, serves: Serves) -> Self {
        Self { name: format!("{} with {}", host.name(), engine.name()), host, engine, serves }
    }

    fn split(&self, program: &LimbProgram) -> Result<Split, MachineError> {
        match split(program, |kind| (self.serves)(kind)) {
            Err(SplitError::NoSections { .. }) => Ok(Split::whole(program)),
            other => other.map_err(|e| MachineError::Unsupported {
                machine: self.name.clone(),
                program: program.name().to_owned(),
                reason: e.to_string(),
            }),
        }
    }

    fn machine_of(&self, part: &Part) -> &dyn Machine {
        if part.served.is_some() { &*self.engine } else { &*self.host }
    }
}

impl fmt::Debug for Offload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Offload({})", self.name)
    }
}

impl Machine for Offload {
    fn name(&self) -> &str {
        &self.name
    }

    /// Those of the host, which chooses methods.
    fn costs(&self) -> Result<CostTable, MachineError> {
        self.host.costs()
    }

    fn computes_here(&self) -> bool {
        self.host.computes_here()
    }

    fn is_client(&self) -> bool {
        self.host.is_client() && self.engine.is_client()
    }

    fn accepts(&self, program: &LimbProgram) -> Result<(), MachineError> {
        client::check(self, program)?;
        self.split(program)?.parts.iter().try_for_each(|part| self.machine_of(part).accepts(&part.program))
    }

    fn prepare(&self, program: &LimbProgram) -> Result<Box<dyn Executable>, MachineError> {
        client::check(self, program)?;
        let Split { parts, between } = self.split(program)?;
        let mut last_reader = vec![0; between];
        for (i, part) in parts.iter().enumerate() {
            for from in &part.inputs {
                if let From::Between(number) = from {
                    last_reader[*number] = i;
                }
            }
        }
        let prepare = |part: Part| {
            let executable = self.machine_of(&part).prepare(&part.program)?;
            Ok((executable, part.inputs, part.outputs))
        };
        let parts = parts.into_iter().map(prepare).collect::<Result<_, MachineError>>()?;
        Ok(Box::new(Prepared { program: program.clone(), parts, last_reader }))
    }
}

/// An executable with what its input and output limbs are.
type PreparedPart = (Box<dyn Executable>, Vec<From>, Vec<To>);

struct Prepared {
    program: LimbProgram,
    parts: Vec<PreparedPart>,
    /// The last part that reads each limb between parts.
    last_reader: Vec<usize>,
}

impl Executable for Prepared {
    fn program(&self) -> &LimbProgram {
        &self.program
    }

    fn run(&self, inputs: &[&[u64]], outputs: &mut [&mut [u64]]) -> Result<(), MachineError> {
        check_borders(&self.program, inputs, outputs)?;
        let n = self.program.n();
        let mut between: Vec<Vec<u64>> = vec![Vec::new(); self.last_reader.len()];
        for (i, (executable, from, to)) in self.parts.iter().enumerate() {
            let mut results: Vec<Vec<u64>> = to.iter().map(|_| vec![0; n]).collect();
            let read: Vec<&[u64]> = from
                .iter()
                .map(|from| match from {
                    From::Input(input) => inputs[input.index()],
                    From::Between(number) => &between[*number],
                })
                .collect();
            executable.run(&read, &mut results.iter_mut().map(Vec::as_mut_slice).collect::<Vec<_>>())?;
            for (result, to) in results.into_iter().zip(to) {
                match to {
                    To::Output(output) => outputs[output.index()].copy_from_slice(&result),
                    To::Between(number) => between[*number] = result,
                }
            }
            for from in from {
                match from {
                    From::Between(number) if self.last_reader[*number] == i => between[*number] = Vec::new(),
                    _ => {}
                }
            }
        }
        Ok(())
    }
}
