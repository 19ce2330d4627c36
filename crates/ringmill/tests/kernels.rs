//! Kernels: programs from text, parameters by need, misuse.

use std::collections::BTreeMap;

use crate::common::{World, distance, params};
use num_complex::Complex64;
use ringmill::ckks::{EvaluationKeys, GaloisKeys, KeyGenerator, Level, Randomness};
use ringmill::program::he::{Numbers, evaluate_clear, parse};
use ringmill::program::manage::{Accuracy, Options, choose};
use ringmill::ring::sample::SecretSeed;
use ringmill::{Error, Evaluator, Input, Inputs, Kernel, open_machine};

const SIGMOID: &str = r#"
he @score traced slots 16
data @w real [0.1, -0.2, 0.3, 0.4, -0.5, 0.6, 0.7, -0.8, 0.1, -0.2, 0.3, 0.4, -0.5, 0.6, 0.7, -0.8]
%x = input "x"
%w = const @w
%b = plain "bias"
%p = mul %x, %w
%s = sum %p, 8
%z = add %s, %b
%z2 = square %z
%z3 = mul %z2, %z
%c1 = const 0.15
%c3 = const -0.0015
%t1 = mul %z, %c1
%t3 = mul %z3, %c3
%t = add %t1, %t3
%half = const 0.5
%y = add %t, %half
output "y", %y
end
"#;

fn vector(f: f64) -> Vec<Complex64> {
    (0..16).map(|i| Complex64::new((f * f64::from(i)).sin(), 0.0)).collect()
}

#[test]
fn a_program_from_text_runs_on_both_machines_with_the_same_bits() {
    let traced = parse(SIGMOID).unwrap();
    let (x, bias) = (vector(1.7), vector(0.3));
    let clear =
        evaluate_clear(&traced, &BTreeMap::from([("x".into(), x.clone()), ("bias".into(), bias.clone())]))
            .unwrap();
    let mut w = World::new(params(5, 2), &[], 9);
    let kernel = Kernel::compile(&w.evaluator, &traced, &Options::default()).unwrap();
    assert_eq!(kernel.summary().depth, 4);
    let keys = w.keys(&kernel.summary().keys);
    let (_, level, _) = kernel.cipher_inputs().next().unwrap();
    assert_eq!(level, Level::new(4));
    // A ciphertext of a higher level serves as well.
    let (c, high) = (w.encrypt(&x, level), w.encrypt(&x, w.params.max_level()));
    let bias = Numbers::Complex(bias);
    let inputs = |c| Inputs::from([("x".into(), Input::Cipher(c)), ("bias".into(), Input::Plain(&bias))]);
    let y = kernel.run(&inputs(&c), &keys).unwrap().remove("y").unwrap();
    let error = distance(&w.decrypt(&y), &clear["y"]);
    assert!(error <= y.noise().error(16), "error {error:e}, predicted {:e}", y.noise().error(16));
    let from_above = kernel.run(&inputs(&high), &keys).unwrap().remove("y").unwrap();
    assert!(distance(&w.decrypt(&from_above), &clear["y"]) < 1e-5);
    let reference = open_machine("reference").unwrap();
    let reference = Evaluator::with_machine(&w.params, reference).unwrap();
    let slow = Kernel::compile(&reference, &traced, &Options::default()).unwrap();
    assert_eq!(slow.run(&inputs(&c), &keys).unwrap()["y"], y);
    let threads = Evaluator::with_machine(&w.params, open_machine("cpu:threads=2").unwrap()).unwrap();
    let threads = Kernel::compile(&threads, &traced, &Options::default()).unwrap();
    assert_eq!(threads.run(&inputs(&c), &keys).unwrap()["y"], y);
}

#[test]
fn parameters_by_need_reach_the_accuracy() {
    let traced = parse(SIGMOID).unwrap();
    let want = Accuracy { bits: 12, magnitude: 8.0, ..Accuracy::default() };
    let plan = choose(&traced, &want).unwrap();
    assert!(plan.error <= 2f64.powi(-12) && plan.error > 2f64.powi(-17), "{}", plan.rationale);
    assert_eq!(plan.params.security().category(), Some(128));
    let seed = |b| Randomness::from_seed(SecretSeed::from_bytes([b; 32]));
    let mut generator = KeyGenerator::with_randomness(&plan.params, seed(1));
    let secret = generator.secret_key().unwrap();
    let public = generator.public_key(&secret).unwrap();
    let rotations: Vec<i64> = plan.managed.summary.keys.rotations.iter().map(|&k| k as i64).collect();
    let keys = generator.evaluation_keys(&secret, &rotations, false).unwrap();
    let e = Evaluator::new(&plan.params).unwrap();
    let kernel = Kernel::new(&e, plan.managed.clone()).unwrap();
    let (x, bias) = (vector(1.7), vector(0.3));
    let (_, level, scale) = kernel.cipher_inputs().next().unwrap();
    let plain = e.encode(x.as_slice(), 16, level, scale).unwrap();
    let c = public.encrypt(&plain, &mut seed(2)).unwrap();
    let clear =
        evaluate_clear(&traced, &BTreeMap::from([("x".into(), x), ("bias".into(), bias.clone())])).unwrap();
    let bias = Numbers::Complex(bias);
    let inputs = Inputs::from([("x".into(), Input::Cipher(&c)), ("bias".into(), Input::Plain(&bias))]);
    let y = kernel.run(&inputs, &keys).unwrap().remove("y").unwrap();
    let error = distance(&e.decode(&secret.decrypt(&y).unwrap()).unwrap(), &clear["y"]);
    assert!(error < 2f64.powi(-12), "error 2^{:.1}; {}", error.log2(), plan.rationale);
}

#[test]
fn wrong_inputs_are_named() {
    let traced = parse(SIGMOID).unwrap();
    let mut w = World::new(params(5, 1), &[], 9);
    let kernel = Kernel::compile(&w.evaluator, &traced, &Options::default()).unwrap();
    let keys = w.keys(&kernel.summary().keys);
    let x = vector(1.0);
    let (c, low) = (w.encrypt(&x, Level::new(4)), w.encrypt(&x, Level::new(2)));
    let (few, bias, short) =
        (w.encrypt(&x[..8], Level::new(4)), Numbers::Complex(x.clone()), Numbers::Real(vec![1.0]));
    let squared = w.evaluator.multiply_integer(&c, 2).unwrap();
    let top = w.encrypt(&x, Level::new(5));
    let scaled = w.evaluator.multiply_scalar(&top, 0.5).unwrap();
    let good = ("bias", Input::Plain(&bias));
    let says = |list: &[(&str, Input<'_>)], keys: &EvaluationKeys, words: &[&str]| {
        let inputs: Inputs<'_> = list.iter().map(|&(n, i)| (n.to_owned(), i)).collect();
        let message = kernel.run(&inputs, keys).unwrap_err().to_string();
        for word in words {
            assert!(message.contains(word), "'{message}' does not say '{word}'");
        }
    };
    assert!(
        kernel
            .run(&Inputs::from([("x".into(), Input::Cipher(&squared)), ("bias".into(), good.1)]), &keys)
            .is_ok()
    );
    says(&[good], &keys, &["\"x\"", "missing", "x (encrypted), bias (in the clear)"]);
    says(
        &[("x", Input::Cipher(&c)), good, ("z", Input::Cipher(&c))],
        &keys,
        &["no input \"z\"", "x (encrypted)"],
    );
    says(&[("x", Input::Plain(&bias)), good], &keys, &["\"x\" is a vector in the clear", "ciphertext"]);
    says(&[("x", Input::Cipher(&c)), ("bias", Input::Cipher(&c))], &keys, &["\"bias\" is a ciphertext"]);
    says(&[("x", Input::Cipher(&low)), good], &keys, &["level 2", "level 4", "encrypt it at level 4"]);
    says(&[("x", Input::Cipher(&few)), good], &keys, &["8 slots", "16"]);
    says(&[("x", Input::Cipher(&scaled)), good], &keys, &["scale 2^", "encrypt it at that scale"]);
    says(&[("x", Input::Cipher(&c)), ("bias", Input::Plain(&short))], &keys, &["1 slots", "16"]);
    let none = EvaluationKeys::new(None, GaloisKeys::new(&w.params)).unwrap();
    says(
        &[("x", Input::Cipher(&c)), good],
        &none,
        &["keys of the program", "relinearisation, rotation by", "(5 = 5^1)"],
    );
    let no_turn = EvaluationKeys::new(Some(w.relin.clone()), GaloisKeys::new(&w.params)).unwrap();
    says(
        &[("x", Input::Cipher(&c)), good],
        &no_turn,
        &["rotation by 1 (5 = 5^1), rotation by 2 (", "generate them"],
    );
    let other = World::new(params(4, 1), &[], 2);
    let other_keys = EvaluationKeys::new(Some(other.relin.clone()), other.galois.clone()).unwrap();
    says(&[("x", Input::Cipher(&c)), good], &other_keys, &["keys", "parameters"]);
    let e = Kernel::compile(&World::new(params(3, 1), &[], 1).evaluator, &traced, &Options::default());
    assert!(matches!(e, Err(Error::Program(_))));
    assert!(matches!(
        Kernel::new(
            &other.evaluator,
            ringmill::program::manage::manage(
                &traced,
                &ringmill::program::he::Chain::from(&w.params),
                &Options::default()
            )
            .unwrap()
        ),
        Err(Error::ProgramParams { .. })
    ));
}
