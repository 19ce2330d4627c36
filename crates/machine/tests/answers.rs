//! What machines answer of a program before they run it, held to the definition and to what they do then.

use ringmill_machine::registry::{Estimates, MACHINES};
use ringmill_machine::{Machine, MachineError, MachineSpec};
use ringmill_program::limb::random::RandomProgram;
use ringmill_program::limb::{Instruction, LimbProgram};
use ringmill_ring::Modulus;
use ringmill_ring::primes::of_bits;

/// A machine of cores, and what a core of its options runs: log2 of the greatest N, moduli, bits of a word, and whether its
/// multiplier takes a prime.
type Case = (&'static str, u32, usize, u32, fn(u64) -> bool);

const CORES: [Case; 7] = [
    ("compact", 15, 32, 60, |_| true),
    ("compact:log_n=10", 10, 32, 60, |_| true),
    ("compact:moduli=3", 15, 3, 60, |_| true),
    ("compact:word=36", 15, 32, 36, |_| true),
    // 1 modulo the half word's power of two.
    ("compact:word=54,multiplier=word-montgomery", 15, 32, 54, |q| (q - 1).is_multiple_of(1 << 27)),
    ("verilator:log_n=11,moduli=4", 11, 4, 60, |_| true),
    ("verilator:word=52,clock=200", 15, 32, 52, |_| true),
];

/// Programs of several degrees, numbers and widths of primes, one without an instruction among them.
fn programs() -> impl Iterator<Item = LimbProgram> {
    let shapes = [(9, 30, 2), (10, 34, 3), (10, 50, 4), (11, 52, 3), (11, 58, 5), (12, 36, 6)];
    let random = shapes.into_iter().zip(1..).map(|((log_n, bits, count), seed)| {
        let moduli = of_bits(bits, log_n, count, &[]).unwrap();
        RandomProgram { log_n, moduli, instructions: 40, seed }.generate().unwrap()
    });
    // Primes that are 1 modulo 2^27, of 54 bits.
    let half: Vec<Modulus> =
        (1 << 26..1 << 27).filter_map(|k: u64| Modulus::new((k << 27) + 1).ok()).take(3).collect();
    random.chain([RandomProgram { log_n: 10, moduli: half, instructions: 30, seed: 9 }.generate().unwrap()])
}

fn open(text: &str) -> std::sync::Arc<dyn Machine> {
    text.parse::<MachineSpec>().unwrap().open().unwrap()
}

#[test]
fn cores_accept_what_they_are_built_for_and_prepare_nothing_else() {
    let (mut accepted, mut refused) = (0, 0);
    for (text, log_n, moduli, word, takes) in CORES {
        let machine = open(text);
        for program in programs() {
            let fits = (10..=log_n).contains(&program.log_n()) && program.moduli().len() <= moduli;
            let prime = |q: u64| q < 1 << word && takes(q);
            let fits = fits && program.moduli().iter().all(|m| prime(m.modulus.value()));
            let found = machine.accepts(&program);
            assert_eq!(found.is_ok(), fits, "{text}: {found:?}");
            let prepared = machine.prepare(&program).map(|_| ());
            match (found, prepared) {
                (Err(found), prepared) => assert_eq!(prepared, Err(found), "{text}"),
                (Ok(()), Ok(())) => {}
                // No library is named.
                (Ok(()), Err(e)) => assert!(text.starts_with("verilator"), "{text}: {e}"),
            }
            if fits { accepted += 1 } else { refused += 1 }
        }
    }
    assert!(accepted >= 10 && refused >= 10, "{accepted} accepted, {refused} refused");
}

/// What the registry says of each machine, for `docs/machines.md`, is what the machine does.
#[test]
fn machines_estimate_as_the_registry_says() {
    let program = programs().nth(1).unwrap();
    // A board answers by its port: tests/board.
    for entry in MACHINES.into_iter().filter(|entry| entry.name != "board") {
        let machine = MachineSpec::new(entry).open().unwrap();
        assert_eq!(machine.accepts(&program), Ok(()), "{}", entry.name);
        let outcome = machine.estimate(&program).unwrap();
        let found = match &outcome {
            None => Estimates::No,
            Some(outcome) if !outcome.parts.is_empty() => {
                assert_eq!(Some(outcome.parts.iter().map(|p| p.1).sum()), outcome.cycles, "{}", entry.name);
                Estimates::Schedule
            }
            Some(outcome) if outcome.cycles.is_some() => Estimates::Cycles,
            Some(outcome) => {
                assert!(outcome.seconds.is_some_and(|s| s > 0.0), "{}", entry.name);
                Estimates::Seconds
            }
        };
        assert_eq!(found, entry.estimates, "{}", entry.name);
        assert_eq!(machine.computes_here(), ["cpu", "reference", "pipelined", "taiyi"].contains(&entry.name));
        let by_value = MachineSpec::new(entry).estimate(&program);
        match outcome {
            Some(outcome) => assert_eq!(by_value, Ok(outcome)),
            None => assert!(matches!(by_value, Err(MachineError::NoEstimate { .. })), "{by_value:?}"),
        }
    }
}

/// An estimate keeps to what no core can be faster than, and is whole: no unit works longer than the program takes.
#[test]
fn estimates_of_cores_keep_within_bounds() {
    for (text, ..) in CORES {
        let (machine, butterflies) = (open(text), 4);
        for program in programs().filter(|program| machine.accepts(program).is_ok()) {
            let outcome = machine.estimate(&program).unwrap().unwrap();
            let cycles = outcome.cycles.unwrap();
            let is_transform =
                |i: &Instruction<'_>| matches!(i, Instruction::Ntt { .. } | Instruction::Intt { .. });
            let transforms = program.instructions().filter(is_transform).count() as u64;
            // Two units of four butterflies; each has log N · N/2 to do for a transform.
            let least =
                transforms * u64::from(program.log_n()) * (program.n() as u64 / 2) / (2 * butterflies);
            assert!(cycles >= least, "{text}: {cycles} cycles, at least {least}");
            assert!(outcome.busy.iter().all(|(_, busy)| *busy <= cycles), "{text}: {:?}", outcome.busy);
            assert!(outcome.spans.iter().all(|s| s.start <= s.end && s.end <= cycles), "{text}");
            assert!(
                !outcome.spans.is_empty()
                    && outcome.counters.iter().any(|(name, n)| name == "first_cycles" && *n >= cycles)
            );
            let seconds = text.contains("clock=200").then_some(cycles as f64 / 200e6);
            assert_eq!(outcome.seconds.is_some(), seconds.is_some(), "{text}");
            let close = outcome.seconds.zip(seconds).is_none_or(|(a, b)| (a / b - 1.0).abs() < 1e-12);
            assert!(close, "{text}: {:?}", outcome.seconds);
        }
    }
}
