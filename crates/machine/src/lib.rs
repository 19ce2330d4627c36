//! What runs a limb program: the reference interpreter, the CPU, the compact core; and estimates of the time that others take.
//!
//! A [`Machine`] prepares a [`LimbProgram`] once; the [`Executable`] then runs as often as one likes, on limbs
//! bound in program order. Two machines that run the same program produce the same bits.

pub mod bindings;
pub mod board;
pub mod calibrate;
pub mod client;
pub mod compact;
pub mod cpu;
pub mod encryptor;
pub mod error;
pub mod file;
pub mod offload;
mod ordered;
pub mod parameter;
pub mod pipelined;
pub mod reference;
pub mod registry;
pub mod spec;
pub mod taiyi;
pub mod timing;
mod watch;

use ringmill_program::cost::CostTable;
use ringmill_program::limb::LimbProgram;
use ringmill_ring::{LimbSource, Pool};

pub use bindings::Bindings;
pub use board::{Board, BoardError};
pub use client::{SampleSeeds, Samples};
pub use compact::{Compact, CompactConfig};
pub use cpu::Cpu;
pub use error::MachineError;
pub use file::Described;
pub use offload::Offload;
pub use ordered::Ordered;
pub use pipelined::Pipelined;
pub use reference::{ClientReference, Reference};
pub use spec::{MachineSpec, SpecError};
pub use taiyi::Taiyi;
pub use timing::Timing;
pub use watch::Watch;

/// Something that runs limb programs.
pub trait Machine: Send + Sync {
    /// Its name, as in `--machine cpu`.
    fn name(&self) -> &str;

    /// Where the memory of its runs rests between them, for other uses meanwhile.
    fn memory(&self) -> Option<&Pool> {
        None
    }

    /// The costs by which key-switch methods are chosen for it, with the primes that it has for them: those of this computer
    /// where it brings none of its own.
    ///
    /// # Errors
    /// [`MachineError::Costs`] where those of this computer cannot be read.
    fn costs(&self) -> Result<CostTable, MachineError> {
        cpu::costs::costs()
    }

    /// Whether it belongs to a client: only then it takes programs with secret and sampled inputs.
    fn is_client(&self) -> bool {
        false
    }

    /// Whether it can run a program, found out without preparing it. What depends on a schedule, such as the memory of a core, is
    /// found out by [`Self::prepare`] alone.
    ///
    /// # Errors
    /// [`MachineError::ClientOnly`] for secret or sampled inputs on a machine that [is no client's](Self::is_client); why else it
    /// cannot. A machine with rules of its own begins with [`client::check`].
    fn accepts(&self, program: &LimbProgram) -> Result<(), MachineError> {
        client::check(self, program)
    }

    /// What a program takes, without running it. `None` where the machine has no estimate.
    ///
    /// # Errors
    /// As [`Self::accepts`] and [`Self::prepare`].
    fn estimate(&self, _program: &LimbProgram) -> Result<Option<Timing>, MachineError> {
        Ok(None)
    }

    /// Whether its runs take memory of this process as far as a program needs it, so that callers see to it that it suffices.
    fn computes_here(&self) -> bool {
        false
    }

    /// Gets ready to run `program`: tables, buffers, fused instructions. Allocated or not, the program means the same.
    ///
    /// # Errors
    /// As [`Self::accepts`]; [`MachineError::Unsupported`] for a program that this machine cannot run.
    fn prepare(&self, program: &LimbProgram) -> Result<Box<dyn Executable>, MachineError>;
}

/// A program that a machine has prepared.
///
/// Sampled inputs are bound like all others. [`Executable::run_sampled`] draws them first.
pub trait Executable: Send + Sync {
    /// The program it runs.
    fn program(&self) -> &LimbProgram;

    /// Runs it: `inputs` are the limbs of all input groups in program order, N canonical residues each; `outputs`
    /// are filled in the order of the output groups.
    ///
    /// # Errors
    /// A wrong number of limbs or words. Whether residues are canonical is checked by [`Bindings::check_canonical`],
    /// not here; other words give some result, but not a defined one.
    fn run(&self, inputs: &[&[u64]], outputs: &mut [&mut [u64]]) -> Result<(), MachineError>;

    /// As [`Self::run`], of a program with sampled inputs: all other inputs are bound, and these are drawn from the seeds. A machine
    /// without samplers of its own is given what [`Samples`] draws: the same words.
    ///
    /// # Errors
    /// [`MachineError::Unbound`] for another input; as [`Self::run`].
    fn run_sampled(
        &self,
        bound: &Bindings<'_, '_>,
        seeds: SampleSeeds<'_>,
        outputs: &mut [&mut [u64]],
    ) -> Result<(), MachineError> {
        let samples = Samples::draw(self.program(), seeds)?;
        let mut all = bound.clone();
        samples.bind(&mut all)?;
        self.run(&all.inputs()?, outputs)
    }

    /// As [`Self::run`], with limbs that need not be words yet: halves of keys. A machine that has no better way makes all
    /// of them first.
    ///
    /// # Errors
    /// As [`Self::run`].
    fn run_from(&self, inputs: &[LimbSource<'_>], outputs: &mut [&mut [u64]]) -> Result<(), MachineError> {
        bindings::check_borders(self.program(), inputs, outputs)?;
        let words: Vec<_> = inputs.iter().map(|limb| limb.to_words(self.program().n())).collect();
        self.run(&words.iter().map(|limb| &**limb).collect::<Vec<_>>(), outputs)
    }

    /// As [`Self::run_from`], while another thread may see how far it is, and may end it: what `outputs` hold then is undefined. A
    /// machine that has no better way reports nothing, and looks before it begins whether it is to end.
    ///
    /// # Errors
    /// [`MachineError::Stopped`]; as [`Self::run`].
    fn run_watched(
        &self,
        inputs: &[LimbSource<'_>],
        outputs: &mut [&mut [u64]],
        watch: &Watch,
    ) -> Result<(), MachineError> {
        watch.go_on()?;
        self.run_from(inputs, outputs)
    }
}
