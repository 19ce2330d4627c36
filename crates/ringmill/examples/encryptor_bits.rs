//! Holds the simulated encryption engine to software: every mode of a client, from the same randomness.
//!
//! `cargo run -p ringmill --example encryptor_bits -- LIBRARY SEED`

use std::error::Error;
use std::path::Path;

use ringmill::ckks::noise::Noise;
use ringmill::ckks::{KeyGenerator, Level, Meta, Params, ParamsLiteral, Plaintext, Randomness, Scale};
use ringmill::encryptor::Encryptor;
use ringmill::ring::sample::{SecretSeed, Seed, uniform};
use ringmill::ring::{Domain, Poly};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let engine = Encryptor::load(Path::new(&args.next().ok_or("the library is missing")?))?;
    let seed: u8 = args.next().ok_or("a seed below 256 is missing")?.parse()?;
    let built = engine.built();
    // Primes next to 2^b may be above it.
    let word = |i| if i == 0 { built.word - 1 } else { built.word_rest - 1 };
    let bits: Vec<u32> = (0..built.limbs).map(word).collect();
    // One prime more than the engine has limbs, so that its level is not the greatest.
    let q = [&bits[..], &[built.word_rest - 2]].concat();
    let params =
        Params::new(&ParamsLiteral::from_bits(built.log_n, &q, &[built.word - 1], q.len()).insecure())?;
    let randomness = || Randomness::from_seed(SecretSeed::from_bytes([seed; 32]));
    let mut keys = KeyGenerator::with_randomness(&params, randomness());
    let secret = keys.secret_key()?;
    let public = keys.public_key(&secret)?;
    let plain = random_plaintext(&params, Level::new(built.limbs - 1), seed)?;

    for key in [public.clone(), public.undivided()] {
        let (cipher, cycles) = engine.encrypt(&key, &plain, &mut randomness())?;
        if cipher != key.encrypt(&plain, &mut randomness())? {
            return Err("an encryption under the public key differs".into());
        }
        println!("{} {cycles}", if key.divides() { "divided" } else { "public" });
    }
    let (cipher, cycles) = engine.encrypt_seeded(&secret, &plain, &mut randomness())?;
    if cipher != secret.encrypt_seeded(&plain, &mut randomness())? {
        return Err("an encryption under the secret key differs".into());
    }
    println!("symmetric {cycles}");
    let cipher = cipher.expand();
    let (plain, cycles) = engine.decrypt(&secret, &cipher)?;
    if plain.poly() != secret.decrypt(&cipher)?.poly() {
        return Err("a decryption differs".into());
    }
    println!("decrypt {cycles}");
    Ok(())
}

/// A plaintext of random residues: encryption does not look at them.
fn random_plaintext(params: &Params, level: Level, seed: u8) -> Result<Plaintext, Box<dyn Error>> {
    let mut poly = Poly::zeros(params.n(), params.limbs(level), Domain::Evaluation);
    for (limb, (i, &q)) in poly.limbs_mut().zip((0..).zip(params.q_moduli())) {
        uniform(&Seed::from_bytes([seed; 32]), b"message", i, q, limb);
    }
    let meta = Meta { level, scale: Scale::pow2(20), slots: params.slots(), noise: Noise::exact(1.0, 1) };
    Ok(Plaintext::from_parts(params, poly, meta)?)
}
