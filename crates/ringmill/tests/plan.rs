//! Plans: parameters for a program, and its bootstrappings where levels run out. Results are compared with products of
//! binary64 numbers, counts with what the levels of the chain say.

use crate::common;
use crate::common::{World, distance};
use num_complex::Complex64;
use ringmill::circuits::CircuitError;
use ringmill::circuits::bootstrap::{Bootstrap, Content, Need};
use ringmill::ckks::params::SecurityTable;
use ringmill::ckks::{CkksError, KeyGenerator, Level, Params, ParamsError, ParamsLiteral};
use ringmill::machine::{MachineError, Watch};
use ringmill::program::he::{Builder, Op, OpKind, Program, Rule, Value};
use ringmill::program::manage::{Accuracy, ChooseError, Encryption, Promise};
use ringmill::{Bootstrapper, Error, Input, Inputs, Kernel, Place, Plan, PlanOptions, bootstrap_keys};

/// Levels that a bootstrapping leaves.
const LEFT: u32 = 3;

const SLOTS: usize = 16;

const UNIT: Promise =
    Promise { inputs: 1.0, plain: 1.0, values: 1.0, real: true, encryption: Encryption::Public };

/// A chain for bootstrapping at a degree that protects nothing.
fn chain(bits: u32, iterations: u32) -> Params {
    let need = Need { levels: LEFT, slots: SLOTS, log_n: 10, insecure: true, ..Need::default() };
    need.arranged(bits, iterations).unwrap().0
}

fn program(write: impl FnOnce(&mut Builder, Value) -> Value) -> Program {
    let mut b = Builder::traced("k", SLOTS).unwrap();
    let x = b.push(Op::Input("x".into())).unwrap();
    let y = write(&mut b, x);
    b.output("y", y).unwrap();
    b.finish().unwrap()
}

/// x^(products + 1), one factor at a time.
fn power(products: u32) -> Program {
    program(|b, x| (0..products).fold(x, |y, _| b.push(Op::Mul(y, x)).unwrap()))
}

/// The square, bootstrapped, times x.
fn asking(iterations: Option<u32>) -> Program {
    program(|b, x| {
        let square = b.push(Op::Square(x)).unwrap();
        let fresh = b.push(Op::Bootstrap { a: square, iterations }).unwrap();
        b.push(Op::Mul(fresh, x)).unwrap()
    })
}

fn planned(program: &Program, params: &Params) -> Plan {
    Plan::with_params(program, params, UNIT, &PlanOptions::default()).unwrap()
}

/// log2 of the error of an encrypted run against x^`exponent`.
fn error(plan: &Plan, exponent: i32) -> f64 {
    let mut w = World::new(plan.params.clone(), &[], 3);
    let kernel = Kernel::new(&w.evaluator, plan.managed.clone()).unwrap();
    let keys = w.keys(&kernel.summary().keys);
    let x: Vec<Complex64> = (0..SLOTS).map(|i| (1.0 - 0.1 * i as f64).into()).collect();
    let (_, level, scale) = kernel.cipher_inputs().next().unwrap();
    let plain = common::encode(&w.params, &x, level, scale);
    let c = w.secret.encrypt(&plain, &mut w.randomness).unwrap();
    let results = kernel.run(&Inputs::from([("x".into(), Input::Cipher(&c))]), &keys).unwrap();
    let wanted: Vec<Complex64> = x.iter().map(|x| x.re.powi(exponent).into()).collect();
    distance(&w.decrypt(&results["y"]), &wanted).log2()
}

fn shown(places: &[Place]) -> Vec<String> {
    places.iter().map(ToString::to_string).collect()
}

#[test]
fn levels_that_run_out_are_bootstrapped_as_rarely_as_their_number_says() {
    let params = chain(16, 1);
    let start = Bootstrap::of(&params, None).start(SLOTS);
    // The last stretch goes on below the level that a bootstrapping starts from, to level 1.
    let last = LEFT + start - 1;
    for products in [last + 2, last + LEFT, last + LEFT + 1] {
        let plan = planned(&power(products), &params);
        let wanted = (products - last).div_ceil(LEFT) as usize;
        assert_eq!(plan.bootstraps.len(), wanted, "{products} products: {:?}", shown(&plan.bootstraps));
        assert!(plan.bootstraps.iter().all(|p| matches!(p, Place::Placed(p) if p.depth <= LEFT)));
        assert!(plan.rationale.is_none());
    }
    let plan = planned(&power(last + 2), &params);
    let (found, predicted) = (error(&plan, last as i32 + 3), plan.base_errors().unwrap()["y"]);
    assert!(found <= predicted && predicted < -12.0, "error 2^{found:.1}, predicted 2^{predicted:.1}");
}

#[test]
fn what_asks_is_bootstrapped_there_alone() {
    let plan = planned(&asking(None), &chain(16, 1));
    assert_eq!(shown(&plan.bootstraps), ["asked for"]);
    let found = error(&plan, 3);
    assert!(found < -14.0, "error 2^{found:.1}");
}

/// `products` products in a row by one factor, with a bootstrapping after every `every` of them.
fn marked(products: u32, every: u32) -> Program {
    program(|b, x| {
        (0..products).fold(x, |y, i| {
            let y = b.push(Op::Mul(y, x)).unwrap();
            let marks = every > 0 && (i + 1) % every == 0;
            if marks { b.push(Op::Bootstrap { a: y, iterations: None }).unwrap() } else { y }
        })
    })
}

#[test]
fn marks_never_make_a_plan_worse() {
    let params = chain(16, 1);
    for products in [LEFT + 1, 3 * LEFT, 4 * LEFT + 1] {
        let alone = planned(&marked(products, 0), &params).bootstraps.len();
        for every in 1..=2 * LEFT + 1 {
            let program = marked(products, every);
            let marks = program.instrs().iter().filter(|i| matches!(i.op, Op::Bootstrap { .. })).count();
            let all = planned(&program, &params).bootstraps.len();
            assert!(all <= marks.max(alone), "{products} products, a mark after every {every}: {all}");
            // Marks that are enough are taken as they are.
            assert!(every > LEFT || all == marks, "{products} products, a mark after every {every}: {all}");
        }
    }
}

#[test]
fn chains_are_as_long_as_the_longest_way_to_a_mark() {
    let want = Accuracy { bits: 14, real: true, ..Accuracy::default() };
    // The last mark is the result, or a way of one product follows it.
    for products in [12, 13] {
        let plan = Plan::choose(&marked(products, 6), &want).unwrap();
        assert_eq!(plan.bootstraps.len(), 2, "{products}: {}", plan.rationale.unwrap());
    }
    // Longer than chains that are chosen for others: a longer chain, or no more than the same chain takes without marks.
    let long = Plan::choose(&marked(30, 14), &want).unwrap();
    let options = PlanOptions::default();
    let alone = Plan::with_params(&marked(30, 0), &long.params, long.promise, &options).unwrap();
    assert!(long.bootstraps.len() <= alone.bootstraps.len().max(2), "{}", long.rationale.unwrap());
}

#[test]
fn deeper_than_scales_are_kept_is_bootstrapped() {
    let want = Accuracy { bits: 12, real: true, ..Accuracy::default() };
    // One product a level: 57 are more than exact scales are kept over, and a chain holds them.
    let plan = Plan::choose(&marked(57, 0), &want).unwrap();
    assert!(!plan.bootstraps.is_empty(), "{}", plan.params);
}

#[test]
fn iterations_that_are_asked_for_are_made() {
    // Laid out for two: as precise as its scale by two, and by one as precise as half of that.
    let params = chain(32, 2);
    let raises = |plan: &Plan| plan.managed.summary.counts.get(&OpKind::Raise).copied().unwrap_or(0);
    let run = |iterations| {
        let plan = planned(&asking(iterations), &params);
        (shown(&plan.bootstraps).concat(), raises(&plan), error(&plan, 3), plan.base_errors().unwrap()["y"])
    };
    let (outcome, times, found, predicted) = run(Some(1));
    assert_eq!((&outcome[..], times), ("asked for in 1 iteration", 1));
    assert!(found <= predicted && predicted < -12.0, "once: 2^{found:.1}, predicted 2^{predicted:.1}");
    let (outcome, times, twice, predicted) = run(Some(2));
    assert_eq!((&outcome[..], times), ("asked for in 2 iterations", 2));
    assert!(twice < found - 8.0 && twice <= predicted, "twice: 2^{twice:.1}, predicted 2^{predicted:.1}");
    assert_eq!(run(None).1, 2);
    // Both in one program, on a chain laid out for one: they are raised by one margin.
    let both = program(|b, x| {
        let once = b.push(Op::Bootstrap { a: x, iterations: None }).unwrap();
        let square = b.push(Op::Square(x)).unwrap();
        let twice = b.push(Op::Bootstrap { a: square, iterations: Some(2) }).unwrap();
        b.push(Op::Mul(once, twice)).unwrap()
    });
    let plan = planned(&both, &chain(22, 1));
    assert_eq!(raises(&plan), 3);
    let (found, predicted) = (error(&plan, 3), plan.base_errors().unwrap()["y"]);
    assert!(found <= predicted && predicted < -16.0, "2^{found:.1}, predicted 2^{predicted:.1}");
    let refused = Plan::with_params(&asking(Some(3)), &params, UNIT, &PlanOptions::default()).unwrap_err();
    let wrong = CircuitError::Iterations { iterations: 3, most: 2 };
    assert!(matches!(&refused, Error::Circuit(e) if *e == wrong), "{refused}");
}

#[test]
fn shallow_programs_are_managed_as_they_are_and_bounds_let_them_use_every_level() {
    let params = chain(16, 1);
    let plan = planned(&power(2), &params);
    assert!(plan.bootstraps.is_empty());
    assert_eq!(plan.bounds().len(), plan.managed.program.instrs().len());
    // Three levels above a base that is hardly wider than the scale: what ends there has to be small.
    let literal =
        ParamsLiteral { scale_bits: 40, ..ParamsLiteral::from_bits(10, &[41, 40, 40, 40], &[45], 4) };
    let params = Params::new(&literal.insecure()).unwrap();
    let to_the_end = |inputs: f64| {
        let promise = Promise { inputs, values: f64::INFINITY, ..UNIT };
        Plan::with_params(&power(3), &params, promise, &PlanOptions::default())
    };
    let small = to_the_end(0.5).unwrap();
    assert_eq!((small.managed.summary.output_level, small.bootstraps.len()), (Level::ZERO, 0));
    let refused = to_the_end(1e3).unwrap_err();
    assert!(matches!(&refused, Error::Program(e) if matches!(*e.rule, Rule::Depth { .. })), "{refused}");
    assert!(
        refused.to_string().ends_with("too short to bootstrap on the way, one of `Need::arranged` is not")
    );
}

#[test]
fn outputs_end_where_the_modulus_holds_them() {
    // Ten bits above the scale at level 0, fifty at level 1.
    let literal =
        ParamsLiteral { scale_bits: 40, ..ParamsLiteral::from_bits(10, &[50, 40, 40], &[50], 3) }.insecure();
    let params = Params::new(&literal).unwrap();
    let promise = |inputs: f64| Promise { inputs, values: f64::INFINITY, ..UNIT };
    let ends = |inputs: f64| {
        let plan = Plan::with_params(&power(1), &params, promise(inputs), &PlanOptions::default());
        plan.map(|plan| plan.managed.summary.output_level.get())
    };
    // Squares: up to 1, 2^8, 2^12 and 2^48.
    assert_eq!([1.0, 16.0, 64.0, 2f64.powi(24)].map(|x| ends(x).unwrap()), [0, 0, 1, 1]);
    let refused = |inputs: f64| match ends(inputs).unwrap_err() {
        Error::Program(e) => *e.rule,
        other => panic!("{other}"),
    };
    // 2^60 fits at level 2, from where no product starts; 2^100 fits nowhere.
    assert!(matches!(refused(2f64.powi(30)), Rule::Depth { .. }));
    let Rule::WrapsAround { size, most, .. } = refused(2f64.powi(50)) else { panic!("another rule") };
    assert_eq!(size, 2f64.powi(100));
    assert!((most.log2() - 88.9).abs() < 0.1, "2^{}", most.log2());
}

#[test]
fn nothing_is_bootstrapped_for_the_sake_of_a_high_output() {
    let params = chain(16, 1);
    let options = PlanOptions { output_level: Some(params.max_level()), ..PlanOptions::default() };
    let refused = Plan::with_params(&power(1), &params, UNIT, &options).unwrap_err();
    assert!(matches!(&refused, Error::Program(e) if matches!(*e.rule, Rule::Depth { .. })), "{refused}");
    let plan = Plan::with_params(&asking(None), &params, UNIT, &options).unwrap();
    assert_eq!(plan.bootstraps.len(), 1);
}

#[test]
fn programs_for_ciphertexts_that_there_are_end_as_high_as_these_let_them() {
    let params = chain(16, 1);
    let ends = |level: u32, products: u32| {
        let input = Some((Level::new(level), params.default_scale()));
        let options = PlanOptions { input, ..PlanOptions::default() };
        Plan::with_params(&power(products), &params, UNIT, &options)
    };
    for (level, products) in [(3, 1), (3, 3), (4, 2), (6, 5)] {
        let plan = ends(level, products).unwrap();
        let summary = &plan.managed.summary;
        assert_eq!((summary.input_level.get(), summary.output_level.get()), (level, level - products));
        assert!(plan.bootstraps.is_empty());
    }
    // Deeper than the level: bootstrapped, from where that starts.
    let plan = ends(6, 9).unwrap();
    assert!(!plan.bootstraps.is_empty());
    assert!(plan.managed.summary.input_level.get() <= 6);
}

#[test]
fn few_rotation_keys_serve_the_circuits_too() {
    let params = chain(16, 1);
    let options = PlanOptions { rotation_keys: Some(2), ..PlanOptions::default() };
    let few = Plan::with_params(&asking(None), &params, UNIT, &options).unwrap();
    assert_eq!(few.rotation_keys, Some(2));
    assert!(few.managed.summary.keys.rotations.len() <= 2);
    assert!(planned(&asking(None), &params).managed.summary.keys.rotations.len() > 2);
}

#[test]
fn programs_that_ask_are_given_a_chain_that_bootstraps() {
    let want = Accuracy { bits: 14, real: true, ..Accuracy::default() };
    let plan = Plan::choose(&asking(None), &want).unwrap();
    assert_eq!(plan.params.security().category(), Some(128));
    let (config, levels) = Bootstrap::laid_out(&plan.params).unwrap();
    assert!(levels >= 1 && config.bits >= 14, "{config:?}");
    let predicted = plan.base_errors().unwrap()["y"];
    assert!((-24.0..-14.0).contains(&predicted), "2^{predicted:.1}");
    let why = plan.rationale.unwrap();
    assert!(why.ends_with("Why bootstrapping: the program asks for it"), "{why}");
    // Others are given what they would be without.
    let plain = Plan::choose(&power(2), &want).unwrap();
    let chosen = ringmill::program::manage::choose(&power(2), &want).unwrap();
    assert_eq!((plain.params, plain.rationale), (chosen.params, Some(chosen.rationale)));
}

/// x, bootstrapped.
fn refreshed() -> Program {
    program(|b, x| b.push(Op::Bootstrap { a: x, iterations: None }).unwrap())
}

/// Draws the keys that parameters are chosen for, or as many as their checks look at.
fn keys_can_be_drawn(program: &Program, want: &Accuracy) {
    let plan = Plan::choose(program, want).unwrap();
    let what = format!("{} bits of values up to {}: {}", want.bits, want.magnitude, plan.params);
    let mut generator = KeyGenerator::new(&plan.params).unwrap();
    let secret = generator.secret_key().unwrap();
    assert!(plan.managed.summary.keys.encapsulation, "{what}");
    generator.encapsulation_key(&secret).unwrap_or_else(|e| panic!("{what}: {e}"));
    let claim = plan.params.security().claim().unwrap();
    assert_eq!((claim.table, claim.category), (SecurityTable::Guidelines2024, Some(128)), "{what}");
    assert!(!plan.params.is_insecure());
}

#[test]
fn keys_of_chosen_parameters_can_be_drawn() {
    for (magnitude, bits) in [(1.0, 20), (0.5, 20), (1.0, 28), (1024.0, 20)] {
        keys_can_be_drawn(&refreshed(), &Accuracy { bits, magnitude, ..Accuracy::default() });
    }
    keys_can_be_drawn(&asking(None), &Accuracy { bits: 14, ..Accuracy::default() });
}

#[test]
#[ignore = "long: make test-full"]
fn keys_of_parameters_chosen_for_any_accuracy_can_be_drawn() {
    for bits in 8..=30 {
        for magnitude in [2f64.powi(-8), 0.3, 1.0, 3.0, 64.0, 1024.0] {
            for program in [refreshed(), asking(None)] {
                let want = Accuracy { bits, magnitude, ..Accuracy::default() };
                match Plan::choose(&program, &want) {
                    Ok(_) => keys_can_be_drawn(&program, &want),
                    Err(Error::BootstrapAccuracy { .. }) => assert!(bits > 12, "{bits}, {magnitude}"),
                    Err(e) => panic!("{bits} bits of values up to {magnitude}: {e}"),
                }
            }
        }
    }
}

#[test]
fn what_no_chain_gives_is_refused_in_words() {
    let refused = |program: &Program, want: Accuracy| Plan::choose(program, &want).unwrap_err();
    let error = refused(&asking(None), Accuracy { security: 192, ..Accuracy::default() });
    assert!(matches!(error, Error::BootstrapSecurity { security: 192 }), "{error}");
    assert!(error.to_string().contains("give `security: 128`"));
    let error = refused(&asking(None), Accuracy { bits: 40, ..Accuracy::default() });
    assert!(matches!(error, Error::BootstrapAccuracy { bits: 40, most: 36, slots: SLOTS }), "{error}");
    // Depth 70 at a precision that bootstrapping does not give either.
    let squares = program(|b, x| (0..70).fold(x, |y, _| b.push(Op::Square(y)).unwrap()));
    let error = refused(&squares, Accuracy { bits: 40, ..Accuracy::default() });
    let Error::NeitherWay { refused: first, why } = &error else { panic!("{error}") };
    assert!(matches!(**first, ChooseError::Params { source: ParamsError::Unmet { .. }, .. }));
    assert!(matches!(**why, Error::BootstrapAccuracy { bits: 40, .. }));
    assert!(error.to_string().contains("; nor does bootstrapping on the way: 40 bits"), "{error}");
    // Errors that grow fourfold a level want primes beyond all, and no bootstrapping makes them smaller.
    let double = |b: &mut Builder, y| b.push(Op::Add(y, y)).unwrap();
    let growing = program(|b, x| {
        (0..20).fold(x, |y, _| {
            let twice = double(b, y);
            b.push(Op::Mul(twice, y)).unwrap()
        })
    });
    let error = refused(&growing, Accuracy { bits: 16, ..Accuracy::default() });
    let Error::NeitherWay { refused: first, .. } = &error else { panic!("{error}") };
    assert!(matches!(**first, ChooseError::Params { source: ParamsError::PrimeBits { .. }, depth: 20, .. }));
    assert!(error.to_string().contains("promise closer bounds"), "{error}");
}

#[test]
fn one_ciphertext_is_bootstrapped_at_a_time() {
    let params = chain(32, 2);
    let mut w = World::new(params.clone(), &[], 5);
    let needed = bootstrap_keys(&params, SLOTS, Content::Complex).unwrap();
    assert!(needed.relin && needed.conjugate && needed.encapsulation);
    let keys = w.keys(&needed);
    let start = Level::new(Bootstrap::of(&params, None).start(SLOTS));
    let z = w.rng.vector(SLOTS, 1.0);
    let (low, high) = (w.encrypt(&z, start), w.encrypt(&z, Level::new(start.get() + 2)));
    let bootstrapper = Bootstrapper::new(&w.evaluator);
    let run = |c, content, iterations| bootstrapper.bootstrap(c, &keys, content, iterations).unwrap();
    let error = |y| distance(&w.decrypt(y), &z).log2();
    // As many iterations as the chain was laid out for, by default.
    let (usual, twice) = (run(&low, Content::Complex, None), run(&low, Content::Complex, Some(2)));
    assert!(usual.polys() == twice.polys());
    assert_eq!(usual.noise(), twice.noise());
    assert_eq!(usual.level().get(), start.get() + LEFT);
    assert!(error(&usual) < -32.0, "2^{:.1}", error(&usual));
    let once = run(&high, Content::Complex, Some(1));
    assert!((-28.0..-14.0).contains(&error(&once)), "2^{:.1}", error(&once));
    // Real parts alone.
    let real = w.decrypt(&run(&low, Content::Real, Some(1)));
    let parts: Vec<Complex64> = z.iter().map(|z| z.re.into()).collect();
    assert!(distance(&real, &parts).log2() < -14.0);
    assert!(format!("{bootstrapper:?}").ends_with("3 circuits)"), "{bootstrapper:?}");
}

#[test]
fn a_bootstrapping_that_cannot_be_is_refused() {
    let params = chain(16, 1);
    let mut w = World::new(params.clone(), &[], 5);
    let keys = w.keys(&bootstrap_keys(&params, SLOTS, Content::Complex).unwrap());
    let start = Level::new(Bootstrap::of(&params, None).start(SLOTS));
    let z = w.rng.vector(SLOTS, 1.0);
    let c = w.encrypt(&z, start);
    let bootstrapper = Bootstrapper::new(&w.evaluator);
    let refused = |c, iterations| bootstrapper.bootstrap(c, &keys, Content::Complex, iterations).unwrap_err();
    let error = refused(&c, Some(3));
    assert!(matches!(error, Error::Circuit(CircuitError::Iterations { iterations: 3, most: 2 })), "{error}");
    let bottom = w.evaluator.drop_level(&c, Level::ZERO).unwrap();
    let error = refused(&bottom, None);
    assert!(matches!(error, Error::InputLevel { given: Level::ZERO, .. }), "{error}");
    let large: Vec<Complex64> = z.iter().map(|z| z * 1e7).collect();
    let large = w.encrypt(&large, start);
    assert!(matches!(refused(&large, None), Error::Circuit(CircuitError::Magnitude { .. })));
    let bare = ringmill::ckks::EvaluationKeys::new(None, ringmill::ckks::GaloisKeys::new(&params)).unwrap();
    let error = bootstrapper.bootstrap(&c, &bare, Content::Complex, None).unwrap_err();
    assert!(matches!(error, Error::Ckks(CkksError::MissingKeys { .. })), "{error}");
    let watch = Watch::default();
    watch.stop();
    let error = bootstrapper.bootstrap_watched(&c, &keys, Content::Complex, None, &watch).unwrap_err();
    assert!(matches!(error, Error::Machine(MachineError::Stopped)), "{error}");
    let error = bootstrap_keys(&params, 2, Content::Complex).unwrap_err();
    assert!(matches!(error, Error::Circuit(CircuitError::BootstrapSlots { slots: 2, least: 4 })), "{error}");
    // A chain that is too short for the circuit.
    let error = bootstrap_keys(&common::params(5, 1), SLOTS, Content::Real).unwrap_err();
    assert!(matches!(&error, Error::Program(e) if matches!(*e.rule, Rule::Depth { .. })), "{error}");
}
