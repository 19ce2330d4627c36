//! Targets: kinds of machines that can be built for a device, as the search sees them.
//!
//! A target enumerates its machines for a device, says which primes each serves, bounds and simulates what a program takes, and
//! states area, power and where each number comes from. Search, store and report know this trait alone. Each target is a folder
//! here and a row of [`TARGETS`]; how to add one: `docs/how-to/add-a-target.md`.

pub mod compact;
pub mod encryptor;
mod erased;
pub mod pipelined;
mod registry;
mod row;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::hash::Hash;

use ringmill_machine::MachineSpec;
use ringmill_machine::registry::Entry;
use ringmill_program::limb::LimbProgram;
use ringmill_program::manage::Encryption;

pub use erased::AnyTarget;
pub(crate) use erased::written;
pub use registry::{TARGETS, named, named_in};
pub(crate) use registry::{default, upgrade};
pub use row::{Axis, Column, Row, Values};

use crate::design::{Built, Figure, PrimeClass, Resource};
use crate::device::Share;
use crate::space::chains::Shape;
use crate::{Constraints, Device, ExploreError, Space};

/// A kind of machines. See the [module](self).
pub trait Target: Debug + Copy + PartialEq + Send + Sync + 'static {
    /// One of the machines, checked.
    type Machine: Debug + Clone + PartialEq + Send + Sync;
    /// What cycles depend on beside the program's structure: machines alike in this take the same.
    type Timing: Key;
    /// What the bound needs to know of a limb program.
    type Demand: Send + Sync;

    /// What is printed, read and stored of it.
    fn row(&self) -> &'static Row;

    /// The machine of the registry of machines that a design of it names.
    fn entry(&self) -> &'static Entry;

    /// Rules for axes of the space together. Each alone is checked already.
    ///
    /// # Errors
    /// [`ExploreError::Constraint`].
    fn check(&self, _space: &Space) -> Result<(), ExploreError> {
        Ok(())
    }

    /// Classes of primes that machines of the space serve, each with the bits of the widest.
    fn classes(&self, space: &Space) -> Vec<(PrimeClass, u32)>;

    /// Primes that the least machine holds which holds this number: machines come in few sizes.
    fn holding(&self, primes: usize) -> u32;

    /// Primes that the least machine holds which holds parameters of a shape: all of them, unless special ones are not on it.
    fn size(&self, shape: &Shape) -> u32 {
        self.holding(shape.limbs + shape.special)
    }

    /// The space without parameters that no machine of it holds.
    fn narrowed(&self, space: &Space) -> Space {
        space.clone()
    }

    /// How the client encrypts where machines of the space are: it decides the error of arguments.
    fn encryption(&self, _space: &Space) -> Encryption {
        Encryption::default()
    }

    /// Every machine of the space on the device, fitting or not, in a fixed order.
    ///
    /// # Errors
    /// A device that none stands on; data that lack something.
    fn enumerate(&self, place: &Place<'_>) -> Result<Vec<Core<Self>>, ExploreError>;

    /// Whether a machine serves primes of a class and a number of bits.
    fn serves(&self, core: &Core<Self>, class: PrimeClass, widest: u32) -> bool;

    /// What the bound needs to know of a program; any machine that can compute it will do. `None` for what none computes: it has
    /// no bound, and is found out when it is simulated.
    fn demand(&self, core: &Core<Self>, program: &LimbProgram) -> Option<Self::Demand>;

    /// Cycles that no run goes below.
    fn bound(&self, core: &Core<Self>, demand: &Self::Demand) -> u64;

    /// Cycles of a run, exactly.
    ///
    /// # Errors
    /// Why the machine cannot run the program.
    fn run(&self, core: &Core<Self>, program: &LimbProgram, plan: Plan) -> Result<Run, ExploreError>;

    /// What binds, and why, where machines fit a device and none of them runs a program of the kernel.
    fn runs_nothing(&self, device: &Device) -> (&'static str, String) {
        ("device", format!("no program of the kernel can be scheduled in the memory of {}", device.name))
    }

    /// What a machine takes of a device, with origins.
    fn resources(&self, core: &Core<Self>) -> BTreeMap<Resource, Figure>;

    /// The clock of a machine on a device: that of the device's file, unless nothing is known of the target there. Cycles are counted
    /// at it, so only the origin may be another one.
    fn clock(&self, device: &Device) -> Figure {
        device.frequency()
    }

    /// Watts of a board with a machine at work: those of the device's file, unless they are of other machines.
    fn power(&self, device: &Device) -> Option<Figure> {
        device.power.as_ref().map(|p| Figure::new(p.watts, p.kind, p.source.clone()))
    }

    /// Results a second where runs follow each other without a gap; `None` where a run begins when the one before has ended.
    fn per_second(&self, _device: &Device, _core: &Core<Self>, _run: &Run) -> Option<Figure> {
        None
    }

    /// Whether energy is known operation by operation on a device.
    fn counts_energy(&self, _device: &Device) -> bool {
        false
    }

    /// Millijoules of a run on such a device.
    fn energy(&self, _device: &Device, _core: &Core<Self>, _run: &Run) -> Option<Figure> {
        None
    }

    /// The machine as a design says it, with the effort that its plan takes.
    fn write(&self, machine: &Self::Machine, plan: Plan) -> Built;

    /// The machine of a design.
    ///
    /// # Errors
    /// What no machine of the target has.
    fn read(&self, spec: &MachineSpec, built: &Built) -> Result<Self::Machine, ExploreError>;
}

/// Cores of one target that may be built, with what the search compares.
#[derive(Debug, Clone, PartialEq)]
pub struct Core<T: Target> {
    /// The machine.
    pub machine: T::Machine,
    /// Bits of the widest prime that it holds.
    pub prime_bits: u32,
    /// What it takes.
    pub needs: BTreeMap<Resource, f64>,
    /// What of the device that is.
    pub share: Share,
    /// What its cycles depend on.
    pub timing: T::Timing,
    /// Whether it fits, and if not, the resource that binds, the amount needed and what there is.
    pub binding: Option<(Resource, f64, f64)>,
}

/// What machines are enumerated for.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The axes.
    pub space: &'a Space,
    /// The device.
    pub device: &'a Device,
    /// How much of it may be used.
    pub constraints: &'a Constraints,
    /// log2 of the degree.
    pub log_n: u32,
    /// Primes that it holds, of [`Target::holding`].
    pub primes: u32,
}

impl Place<'_> {
    /// A machine that takes these resources, with what follows from them on the device.
    pub fn core<T: Target>(
        &self,
        machine: T::Machine,
        prime_bits: u32,
        timing: T::Timing,
        needs: BTreeMap<Resource, f64>,
    ) -> Core<T> {
        // As if all of the device may be used, by a machine as much larger.
        let scaled = needs.iter().map(|(&r, &x)| (r, x / self.constraints.utilisation)).collect();
        let (share, binding) = (self.device.share(&needs), self.device.binding(&scaled));
        Core { machine, prime_bits, needs, share, timing, binding }
    }
}

/// How much effort goes into the plan of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plan {
    /// As little as there can be: the plan of everything that is searched.
    Quick,
    /// As for a machine that is built: the plan of the design that is chosen.
    Long,
}

/// What a run did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Run {
    /// Cycles.
    pub cycles: u64,
    /// Other counts, in the order of the row's [`Row::counters`].
    pub counts: Vec<u64>,
}

/// What has a text in files of results that reads back.
pub trait Key: Debug + Copy + Ord + Hash + Send + Sync {
    /// The text.
    fn key(&self) -> String;
    /// From what [`Self::key`] writes.
    fn from_key(key: &str) -> Option<Self>;
}
