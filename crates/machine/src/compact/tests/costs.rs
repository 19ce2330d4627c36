//! The cost table against the cycle model, on whole key switches.

use ringmill_program::cost::{CostTable, Kind, Rates, Work};
use ringmill_program::limb::LimbProgram;

use super::super::*;
use crate::calibrate::{Shape, key_switch};

/// What the rates were fitted to: limbs, special primes, limbs a digit, bits, and for KLSS limbs a block and bits of T.
const FITTED: [Shape; 12] = [
    (3, 1, 1, 50, None),
    (4, 4, 4, 50, None),
    (6, 2, 2, 50, None),
    (5, 3, 3, 50, None),
    (8, 1, 1, 50, None),
    (8, 4, 4, 50, None),
    (12, 3, 3, 50, None),
    (12, 2, 2, 50, None),
    (6, 1, 1, 50, Some((3, 51))),
    (12, 1, 1, 50, Some((4, 51))),
    (10, 2, 2, 36, Some((3, 51))),
    (12, 3, 3, 36, Some((5, 51))),
];

/// What they are held to.
const HELD: [Shape; 8] = [
    (4, 1, 1, 50, None),
    (7, 1, 1, 50, None),
    (6, 3, 3, 50, None),
    (10, 2, 2, 50, None),
    (9, 3, 3, 50, None),
    (8, 1, 1, 50, Some((4, 51))),
    (10, 1, 1, 36, Some((3, 51))),
    (8, 2, 2, 36, Some((4, 51))),
];

fn config(butterflies: u32, bus_bits: u32) -> CompactConfig {
    CompactLiteral { butterflies, bus_bits, ..CompactLiteral::roomy() }.build().unwrap()
}

/// Cycles of a program that is run again, by the model.
fn cycles(config: &CompactConfig, program: &LimbProgram) -> u64 {
    let plan = Compact::emulated(*config).plan(program).unwrap();
    model::simulate_again(config, program.log_n(), &plan.instructions).unwrap().counters.cycles
}

/// Key switches alone, and of every third shape two rotations that share their digits.
fn programs(log_n: u32, shapes: &[Shape]) -> Vec<(String, LimbProgram)> {
    let mut all = Vec::new();
    for (i, &shape) in shapes.iter().enumerate() {
        for &rotations in if i % 3 == 1 { &[0, 2][..] } else { &[0] } {
            let name = format!("{shape:?}, {rotations} rotations");
            all.push((name, key_switch(log_n, shape, rotations).unwrap()));
        }
    }
    all
}

/// What each program is made of, and its cycles.
fn counted(config: &CompactConfig, log_n: u32, shapes: &[Shape]) -> Vec<(String, Work, f64)> {
    let one = |(name, program): (String, LimbProgram)| {
        let cycles = cycles(config, &program) as f64;
        (name, Work::of(&program), cycles)
    };
    programs(log_n, shapes).into_iter().map(one).collect()
}

/// By how much a table for a clock of 1 GHz is off, in parts of the model's cycles.
fn deviations(table: &CostTable, log_n: u32, counted: &[(String, Work, f64)]) -> Vec<f64> {
    counted.iter().map(|(_, work, cycles)| table.nanoseconds(work, log_n) / cycles - 1.0).collect()
}

fn worst(deviations: &[f64]) -> f64 {
    deviations.iter().fold(0.0, |worst: f64, off| worst.max(off.abs()))
}

fn squares(deviations: &[f64]) -> f64 {
    deviations.iter().map(|off| off * off).sum()
}

#[test]
fn whole_key_switches_take_what_the_table_says() {
    for (butterflies, bus_bits) in [(4, 512), (8, 512), (4, 128)] {
        let config = config(butterflies, bus_bits);
        let counted = counted(&config, 11, &HELD);
        let all = deviations(&costs::table(&config, 1000.0), 11, &counted);
        assert!(worst(&all) < 0.2, "{butterflies} butterflies, {bus_bits} bits: {all:.3?}");
    }
    // At its own clock.
    let table = Compact::emulated(config(4, 512)).costs_at_clock();
    assert!(table.machine().starts_with("compact core at 100 MHz"));
    assert_eq!(table, costs::table(&config(4, 512), costs::CLOCK_MHZ));
}

#[test]
#[ignore = "long: make test-full"]
fn no_other_rates_explain_the_model_better() {
    for bus_bits in [512, 256, 128, 64] {
        let (config, log_n) = (config(4, bus_bits), 11);
        let counted = counted(&config, log_n, &FITTED);
        let kept = costs::cycles_a_row(f64::from(512 / bus_bits));
        let off = |cycles: [f64; Kind::ALL.len()]| {
            let rates = cycles.map(|cycles| cycles / f64::from(config.row_words()));
            deviations(&CostTable::side_by_side("a core", Rates { log_n, rates }), log_n, &counted)
        };
        let found = off(kept);
        assert!(worst(&found) < 0.22, "{bus_bits} bits: {found:.3?}");
        assert!((squares(&found) / found.len() as f64).sqrt() < 0.1, "{bus_bits} bits: {found:.3?}");
        for kinds in [&[Kind::ConversionTerm][..], &[Kind::KeyTerm, Kind::WideKeyTerm]] {
            for factor in [0.85, 1.15] {
                let mut other = kept;
                kinds.iter().for_each(|&kind| other[kind as usize] *= factor);
                assert!(squares(&off(other)) > squares(&found), "{kinds:?} times {factor}");
            }
        }
    }
}

#[test]
#[ignore = "long: make test-full"]
fn the_table_holds_for_other_sizes_and_degrees() {
    for (butterflies, bus_bits, log_n) in
        [(1, 512, 11), (16, 512, 13), (16, 64, 12), (2, 256, 10), (4, 512, 13)]
    {
        let config = config(butterflies, bus_bits);
        let all = deviations(&costs::table(&config, 1000.0), log_n, &counted(&config, log_n, &HELD));
        assert!(worst(&all) < 0.25, "{butterflies} butterflies, {bus_bits} bits, 2^{log_n}: {all:.3?}");
    }
}
