//! `cpu` in the registry.

use std::sync::Arc;

use crate::parameter::{Allowed, Parameter};
use crate::registry::{Entry, Estimates, LeftOut, Setting};
use crate::spec::MachineSpec;
use crate::{Cpu, Machine, MachineError, client};

static THREADS: Parameter = Parameter {
    name: "threads",
    field: "threads",
    rtl: None,
    // Thousands wait for one another longer than they compute.
    allowed: Allowed::Range(1, 256),
    default: None,
    unit: "",
    about: "worker threads; results do not depend on them",
};

/// The machine `cpu`.
pub static ENTRY: Entry = Entry {
    name: "cpu",
    about: "this computer's processor, fast",
    runs: "all; those with secret inputs in the role of a client",
    estimates: Estimates::Seconds,
    simulates: "vector kernels, chosen for the processor",
    shared: true,
    options: &[Setting::or(&THREADS, LeftOut::Words("all cores")), client::SETTING],
    open,
};

fn open(spec: &MachineSpec) -> Result<Arc<dyn Machine>, MachineError> {
    let all = || std::thread::available_parallelism().map_or(1, usize::from);
    // The range of the option fits.
    let threads = spec.whole("threads").map_or_else(all, |n| n as usize);
    let cpu = Cpu::new()?.with_threads(threads);
    Ok(Arc::new(if client::asked(spec) { cpu.for_client() } else { cpu }))
}
