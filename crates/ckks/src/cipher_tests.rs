//! Encryption and decryption against integer arithmetic.

use num_bigint::BigInt;
use ringmill_ring::{Buffer, Domain, Poly, Pool};
use zeroize::Zeroizing;

use crate::ciphertext::{Ciphertext, Meta};
use crate::encoder::Encoder;
use crate::error::CkksError;
use crate::keys::{KeyGenerator, SecretKey};
use crate::noise::Noise;
use crate::params::{Level, Params, ParamsLiteral};
use crate::scale::Scale;
use crate::testing::{coefficients, message, plaintext, poly, product, randomness, rms, toy};

fn secret(params: &Params) -> SecretKey {
    KeyGenerator::with_randomness(params, randomness(3)).secret_key().unwrap()
}

fn difference(a: &[BigInt], b: &[BigInt]) -> Vec<BigInt> {
    a.iter().zip(b).map(|(x, y)| x - y).collect()
}

#[test]
fn decryption_undoes_encryption_up_to_the_predicted_error() {
    let params = toy();
    let s = secret(&params);
    let public = KeyGenerator::with_randomness(&params, randomness(4)).public_key(&s).unwrap();
    let m = message(params.n(), 28, 5);
    for level in (0..=3).map(Level::new) {
        let plain = plaintext(&params, &m, level, Scale::pow2(28));
        let moduli = params.q_at(level);
        assert_eq!(coefficients(plain.poly(), moduli), m);
        let seeded = s.encrypt_seeded(&plain, &mut randomness(9)).unwrap();
        let by_secret = seeded.expand();
        assert!(seeded.bytes() < by_secret.bytes() / 2 + 64);
        let by_public = public.encrypt(&plain, &mut randomness(9)).unwrap();
        for c in [by_secret, by_public] {
            c.check_canonical().unwrap();
            assert_eq!((c.level(), c.scale(), c.slots()), (level, plain.scale(), plain.slots()));
            let back = s.decrypt(&c).unwrap();
            let std = rms(&difference(&coefficients(back.poly(), moduli), &m));
            let predicted = c.noise().std() * c.scale().to_f64();
            assert!((std / predicted).log2().abs() < 0.2, "{std} {predicted}");
        }
    }
}

#[test]
fn what_decryption_finds_stays_in_no_pool() {
    let (params, pool) = (toy(), Pool::new(1 << 24));
    let (s, level) = (secret(&params), Level::new(3));
    let plain = plaintext(&params, &message(params.n(), 28, 5), level, Scale::pow2(28));
    let cipher = s.encrypt_seeded(&plain, &mut randomness(9)).unwrap().expand();
    let pooled = |from: &Poly| {
        let mut to = Poly::zeros_in(&pool, params.n(), params.limbs(level), Domain::Evaluation);
        to.words_mut().copy_from_slice(from.words());
        to
    };
    let polys = cipher.polys().iter().map(pooled).collect();
    let cipher = Ciphertext::from_parts(&params, polys, cipher.meta().clone(), cipher.identity()).unwrap();
    let rings: Vec<_> = (0..params.limbs(level)).map(|i| params.ring(i).unwrap()).collect();
    let encoder = Encoder::new(params.log_n()).unwrap().with_pool(pool.clone());
    let found = s.decrypt(&cipher).unwrap();
    encoder.decode(found.poly(), found.slots(), found.scale(), &rings).unwrap();
    drop(found);
    assert!(pool.free_bytes() > 0);
    let lengths = [params.n() * params.limbs(level), params.n(), 4 * cipher.slots()];
    let free: Vec<_> =
        lengths.iter().flat_map(|&len| [len; 8]).map(|len| Buffer::unspecified_in(&pool, len)).collect();
    assert_eq!(pool.free_bytes(), 0, "all have been taken");
    assert!(free.iter().all(|buffer| buffer.iter().all(|&word| word == 0)));
}

#[test]
fn three_polynomials_decrypt_by_the_square_of_the_secret() {
    let params = toy();
    let s = secret(&params);
    let moduli = params.q_moduli();
    let small: Vec<BigInt> = s.expose_coefficients().iter().map(|&c| BigInt::from(c)).collect();
    let c: Vec<_> = (0..3).map(|i| message(params.n(), 60, i)).collect();
    let s2 = product(&small, &small);
    let want: Vec<BigInt> = c[0]
        .iter()
        .zip(product(&small, &c[1]))
        .zip(product(&s2, &c[2]))
        .map(|((a, b), c)| a + b + c)
        .collect();
    let meta = Meta { level: params.max_level(), scale: Scale::ONE, slots: 4, noise: Noise::exact(1.0, 0) };
    let polys = c.iter().map(|c| poly(c, moduli)).collect();
    let cipher = Ciphertext::from_parts(&params, polys, meta, None).unwrap();
    assert_eq!(coefficients(s.decrypt(&cipher).unwrap().poly(), moduli), want);
}

#[test]
fn another_key_decrypts_to_noise_and_ciphertexts_differ() {
    let params = toy();
    let plain = plaintext(&params, &message(params.n(), 20, 1), Level::new(1), Scale::pow2(20));
    let s = secret(&params);
    let t = KeyGenerator::with_randomness(&params, randomness(8)).secret_key().unwrap();
    let small = Zeroizing::new(t.expose_coefficients().to_vec());
    let unnamed = SecretKey::from_coefficients(&params, small, None).unwrap();
    let mut r = randomness(1);
    let (a, b) = (s.encrypt(&plain, &mut r).unwrap(), s.encrypt(&plain, &mut r).unwrap());
    assert_ne!(a, b);
    let garbage = coefficients(unnamed.decrypt(&a).unwrap().poly(), params.q_at(Level::new(1)));
    assert!(rms(&garbage) > 2f64.powi(60));
}

#[test]
fn contexts_do_not_mix() {
    let params = toy();
    let other = Params::new(&ParamsLiteral::from_bits(10, &[30, 30], &[30], 2).insecure()).unwrap();
    let plain = plaintext(&params, &message(params.n(), 20, 1), Level::new(1), Scale::pow2(20));
    let s = secret(&other);
    let refuse =
        |e: CkksError| assert!(e.to_string().contains("use keys and ciphertexts of one context"), "{e}");
    refuse(s.encrypt(&plain, &mut randomness(1)).unwrap_err());
    let public = KeyGenerator::with_randomness(&other, randomness(4)).public_key(&s).unwrap();
    refuse(public.encrypt(&plain, &mut randomness(1)).unwrap_err());
    let cipher = secret(&params).encrypt(&plain, &mut randomness(1)).unwrap();
    refuse(s.decrypt(&cipher).unwrap_err());
}

#[test]
fn wrong_shapes_are_refused() {
    let params = toy();
    let meta = |level, slots| Meta {
        level: Level::new(level),
        scale: Scale::pow2(20),
        slots,
        noise: Noise::exact(1.0, 0),
    };
    let zero = |limbs, domain| Poly::zeros(params.n(), limbs, domain);
    let make = |polys, meta| Ciphertext::from_parts(&params, polys, meta, None).unwrap_err();
    let pair = |limbs| vec![zero(limbs, Domain::Evaluation), zero(limbs, Domain::Evaluation)];
    assert!(matches!(make(pair(2)[..1].to_vec(), meta(1, 4)), CkksError::PolyCount { got: 1 }));
    assert!(matches!(make([pair(2), pair(2)].concat(), meta(1, 4)), CkksError::PolyCount { got: 4 }));
    let above = make(pair(5), meta(4, 4));
    assert!(matches!(above, CkksError::LevelRange { .. }));
    assert!(
        above.to_string().ends_with("; take a level from 0 to 3, or parameters of more primes"),
        "{above}"
    );
    for slots in [0, 3, 1024] {
        assert!(matches!(make(pair(2), meta(1, slots)), CkksError::Slots { .. }));
    }
    let e = make(pair(3), meta(1, 4));
    assert!(e.to_string().contains("has 3 limbs of 1024 words in the evaluation domain"), "{e}");
    let coefficient = vec![zero(2, Domain::Evaluation), zero(2, Domain::Coefficient)];
    assert!(matches!(make(coefficient, meta(1, 4)), CkksError::Shape { index: 1, .. }));
    let mut bad = pair(2);
    bad[1].limb_mut(1)[7] = params.q_moduli()[1].value();
    let cipher = Ciphertext::from_parts(&params, bad, meta(1, 4), None).unwrap();
    assert!(matches!(cipher.check_canonical(), Err(CkksError::NotCanonical { limb: 1, .. })));
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let params = toy();
    let plain = plaintext(&params, &message(params.n(), 20, 1), Level::new(3), Scale::pow2(20));
    let all = || {
        let mut g = KeyGenerator::with_randomness(&params, randomness(6));
        let s = g.secret_key().unwrap();
        let (public, relin) = (g.public_key(&s).unwrap(), g.relin_key(&s).unwrap());
        let mut r = randomness(7);
        let (a, b) = (s.encrypt(&plain, &mut r).unwrap(), public.encrypt(&plain, &mut r).unwrap());
        (s.decrypt(&a).unwrap(), a, b, public, relin)
    };
    let with = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(all);
    let one = with(1);
    assert!(one == with(2) && one == with(5));
}
