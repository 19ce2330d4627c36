//! Look-ups end to end at small degrees: encrypted whole numbers with noise, looked up, decrypted, compared with the table.

use std::sync::Arc;

use crate::common::{Rng, World};
use num_complex::Complex64;
use ringmill::circuits::bootstrap::{Bootstrap, Content, Need};
use ringmill::ckks::{Generator, Level, Params, ParamsLiteral};
use ringmill::program::he::{Builder, Lookup, Op, Program};
use ringmill::program::manage::{Encryption, Options, Promise};
use ringmill::{
    Bootstrapper, Error, Input, Inputs, Kernel, Place, Plan, PlanOptions, Stated, bootstrap_keys,
};

/// Levels that a bootstrapping leaves: a look-up in 256 entries leaves three.
const LEFT: u32 = 9;

fn params(log_n: u32, slots: usize, bits: u32) -> (Params, Bootstrap) {
    let need = Need { levels: LEFT, slots, log_n, insecure: true, ..Need::default() };
    need.arranged(bits, 1).unwrap()
}

fn table(rng: &mut Rng, entries: usize, noise: f64) -> Lookup {
    Lookup::new((0..entries).map(|_| rng.unit()).collect(), rng.below(9) as i64 - 4, noise).unwrap()
}

/// Looks random numbers up, `noise` from whole ones, and gives the level, the error and the predicted one.
fn looked_up(params: &Params, config: &Bootstrap, slots: usize, table: &Lookup) -> (Level, f64, f64) {
    let mut w = World::new(params.clone(), &[], 7);
    let mut b = Builder::traced("look up", slots).unwrap();
    let x = b.push(Op::Input("x".into())).unwrap();
    let y = config.look_up(&mut b, x, table).unwrap();
    b.output("y", y).unwrap();
    let kernel = Kernel::compile(&w.evaluator, &b.finish().unwrap(), &Options::default()).unwrap();
    let kernel = kernel.stating(Stated::Prediction);
    let keys = w.keys(&kernel.summary().keys);
    let message: Vec<Complex64> = (0..slots)
        .map(|_| {
            let index = w.rng.below(table.entries().len()) as f64;
            (table.first() as f64 + index + table.noise() * w.rng.unit()).into()
        })
        .collect();
    let (_, level, _) = kernel.cipher_inputs().next().unwrap();
    assert_eq!(level, Level::new(config.start(slots)));
    let c = w.encrypt(&message, level);
    let results = kernel.run(&Inputs::from([("x".into(), Input::Cipher(&c))]), &keys).unwrap();
    let y = &results["y"];
    let off = |(y, x): (&Complex64, &Complex64)| {
        let entry = table.entries()[(x.re.round() - table.first() as f64) as usize];
        (y - entry).norm()
    };
    let error = w.decrypt(y).iter().zip(&message).map(off).fold(0.0, f64::max);
    (y.level(), error, y.noise().error(slots))
}

fn check(what: &str, (error, predicted): (f64, f64)) {
    let outcome = format!("{what}: error 2^{:.1}, predicted 2^{:.1}", error.log2(), predicted.log2());
    println!("{outcome}");
    assert!(error <= predicted && predicted < 64.0 * error, "{outcome}");
}

#[test]
fn tables_of_any_size_are_looked_up_in_full_and_sparse_slots() {
    let mut rng = Rng(3);
    for (log_n, slots) in [(10, 512), (11, 64)] {
        let (params, config) = params(log_n, slots, 22);
        for entries in [2, 3, 4, 8, 16, 37, 64, 128, 256] {
            let table = table(&mut rng, entries, 0.0);
            let (level, error, predicted) = looked_up(&params, &config, slots, &table);
            let top = params.max_level().get() - config.lookup_depth(&table).unwrap();
            assert_eq!(level, Level::new(top), "{entries} entries");
            check(&format!("{entries} entries, {slots} slots"), (error, predicted));
        }
    }
}

#[test]
fn noise_of_the_numbers_comes_through_by_its_square() {
    let (params, config) = params(10, 64, 22);
    let mut rng = Rng(5);
    for (entries, noise) in [(2, 0.1), (4, 1e-3), (16, 0.02), (64, 0.05), (256, 0.2)] {
        let table = table(&mut rng, entries, noise);
        let (_, error, predicted) = looked_up(&params, &config, 64, &table);
        check(&format!("{entries} entries, {noise} from whole numbers"), (error, predicted));
    }
}

#[test]
fn signs_and_steps() {
    let (params, config) = params(10, 64, 16);
    for most in [1i64, 7, 100] {
        let numbers = -most..=most;
        let sign = Lookup::new(numbers.clone().map(|i| i.signum() as f64).collect(), -most, 0.0).unwrap();
        let step = Lookup::new(numbers.map(|i| f64::from(i > 0)).collect(), -most, 0.0).unwrap();
        for (what, table) in [("sign", sign), ("step", step)] {
            let (_, error, predicted) = looked_up(&params, &config, 64, &table);
            check(&format!("{what} up to {most}"), (error, predicted));
        }
    }
}

#[test]
fn slots_in_the_order_of_powers_of_three_are_looked_up_too() {
    let (five, config) = params(10, 64, 20);
    let three = ParamsLiteral { generator: Generator::Three, ..five.literal().clone() };
    let (three, config) = (Params::new(&three).unwrap(), Bootstrap { generator: Generator::Three, ..config });
    for entries in [2, 4, 32] {
        let table = table(&mut Rng(11), entries, 0.0);
        let (_, error, predicted) = looked_up(&three, &config, 64, &table);
        check(&format!("{entries} entries"), (error, predicted));
    }
}

#[test]
fn one_ciphertext_is_looked_up_at_the_prompt() {
    let (params, config) = params(10, 64, 16);
    let mut w = World::new(params.clone(), &[], 3);
    let keys = w.keys(&bootstrap_keys(&params, 64, Content::Real).unwrap());
    let bootstrapper = Bootstrapper::new(&w.evaluator);
    let message: Vec<Complex64> = (0..64).map(|i| f64::from(i % 16).into()).collect();
    let c = w.encrypt(&message, Level::new(config.start(64)));
    for shift in 0..2 {
        let entries = (0..16).map(|i| f64::from((i * i + shift) % 16) / 16.0).collect();
        let y = bootstrapper.look_up(&c, &keys, &Lookup::new(entries, 0, 0.0).unwrap()).unwrap();
        let want = |i: usize| f64::from(((i % 16).pow(2) as u32 + shift as u32) % 16) / 16.0;
        let error = w.decrypt(&y).iter().enumerate().map(|(i, y)| (y - want(i)).norm()).fold(0.0, f64::max);
        assert!(error < y.noise().error(64), "2^{:.1}", error.log2());
    }
    let wide = Lookup::new((0..16).map(f64::from).collect(), 0, 0.4999).unwrap();
    assert!(bootstrapper.look_up(&c, &keys, &wide).is_ok());
}

/// Twice what the table gives of x + x.
fn program(slots: usize, table: &Arc<Lookup>) -> Program {
    let mut b = Builder::traced("t", slots).unwrap();
    let x = b.push(Op::Input("x".into())).unwrap();
    let sum = b.push(Op::Add(x, x)).unwrap();
    let y = b.push(Op::Lookup { a: sum, table: table.clone() }).unwrap();
    let y = b.push(Op::Mul(y, y)).unwrap();
    b.output("y", y).unwrap();
    b.finish().unwrap()
}

const PROMISE: Promise =
    Promise { inputs: 7.0, plain: 1.0, values: f64::INFINITY, real: true, encryption: Encryption::Secret };

#[test]
fn a_program_that_asks_is_planned_with_its_look_ups() {
    let (params, _) = params(10, 64, 16);
    let table = Arc::new(Lookup::new((0..16).map(|i| f64::from(i) / 16.0).collect(), 0, 0.0).unwrap());
    let plan = Plan::with_params(&program(64, &table), &params, PROMISE, &PlanOptions::default()).unwrap();
    assert!(matches!(plan.bootstraps[..], [Place::LookedUp { entries: 16, .. }]));
    assert_eq!(plan.bootstraps[0].to_string(), "looked up in a table of 16 entries");
    let mut w = World::new(params, &[], 4);
    let kernel = Kernel::new(&w.evaluator, plan.managed.clone()).unwrap();
    let keys = w.keys(&plan.managed.summary.keys);
    let message: Vec<Complex64> = (0..64).map(|i| f64::from(i % 8).into()).collect();
    let (_, level, _) = kernel.cipher_inputs().next().unwrap();
    let c = w.encrypt(&message, level);
    let results = kernel.run(&Inputs::from([("x".into(), Input::Cipher(&c))]), &keys).unwrap();
    let want = message.iter().map(|x| (x.re / 8.0).powi(2));
    let error = w.decrypt(&results["y"]).iter().zip(want).map(|(y, w)| (y - w).norm()).fold(0.0, f64::max);
    check("a square", (error, plan.base_errors().unwrap()["y"].exp2()));
}

#[test]
fn numbers_whose_error_reaches_half_a_step_are_refused() {
    let (params, _) = params(10, 64, 16);
    let table = Arc::new(Lookup::new((0..16).map(f64::from).collect(), 0, 0.49).unwrap());
    let mut b = Builder::traced("t", 64).unwrap();
    let x = b.push(Op::Input("x".into())).unwrap();
    // Multiplied by a million, what encryption errs by is no longer small.
    let c = b.push(Op::Const(ringmill::program::he::Constant::Real(1e6))).unwrap();
    let x = b.push(Op::Mul(x, c)).unwrap();
    let y = b.push(Op::Lookup { a: x, table }).unwrap();
    b.output("y", y).unwrap();
    let promise = Promise { inputs: 1e-5, encryption: Encryption::Public, ..PROMISE };
    let error =
        Plan::with_params(&b.finish().unwrap(), &params, promise, &PlanOptions::default()).unwrap_err();
    assert!(matches!(error, Error::LookupError { .. }), "{error}");
}
