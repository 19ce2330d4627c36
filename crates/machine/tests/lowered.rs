//! The machine `cpu` against `reference` on what is really run: lowered products, rotations and rescales, as written and
//! scheduled, at lengths above one cache block, on every instruction set.

use std::sync::Arc;

use ringmill_machine::{Cpu, Executable, Machine, Reference};
use ringmill_program::limb::random::inputs;
use ringmill_program::limb::{InputClass, LimbProgram};
use ringmill_program::lower::{KeyLayout, KlssLayout, Method, OperationWriter, Rotation};
use ringmill_program::schedule::{Memory, load_inputs, schedule};
use ringmill_ring::{Isa, Modulus};

/// `count` primes of `bits` bits that are 1 mod 2N, from the top, after `skip` others.
fn primes(log_n: u32, bits: u32, skip: usize, count: usize) -> Vec<Modulus> {
    let step = 2u64 << log_n;
    let candidates = (1..).map(|i| (1u64 << bits) + 1 - i * step);
    candidates.filter_map(|q| Modulus::new(q).ok()).skip(skip).take(count).collect()
}

/// Bits of the primes, limbs, special primes, limbs a digit.
#[derive(Debug, Clone, Copy)]
struct Shape {
    log_n: u32,
    bits: u32,
    limbs: usize,
    special: usize,
    alpha: usize,
    /// For KLSS: limbs a block, bits of the auxiliary primes.
    klss: Option<(usize, u32)>,
}

fn writer(s: Shape) -> OperationWriter {
    let (q, p) = (primes(s.log_n, s.bits, s.special, s.limbs), primes(s.log_n, s.bits, 0, s.special));
    let writer = OperationWriter::new("lowered", s.log_n, (&q, &p), s.alpha).unwrap();
    let layout = KeyLayout { limbs: s.limbs, special: s.special, alpha: s.alpha };
    match s.klss {
        None => writer,
        Some((block, bits)) => {
            let layout = KlssLayout::new(s.log_n, (&q, &p), layout, block, bits).unwrap();
            writer.by(Method::Klss(layout))
        }
    }
}

fn product(s: Shape) -> LimbProgram {
    let mut w = writer(s);
    let [a0, a1, b0, b1] = ["a0", "a1", "b0", "b1"].map(|name| w.input(name));
    let key = w.key("relin").unwrap();
    let d = w.low.tensor([&a0, &a1], [&b0, &b1]).unwrap();
    let merged = w.low.relinearise([&d[0], &d[1], &d[2]], &key, true).unwrap();
    let square = w.low.tensor_square([&a0, &a1]).unwrap();
    let plain = w.low.relinearise([&square[0], &square[1], &square[2]], &key, false).unwrap();
    let rescaled = plain.each_ref().map(|part| w.low.rescale(part).unwrap());
    w.output("merged", &merged);
    w.output("apart", &rescaled);
    w.finish().unwrap()
}

fn rotations(s: Shape) -> LimbProgram {
    let mut w = writer(s);
    let [c0, c1] = ["c0", "c1"].map(|name| w.input(name));
    let (five, conjugate) = (w.key("five").unwrap(), w.key("conjugate").unwrap());
    let alone = w.low.rotate([&c0, &c1], Rotation { galois: 5, key: &five, rescale: false }).unwrap();
    let hoisted = w.low.hoist(&c1, &five).unwrap();
    let galois = (2u64 << s.log_n) - 1;
    let [five, conjugate] = [(5, &five, true), (galois, &conjugate, false)].map(|(galois, key, rescale)| {
        w.low.rotate_hoisted(&hoisted, &c0, Rotation { galois, key, rescale }).unwrap()
    });
    w.output("alone", &alone);
    w.output("five", &five);
    w.output("conjugate", &conjugate);
    w.finish().unwrap()
}

fn execute(executable: &dyn Executable, limbs: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let program = executable.program();
    let inputs: Vec<&[u64]> = limbs.iter().map(Vec::as_slice).collect();
    let mut out = vec![vec![u64::MAX; program.n()]; program.output_types().len()];
    let mut outputs: Vec<&mut [u64]> = out.iter_mut().map(Vec::as_mut_slice).collect();
    executable.run(&inputs, &mut outputs).unwrap();
    out
}

/// Runs the program as written on all machines, and its schedules on the best one and on the reference.
fn check(program: &LimbProgram, machines: &[Cpu], what: &str) {
    let limbs = inputs(program, 3);
    let want = execute(&*Reference.prepare(program).unwrap(), &limbs);
    for cpu in machines {
        let got = execute(&*cpu.prepare(program).unwrap(), &limbs);
        assert!(got == want, "{what} on {cpu:?}");
    }
    let local = load_inputs(program, &[InputClass::Data]);
    let best = Cpu::new().unwrap();
    for scheduled in [schedule(program, Memory::Least), schedule(&local, Memory::Least)].map(Result::unwrap) {
        for machine in [&best as &dyn Machine, &Reference] {
            let got = execute(&*machine.prepare(&scheduled).unwrap(), &limbs);
            assert!(got == want, "{what}, scheduled, on {}", machine.name());
        }
    }
}

fn machines() -> Vec<Cpu> {
    let mut machines: Vec<Cpu> = Isa::available().map(Cpu::with_isa).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    machines.push(Cpu::new().unwrap().on_pool(Arc::new(pool)));
    machines
}

#[test]
fn lowered_programs_give_the_same_bits_on_every_machine() {
    let machines = machines();
    for (log_n, bits) in [(12, 50), (13, 55), (10, 60), (11, 40)] {
        for (limbs, special, alpha) in [(3, 1, 1), (5, 2, 2), (5, 4, 3)] {
            let shape = Shape { log_n, bits, limbs, special, alpha, klss: None };
            check(&product(shape), &machines, &format!("product, {shape:?}"));
            check(&rotations(shape), &machines, &format!("rotations, {shape:?}"));
        }
    }
}

#[test]
fn klss_programs_give_the_same_bits_on_every_machine() {
    let machines = machines();
    for (log_n, bits, limbs, alpha, block, t) in
        [(12, 36, 6, 2, 3, 51), (12, 36, 5, 3, 4, 60), (11, 50, 4, 1, 2, 49), (11, 55, 4, 2, 6, 60)]
    {
        let shape = Shape { log_n, bits, limbs, special: alpha, alpha, klss: Some((block, t)) };
        check(&product(shape), &machines, &format!("product, {shape:?}"));
        check(&rotations(shape), &machines, &format!("rotations, {shape:?}"));
    }
}

#[test]
#[ignore = "long: make test-full"]
fn lowered_programs_at_full_length() {
    let machines = machines();
    for shape in [
        Shape { log_n: 14, bits: 54, limbs: 8, special: 1, alpha: 1, klss: None },
        Shape { log_n: 15, bits: 50, limbs: 12, special: 4, alpha: 4, klss: None },
        Shape { log_n: 16, bits: 50, limbs: 9, special: 3, alpha: 3, klss: None },
    ] {
        check(&product(shape), &machines, &format!("product, {shape:?}"));
        check(&rotations(shape), &machines, &format!("rotations, {shape:?}"));
    }
}
