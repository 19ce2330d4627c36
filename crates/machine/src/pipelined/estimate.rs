//! What a program takes on engine, host and link: the engine by the rules of its starts, the host by costs of each kind of work.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use ringmill_program::limb::split::Part;
use ringmill_program::limb::{LimbProgram, SectionKind};

use super::chain::{Chain, Part as Slot, Start};
use super::host::{self, Host};
use super::memory::Memory;
use super::pool::timetable::{self, Row};
use super::pool::{self, Pool, Set, Unit};
use super::{Arrival, Beside, Build, Built, Job, Pipelined, after, jobs};
use crate::timing::{Span, Timing};
use crate::{Machine, MachineError};

/// Key switches of a run that shows the interval: those of the chain; of a pool, [`pool::COUNT`].
const CHAIN_COUNT: usize = 24;

/// What the engine does when.
#[derive(Clone, Default)]
struct Course {
    /// The cycle after the last row.
    cycles: u64,
    /// When each key switch has begun, and ended.
    begun: Vec<u64>,
    ends: Vec<u64>,
    spans: Vec<Span>,
    /// Cycles in which units work, and how many starts there were.
    busy: Vec<(String, u64)>,
    starts: u64,
}

impl Beside {
    /// The memory as starts wait for it, if there is one.
    fn memory(&self, built: &Built, log_n: u32) -> Option<Memory> {
        let ahead = match built.build {
            Build::Streams { .. } => 1,
            // Starts of a pool are closer than their rows are long.
            Build::Pool { .. } => 4,
        };
        let (latency, seeded, limb_bytes, linked) = (self.latency, self.seeded, 8 << log_n, false);
        self.bytes_in_1000.map(|bytes_in_1000| Memory {
            bytes_in_1000,
            latency,
            limb_bytes,
            seeded,
            ahead,
            linked,
        })
    }
}

/// The timetables of an estimate: each is made once.
#[derive(Default)]
struct Timetables(RefCell<HashMap<Set, Rc<[Row]>>>);

impl Timetables {
    fn of(&self, pool: &Pool, set: Set) -> Rc<[Row]> {
        let mut known = self.0.borrow_mut();
        known.entry(set).or_insert_with(|| timetable::timetable(pool, set).into()).clone()
    }
}

/// The engine at a degree, for an estimate.
struct AtDegree<'a> {
    built: &'a Built,
    log_n: u32,
    timetables: Timetables,
}

impl Built {
    fn chain(&self, log_p: u32, log_n: u32) -> Chain {
        Chain { log_p, log_n, log_n_max: self.log_n_max, multiplier: self.multiplier() }
    }

    fn pool(&self, units: u32, feeds: u32, log_n: u32) -> Pool {
        let sums = match self.build {
            Build::Pool { most, .. } => most.sums(),
            Build::Streams { .. } => 0,
        };
        Pool { unit: Unit { log_n, multiplier: self.multiplier() }, units, feeds, sums }
    }

    /// Bytes of keys, and of operands, addends and results, of a key switch.
    fn bytes(&self, set: Set, memory: &Memory) -> (u64, u64) {
        let (limbs, moduli) = (u64::from(set.limbs), u64::from(set.moduli()));
        // The pool reads its operand twice: on its way in, and beside its own product.
        let reads = match self.build {
            Build::Streams { .. } => 1,
            Build::Pool { .. } => 2,
        };
        let keys = 2 * u64::from(set.digits()) * moduli;
        (memory.bytes(keys, 0), memory.bytes(0, (4 + reads) * limbs))
    }
}

impl<'a> AtDegree<'a> {
    fn new(built: &'a Built, log_n: u32) -> Self {
        Self { built, log_n, timetables: Timetables::default() }
    }

    /// What the engine does with key switches whose operands are there when those before have ended.
    fn course(&self, jobs: &[Job], memory: Option<&Memory>) -> Result<Course, pool::Blocked> {
        self.course_as(jobs, &mut after(|job| &jobs[job].after), memory)
    }

    /// The same with operands that arrive.
    fn course_as(
        &self,
        jobs: &[Job],
        arrival: Arrival<'_>,
        memory: Option<&Memory>,
    ) -> Result<Course, pool::Blocked> {
        match self.built.build {
            Build::Streams { log_p, .. } => {
                Ok(chain_course(self.built.chain(log_p, self.log_n), jobs, arrival, memory))
            }
            Build::Pool { units, feeds, .. } => {
                let pool = self.built.pool(units, feeds, self.log_n);
                pool_course(&pool, &self.timetables, jobs, arrival, memory)
            }
        }
    }

    /// Cycles from result to result of key switches of a set, each there from the beginning.
    fn interval(&self, set: Set, memory: Option<&Memory>) -> Result<u64, pool::Blocked> {
        if let Build::Pool { units, feeds, .. } = self.built.build {
            let pool = self.built.pool(units, feeds, self.log_n);
            let all_there = vec![Vec::new(); pool::COUNT];
            let ran = pool.run(set, &self.timetables.of(&pool, set), &all_there, memory)?;
            return Ok(pool::steady(&ran).0.round() as u64);
        }
        let ends = self.course(&vec![Job { set, after: Vec::new() }; CHAIN_COUNT], memory)?.ends;
        let (first, last) = (CHAIN_COUNT / 2, CHAIN_COUNT - 2);
        Ok((ends[last] - ends[first]) / (last - first) as u64)
    }
}

fn chain_course(chain: Chain, jobs: &[Job], arrival: Arrival<'_>, memory: Option<&Memory>) -> Course {
    let starts = chain.starts(jobs, arrival, memory);
    let span = |s: &Start| {
        let what = match s.part {
            Slot::Digit(digit) => format!("key switch {}, digit {digit}", s.job),
            Slot::Down(component) => format!("key switch {}, down {component}", s.job),
        };
        Span { unit: "chain".into(), what, start: s.cycle, end: s.cycle + chain.rows() }
    };
    let first = |s: &&Start| s.part == Slot::Digit(0);
    let last = |s: &&Start| s.part == Slot::Down(1);
    let count = starts.len() as u64;
    Course {
        cycles: chain.end(&starts),
        begun: starts.iter().filter(first).map(|s| s.cycle).collect(),
        ends: starts.iter().filter(last).map(|s| s.cycle + chain.result()).collect(),
        spans: starts.iter().map(span).collect(),
        busy: vec![("chain".into(), count * chain.rows())],
        starts: count,
    }
}

/// Sets change while nothing is inside, and then the timetable is written, a row a cycle.
fn pool_course(
    pool: &Pool,
    timetables: &Timetables,
    jobs: &[Job],
    arrival: Arrival<'_>,
    memory: Option<&Memory>,
) -> Result<Course, pool::Blocked> {
    let mut course = Course::default();
    let mut busy = vec![0; pool.units as usize];
    let work = u64::from(pool.unit.log_n) * pool.unit.rows() / 4;
    let mut first = 0;
    for group in jobs.chunk_by(|a, b| a.set == b.set) {
        let set = group[0].set;
        let table = timetables.of(pool, set);
        let begin = course.cycles + if first == 0 { 0 } else { table.len() as u64 };
        // Those of other groups have ended.
        let before = &course.ends;
        let mut own = |job: usize, ended: &dyn Fn(usize) -> Option<u64>| {
            let all = |k: usize| match before.get(k) {
                Some(&end) => Some(end),
                None => ended(k - first).map(|end| begin + end),
            };
            arrival(first + job, &all).map(|at| at.saturating_sub(begin))
        };
        let ran = pool.run_as(set, &table, group.len(), &mut own, memory)?;
        let mut begun = vec![u64::MAX; group.len()];
        for start in &ran.starts {
            begun[start.job] = begun[start.job].min(begin + start.cycle);
        }
        course.begun.extend(begun);
        for start in &ran.starts {
            busy[start.unit as usize] += work;
            let from = begin + start.cycle;
            course.spans.push(Span {
                unit: unit_name(start.unit).into(),
                what: format!("key switch {}, {}", first + start.job, start.task),
                start: from,
                end: from + pool.unit.interval(),
            });
        }
        course.starts += ran.starts.len() as u64;
        course.ends.extend(ran.ends.iter().map(|end| begin + end + 1));
        course.cycles = course.ends.iter().copied().max().unwrap_or(0);
        first += group.len();
    }
    course.busy = busy.into_iter().enumerate().map(|(n, busy)| (unit_name(n as u32), busy)).collect();
    Ok(course)
}

fn unit_name(n: u32) -> String {
    format!("unit {n:02}")
}

impl Pipelined {
    pub(super) fn timing(&self, program: &LimbProgram, parts: &[Part]) -> Result<Timing, MachineError> {
        let (jobs, built, log_n) = (jobs(parts), &self.built, program.log_n());
        let stopped = |e: pool::Blocked| Self::unsupported(program, e.to_string());
        let memory = self.beside.memory(built, log_n);
        let engine = AtDegree::new(built, log_n);
        let free = engine.course(&jobs, None).map_err(stopped)?;
        let alone = match &memory {
            Some(memory) => engine.course(&jobs, Some(memory)).map_err(stopped)?,
            None => free.clone(),
        };
        let whole = match self.beside.clock_mhz {
            Some(mhz) => {
                let host = Host::new(parts, &self.costs()?, self.beside.link, mhz);
                Some(self.whole(&engine, &jobs, &host, memory).map_err(stopped)?)
            }
            None => None,
        };
        let switches =
            program.sections().iter().filter(|s| matches!(s.kind, SectionKind::KeySwitch { .. })).count();
        let of_host =
            parts.iter().filter(|part| part.served.is_none()).map(|part| part.program.len() as u64).sum();
        // Bytes are the same with any bandwidth.
        let moved = memory.unwrap_or(Memory {
            bytes_in_1000: 1,
            latency: 0,
            limb_bytes: 8 << log_n,
            seeded: self.beside.seeded,
            ahead: 1,
            linked: false,
        });
        let bytes = jobs.iter().map(|job| built.bytes(job.set, &moved));
        let (keys, others) = bytes.fold((0, 0), |all, each| (all.0 + each.0, all.1 + each.1));
        let mut counters = vec![
            ("key_switches".into(), jobs.len() as u64),
            ("key_switches_of_host".into(), (switches - jobs.len()) as u64),
            ("instructions_of_host".into(), of_host),
            ("engine_cycles".into(), alone.cycles),
        ];
        if let Some(whole) = &whole {
            counters.push(("host_cycles".into(), whole.processor));
            counters.push(("link_bytes".into(), whole.bytes));
        }
        match built.build {
            Build::Streams { log_p, .. } => {
                counters.push(("slots".into(), alone.starts));
                counters.push(("slot".into(), built.chain(log_p, log_n).rows()));
            }
            Build::Pool { .. } => counters.push(("transforms".into(), alone.starts)),
        }
        counters.extend([("key_bytes".into(), keys), ("ciphertext_bytes".into(), others)]);
        let mut by = format!(
            "the rules by which the {} start",
            match built.build {
                Build::Streams { .. } => "chain's slots",
                Build::Pool { .. } => "pool's transforms",
            }
        );
        by += &match whole {
            Some(_) => format!(
                "; the host by the costs of one core: {}; a link of {} MB/s each way",
                self.costs()?.machine(),
                self.beside.link.megabytes
            ),
            None => "; without a clock the host's time has no cycles, these are the engine's alone".into(),
        };
        match (&memory, jobs.first()) {
            (None, _) => by += ", and no memory makes it wait",
            (Some(memory), _) => {
                counters.push(("bound_off_chip".into(), memory.cycles(keys + others)));
                counters.push(("waited_for_memory".into(), alone.cycles.saturating_sub(free.cycles)));
            }
        }
        // The widest key switch, one after the other without end.
        if let Some(set) = jobs.iter().map(|job| job.set).max_by_key(|set| set.transforms()) {
            let interval = engine.interval(set, None).map_err(stopped)?;
            counters.push(("interval".into(), interval));
            if let Some(memory) = &memory {
                let with = engine.interval(set, Some(memory)).map_err(stopped)?;
                counters.push(("interval_with_memory".into(), with));
                let digits = set.digits();
                by += &match with > interval {
                    true => format!(
                        "; the memory does not hold the interval of {interval} cycles at {} limbs, {} special primes, \
                         {digits} digits: it becomes {with}",
                        set.limbs, set.special
                    ),
                    false => format!("; the memory holds the interval of {interval} cycles"),
                };
            }
        }
        let (cycles, parts, course) = match whole {
            Some(Whole { cycles, parts, course, .. }) => (cycles, parts, course),
            None => (alone.cycles, Vec::new(), alone),
        };
        Ok(Timing {
            cycles: Some(cycles),
            seconds: self.beside.clock_mhz.map(|mhz| cycles as f64 / (mhz as f64 * 1e6)),
            counters,
            busy: course.busy.into_iter().map(|(unit, busy)| (unit.into(), busy)).collect(),
            parts,
            energy: Vec::new(),
            spans: course.spans,
            by,
        })
    }

    /// Engine, host and link together.
    fn whole(
        &self,
        engine: &AtDegree<'_>,
        jobs: &[Job],
        host: &Host,
        memory: Option<Memory>,
    ) -> Result<Whole, pool::Blocked> {
        let memory = memory.map(|memory| Memory { linked: true, ..memory });
        let mut beside = host.begin();
        let mut arrival = |job: usize, ended: &dyn Fn(usize) -> Option<u64>| beside.arrival(job, ended);
        let mut course = engine.course_as(jobs, &mut arrival, memory.as_ref())?;
        let ends = &course.ends;
        let cycles = beside.finish(&|job| ends.get(job).copied()).unwrap_or(course.cycles);
        let of = |spans: &[Span], unit: &str| -> Vec<(u64, u64)> {
            spans.iter().filter(|s| s.unit == unit).map(|s| (s.start, s.end)).collect()
        };
        let sum = |spans: &[(u64, u64)]| spans.iter().map(|(start, end)| end - start).sum::<u64>();
        let (processor, up, down) =
            (of(&beside.spans, host::PROCESSOR), of(&beside.spans, host::UP), of(&beside.spans, host::DOWN));
        course.busy.extend(
            [(host::PROCESSOR, &processor), (host::UP, &up), (host::DOWN, &down)]
                .map(|(unit, spans)| (unit.to_owned(), sum(spans))),
        );
        let busy = sum(&processor);
        let inside = course.begun.iter().copied().zip(ends.iter().copied()).collect();
        let link = [up, down].concat();
        let parts = host::shares(
            cycles,
            [("engine", inside), ("host alone", processor), ("link alone", link)],
            "bytes on their way",
        );
        course.spans.append(&mut beside.spans);
        Ok(Whole { cycles, processor: busy, bytes: host.bytes.iter().sum(), parts, course })
    }
}

/// What a program takes on engine, host and link together.
struct Whole {
    cycles: u64,
    /// Cycles in which the host's processor works.
    processor: u64,
    /// Bytes over the link.
    bytes: u64,
    /// Where every cycle went.
    parts: Vec<(String, u64)>,
    course: Course,
}
