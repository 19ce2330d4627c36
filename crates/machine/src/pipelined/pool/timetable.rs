//! Timetables of a pool: the order in which the transforms of consecutive key switches start, and the unit of each.
//!
//! Units take their transforms in turn, so time is counted in **places**: a place is a start. Every key switch does what the one
//! before did a period later: T places, T its transforms, or more, of which some stay empty, where nothing is found in T. Simulated
//! annealing moves tasks between places until all that `rm_pool_rules` would wait for has passed by then.

use std::collections::HashMap;

use ringmill_program::limb::random::Random;

use super::{COUNT, INSIDE, Kind, Pool, Set, Task, steady};

/// A row of a timetable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Row {
    /// The next key switch is the newest from here on.
    Take,
    /// A task of the key switch that is `age` older than the newest, on a unit.
    Task {
        /// The task.
        task: Task,
        /// Its unit.
        unit: u32,
        /// How many key switches were taken since its own.
        age: u32,
    },
}

/// How long is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Moves of an attempt.
    pub moves: u32,
    /// Attempts for each period.
    pub seeds: u64,
}

/// What a program's key switches are searched with: less than a second a set.
const QUICK: Effort = Effort { moves: 20_000, seeds: 1 };

/// Those that were searched for on ten units and three feeds at N = 2^16 with [`THOROUGH`]: limbs, special primes, limbs a digit,
/// limbs of sums, period: the place of each task.
const STORED: &str = include_str!("timetables.txt");
const STORED_FOR: (u32, u32) = (10, 3);

/// What stored timetables were searched with.
pub const THOROUGH: Effort = Effort { moves: 400_000, seeds: 8 };

/// The timetable of a set: a stored one, or one that is searched for.
pub fn timetable(pool: &Pool, set: Set) -> Vec<Row> {
    match stored(pool, set) {
        Some((period, places)) if (pool.units, pool.feeds) == STORED_FOR => {
            rows(pool, &set.tasks(), &places, period)
        }
        _ => searched(pool, set, QUICK),
    }
}

/// The plainest timetable: one key switch after the other, units in turn.
pub fn in_order(pool: &Pool, set: Set) -> Vec<Row> {
    let units = (0..pool.units).cycle();
    let tasks = set.tasks().into_iter().zip(units).map(|(task, unit)| Row::Task { task, unit, age: 0 });
    std::iter::once(Row::Take).chain(tasks).collect()
}

/// A timetable that is searched for; the plainest one where none is found.
pub fn searched(pool: &Pool, set: Set, effort: Effort) -> Vec<Row> {
    match search(pool, set, effort) {
        Some((period, places)) => rows(pool, &set.tasks(), &places, period),
        None => in_order(pool, set),
    }
}

fn stored(pool: &Pool, set: Set) -> Option<(u32, Vec<u32>)> {
    let numbers = |text: &str| text.split_whitespace().map(|word| word.parse().ok()).collect::<Option<_>>();
    STORED.lines().find_map(|line| {
        let (head, places) = line.split_once(':')?;
        let head: Vec<u32> = numbers(head)?;
        let [limbs, special, alpha, sums, period] = head[..] else { return None };
        let fits = Set { limbs, special, alpha } == set && sums <= pool.sums;
        fits.then_some((period, numbers(places)?))
    })
}

/// A stored line.
pub fn line(set: Set, sums: u32, period: u32, places: &[u32]) -> String {
    let Set { limbs, special, alpha } = set;
    let places: Vec<_> = places.iter().map(u32::to_string).collect();
    format!("{limbs} {special} {alpha} {sums} {period}: {}\n", places.join(" "))
}

/// The rows of as many key switches as it takes until units come round.
fn rows(pool: &Pool, tasks: &[Task], places: &[u32], period: u32) -> Vec<Row> {
    let body = pool.units / gcd(period, pool.units);
    let mut found = Vec::new();
    for b in 0..body {
        found.push((2 * b * period, Row::Take));
        for (&task, place) in tasks.iter().zip(places) {
            let at = (place + b * period) % (body * period);
            found.push((2 * at + 1, Row::Task { task, unit: at % pool.units, age: place / period }));
        }
    }
    found.sort_by_key(|&(at, _)| at);
    found.into_iter().map(|(_, row)| row).collect()
}

const fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Period and places of the shortest interval, then latency, of the first period that has any.
pub fn search(pool: &Pool, set: Set, effort: Effort) -> Option<(u32, Vec<u32>)> {
    let tasks = set.tasks();
    let after = vec![Vec::new(); COUNT];
    (set.transforms()..set.transforms() * 3 / 2).find_map(|period| {
        let attempt = |seed| {
            let places = Search::new(pool, set, &tasks, period, seed).run(effort.moves)?;
            let ran = pool.run(set, &rows(pool, &tasks, &places, period), &after, None).ok()?;
            Some((steady(&ran), places))
        };
        // A cycle of the interval is worth 64 of latency.
        let cost = |found: &((f64, f64), _)| found.0.0 + found.0.1 / 64.0;
        let best = (0..effort.seeds).filter_map(attempt).min_by(|a, b| cost(a).total_cmp(&cost(b)))?;
        Some((period, best.1))
    })
}

/// First and last tasks: the last ones must have started a period after the first.
type Pair = (Vec<usize>, Vec<usize>);

/// Places of the tasks of a key switch, and what is violated by them.
struct Search {
    period: u32,
    random: Random,
    /// Places between starts that share a port, and from a start to one that needs what leaves.
    gap: u32,
    ahead: u32,
    limbs: u32,
    /// Of each task, those it is made of, and how many places it starts after them.
    after: Vec<Vec<(usize, u32)>>,
    /// Tasks that share a port, and how many may at once.
    ports: Vec<(usize, Vec<usize>)>,
    /// Of each slot, what fills it and what reads it.
    slots: Vec<Pair>,
    /// Of each modulus, what adds to its sums and what reads them; whether the last one takes two limbs more.
    sums: Vec<(Pair, bool)>,
    /// The second ones have started before the next key switch's first of the first ones: slots, sums in progress.
    free: Vec<Pair>,
    at: Vec<u32>,
    taken: Vec<u32>,
    guilty: Vec<usize>,
    owner: Vec<Option<usize>>,
    line: Vec<(u32, usize)>,
}

impl Search {
    fn new(pool: &Pool, set: Set, tasks: &[Task], period: u32, seed: u64) -> Self {
        let unit = pool.unit;
        let places = |cycles: u64| (cycles * u64::from(pool.units)).div_ceil(unit.interval()) as u32;
        let ahead = places(unit.leaves() + 9 + unit.multiplier + unit.turn());
        let gap = places(unit.rows());
        let of = |is: &dyn Fn(&Task) -> bool| -> Vec<usize> {
            (0..tasks.len()).filter(|&n| is(&tasks[n])).collect()
        };
        let after = tasks.iter().map(|t| {
            let lag = |p: &Task| match (p.inverse() || t.inverse(), p.modulus == t.modulus) {
                (true, _) => ahead,
                (false, true) => gap,
                (false, false) => 1,
            };
            (0..tasks.len()).filter(|&p| set.needs(*t, tasks[p])).map(|p| (p, lag(&tasks[p]))).collect()
        });
        let mut ports: HashMap<(u8, u32), Vec<usize>> = HashMap::new();
        for (n, t) in tasks.iter().enumerate() {
            if t.adds() {
                ports.entry((0, t.modulus)).or_default().push(n);
            }
            if !t.inverse() {
                ports.entry((if t.adds() { 1 } else { 2 }, t.part)).or_default().push(n);
            }
        }
        let mut ports: Vec<_> = ports.into_iter().collect();
        ports.sort();
        let ports = ports.into_iter().map(|((which, _), port)| (if which == 0 { 1 } else { 2 }, port));
        let part = |kind, j| of(&|t| t.kind == kind && t.part == j);
        let digits = (0..set.digits()).map(|j| (part(Kind::Back, j), part(Kind::Up, j)));
        let components = (0..2).map(|c| (part(Kind::Rest, c), part(Kind::Down, c)));
        let slots: Vec<Pair> = digits.chain(components).collect();
        let adds = |m| of(&|t| t.adds() && t.modulus == m);
        let one_at_a_time = (0..set.moduli()).map(|m| (adds(m), adds(m)));
        let sums = (0..set.moduli()).map(|m| {
            let more = m >= set.limbs && set.digits() > 1;
            ((adds(m), of(&|t| !t.adds() && t.modulus == m)), more)
        });
        let mut random = Random(seed);
        // Where tasks may begin, and how widely they are strewn there: over a good part of the period.
        let wide = (period / 2).max(10);
        let begin = |kind| match kind {
            Kind::Back => 0,
            Kind::Up => ahead,
            Kind::Rest => ahead + wide,
            Kind::Down => 2 * ahead + wide,
        };
        let at = tasks.iter().map(|t| begin(t.kind) + random.below(wide.into()) as u32).collect();
        Self {
            period,
            random,
            gap,
            ahead,
            limbs: pool.sums,
            after: after.collect(),
            ports: ports.collect(),
            free: slots.iter().cloned().chain(one_at_a_time).collect(),
            slots,
            sums: sums.collect(),
            at,
            taken: vec![0; period as usize],
            guilty: Vec::new(),
            owner: vec![None; period as usize],
            line: Vec::new(),
        }
    }

    /// By how many places rules are violated; `guilty` are the tasks that have a part in it.
    fn violated(&mut self) -> u32 {
        let Self { after, ports, free, slots, sums, at, taken, guilty, owner, line, .. } = self;
        let (period, gap, ahead, limbs) = (self.period, self.gap, self.ahead, self.limbs);
        let mut total = 0;
        guilty.clear();
        owner.fill(None);
        for (n, behind) in after.iter().enumerate() {
            for &(p, lag) in behind {
                let late = (at[p] + lag).saturating_sub(at[n]);
                if late > 0 {
                    total += late;
                    guilty.extend([n, p]);
                }
            }
            let owner = owner[(at[n] % period) as usize].get_or_insert(n);
            if *owner != n {
                total += 2;
                guilty.extend([n, *owner]);
            }
        }
        for (wide, port) in ports {
            line.clear();
            line.extend(port.iter().map(|&n| (at[n] % period, n)));
            line.sort_unstable();
            let count = line.len();
            for (k, &(a, i)) in line.iter().enumerate() {
                let next = k + *wide;
                if next >= 2 * count {
                    continue;
                }
                let (b, j) = line[next % count];
                let b = b + period * (next / count) as u32;
                if i != j && b - a < gap {
                    total += gap - (b - a);
                    guilty.extend([i, j]);
                }
            }
        }
        let place = |n: &&usize| at[**n];
        for (first, last) in free {
            if let (Some(&begin), Some(&end)) =
                (first.iter().min_by_key(place), last.iter().max_by_key(place))
            {
                let over = (at[end] + 1).saturating_sub(at[begin] + period);
                if over > 0 {
                    total += over;
                    guilty.extend([begin, end]);
                }
            }
        }
        // A slot has one port while it is written.
        for (fill, read) in slots {
            let whole = fill.iter().map(|&n| at[n]).max().unwrap_or(0) + ahead + gap;
            let early = || read.iter().copied().filter(|&n| at[n] < whole);
            if early().count() > 1 {
                total += early().count() as u32 - 1;
                guilty.extend(early());
            }
        }
        // Limbs of sums are taken from the first product on until a component is read.
        taken.fill(0);
        for ((add, read), more) in &*sums {
            let (Some(&first), Some(&last)) = (add.iter().min_by_key(place), add.iter().max_by_key(place))
            else {
                continue;
            };
            for &end in read {
                let long = at[end].saturating_sub(at[first]);
                for (p, taken) in taken.iter_mut().enumerate() {
                    let behind = (p as u32 + period - at[first] % period) % period;
                    *taken += long / period + u32::from(behind < long % period);
                }
            }
            if *more {
                taken[(at[last] % period) as usize] += 2;
            }
        }
        let over: u32 = taken.iter().map(|&n| n.saturating_sub(limbs)).sum();
        if over > 0 {
            total += over;
            guilty.extend(sums.iter().flat_map(|((add, read), _)| add.iter().chain(read).copied()));
        }
        let longest = at.iter().max().copied().unwrap_or(0);
        total + if longest >= (INSIDE as u32 - 1) * period { 100 } else { 0 }
    }

    /// The shortest places in which nothing is violated, if any are found.
    fn run(mut self, moves: u32) -> Option<Vec<u32>> {
        const STEPS: [i64; 10] = [-6, -4, -3, -2, -1, 1, 2, 3, 4, 6];
        let longest =
            |at: &[u32]| at.iter().max().zip(at.iter().min()).map_or(0, |(most, least)| most - least);
        let below = |random: &mut Random, bound: usize| random.below(bound as u64) as usize;
        let part = |random: &mut Random| random.word() as f64 / 2f64.powi(64);
        let total = self.violated();
        let mut energy = f64::from(total) + f64::from(longest(&self.at)) / 8.0;
        let mut blamed = self.guilty.clone();
        let mut best: Option<(u32, Vec<u32>)> = None;
        let count = self.at.len();
        for step in 0..moves {
            let heat = 1.5 * (1.0 - f64::from(step) / f64::from(moves)) + 0.12;
            let blame = !blamed.is_empty() && part(&mut self.random) < 0.8;
            let a = if blame {
                blamed[below(&mut self.random, blamed.len())]
            } else {
                below(&mut self.random, count)
            };
            let swap = part(&mut self.random) < 0.3;
            let b = if swap { below(&mut self.random, count) } else { a };
            let before = (self.at[a], self.at[b]);
            if a == b {
                let by = STEPS[below(&mut self.random, STEPS.len())];
                self.at[a] = (i64::from(before.0) + by).max(0) as u32;
            } else {
                self.at.swap(a, b);
            }
            let total = self.violated();
            let then = f64::from(total) + f64::from(longest(&self.at)) / 8.0;
            if then <= energy || part(&mut self.random) < ((energy - then) / heat).exp() {
                energy = then;
                std::mem::swap(&mut blamed, &mut self.guilty);
                let length = longest(&self.at);
                if total == 0 && best.as_ref().is_none_or(|(shortest, _)| length < *shortest) {
                    best = Some((length, self.at.clone()));
                }
            } else {
                (self.at[a], self.at[b]) = before;
            }
        }
        best.map(|(_, at)| {
            let least = at.iter().min().copied().unwrap_or(0);
            at.into_iter().map(|place| place - least).collect()
        })
    }
}
