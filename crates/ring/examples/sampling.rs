//! Prints the speed of every sampler on one core: `cargo run --release -p ringmill-ring --example sampling`.

use ringmill_ring::Modulus;
use ringmill_ring::sample::{SecretRng, Seed, small_to_residues, uniform};
use std::time::Instant;

fn report(what: &str, n: usize, mut f: impl FnMut()) {
    let mut times: Vec<f64> = (0..101)
        .map(|_| {
            let start = Instant::now();
            f();
            start.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let (best, median) = (times[0], times[50]);
    let speed = n as f64 * 8.0 / median / 1e9;
    println!(
        "{what:<24} min {:8.1} µs  median {:8.1} µs  {speed:5.2} GB/s of words",
        best * 1e6,
        median * 1e6
    );
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let n = 1 << 16;
    let q = Modulus::new(0x0020_0000_010c_0001)?;
    let (mut words, mut small) = (vec![0u64; n], vec![0i8; n]);
    let seed = Seed::from_os()?;
    let mut rng = SecretRng::from_os()?;
    println!("N = {n}");
    report("uniform", n, || uniform(&seed, b"example", 0, q, &mut words));
    report("ternary", n, || rng.ternary(&mut small));
    report("ternary of weight 192", n, || rng.ternary_of_weight(192, &mut small).expect("192 ≤ N"));
    report("gaussian", n, || rng.gaussian(&mut small));
    report("residues of small", n, || small_to_residues(&small, q, &mut words).expect("both hold N"));
    Ok(())
}
