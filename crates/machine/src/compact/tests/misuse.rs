//! Ways to misuse the compact core and its driver, each with the message that a user sees; the lists of everything above
//! the driver are in `python/tests/misuse`.

use std::path::PathBuf;

use ringmill_ring::primes::of_bits;

use super::super::*;
use super::primes::primes;
use super::programs::{Shape, key_switches};

const MEMORY: u64 = 1 << 20;
/// Where programs stand.
const PROGRAM: u64 = 1 << 16;
const END: Instruction = Instruction::new(Op::End);

type Outcome = Result<(), CompactError>;

fn literal() -> CompactLiteral {
    CompactLiteral {
        word_bits: 54,
        log_n_max: 13,
        moduli: 16,
        multiplier: Multiplier::SparseWordMontgomery,
        timing: MemoryTiming { latency: 20, beat_cycles: 1 },
        ..CompactLiteral::roomy()
    }
}

fn machine(change: impl Fn(&mut CompactLiteral)) -> Compact {
    let mut literal = literal();
    change(&mut literal);
    Compact::emulated(literal.build().unwrap())
}

/// A key switch of `limbs` and one special prime at N = 2^`log_n`.
fn load(machine: &Compact, log_n: u32, limbs: usize) -> Outcome {
    let all = primes(log_n, limbs + 1);
    let shape = Shape { log_n, bits: 54, limbs, special: 1, alpha: 1 };
    machine.load(&key_switches(shape.over(&all[..limbs], &all[limbs..]), 1, false)).map(|_| ())
}

fn emulator() -> Emulator {
    Emulator::new(literal().build().unwrap())
}

fn run(core: &mut dyn Core, program: &[Instruction], log_n: u32) -> Outcome {
    let words: Vec<u64> = program.iter().flat_map(Instruction::encode).collect();
    core.write(PROGRAM, &words)?;
    core.run(PROGRAM, log_n).map(|_| ())
}

/// What is done, how, and the message.
type DriverCase = (&'static str, fn() -> Outcome, &'static str);
type CoreCase = (&'static str, fn(&mut Simulated) -> Outcome, &'static str);

/// What the driver refuses before any core is asked.
const DRIVER: &[DriverCase] = &[
    (
        "a number of butterflies that is no power of two",
        || CompactLiteral { butterflies: 3, ..literal() }.build().map(|_| ()),
        "no compact core has butterflies = 3; it can be 1, 2, 4, 8 or 16",
    ),
    (
        "N above the build limit",
        || load(&machine(|l| l.log_n_max = 10), 11, 2),
        "the core was built for N = 2^10 to 2^10; the program has N = 2^11",
    ),
    (
        "a modulus outside the class that was built",
        || {
            let q = of_bits(50, 10, 1, &[]).unwrap()[0];
            literal().build().unwrap().check_modulus(q)
        },
        "modulus 1125899906826241 is outside the class of the core's sparse-word-montgomery multiplier: \
         q = 2^(W−1) + δ·2^(W/2) + 1, −2^11 ≤ δ < 2^11, W = 54",
    ),
    (
        "more moduli than the table has entries",
        || load(&machine(|l| l.moduli = 2), 10, 2),
        "the program has 3 moduli; the core's table holds 2",
    ),
    (
        "a program too large for the memory",
        || load(&machine(|l| l.memory_bytes = 1 << 17), 12, 2),
        "the program needs … bytes of memory and the core has 131072",
    ),
    (
        "CASA's own key switch, to be run",
        || load(&machine(|_| ()).with_policy(Policy::Casa), 10, 2),
        "CASA's own key switch does not decrypt: one digit of several limbs exceeds the one special prime, and so the \
         error exceeds the message. Take as many special primes as a digit has limbs; this sequence is planned for a \
         comparison of cycles, not run",
    ),
    ("a buffer that is not aligned", || emulator().write(8, &[1]), "address 8 is not a multiple of 64 bytes"),
    (
        "a program that is not aligned",
        || emulator().run(PROGRAM + 32, 10).map(|_| ()),
        "address 65568 is not a multiple of 64 bytes",
    ),
    (
        "a program without END",
        || {
            let memory_bytes = PROGRAM + 64;
            let mut core = Emulator::new(CompactLiteral { memory_bytes, ..literal() }.build()?);
            let entry = TableEntry::new(core.config(), primes(10, 1)[0], 10)?;
            core.set_modulus(0, &entry)?;
            let copy = Instruction { a: Bank::new(0), d: Bank::new(1), ..Instruction::new(Op::Copy) };
            run(&mut core, &[copy, copy], 10)
        },
        "instruction 2: the program ends without END",
    ),
    (
        "an entry beyond the modulus table",
        || {
            let mut core = emulator();
            let entry = TableEntry::new(core.config(), primes(10, 1)[0], 10)?;
            core.set_modulus(16, &entry)
        },
        "the program has 17 moduli; the core's table holds 16",
    ),
    (
        "a transform of a greater degree than the entry of its modulus",
        || {
            let mut core = emulator();
            let entry = TableEntry::new(core.config(), primes(12, 1)[0], 10)?;
            core.set_modulus(0, &entry)?;
            run(&mut core, &[Instruction { a: Bank::new(0), ..Instruction::new(Op::Ntt) }, END], 12)
        },
        "instruction 0: the table holds 10 roots of modulus 0, and a transform of this degree needs 12: make the entry for \
         the program's degree",
    ),
    (
        "a device that is no core",
        || check_identity(0, registers::VERSION_VALUE),
        "register ID reads 0x00000000; a compact core reads 0x524d4343",
    ),
    (
        "a core that is older than the driver",
        || check_identity(registers::ID_VALUE, registers::VERSION_MAJOR.put(1)),
        "the core has version 1.0 of registers and instructions; this driver needs 1.1 or a later 1.x",
    ),
];

/// What a core refuses while it works; it goes on afterwards.
const CORE: &[CoreCase] = &[
    (
        "a transform in a bank that no transform unit reaches",
        |core| {
            let ntt = Instruction { a: Bank::new(4), ..Instruction::new(Op::Ntt) };
            run(core, &[ntt, END], 10)
        },
        "the core stopped at instruction 0 with code 2 (an accumulator to transform, or a pair of banks beside one of its \
         own)",
    ),
    (
        "an even Galois element",
        |core| {
            let copy = Instruction { a: Bank::new(0), d: Bank::new(1), ..Instruction::new(Op::Copy) };
            run(core, &[copy, Instruction { permute: Some(4), ..copy }, END], 10)
        },
        "the core stopped at instruction 1 with code 5 (a permutation of this kind is impossible)",
    ),
    (
        "a degree that was not built",
        |core| run(core, &[END], 14),
        "the core stopped at instruction 0 with code 8 (a degree that the core was not built for)",
    ),
    (
        "a bus error in the middle, reading",
        |core| {
            let s = Some(Stream { address: (MEMORY / 64) as u32, after: 0 });
            run(core, &[Instruction { s, d: Bank::new(0), ..Instruction::new(Op::Copy) }, END], 10)
        },
        "the core stopped at instruction … with code 10 (a bus error in a read at byte 1048576)",
    ),
    (
        "a bus error in the middle, writing",
        |core| {
            let store = Some((MEMORY / 64) as u32);
            run(core, &[Instruction { a: Bank::new(0), store, ..Instruction::new(Op::Copy) }, END], 10)
        },
        "the core stopped at instruction … with code 11 (a bus error in a write at byte 1048576)",
    ),
    (
        "a program beyond the memory",
        |core| core.run(MEMORY, 10).map(|_| ()),
        "the core stopped at instruction 0 with code 9 (a bus error under an instruction at byte 1048576)",
    ),
    (
        "a core that is asked while busy",
        |core| {
            start_long(core);
            core.run(PROGRAM, 10).map(|_| ())
        },
        "the core is busy; wait for its end or reset it",
    ),
    (
        "a soft reset in the middle",
        |core| {
            start_long(core);
            core.write_register(registers::CONTROL, registers::CONTROL_SOFT_RESET.put(1))?;
            while registers::STATUS_BUSY.get(core.read_register(registers::STATUS)?) == 1 {}
            let status = core.read_register(registers::STATUS)?;
            assert_eq!(registers::STATUS_CODE.get(status), 12);
            Err(CompactError::Stopped { index: 0, code: 12, meaning: "reset in the middle" })
        },
        "the core stopped at instruction 0 with code 12 (reset in the middle)",
    ),
    (
        "less patience than the program takes",
        |core| {
            core.set_limit(5);
            let outcome = run(core, &[END], 10);
            core.set_limit(Simulated::LIMIT);
            outcome
        },
        "no END after 5 cycles: the core hangs or the limit is too low",
    ),
];

/// Starts a program that keeps the core busy for a while, and does not wait for it.
fn start_long(core: &mut Simulated) {
    let entry = TableEntry::new(core.config(), primes(13, 1)[0], 13).unwrap();
    core.set_modulus(0, &entry).unwrap();
    let ntt = Instruction { a: Bank::new(0), ..Instruction::new(Op::Ntt) };
    let words: Vec<u64> = [ntt, ntt, ntt, END].iter().flat_map(Instruction::encode).collect();
    core.write(PROGRAM, &words).unwrap();
    core.write_register(registers::PROGRAM, (PROGRAM / 64) as u32).unwrap();
    core.write_register(registers::LOG_N, registers::LOG_N_VALUE.put(13)).unwrap();
    core.write_register(registers::CONTROL, registers::CONTROL_START.put(1)).unwrap();
    let status = core.read_register(registers::STATUS).unwrap();
    assert_eq!(registers::STATUS_BUSY.get(status), 1, "under way");
}

/// Whether a message is the expected one, where … stands for text that differs.
fn fits(message: &str, expected: &str) -> bool {
    match expected.split_once('…') {
        Some((head, tail)) => message.starts_with(head) && message.ends_with(tail),
        None => message == expected,
    }
}

fn check(what: &str, outcome: &Outcome, expected: &str) {
    let message = outcome.as_ref().expect_err(what).to_string();
    assert!(fits(&message, expected), "{what}: {message:?}, not {expected:?}");
}

#[test]
fn what_the_driver_refuses() {
    for (what, misuse, expected) in DRIVER {
        check(what, &misuse(), expected);
    }
}

#[test]
#[ignore = "needs a simulated core: RINGMILL_TEST_CORE"]
fn what_stops_a_core_is_told_and_it_goes_on() {
    let path = std::env::var_os("RINGMILL_TEST_CORE").expect("it names a simulated core");
    let library = CoreLibrary::load(&PathBuf::from(path)).unwrap();
    let config = literal().build().unwrap();
    let mut core = library.open(&config, MEMORY, SimulatedMemory::of(&config)).unwrap();
    for (what, misuse, expected) in CORE {
        let outcome = misuse(&mut core);
        check(what, &outcome, expected);
        if matches!(outcome, Err(CompactError::Watchdog { .. })) {
            // What was given up is still under way; the next one that asks waits for it.
            assert_eq!(run(&mut core, &[END], 10), Err(CompactError::Busy));
        }
        assert_eq!(run(&mut core, &[END], 10), Ok(()), "after {what}");
    }
    // A hard reset in the middle forgets everything but memory.
    start_long(&mut core);
    core.reset();
    assert_eq!(run(&mut core, &[END], 10), Ok(()));
    // A library of another core.
    let other = CompactLiteral { butterflies: 8, ..literal() }.build().unwrap();
    let refused = library.open(&other, MEMORY, SimulatedMemory::of(&other)).map(|_| ());
    assert!(matches!(refused, Err(CompactError::Simulator { .. })), "{refused:?}");
}
