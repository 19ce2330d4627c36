//! The schedule against the figures that are held to the RTL, and the machine against the interpreter.

use ringmill_program::limb::LimbProgram;
use ringmill_program::limb::random::inputs;
use ringmill_program::lower::{KeyLayout, Library, Method, OperationWriter, Rotation};
use ringmill_ring::primes::of_bits;

use super::schedule::{Chain, Job, Part};
use crate::{Machine, MachineError, MachineSpec, Reference, Timing};

const LOG_N: u32 = 10;

fn chain(log_n: u32) -> Chain {
    Chain { log_p: 3, log_n, log_n_max: 16, multiplier: 12 }
}

fn independent(level: u32, count: usize) -> Vec<Job> {
    vec![Job { level, after: Vec::new() }; count]
}

/// When each result has ended.
fn ends(chain: Chain, jobs: &[Job]) -> Vec<u64> {
    let starts = chain.starts(jobs);
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
        assert_eq!(chain.end(&chain.starts(&independent(level, 1))), alone);
        let many = independent(level, 12);
        let (starts, ends) = (chain.starts(&many), ends(chain, &many));
        assert!(ends[4..11].windows(2).all(|pair| pair[1] - pair[0] == interval), "{ends:?}");
        let first = starts.iter().find(|s| s.job == 6 && s.part == Part::Digit(0)).unwrap();
        assert_eq!(ends[6] - first.cycle, latency);
    }
}

/// A key switch that needs another's result, or has another level, starts when that one has ended; and slots never overlap.
#[test]
fn key_switches_wait_for_what_they_need() {
    let chain = chain(13);
    let job = |level, after: &[usize]| Job { level, after: after.to_vec() };
    let jobs = [job(4, &[]), job(4, &[]), job(4, &[0]), job(3, &[]), job(3, &[1, 2])];
    let (starts, ends) = (chain.starts(&jobs), ends(chain, &jobs));
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
    let machine = open("pipelined:clock=236");
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
    assert!(timing.seconds.is_some_and(|s| (s * 236e6 - timing.cycles.unwrap() as f64).abs() < 1.0));
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
    let error = open("pipelined:log_n=10").accepts(&large).unwrap_err().to_string();
    assert!(error.ends_with("the chain was built for N = 2^10 to 2^10; the program has N = 2^11"), "{error}");
    open("pipelined:log_n=11").accepts(&large).unwrap();
}
