//! The schedule against the figures that are held to the RTL, and the machine against the interpreter.

use ringmill_program::limb::LimbProgram;
use ringmill_program::limb::random::inputs;
use ringmill_program::lower::{KeyLayout, Library, Method, OperationWriter, Rotation};
use ringmill_ring::primes::of_bits;

use super::chain::{Chain, Part, Start};
use super::memory::Memory;
use super::pool::timetable::timetable;
use super::pool::{COUNT, Pool, Set, Unit, steady};
use super::{Job, after};
use crate::{Machine, MachineError, MachineSpec, Reference, Timing};

const LOG_N: u32 = 10;

fn chain(log_n: u32) -> Chain {
    Chain { log_p: 3, log_n, log_n_max: 16, multiplier: 12 }
}

fn job(level: u32, after: &[usize]) -> Job {
    Job { set: Set { limbs: level, special: 1, alpha: 1 }, after: after.to_vec() }
}

fn independent(level: u32, count: usize) -> Vec<Job> {
    vec![job(level, &[]); count]
}

fn starts(chain: Chain, jobs: &[Job], memory: Option<&Memory>) -> Vec<Start> {
    chain.starts(jobs, &mut after(|job| &jobs[job].after), memory)
}

/// When each result has ended.
fn ends(chain: Chain, jobs: &[Job]) -> Vec<u64> {
    let starts = starts(chain, jobs, None);
    starts.iter().filter(|s| s.part == Part::Down(1)).map(|s| s.cycle + chain.result()).collect()
}

/// The rows of rtl/pipelined/README.md, which a test of Python holds to the model that equals the RTL start by start.
#[test]
fn figures_are_those_of_the_page_beside_the_rtl() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../rtl/pipelined/README.md");
    let page = std::fs::read_to_string(path).unwrap();
    let rows: Vec<Vec<u64>> = page
        .lines()
        .filter(|line| {
            line.strip_prefix("| ").is_some_and(|row| row.starts_with(|c: char| c.is_ascii_digit()))
        })
        .filter(|line| line.contains(" limbs |"))
        .map(|line| {
            line.split('|')
                .filter_map(|c| c.replace([',', ' '], "").replace("limbs", "").parse().ok())
                .collect()
        })
        .collect();
    assert_eq!(rows.len(), 3);
    for row in rows {
        let [limbs, bound, interval, latency, alone, _] = row[..] else { panic!("{row:?}") };
        let (chain, level) = (chain(16), limbs as u32);
        assert_eq!(bound, (limbs + 2) * chain.rows());
        assert_eq!(chain.end(&starts(chain, &independent(level, 1), None)), alone);
        let many = independent(level, 12);
        let (starts, ends) = (starts(chain, &many, None), ends(chain, &many));
        assert!(ends[4..11].windows(2).all(|pair| pair[1] - pair[0] == interval), "{ends:?}");
        let first = starts.iter().find(|s| s.job == 6 && s.part == Part::Digit(0)).unwrap();
        assert_eq!(ends[6] - first.cycle, latency);
    }
}

/// A key switch that needs another's result, or has another level, starts when that one has ended; and slots never overlap.
#[test]
fn key_switches_wait_for_what_they_need() {
    let chain = chain(13);
    let jobs = [job(4, &[]), job(4, &[]), job(4, &[0]), job(3, &[]), job(3, &[1, 2])];
    let (starts, ends) = (starts(chain, &jobs, None), ends(chain, &jobs));
    assert_eq!(starts.len(), 4 + 4 + 4 + 3 + 3 + 2 * 5);
    assert!(starts.windows(2).all(|pair| pair[1].cycle - pair[0].cycle >= chain.rows()));
    let first = |job| starts.iter().find(|s| s.job == job).unwrap().cycle;
    assert!(first(1) < ends[0] && first(2) >= ends[0]);
    assert!(first(3) >= ends[2] && first(4) >= ends[2]);
}

fn several(alpha: usize, special: usize) -> LimbProgram {
    several_as(None, alpha, special)
}

/// The same with the integers of a library.
fn several_as(library: Option<Library>, alpha: usize, special: usize) -> LimbProgram {
    let q = of_bits(40, LOG_N, 4, &[]).unwrap();
    let p = of_bits(45, LOG_N, special, &[]).unwrap();
    let mut w = OperationWriter::new("several", LOG_N, (&q, &p), alpha).unwrap();
    if let Some(library) = library {
        w = w.by(Method::Of(library, KeyLayout { limbs: 4, special, alpha }));
    }
    let [a0, a1, b0, b1] = ["a0", "a1", "b0", "b1"].map(|name| w.input(name));
    let (relin, turn) = (w.key("relin").unwrap(), w.key("turn").unwrap());
    let d = w.low.tensor([&a0, &a1], [&b0, &b1]).unwrap();
    let product = w.low.relinearise([&d[0], &d[1], &d[2]], &relin, false).unwrap();
    let turned = w.low.rotate([&a0, &a1], Rotation { galois: 5, key: &turn, rescale: false }).unwrap();
    let rescaled = product.each_ref().map(|part| w.low.rescale(part).unwrap());
    let again = w
        .low
        .rotate([&rescaled[0], &rescaled[1]], Rotation { galois: 25, key: &turn, rescale: false })
        .unwrap();
    let merged = w.low.rotate([&b0, &b1], Rotation { galois: 5, key: &turn, rescale: true }).unwrap();
    for (name, part) in [("product", &product), ("turned", &turned), ("again", &again), ("merged", &merged)] {
        w.output(name, part);
    }
    w.finish().unwrap()
}

fn open(text: &str) -> std::sync::Arc<dyn Machine> {
    text.parse::<MachineSpec>().unwrap().open().unwrap()
}

fn counter(timing: &Timing, name: &str) -> u64 {
    timing.counters.iter().find(|(n, _)| n == name).unwrap().1
}

#[test]
fn the_chain_takes_its_key_switches_and_the_host_the_rest() {
    let program = several(1, 1);
    let machine = open("pipelined");
    let timing = machine.estimate(&program).unwrap().unwrap();
    // The product, the rotation, and that of the rescaled product, of three limbs; the merged rescale is the host's.
    assert_eq!((counter(&timing, "key_switches"), counter(&timing, "key_switches_of_host")), (3, 1));
    assert_eq!(counter(&timing, "slots"), 6 + 6 + 5);
    assert_eq!(counter(&timing, "key_bytes"), (2 * 40 + 24) << (LOG_N + 3));
    assert_eq!(timing.spans.len(), 17);
    assert_eq!(
        timing.cycles,
        timing.spans.iter().map(|s| s.end).max().map(|last| last + 2 * (127 + 10 * 15 + 6) + 13 + 15 + 15)
    );
    assert!(timing.seconds.is_none() && timing.by.contains("the engine's alone"));
    assert!(words(&*machine, &program) == words(&Reference, &program));
}

fn words(machine: &dyn Machine, program: &LimbProgram) -> Vec<Vec<u64>> {
    let words = inputs(program, 3);
    let bound: Vec<&[u64]> = words.iter().map(Vec::as_slice).collect();
    let mut out = vec![vec![u64::MAX; program.n()]; program.output_types().len()];
    let mut outputs: Vec<&mut [u64]> = out.iter_mut().map(Vec::as_mut_slice).collect();
    machine.prepare(program).unwrap().run(&bound, &mut outputs).unwrap();
    out
}

/// The rescale behind a key switch is a division of its own there, so the chain takes what it follows. OpenFHE's automorphism
/// stands between inner product and division.
#[test]
fn key_switches_of_libraries_run_on_the_chain_where_their_steps_are_its_own() {
    let machine = open("pipelined");
    for (library, served) in [(Library::Seal, (4, 0)), (Library::OpenFhe, (1, 3))] {
        let program = several_as(Some(library), 1, 1);
        let timing = machine.estimate(&program).unwrap().unwrap();
        let counted = (counter(&timing, "key_switches"), counter(&timing, "key_switches_of_host"));
        assert_eq!(counted, served, "{library}");
        assert!(words(&*machine, &program) == words(&Reference, &program), "{library}");
    }
}

#[test]
fn other_key_switches_are_the_hosts() {
    let none = |timing: Timing| {
        assert_eq!(
            (timing.cycles, counter(&timing, "key_switches"), counter(&timing, "key_switches_of_host")),
            (Some(0), 0, 4)
        );
    };
    // Two limbs a digit, two special primes.
    none(open("pipelined").estimate(&several(2, 2)).unwrap().unwrap());
    // More limbs than units; the smaller one fits.
    let timing = open("pipelined:limbs=3").estimate(&several(1, 1)).unwrap().unwrap();
    assert_eq!((counter(&timing, "key_switches"), counter(&timing, "key_switches_of_host")), (1, 3));
}

const POOL: &str = "pipelined:build=pool,special=2,digits=2";

/// Two limbs a digit, two special primes: the product, the rotation, and that of the rescaled product, of three limbs. The merged
/// rescale is the host's.
#[test]
fn a_pool_takes_key_switches_of_several_special_primes() {
    let (program, machine) = (several(2, 2), open(POOL));
    let timing = machine.estimate(&program).unwrap().unwrap();
    assert_eq!((counter(&timing, "key_switches"), counter(&timing, "key_switches_of_host")), (3, 1));
    assert_eq!(counter(&timing, "transforms"), 24 + 24 + 20);
    assert_eq!(counter(&timing, "key_bytes"), (2 * 24 + 20) << (LOG_N + 3));
    assert_eq!(counter(&timing, "ciphertext_bytes"), 66 << (LOG_N + 3));
    // A transform keeps its unit's 32 butterflies for N/2·log2 N / 32 cycles; no two overlap on a unit.
    let busy: u64 = timing.busy.iter().map(|(_, busy)| busy).sum();
    assert_eq!(busy, 68 * 512 * 10 / 32);
    let mut spans = timing.spans.clone();
    spans.sort_by(|a, b| (&a.unit, a.start).cmp(&(&b.unit, b.start)));
    assert!(spans.windows(2).all(|pair| pair[0].unit != pair[1].unit || pair[0].end <= pair[1].start));
    assert!(timing.cycles.unwrap() > spans.iter().map(|s| s.start).max().unwrap());
    assert!(words(&*machine, &program) == words(&Reference, &program));
    // One digit and more special primes than limbs a digit; a digit a limb on the same build.
    for (alpha, special, text) in
        [(4, 3, "pipelined:build=pool,special=3,digits=1"), (1, 1, "pipelined:build=pool,digits=4")]
    {
        let (program, machine) = (several(alpha, special), open(text));
        let timing = machine.estimate(&program).unwrap().unwrap();
        assert_eq!((counter(&timing, "key_switches"), counter(&timing, "key_switches_of_host")), (3, 1));
        assert!(words(&*machine, &program) == words(&Reference, &program));
    }
}

#[test]
fn key_switches_of_openfhe_run_on_a_pool_where_no_automorphism_is_inside() {
    let (program, machine) = (several_as(Some(Library::OpenFhe), 2, 2), open(POOL));
    let timing = machine.estimate(&program).unwrap().unwrap();
    assert_eq!((counter(&timing, "key_switches"), counter(&timing, "key_switches_of_host")), (1, 3));
    assert!(words(&*machine, &program) == words(&Reference, &program));
}

/// A memory that is slower than the interval sets it, and the estimate says so.
#[test]
fn a_memory_off_chip_is_counted() {
    for (build, program) in [("build=pool,special=2,digits=2", several(2, 2)), ("lanes=8", several(1, 1))] {
        let with = |more: &str| {
            open(&format!("pipelined:{build},clock=200{more}")).estimate(&program).unwrap().unwrap()
        };
        let (free, fast, slow, seeded) = (
            with(""),
            with(",bandwidth=10000000"),
            with(",bandwidth=2000,latency=50"),
            with(",bandwidth=2000,latency=50,keys=seeded"),
        );
        assert!(free.by.ends_with("no memory makes it wait") && fast.by.contains("holds the interval"));
        assert_eq!(counter(&fast, "interval"), counter(&free, "interval"));
        // 10 bytes a cycle.
        let bytes = |t: &Timing| counter(t, "key_bytes") + counter(t, "ciphertext_bytes");
        assert_eq!(counter(&slow, "bound_off_chip"), bytes(&slow).div_ceil(10));
        let engine = |t: &Timing| counter(t, "engine_cycles");
        assert!(engine(&slow) > bytes(&slow) / 10 && slow.cycles > fast.cycles);
        assert_eq!(counter(&slow, "waited_for_memory"), engine(&slow) - engine(&free));
        let becomes = counter(&slow, "interval_with_memory");
        assert!(becomes > 10 * counter(&slow, "interval"));
        assert!(slow.by.ends_with(&format!("it becomes {becomes}")), "{}", slow.by);
        assert_eq!(2 * counter(&seeded, "key_bytes"), counter(&slow, "key_bytes"));
        assert!(seeded.cycles < slow.cycles);
    }
}

/// The rows of docs/papers/duong-lee.md about memories off chip: GB/s, then the interval of chain and pool, keys whole and seeded, at
/// 236 MHz.
#[test]
fn the_page_says_what_memories_hold() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/papers/duong-lee.md");
    let page = std::fs::read_to_string(path).unwrap();
    let rows = page.lines().filter(|line| line.contains(" GB/s |"));
    let cells = |row: &str| -> Vec<f64> {
        row.split('|').filter_map(|c| c.replace([',', ' '], "").replace("GB/s", "").parse().ok()).collect()
    };
    let said: Vec<Vec<f64>> = rows.map(cells).collect();
    let found = said.iter().map(|row| {
        let of = |build, seeded| memory_interval(build, (row[0] * 1000.0) as u64, seeded);
        vec![row[0], of("chain", false), of("chain", true), of("pool", false), of("pool", true)]
    });
    assert_eq!(said, found.collect::<Vec<_>>());
    assert_eq!(said.len(), 3);
}

/// Of Duong and Lee's set at N = 2^16 and 236 MHz, with products of twelve cycles.
fn memory_interval(build: &str, megabytes: u64, seeded: bool) -> f64 {
    let ahead = if build == "chain" { 1 } else { 4 };
    let bytes_in_1000 = megabytes * 1000 / 236;
    let memory = Memory { bytes_in_1000, latency: 47, limb_bytes: 8 << 16, seeded, ahead, linked: false };
    let jobs = independent(4, 24);
    if build == "chain" {
        let chain = chain(16);
        let starts = starts(chain, &jobs, Some(&memory));
        let ends: Vec<u64> =
            starts.iter().filter(|s| s.part == Part::Down(1)).map(|s| s.cycle + chain.result()).collect();
        return ((ends[22] - ends[12]) / 10) as f64;
    }
    let pool = Pool { unit: Unit { log_n: 16, multiplier: 12 }, units: 10, feeds: 3, sums: 48 };
    let set = jobs[0].set;
    let ran = pool.run(set, &timetable(&pool, set), &vec![Vec::new(); COUNT], Some(&memory)).unwrap();
    steady(&ran).0.round()
}

#[test]
fn what_does_not_fit_a_pool_is_refused_by_name() {
    let refused = |text: &str, program: &LimbProgram| {
        let machine = open(text);
        let error = machine.accepts(program).unwrap_err();
        assert_eq!(machine.prepare(program).map(|_| ()), Err(error.clone()));
        assert_eq!(machine.estimate(program).map(|_| ()), Err(error.clone()));
        assert!(matches!(error, MachineError::Unsupported { .. }));
        let (machine, reason) =
            error.to_string().split_once(": ").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
        assert!(machine.starts_with("machine pipelined cannot run program several"), "{machine}");
        reason
    };
    let said =
        |what, most, option| format!("a key switch has {what}; the pool was built for {most}, give {option}");
    let (one, two) = (several(1, 1), several(2, 2));
    assert_eq!(refused("pipelined:build=pool", &two), said("2 special primes", 1, "special=2"));
    assert_eq!(refused("pipelined:build=pool,limbs=3", &one), said("4 limbs", 3, "limbs=4"));
    assert_eq!(refused(POOL, &one), said("4 digits", 2, "digits=4"));
    assert_eq!(
        refused("pipelined:build=pool,special=1,alpha=1", &several(2, 1)),
        said("2 limbs a digit", 1, "alpha=2")
    );
    let word = refused("pipelined:build=pool,word=36", &one);
    assert!(
        word.contains("outside the class of the core's montgomery multiplier: q < 2^W, W = 36"),
        "{word}"
    );
    // Builds that there are not.
    for (text, said) in [
        (
            "pipelined:link=8000",
            "machine pipelined cannot have link=8000; give clock too: without it the host's time has no cycles",
        ),
        ("pipelined:units=4", "machine pipelined cannot have units=4; give it with build=pool alone"),
        (
            "pipelined:build=pool,lanes=8",
            "machine pipelined cannot have lanes=8; give it with build=streams alone",
        ),
        (
            "pipelined:build=pool,digits=5",
            "machine pipelined cannot have digits=5; give 1 to 4, as many as limbs",
        ),
        (
            "pipelined:build=pool,limbs=15,digits=2",
            "machine pipelined cannot have digits=2; give 3 or more: a digit has 7 limbs at most",
        ),
        ("pipelined:build=pool,special=2,alpha=1", "machine pipelined cannot have alpha=1; give 2 to 7"),
        (
            "pipelined:bandwidth=1000",
            "machine pipelined cannot have bandwidth=1000; give clock too, which says what it is in a cycle",
        ),
        (
            "pipelined:latency=10",
            "machine pipelined cannot have latency=10; give bandwidth too: without it no memory makes the engine wait",
        ),
    ] {
        let opened = text.parse::<MachineSpec>().unwrap().open().map(|_| ());
        assert_eq!(opened.unwrap_err().to_string(), said);
    }
}

#[test]
fn what_it_cannot_run_is_refused_by_name() {
    let program = several(1, 1);
    let refused = |text: &str| {
        let machine = open(text);
        let error = machine.accepts(&program).unwrap_err();
        assert_eq!(machine.prepare(&program).map(|_| ()), Err(error.clone()));
        assert_eq!(machine.estimate(&program).map(|_| ()), Err(error.clone()));
        assert!(matches!(error, MachineError::Unsupported { .. }));
        error.to_string()
    };
    let word = refused("pipelined:word=36");
    assert!(
        word.contains("is outside the class of the core's montgomery multiplier: q < 2^W, W = 36"),
        "{word}"
    );
    // Programs of the greatest degree and beyond.
    let q = of_bits(40, 11, 2, &[]).unwrap();
    let mut w = OperationWriter::new("large", 11, (&q[..1], &q[1..]), 1).unwrap();
    let [c0, c1] = ["c0", "c1"].map(|name| w.input(name));
    let key = w.key("turn").unwrap();
    let turned = w.low.rotate([&c0, &c1], Rotation { galois: 5, key: &key, rescale: false }).unwrap();
    w.output("turned", &turned);
    let large = w.finish().unwrap();
    for (build, name) in [("streams", "chain"), ("pool", "pool")] {
        let error =
            open(&format!("pipelined:build={build},log_n=10")).accepts(&large).unwrap_err().to_string();
        let said = format!("the {name} was built for N = 2^10 to 2^10; the program has N = 2^11");
        assert!(error.ends_with(&said), "{error}");
    }
    open("pipelined:log_n=11").accepts(&large).unwrap();
}
