use std::borrow::Cow;

use num_bigint::BigInt;
use num_traits::{ToPrimitive, Zero};
use ringmill_ring::{Domain, GaloisElement, Poly};
use zeroize::Zeroizing;

use super::*;
use crate::error::CkksError;
use crate::params::{NamedSet, Params, ParamsLiteral, Secret};
use crate::testing::{coefficients, product, randomness, rms, toy};

fn generator(params: &Params) -> KeyGenerator {
    KeyGenerator::with_randomness(params, randomness(7))
}

fn secret_coefficients(s: &SecretKey) -> Vec<BigInt> {
    s.expose_coefficients().iter().map(|&c| BigInt::from(c)).collect()
}

/// b + a·s − expected, centred modulo the product of `moduli`.
fn error_of(
    (b, a): (&ringmill_ring::Poly, &ringmill_ring::Poly),
    s: &[BigInt],
    expected: &[BigInt],
    moduli: &[ringmill_ring::Modulus],
) -> Vec<BigInt> {
    let q: BigInt = moduli.iter().map(|m| BigInt::from(m.value())).product();
    let (b, a) = (coefficients(b, moduli), coefficients(a, moduli));
    let half = &q >> 1;
    product(s, &a)
        .into_iter()
        .zip(b)
        .zip(expected)
        .map(|((x, y), z)| {
            let r: BigInt = ((x + y - z) % &q + &q) % &q;
            if r > half { r - &q } else { r }
        })
        .collect()
}

fn assert_is_error(e: &[BigInt]) {
    assert!(e.iter().all(|x| x.to_i64().is_some_and(|x| x.abs() <= 42)));
    let std = rms(e);
    assert!((2.9..3.5).contains(&std), "{std}");
}

#[test]
fn a_public_key_is_an_encryption_of_zero() {
    let params = toy();
    let mut g = generator(&params);
    let s = g.secret_key().unwrap();
    let p = g.public_key(&s).unwrap();
    let zero = vec![BigInt::zero(); params.n()];
    assert_is_error(&error_of((p.b(), p.a()), &secret_coefficients(&s), &zero, params.q_moduli()));
    assert_eq!(PublicKey::from_parts(&params, p.b().clone(), *p.seed(), s.identity()).unwrap(), p);
}

/// One half of digit j.
fn half(key: &SwitchKey, j: usize, limb: fn(&SwitchKey, usize, usize) -> Cow<'_, [u64]>) -> Poly {
    let limbs: Vec<u64> = (0..key.params().key_limbs()).flat_map(|i| limb(key, j, i).into_owned()).collect();
    Poly::from_words(key.params().n(), &limbs, Domain::Evaluation).unwrap()
}

/// b_j + a_j·s = e_j + P·g_j·s′, over the integers modulo PQ.
fn check_switch_key(key: &SwitchKey, s: &[BigInt], from: &[BigInt]) {
    let params = key.params();
    let moduli: Vec<_> = params.key_moduli().collect();
    let product_of =
        |ms: &[ringmill_ring::Modulus]| ms.iter().map(|m| BigInt::from(m.value())).product::<BigInt>();
    let (big_p, big_q) = (product_of(params.p_moduli()), product_of(params.q_moduli()));
    let digits = params.digits(params.max_level());
    for (j, digit) in digits.into_iter().enumerate() {
        // g_j = (Q/D)·[(Q/D)^−1 mod D].
        let big_d = product_of(&params.q_moduli()[digit]);
        let rest = &big_q / &big_d;
        let inverse = rest.modinv(&big_d).unwrap();
        let gadget = rest * inverse * &big_p;
        let expected: Vec<BigInt> = from.iter().map(|x| x * &gadget).collect();
        assert_is_error(&error_of(
            (&half(key, j, SwitchKey::b), &half(key, j, SwitchKey::a)),
            s,
            &expected,
            &moduli,
        ));
    }
}

#[test]
fn switching_keys_hold_their_relation() {
    let params = toy();
    let mut g = generator(&params);
    let secret = g.secret_key().unwrap();
    let s = secret_coefficients(&secret);
    check_switch_key(&g.relin_key(&secret).unwrap().0, &s, &product(&s, &s));
    for element in [GaloisElement::rotation(3, 10), GaloisElement::conjugation(10)] {
        let element = element.unwrap();
        // t with t(X^g) = s, from the definition: s_i is the coefficient of t at the i′ with i′·g = i, X^N = −1.
        let mut turned = vec![BigInt::zero(); params.n()];
        for (i, t) in turned.iter_mut().enumerate() {
            let e = i * element.value() as usize;
            let sign = if (e / params.n()).is_multiple_of(2) { 1 } else { -1 };
            *t = &s[e % params.n()] * sign;
        }
        let key = g.galois_key(&secret, element).unwrap();
        check_switch_key(&key, &turned, &s);
        let b: Vec<_> = (0..params.dnum()).map(|j| half(&key, j, SwitchKey::b)).collect();
        assert_eq!(SwitchKey::from_parts(&params, &b, *key.seed(), secret.identity()).unwrap(), key);
        assert!(SwitchKey::from_parts(&params, &b[1..], *key.seed(), None).is_err());
    }
}

#[test]
fn secrets_follow_their_distribution() {
    for secret in [Secret::Ternary, Secret::TernaryWeight { weight: 64 }, Secret::Gaussian] {
        let literal =
            ParamsLiteral { secret, ..ParamsLiteral::from_bits(10, &[30, 30], &[30], 2).insecure() };
        let params = Params::new(&literal).unwrap();
        let s = generator(&params).secret_key().unwrap();
        let norm: f64 = s.expose_coefficients().iter().map(|&c| f64::from(c).powi(2)).sum();
        let want = secret.norm_squared(1024, params.sigma());
        assert!((norm / want - 1.0).abs() < 0.2, "{secret}: {norm} {want}");
        let from = |small| SecretKey::from_coefficients(&params, Zeroizing::new(small), None);
        let again = from(s.expose_coefficients().to_vec()).unwrap();
        assert_eq!(again.limb(2).unwrap(), s.limb(2).unwrap());
        let mut bad = s.expose_coefficients().to_vec();
        bad[0] = 43;
        assert!(from(bad).is_err());
        assert!(from(vec![0; 1024]).is_err());
        assert!(from(vec![1; 1023]).is_err());
    }
}

#[test]
fn one_seed_gives_one_key_and_objects_differ() {
    let params = toy();
    let draw = |seed| {
        let mut g = KeyGenerator::with_randomness(&params, randomness(seed));
        let s = g.secret_key().unwrap();
        (s.expose_coefficients().to_vec(), g.public_key(&s).unwrap(), g.public_key(&s).unwrap())
    };
    let (a, b, c) = (draw(1), draw(1), draw(2));
    assert!(a == b && a.0 != c.0 && a.1 != a.2);
    let mut os = KeyGenerator::new(&params).unwrap();
    assert_ne!(
        os.secret_key().unwrap().expose_coefficients(),
        os.secret_key().unwrap().expose_coefficients()
    );
}

#[test]
fn a_missing_rotation_key_is_named() {
    let params = toy();
    let mut g = generator(&params);
    let s = g.secret_key().unwrap();
    let keys = g.evaluation_keys(&s, &[1, -2, 0, 1], true).unwrap();
    assert_eq!(keys.galois().len(), 3, "the identity needs no key, doubles one");
    let rotation = |k| GaloisElement::rotation(k, 10).unwrap();
    assert!(keys.galois().get(rotation(-2)).is_ok());
    let mut turned = keys.galois().clone();
    turned.insert(rotation(512), g.galois_key(&s, rotation(0)).unwrap()).unwrap();
    assert_eq!(&turned, keys.galois());
    let e = keys.galois().get(rotation(3)).unwrap_err();
    assert_eq!(
        e.to_string(),
        "no key for rotation by 3 (Galois element 125 = 5^3 mod 2048); generate one with `galois_keys` before \
         evaluating (keys present: rotation by 1, rotation by -2, conjugation)"
    );
    let few = EvaluationKeys::new(None, g.galois_keys(&s, &[rotation(1)]).unwrap()).unwrap();
    let e = few.galois().get(GaloisElement::conjugation(10).unwrap()).unwrap_err().to_string();
    assert!(e.starts_with("no key for conjugation (Galois element 2047 = −1 mod 2048);"), "{e}");
    let none = EvaluationKeys::new(None, GaloisKeys::new(&params)).unwrap();
    assert_eq!(none.relin().unwrap_err(), CkksError::MissingRelinKey);
    assert!(none.galois().get(rotation(1)).unwrap_err().to_string().contains("keys present: none"));
}

#[test]
fn all_missing_keys_are_named_at_once() {
    let params = toy();
    let mut g = generator(&params);
    let s = g.secret_key().unwrap();
    let rotation = |k| GaloisElement::rotation(k, 10).unwrap();
    let keys = g.galois_keys(&s, &[rotation(1)]).unwrap();
    let conjugation = GaloisElement::conjugation(10).unwrap();
    let error = keys.missing((true, true), [conjugation, rotation(3), rotation(1), rotation(2)]).unwrap();
    assert_eq!(
        error.to_string(),
        "5 keys of the program are missing: relinearisation, encapsulation, rotation by 2 (25 = 5^2), rotation by 3 (125 = 5^3), \
         conjugation (2047 = −1) (keys of rotation and conjugation present: rotation by 1); generate them with `evaluation_keys`"
    );
    let many = keys.missing((false, false), (2..20).map(rotation)).unwrap().to_string();
    assert!(many.contains("rotation by 13 (") && many.contains(", 6 more ("), "{many}");
    assert!(!many.contains("rotation by 14"), "{many}");
    assert_eq!(keys.missing((true, false), [rotation(1)]), Some(CkksError::MissingRelinKey));
    assert_eq!(keys.missing((false, false), [rotation(3)]), keys.get(rotation(3)).err());
    assert_eq!(keys.missing((false, false), [rotation(1)]), None);
}

#[test]
fn keys_of_another_context_are_refused() {
    let params = toy();
    let other = Params::new(&ParamsLiteral::from_bits(10, &[30, 30], &[30], 2).insecure()).unwrap();
    let s = generator(&params).secret_key().unwrap();
    let e = generator(&other).public_key(&s).unwrap_err();
    assert!(matches!(e, CkksError::ParamsMismatch { .. }), "{e}");
    assert!(e.to_string().contains(&params.fingerprint().to_string()));
    let key = generator(&params).galois_key(&s, GaloisElement::rotation(1, 10).unwrap()).unwrap();
    assert!(GaloisKeys::new(&other).insert(GaloisElement::rotation(1, 10).unwrap(), key.clone()).is_err());
    assert!(GaloisKeys::new(&params).insert(GaloisElement::rotation(1, 11).unwrap(), key).is_err());
}

#[test]
fn secrets_do_not_print() {
    let params = toy();
    let s = generator(&params).secret_key().unwrap();
    let shown = format!("{s:?}");
    assert!(shown.starts_with("SecretKey(…") && shown.len() < 60, "{shown}");
    assert_eq!(format!("{:?}", randomness(3)), "Randomness(…)");
}

#[test]
fn sets_of_keys_share_residues_with_the_sets_they_grew_from() {
    let params = Params::new(&ParamsLiteral::from_bits(10, &[30, 30], &[31], 2).insecure()).unwrap();
    let mut generator = KeyGenerator::with_randomness(&params, randomness(5));
    let secret = generator.secret_key().unwrap();
    let keys = generator.evaluation_keys(&secret, &[1], false).unwrap();
    let copy = keys.clone();
    let place = |keys: &EvaluationKeys| {
        let limb = keys.relin().unwrap().0.base().limb(0, 0, 0);
        limb.pieces(0, params.n()).next().unwrap().as_ptr()
    };
    assert_eq!(place(&keys), place(&copy));
}

#[test]
fn an_encapsulation_key_that_is_not_known_to_be_secure_is_refused() {
    // All within 128 bits for the dense secret.
    let key = |log_n, q0, p0| {
        let params = Params::new(&ParamsLiteral::from_bits(log_n, &[q0, 30], &[p0], 2)).unwrap();
        let mut g = generator(&params);
        let secret = g.secret_key().unwrap();
        g.encapsulation_key(&secret).map(|_| ())
    };
    for (log_n, q0, p0, said) in [
        (12, 32, 33, "2^65.0, which is insecure at N = 2^12: 128 bits are known from N = 2^15 on"),
        (15, 53, 54, "2^107.0, which is insecure at N = 2^15: 128 bits are known there up to 2^105"),
    ] {
        let error = key(log_n, q0, p0).unwrap_err();
        assert!(matches!(error, CkksError::InsecureEncapsulation { weight: 32, .. }));
        assert!(error.to_string().contains(said), "{error}");
    }
    key(15, 50, 54).unwrap();
    for (set, limit) in [(NamedSet::B15, 105.0), (NamedSet::B16, 121.0)] {
        let params = Params::named(set).unwrap();
        let (q, p) = (params.q_moduli()[0].value() as f64, params.p_moduli()[0].value() as f64);
        assert!((params.encapsulation().log2() - (q * p).log2()).abs() < 1e-9);
        assert!(params.encapsulation().log2() < limit);
    }
}
