//! Times the CPU machine on single operations, lowered as programs are: relinearisation, rotation, rescaling and the
//! tensor product at the named sets.
//!
//! `cargo run --release -p ringmill-machine --example operations [threads] [name part]`

use std::sync::Arc;
use std::time::Instant;

use rayon::ThreadPoolBuilder;
use ringmill_machine::{Cpu, Executable, Machine};
use ringmill_program::limb::random::inputs;
use ringmill_program::limb::{Domain, InputClass, LimbProgram, Operand};
use ringmill_program::lower::{KeyInputs, LowerError, Lowering, Rotation};
use ringmill_ring::Modulus;

type Failure = Box<dyn std::error::Error>;

/// A chain: `limbs` ciphertext primes and `special` ones, all distinct and near 2^bits.
struct Set {
    name: &'static str,
    log_n: u32,
    bits: u32,
    limbs: usize,
    special: usize,
    dnum: usize,
}

const SETS: [Set; 3] = [
    Set { name: "III", log_n: 14, bits: 49, limbs: 8, special: 1, dnum: 8 },
    Set { name: "V50", log_n: 16, bits: 50, limbs: 28, special: 7, dnum: 4 },
    Set { name: "V", log_n: 16, bits: 55, limbs: 24, special: 8, dnum: 3 },
];

impl Set {
    fn lowering(&self, name: &str) -> Result<Lowering, LowerError> {
        let step = 2u64 << self.log_n;
        let candidates = (1..).filter_map(|i| Modulus::new((1 << self.bits) + 1 - i * step).ok());
        let primes: Vec<Modulus> = candidates.take(self.limbs + self.special).collect();
        let (q, p) = primes.split_at(self.limbs);
        Lowering::new(name, self.log_n, q, p, self.limbs.div_ceil(self.dnum))
    }

    fn poly(&self, low: &mut Lowering, name: &str) -> Vec<Operand> {
        let moduli = low.basis.q().to_vec();
        low.builder.input(name, InputClass::Data, Domain::Eval, &moduli)
    }

    fn key(&self, low: &mut Lowering) -> Result<KeyInputs, LowerError> {
        let names: Vec<String> =
            (0..self.dnum).flat_map(|j| ["b", "a"].map(|part| format!("key_{part}{j}"))).collect();
        low.key_inputs(&names, self.limbs)
    }

    fn program(&self, operation: &str) -> Result<LimbProgram, LowerError> {
        let mut low = self.lowering(operation)?;
        let [a, b, c] = ["a", "b", "c"].map(|name| self.poly(&mut low, name));
        let results: Vec<Vec<Operand>> = match operation {
            "relin" => {
                let key = self.key(&mut low)?;
                low.relinearise([&a, &b, &c], &key, false)?.into()
            }
            "rotate" => {
                let key = self.key(&mut low)?;
                low.rotate([&a, &b], Rotation { galois: 5, key: &key, rescale: false })?.into()
            }
            "rescale" => vec![low.rescale(&a)?, low.rescale(&b)?],
            _ => {
                let d = self.poly(&mut low, "d");
                low.tensor([&a, &b], [&c, &d])?.into()
            }
        };
        for (i, limbs) in results.iter().enumerate() {
            low.output(format!("y{i}"), limbs);
        }
        low.finish()
    }
}

/// Least and median time of a run in microseconds.
fn time(executable: &dyn Executable) -> Result<(f64, f64), Failure> {
    let program = executable.program();
    let limbs = inputs(program, 1);
    let inputs: Vec<&[u64]> = limbs.iter().map(Vec::as_slice).collect();
    let mut out = vec![vec![0; program.n()]; program.output_types().len()];
    let mut outputs: Vec<&mut [u64]> = out.iter_mut().map(Vec::as_mut_slice).collect();
    let begin = Instant::now();
    let mut times = Vec::new();
    while times.len() < 10 || begin.elapsed().as_secs_f64() < 2.0 {
        let start = Instant::now();
        executable.run(&inputs, &mut outputs)?;
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    Ok((times[0], times[times.len() / 2]))
}

fn main() -> Result<(), Failure> {
    let threads: usize = std::env::args().nth(1).map_or(Ok(1), |s| s.parse())?;
    let part = std::env::args().nth(2).unwrap_or_default();
    let pool = ThreadPoolBuilder::new().num_threads(threads).build()?;
    let cpu = Cpu::new()?.on_pool(Arc::new(pool));
    println!("{} on {threads} threads; microseconds, least and median", cpu.isa());
    for set in &SETS {
        for operation in ["mul_ct_ct", "rescale", "relin", "rotate"] {
            let name = format!("{operation}/{}", set.name);
            if !name.contains(&part) {
                continue;
            }
            let executable = cpu.prepare(&set.program(operation)?)?;
            let (least, median) = time(&*executable)?;
            println!("{name:16} {least:10.1} {median:10.1}");
        }
    }
    Ok(())
}
