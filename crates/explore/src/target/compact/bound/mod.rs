//! The closed form: cycles that no schedule goes below.
//!
//! A program's [`tasks`] are passes through the one arithmetic unit, transforms on two lanes, and limbs that memory sends
//! and takes. From the graph of who waits for whom follows, for a core,
//!
//! - for each task the earliest cycle at which it can be done, its *head*. A pass takes a cycle a row, or
//!   longer if its operand arrives later or its result must be written to memory by the scheduler's rules.
//!   The passes of a sum follow each other. A transform begins when its limb is complete. No task is done
//!   before everything that it depends on went through the units;
//! - for each task the fewest cycles that follow it, its *tail*, by the same rules from the end;
//! - for each unit the greatest *window*: of all that begins after some head and is followed by some tail, the work between
//!   them. Transforms share both lanes whatever lane each takes, so that a transform on both at once ([`Core::alone`]) is
//!   covered.
//!
//! Moves that a lack of banks causes, and other waits between units, are not in the bound.

mod closure;
mod graph;
mod walk;
mod window;

use ringmill_cycles::axi::Shape;
use ringmill_machine::compact::model::Steps;
use ringmill_machine::compact::work::tasks;
use ringmill_machine::compact::{CompactConfig, CompactError};
use ringmill_program::limb::LimbProgram;

use closure::KINDS;
use graph::{Graph, PASSES, STORES, STREAMED};
use walk::Walk;
use window::least;

/// Lanes: transforms share them.
const LANES: u64 = 2;

/// What the bound needs to know of a limb program.
#[derive(Debug, Clone)]
pub struct Demand {
    log_n: u32,
    graph: Graph,
}

impl Demand {
    /// Of a program. Any core that can compute it will do: none changes what there is to do.
    ///
    /// # Errors
    /// What the core cannot compute.
    pub fn of(config: &CompactConfig, program: &LimbProgram) -> Result<Self, CompactError> {
        Ok(Self { log_n: program.log_n(), graph: Graph::new(tasks(config, program)?) })
    }

    /// The bound for a core: cycles of a run that finds no roots.
    pub fn cycles(&self, config: &CompactConfig) -> u64 {
        let walk = Walk { graph: &self.graph, core: Core::new(config, self.log_n) };
        let (heads, tails) = (walk.heads(), walk.tails());
        let [lanes, passes, reads] = walk.jobs(&heads, &tails);
        let writes = walk.core.first() + self.graph.writes * walk.core.memory;
        least(lanes, LANES).max(least(passes, 1)).max(least(reads, 1)).max(writes)
    }
}

/// A core, as the bound sees it.
#[derive(Debug, Clone, Copy)]
struct Core {
    rows: u64,
    steps: Steps,
    /// A transform from its start to its end if both lanes serve it as well as they can.
    alone: u64,
    /// What it takes of both lanes in sum, if as little as can be.
    shared: u64,
    /// Cycles of memory for a limb.
    memory: u64,
    /// A pass whose operand comes from memory: all but the rows that are there when it begins arrive while it runs.
    streamed: u64,
    /// A pass that stores its result: all but the rows that may wait to be written are taken while it runs.
    storing: u64,
    /// Cycles of memory for the rows that can be there before a pass asks for them.
    ahead: u64,
    latency: u64,
}

impl Core {
    fn new(config: &CompactConfig, log_n: u32) -> Self {
        let rows = u64::from(config.rows(log_n));
        let steps = Steps::of(config, log_n);
        let beats = (64u64 << log_n).div_ceil(config.bus_bits().into());
        let memory = beats * u64::from(config.timing().beat_cycles);
        let ahead = (memory * fifo_rows(config)).div_ceil(rows);
        let latency = config.timing().latency.into();
        let streamed = rows.max(memory.saturating_sub(ahead));
        let behind = (memory * WAITING_ROWS).div_ceil(rows);
        let storing = rows.max(memory.saturating_sub(behind));
        let alone = steps.transform.min(steps.ganged);
        let shared = steps.transform.min(LANES * steps.ganged);
        Self { rows, steps, alone, shared, memory, streamed, storing, ahead, latency }
    }

    /// Until the first limb arrives: the instruction that asks for it comes from memory too.
    const fn first(&self) -> u64 {
        2 * self.latency
    }

    /// From the last row of a pass that keeps a limb in memory to its first row coming back.
    const fn through_memory(&self) -> u64 {
        self.steps.depth + 2 * self.latency
    }

    /// From the last row of a pass that stores an output to the end.
    const fn stored(&self) -> u64 {
        self.steps.depth + self.latency
    }

    /// From the last row of a pass until another may read its result in a bank, complete or row by row.
    const fn readable(&self, complete: bool) -> u64 {
        if complete || self.rows < self.steps.depth { self.steps.depth } else { 0 }
    }

    /// Until the first transform: a pass has brought its limb, and its roots are made.
    fn first_transform(&self) -> u64 {
        (self.first() + self.rows + self.steps.depth).max(self.steps.roots)
    }

    /// From the start of a transform to others reading its result.
    const fn transform(&self) -> u64 {
        self.alone + self.steps.pass
    }

    /// Cycles of a number of transforms on both lanes.
    const fn lanes(&self, transforms: u64) -> u64 {
        (transforms * self.shared).div_ceil(LANES)
    }

    /// Passes of a load, one after the other.
    const fn passes(&self, load: &[u64; KINDS]) -> u64 {
        let stores = load[STORES] * (self.storing - self.rows);
        (load[PASSES] - load[STREAMED]) * self.rows + load[STREAMED] * self.streamed + stores
    }

    const fn pass(&self, streams: bool) -> u64 {
        if streams { self.streamed } else { self.rows }
    }
}

/// Rows that can wait for memory to take them: the write queue of the core, and those around it.
const WAITING_ROWS: u64 = 64 + 12;

/// Rows that can be there before a pass asks for them: the read FIFO (`rm_mem_system.sv`), and those around it.
fn fifo_rows(config: &CompactConfig) -> u64 {
    // Those of a wide beat that is being cut into rows, and the output register.
    let registers = 12;
    let (row, bus) = (2 * u64::from(config.butterflies()), config.bus_bits().into());
    Shape::new(row, bus, config.read_rows().into()).read_depth() + registers
}
