//! What a program's key switches take on the engine, by the rules of its starts.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use ringmill_program::limb::split::Part;
use ringmill_program::limb::{LimbProgram, SectionKind};

use super::chain::{Chain, Part as Slot, Start};
use super::memory::Memory;
use super::pool::timetable::{self, Row};
use super::pool::{self, Pool, Set, Unit};
use super::{Beside, Build, Built, Job, Pipelined, jobs};
use crate::MachineError;
use crate::timing::{Span, Timing};

/// Key switches of a run that shows the interval: those of the chain; of a pool, [`pool::COUNT`].
const CHAIN_COUNT: usize = 24;

/// What the engine does when.
#[derive(Default)]
struct Course {
    /// The cycle after the last row.
    cycles: u64,
    /// When each key switch has ended.
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
        let (latency, seeded, limb_bytes) = (self.latency, self.seeded, 8 << log_n);
        self.bytes_in_1000.map(|bytes_in_1000| Memory { bytes_in_1000, latency, limb_bytes, seeded, ahead })
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

    /// What the engine does with key switches.
    fn course(&self, jobs: &[Job], memory: Option<&Memory>) -> Result<Course, pool::Blocked> {
        match self.built.build {
            Build::Streams { log_p, .. } => {
                Ok(chain_course(self.built.chain(log_p, self.log_n), jobs, memory))
            }
            Build::Pool { units, feeds, .. } => {
                pool_course(&self.built.pool(units, feeds, self.log_n), &self.timetables, jobs, memory)
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

fn chain_course(chain: Chain, jobs: &[Job], memory: Option<&Memory>) -> Course {
    let starts = chain.starts(jobs, memory);
    let span = |s: &Start| {
        let what = match s.part {
            Slot::Digit(digit) => format!("key switch {}, digit {digit}", s.job),
            Slot::Down(component) => format!("key switch {}, down {component}", s.job),
        };
        Span { unit: "chain".into(), what, start: s.cycle, end: s.cycle + chain.rows() }
    };
    let last = |s: &&Start| s.part == Slot::Down(1);
    let count = starts.len() as u64;
    Course {
        cycles: chain.end(&starts),
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
    memory: Option<&Memory>,
) -> Result<Course, pool::Blocked> {
    let mut course = Course::default();
    let mut busy = vec![0; pool.units as usize];
    let work = u64::from(pool.unit.log_n) * pool.unit.rows() / 4;
    let mut first = 0;
    for group in jobs.chunk_by(|a, b| a.set == b.set) {
        let set = group[0].set;
        let table = timetables.of(pool, set);
        // Those of other groups have ended.
        let own = |job: &Job| job.after.iter().filter_map(|k| k.checked_sub(first)).collect();
        let after: Vec<Vec<usize>> = group.iter().map(own).collect();
        let ran = pool.run(set, &table, &after, memory)?;
        let begin = course.cycles + if first == 0 { 0 } else { table.len() as u64 };
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
        let course = match &memory {
            Some(memory) => &engine.course(&jobs, Some(memory)).map_err(stopped)?,
            None => &free,
        };
        let cycles = course.cycles;
        let switches =
            program.sections().iter().filter(|s| matches!(s.kind, SectionKind::KeySwitch { .. })).count();
        let host =
            parts.iter().filter(|part| part.served.is_none()).map(|part| part.program.len() as u64).sum();
        // Bytes are the same with any bandwidth.
        let moved = memory.unwrap_or(Memory {
            bytes_in_1000: 1,
            latency: 0,
            limb_bytes: 8 << log_n,
            seeded: self.beside.seeded,
            ahead: 1,
        });
        let bytes = jobs.iter().map(|job| built.bytes(job.set, &moved));
        let (keys, others) = bytes.fold((0, 0), |all, each| (all.0 + each.0, all.1 + each.1));
        let mut counters = vec![
            ("key_switches".into(), jobs.len() as u64),
            ("key_switches_of_host".into(), (switches - jobs.len()) as u64),
            ("instructions_of_host".into(), host),
        ];
        match built.build {
            Build::Streams { log_p, .. } => {
                counters.push(("slots".into(), course.starts));
                counters.push(("slot".into(), built.chain(log_p, log_n).rows()));
            }
            Build::Pool { .. } => counters.push(("transforms".into(), course.starts)),
        }
        counters.extend([("key_bytes".into(), keys), ("ciphertext_bytes".into(), others)]);
        let mut by = format!(
            "the rules by which the {} start; what the host does takes no time",
            match built.build {
                Build::Streams { .. } => "chain's slots",
                Build::Pool { .. } => "pool's transforms",
            }
        );
        match (&memory, jobs.first()) {
            (None, _) => by += ", and no memory makes it wait",
            (Some(memory), _) => {
                counters.push(("bound_off_chip".into(), memory.cycles(keys + others)));
                counters.push(("waited_for_memory".into(), cycles - cycles.min(free.cycles)));
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
        Ok(Timing {
            cycles: Some(cycles),
            seconds: self.beside.clock_mhz.map(|mhz| cycles as f64 / (mhz * 1e6)),
            counters,
            busy: course.busy.iter().map(|(unit, busy)| (unit.clone().into(), *busy)).collect(),
            parts: Vec::new(),
            energy: Vec::new(),
            spans: course.spans.clone(),
            by,
        })
    }
}
