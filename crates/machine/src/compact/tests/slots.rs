//! Key switches in slots of one transform, log N·N/(2·NBF) cycles, with the memory of CASA's board: 512 bits a cycle.
//!
//! `cargo test -p ringmill-machine slots -- --nocapture` prints the table. *alone* is one key switch from start to done,
//! which includes the making of the first roots; *in a row* is a quarter of four that have nothing to do with each other.

use super::super::*;
use super::primes::primes;
use super::programs::{Shape, Writer, key_switches};

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

/// CASA's own sequences first, one digit and one special prime.
const TABLE: [Row; 13] = [
    row(13, 4, [3, 1, 1], 7.3, 8.6, 6.5),
    row(14, 4, [7, 1, 1], 13.5, 14.9, 12.8),
    row(14, 8, [7, 1, 1], 13.5, 15.5, 13.5),
    row(13, 4, [3, 1, 3], 10.5, 12.0, 11.0),
    row(13, 4, [2, 2, 1], 6.4, 8.3, 6.6),
    row(14, 4, [7, 1, 7], 37.5, 37.5, 36.9),
    row(14, 4, [6, 2, 3], 21.0, 21.6, 22.9),
    row(14, 4, [5, 3, 2], 16.8, 18.9, 19.5),
    row(14, 4, [4, 4, 1], 12.6, 14.6, 14.5),
    row(14, 8, [7, 1, 7], 37.5, 37.5, 36.9),
    row(14, 8, [6, 2, 3], 21.0, 28.5, 32.5),
    row(14, 8, [5, 3, 2], 16.8, 23.9, 25.5),
    row(14, 8, [4, 4, 1], 12.6, 18.6, 17.8),
];

/// Slots a key switch, for `times` of them in one program.
fn slots(row: &Row, times: usize, rescale: bool, effort: usize) -> f64 {
    let [limbs, special, digits] = row.set;
    let literal = CompactLiteral {
        word_bits: 54,
        butterflies: row.butterflies,
        multiplier: Multiplier::SparseWordMontgomery,
        ..CompactLiteral::default()
    };
    let config = literal.build().unwrap();
    let all = primes(row.log_n, limbs + special);
    let shape = Shape { log_n: row.log_n, bits: 54, limbs, special, alpha: limbs.div_ceil(digits) };
    let program = key_switches(Writer::over(shape, &all[..limbs], &all[limbs..]), times, rescale);
    let policy = if digits == 1 && special < limbs { Policy::Casa } else { Policy::Throughput };
    let compact = Compact::emulated(config).with_policy(policy).with_effort(effort);
    let plan = compact.plan(&program).unwrap();
    assert_eq!(
        policy == Policy::Casa,
        compact.load(&program).is_err(),
        "CASA's sequence is planned, never run"
    );
    let cycles = model::simulate(&config, row.log_n, &plan.instructions).unwrap().counters.cycles;
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
        let (alone, in_a_row) = (slots(row, 1, false, 3_000), slots(row, 4, false, 6_000));
        print(row, alone, in_a_row);
        let [limbs, special, digits] = row.set;
        assert!(alone <= row.alone, "({limbs},{special},{digits}) alone: {alone}");
        assert!(in_a_row <= row.in_a_row, "({limbs},{special},{digits}) in a row: {in_a_row}");
    }
}

#[test]
#[ignore = "long: make test-full"]
fn a_thorough_search_comes_nearer_to_the_bars() {
    for row in &TABLE {
        let (alone, in_a_row) = (slots(row, 1, false, 40_000), slots(row, 4, false, 120_000));
        print(row, alone, in_a_row);
        println!("{:30} with the rescale merged: {:6.2}", "", slots(row, 1, true, 40_000));
        assert!(alone <= row.alone && in_a_row <= row.in_a_row);
    }
}
