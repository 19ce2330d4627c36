//! Does one kernel a number of times, for tools that count instructions: the difference of two numbers of times is the
//! kernel alone. `RINGMILL_ISA` says on which lanes.
//!
//! `cargo run --release -p ringmill-ring --example repeat KERNEL LOG_N BITS TIMES`, KERNEL one of `forward`, `inverse` and
//! `inner` (two inner products of eight limbs with the same left factors, as in a key switch).

use ringmill_ring::{LimbRing, Modulus, dense::Packing};
use std::{error::Error, hint::black_box};

const TERMS: u64 = 8;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kernel, log_n, bits, times] = &arguments[..] else {
        return Err("usage: repeat KERNEL LOG_N BITS TIMES".into());
    };
    let (log_n, bits, times): (u32, u32, usize) = (log_n.parse()?, bits.parse()?, times.parse()?);
    let below = |i: u64| Modulus::new((1u64 << bits) + 1 - (i << (log_n + 1)));
    let q = (1..).find_map(|i| below(i).ok()).ok_or("no such prime")?;
    let ring = LimbRing::new(log_n, q)?;
    let words = ring.n() as u64;
    let limb = |seed: u64| -> Vec<u64> {
        (0..words).map(|i| q.reduce((i + seed * words).wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect()
    };
    let limbs: Vec<Vec<u64>> = (0..3 * TERMS).map(limb).collect();
    let [a, b, c] = [0, 1, 2].map(|part| -> Vec<&[u64]> {
        limbs.iter().skip(part * TERMS as usize).take(TERMS as usize).map(|limb| &limb[..]).collect()
    });
    let [mut first, mut second] = [limb(99), limb(100)];
    for _ in 0..times {
        match &kernel[..] {
            "forward" => ring.forward(black_box(&mut first))?,
            "inverse" => ring.inverse(black_box(&mut first))?,
            "inner" => {
                let out = [&mut first[..], &mut second[..]];
                ring.dot_factors(out, black_box(&a), 0, [&b, &c], Packing::Words)?;
            }
            _ => return Err(format!("no kernel is called {kernel}; take forward, inverse or inner").into()),
        }
    }
    println!("{} {} {}", ring.isa(), ring.plan().arithmetic(), black_box(first)[0]);
    Ok(())
}
