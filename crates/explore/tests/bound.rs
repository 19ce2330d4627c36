//! The closed form against the cycle model: never above it, whatever the program, the core and the plan.

use crate::common;
use ringmill_explore::design::{KernelSource, PrimeClass, SecretKind};
use ringmill_explore::space::chains;
use ringmill_explore::target::compact::{CompactCores, bound::Demand, exact};
use ringmill_explore::{Kernel, Space, Stop, Target};
use ringmill_machine::compact::{CompactConfig, CompactLiteral, MemoryTiming, Multiplier, Policy};
use ringmill_program::limb::LimbProgram;

/// What the nine kernels lack: squares of squares, products of shared operands, conjugation, rotations of sums.
const MORE: [&str; 4] = [
    "he @deep traced slots 8\n%0 = input \"x\"\n%1 = square %0\n%2 = square %1\n%3 = mul %2, %0\noutput \"out\", %3\nend\n",
    "he @shared traced slots 8\n%0 = input \"x\"\n%1 = input \"y\"\n%2 = mul %0, %1\n%3 = mul %0, %0\n%4 = add %2, %3\n\
     %5 = mul %4, %1\noutput \"out\", %5\noutput \"also\", %4\nend\n",
    "he @turned traced slots 8\n%0 = input \"x\"\n%1 = rotate %0, 1\n%2 = rotate %0, 3\n%3 = add %1, %2\n%4 = conj %3\n\
     %5 = mul %4, %0\noutput \"out\", %5\nend\n",
    "he @window traced slots 8\n%0 = input \"x\"\n%1 = rotate %0, 1\n%2 = rotate %0, 2\n%3 = rotate %0, 3\n%4 = rotate %0, 4\n\
     %5 = add %1, %2\n%6 = add %5, %3\n%7 = add %6, %4\noutput \"out\", %7\nend\n",
];

fn kernels(letters: &str) -> Vec<Kernel> {
    let traced = |(at, text): (usize, &&str)| KernelSource {
        name: format!("more-{at}"),
        program: (*text).into(),
        ..common::source('d')
    };
    let more = MORE.iter().enumerate().map(traced).map(|source| Kernel::new(source).unwrap());
    letters.chars().map(common::kernel).chain(more).collect()
}

/// One program for each structure that the kernels take in a small space.
fn programs(letters: &str, log_n: Vec<u32>) -> Vec<(String, LimbProgram)> {
    let space = Space {
        log_n,
        level_bits: vec![28],
        scale_offsets: vec![0],
        special_extra: vec![1],
        secrets: vec![SecretKind::Ternary],
        ..Space::default()
    };
    let space = space.with_numbers("words", &[36, 60]).with_names("multipliers", &["montgomery"]);
    let kernels = kernels(letters);
    let mut found = Vec::new();
    let mut seen = Vec::new();
    // No security: long chains and many digits at small degrees.
    for point in chains::enumerate(
        &CompactCores.classes(&space),
        &kernels,
        &space,
        0,
        ringmill_explore::Constraints::default().table,
        &Stop::default(),
    )
    .unwrap()
    .points
    {
        if point.parameters.class != PrimeClass::Any || seen.contains(&point.shape) {
            continue;
        }
        seen.push(point.shape);
        let instance = kernels[point.shape.variant].instantiate(&point.parameters.params().unwrap());
        let name = format!("{} {}", kernels[point.shape.variant].source().name, point.shape.key());
        found.push((name, instance.unwrap().lower().unwrap()));
    }
    found
}

/// Cores from narrow to wide, with memories from fast to slow.
fn cores(log_n: u32) -> Vec<CompactConfig> {
    let memories = [(1024, 10, 1), (512, 40, 1), (256, 37, 1), (256, 18, 3), (64, 90, 1), (64, 300, 4)];
    let kinds = [Multiplier::Montgomery, Multiplier::Barrett];
    let mut all = Vec::new();
    for butterflies in [1, 2, 4, 8, 16] {
        for (at, (bus_bits, latency, beat_cycles)) in memories.into_iter().enumerate() {
            let timing = MemoryTiming { latency, beat_cycles };
            let multiplier = kinds[(at + butterflies as usize) % 2];
            let literal = CompactLiteral {
                butterflies,
                bus_bits,
                timing,
                multiplier,
                log_n_max: log_n,
                ..CompactLiteral::roomy()
            };
            all.push(literal.build().unwrap());
        }
    }
    all
}

/// Checks the bound on every core with `effort` passes of search. Returns the ratios of cycles to bound,
/// ascending.
fn held(programs: &[(String, LimbProgram)], step: usize, effort: usize) -> Vec<f64> {
    let mut ratios = Vec::new();
    let mut at = 0;
    for (name, program) in programs {
        let cores = cores(program.log_n());
        let Ok(demand) = Demand::of(&cores[0], program) else { continue };
        for core in &cores {
            at += 1;
            if at % step != 0 {
                continue;
            }
            let Ok(counters) = exact::cycles(program, core, Policy::Throughput, effort) else { continue };
            let bound = demand.cycles(core);
            assert!(bound <= counters.cycles, "{name} on {core:?}: {bound} above {}", counters.cycles);
            ratios.push(counters.cycles as f64 / bound as f64);
        }
    }
    ratios.sort_by(f64::total_cmp);
    ratios
}

#[test]
fn no_plan_is_faster_than_the_bound() {
    let ratios = held(&programs("dg", vec![11]), 7, 1);
    let middle = ratios[ratios.len() / 2];
    println!("{} points: {} to {}, median {middle}", ratios.len(), ratios[0], ratios[ratios.len() - 1]);
    assert!(ratios.len() > 60, "{}", ratios.len());
    // A bound that holds because it is small proves nothing.
    assert!(ratios[0] < 1.4 && middle < 2.2, "{} {middle}", ratios[0]);
}

#[test]
#[ignore = "long: make test-full"]
fn no_plan_of_any_search_is_faster_than_the_bound() {
    let programs = programs("abcdefghi", vec![11, 12]);
    // Of some 2,000 points every third, and every hundred-and-first with a search, which takes seconds.
    for (effort, step, least) in [(1, 3, 500), (5_000, 101, 15)] {
        let ratios = held(&programs, step, effort);
        let at = |part: usize| ratios[part * (ratios.len() - 1) / 10];
        println!("effort {effort}, {} points: {:.3} {:.3} {:.3}", ratios.len(), at(0), at(5), at(10));
        assert!(ratios.len() >= least);
    }
}
