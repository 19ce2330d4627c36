//! The machine `board` on lines that behave, and on lines and boards that do not.

mod stand;

use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use proptest::prelude::*;
use ringmill_errors::StructuredError;
use ringmill_machine::compact::{CompactLiteral, Multiplier};
use ringmill_machine::{Executable, Machine, MachineError, MachineSpec, Reference, SpecError, Watch};
use ringmill_program::limb::LimbProgram;
use ringmill_program::limb::random::{RandomProgram, inputs};
use ringmill_ring::LimbSource;
use ringmill_ring::primes::of_bits;

use stand::{Board, Fault, socket, terminal};

/// Bytes of the memory of most boards here.
const MEMORY: usize = 1 << 20;

fn literal() -> CompactLiteral {
    CompactLiteral { word_bits: 54, log_n_max: 11, moduli: 6, bus_bits: 128, ..CompactLiteral::default() }
}

fn board() -> Board {
    Board::new(literal().build().unwrap(), MEMORY)
}

fn program(log_n: u32, instructions: usize, seed: u64) -> LimbProgram {
    let moduli = of_bits(50, log_n, 2, &[]).unwrap();
    RandomProgram { log_n, moduli, instructions, seed }.generate().unwrap()
}

fn open(text: &str) -> Result<Arc<dyn Machine>, MachineError> {
    text.parse::<MachineSpec>().unwrap().open()
}

/// A machine whose line may be silent for a second.
fn machine(place: &str) -> Arc<dyn Machine> {
    open(&format!("board:{place},wait=1,effort=0")).unwrap()
}

fn run(executable: &dyn Executable, limbs: &[Vec<u64>], watch: &Watch) -> Result<Limbs, MachineError> {
    let program = executable.program();
    let bound: Vec<LimbSource<'_>> = limbs.iter().map(|limb| LimbSource::Words(limb)).collect();
    let mut out = vec![vec![u64::MAX; program.n()]; program.output_types().len()];
    let mut outputs: Vec<&mut [u64]> = out.iter_mut().map(Vec::as_mut_slice).collect();
    executable.run_watched(&bound, &mut outputs, watch)?;
    Ok(out)
}

type Limbs = Vec<Vec<u64>>;

/// The same limbs, of which messages show no more than is needed.
fn assert_same(found: Result<Limbs, MachineError>, right: Result<Limbs, MachineError>, what: &str) {
    let found = found.unwrap_or_else(|e| panic!("{what}: {e}"));
    for (i, (found, right)) in found.iter().zip(right.unwrap()).enumerate() {
        let first = found.iter().zip(&right).position(|(f, r)| f != r);
        assert!(first.is_none(), "{what}: output {i} differs from word {first:?} on");
    }
}

/// What the reference gives, and a board.
fn both(machine: &dyn Machine, program: &LimbProgram) -> [Result<Limbs, MachineError>; 2] {
    let limbs = inputs(program, 5);
    let outcome = machine.prepare(program).and_then(|one| run(&*one, &limbs, &Watch::default()));
    [run(&*Reference.prepare(program).unwrap(), &limbs, &Watch::default()), outcome]
}

/// Runs a small program as the reference does.
fn runs(machine: &dyn Machine) {
    let [right, outcome] = both(machine, &program(10, 12, 1));
    assert_same(outcome, right, "a small program");
}

fn code(error: &MachineError) -> &'static str {
    match error {
        MachineError::Board(e) => e.code(),
        MachineError::Compact(e) => e.code(),
        other => other.code(),
    }
}

/// The code of an error and its message, of which it has the part.
fn assert_refused<T>(outcome: Result<T, MachineError>, wanted: &str, part: &str) {
    let error = outcome.map(drop).expect_err(wanted);
    assert_eq!(code(&error), wanted, "{error}");
    assert!(error.to_string().contains(part), "{error}");
}

#[test]
fn programs_have_the_bits_of_the_reference_over_a_socket_and_a_serial_line() {
    let (_, tcp) = socket(board());
    let (_, serial, _host) = terminal(board());
    for place in [tcp, serial] {
        let machine = machine(&place);
        for (log_n, instructions, seed) in [(10, 30, 1), (11, 20, 2)] {
            let [right, outcome] = both(&*machine, &program(log_n, instructions, seed));
            assert_same(outcome, right, &place);
        }
    }
}

/// As behind PCI Express: the host's addresses are others than the core's.
#[test]
fn registers_and_memory_stand_where_the_host_finds_them() {
    for [registers, memory] in [[1 << 27, 0], [0, 0x4000], [0xffff_c000, 0xc000_0000]] {
        let mut behind = board();
        behind.window = [registers, memory];
        let (shared, place) = socket(behind);
        let told = format!("{place},registers_at={registers},memory_at={memory}");
        runs(&*machine(&told));
        shared.lock().unwrap().memory.fill(0);
        let plain = format!("{place},memory={MEMORY}");
        assert_refused(machine(&plain).prepare(&program(10, 4, 1)), "NoCore", "0xffffffff");
    }
    for (option, at) in [("registers_at", 2), ("memory_at", 7)] {
        let outcome = open(&format!("board:tcp=localhost:1,{option}={at}"));
        assert_refused(outcome, "Parameter", "a multiple of 4");
        let beyond = format!("board:tcp=localhost:1,{option}={}", u32::MAX).parse::<MachineSpec>();
        assert!(matches!(beyond, Err(SpecError::OutOfRange { option: of, .. }) if of == option));
    }
}

/// Keys and constants are limbs as all others: what did not change is not sent again, also with other programs in between.
#[test]
fn limbs_that_are_there_are_not_sent_again() {
    let (shared, place) = socket(board());
    let machine = machine(&place);
    let programs = [program(10, 20, 1), program(10, 20, 2)];
    let loaded: Vec<_> = programs.iter().map(|p| machine.prepare(p).unwrap()).collect();
    let taken = || shared.lock().unwrap().taken;
    let mut first = [0; 2];
    for (round, (one, program)) in (0..).zip(loaded.iter().zip(&programs).cycle().take(4)) {
        let (before, mut limbs) = (taken(), inputs(program, 5));
        if round >= 2 {
            limbs[0].reverse();
        }
        let right = run(&*Reference.prepare(program).unwrap(), &limbs, &Watch::default());
        assert_same(run(&**one, &limbs, &Watch::default()), right, "a program");
        let sent = taken() - before;
        if round < 2 {
            first[round] = sent;
            assert!(sent > 8 * program.n() * limbs.len(), "{sent} bytes");
        } else {
            // One limb, in at most two places, the table of moduli and what asks for the results.
            assert!(sent > 8 * program.n() && sent < first[round - 2] / 2, "{sent} bytes, first {first:?}");
        }
    }
}

/// A board that does not hold all programs at once holds the latest.
#[test]
fn programs_make_way_for_each_other() {
    let (shared, place) = socket(board());
    let machine = machine(&place);
    let program = program(11, 20, 3);
    let bytes = {
        let loaded = machine.prepare(&program).unwrap();
        let before = shared.lock().unwrap().taken;
        run(&*loaded, &inputs(&program, 5), &Watch::default()).unwrap();
        shared.lock().unwrap().taken - before
    };
    let loaded: Vec<_> = (0..2 * MEMORY / bytes + 2).map(|_| machine.prepare(&program).unwrap()).collect();
    let limbs = inputs(&program, 6);
    let right = run(&*Reference.prepare(&program).unwrap(), &limbs, &Watch::default());
    for one in loaded.iter().chain(&loaded[..1]) {
        assert_same(run(&**one, &limbs, &Watch::default()), right.clone(), "a program");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// The core's parameters and the bytes of its memory need not be stated.
    #[test]
    fn a_core_says_what_it_was_built_for(
        word_bits in prop::sample::select(CompactLiteral::WORD_BITS.to_vec()),
        butterflies in prop::sample::select(CompactLiteral::BUTTERFLIES.to_vec()),
        log_n_max in 10u32..=15,
        moduli in 2u32..=32,
        multiplier in prop::sample::select(Multiplier::ALL.to_vec()),
        bus_bits in prop::sample::select(CompactLiteral::BUS_BITS.to_vec()),
        memory in 16u32..21,
        stated in any::<bool>(),
    ) {
        let built = CompactLiteral { word_bits, butterflies, log_n_max, moduli, multiplier, bus_bits, ..literal() };
        let board = Board::new(built.build().unwrap(), 1 << memory);
        let (_, place) = socket(board);
        let stated = if stated { format!(",memory={}", (1 << memory) - 4096 * u32::from(memory > 16)) } else { String::new() };
        let machine = open(&format!("board:{place}{stated},wait=1,latency=40")).unwrap();
        let q = of_bits(30, 9, 1, &[]).unwrap();
        let small = RandomProgram { log_n: 9, moduli: q, instructions: 4, seed: 1 }.generate().unwrap();
        let refused = machine.accepts(&small).unwrap_err().to_string();
        let bounds = format!("the core was built for N = 2^10 to 2^{log_n_max}; the program has N = 2^9");
        prop_assert_eq!(refused, bounds);
        // A core of the same parameters is the same machine to a planner.
        let same = format!(
            "compact:word={word_bits},butterflies={butterflies},log_n={log_n_max},moduli={moduli},multiplier={},bus={bus_bits}",
            multiplier.name()
        );
        let costs = |machine: &dyn Machine| machine.costs().unwrap().to_string();
        prop_assert_eq!(costs(&*machine), costs(&*open(&same).unwrap()));
    }
}

/// A line loses one byte or ends anywhere, or changes one byte of what is put: no wrong result comes out, and the next run is
/// right.
#[test]
fn one_byte_less_is_an_error_that_says_so_and_the_next_run_is_right() {
    let (shared, place) = socket(board());
    let (taken, said) = {
        runs(&*machine(&place));
        let board = shared.lock().unwrap();
        (board.taken, board.said)
    };
    // In the heads of the first commands, in what is put, in the table of moduli, in the run, in the last commands.
    let near = |of: usize| [7, of / 5, of / 2 + 3, of * 4 / 5 + 1, of - 200, of - 70, of - 3];
    let anywhere = near(taken).into_iter().flat_map(|n| [Fault::Loses(n), Fault::HangsUp(n)]);
    let put = [taken / 5, taken / 2 + 3].map(Fault::Changes);
    let mut told = std::collections::BTreeSet::new();
    for fault in anywhere.chain(put).chain(near(said).map(Fault::LosesAnswer)) {
        {
            let mut board = shared.lock().unwrap();
            (board.taken, board.said, board.fault) = (0, 0, fault);
        }
        let machine = machine(&place);
        let [_, outcome] = both(&*machine, &program(10, 12, 1));
        let error = outcome.map(drop).expect_err(&format!("{fault:?}"));
        assert!(matches!(error, MachineError::Board(_)), "{fault:?}: {error}");
        told.insert(code(&error));
        runs(&*machine);
    }
    assert!(["Changed", "Lost", "Unplugged"].iter().all(|one| told.contains(one)), "{told:?}");
}

#[test]
fn a_line_that_falls_silent_is_not_one_that_loses_bytes() {
    for after in [0, 20_000] {
        let (shared, place) = socket(board());
        shared.lock().unwrap().fault = Fault::Mute(after);
        let [_, outcome] = both(&*machine(&place), &program(10, 12, 1));
        let part = format!("nothing answers at {place} within 1 s");
        assert_refused(outcome, "Silent", &part);
    }
}

#[test]
fn a_serial_line_that_is_unplugged_is_named() {
    let (shared, place, host) = terminal(board());
    shared.lock().unwrap().fault = Fault::HangsUp(20_000);
    let machine = machine(&place);
    let [_, outcome] = both(&*machine, &program(10, 12, 1));
    assert_refused(outcome, "Unplugged", &format!("{place} went away ("));
    drop(host);
    let [_, outcome] = both(&*machine, &program(10, 12, 1));
    assert_refused(outcome, "Closed", &format!("{place} does not open: "));
}

/// What a board answers, the code, and a part of the message.
type Case = (fn(&mut Board), &'static str, &'static str);

#[test]
fn another_board_is_named_with_what_to_do() {
    let cases: [Case; 9] = [
        (
            |b| b.reads(0x00, 0),
            "NoCore",
            "reads 0x00000000; a compact core reads 0x524d4343. Load a bitstream",
        ),
        (
            |b| b.reads(0x04, 0x0002_0003),
            "OtherVersion",
            "has version 2.3 of registers and instructions; this driver needs 1.1 or a later 1.x",
        ),
        (|b| b.reads(0x04, 0x0001_0000), "OtherVersion", "has version 1.0"),
        (|b| b.reads(0x08, 0x060b_0425), "Parameter", "no compact core has word_bits = 37"),
        (
            |b| b.reads(0x0c, 0x0080_0009),
            "Parameter",
            "no compact core has multiplier = 9; it can be the number of word-montgomery, ",
        ),
        (|b| b.broken = 1 << 7, "Memory", "does not keep its words: byte 0x"),
        (|b| b.memory.truncate(1 << 12), "Memory", "Its DRAM is not calibrated"),
        (|b| (b.busy, b.resets) = (true, false), "Stuck", "is busy and does not move for 1 s"),
        (
            |b| b.console = b"memtest OK\n".repeat(1 << 11),
            "Talks",
            "speaks without being asked, beginning with \"memtest OK\\nmemtest OK\\nmemtest OK",
        ),
    ];
    for (change, wanted, part) in cases {
        let mut board = board();
        change(&mut board);
        let (_, place) = socket(board);
        assert_refused(machine(&place).prepare(&program(10, 12, 1)), wanted, part);
    }
}

/// How a core is built, the bytes of its memory, the code, and a part of the message.
type SmallCase = (fn(&mut CompactLiteral), usize, &'static str, &'static str);

#[test]
fn a_core_or_a_memory_that_is_too_small_for_a_program_is_named() {
    let cases: [SmallCase; 4] = [
        (|l| l.log_n_max = 10, MEMORY, "Degree", "built for N = 2^10 to 2^10; the program has N = 2^11"),
        (|l| l.moduli = 2, MEMORY, "TooManyModuli", "the program has 3 moduli; the core's table holds 2"),
        (|l| l.word_bits = 36, MEMORY, "ModulusClass", "W = 36"),
        (|_| (), 1 << 16, "Memory", "bytes of memory and the core has 65536"),
    ];
    for (change, memory, wanted, part) in cases {
        let mut literal = literal();
        change(&mut literal);
        let (_, place) = socket(Board::new(literal.build().unwrap(), memory));
        let moduli = of_bits(50, 11, 3, &[]).unwrap();
        let program = RandomProgram { log_n: 11, moduli, instructions: 30, seed: 1 }.generate().unwrap();
        assert_refused(machine(&place).prepare(&program), wanted, part);
    }
    let (_, place) = socket(board());
    let stated = open(&format!("board:{place},wait=1,memory={}", 2 * MEMORY)).unwrap();
    assert_refused(stated.prepare(&program(10, 12, 1)), "Memory", "or it is smaller than memory= says");
}

/// A run that does not end is ended, and what a program before left is reset.
#[test]
fn the_board_is_reset_whatever_it_did() {
    let (shared, place) = socket(board());
    shared.lock().unwrap().busy = true;
    let machine = machine(&place);
    runs(&*machine);
    let cases = [
        (Fault::Hangs(true), "Watchdog", "cycles: the core hangs"),
        (Fault::Hangs(false), "Stuck", "does not move"),
        (Fault::Stops(6), "Stopped", "the core stopped at instruction 7 with code 6 (an address that is not"),
        (Fault::Stops(10), "Bus", "a bus error in a read at byte 0"),
    ];
    for (fault, wanted, part) in cases {
        shared.lock().unwrap().fault = fault;
        let [_, outcome] = both(&*machine, &program(10, 12, 1));
        assert_refused(outcome, wanted, part);
        runs(&*machine);
        assert!(!shared.lock().unwrap().busy);
    }
}

#[test]
fn a_run_that_is_stopped_resets_the_core_and_keeps_what_it_holds() {
    let (shared, place) = socket(board());
    let machine = machine(&place);
    let program = program(10, 12, 1);
    let (loaded, limbs) = (machine.prepare(&program).unwrap(), inputs(&program, 5));
    let right = run(&*loaded, &limbs, &Watch::default());
    shared.lock().unwrap().fault = Fault::Hangs(false);
    let watch = Watch::default();
    let outcome = std::thread::scope(|scope| {
        let running = scope.spawn(|| run(&*loaded, &limbs, &watch));
        while !shared.lock().unwrap().busy {
            std::thread::yield_now();
        }
        watch.stop();
        running.join().unwrap()
    });
    assert_eq!(outcome, Err(MachineError::Stopped));
    let before = shared.lock().unwrap().taken;
    assert_same(run(&*loaded, &limbs, &Watch::default()), right, "after a stop");
    assert!(shared.lock().unwrap().taken - before < 8 * program.n());
}

#[test]
fn another_core_at_the_same_place_is_not_run() {
    let (shared, place) = socket(board());
    let machine = machine(&place);
    let program = program(10, 12, 1);
    let (loaded, limbs) = (machine.prepare(&program).unwrap(), inputs(&program, 5));
    let other = CompactLiteral { butterflies: 8, ..literal() };
    {
        let mut board = shared.lock().unwrap();
        board.config = other.build().unwrap();
        board.fault = Fault::HangsUp(board.taken + 100);
    }
    assert_refused(run(&*loaded, &limbs, &Watch::default()), "Unplugged", "went away");
    assert_refused(run(&*loaded, &limbs, &Watch::default()), "OtherCore", "Prepare the program again");
    runs(&*machine);
}

#[test]
fn places_where_no_board_is_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::File::create(&file).unwrap().write_all(b"x").unwrap();
    // A port that was free a moment ago.
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let program = program(10, 12, 1);
    for (text, wanted, part) in [
        ("board".to_owned(), "NoPort", "write board:serial=PATH"),
        (format!("board:tcp={gone}"), "Closed", "does not open: Connection refused"),
        ("board:serial=/dev/none".to_owned(), "Closed", "No such file"),
        (format!("board:serial={}", file.display()), "NotSerial", "is no serial port: a plain file"),
        (format!("board:serial={}", folder.path().display()), "NotSerial", "is no serial port: a folder"),
        ("board:serial=/dev/null".to_owned(), "NotSerial", "is no serial port: Inappropriate ioctl"),
    ] {
        assert_refused(open(&text).unwrap().prepare(&program), wanted, part);
    }
    assert_refused(open("board:serial=/dev/a,tcp=b:1"), "TwoPorts", "serial=/dev/a and tcp=b:1; give one");
    for text in ["1234", "host", "host:", ":1", "host:0", "host:65536", "a b:1", "::1:1", ""] {
        let error = format!("board:tcp=\"{text}\"").parse::<MachineSpec>().unwrap_err().to_string();
        assert!(error.ends_with("give HOST:PORT"), "{error}");
    }
    assert!("board:tcp=[::1]:1234".parse::<MachineSpec>().is_ok());
}

#[test]
fn a_serial_port_has_one_host_and_its_machines_share_it() {
    let (shared, place, _host) = terminal(board());
    let first = machine(&place);
    runs(&*first);
    let before = shared.lock().unwrap().taken;
    let low = format!("board:{place},wait=1,effort=9,policy=low-latency");
    assert!(open(&low).unwrap().accepts(&program(10, 12, 1)).is_ok());
    assert_eq!(shared.lock().unwrap().taken, before, "identified once");
    let other = open(&format!("board:{place},wait=2")).unwrap();
    assert_refused(other.prepare(&program(10, 12, 1)), "InUse", "is in use: by another program, or");
    drop(first);
    runs(&*other);
}

/// A server that is no board: it answers nothing.
#[test]
fn a_server_that_is_silent_is_named() {
    let door = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = format!("tcp={}", door.local_addr().unwrap());
    let kept = std::thread::spawn(move || door.accept().map(|(line, _): (TcpStream, _)| line));
    assert_refused(
        machine(&place).prepare(&program(10, 12, 1)),
        "Silent",
        "See that the bitstream is loaded",
    );
    drop(kept.join().unwrap());
}
