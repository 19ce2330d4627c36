//! The identity of results: every operation passes the identity of the secret key on, and two secret keys do
//! not mix, in one process or through files. This holds at the lowest level too, where noise is as small as
//! values are.

use crate::common::{World, distance, params};
use num_complex::Complex64;
use ringmill::ckks::file::Stored;
use ringmill::ckks::{Ciphertext, CkksError, EvaluationKeys, Level};
use ringmill::program::he::parse;
use ringmill::program::manage::{KeySet, Options};
use ringmill::{Error, Evaluator, Input, Inputs, Kernel, open_machine};

/// Two clients of one context.
fn clients() -> [World; 2] {
    [6, 9].map(|seed| World::new(params(3, 2), &[1, 2], seed))
}

fn all_keys(w: &mut World) -> EvaluationKeys {
    w.keys(&KeySet { encapsulation: true, ..KeySet::default() })
}

/// That the first client's thing and the second's are of different secret keys.
fn refused<T>(result: Result<T, Error>, things: [&str; 2], clients: &[World; 2]) {
    let Err(Error::Ckks(error)) = result else { panic!("{things:?} were not refused") };
    assert!(matches!(error, CkksError::KeysMismatch { .. }), "{error}");
    let [a, b] = clients.each_ref().map(|w| w.secret.identity().unwrap());
    let outcome =
        format!("the {} and the {} are of different secret keys, {a} and {b}: ", things[0], things[1]);
    assert!(error.to_string().starts_with(&outcome), "{error}\n{outcome}");
}

#[test]
fn every_operation_hands_the_identity_on() {
    let [mut w, _] = clients();
    let x = w.rng.vector(512, 1.0);
    let top = w.params.max_level();
    let (a, b) = (w.encrypt(&x, top), w.encrypt(&x, top));
    let p = w.evaluator.encode(x.as_slice(), 512, top, a.scale()).unwrap();
    let (e, relin, galois) = (w.evaluator.clone(), &w.relin, &w.galois);
    let product = e.multiply(&a, &b).unwrap();
    let results: Vec<Result<Ciphertext, Error>> = vec![
        e.add(&a, &b),
        e.sub(&a, &b),
        e.negate(&a),
        e.multiply(&a, &b),
        e.square(&a),
        e.rescale(&a),
        e.drop_level(&a, Level::ZERO),
        e.add_plain(&a, &p),
        e.sub_plain(&a, &p),
        e.multiply_plain(&a, &p),
        e.add_scalar(&a, 0.5),
        e.multiply_scalar(&a, 0.5),
        e.multiply_integer(&a, 3),
        e.relinearise(&product, relin),
        e.relinearise_rescale(&product, relin),
        e.multiply_relinearise(&a, &b, relin),
        e.multiply_relinearise_rescale(&a, &b, relin),
        e.square_relinearise(&a, relin),
        e.square_relinearise_rescale(&a, relin),
        e.rotate(&a, 1, galois),
        e.rotate(&a, 0, galois),
        e.conjugate(&a, galois),
        e.sum(&a, 4, 1, galois),
    ];
    let hoisted = e.rotate_hoisted(&a, &[0, 1, 2], galois).unwrap().into_iter().map(Ok);
    let mut out = b.clone();
    e.add_into(&a, &b, &mut out).unwrap();
    for result in results.into_iter().chain(hoisted).chain([Ok(out)]) {
        assert_eq!(result.unwrap().identity(), w.secret.identity());
    }
    // What is not known is learned from the other operand, whichever side it is on.
    let unknown = Ciphertext::from_parts(&w.params, a.polys().to_vec(), a.meta().clone(), None).unwrap();
    assert_eq!(e.add(&unknown, &unknown).unwrap().identity(), None);
    for sum in [e.add(&unknown, &b), e.add(&b, &unknown), e.rotate(&unknown, 1, galois)] {
        assert_eq!(sum.unwrap().identity(), w.secret.identity());
    }
}

#[test]
fn operations_refuse_what_is_of_two_secret_keys() {
    let mut both = clients();
    let x = vec![Complex64::new(0.5, 0.0); 512];
    for level in [3, 1].map(Level::new) {
        let [a, b] = both.each_mut().map(|w| w.encrypt(&x, level));
        let (e, relin, galois) = (&both[0].evaluator, &both[1].relin, &both[1].galois);
        let pair = ["left ciphertext", "right ciphertext"];
        refused(e.add(&a, &b), pair, &both);
        refused(e.sub(&a, &b), pair, &both);
        refused(e.multiply(&a, &b), pair, &both);
        refused(e.multiply_relinearise_rescale(&a, &b, relin), pair, &both);
        // What cannot be mended comes before levels, which can.
        refused(e.add(&a, &e.drop_level(&b, Level::ZERO).unwrap()), pair, &both);
        let mut sum = a.clone();
        refused(e.add_assign(&mut sum, &b), pair, &both);
        assert_eq!(sum, a);
        let product = e.multiply(&a, &a).unwrap();
        refused(e.relinearise(&product, relin), ["ciphertext", "relinearisation key"], &both);
        refused(e.square_relinearise_rescale(&a, relin), ["ciphertext", "relinearisation key"], &both);
        refused(e.multiply_relinearise(&a, &a, relin), ["left ciphertext", "relinearisation key"], &both);
        refused(e.rotate(&a, 1, galois), ["ciphertext", "Galois keys"], &both);
        refused(e.rotate_hoisted(&a, &[1, 2], galois), ["ciphertext", "Galois keys"], &both);
        refused(e.conjugate(&a, galois), ["ciphertext", "Galois keys"], &both);
        refused(e.sum(&a, 2, 1, galois), ["ciphertext", "Galois keys"], &both);
    }
}

/// As through files: written and read again.
fn read<T: Stored>(w: &World, object: &T) -> T {
    T::from_bytes(&w.params, &object.to_bytes().unwrap()).unwrap()
}

#[test]
fn files_of_two_secret_keys_do_not_mix_either() {
    let mut both = clients();
    let x = vec![Complex64::new(0.5, 0.25); 512];
    let mut sent = |level| {
        both.each_mut().map(|w| {
            let cipher = w.encrypt(&x, Level::new(level));
            read(w, &cipher)
        })
    };
    let ([a, b], [factor, _]) = (sent(0), sent(1));
    let (e, pair) = (&both[0].evaluator, ["left ciphertext", "right ciphertext"]);
    refused(e.add(&a, &b), pair, &both);
    let relin = read(&both[1], &both[1].relin);
    refused(e.square_relinearise(&factor, &relin), ["ciphertext", "relinearisation key"], &both);
    let keys = EvaluationKeys::new(None, both[1].galois.clone()).unwrap();
    refused(e.rotate(&a, 1, read(&both[1], &keys).galois()), ["ciphertext", "Galois keys"], &both);
    // Computed by a server, sent back, and decrypted by the wrong client.
    let sum = read(&both[0], &e.add(&a, &a).unwrap());
    assert_eq!(sum.level(), Level::ZERO);
    let [expected, found] = both.each_ref().map(|w| w.secret.identity().unwrap());
    let refusal = both[1].secret.decrypt(&sum).unwrap_err();
    assert_eq!(refusal, CkksError::OtherSecret { expected, found });
    let twice: Vec<Complex64> = x.iter().map(|z| z * 2.0).collect();
    assert!(distance(&both[0].decrypt(&sum), &twice) < 1e-6);
}

const PROGRAM: &str = r#"
he @both traced slots 16
%x = input "x"
%y = input "y"
%p = mul %x, %y
%r = rotate %p, 1
output "r", %r
output "y", %y
end
"#;

#[test]
fn programs_hand_the_identity_on_whatever_machine_runs_them() {
    let mut both = clients();
    let x = vec![Complex64::new(0.5, 0.0); 16];
    let program = parse(PROGRAM).unwrap();
    for machine in ["cpu", "reference", "compact"] {
        let e = Evaluator::with_machine(&both[0].params, open_machine(machine).unwrap()).unwrap();
        let kernel = Kernel::compile(&e, &program, &Options::default()).unwrap();
        let level = kernel.cipher_inputs().next().unwrap().1;
        let [keys, other_keys] = both.each_mut().map(all_keys);
        let [a, b] = both.each_mut().map(|w| w.encrypt(&x, level));
        let run = |x, y, keys: &EvaluationKeys| {
            kernel.run(&Inputs::from([("x".into(), Input::Cipher(x)), ("y".into(), Input::Cipher(y))]), keys)
        };
        let results = run(&a, &a, &keys).unwrap();
        assert!(results.values().all(|cipher| cipher.identity() == both[0].secret.identity()), "{machine}");
        refused(run(&a, &b, &keys), ["input \"x\"", "input \"y\""], &both);
        refused(run(&a, &a, &other_keys), ["input \"x\"", "evaluation keys"], &both);
    }
}
