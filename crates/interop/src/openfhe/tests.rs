//! Round trips of every kind in both forms, and bytes that are not what a writer writes. What OpenFHE itself writes and reads
//! is tested from Python, beside its own wheel (`python/tests/test_interop_openfhe.py`).

use ringmill_ring::primes::{Side, nearest};
use ringmill_ring::{Domain, Poly};
use zeroize::Zeroizing;

use super::evaluation::EvalKey;
use super::*;

const LOG_N: u32 = 6;
const N: usize = 1 << LOG_N;

fn context() -> Context {
    let towers = nearest(1 << 40, LOG_N, 3, Side::Below, &[]).unwrap().iter().map(|q| q.value()).collect();
    let settings = Settings { digits: 2, batch_size: 32, ..Settings::default() };
    Context { n: N, towers, settings }
}

fn poly(moduli: &[u64], seed: u64) -> Poly {
    let mut state = seed | 1;
    let mut poly = Poly::zeros(N, moduli.len(), Domain::Evaluation);
    for (limb, q) in poly.limbs_mut().zip(moduli) {
        for word in limb {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            *word = (state >> 8) % q;
        }
    }
    poly
}

fn cipher() -> Ciphertext {
    let context = context();
    let moduli = context.towers[..2].to_vec();
    let polys = vec![poly(&moduli, 1), poly(&moduli, 2)];
    let (tag, scale) = ("0123456789abcdef".into(), 2f64.powi(40));
    Ciphertext { context, tag, polys, moduli, slots: 32, level: 1, hops: 0, degree: 1, scale, encoding: 4 }
}

fn eval_key(seed: u64) -> EvalKey {
    let context = context();
    let special = convert::special_primes(&context).unwrap();
    let moduli = [context.towers, special].concat();
    let half = |seed| (0..2).map(|j| poly(&moduli, seed + j)).collect();
    EvalKey { a: half(seed), b: half(seed + 7), moduli: moduli.clone() }
}

fn mult() -> EvalMultKeys {
    EvalMultKeys { context: context(), tag: "tag".into(), keys: vec![eval_key(1)] }
}

fn automorphism() -> EvalKeys {
    EvalKeys { context: context(), tag: "tag".into(), keys: [(5, eval_key(1)), (127, eval_key(3))].into() }
}

fn bytes<T: Object>(object: &mut T, form: Form) -> Vec<u8> {
    let mut bytes = Vec::new();
    object.write(&mut bytes, form).unwrap();
    bytes
}

fn comes_back<T: Object + PartialEq + std::fmt::Debug>(mut object: T) {
    for form in [Form::Json, Form::Binary] {
        let first = bytes(&mut object, form);
        let mut read = T::read(&first[..]).unwrap();
        assert_eq!(read, object, "{form:?}");
        assert_eq!(bytes(&mut read, form), first);
        let mut longer = first;
        longer.push(b'{');
        assert!(T::read(&longer[..]).is_err());
    }
}

#[test]
fn every_kind_comes_back() {
    comes_back(context());
    comes_back(cipher());
    comes_back(mult());
    comes_back(automorphism());
    let moduli = context().towers;
    let polys = vec![poly(&moduli, 1), poly(&moduli, 2)];
    comes_back(PublicKey { context: context(), tag: "tag".into(), polys, moduli });
    let coefficients = Zeroizing::new((0..N as i8).map(|i| i % 3 - 1).collect());
    let mut secret = PrivateKey::new(context(), "tag".into(), coefficients).unwrap();
    for form in [Form::Json, Form::Binary] {
        let read = PrivateKey::read(&bytes(&mut secret, form)[..]).unwrap();
        assert_eq!(read.expose_coefficients(), secret.expose_coefficients());
    }
}

fn endures<T: Object>(mut object: T) {
    let mut state = 1u64;
    for form in [Form::Json, Form::Binary] {
        let whole = bytes(&mut object, form);
        for cut in (0..whole.len()).step_by(1 + whole.len() / 150) {
            assert!(T::read(&whole[..cut]).is_err(), "cut at {cut}");
        }
        for turn in 0..600 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            // Most of the structure stands in front.
            let at = (state >> 33) as usize % if turn % 3 == 0 { whole.len() } else { whole.len().min(1500) };
            let mut damaged = whole.clone();
            damaged[at] = match form {
                Form::Json => b"0123456789{}[],:\"x-."[(state >> 20) as usize % 20],
                Form::Binary => damaged[at] ^ 1 << (state >> 20 & 7),
            };
            if let Err(refused) = T::read(&damaged[..]) {
                assert!(refused.to_string().len() > 20, "{refused:?}");
            }
        }
    }
}

#[test]
fn damaged_files_are_refused_or_read() {
    endures(context());
    endures(cipher());
    endures(mult());
    endures(automorphism());
    let secret = PrivateKey::new(context(), "tag".into(), Zeroizing::new(vec![1; N])).unwrap();
    endures(secret);
}

#[test]
fn what_is_wrong_is_named() {
    let text = String::from_utf8(bytes(&mut cipher(), Form::Json)).unwrap();
    let refused = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        Ciphertext::read(text.replacen(from, to, 1).as_bytes()).unwrap_err()
    };
    assert!(matches!(
        refused("CryptoParametersCKKSRNS", "CryptoParametersBFVRNS"),
        OpenFheError::Class { .. }
    ));
    assert!(matches!(
        refused("\"fhe\":{\"polymorphic_id\":0}", "\"fhe\":{\"polymorphic_id\":3}"),
        OpenFheError::Precomputed { .. }
    ));
    assert!(matches!(refused("\"rd\":64", "\"rd\":63"), OpenFheError::Count { .. }));
    assert!(matches!(
        refused("\"cereal_class_version\":1", "\"cereal_class_version\":2"),
        OpenFheError::Version { .. }
    ));
    assert!(matches!(refused("\"f\":0", "\"f\":1"), OpenFheError::Coefficients { .. }));
    assert!(matches!(refused("\"valid\":1", "\"valid\":0"), OpenFheError::Pointer { .. }));
    assert!(matches!(refused("\"sl\":32", "\"slots\":32"), OpenFheError::Field { .. }));
    assert!(matches!(Ciphertext::read(&b"\x5e\xa1"[..]), Err(OpenFheError::Form { found: 0x5e })));
    let of_another = PublicKey::read(text.as_bytes()).unwrap_err();
    assert!(matches!(of_another, OpenFheError::Version { .. } | OpenFheError::Field { .. }), "{of_another}");

    let context = context();
    let bv =
        Context { settings: Settings { key_switching: 1, ..context.settings.clone() }, ..context.clone() };
    assert!(convert::params(&bv, true).unwrap_err().to_string().contains("HYBRID"));
    let sparse = Context { settings: Settings { secret: 2, ..context.settings.clone() }, ..context };
    assert!(convert::params(&sparse, true).unwrap_err().to_string().contains("UNIFORM_TERNARY"));
}

/// The special primes that OpenFHE 1.6.1 writes into keys of this context.
#[test]
fn special_primes_are_those_of_the_library() {
    let towers = vec![1125899906826241, 1099511592961, 1099511678977];
    let settings = Settings { digits: 2, ..Settings::default() };
    let context = Context { n: 1024, towers, settings };
    assert_eq!(convert::special_primes(&context).unwrap(), [1152921504606830593, 1152921504606791681]);
}
