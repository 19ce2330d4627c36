//! Jobs of the test bench of `rtl/taiyi`, which holds them to the bits and cycles of the RTL; and what no job can be made of.

use ringmill_cycles::Description;
use std::path::Path;

use ringmill_program::limb::LimbProgram;
use ringmill_program::limb::random::{RandomProgram, inputs};
use ringmill_program::lower::{KeyLayout, KlssLayout, Method, OperationWriter, Rotation};
use ringmill_ring::Modulus;

use super::*;
use crate::{Machine, Reference};

/// A build that compiles in little time, of two lanes, sixteen limbs, and a row off chip every two cycles.
const TOY: Shape = Shape { log_n: 8, log_l: 1, log_r: 2, word_bits: 36, log_slots: 4, row_cycles: 2 };

/// Primes of `bits` bits that are 1 mod 2N, from the top, after `skip` others.
fn primes(log_n: u32, bits: u32, skip: usize, count: usize) -> Vec<Modulus> {
    let candidates = (1..).map(|i| (1u64 << bits) + 1 - i * (2u64 << log_n));
    candidates.filter_map(|q| Modulus::new(q).ok()).skip(skip).take(count).collect()
}

/// Bits of the primes, limbs, special primes, limbs a digit; for KLSS limbs a block and bits of the auxiliary primes.
#[derive(Clone, Copy)]
struct Set {
    log_n: u32,
    bits: u32,
    limbs: usize,
    alpha: usize,
    klss: Option<(usize, u32)>,
}

const HYBRID: Set = Set { log_n: 10, bits: 36, limbs: 4, alpha: 2, klss: None };
const KLSS: Set = Set { log_n: 10, bits: 24, limbs: 4, alpha: 2, klss: Some((2, 36)) };

fn writer(name: &str, s: Set) -> OperationWriter {
    let (q, p) = (primes(s.log_n, s.bits, s.alpha, s.limbs), primes(s.log_n, s.bits, 0, s.alpha));
    let writer = OperationWriter::new(name, s.log_n, (&q, &p), s.alpha).unwrap();
    let layout = KeyLayout { limbs: s.limbs, special: s.alpha, alpha: s.alpha };
    match s.klss {
        None => writer,
        Some((block, bits)) => {
            let layout = KlssLayout::new(s.log_n, (&q, &p), layout, block, bits).unwrap();
            writer.by(Method::Klss(layout))
        }
    }
}

/// A product, relinearised and rescaled.
fn product(name: &str, s: Set) -> LimbProgram {
    let mut w = writer(name, s);
    let [a0, a1, b0, b1] = ["a0", "a1", "b0", "b1"].map(|name| w.input(name));
    let key = w.key("relin").unwrap();
    let d = w.low.tensor([&a0, &a1], [&b0, &b1]).unwrap();
    let both = w.low.relinearise([&d[0], &d[1], &d[2]], &key, false).unwrap();
    let rescaled = both.each_ref().map(|part| w.low.rescale(part).unwrap());
    w.output("y", &rescaled);
    w.finish().unwrap()
}

/// A rotation and a conjugation that share their digits.
fn rotation(name: &str, s: Set) -> LimbProgram {
    let mut w = writer(name, s);
    let [c0, c1] = ["c0", "c1"].map(|name| w.input(name));
    let (five, conjugate) = (w.key("five").unwrap(), w.key("conjugate").unwrap());
    let hoisted = w.low.hoist(&c1, &five).unwrap();
    let by = [(5, &five), ((2 << s.log_n) - 1, &conjugate)];
    let [five, conjugate] = by.map(|(galois, key)| {
        w.low.rotate_hoisted(&hoisted, &c0, Rotation { galois, key, rescale: false }).unwrap()
    });
    w.output("five", &five);
    w.output("conjugate", &conjugate);
    w.finish().unwrap()
}

/// A rescale alone.
fn rescale() -> LimbProgram {
    let mut w = writer("rescale", Set { limbs: 3, ..HYBRID });
    let c = w.input("c");
    let y = w.low.rescale(&c).unwrap();
    w.output("y", &[y]);
    w.finish().unwrap()
}

/// Every instruction, in no order that means anything; more limbs than the scratchpad holds.
fn every_instruction(log_n: u32, seed: u64, instructions: usize) -> LimbProgram {
    let moduli: Vec<_> =
        [36, 36, 35, 30, 24].iter().zip(0..).map(|(&bits, skip)| primes(log_n, bits, skip, 1)[0]).collect();
    RandomProgram { log_n, moduli, instructions, seed }.generate().unwrap()
}

fn written(name: &str, job: &Job<'_>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../rtl/taiyi/test/{name}.job"));
    let text = job.to_string();
    if std::env::var_os("RINGMILL_BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == text, "{name}: run with RINGMILL_BLESS=1 to rewrite {}", path.display());
}

fn described(shape: Shape) -> Described {
    Described::new(shape.describe().unwrap_or_else(|e| panic!("{e}")))
}

#[test]
fn jobs_of_the_test_bench() {
    let small = [
        ("rescale", rescale()),
        ("rotation", rotation("rotation", HYBRID)),
        ("product", product("product", HYBRID)),
        ("klss", product("klss", KLSS)),
        ("klss_rotation", rotation("klss_rotation", KLSS)),
        ("every", every_instruction(10, 1, 150)),
    ];
    for (name, program) in &small {
        written(name, &Job::new(program).unwrap_or_else(|e| panic!("{name}: {e}")));
    }
    let toys = [
        ("toy_every", every_instruction(8, 2, 100)),
        ("toy_product", product("toy_product", Set { log_n: 8, ..HYBRID })),
        ("toy_klss", product("toy_klss", Set { log_n: 8, limbs: 2, alpha: 1, ..KLSS })),
    ];
    for (name, program) in &toys {
        written(name, &Job::on(program, TOY, &described(TOY)).unwrap_or_else(|e| panic!("{name}: {e}")));
    }
    let (wide, shape) =
        (product("wide", Set { log_n: 8, bits: 60, ..HYBRID }), Shape { word_bits: 60, ..TOY });
    written("toy_wide", &Job::on(&wide, shape, &described(shape)).unwrap_or_else(|e| panic!("{e}")));
}

/// A schedule is a machine's program: nothing takes a unit, a slot or the way off chip before it is free, and cycles are the simulator's.
#[test]
fn schedules_say_where_and_when() {
    let program = every_instruction(8, 2, 100);
    let job = Job::on(&program, TOY, &described(TOY)).unwrap();
    let outcome = described(TOY).simulate(&program, &Settings::default()).unwrap();
    let table = job.timetable();
    assert_eq!(table.cycles, outcome.cycles);
    assert!(table.transfers.iter().any(|t| t.flow == Flow::Spill), "sixteen limbs do not suffice");
    assert!(table.issues.iter().all(|issued| issued.result.1 < 16));
    let counts = job.writes().iter().filter(|w| w.table == Table::Count);
    let issues = job.writes().iter().filter(|w| w.table < Table::Count).count() as u64;
    assert_eq!(counts.map(|w| w.data[0]).sum::<u64>(), issues);
}

#[test]
fn what_it_cannot_run_is_said() {
    let refused = |program: &LimbProgram| Job::new(program).map(|_| ()).unwrap_err().to_string();
    let small = every_instruction(8, 1, 10);
    assert_eq!(
        refused(&small),
        "machine taiyi-small cannot run program random_1: it is built for N = 2^10, and the program has N = 2^8"
    );
    let moduli = primes(10, 36, 0, 65);
    let many = RandomProgram { log_n: 10, moduli, instructions: 10, seed: 1 }.generate().unwrap();
    assert_eq!(
        refused(&many),
        "machine taiyi-small cannot run program random_1: it holds 64 moduli, and the program has 65"
    );
    let long = RandomProgram { log_n: 10, moduli: primes(10, 40, 0, 2), instructions: 10, seed: 1 };
    let said = refused(&long.generate().unwrap());
    assert!(said.contains("36") && said.contains("40"), "{said}");
}

/// The words say what the program says: they are executed by what reads no program.
#[test]
fn words_give_the_bits_of_the_reference() {
    let wide = |s: Set| Set { bits: s.bits + 24, klss: s.klss.map(|(block, bits)| (block, bits + 24)), ..s };
    let programs = [
        (36, product("product", HYBRID)),
        (36, rotation("rotation", HYBRID)),
        (36, product("klss", KLSS)),
        (36, rotation("klss_rotation", KLSS)),
        (36, every_instruction(10, 1, 300)),
        (36, every_instruction(11, 2, 300)),
        (36, every_instruction(12, 3, 100)),
        (60, product("wide", wide(HYBRID))),
        (60, rotation("wide_klss", wide(KLSS))),
    ];
    for (word, program) in &programs {
        let limbs = inputs(program, 3);
        let bound: Vec<&[u64]> = limbs.iter().map(Vec::as_slice).collect();
        let run = |machine: &dyn Machine| {
            let mut out = vec![vec![u64::MAX; program.n()]; program.output_types().len()];
            let mut outputs: Vec<&mut [u64]> = out.iter_mut().map(Vec::as_mut_slice).collect();
            machine.prepare(program).unwrap().run(&bound, &mut outputs).unwrap();
            out
        };
        for text in ["taiyi".to_owned(), format!("taiyi:word={word},log_slots=6")] {
            let machine = crate::MachineSpec::parse(&text).unwrap().open().unwrap();
            assert!(run(&*machine) == run(&Reference), "{} on {text}", program.name());
        }
    }
}

/// The closed forms are those of the description that ships.
#[test]
fn the_small_build_is_the_description_that_ships() {
    let (made, shipped) = (Shape::SMALL.describe().unwrap(), Description::named("taiyi-small").unwrap());
    for (a, b) in made.units.iter().zip(&shipped.units) {
        let figures = |u: &ringmill_cycles::description::Unit| {
            [&u.rows, &u.first, &u.last].map(|e| [1, 7, 31].map(|terms| e.of(10).at(terms)))
        };
        assert_eq!((&a.name, figures(a), a.chained), (&b.name, figures(b), b.chained));
    }
    assert_eq!((&made.memories, &made.channels), (&shipped.memories, &shipped.channels));
}
