//! The core under Verilator against the reference machine and the cycle model. `RINGMILL_TEST_CORE` names a library
//! of any core with N up to 2^13 and 16 moduli, as
//! `python -m rtl.sim.build --w 54 --nbf 4 --logn-max 13 --mods 16 --kind 1 --d 512 --observe` makes it.

use std::path::PathBuf;

use ringmill_program::limb::LimbProgram;
use ringmill_program::limb::random::{Random, RandomProgram, inputs};
use ringmill_ring::Modulus;

use super::super::*;
use super::kinds;
use super::programs::{Shape, execute, key_switches};
use crate::{Machine as _, Reference};

fn library() -> CoreLibrary {
    let path = std::env::var_os("RINGMILL_TEST_CORE").expect("RINGMILL_TEST_CORE names a simulated core");
    CoreLibrary::load(&PathBuf::from(path)).unwrap()
}

fn config(latency: u32, beat_cycles: u32) -> CompactConfig {
    let built = library().config().unwrap();
    CompactLiteral { timing: MemoryTiming { latency, beat_cycles }, ..*built.literal() }.build().unwrap()
}

/// Primes of the class of the core's multiplier.
fn primes(log_n: u32, count: usize) -> Vec<Modulus> {
    let found = kinds::primes(&config(1, 1), log_n, count, true, 1);
    assert_eq!(found.len(), count, "primes of the class at N = 2^{log_n}");
    found
}

fn switches(
    log_n: u32,
    limbs: usize,
    special: usize,
    alpha: usize,
    times: usize,
    rescale: bool,
) -> LimbProgram {
    let all = primes(log_n, limbs + special);
    let shape = Shape { log_n, bits: all[0].bits(), limbs, special, alpha };
    key_switches(shape.over(&all[..limbs], &all[limbs..]), times, rescale)
}

/// A memory of uneven timing: both directions share an odd rate, every channel stalls, few bursts are held.
fn moody(config: &CompactConfig, seed: u64) -> SimulatedMemory {
    let pick = |n: u32| (seed.wrapping_mul(0x9e37_79b9) >> 7) as u32 % n;
    let mut memory = SimulatedMemory::of(config);
    (memory.read_latency, memory.write_latency) = (1 + pick(90), 1 + pick(37));
    (memory.rate_num, memory.rate_den, memory.shared) = (2, 2 + pick(4), pick(2));
    (memory.outstanding, memory.seed) = (1 + pick(7), seed);
    memory.stall = [9000, 4000 + 20 * pick(1000), 9000, 4000, 20000];
    memory
}

/// Runs a program on the simulated core: the bits of the reference, the cycles of the model.
fn check(config: CompactConfig, memory: SimulatedMemory, program: &LimbProgram) {
    let limbs = inputs(program, 5);
    let want = execute(&*Reference.prepare(program).unwrap(), &limbs);
    let loaded = Compact::simulated(config, library(), memory).load(program).unwrap();
    let given: Vec<&[u64]> = limbs.iter().map(Vec::as_slice).collect();
    let mut out = vec![vec![u64::MAX; program.n()]; program.output_types().len()];
    let mut outputs: Vec<&mut [u64]> = out.iter_mut().map(Vec::as_mut_slice).collect();
    let instructions = &loaded.plan().instructions;
    // The second run finds the roots that the first has left.
    for roots in [model::Roots::default(), model::Roots::left_by(instructions)] {
        let counted = loaded.run_counted(&given, &mut outputs).unwrap();
        let settings = memory.settings();
        let modelled = model::simulate_on(&config, program.log_n(), instructions, settings, roots).unwrap();
        assert_eq!(modelled.counters, counted, "every counter, {memory:?}");
    }
    assert!(out == want, "other bits than the reference");
}

#[test]
#[ignore = "needs a simulated core: RINGMILL_TEST_CORE"]
fn key_switches_run_on_the_simulated_core() {
    for (log_n, limbs, special, alpha, times, rescale) in
        [(10, 2, 1, 1, 1, false), (11, 3, 1, 1, 1, true), (12, 4, 2, 2, 2, true), (13, 3, 1, 1, 1, false)]
    {
        let program = switches(log_n, limbs, special, alpha, times, rescale);
        for (latency, beat) in [(20, 1), (100, 1), (40, 3)] {
            let config = config(latency, beat);
            check(config, SimulatedMemory::of(&config), &program);
        }
        let config = config(40, 1);
        (0..3).for_each(|seed| check(config, moody(&config, seed + u64::from(log_n)), &program));
    }
}

#[test]
#[ignore = "needs a simulated core: RINGMILL_TEST_CORE"]
fn random_programs_run_on_the_simulated_core() {
    for seed in 0..40 {
        let random =
            RandomProgram { log_n: 10, moduli: primes(10, 5), instructions: 8 + 2 * seed as usize, seed };
        let config = config(5 + 7 * (seed as u32 % 5), 1 + seed as u32 % 3);
        let program = random.generate().unwrap();
        check(config, SimulatedMemory::of(&config), &program);
        check(config, moody(&config, seed), &program);
    }
}

/// Instructions in any order on limbs that are all zero, every second one a transform; `units` is a limb in address units.
fn any_instructions(random: &mut Random, units: u32, count: usize, moduli: u32) -> Vec<Instruction> {
    let (mut program, mut stores) = (Vec::new(), 0u16);
    while program.len() < count {
        let kinds = if random.below(2) == 0 { 3 } else { 14 };
        let op = Op::ALL[1 + random.below(kinds) as usize];
        let mut maybe = |below: u64| (random.below(2) == 1).then(|| random.below(below) as u32);
        let bank = |code: Option<u32>| code.and_then(|code| Bank::new(code as usize));
        let (a, c, d) = (bank(maybe(8)), bank(maybe(8)), bank(maybe(8)));
        let (store, s) = (maybe(8).map(|limb| limb * units), maybe(8));
        let after = stores - random.below(1 + u64::from(stores.min(3))) as u16;
        let s = s.map(|limb| Stream { address: limb * units, after });
        let permute = (random.below(6) == 0).then(|| 2 * random.below(1 << 10) as u32 + 1);
        let modulus = random.below(u64::from(moduli.min(4))) as u8;
        let i = Instruction { modulus, a, c, d, store, s, permute, ..Instruction::new(op) };
        if i.check(moduli).is_ok() {
            stores += u16::from(store.is_some());
            program.push(i);
        }
    }
    program.push(Instruction::new(Op::End));
    program
}

/// Runs instructions in any order on the simulated core: the cycles of the model. Returns how many transforms were ganged.
fn count_any(config: CompactConfig, memory: SimulatedMemory, log_n: u32, random: &mut Random) -> usize {
    let moduli = config.moduli();
    let program = any_instructions(random, (8 << log_n) / 64, 50, moduli);
    let mut core = library().open(&config, 1 << 20, memory).unwrap();
    for (i, q) in kinds::primes(&config, log_n, moduli.min(4) as usize, true, 1).into_iter().enumerate() {
        core.set_modulus(i, &TableEntry::new(&config, q, log_n).unwrap()).unwrap();
    }
    let words: Vec<u64> = program.iter().flat_map(Instruction::encode).collect();
    core.write(1 << 19, &words).unwrap();
    for roots in [model::Roots::default(), model::Roots::left_by(&program)] {
        let counted = core.run(1 << 19, log_n).unwrap();
        let modelled = model::simulate_on(&config, log_n, &program, memory.settings(), roots).unwrap();
        assert_eq!(modelled.counters, counted, "{memory:?}");
    }
    program.iter().filter(|i| i.is_ganged()).count()
}

#[test]
#[ignore = "needs a simulated core: RINGMILL_TEST_CORE"]
fn the_model_counts_any_order_of_instructions() {
    let mut random = Random(21);
    let mut ganged = 0;
    for seed in 0..60 {
        let config = config(5 + 7 * (seed as u32 % 9), 1);
        let memory = if seed % 2 == 0 { SimulatedMemory::of(&config) } else { moody(&config, seed) };
        ganged += count_any(config, memory, 10 + (seed % 3) as u32, &mut random);
    }
    assert!(ganged > 60, "{ganged} ganged transforms");
}

/// A number that the campaign gives, `RINGMILL_SOAK_…`.
fn given(name: &str) -> u64 {
    let text = std::env::var(format!("RINGMILL_SOAK_{name}")).expect("`python -m rtl.sim.soak` sets it");
    text.parse().expect("a number")
}

/// One step of a campaign of random programs: `python -m rtl.sim.soak`. Every seed is a program of its own, on a memory of its
/// own.
#[test]
#[ignore = "a part of `make soak`: needs RINGMILL_TEST_CORE, RINGMILL_SOAK_SEED and RINGMILL_SOAK_PROGRAMS"]
fn soak() {
    for seed in (given("SEED")..).take(given("PROGRAMS") as usize) {
        let mut random = Random(seed);
        let config = config(1 + random.below(200) as u32, 1 + random.below(4) as u32);
        let moduli_max = u64::from(config.moduli()).min(6);
        let log_n = (10 + random.below(4) as u32).min(config.log_n_max());
        let memory = if random.below(2) == 0 { SimulatedMemory::of(&config) } else { moody(&config, seed) };
        println!("seed {seed}: N = 2^{log_n}, {memory:?}");
        let moduli = kinds::primes(&config, log_n, 1 + random.below(moduli_max) as usize, true, seed);
        if !moduli.is_empty() {
            let instructions = 4 + random.below(60) as usize;
            check(config, memory, &RandomProgram { log_n, moduli, instructions, seed }.generate().unwrap());
        }
        count_any(config, memory, log_n, &mut random);
    }
}

/// Puts a plan and random inputs into a core.
fn fill(core: &mut dyn Core, program: &LimbProgram, plan: &Plan) {
    let config = *core.config();
    for (i, m) in program.moduli().iter().enumerate() {
        core.set_modulus(i, &TableEntry::new(&config, m.modulus, program.log_n()).unwrap()).unwrap();
    }
    let limbs = inputs(program, 9);
    plan.inputs.iter().for_each(|slot| core.write(slot.address, &limbs[slot.input as usize]).unwrap());
    let words: Vec<u64> = plan.instructions.iter().flat_map(Instruction::encode).collect();
    core.write(plan.program, &words).unwrap();
}

/// What each instruction of a program leaves, from the emulator and from the simulated core.
fn compare_steps(program: &LimbProgram) {
    let config = config(30, 1);
    let plan = Compact::emulated(config).plan(program).unwrap();
    let mut emulator = Emulator::new(config);
    fill(&mut emulator, program, &plan);
    emulator.write(plan.bytes - 64, &[0; 8]).unwrap();
    let mut want = Vec::new();
    let step = |s: emulator::Step<'_>| want.push((s.instruction.a.or(s.instruction.d), s.result.to_vec()));
    emulator.run_observed(plan.program, program.log_n(), step).unwrap();

    let mut core = library().open(&config, plan.bytes, moody(&config, 3)).unwrap();
    fill(&mut core, program, &plan);
    let mut found = vec![None; plan.instructions.len()];
    let mut twice = false;
    core.run_observed(plan.program, program.log_n(), |w| {
        twice |= found[w.index as usize].replace((w.bank, w.limb.to_vec())).is_some();
    })
    .unwrap();
    assert!(!twice, "an instruction ended twice");
    for ((i, (_, limb)), found) in plan.instructions.iter().zip(want).zip(found) {
        let bank = if i.op.is_transform() { i.a } else { i.d };
        let want = (!limb.is_empty()).then_some((bank, limb));
        assert!(found == want, "{i}: another limb, or in another bank");
    }
}

#[test]
#[ignore = "needs a simulated core: RINGMILL_TEST_CORE"]
fn every_instruction_leaves_what_the_emulator_says() {
    compare_steps(&switches(10, 3, 1, 1, 1, true));
    compare_steps(&switches(11, 4, 2, 2, 1, false));
    for seed in 0..12 {
        let random = RandomProgram { log_n: 10, moduli: primes(10, 5), instructions: 60, seed };
        compare_steps(&random.generate().unwrap());
    }
}

#[test]
#[ignore = "needs a simulated core: RINGMILL_TEST_CORE"]
fn what_stands_before_a_wrong_instruction_is_stored() {
    let config = config(20, 1);
    let mut core = library().open(&config, 1 << 20, SimulatedMemory::of(&config)).unwrap();
    let copy = Instruction { a: Bank::new(0), store: Some(0x100), ..Instruction::new(Op::Copy) };
    let even = Instruction { permute: Some(4), d: Bank::new(1), store: None, ..copy };
    let words: Vec<u64> = [copy, copy, even, copy].iter().flat_map(Instruction::encode).collect();
    core.write(1 << 16, &words).unwrap();
    core.write(0x4000, &[7; 1024]).unwrap();
    let stopped = core.run(1 << 16, 10);
    assert!(matches!(stopped, Err(CompactError::Stopped { index: 2, code: 5, .. })), "{stopped:?}");
    let mut limb = vec![7; 1024];
    core.read(0x4000, &mut limb).unwrap();
    assert!(limb.iter().all(|&w| w == 0), "what stands before it is stored");
}
