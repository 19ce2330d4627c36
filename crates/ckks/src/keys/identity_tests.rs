//! Whose keys and ciphertexts are: by name, and by proof.

use ringmill_ring::GaloisElement;
use zeroize::Zeroizing;

use super::*;
use crate::ciphertext::{Ciphertext, Meta};
use crate::error::CkksError;
use crate::params::{Level, Params};
use crate::scale::Scale;
use crate::testing::{message, plaintext, randomness, toy};

fn rotation(k: i64) -> GaloisElement {
    GaloisElement::rotation(k, 10).unwrap()
}

/// A generator, a secret key of it, and all evaluation keys.
fn client(params: &Params, seed: u8) -> (KeyGenerator, SecretKey, EvaluationKeys) {
    let mut generator = KeyGenerator::with_randomness(params, randomness(seed));
    let secret = generator.secret_key().unwrap();
    let keys = generator.evaluation_keys(&secret, &[1, -3], true).unwrap();
    let encapsulation = generator.encapsulation_key(&secret).unwrap();
    (generator, secret, keys.with_encapsulation(encapsulation).unwrap())
}

/// The same key, as an old file gives it.
fn unnamed(secret: &SecretKey) -> SecretKey {
    let small = Zeroizing::new(secret.expose_coefficients().to_vec());
    SecretKey::from_coefficients(secret.params(), small, None).unwrap()
}

/// That two things are of different secret keys, which the message names, with both.
fn refused<T: std::fmt::Debug>(result: Result<T, CkksError>, things: [&str; 2], clients: [&SecretKey; 2]) {
    let error = result.unwrap_err();
    assert!(matches!(error, CkksError::KeysMismatch { .. }), "{error}");
    let [a, b] = clients.map(|secret| secret.identity().unwrap());
    let outcome =
        format!("the {} and the {} are of different secret keys, {a} and {b}: ", things[0], things[1]);
    assert!(error.to_string().starts_with(&outcome), "{error}\n{outcome}");
}

#[test]
fn an_identity_follows_from_the_seed_and_not_from_the_coefficients() {
    let params = toy();
    for seed in [1, 7] {
        let mut generator = KeyGenerator::with_randomness(&params, randomness(seed));
        for number in 0u64..3 {
            let secret = generator.secret_key().unwrap();
            // The public seed of an object, from its definition.
            let mut hasher =
                blake3::Hasher::new_derive_key("ringmill 2026-12 randomness: secret key: public polynomials");
            hasher.update(&[seed; 32]).update(&number.to_le_bytes());
            let digits = hasher.finalize().to_hex()[..16].to_owned();
            assert_eq!(secret.identity().unwrap().to_string(), digits);
        }
    }
    assert_eq!(KeyIdentity::from_bytes([0; 8]), None);
    let identity = KeyIdentity::from_bytes([0, 1, 2, 3, 4, 5, 6, 0xff]).unwrap();
    let (outcome, shown) = (identity.to_string(), format!("{identity:?}"));
    assert_eq!((outcome.as_str(), shown.as_str()), ("00010203040506ff", "KeyIdentity(\"00010203040506ff\")"));
    let mut os = KeyGenerator::new(&params).unwrap();
    assert_ne!(os.secret_key().unwrap().identity(), os.secret_key().unwrap().identity());
}

#[test]
fn whatever_is_made_with_a_secret_key_has_its_identity() {
    let params = toy();
    let (mut generator, secret, keys) = client(&params, 1);
    let identity = secret.identity();
    assert!(identity.is_some());
    let public = generator.public_key(&secret).unwrap();
    let mut more = keys.relin().unwrap().clone();
    let layout = KeyLayout { limbs: 2, special: 1, alpha: 1 };
    generator.extend_relin_key(&secret, &mut more, layout).unwrap();
    let each = keys.switch_keys().map(|(_, key)| key.identity());
    let forms = more.0.forms().map(KeyForm::identity);
    let half = keys.seeded();
    let others = [public.identity(), keys.encapsulation().unwrap().identity(), half.identity()];
    assert!(each.chain(forms).chain(others).all(|found| found == identity));
    let plain = plaintext(&params, &message(params.n(), 20, 1), Level::new(1), Scale::pow2(20));
    let mut r = randomness(2);
    let seeded = secret.encrypt_seeded(&plain, &mut r).unwrap();
    assert_eq!((seeded.identity(), seeded.expand().identity()), (identity, identity));
    let by_public = public.encrypt(&plain, &mut r).unwrap();
    assert_eq!(by_public.identity(), identity);
    let meta = Meta { slots: 4, ..by_public.meta().clone() };
    assert_eq!(by_public.with_meta(meta).unwrap().identity(), identity);
    assert_eq!(EvaluationKeys::new(None, GaloisKeys::new(&params)).unwrap().identity(), None);
    // Bare coefficients have none, and neither has what is made with them.
    let old = unnamed(&secret);
    let old_keys = generator.evaluation_keys(&old, &[2], false).unwrap();
    assert_eq!((old.identity(), old_keys.identity()), (None, None));
    assert_eq!(old.encrypt(&plain, &mut r).unwrap().identity(), None);
}

#[test]
fn a_ciphertext_is_decrypted_by_its_own_secret_key_or_one_without_a_name() {
    let params = toy();
    let ((mut generator, mine, _), (_, other, _)) = (client(&params, 1), client(&params, 2));
    let public = generator.public_key(&mine).unwrap();
    for level in (0..=3).map(Level::new) {
        let plain = plaintext(&params, &message(params.n(), 20, 1), level, Scale::pow2(20));
        let mut r = randomness(3);
        let (by_secret, by_public) =
            (mine.encrypt(&plain, &mut r).unwrap(), public.encrypt(&plain, &mut r).unwrap());
        for cipher in [by_secret, by_public] {
            let error = other.decrypt(&cipher).unwrap_err();
            let [expected, found] = [&mine, &other].map(|secret| secret.identity().unwrap());
            assert_eq!(error, CkksError::OtherSecret { expected, found });
            assert_eq!(
                error.to_string(),
                format!(
                    "the ciphertext is under secret key {expected}, and decrypts to noise with secret key {found}; give \
                     secret key {expected}"
                )
            );
            let decrypted = mine.decrypt(&cipher).unwrap();
            assert_eq!(unnamed(&mine).decrypt(&cipher).unwrap(), decrypted);
            let meta = cipher.meta().clone();
            let anonymous = Ciphertext::from_parts(&params, cipher.polys().to_vec(), meta, None).unwrap();
            assert_eq!(mine.decrypt(&anonymous).unwrap(), decrypted);
            assert!(other.decrypt(&anonymous).is_ok(), "nothing says whose it is");
        }
    }
}

#[test]
fn keys_of_two_secrets_make_no_set() {
    let params = toy();
    let ((mut generator, mine, keys), (mut others, other, other_keys)) =
        (client(&params, 1), client(&params, 2));
    let (relin, galois) = (keys.relin().unwrap(), keys.galois());
    let pair = [&mine, &other];
    let set = EvaluationKeys::new(Some(relin.clone()), other_keys.galois().clone());
    refused(set, ["relinearisation key", "Galois keys"], pair);
    let foreign = other_keys.encapsulation().unwrap().clone();
    refused(
        keys.clone().with_encapsulation(foreign.clone()),
        ["encapsulation key", "other keys"],
        [&other, &mine],
    );
    let none = GaloisKeys::new(&params);
    assert!(EvaluationKeys::new(None, none).unwrap().with_encapsulation(foreign).is_ok());
    let stranger = others.galois_key(&other, rotation(5)).unwrap();
    refused(galois.clone().insert(rotation(5), stranger), ["key set", "key"], pair);
    let layout = KeyLayout { limbs: 2, special: 1, alpha: 1 };
    let extended = others.extend_relin_key(&other, &mut relin.clone(), layout);
    refused(extended, ["switching key", "form"], pair);
    refused(others.extend_evaluation_keys(&other, &keys, &[layout]), ["switching key", "form"], pair);
    // What has no identity goes with all of one.
    let old = generator.galois_key(&unnamed(&mine), rotation(5)).unwrap();
    let mut mixed = GaloisKeys::new(&params);
    mixed.insert(rotation(5), old).unwrap();
    assert_eq!(mixed.identity(), None);
    mixed.insert(rotation(1), galois.get(rotation(1)).unwrap().clone()).unwrap();
    assert_eq!(mixed.identity(), mine.identity());
    let theirs = other_keys.galois().get(rotation(-3)).unwrap().clone();
    refused(mixed.insert(rotation(-3), theirs), ["key set", "key"], pair);
}

#[test]
fn residues_prove_whose_a_key_is_whatever_it_says() {
    let params = toy();
    let mut generator = KeyGenerator::new(&params).unwrap();
    let secrets = [generator.secret_key().unwrap(), generator.secret_key().unwrap()];
    for (mine, other) in [(0, 1), (1, 0)] {
        let (mine, other) = (&secrets[mine], &secrets[other]);
        for maker in [mine, &unnamed(mine)] {
            let public = generator.public_key(maker).unwrap();
            assert!(mine.made_public(&public).unwrap() && !other.made_public(&public).unwrap());
            let all = generator.evaluation_keys(maker, &[1, -3], true).unwrap();
            let rotations = EvaluationKeys::new(None, all.galois().clone()).unwrap();
            for keys in [&all, &rotations, &all.seeded()] {
                assert!(mine.made(keys).unwrap() && !other.made(keys).unwrap());
            }
        }
        let none = EvaluationKeys::new(None, GaloisKeys::new(&params)).unwrap();
        assert!(mine.made(&none).unwrap() && other.made(&none).unwrap());
        // A false name: the residues are another's, or the name is.
        let public = generator.public_key(mine).unwrap();
        let renamed =
            PublicKey::from_parts(&params, public.b().clone(), *public.seed(), other.identity()).unwrap();
        assert!(!mine.made_public(&renamed).unwrap() && !other.made_public(&renamed).unwrap());
        let named = KeyGenerator::new(&params).unwrap().encapsulation_key(other).unwrap();
        let empty = EvaluationKeys::new(None, GaloisKeys::new(&params)).unwrap();
        let encapsulation = empty.with_encapsulation(named).unwrap();
        assert!(!mine.made(&encapsulation).unwrap() && other.made(&encapsulation).unwrap());
    }
}
