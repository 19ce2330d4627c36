//! Key switches in slots of one transform, log N·N/(2·NBF) cycles, with the memory of CASA's board: 512 bits a cycle.
//!
//! `cargo test -p ringmill-machine slots -- --nocapture` prints the table. *alone* is one key switch from start to done;
//! *in a row* is a quarter of four that have nothing to do with each other. Both are run again: the roots of the first
//! transforms are left from the run before.

use super::super::*;
use super::primes::primes;
use super::programs::{Shape, key_switches};

/// A set, what the core is to reach, and what the model has found in the quick search, rounded up: no commit makes it
/// worse unnoticed.
struct Row {
    log_n: u32,
    butterflies: u32,
    /// Limbs, special primes, digits.
    set: [usize; 3],
    bar: f64,
    alone: f64,
    in_a_row: f64,
}

const fn row(log_n: u32, butterflies: u32, set: [usize; 3], bar: f64, alone: f64, in_a_row: f64) -> Row {
    Row { log_n, butterflies, set, bar, alone, in_a_row }
}

/// CASA's own sequences first, one digit and one special prime, with the bars for lanes that work together.
const TABLE: [Row; 13] = [
    row(13, 4, [3, 1, 1], 6.4, 6.33, 6.05),
    row(14, 4, [7, 1, 1], 12.6, 12.30, 12.04),
    row(14, 8, [7, 1, 1], 12.6, 12.52, 12.12),
    row(13, 4, [3, 1, 3], 10.5, 10.17, 10.05),
    row(13, 4, [2, 2, 1], 6.4, 6.40, 6.07),
    row(14, 4, [7, 1, 7], 37.5, 36.23, 36.1),
    row(14, 4, [6, 2, 3], 21.0, 21.59, 21.14),
    row(14, 4, [5, 3, 2], 16.8, 16.80, 17.03),
    row(14, 4, [4, 4, 1], 12.6, 12.94, 12.49),
    row(14, 8, [7, 1, 7], 37.5, 36.59, 36.19),
    row(14, 8, [6, 2, 3], 21.0, 26.15, 27.16),
    row(14, 8, [5, 3, 2], 16.8, 22.00, 25.21),
    row(14, 8, [4, 4, 1], 12.6, 16.85, 17.02),
];

/// Slots a key switch, for `times` of them in one program.
fn slots(row: &Row, times: usize, rescale: bool, effort: usize) -> f64 {
    let [limbs, special, digits] = row.set;
    let literal = CompactLiteral {
        word_bits: 54,
        butterflies: row.butterflies,
        multiplier: Multiplier::SparseWordMontgomery,
        ..CompactLiteral::roomy()
    };
    let config = literal.build().unwrap();
    let all = primes(row.log_n, limbs + special);
    let shape = Shape { log_n: row.log_n, bits: 54, limbs, special, alpha: limbs.div_ceil(digits) };
    let policy = if digits == 1 && special < limbs { Policy::Casa } else { Policy::Throughput };
    let mut writer = shape.over(&all[..limbs], &all[limbs..]);
    if policy == Policy::Casa {
        // As the paper has it: conversions do not centre.
        writer = writer.uncentred();
    }
    let program = key_switches(writer, times, rescale);
    let compact = Compact::emulated(config).with_policy(policy).with_effort(effort);
    let plan = compact.plan(&program).unwrap();
    assert_eq!(
        policy == Policy::Casa,
        compact.load(&program).is_err(),
        "CASA's sequence is planned, never run"
    );
    let cycles = model::simulate_again(&config, row.log_n, &plan.instructions).unwrap().counters.cycles;
    cycles as f64 / (config.slot(row.log_n) * times as u64) as f64
}

fn print(row: &Row, alone: f64, in_a_row: f64) {
    let Row { log_n, butterflies, set: [limbs, special, digits], bar, .. } = row;
    println!(
        "2^{log_n} NBF {butterflies} ({limbs},{special},{digits})  bar {bar:5.1}  alone {alone:6.2}  in a row {in_a_row:6.2}"
    );
}

#[test]
fn key_switches_take_no_more_slots_than_before() {
    for row in &TABLE {
        let (alone, in_a_row) = (slots(row, 1, false, 60_000), slots(row, 4, false, 160_000));
        print(row, alone, in_a_row);
        let [limbs, special, digits] = row.set;
        assert!(alone <= row.alone, "({limbs},{special},{digits}) alone: {alone}");
        assert!(in_a_row <= row.in_a_row, "({limbs},{special},{digits}) in a row: {in_a_row}");
    }
}

/// Early outputs at no cost to the whole: with and without a search, alone and where outputs are many.
#[test]
fn a_plan_for_early_outputs_ends_no_later_than_one_for_throughput() {
    for (set, butterflies, times) in
        [([2, 2, 1], 4, 1), ([3, 1, 3], 4, 1), ([3, 1, 3], 8, 2), ([4, 2, 2], 1, 1), ([4, 2, 2], 16, 3)]
    {
        let [limbs, special, digits] = set;
        let multiplier = Multiplier::SparseWordMontgomery;
        let literal = CompactLiteral { word_bits: 54, butterflies, multiplier, ..CompactLiteral::roomy() };
        let config = literal.build().unwrap();
        let all = primes(12, limbs + special);
        let shape = Shape { log_n: 12, bits: 54, limbs, special, alpha: limbs.div_ceil(digits) };
        let program = key_switches(shape.over(&all[..limbs], &all[limbs..]), times, true);
        for effort in [0, 8_000] {
            let [whole, early] = [Policy::Throughput, Policy::LowLatency].map(|policy| {
                let plan =
                    Compact::emulated(config).with_policy(policy).with_effort(effort).plan(&program).unwrap();
                let timing = model::simulate_again(&config, 12, &plan.instructions).unwrap();
                (timing.counters.cycles, plan.output_ends(&timing.spans).iter().sum::<u64>())
            });
            assert!(early.0 <= whole.0 && early.1 <= whole.1, "{set:?}, {butterflies}: {early:?}, {whole:?}");
        }
    }
}

/// The search of `ringmill compare casa`: with four butterflies, where transforms set the time, every set is within its bar
/// alone and in a row.
#[test]
#[ignore = "long: make test-full"]
fn a_thorough_search_reaches_the_bars() {
    for row in &TABLE {
        let (alone, in_a_row) = (slots(row, 1, false, 300_000), slots(row, 4, false, 1_200_000));
        print(row, alone, in_a_row);
        println!("{:30} with the rescale merged: {:6.2}", "", slots(row, 1, true, 300_000));
        if row.butterflies == 4 {
            assert!(alone <= row.bar && in_a_row <= row.bar);
        }
    }
}
