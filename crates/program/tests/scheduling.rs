//! Schedules against the verifier, against unscheduled execution, and against the best order there is.

use std::collections::HashMap;

use crate::support::{execute, primes};
use proptest::prelude::*;
use ringmill_machine::Reference;
use ringmill_program::limb::random::{RandomProgram, inputs};
use ringmill_program::limb::{InputClass, LimbProgram, Opcode, Source, parse};
use ringmill_program::lower::{Operation, single};
use ringmill_program::schedule::{
    Memory, Reach, ScheduleError, Statistics, by_primes, in_order, load_inputs, recompute, schedule,
};

fn random(seed: u64, moduli: usize, instructions: usize) -> LimbProgram {
    RandomProgram { log_n: 4, moduli: primes(4, 40, 0, moduli), instructions, seed }.generate().unwrap()
}

/// Every output word of a run on random inputs.
fn outputs(program: &LimbProgram, seed: u64) -> Vec<Vec<u64>> {
    let words = inputs(program, seed);
    let bound: Vec<&[u64]> = words.iter().map(Vec::as_slice).collect();
    execute(&Reference, program, &bound)
}

fn peak(program: &LimbProgram) -> u32 {
    Statistics::of(program).peak_live
}

fn buffers(program: &LimbProgram) -> u32 {
    program.allocation().unwrap().buffers
}

/// Parses the printed program: the parser verifies, and the text must be of the same program.
fn verified(program: &LimbProgram) {
    let again = parse(&program.to_string()).unwrap_or_else(|e| panic!("{e}\n{program}"));
    assert!(again == *program, "the text is of another program:\n{program}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn a_schedule_is_valid_and_computes_the_same_bits(seed: u64, moduli in 1usize..6, size in 1usize..120) {
        let program = random(seed, moduli, size);
        let want = outputs(&program, seed);
        let written = schedule(&program, Memory::AsWritten).unwrap();
        prop_assert_eq!(buffers(&written), peak(&program));
        let least = schedule(&program, Memory::Least).unwrap();
        prop_assert_eq!(buffers(&least), peak(&least));
        prop_assert!(buffers(&least) <= buffers(&written));
        for scheduled in [&written, &least] {
            verified(scheduled);
            prop_assert_eq!(scheduled.len(), program.len());
            prop_assert_eq!(&outputs(scheduled, seed), &want);
        }
    }

    #[test]
    fn a_memory_is_kept_or_the_need_is_named(seed: u64, moduli in 1usize..5, size in 1usize..80) {
        let program = random(seed, moduli, size);
        let least = buffers(&schedule(&program, Memory::Least).unwrap());
        for available in least.saturating_sub(2)..=peak(&program) {
            match schedule(&program, Memory::Buffers(available)) {
                Ok(fitted) => {
                    prop_assert!(buffers(&fitted) <= available && available >= least);
                    verified(&fitted);
                }
                Err(ScheduleError::Memory { needed, .. }) => prop_assert!(needed == least && available < least),
                Err(e) => prop_assert!(false, "{}", e),
            }
        }
    }

    #[test]
    fn recomputing_keeps_the_bits(seed: u64, moduli in 1usize..4, size in 1usize..80) {
        let program = random(seed, moduli, size);
        let recomputed = recompute(&program);
        verified(&recomputed);
        prop_assert_eq!(outputs(&recomputed, seed), outputs(&program, seed));
    }

    #[test]
    fn orders_by_primes_keep_the_bits(seed: u64, moduli in 1usize..6, size in 1usize..120, begin in 0usize..100, len in 1usize..120) {
        let program = random(seed, moduli, size);
        let mut order: Vec<u32> = (0..program.len() as u32).collect();
        let window = begin.min(program.len())..(begin + len).min(program.len());
        for reach in [Reach::Pointwise, Reach::Raised] {
            let Some(found) = by_primes(&program, &order, window.clone(), reach) else { continue };
            order[window.clone()].copy_from_slice(&found);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            prop_assert!(sorted.into_iter().eq(0..program.len() as u32));
            let moved = in_order(&program, &order);
            verified(&moved);
            prop_assert_eq!(outputs(&moved, seed), outputs(&program, seed));
        }
    }

    #[test]
    fn loads_make_every_operand_local(seed: u64, moduli in 1usize..5, size in 1usize..80) {
        let program = random(seed, moduli, size);
        let local = load_inputs(&program, &[InputClass::Data, InputClass::Plain]);
        verified(&local);
        for i in (0..local.len()).filter(|&i| local.opcode(i) != Opcode::Load) {
            for o in local.operands(i) {
                if let Source::Input(input) = o.source() {
                    prop_assert_eq!(local.input_group(input).class, InputClass::Key);
                }
            }
        }
        let scheduled = schedule(&local, Memory::Least).unwrap();
        verified(&scheduled);
        prop_assert_eq!(outputs(&scheduled, seed), outputs(&program, seed));
    }
}

/// The fewest buffers of any order, by search over the sets of instructions done.
fn optimum(program: &LimbProgram) -> u32 {
    let n = program.len();
    let mut readers = vec![0u32; program.values()];
    let mut needs = vec![0u32; n];
    let mut definition = vec![0; program.values()];
    for i in 0..n {
        for v in program.operands(i).iter().filter_map(|o| o.value()) {
            readers[v.index()] |= 1 << i;
        }
        if let Some(v) = program.defined(i) {
            definition[v.index()] = i;
        }
    }
    for (i, needs) in needs.iter_mut().enumerate() {
        for v in program.operands(i).iter().filter_map(|o| o.value()) {
            *needs |= 1 << definition[v.index()];
        }
    }
    let live = |done: u32| -> u32 {
        let held = |v: usize| done & (1 << definition[v]) != 0 && readers[v] & !done != 0;
        (0..program.values()).filter(|&v| held(v)).count() as u32
    };
    let mut best: HashMap<u32, u32> = HashMap::from([(0, 0)]);
    for _ in 0..n {
        let mut next: HashMap<u32, u32> = HashMap::new();
        for (&done, &peak) in &best {
            for i in (0..n).filter(|&i| done & (1 << i) == 0 && needs[i] & !done == 0) {
                let after = done | 1 << i;
                let in_place = can_reuse(program, i, |v| readers[v] & !after == 0);
                let need = live(done) + u32::from(program.defined(i).is_some() && !in_place);
                let entry = next.entry(after).or_insert(u32::MAX);
                *entry = (*entry).min(peak.max(need));
            }
        }
        best = next;
    }
    *best.values().next().unwrap()
}

fn can_reuse(program: &LimbProgram, i: usize, dies: impl Fn(usize) -> bool) -> bool {
    let (op, o) = (program.opcode(i), program.operands(i));
    let allowed = match op {
        Opcode::Add | Opcode::Mul => 2,
        _ if op.spec().in_place => 1,
        _ => 0,
    };
    o[..allowed]
        .iter()
        .any(|x| o.iter().filter(|y| *y == x).count() == 1 && x.value().is_some_and(|v| dies(v.index())))
}

#[test]
fn small_programs_come_near_the_best_order() {
    let (mut best, mut found, mut written) = (0, 0, 0);
    for seed in 0..60 {
        let program = random(seed, 2, 8);
        let optimum = optimum(&program);
        let least = buffers(&schedule(&program, Memory::Least).unwrap());
        assert!(least >= optimum, "seed {seed}: the search is the lower bound");
        assert!(least <= optimum + 1, "seed {seed}: {least} of {optimum}");
        (best, found, written) = (best + optimum, found + least, written + peak(&program));
    }
    assert!(found * 100 <= best * 105, "{found} buffers in all; the best is {best}, as written {written}");
    assert!(written > best, "the test must have something to improve");
}

/// Multiply, relinearise and rescale at `limbs` limbs.
fn multiply(limbs: usize, special: usize, alpha: usize) -> LimbProgram {
    let (q, p) = (primes(6, 50, 0, limbs), primes(6, 51, 0, special));
    single::program(Operation::MultiplyRescale, 6, (&q, &p), alpha).unwrap()
}

#[test]
fn a_multiplication_keeps_its_digits_and_little_else() {
    for (limbs, special, alpha) in [(8, 1, 1), (8, 2, 2), (12, 4, 4), (24, 8, 8)] {
        let program = multiply(limbs, special, alpha);
        let least = schedule(&program, Memory::Least).unwrap();
        verified(&least);
        assert_eq!(outputs(&least, 1), outputs(&program, 1));
        // Coefficients of all digits with their quotients; the NTT-domain limbs of d_2; what is divided away, twice, with
        // its quotients; one prime's raised digits and a few more. d_0 and d_1 are computed where they are added.
        let digits = limbs.div_ceil(alpha);
        let bound = 2 * limbs + digits + 2 * (special + 2) + digits + 4;
        assert!(
            buffers(&least) <= bound as u32,
            "{limbs} limbs: {} buffers, {bound} expected",
            buffers(&least)
        );
        assert!(buffers(&least) < peak(&program), "{limbs} limbs");
    }
}

#[test]
fn a_multiplication_that_recomputes_keeps_no_evaluations() {
    for (limbs, special, alpha) in [(8, 1, 1), (12, 4, 4), (24, 8, 8)] {
        let program = multiply(limbs, special, alpha);
        let recomputed = recompute(&program);
        verified(&recomputed);
        assert_eq!(outputs(&recomputed, 1), outputs(&program, 1));
        // d_2 is all that two regions read.
        assert_eq!(recomputed.len(), program.len() + limbs);
        let least = schedule(&recomputed, Memory::Least).unwrap();
        let digits = limbs.div_ceil(alpha);
        let bound = limbs + digits + 2 * (special + 2) + digits + 4;
        assert!(buffers(&least) <= bound as u32, "{limbs} limbs: {} buffers", buffers(&least));
        assert!(recompute(&recomputed) == recomputed, "once is enough");
    }
}

#[test]
fn statistics_count_what_the_formulas_say() {
    let (limbs, special, alpha) = (8, 2, 2);
    let program = multiply(limbs, special, alpha);
    let s = Statistics::of(&program);
    let (digits, primes) = (limbs / alpha, limbs + special);
    assert_eq!(s.ntt + s.intt, (digits + 2) * primes);
    assert_eq!(s.intt, limbs + 2 * (special + 1));
    let limb = 8 * 64;
    assert_eq!(s.key_bytes, (2 * digits * primes * limb) as u64);
    assert_eq!(s.key_bytes_read, s.key_bytes);
    // All primes are those of the program, each with its own bits; half of every key is uniform.
    let bits: u64 = program.moduli().iter().map(|m| u64::from(64 - m.modulus.value().leading_zeros())).sum();
    assert_eq!(program.moduli().len(), primes);
    assert_eq!(s.key_bytes_packed, 2 * digits as u64 * bits * 64 / 8);
    assert_eq!(s.key_bytes_seeded, s.key_bytes_packed / 2);
    assert_eq!(s.data_bytes, (4 * limbs * limb) as u64);
    assert_eq!(s.output_bytes, (2 * (limbs - 1) * limb) as u64);
    assert_eq!(s.butterflies, ((s.ntt + s.intt) * 32 * 6) as u64);
    let tensor = 4 * limbs;
    let up = limbs + digits * alpha + digits * (primes - alpha) * (alpha + 1);
    let dot = 2 * digits * primes;
    let dropped = special + 1;
    let down = 2 * (limbs + 2 * dropped + (limbs - 1) * (dropped + 1) + limbs - 1);
    assert_eq!(s.multiply_adds, ((tensor + up + dot + down) * 64) as u64);
    assert!(s.to_string().contains(&format!("{} transforms", s.ntt + s.intt)));
}
