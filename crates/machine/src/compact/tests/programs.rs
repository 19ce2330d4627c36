//! Whole limb programs on the emulated core, compared with the reference machine.

use ringmill_program::limb::random::{RandomProgram, inputs};
use ringmill_program::limb::{Domain, InputClass, LimbBuilder, LimbProgram};
use ringmill_program::lower::{Operation, OperationWriter, Rotation};
use ringmill_ring::Modulus;
use ringmill_ring::primes::of_bits;

use super::super::*;
use crate::{Machine as _, Reference};

/// A core for any prime of up to 60 bits.
pub(super) fn config(butterflies: u32) -> CompactConfig {
    let timing = MemoryTiming { latency: 40, beat_cycles: 1 };
    CompactLiteral { butterflies, timing, ..CompactLiteral::roomy() }.build().unwrap()
}

pub(super) fn execute(executable: &dyn crate::Executable, limbs: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let program = executable.program();
    let inputs: Vec<&[u64]> = limbs.iter().map(Vec::as_slice).collect();
    let mut out = vec![vec![u64::MAX; program.n()]; program.output_types().len()];
    let mut outputs: Vec<&mut [u64]> = out.iter_mut().map(Vec::as_mut_slice).collect();
    executable.run(&inputs, &mut outputs).unwrap();
    out
}

/// Runs a program on the emulated core and on the reference.
pub(super) fn check(config: CompactConfig, program: &LimbProgram, what: &str) -> Loaded {
    let limbs = inputs(program, 5);
    let want = execute(&*Reference.prepare(program).unwrap(), &limbs);
    let loaded = Compact::emulated(config).load(program).unwrap_or_else(|e| panic!("{what}: {e}"));
    let got = execute(&loaded, &limbs);
    for (i, (got, want)) in got.iter().zip(&want).enumerate() {
        let first = got.iter().zip(want).position(|(g, w)| g != w);
        assert!(first.is_none(), "{what}: output {i} differs from word {first:?} on");
    }
    loaded
}

/// Bits of the primes, limbs, special primes, limbs a digit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) log_n: u32,
    pub(super) bits: u32,
    pub(super) limbs: usize,
    pub(super) special: usize,
    pub(super) alpha: usize,
}

impl Shape {
    /// An empty program over primes of the shape.
    pub(super) fn writer(self) -> OperationWriter {
        let all = of_bits(self.bits, self.log_n, self.limbs + self.special, &[]).unwrap();
        self.over(&all[self.special..], &all[..self.special])
    }

    /// The same over these primes.
    pub(super) fn over(self, q: &[Modulus], p: &[Modulus]) -> OperationWriter {
        OperationWriter::new("lowered", self.log_n, (q, p), self.alpha).unwrap()
    }
}

fn product(s: Shape) -> LimbProgram {
    let mut w = s.writer();
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
    let mut w = s.writer();
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

/// A key switch alone, or `times` of them that have nothing to do with each other; with a rescale they relinearise.
pub(super) fn key_switches(mut w: OperationWriter, times: usize, rescale: bool) -> LimbProgram {
    let operation = if rescale { Operation::RelineariseRescale } else { Operation::KeySwitch };
    (0..times).for_each(|_| w.append(operation).unwrap());
    w.finish().unwrap()
}

#[test]
fn lowered_programs_give_the_bits_of_the_reference() {
    for (bits, butterflies) in [(50, 4), (60, 1), (40, 16)] {
        for (limbs, special, alpha) in [(3, 1, 1), (5, 2, 2), (5, 4, 3)] {
            let shape = Shape { log_n: 10, bits, limbs, special, alpha };
            check(config(butterflies), &product(shape), &format!("product, {shape:?}"));
            check(config(butterflies), &rotations(shape), &format!("rotations, {shape:?}"));
            let switches = key_switches(shape.writer(), 2, true);
            check(config(butterflies), &switches, &format!("key switches, {shape:?}"));
        }
    }
}

#[test]
fn klss_gives_the_bits_of_the_reference() {
    for (shape, rotations, butterflies) in [
        ((4, 1, 1, 50, Some((2, 60))), 0, 4),
        ((5, 2, 2, 36, Some((3, 51))), 2, 2),
        ((3, 3, 3, 54, Some((6, 60))), 0, 16),
    ] {
        let program = crate::calibrate::key_switch(10, shape, rotations).unwrap();
        check(config(butterflies), &program, &format!("{shape:?}, {rotations} rotations"));
    }
}

/// Constants move in front of transforms. One that does leaves its place; what would take another there must see that.
#[test]
fn constants_behind_transforms_in_a_row_are_all_kept() {
    let [q] = of_bits(54, 10, 1, &[]).unwrap()[..] else { panic!("one prime") };
    for variant in 0..3 {
        let mut b = LimbBuilder::new("constants", 10);
        let q = b.modulus("q", q);
        let x = b.input("x", InputClass::Data, Domain::Coeff, &[q])[0];
        let k = b.input("k", InputClass::Key, Domain::Eval, &[q])[0];
        let x = b.ntt(x);
        let x = b.mul_const(x, 3);
        let x = match variant {
            0 => x,
            1 => b.mul(x, k),
            _ => {
                let down = b.intt(x);
                let scaled = b.mul_const(down, 7);
                let up = b.ntt(scaled);
                b.mul(up, k)
            }
        };
        let down = b.intt(x);
        let y = b.mul_const(down, 5);
        let out = b.output("y", Domain::Coeff, &[q]);
        b.store(out[0], y);
        check(config(2), &b.finish().unwrap(), &format!("variant {variant}"));
    }
}

#[test]
fn random_programs_give_the_bits_of_the_reference() {
    for seed in 0..60 {
        let moduli = of_bits(if seed % 2 == 0 { 54 } else { 36 }, 10, 5, &[]).unwrap();
        let random = RandomProgram { log_n: 10, moduli, instructions: 10 + 2 * seed as usize, seed };
        check(config(2), &random.generate().unwrap(), &format!("seed {seed}"));
    }
}
