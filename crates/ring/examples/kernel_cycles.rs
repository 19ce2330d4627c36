//! Prints what each limb kernel costs, in core cycles a word (or a product), on every instruction set of this CPU.
//!
//! `cargo run --release -p ringmill-ring --example kernel_cycles [log_n]`

use ringmill_ring::{ConvertConstants, Isa, LimbRing, Modulus, Permutation, RingError, SourceBasis};
use std::{hint::black_box, time::Instant};

/// Core clock in GHz: a chain of dependent additions takes one cycle each.
fn clock() -> f64 {
    let mut x = 1u64;
    let best = (0..20)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..1_000_000 {
                x = black_box(x).wrapping_add(1);
                x ^= x << 1;
                x = x.rotate_left(3);
            }
            start.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min);
    black_box(x);
    best
}

fn least(mut f: impl FnMut()) -> f64 {
    (0..30)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..10 {
                f();
            }
            start.elapsed().as_secs_f64() / 10.0
        })
        .fold(f64::INFINITY, f64::min)
}

/// The greatest primes ≡ 1 mod 2N below 2^bits.
fn primes(bits: u32, log_n: u32, count: usize) -> Vec<Modulus> {
    let step = 2u64 << log_n;
    (1..).filter_map(|i| Modulus::new((1u64 << bits) + 1 - i * step).ok()).take(count).collect()
}

fn main() -> Result<(), RingError> {
    let log_n = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(12);
    let _ = clock();
    let ghz = std::env::var("GHZ").ok().and_then(|s| s.parse().ok()).unwrap_or(3.7);
    println!("N = 2^{log_n}, cycles a word at {ghz} GHz (set GHZ); dot and convert: a product of 8");
    for isa in Isa::available().filter(|isa| !isa.is_emulated()) {
        for bits in [50, 55, 60] {
            let q = primes(bits, log_n, 10);
            let ring = LimbRing::with_isa(log_n, q[0], isa)?;
            let n = ring.n();
            let limbs: Vec<Vec<u64>> = (0..8)
                .map(|j| (0..n as u64).map(|i| (i * 0x9e37_79b9_7f4a_7c15 + j) % q[9].value()).collect())
                .collect();
            let a: Vec<&[u64]> = limbs.iter().map(|v| &v[..]).collect();
            let from = SourceBasis::new(&q[1..9])?;
            let constants = ConvertConstants::new(&from, q[0]);
            let permutation = Permutation::new(log_n, 5)?;
            let mut out = vec![0; n];
            let mut line = format!("{isa:8} {bits} bits:");
            let mut show = |name: &str, per: f64, f: &mut dyn FnMut(&mut [u64])| {
                let cycles = least(|| f(black_box(&mut out))) * ghz * 1e9 / n as f64 / per;
                line += &format!(" {name} {cycles:.2}");
            };
            show("add", 1.0, &mut |out| ring.add(out, a[0], a[1]).unwrap());
            show("mul", 1.0, &mut |out| ring.mul(out, a[0], a[1]).unwrap());
            show("mul_scalar", 1.0, &mut |out| ring.mul_scalar(out, a[0], 12345).unwrap());
            show("sub_mul", 1.0, &mut |out| ring.sub_mul_scalar(out, a[0], a[1], 12345).unwrap());
            show("dot", 8.0, &mut |out| ring.dot(out, &a, &a).unwrap());
            show("quotient", 8.0, &mut |out| ring.quotient(out, &a, &from).unwrap());
            show("convert", 9.0, &mut |out| ring.convert(out, &a, a[0], &constants).unwrap());
            show("lift", 1.0, &mut |out| ring.lift(out, a[0], q[1]).unwrap());
            show("permute", 1.0, &mut |out| ring.automorphism_eval(out, a[0], &permutation).unwrap());
            show("ntt", (n * log_n as usize) as f64 / 2.0 / n as f64, &mut |out| ring.forward(out).unwrap());
            show("intt", (n * log_n as usize) as f64 / 2.0 / n as f64, &mut |out| ring.inverse(out).unwrap());
            println!("{line}");
        }
    }
    Ok(())
}
