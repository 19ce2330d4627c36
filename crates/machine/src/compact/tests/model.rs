//! The cycle model: what it must count whatever the schedule, and the closed forms of single units.

use super::super::*;
use super::programs::{Shape, key_switches};

fn config(bus_bits: u32, latency: u32, beat_cycles: u32) -> CompactConfig {
    let timing = MemoryTiming { latency, beat_cycles };
    CompactLiteral { bus_bits, timing, ..CompactLiteral::roomy() }.build().unwrap()
}

fn bank(i: usize) -> Option<Bank> {
    Bank::new(i)
}

#[test]
fn one_transform_takes_its_roots_and_its_slot() {
    let log_n = 12;
    let config = config(512, 40, 1);
    let ntt = Instruction { a: bank(1), ..Instruction::new(Op::Ntt) };
    let timing = model::simulate(&config, log_n, &[ntt, ntt, Instruction::new(Op::End)]).unwrap();
    let (first, second) = (timing.spans[0], timing.spans[1]);
    let (m, slot) = (11, config.slot(log_n));
    assert_eq!(
        second.start,
        first.end + 1,
        "the second waits for the bank, and its grant stands in a register"
    );
    // Stages follow each other almost without gaps: 2 % and 40 cycles are the bar.
    assert!(first.end - first.start <= slot + slot / 50 + 40 + m);
    // The roots of the first are made while nothing runs: all N of them, two a cycle, and the short levels.
    assert!(first.start > 1 << (log_n - 1) && first.start < (1 << (log_n - 1)) + 400);
}

#[test]
fn a_ganged_transform_holds_both_lanes_for_half_a_slot() {
    let log_n = 12;
    let config = config(512, 40, 1);
    let ntt = |i| Instruction { a: bank(i), ..Instruction::new(Op::Ntt) };
    // The first one makes lane 1 wait for lane 0, the last one waits for both.
    let program = [ntt(0), ntt(6), ntt(7), ntt(3), Instruction::new(Op::End)];
    let timing = model::simulate(&config, log_n, &program).unwrap();
    let [alone, first, second, last] = [0, 1, 2, 3].map(|i| timing.spans[i]);
    let (m, half) = (11, config.slot(log_n) / 2);
    assert_eq!(first.start, alone.end + 1, "bank 0 is in use");
    assert!(first.end - first.start <= half + half / 50 + 40 + m);
    assert!(second.start < first.end, "other banks: the pipeline need not drain");
    assert!(second.start >= first.start + half && second.end > first.end);
    assert_eq!(last.start, second.end + 1, "bank 3 is in use");
    let busy = timing.counters.transform_busy;
    assert!(busy[0] > busy[1] - half && busy[1] >= 4 * half);
}

#[test]
fn counters_add_up_for_any_memory() {
    let shape = Shape { log_n: 11, bits: 50, limbs: 3, special: 1, alpha: 1 };
    let program = key_switches(shape.writer(), 1, false);
    let plan = Compact::emulated(config(512, 40, 1)).plan(&program).unwrap();
    let count = |f: &dyn Fn(&Instruction) -> bool| plan.instructions.iter().filter(|i| f(i)).count() as u64;
    let (passes, transforms) = (count(&|i| i.op.is_arithmetic()), count(&|i| i.op.is_transform()));
    assert_eq!(transforms, 20, "(β + 2)(ℓ + 1 + K)");
    let mut before = 0;
    for (bus, latency, beat) in [(1024, 10, 1), (512, 40, 1), (256, 100, 1), (64, 200, 1), (64, 500, 3)] {
        let config = config(bus, latency, beat);
        let timing = model::simulate(&config, 11, &plan.instructions).unwrap();
        let c = timing.counters;
        let rows = u64::from(config.rows(11));
        let beats = (64 << 11) / u64::from(bus);
        assert_eq!(c.arithmetic_busy, passes * rows);
        let streamed = count(&|i| i.s.is_some()) * beats;
        let instructions = (plan.instructions.len() as u64 + 64) * 256 / u64::from(bus).min(256);
        assert!((streamed..=streamed + instructions).contains(&c.read_beats), "limbs and instructions");
        assert_eq!(c.write_beats, count(&|i| i.store.is_some()) * beats);
        assert_eq!(c.instructions + 1, plan.instructions.len() as u64, "END is not dispatched");
        assert!(c.cycles > before, "slower memory, more cycles");
        assert!(c.cycles >= c.read_beats * u64::from(beat));
        // A ganged one counts on both lanes, half a slot each.
        assert!(c.transform_busy.iter().sum::<u64>() >= transforms * config.slot(11));
        before = c.cycles;
    }
}

#[test]
fn no_bank_is_used_twice_at_a_time() {
    let shape = Shape { log_n: 11, bits: 50, limbs: 5, special: 2, alpha: 2 };
    let program = key_switches(shape.writer(), 2, true);
    let config = config(256, 60, 1);
    let plan = Compact::emulated(config).plan(&program).unwrap();
    let timing = model::simulate(&config, 11, &plan.instructions).unwrap();
    let steps = model::Steps::of(&config, 11);
    for bank in Bank::all() {
        let mut free = [0; 2];
        for (i, span) in plan.instructions.iter().zip(&timing.spans) {
            if !i.banks().any(|b| b == bank) {
                continue;
            }
            // A pass that reads in order follows a transform that has read its last row.
            let follows = !i.op.is_transform() && i.permute.is_none();
            let from = free[usize::from(follows)];
            assert!(span.start >= from, "{i} starts at {} before {from}", span.start);
            assert!(span.end > span.start, "{i} never ran");
            let early = if i.op.is_transform() { steps.drain - steps.pass } else { 0 };
            free = [span.end, span.end - early];
        }
    }
}

#[test]
fn a_program_that_waits_for_itself_is_stopped() {
    // Twice as many stores as stand before it: the reference count is never reached.
    let stuck =
        Instruction { s: Some(Stream { address: 0, after: 1 }), d: bank(0), ..Instruction::new(Op::Copy) };
    let end = model::simulate(&config(512, 40, 1), 10, &[stuck, Instruction::new(Op::End)]);
    assert!(matches!(end, Err(CompactError::Watchdog { .. })));
}
