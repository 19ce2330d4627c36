//! Host, link and engine together, against sums written out by hand.

use std::path::PathBuf;
use std::sync::Arc;

use ringmill_program::limb::LimbProgram;
use ringmill_program::lower::{OperationWriter, Poly, Rotation};
use ringmill_ring::primes::of_bits;

use super::super::chain::Chain;
use super::super::pool::timetable::timetable;
use super::super::pool::{Pool, Set, Unit};
use super::super::{Job, after};
use super::shares;
use crate::compact::Multiplier;
use crate::compact::model::latency;
use crate::{Machine, MachineError, MachineSpec, Timing};

const LOG_N: u32 = 10;
const SET: Set = Set { limbs: 3, special: 1, alpha: 1 };
const BUILDS: [&str; 2] = ["limbs=3,log_n=10", "build=pool,limbs=3,log_n=10,units=2,feeds=1"];
/// 8,192 bytes of a limb in 800 cycles.
const LINK: &str = "clock=100,link=1024,link_latency=1000";
const LIMB: u64 = 800;
const LATENCY: u64 = 100;

fn open(text: &str) -> Arc<dyn Machine> {
    text.parse::<MachineSpec>().unwrap().open().unwrap()
}

fn writer(name: &str) -> OperationWriter {
    let q = of_bits(40, LOG_N, 3, &[]).unwrap();
    let p = of_bits(45, LOG_N, 1, &[]).unwrap();
    OperationWriter::new(name, LOG_N, (&q, &p), 1).unwrap()
}

fn counter(timing: &Timing, name: &str) -> u64 {
    timing.counters.iter().find(|(n, _)| n == name).unwrap().1
}

fn whole(timing: &Timing) -> u64 {
    let cycles = timing.cycles.unwrap();
    assert_eq!(timing.parts.iter().map(|(_, n)| n).sum::<u64>(), cycles);
    assert!((timing.seconds.unwrap() * 1e8 - cycles as f64).abs() < 0.5);
    cycles
}

/// A key switch alone, from its operands to the cycle after its last row.
fn alone(build: &str) -> u64 {
    let multiplier = latency(Multiplier::Montgomery, 60);
    if build.contains("pool") {
        let pool = Pool { unit: Unit { log_n: LOG_N, multiplier }, units: 2, feeds: 1, sums: SET.sums() };
        return pool.run(SET, &timetable(&pool, SET), &[Vec::new()], None).unwrap().ends[0] + 1;
    }
    let chain = Chain { log_p: 3, log_n: LOG_N, log_n_max: LOG_N, multiplier };
    let jobs = [Job { set: SET, after: Vec::new() }];
    chain.end(&chain.starts(&jobs, &mut after(|job| &jobs[job].after), None))
}

/// Costs of one microsecond a word of sums and products, and none of all else.
fn costs() -> Written {
    let kinds = "transform 0 wide_transform 0 conversion 0 conversion_term 0 key_term 0 wide_key_term 0 pointwise 1000 automorphism 0";
    Written::new("by-hand", &format!("ringmill costs 2\nmachine by hand\nlog_n 10 {kinds}\n"))
}

/// A file that goes with its name.
struct Written(PathBuf);

impl Written {
    fn new(name: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("ringmill-{}-{name}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        Self(path)
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A product: the host's four products a limb, the key switch, the host's rescale of two polynomials, one behind the other.
#[test]
fn what_needs_each_other_takes_the_sum() {
    let mut w = writer("product");
    let [a0, a1, b0, b1] = ["a0", "a1", "b0", "b1"].map(|name| w.input(name));
    let key = w.key("relin").unwrap();
    let d = w.low.tensor([&a0, &a1], [&b0, &b1]).unwrap();
    let product = w.low.relinearise([&d[0], &d[1], &d[2]], &key, false).unwrap();
    let rescaled = product.each_ref().map(|part| w.low.rescale(part).unwrap());
    w.output("rescaled", &rescaled);
    let program = w.finish().unwrap();
    let costs = costs();
    for build in BUILDS {
        let text = format!("pipelined:{build},{LINK},costs={}", costs.0.display());
        let timing = open(&text).estimate(&program).unwrap().unwrap();
        let word = 100;
        let (before, behind) = ((3 * 4 * word) << LOG_N, (2 * 2 * word) << LOG_N);
        let there = 9 * LIMB + LATENCY;
        let back = 6 * LIMB + LATENCY;
        assert_eq!(whole(&timing), before + there + alone(build) + back + behind, "{build}");
        assert_eq!(counter(&timing, "host_cycles"), before + behind);
        assert_eq!(counter(&timing, "link_bytes"), 15 * 8192);
        assert_eq!(counter(&timing, "engine_cycles"), alone(build));
        let part = |name: &str| timing.parts.iter().find(|(n, _)| n == name).unwrap().1;
        assert_eq!(part("host alone"), before + behind);
        assert_eq!(part("link alone"), 15 * LIMB);
        assert_eq!(part("bytes on their way"), 2 * LATENCY + lead(build));
        assert!(timing.by.contains("by hand") && timing.by.contains("1024 MB/s"), "{}", timing.by);
    }
}

/// Cycles from the arrival of operands to the first start: a pool takes the key switch first.
fn lead(build: &str) -> u64 {
    u64::from(build.contains("pool"))
}

fn turned(serial: bool) -> LimbProgram {
    let mut w = writer("turned");
    let [a0, a1] = ["a0", "a1"].map(|name| w.input(name));
    let key = w.key("turn").unwrap();
    let turn = |w: &mut OperationWriter, of: [Poly; 2]| {
        w.low.rotate([&of[0], &of[1]], Rotation { galois: 5, key: &key, rescale: false }).unwrap()
    };
    let once = turn(&mut w, [a0.clone(), a1.clone()]);
    let twice = if serial { turn(&mut w, once.clone()) } else { turn(&mut w, [a1, a0]) };
    w.output("once", &once);
    w.output("twice", &twice);
    w.finish().unwrap()
}

/// Without host work between them: the results of the first are the operands of the second, over the link and back.
#[test]
fn ciphertexts_come_back_between_key_switches() {
    let program = turned(true);
    for build in BUILDS {
        let text = format!("pipelined:{build},{LINK},costs=shipped");
        let timing = open(&text).estimate(&program).unwrap().unwrap();
        let part = |name: &str| timing.parts.iter().find(|(n, _)| n == name).map_or(0, |p| p.1);
        let host = counter(&timing, "host_cycles");
        let limbs = counter(&timing, "link_bytes") / 8192;
        let expected = host + limbs * LIMB + 4 * LATENCY + 2 * alone(build);
        assert_eq!(whole(&timing), expected, "{build}: {limbs} limbs, {:?}", timing.parts);
        assert_eq!(part("link alone"), limbs * LIMB);
    }
}

/// Independent ones overlap: behind a slow link the second starts when its operands are there, and its results are the last.
#[test]
fn a_slow_link_sets_the_pace_of_independent_key_switches() {
    let program = turned(false);
    for build in BUILDS {
        let with = |link: u64| {
            let text = format!("pipelined:{build},clock=100,link={link},link_latency=1000,costs=shipped");
            open(&text).estimate(&program).unwrap().unwrap()
        };
        let mut last = u64::MAX;
        for link in [16, 256, 1024, 100_000] {
            let cycles = whole(&with(link));
            assert!(cycles <= last, "{build}: {link}");
            last = cycles;
        }
        let slow = with(16);
        let limb = 8192 * 100 / 16;
        assert!(
            slow.spans.iter().filter(|s| s.unit == "link to engine").map(|s| s.end - s.start).sum::<u64>()
                % limb
                == 0
        );
        let up: u64 = slow.spans.iter().filter(|s| s.unit == "link to engine").map(|s| s.end - s.start).sum();
        assert!(whole(&slow) >= up + alone(build) + LATENCY, "{build}");
        assert!(whole(&slow) >= counter(&slow, "engine_cycles") + counter(&slow, "host_cycles"));
    }
}

#[test]
fn costs_that_are_none_are_refused() {
    let refused = |path: &str| {
        let spec: MachineSpec = format!("pipelined:costs={path}").parse().unwrap();
        spec.open().map(|_| ()).unwrap_err()
    };
    assert!(matches!(refused("/no/such/file"), MachineError::Costs { .. }));
    let file = Written::new("older", "ringmill costs 1\n");
    assert!(refused(&file.0.display().to_string()).to_string().contains("begins with `ringmill costs 2`"));
}

/// Against a count of every cycle.
#[test]
fn a_cycle_belongs_to_the_first_who_works() {
    let all = [("a", vec![(2, 5), (4, 8)]), ("b", vec![(0, 3), (7, 12), (12, 13)]), ("c", vec![(1, 20)])];
    let mut counted = [0_u64; 4];
    for cycle in 0..25 {
        let at = |spans: &[(u64, u64)]| spans.iter().any(|(start, end)| (start..end).contains(&&cycle));
        counted[all.iter().position(|(_, spans)| at(spans)).unwrap_or(3)] += 1;
    }
    let mut expected: Vec<(String, u64)> =
        ["a", "b", "c", "rest"].map(String::from).into_iter().zip(counted).collect();
    expected.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    assert_eq!(shares(25, all, "rest"), expected);
}
