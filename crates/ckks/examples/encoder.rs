//! Prints the speed of the encoder: `RAYON_NUM_THREADS=1 cargo run --release -p ringmill-ckks --example encoder`.

use num_complex::Complex64;
use ringmill_ckks::{Encoder, Scale};
use ringmill_ring::{Domain, LimbRing, Poly, primes};
use std::time::Instant;

fn report(what: &str, mut f: impl FnMut()) {
    f();
    let mut times: Vec<f64> = (0..31)
        .map(|_| {
            let start = Instant::now();
            f();
            start.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("{what:<44} min {:9.1} µs  median {:9.1} µs", times[0], times[15]);
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Set III is N = 2^14 with 8 limbs, set V N = 2^16 with 24, V50 the same with 28 limbs below 2^50.
    for (name, log_n, limbs, bits) in [("III", 14, 8, 50), ("V", 16, 24, 54), ("V50", 16, 28, 50)] {
        let encoder = Encoder::new(log_n)?;
        let rings = primes::of_bits(bits, log_n, limbs, &[])?
            .into_iter()
            .map(|q| LimbRing::new(log_n, q))
            .collect::<Result<Vec<_>, _>>()?;
        let slots = encoder.max_slots();
        let values: Vec<Complex64> =
            (0..slots).map(|i| Complex64::from_polar(0.9, (i * i) as f64 * 0.37)).collect();
        let mut poly = Poly::zeros(encoder.n(), limbs, Domain::Evaluation);
        println!("set {name}: N = 2^{log_n}, {limbs} limbs of {bits} bits, {}", rings[0].isa());
        for log_scale in [40, 50, 60, 90] {
            let scale = Scale::pow2(log_scale);
            report(&format!("encode, scale 2^{log_scale}"), || {
                encoder.encode_into(&values[..], slots, &scale, &rings, &mut poly).expect("valid input");
            });
            report(&format!("  without the transforms modulo q, 2^{log_scale}"), || {
                encoder
                    .encode_coefficients_into(&values[..], slots, &scale, &rings, &mut poly)
                    .expect("valid input");
            });
            encoder.encode_into(&values[..], slots, &scale, &rings, &mut poly)?;
            let mut out = vec![Complex64::ZERO; slots];
            report(&format!("decode, scale 2^{log_scale}"), || {
                encoder.decode_into(&poly, &scale, &rings, &mut out).expect("valid input");
            });
            encoder.encode_coefficients_into(&values[..], slots, &scale, &rings, &mut poly)?;
            report(&format!("  without the transforms modulo q, 2^{log_scale}"), || {
                encoder.decode_into(&poly, &scale, &rings, &mut out).expect("valid input");
            });
        }
    }
    Ok(())
}
