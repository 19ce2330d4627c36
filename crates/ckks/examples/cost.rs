//! Times and memory of keys and encryption: `cargo run --release -p ringmill-ckks --example cost [set]...`
//!
//! One line a step: the least of five in milliseconds, then resident memory, now and at most.

use std::time::Instant;

use ringmill_ckks::file::Stored;
use ringmill_ckks::{KeyGenerator, Meta, NamedSet, Noise, Params, Plaintext, Randomness};
use ringmill_ring::{Domain, Poly};

fn time<T>(what: &str, mut f: impl FnMut() -> T) -> T {
    let mut best = f64::INFINITY;
    let mut last = None;
    for _ in 0..5 {
        drop(last.take());
        let start = Instant::now();
        last = Some(f());
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("  {what:<28} {:9.3} ms{}", best * 1e3, memory());
    last.expect("five runs")
}

/// Resident memory now and at its peak, if the system reports it.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line =
        |key: &str| status.lines().find_map(|l| l.strip_prefix(key)?.split_whitespace().next()?.parse().ok());
    let of = |key| line(key).map_or(String::new(), |kib: u64| format!("{:8} MiB", kib >> 10));
    format!("{}{}", of("VmRSS:"), of("VmHWM:"))
}

fn run(set: NamedSet) -> Result<(), Box<dyn std::error::Error>> {
    let start = Instant::now();
    let params = Params::named(set)?;
    for i in 0..params.key_limbs() {
        params.ring(i)?;
    }
    println!(
        "{set}: {params}\n  parameters and tables        {:9.3} ms",
        start.elapsed().as_secs_f64() * 1e3
    );
    println!("{}", memory());
    let mut keys = KeyGenerator::new(&params)?;
    let mut random = Randomness::from_os()?;
    let secret = time("secret key", || keys.secret_key().expect("drawn"));
    let public = time("public key", || keys.public_key(&secret).expect("drawn"));
    let relin = time("relinearisation key", || keys.relin_key(&secret).expect("drawn"));
    let level = params.max_level();
    let poly = Poly::zeros(params.n(), params.limbs(level), Domain::Evaluation);
    let noise = Noise::encoded(1.0, &params.default_scale(), 0);
    let meta = Meta { level, scale: params.default_scale(), slots: params.slots(), noise };
    let plain = Plaintext::from_parts(&params, poly, meta)?;
    time("encrypt, secret key, half", || secret.encrypt_seeded(&plain, &mut random).expect("encrypts"));
    time("encrypt, secret key", || secret.encrypt(&plain, &mut random).expect("encrypts"));
    let cipher = time("encrypt, public key", || public.encrypt(&plain, &mut random).expect("encrypts"));
    time("decrypt", || secret.decrypt(&cipher).expect("decrypts"));
    let bytes = time("write ciphertext", || cipher.to_bytes().expect("written"));
    time("read ciphertext", || ringmill_ckks::Ciphertext::from_bytes(&params, &bytes).expect("read"));
    println!("  key {} bytes, ciphertext {} bytes, as file {}", relin.0.bytes(), cipher.bytes(), bytes.len());
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let names = if names.is_empty() { vec!["II".into(), "III".into(), "V".into()] } else { names };
    for name in names {
        run(name.parse()?)?;
    }
    Ok(())
}
