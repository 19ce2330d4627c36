//! A machine that is a Python function: a board's driver, say.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use ringmill::machine::bindings::check_borders;
use ringmill::machine::{Executable, Machine, MachineError};
use ringmill_program::limb::LimbProgram;

/// Calls a function with the text of the limb program and the input limbs, as bytes of little-endian words each in the
/// order of the program; it returns the output limbs likewise.
pub(crate) struct Outside {
    run: Arc<Py<PyAny>>,
}

impl Outside {
    pub(crate) fn new(run: Py<PyAny>) -> Self {
        Self { run: Arc::new(run) }
    }
}

impl Machine for Outside {
    fn name(&self) -> &str {
        "outside"
    }

    fn prepare(&self, program: &LimbProgram) -> Result<Box<dyn Executable>, MachineError> {
        Ok(Box::new(Prepared { program: program.clone(), text: program.to_string(), run: self.run.clone() }))
    }
}

struct Prepared {
    program: LimbProgram,
    text: String,
    run: Arc<Py<PyAny>>,
}

impl Prepared {
    fn call(&self, inputs: &[&[u64]]) -> PyResult<Vec<Vec<u8>>> {
        Python::attach(|py| {
            let bytes = |limb: &&[u64]| {
                let words = limb.iter().flat_map(|x| x.to_le_bytes());
                PyBytes::new(py, &words.collect::<Vec<u8>>())
            };
            let limbs = PyList::new(py, inputs.iter().map(bytes))?;
            self.run.call1(py, (&self.text, limbs))?.extract(py)
        })
    }
}

impl Executable for Prepared {
    fn program(&self) -> &LimbProgram {
        &self.program
    }

    fn run(&self, inputs: &[&[u64]], outputs: &mut [&mut [u64]]) -> Result<(), MachineError> {
        check_borders(&self.program, inputs, outputs)?;
        let found = self.call(inputs).map_err(|e| MachineError::Device { reason: e.to_string() })?;
        let shapes = (found.len(), found.iter().all(|limb| limb.len() == 8 * self.program.n()));
        if shapes != (outputs.len(), true) {
            let reason = format!(
                "it returned {} limbs of the program's {}, or limbs that have not {} words",
                found.len(),
                outputs.len(),
                self.program.n()
            );
            return Err(MachineError::Device { reason });
        }
        for (limb, bytes) in outputs.iter_mut().zip(&found) {
            for (word, chunk) in limb.iter_mut().zip(bytes.chunks_exact(8)) {
                *word = u64::from_le_bytes(chunk.try_into().unwrap_or_default());
            }
        }
        Ok(())
    }
}
