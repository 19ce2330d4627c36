//! Jobs of the test bench of `rtl/taiyi`, which holds them to the bits and cycles of the RTL; and what no job can be made of.

use std::path::Path;

use ringmill_program::limb::LimbProgram;
use ringmill_program::limb::random::RandomProgram;
use ringmill_program::lower::{KeyLayout, KlssLayout, Method, OperationWriter, Rotation};
use ringmill_ring::Modulus;

use super::*;

const LOG_N: u32 = 10;

/// Primes of `bits` bits that are 1 mod 2N, from the top, after `skip` others.
fn primes(log_n: u32, bits: u32, skip: usize, count: usize) -> Vec<Modulus> {
    let candidates = (1..).map(|i| (1u64 << bits) + 1 - i * (2u64 << log_n));
    candidates.filter_map(|q| Modulus::new(q).ok()).skip(skip).take(count).collect()
}

/// Bits of the primes, limbs, special primes, limbs a digit; for KLSS limbs a block and bits of the auxiliary primes.
#[derive(Clone, Copy)]
struct Set {
    bits: u32,
    limbs: usize,
    alpha: usize,
    klss: Option<(usize, u32)>,
}

const HYBRID: Set = Set { bits: 36, limbs: 4, alpha: 2, klss: None };
const KLSS: Set = Set { bits: 24, limbs: 4, alpha: 2, klss: Some((2, 36)) };

fn writer(name: &str, s: Set) -> OperationWriter {
    let (q, p) = (primes(LOG_N, s.bits, s.alpha, s.limbs), primes(LOG_N, s.bits, 0, s.alpha));
    let writer = OperationWriter::new(name, LOG_N, (&q, &p), s.alpha).unwrap();
    let layout = KeyLayout { limbs: s.limbs, special: s.alpha, alpha: s.alpha };
    match s.klss {
        None => writer,
        Some((block, bits)) => {
            let layout = KlssLayout::new(LOG_N, (&q, &p), layout, block, bits).unwrap();
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
    let by = [(5, &five), ((2 << LOG_N) - 1, &conjugate)];
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
fn every_instruction(seed: u64, instructions: usize) -> LimbProgram {
    let moduli: Vec<_> =
        [36, 36, 35, 30, 24].iter().zip(0..).map(|(&bits, skip)| primes(LOG_N, bits, skip, 1)[0]).collect();
    RandomProgram { log_n: LOG_N, moduli, instructions, seed }.generate().unwrap()
}

fn written(name: &str, program: &LimbProgram) {
    let job = Job::new(program).unwrap_or_else(|e| panic!("{name}: {e}"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../rtl/taiyi/test/{name}.job"));
    let text = job.to_string();
    if std::env::var_os("RINGMILL_BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == text, "{name}: run with RINGMILL_BLESS=1 to rewrite {}", path.display());
}

#[test]
fn jobs_of_the_test_bench() {
    written("rescale", &rescale());
    written("rotation", &rotation("rotation", HYBRID));
    written("product", &product("product", HYBRID));
    written("klss", &product("klss", KLSS));
    written("klss_rotation", &rotation("klss_rotation", KLSS));
    written("every", &every_instruction(1, 150));
}
