//! A run as other threads see it: how far it is, and how they end it.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::MachineError;

/// The progress of a run and the request to stop it; one for each run.
#[derive(Debug, Default)]
pub struct Watch {
    stopped: AtomicBool,
    done: AtomicUsize,
    all: AtomicUsize,
}

impl Watch {
    /// Has the run end before its next step.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Steps that are done, and all steps. A machine counts what it does in one piece: fused instructions, or
    /// one. Both are 0 before a run begins, and on machines that do not report progress.
    pub fn progress(&self) -> (usize, usize) {
        (self.done.load(Ordering::Relaxed), self.all.load(Ordering::Relaxed))
    }

    /// A run of `steps` steps begins.
    pub(crate) fn begin(&self, steps: usize) {
        self.done.store(0, Ordering::Relaxed);
        self.all.store(steps, Ordering::Relaxed);
    }

    /// A step is done.
    pub(crate) fn step(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// Goes on unless the run is to end.
    pub(crate) fn go_on(&self) -> Result<(), MachineError> {
        if self.stopped.load(Ordering::Relaxed) { Err(MachineError::Stopped) } else { Ok(()) }
    }
}
