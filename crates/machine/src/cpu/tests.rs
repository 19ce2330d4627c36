//! The same bits as the reference machine, on every instruction set and number of threads.

use std::sync::Arc;

use rayon::{ThreadPool, ThreadPoolBuilder};
use ringmill_program::limb::LimbProgram;
use ringmill_program::limb::random::{RandomProgram, inputs};
use ringmill_ring::{Isa, Modulus};

use super::Cpu;
use crate::{Executable, Machine, Reference};

/// Primes ≡ 1 mod 2N, one of each bit length given, the nearest below the power of two.
fn moduli(log_n: u32, bits: &[u32]) -> Vec<Modulus> {
    let step = 2u64 << log_n;
    let mut found: Vec<Modulus> = Vec::new();
    for &bits in bits {
        let candidates = (1..).map(|i| (1u64 << bits) + 1 - i * step);
        let prime = candidates.filter_map(|q| Modulus::new(q).ok()).find(|m| !found.contains(m));
        found.extend(prime);
    }
    found
}

fn execute(executable: &dyn Executable, limbs: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let program = executable.program();
    let inputs: Vec<&[u64]> = limbs.iter().map(Vec::as_slice).collect();
    // Stale words in the outputs must not matter.
    let mut out = vec![vec![u64::MAX; program.n()]; program.output_types().len()];
    let mut outputs: Vec<&mut [u64]> = out.iter_mut().map(Vec::as_mut_slice).collect();
    executable.run(&inputs, &mut outputs).unwrap();
    out
}

fn pool(threads: usize) -> Arc<ThreadPool> {
    Arc::new(ThreadPoolBuilder::new().num_threads(threads).build().unwrap())
}

fn compare(program: &LimbProgram, machines: &[Cpu], seed: u64) {
    let limbs = inputs(program, seed);
    let want = execute(&*Reference.prepare(program).unwrap(), &limbs);
    for cpu in machines {
        let executable = cpu.prepare(program).unwrap();
        // Twice: the second run meets the memory of the first.
        for round in 0..2 {
            let got = execute(&*executable, &limbs);
            for (i, (got, want)) in got.iter().zip(&want).enumerate() {
                assert!(got == want, "output {i} of {} on {cpu:?}, round {round}\n{program}", program.name());
            }
        }
    }
}

/// Every instruction set alone, the fastest one also with two and three threads.
fn machines() -> Vec<Cpu> {
    let mut machines: Vec<Cpu> = Isa::available().map(Cpu::with_isa).collect();
    machines.extend([2, 3].map(|threads| Cpu::new().unwrap().on_pool(pool(threads))));
    machines
}

#[test]
fn random_programs_give_the_bits_of_the_reference() {
    let machines = machines();
    for seed in 0..60 {
        let log_n = 3 + (seed % 5) as u32;
        let bits: &[u32] =
            [&[50, 50, 49, 50][..], &[55, 54, 55, 53], &[60, 30, 45, 59, 21], &[52, 40]][seed as usize % 4];
        let (moduli, instructions) = (moduli(log_n, bits), 20 + 7 * seed as usize);
        let program = RandomProgram { log_n, moduli, instructions, seed }.generate().unwrap();
        compare(&program, &machines, seed);
    }
}
