//! The machine `cpu`: limb programs on the vector kernels of the ring.
//!
//! | file | subject |
//! |---|---|
//! | [`plan`] | the program as tasks of steps over slots |
//! | [`flow`], [`sink`], [`convert`], [`group`], [`shared`], [`absorb`], [`build`], [`ahead`], [`tables`] | how it gets there |
//! | [`queue`], [`run`], [`made`] | running it |
//! | [`profile`] | where its time goes |
//! | [`costs`] | what it takes for each kind of work, as measured |
//! | `entry` | its row in the registry |
//!
//! Instructions of one modulus that follow from each other make one task, so that limbs between them stay in the
//! cache and most never leave a worker's scratch. Which thread runs a task changes nothing in its result: bits do not
//! depend on the number of threads. What a run needs of memory is kept for the next run.

mod absorb;
mod ahead;
mod build;
mod convert;
pub mod costs;
mod entry;
mod flow;
mod group;
mod made;
mod plan;
pub mod profile;
mod queue;
mod run;
mod shared;
mod sink;
mod tables;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rayon::ThreadPool;
use ringmill_program::cost::{Kind, Work};
use ringmill_program::limb::LimbProgram;
use ringmill_program::schedule;
use ringmill_ring::buffer::{Buffer, HUGE_PAGE};
use ringmill_ring::{Isa, LimbRing, LimbSource, Modulus, Pool, Process, RingError};
use smallvec::SmallVec;

use crate::bindings::check_borders;
use crate::{Executable, Machine, MachineError, Timing, Watch};
pub use entry::ENTRY;
use plan::Plan;
use profile::{Blind, Profile};
use queue::Queue;
pub(crate) use run::stride;
use run::{Context, SharedLimb, scratch_words};

/// The machine `cpu`. It keeps the transform tables of every prime it has met, for all programs it prepares.
#[derive(Debug)]
pub struct Cpu {
    isa: Isa,
    threads: Workers,
    profile: Option<Arc<Profile>>,
    client: bool,
    rings: Mutex<HashMap<(u32, Modulus), LimbRing>>,
    /// Memory of runs that have ended. Shared by all programs: those of one shape (rotations, say) need the same.
    memory: Pool,
}

impl Cpu {
    /// On the instruction set of [`Isa::detect`], in the calling thread.
    ///
    /// # Errors
    /// Those of [`Isa::detect`].
    pub fn new() -> Result<Self, MachineError> {
        Ok(Self::with_isa(Isa::detect()?))
    }

    /// On a given instruction set, in the calling thread. One that the CPU lacks is refused by
    /// [`Machine::prepare`].
    pub fn with_isa(isa: Isa) -> Self {
        Self {
            isa,
            threads: Workers::Caller,
            profile: None,
            client: false,
            rings: Mutex::default(),
            memory: Pool::default(),
        }
    }

    /// As a machine of a client: it takes programs with secret and sampled inputs too, and wipes the memory of their runs.
    #[must_use]
    pub fn for_client(self) -> Self {
        Self { client: true, ..self }
    }

    /// Runs in the threads of `pool` from now on: programs prepared before are not affected. In a process that is forked from
    /// this one, where they do not exist, in the calling thread.
    #[must_use]
    pub fn on_pool(mut self, pool: Arc<ThreadPool>) -> Self {
        self.threads = Workers::Pool(Threads::of(pool));
        self
    }

    /// Runs in `threads` threads of its own from now on, as [`on_pool`](Self::on_pool); they start when the first program is prepared.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.threads = if threads > 1 { Workers::Own(threads, Mutex::default()) } else { Workers::Caller };
        self
    }

    /// Times every step into `profile` from now on, in the calling thread: programs prepared before are not affected.
    #[must_use]
    pub fn profiled(mut self, profile: Arc<Profile>) -> Self {
        (self.threads, self.profile) = (Workers::Caller, Some(profile));
        self
    }

    /// The instruction set.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    fn ring(&self, log_n: u32, modulus: Modulus) -> Result<LimbRing, RingError> {
        let known = |rings: &HashMap<_, LimbRing>| rings.get(&(log_n, modulus)).cloned();
        if let Some(ring) = known(&self.rings.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(ring);
        }
        // Tables take milliseconds: others need not wait for them.
        let ring = LimbRing::with_isa(log_n, modulus, self.isa)?;
        self.rings.lock().unwrap_or_else(PoisonError::into_inner).insert((log_n, modulus), ring.clone());
        Ok(ring)
    }
}

impl Machine for Cpu {
    fn name(&self) -> &str {
        "cpu"
    }

    fn memory(&self) -> Option<&Pool> {
        Some(&self.memory)
    }

    fn computes_here(&self) -> bool {
        true
    }

    fn is_client(&self) -> bool {
        self.client
    }

    /// Seconds on one core, by its costs.
    fn estimate(&self, program: &LimbProgram) -> Result<Option<Timing>, MachineError> {
        self.accepts(program)?;
        let (costs, work) = (self.costs()?, Work::of(program));
        let seconds = costs.nanoseconds(&work, program.log_n()) / 1e9;
        Ok(Some(Timing {
            cycles: None,
            seconds: Some(seconds),
            counters: Kind::ALL.map(|kind| (kind.name().into(), work.get(kind))).to_vec(),
            busy: Vec::new(),
            parts: Vec::new(),
            energy: Vec::new(),
            spans: Vec::new(),
            by: format!("the costs of one core: {}", costs.machine()),
        }))
    }

    fn prepare(&self, program: &LimbProgram) -> Result<Box<dyn Executable>, MachineError> {
        self.accepts(program)?;
        let planned = schedule::recompute(program);
        let rings = program.moduli().iter().map(|m| self.ring(program.log_n(), m.modulus));
        let threads = self.threads.there()?.filter(|threads| threads.count() > 1);
        let count = threads.as_ref().map_or(1, Threads::count);
        let plan = build::plan(&planned, rings.collect::<Result<_, _>>()?, count)?;
        let (profile, memory) = (self.profile.clone(), self.memory.clone());
        Ok(Box::new(Prepared {
            program: program.clone(),
            plan,
            threads,
            profile,
            memory,
            queues: Mutex::default(),
        }))
    }
}

/// Who does the work.
#[derive(Debug)]
enum Workers {
    /// The thread that calls.
    Caller,
    /// Threads of the caller that made the machine.
    Pool(Threads),
    /// A number of threads of the machine's own, once they are needed.
    Own(usize, Mutex<Option<Threads>>),
}

impl Workers {
    fn there(&self) -> Result<Option<Threads>, MachineError> {
        match self {
            Self::Caller => Ok(None),
            Self::Pool(threads) => Ok(Some(threads.clone())),
            Self::Own(count, made) => {
                let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(threads) = &*made {
                    return Ok(Some(threads.clone()));
                }
                let pool = rayon::ThreadPoolBuilder::new().num_threads(*count).build();
                let pool = pool.map_err(|e| MachineError::Threads { threads: *count, why: e.to_string() })?;
                Ok(made.insert(Threads::of(Arc::new(pool))).clone().into())
            }
        }
    }
}

/// A pool of threads, and the process in which they live.
#[derive(Debug, Clone)]
struct Threads {
    pool: Arc<ThreadPool>,
    process: Process,
}

impl Threads {
    fn of(pool: Arc<ThreadPool>) -> Self {
        Self { pool, process: Process::current() }
    }

    fn count(&self) -> usize {
        self.pool.current_num_threads()
    }
}

/// A program ready to run; it may run several times at once.
#[derive(Debug)]
struct Prepared {
    program: LimbProgram,
    plan: Plan,
    threads: Option<Threads>,
    profile: Option<Arc<Profile>>,
    /// That of the machine.
    memory: Pool,
    /// Those of runs that have ended.
    queues: Mutex<Vec<Queue>>,
}

/// The scratch of a thread.
type Scratch<'a> = Mutex<&'a mut [u64]>;

impl Prepared {
    /// A scratch for each thread, then the buffers.
    fn workspace(&self) -> Buffer {
        let words = self.buffer_words() + self.threads() * self.scratch_words();
        // Every word is written before it is read.
        let buffer = Buffer::unspecified_in(&self.memory, whole_pages(words));
        if self.program.client_input().is_some() { buffer.wiped() } else { buffer }
    }

    fn queues(&self) -> MutexGuard<'_, Vec<Queue>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn threads(&self) -> usize {
        self.threads.as_ref().map_or(1, Threads::count)
    }

    fn buffer_words(&self) -> usize {
        self.plan.buffers as usize * stride(self.program.n())
    }

    /// Of a thread; at least one, so that threads can be counted.
    fn scratch_words(&self) -> usize {
        scratch_words(&self.plan, self.program.n()).max(1)
    }

    fn run_in(
        &self,
        words: &mut [u64],
        inputs: &[LimbSource<'_>],
        outputs: &mut [&mut [u64]],
        watch: &Watch,
    ) -> Result<(), MachineError> {
        let n = self.program.n();
        let (scratch, buffers) = words.split_at_mut(self.threads() * self.scratch_words());
        let scratch = scratch.chunks_exact_mut(self.scratch_words());
        let mut scratch: SmallVec<[Scratch<'_>; 16]> = scratch.map(Mutex::new).collect();
        let buffers = buffers.chunks_exact_mut(stride(n)).take(self.plan.buffers as usize);
        let buffers = buffers.map(|limb| &mut limb[..n]);
        let outputs = outputs.iter_mut().map(|limb| &mut **limb);
        let shared: SmallVec<[SharedLimb<'_>; 256]> = buffers.chain(outputs).map(SharedLimb::new).collect();
        let makes = inputs.iter().any(|limb| limb.words().is_none());
        let context = Context { plan: &self.plan, inputs, makes, shared: &shared, watch };
        watch.begin(self.plan.tasks.len());
        match self.threads.as_ref().filter(|threads| threads.process.is_current()) {
            None => {
                let scratch = scratch[0].get_mut().unwrap_or_else(PoisonError::into_inner);
                let mut tasks = self.plan.tasks.iter();
                let Some(profile) = &self.profile else {
                    return tasks.try_for_each(|task| run::run(context, task, scratch, &mut Blind));
                };
                let mut timer = profile.timer();
                tasks.try_for_each(|task| run::run(context, task, scratch, &mut timer))?;
                profile.add(timer);
                Ok(())
            }
            Some(threads) => {
                let queue = self.queues().pop().unwrap_or_default();
                queue.reset(&self.plan);
                let done = threads.pool.install(|| workers(context, &queue, &scratch));
                self.queues().push(queue);
                done
            }
        }
    }
}

/// `words` or more: memory that fills half a huge page takes all of it, so that its limbs do not stand on small pages. Of
/// many pages the last may be small ones: there stand the buffers that are needed least.
fn whole_pages(words: usize) -> usize {
    const PAGE: usize = HUGE_PAGE / size_of::<u64>();
    if (PAGE / 2..8 * PAGE).contains(&words) { words.next_multiple_of(PAGE) } else { words }
}

/// A worker for each scratch, side by side as far as the pool has threads free; those that start late find nothing to do.
fn workers(context: Context<'_, '_>, queue: &Queue, scratch: &[Scratch<'_>]) -> Result<(), MachineError> {
    let Some((first, others)) = scratch.split_first() else { return Ok(()) };
    let (a, b) = rayon::join(|| worker(context, queue, first), || workers(context, queue, others));
    a.and(b)
}

fn worker(context: Context<'_, '_>, queue: &Queue, scratch: &Scratch<'_>) -> Result<(), MachineError> {
    let mut scratch = scratch.lock().unwrap_or_else(PoisonError::into_inner);
    while let Some(task) = queue.next() {
        let mut started = Started { plan: context.plan, queue, task, done: false };
        run::run(context, &context.plan.tasks[task as usize], &mut scratch, &mut Blind)?;
        started.done = true;
    }
    Ok(())
}

/// A task under way. However it ends, the other workers hear of it.
struct Started<'r> {
    plan: &'r Plan,
    queue: &'r Queue,
    task: u32,
    done: bool,
}

impl Drop for Started<'_> {
    fn drop(&mut self) {
        self.queue.finish(self.plan, self.task, !self.done);
    }
}

impl Executable for Prepared {
    fn program(&self) -> &LimbProgram {
        &self.program
    }

    fn run(&self, inputs: &[&[u64]], outputs: &mut [&mut [u64]]) -> Result<(), MachineError> {
        let inputs: Vec<LimbSource<'_>> = inputs.iter().copied().map(LimbSource::Words).collect();
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
        check_borders(&self.program, inputs, outputs)?;
        self.run_in(&mut self.workspace(), inputs, outputs, watch)
    }
}
