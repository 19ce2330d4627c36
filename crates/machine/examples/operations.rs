//! Times the CPU machine on single operations, lowered as programs are: relinearisation, rotation, rescaling and the
//! tensor product at the named sets.
//!
//! `cargo run --release -p ringmill-machine --example operations [threads] [name part]`

use std::sync::Arc;
use std::time::Instant;

use rayon::ThreadPoolBuilder;
use ringmill_machine::{Cpu, Executable, Machine};
use ringmill_program::limb::LimbProgram;
use ringmill_program::limb::random::inputs;
use ringmill_program::lower::{LowerError, Operation, single};
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
    fn program(&self, operation: Operation) -> Result<LimbProgram, LowerError> {
        let step = 2u64 << self.log_n;
        let candidates = (1..).filter_map(|i| Modulus::new((1 << self.bits) + 1 - i * step).ok());
        let primes: Vec<Modulus> = candidates.take(self.limbs + self.special).collect();
        single::program(operation, self.log_n, primes.split_at(self.limbs), self.limbs.div_ceil(self.dnum))
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
        use Operation::{Relinearise, Rescale, Rotate, Tensor};
        for operation in [Tensor, Rescale, Relinearise, Rotate] {
            let name = format!("{operation}/{}", set.name);
            if !name.contains(&part) {
                continue;
            }
            let executable = cpu.prepare(&set.program(operation)?)?;
            let (least, median) = time(&*executable)?;
            println!("{name:20} {least:10.1} {median:10.1}");
        }
    }
    Ok(())
}
