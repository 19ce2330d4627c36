//! What the hardware's encryption engine is compared with (`rtl/encryptor/test/jobs.h`): a chain of two primes, and one
//! object of every mode with the seeds that it was drawn from.
//!
//! `cargo run -p ringmill-ckks --example encryption_vectors -- LOG_N SEED`

use std::error::Error;
use std::fmt::Display;

use ringmill_ckks::noise::Noise;
use ringmill_ckks::randomness::{Purpose, Seeds};
use ringmill_ckks::{Ciphertext, KeyGenerator, Meta, Params, ParamsLiteral, Plaintext, Randomness, Scale};
use ringmill_ring::sample::{SecretSeed, Seed, uniform};
use ringmill_ring::{Domain, Poly, reference};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let log_n: u32 = args.next().ok_or("log2 N is missing")?.parse()?;
    let seed: u8 = args.next().ok_or("a seed below 256 is missing")?.parse()?;
    let params = Params::new(&ParamsLiteral::from_bits(log_n, &[50, 40], &[50], 2).insecure())?;
    let randomness = || Randomness::from_seed(SecretSeed::from_bytes([seed; 32]));
    let mut keys = KeyGenerator::with_randomness(&params, randomness());
    let secret = keys.secret_key()?;
    let dividing = keys.public_key(&secret)?;
    let public = dividing.undivided();

    line("log_n", [log_n]);
    for q in params.q_moduli() {
        line("prime", [q.value(), q.psi(log_n)?]);
    }
    let p = params.p_moduli()[0];
    line("extra", [p.value(), p.psi(log_n)?]);
    line("s", secret.expose_coefficients());

    let plain = random_plaintext(&params, seed)?;
    let message = coefficients(&plain, log_n)?;

    job(0, &randomness().seeds(Purpose::PublicEncryption));
    limbs("message", &message);
    limbs("key0", public.b().limbs());
    limbs("key1", public.a().limbs());
    let cipher = public.encrypt(&plain, &mut randomness())?;
    parts(&cipher);

    job(1, &randomness().seeds(Purpose::SecretEncryption));
    limbs("message", &message);
    limbs("part0", secret.encrypt_seeded(&plain, &mut randomness())?.c0().limbs());

    job(2, &randomness().seeds(Purpose::PublicKey));
    limbs("part0", public.b().limbs());

    let nothing = Seeds { secret: SecretSeed::from_bytes([0; 32]), public: Seed::from_bytes([0; 32]) };
    job(3, &nothing);
    limbs("key0", cipher.polys()[1].limbs());
    limbs("key1", cipher.polys()[0].limbs());
    limbs("part0", secret.decrypt(&cipher)?.poly().limbs());

    job(4, &randomness().seeds(Purpose::PublicEncryption));
    limbs("message", &message);
    limbs("key0", dividing.b().limbs());
    limbs("key1", dividing.a().limbs());
    parts(&dividing.encrypt(&plain, &mut randomness())?);
    Ok(())
}

/// A plaintext of random residues: encryption does not look at them.
fn random_plaintext(params: &Params, seed: u8) -> Result<Plaintext, Box<dyn Error>> {
    let mut poly = Poly::zeros(params.n(), params.q_moduli().len(), Domain::Evaluation);
    for (limb, (i, &q)) in poly.limbs_mut().zip((0..).zip(params.q_moduli())) {
        uniform(&Seed::from_bytes([seed; 32]), b"message", i, q, limb);
    }
    let (level, scale) = (params.max_level(), Scale::pow2(20));
    let meta = Meta { level, scale, slots: params.slots(), noise: Noise::exact(1.0, 1) };
    Ok(Plaintext::from_parts(params, poly, meta)?)
}

/// Its limbs as coefficients, by the scalar transform.
fn coefficients(plain: &Plaintext, log_n: u32) -> Result<Vec<Vec<u64>>, Box<dyn Error>> {
    let mut all: Vec<Vec<u64>> = plain.poly().limbs().map(<[u64]>::to_vec).collect();
    for (limb, q) in all.iter_mut().zip(plain.params().q_moduli()) {
        reference::inverse(limb, *q, q.psi(log_n)?);
    }
    Ok(all)
}

fn job(mode: u32, seeds: &Seeds) {
    line("job", [mode]);
    let words = seeds.secret.expose().chunks_exact(4).chain(seeds.public.as_bytes().chunks_exact(4));
    line("seeds", words.map(|word| word.iter().rev().fold(0u64, |x, byte| x << 8 | u64::from(*byte))));
}

fn parts(cipher: &Ciphertext) {
    for (name, part) in ["part0", "part1"].into_iter().zip(cipher.polys()) {
        limbs(name, part.limbs());
    }
}

fn limbs<T: AsRef<[u64]>>(name: &str, limbs: impl IntoIterator<Item = T>) {
    limbs.into_iter().for_each(|limb| line(name, limb.as_ref()));
}

fn line<T: Display>(name: &str, words: impl IntoIterator<Item = T>) {
    let words: Vec<String> = words.into_iter().map(|word| word.to_string()).collect();
    println!("{name} {}", words.join(" "));
}
