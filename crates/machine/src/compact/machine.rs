//! `compact` as a machine: plans a limb program, puts it and its data into a core's memory, runs it.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use ringmill_program::cost::CostTable;
use ringmill_program::limb::LimbProgram;

use super::estimate::estimate;
use super::plan::{Plan, Search, plan};
use super::{
    CompactConfig, CompactError, Core, CoreLibrary, Counters, Emulator, Instruction, Policy, SimulatedMemory,
    TableEntry, costs, lower,
};
use crate::bindings::check_borders;
use crate::{Executable, Machine, MachineError, Timing, client};

/// Opens a core of a configuration with a number of bytes of memory in use.
pub type Opener = Arc<dyn Fn(&CompactConfig, u64) -> Result<Box<dyn Core>, CompactError> + Send + Sync>;

/// The machine `compact`.
#[derive(Clone)]
pub struct Compact {
    config: CompactConfig,
    open: Opener,
    search: Search,
    /// Of its clock, where it is known.
    mhz: Option<f64>,
}

/// Passes scheduled in the search for a plan, all attempts together: some hundredths of a second.
pub const EFFORT: usize = 8_000;

impl fmt::Debug for Compact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compact").field("config", &self.config).finish_non_exhaustive()
    }
}

impl Compact {
    /// On emulated cores: the instructions one by one, without time.
    pub fn emulated(config: CompactConfig) -> Self {
        Self::new(config, Arc::new(|config, _| Ok(Box::new(Emulator::new(*config)))))
    }

    /// On simulated cores of a library.
    pub fn simulated(config: CompactConfig, library: CoreLibrary, memory: SimulatedMemory) -> Self {
        let open = move |config: &CompactConfig, bytes: u64| -> Result<Box<dyn Core>, CompactError> {
            Ok(Box::new(library.open(config, bytes, memory)?))
        };
        Self::new(config, Arc::new(open))
    }

    /// On cores that `open` gives, one for each prepared program.
    pub fn new(config: CompactConfig, open: Opener) -> Self {
        Self { config, open, search: Search { policy: Policy::default(), effort: EFFORT }, mhz: None }
    }

    /// The same machine with another effort in search of a plan: passes scheduled, all attempts together.
    pub fn with_effort(mut self, effort: usize) -> Self {
        self.search.effort = effort;
        self
    }

    /// The same machine with another policy.
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.search.policy = policy;
        self
    }

    /// The same machine with a clock of `mhz`: costs are given for it, and estimates in seconds.
    pub fn with_clock(mut self, mhz: f64) -> Self {
        self.mhz = Some(mhz);
        self
    }

    /// Its clock in MHz, where it is known.
    pub const fn clock_mhz(&self) -> Option<f64> {
        self.mhz
    }

    /// Its costs at its clock, or at [`costs::CLOCK_MHZ`] where it is not known.
    pub fn costs_at_clock(&self) -> CostTable {
        costs::table(&self.config, self.mhz.unwrap_or(costs::CLOCK_MHZ))
    }

    /// The configuration of its cores.
    pub const fn config(&self) -> &CompactConfig {
        &self.config
    }

    /// Refuses a program that the core was not built for.
    fn check(&self, program: &LimbProgram) -> Result<(), CompactError> {
        if let Some(group) = program.client_input() {
            return Err(CompactError::ClientInput { input: group.name.clone(), class: group.class.name() });
        }
        let (config, moduli) = (&self.config, program.moduli());
        config.check_degree(program.log_n())?;
        if moduli.len() > config.moduli() as usize {
            return Err(CompactError::TooManyModuli { found: moduli.len(), max: config.moduli() });
        }
        moduli.iter().try_for_each(|m| config.check_modulus(m.modulus))
    }

    /// The instructions for a program and its place in memory.
    ///
    /// # Errors
    /// What the core was not built for.
    pub fn plan(&self, program: &LimbProgram) -> Result<Plan, CompactError> {
        self.check(program)?;
        let config = &self.config;
        let graph = lower::build::build(config, program)?;
        plan(config, program, &graph, self.search)
    }

    /// Plans a program and loads a core with it.
    ///
    /// # Errors
    /// As [`Self::plan`], and whatever prevents opening a core; [`CompactError::CasaSequence`] under that policy.
    pub fn load(&self, program: &LimbProgram) -> Result<Loaded, CompactError> {
        if self.search.policy == Policy::Casa {
            return Err(CompactError::CasaSequence);
        }
        self.load_plan(program, self.plan(program)?)
    }

    /// Loads a core with a plan of a program, made by a machine of the same configuration.
    ///
    /// # Errors
    /// Whatever prevents opening a core.
    pub fn load_plan(&self, program: &LimbProgram, plan: Plan) -> Result<Loaded, CompactError> {
        let mut core = (self.open)(&self.config, plan.bytes)?;
        for (index, m) in program.moduli().iter().enumerate() {
            core.set_modulus(index, &TableEntry::new(&self.config, m.modulus, program.log_n())?)?;
        }
        let words: Vec<u64> = plan.instructions.iter().flat_map(Instruction::encode).collect();
        let zeros = vec![0; program.n()];
        for address in (0..plan.program).step_by(8 * program.n()) {
            core.write(address, &zeros)?;
        }
        core.write(plan.program, &words)?;
        Ok(Loaded {
            program: program.clone(),
            plan,
            factor_bits: self.config.factor_bits(),
            core: Mutex::new(core),
        })
    }
}

impl Machine for Compact {
    fn name(&self) -> &str {
        "compact"
    }

    fn costs(&self) -> Result<CostTable, MachineError> {
        Ok(self.costs_at_clock())
    }

    fn accepts(&self, program: &LimbProgram) -> Result<(), MachineError> {
        client::check(self, program)?;
        if self.search.policy == Policy::Casa {
            return Err(CompactError::CasaSequence.into());
        }
        Ok(self.check(program)?)
    }

    fn estimate(&self, program: &LimbProgram) -> Result<Option<Timing>, MachineError> {
        client::check(self, program)?;
        Ok(Some(estimate(self, program)?))
    }

    fn prepare(&self, program: &LimbProgram) -> Result<Box<dyn Executable>, MachineError> {
        client::check(self, program)?;
        Ok(Box::new(self.load(program)?))
    }
}

/// A program in the memory of a core.
pub struct Loaded {
    program: LimbProgram,
    plan: Plan,
    factor_bits: u32,
    /// One core runs one program at a time; callers wait.
    core: Mutex<Box<dyn Core>>,
}

impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loaded").field("program", &self.program.name()).finish_non_exhaustive()
    }
}

impl Loaded {
    /// The plan.
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// As [`Executable::run`], with the counters of the core.
    ///
    /// # Errors
    /// As [`Executable::run`].
    pub fn run_counted(
        &self,
        inputs: &[&[u64]],
        outputs: &mut [&mut [u64]],
    ) -> Result<Counters, MachineError> {
        check_borders(&self.program, inputs, outputs)?;
        let mut core = self.core.lock().unwrap_or_else(PoisonError::into_inner);
        for slot in &self.plan.inputs {
            let limb = inputs[slot.input as usize];
            core.write(slot.address, &slot.stored(&self.program, self.factor_bits, limb))?;
        }
        let counters = core.run(self.plan.program, self.program.log_n())?;
        for (&address, limb) in self.plan.outputs.iter().zip(outputs) {
            core.read(address, limb)?;
        }
        Ok(counters)
    }
}

impl Executable for Loaded {
    fn program(&self) -> &LimbProgram {
        &self.program
    }

    fn run(&self, inputs: &[&[u64]], outputs: &mut [&mut [u64]]) -> Result<(), MachineError> {
        self.run_counted(inputs, outputs).map(|_| ())
    }
}
