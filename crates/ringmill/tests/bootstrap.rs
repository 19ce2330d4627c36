//! Bootstrapping end to end at small degrees: encrypted at the bottom, raised, decrypted near the top, compared with the
//! message.

use crate::common::{World, distance};
use num_complex::Complex64;
use ringmill::ckks::{Generator, Level, Params, ParamsLiteral};
use ringmill::program::he::{Builder, Op};
use ringmill::program::manage::Options;
use ringmill::{Input, Inputs, Kernel, Stated};
use ringmill_circuits::bootstrap::{Bootstrap, Content, Need};

/// Levels between two bootstrappings.
const LEFT: u32 = 3;

/// A chain for bootstrapping at a degree that protects nothing.
fn params(log_n: u32, slots: usize, config: &Bootstrap) -> Params {
    let need = Need { levels: LEFT, scale_bits: 42, slots, log_n, insecure: true, ..Need::default() };
    need.choose(config).unwrap()
}

/// Bootstraps a random message and gives what comes out, its error and the predicted one.
fn refreshed(log_n: u32, slots: usize, config: &Bootstrap) -> (Level, f64, f64) {
    bootstrapped(params(log_n, slots, config), slots, config)
}

fn bootstrapped(params: Params, slots: usize, config: &Bootstrap) -> (Level, f64, f64) {
    let mut w = World::new(params, &[], 7);
    let mut b = Builder::traced("refresh", slots).unwrap();
    let x = b.push(Op::Input("x".into())).unwrap();
    let y = config.apply(&mut b, x).unwrap();
    b.output("y", y).unwrap();
    let program = b.finish().unwrap();
    let kernel = Kernel::compile(&w.evaluator, &program, &Options::default()).unwrap();
    let kernel = kernel.stating(Stated::Prediction);
    let keys = w.keys(&kernel.summary().keys);
    let mut message = w.rng.vector(slots, config.magnitude);
    if config.content == Content::Real {
        message.iter_mut().for_each(|z| z.im = 0.0);
    }
    let (_, level, _) = kernel.cipher_inputs().next().unwrap();
    assert_eq!(level, Level::new(config.start(slots)));
    let c = w.encrypt(&message, level);
    let results = kernel.run(&Inputs::from([("x".into(), Input::Cipher(&c))]), &keys).unwrap();
    let y = &results["y"];
    assert_eq!(y.level(), Level::new(LEFT + config.start(slots)));
    (y.level(), distance(&w.decrypt(y), &message), y.noise().error(slots))
}

fn check(log_n: u32, slots: usize, config: &Bootstrap, bits: f64) {
    let (_, error, predicted) = refreshed(log_n, slots, config);
    let what = format!("N = 2^{log_n}, {slots} slots, {config:?}");
    println!("{slots} slots: error 2^{:.1}, predicted 2^{:.1}", error.log2(), predicted.log2());
    assert!(-error.log2() >= bits, "{what}: error 2^{:.1}", error.log2());
    // Chains are laid out for what 2^15 slots are precise to; a few hundred are two or three bits better.
    let outcome = format!("{what}: error 2^{:.1}, predicted 2^{:.1}", error.log2(), predicted.log2());
    assert!(error <= predicted && predicted < 64.0 * error, "{outcome}");
}

#[test]
fn full_slots_of_complex_numbers_come_back() {
    check(10, 512, &Bootstrap::default(), 20.0);
}

#[test]
fn sparse_slots_come_back() {
    for content in [Content::Complex, Content::Real] {
        check(11, 16, &Bootstrap { to_coefficients: 2, to_slots: 2, content, ..Bootstrap::default() }, 20.0);
    }
}

#[test]
fn messages_of_any_size_are_brought_to_the_arc_of_the_sine() {
    for magnitude in [40.0, 1.0 / 16.0] {
        let config = Bootstrap { magnitude, content: Content::Real, ..Bootstrap::default() };
        check(10, 64, &config, 20.0 - magnitude.log2());
    }
}

#[test]
fn real_messages_take_one_sine() {
    check(10, 256, &Bootstrap { content: Content::Real, ..Bootstrap::default() }, 20.0);
}

#[test]
fn slots_in_the_order_of_powers_of_three_come_back_as_precise() {
    for (slots, levels, content) in
        [(512, 3, Content::Complex), (16, 2, Content::Complex), (64, 3, Content::Real)]
    {
        let config = Bootstrap { content, to_coefficients: levels, to_slots: levels, ..Bootstrap::default() };
        let five = params(10, slots, &config);
        let (generator, literal) = (Generator::Three, five.literal().clone());
        let three = Params::new(&ParamsLiteral { generator, ..literal }).unwrap();
        let (_, by_five, _) = bootstrapped(five, slots, &config);
        let (_, error, predicted) = bootstrapped(three, slots, &Bootstrap { generator, ..config });
        let outcome = format!(
            "{slots} slots: error 2^{:.1}, predicted 2^{:.1}, by powers of five 2^{:.1}",
            error.log2(),
            predicted.log2(),
            by_five.log2()
        );
        println!("{outcome}");
        assert!(error <= predicted && predicted < 64.0 * error, "{outcome}");
        assert!(error < 4.0 * by_five, "{outcome}");
    }
}

#[test]
fn the_arcsine_takes_the_bend_out() {
    let slots = 64;
    for arcsine in [false, true] {
        let config = Bootstrap { arcsine, room: 5, ..Bootstrap::default() };
        let mut w = World::new(params(10, slots, &config), &[], 9);
        let mut b = Builder::traced("refresh", slots).unwrap();
        let x = b.push(Op::Input("x".into())).unwrap();
        let y = config.apply(&mut b, x).unwrap();
        b.output("y", y).unwrap();
        let kernel = Kernel::compile(&w.evaluator, &b.finish().unwrap(), &Options::default()).unwrap();
        let keys = w.keys(&kernel.summary().keys);
        // Real and imaginary parts at the end of the arc, where the bend is met, not only bounded.
        let message = vec![Complex64::new(1.0, -1.0); slots];
        let c = w.encrypt(&message, Level::new(config.start(slots)));
        let results = kernel.run(&Inputs::from([("x".into(), Input::Cipher(&c))]), &keys).unwrap();
        let error = distance(&w.decrypt(&results["y"]), &message);
        println!("arcsine {arcsine}: 2^{:.1}, bend 2^{:.1}", error.log2(), config.bend().log2());
        assert!((error.log2() - config.bend().log2()).abs() < 0.2, "{arcsine}: 2^{:.2}", error.log2());
    }
}

#[test]
fn a_second_iteration_corrects_the_first() {
    // Complex numbers in full slots, real ones in some, with space for the residue of the first and without
    // arcs of its own.
    for (slots, content) in [(512, Content::Complex), (32, Content::Real)] {
        let wanted = |iterations| {
            let need = Need { levels: LEFT, slots, log_n: 10, insecure: true, ..Need::default() };
            let config = Bootstrap { content, iterations, ..Bootstrap::default() };
            let need = need.iterated(32, 2).unwrap();
            let config = config.precise(&need);
            (need.choose(&config).unwrap(), config)
        };
        let (params, twice) = wanted(2);
        let once = Bootstrap { iterations: 1, ..twice.clone() };
        let (_, single, expected) = bootstrapped(params.clone(), slots, &once);
        assert!(single <= expected && expected < 256.0 * single, "once: expected 2^{:.1}", expected.log2());
        let (_, error, predicted) = bootstrapped(params, slots, &twice);
        println!("{slots} slots: once 2^{:.1}, twice 2^{:.1}", single.log2(), error.log2());
        assert!(single < twice.magnitude * 2f64.powi(3 - twice.bits as i32), "once: 2^{:.1}", single.log2());
        assert!(error < 2f64.powi(-32) && error < single / 256.0, "twice: 2^{:.1}", error.log2());
        let outcome = format!("twice: error 2^{:.1}, predicted 2^{:.1}", error.log2(), predicted.log2());
        assert!(error <= predicted && predicted < 64.0 * error, "{outcome}");
    }
}

#[test]
fn as_many_iterations_as_gain_nothing_are_refused() {
    for iterations in [0, 3] {
        let config = Bootstrap { iterations, ..Bootstrap::default() };
        let mut b = Builder::traced("refused", 64).unwrap();
        let x = b.push(Op::Input("x".into())).unwrap();
        let refused = config.apply(&mut b, x).unwrap_err().to_string();
        assert!(refused.contains("1 to 2 are to be had"), "{refused}");
        assert!(Need::default().iterated(30, iterations).unwrap_err().to_string().contains("1 to 2"));
    }
    assert!(Need::default().iterated(37, 2).unwrap_err().to_string().contains("12 to 36"));
}

#[test]
fn chains_within_a_word_bootstrap_as_precisely_as_wide_primes() {
    for (word, log_n) in [(36, 10), (32, 11), (30, 10)] {
        let need =
            Need { levels: LEFT, slots: 512, log_n, insecure: true, word: Some(word), ..Need::default() };
        let (params, config) = need.arranged(20, 1).unwrap();
        assert!(params.key_moduli().all(|q| q.value() < 1 << word), "{params}");
        assert!(params.limbs(Level::ZERO) > 1, "{params}");
        assert_eq!(Bootstrap::of(&params, None), config);
        let (_, error, predicted) = bootstrapped(params, 512, &config);
        println!("words of {word} bits: error 2^{:.1}, predicted 2^{:.1}", error.log2(), predicted.log2());
        assert!(error <= predicted && predicted < 64.0 * error && error.log2() < -20.0, "{word}: {error:e}");
    }
}
