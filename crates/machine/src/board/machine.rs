//! The machine `board`: limb programs on a core behind a line.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};

use ringmill_program::cost::CostTable;
use ringmill_program::limb::LimbProgram;
use ringmill_ring::LimbSource;

use super::BoardError;
use super::link::{Link, Settings};
use crate::bindings::check_borders;
use crate::compact::{Compact, CompactConfig, CompactError, Counters, Plan, TableEntry};
use crate::{Executable, Machine, MachineError, Timing, Watch, client};

/// Makes the planner of a core: its clock, policy and effort.
pub(super) type Planner = dyn Fn(Compact) -> Compact + Send + Sync;

/// A compact core behind a port. Its line is opened when a program is prepared first, and again after it failed.
pub struct Board {
    shared: Arc<Shared>,
    planner: Box<Planner>,
}

/// A port, which all machines of this process share that reach it in the same way.
struct Shared {
    /// None where no port was given.
    settings: Option<Settings>,
    /// One program at a time.
    link: Mutex<Option<Link>>,
}

impl Board {
    pub(super) fn new(settings: Option<Settings>, planner: Box<Planner>) -> Self {
        Self { shared: Shared::of(settings), planner }
    }

    /// The core that answers, as a machine that plans for it.
    ///
    /// # Errors
    /// [`BoardError`], if none does.
    pub fn core(&self) -> Result<Compact, MachineError> {
        let mut link = self.shared.lock();
        let config = *self.shared.opened(&mut link)?.config();
        let nowhere =
            |_: &CompactConfig, _| Err(CompactError::Simulator { reason: "it is on a board".into() });
        Ok((self.planner)(Compact::new(config, Arc::new(nowhere))))
    }
}

impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Board").field("settings", &self.shared.settings).finish_non_exhaustive()
    }
}

/// The ports that are open, by process: after a fork each has its own.
type Ports = HashMap<(u32, Settings), Weak<Shared>>;

impl Shared {
    fn of(settings: Option<Settings>) -> Arc<Self> {
        static PORTS: LazyLock<Mutex<Ports>> = LazyLock::new(Mutex::default);
        let made = Arc::new(Self { settings: settings.clone(), link: Mutex::new(None) });
        let Some(settings) = settings else { return made };
        let mut ports = PORTS.lock().unwrap_or_else(PoisonError::into_inner);
        ports.retain(|_, port| port.strong_count() > 0);
        let key = (std::process::id(), settings);
        if let Some(port) = ports.get(&key).and_then(Weak::upgrade) {
            return port;
        }
        ports.insert(key, Arc::downgrade(&made));
        made
    }

    fn lock(&self) -> MutexGuard<'_, Option<Link>> {
        self.link.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The link, which is opened where it is missing.
    fn opened<'l>(&self, link: &'l mut Option<Link>) -> Result<&'l mut Link, MachineError> {
        let settings = self.settings.as_ref().ok_or(BoardError::NoPort)?;
        match link {
            Some(link) => Ok(link),
            none => Ok(none.insert(Link::open(settings)?)),
        }
    }
}

impl Machine for Board {
    fn name(&self) -> &str {
        "board"
    }

    fn costs(&self) -> Result<CostTable, MachineError> {
        self.core()?.costs()
    }

    fn accepts(&self, program: &LimbProgram) -> Result<(), MachineError> {
        client::check(self, program)?;
        self.core()?.accepts(program)
    }

    fn estimate(&self, program: &LimbProgram) -> Result<Option<Timing>, MachineError> {
        client::check(self, program)?;
        self.core()?.estimate(program)
    }

    fn prepare(&self, program: &LimbProgram) -> Result<Box<dyn Executable>, MachineError> {
        client::check(self, program)?;
        let core = self.core()?;
        core.accepts(program)?;
        let plan = core.plan(program)?;
        let entry = |m| TableEntry::new(core.config(), m, program.log_n());
        let table = program.moduli().iter().map(|m| entry(m.modulus)).collect::<Result<_, _>>()?;
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let job = Job { number, program: program.clone(), plan, table, config: *core.config() };
        Ok(Box::new(Loaded { job, shared: self.shared.clone() }))
    }
}

/// A program as a board takes it.
pub(super) struct Job {
    /// No other program of this process has it.
    pub(super) number: u64,
    pub(super) program: LimbProgram,
    pub(super) plan: Plan,
    pub(super) table: Vec<TableEntry>,
    /// What it was planned for.
    config: CompactConfig,
}

/// A program that a board runs.
struct Loaded {
    job: Job,
    shared: Arc<Shared>,
}

impl Loaded {
    fn run_counted(
        &self,
        inputs: &[LimbSource<'_>],
        outputs: &mut [&mut [u64]],
        watch: &Watch,
    ) -> Result<Counters, MachineError> {
        check_borders(&self.job.program, inputs, outputs)?;
        watch.go_on()?;
        let mut held = self.shared.lock();
        let link = self.shared.opened(&mut held)?;
        if link.config() != &self.job.config {
            let [found, prepared] = [link.config(), &self.job.config].map(|c| format!("{:?}", c.literal()));
            let place = self.shared.settings.as_ref().map(|s| s.place.to_string()).unwrap_or_default();
            return Err(BoardError::OtherCore { place, found, prepared }.into());
        }
        let outcome = link.run(&self.job, inputs, outputs, watch).map_err(|e| link.explained(e));
        // After an error nobody knows what the board holds; it keeps that of a run that was ended.
        if !matches!(outcome, Ok(_) | Err(MachineError::Stopped)) {
            *held = None;
        }
        outcome
    }
}

impl Executable for Loaded {
    fn program(&self) -> &LimbProgram {
        &self.job.program
    }

    fn run(&self, inputs: &[&[u64]], outputs: &mut [&mut [u64]]) -> Result<(), MachineError> {
        let inputs: Vec<LimbSource<'_>> = inputs.iter().map(|&limb| limb.into()).collect();
        self.run_from(&inputs, outputs)
    }

    fn run_from(&self, inputs: &[LimbSource<'_>], outputs: &mut [&mut [u64]]) -> Result<(), MachineError> {
        self.run_watched(inputs, outputs, &Watch::default())
    }

    fn run_watched(
        &self,
        inputs: &[LimbSource<'_>],
        outputs: &mut [&mut [u64]],
        watch: &Watch,
    ) -> Result<(), MachineError> {
        self.run_counted(inputs, outputs, watch).map(|_| ())
    }
}
