//! The sine and the whole of a bootstrapping, evaluated in the clear.

use std::f64::consts::TAU;

use num_complex::Complex64;
use ringmill_circuits::CircuitError;
use ringmill_circuits::bootstrap::{Bootstrap, Content, Sine};
use ringmill_program::he::{Builder, Op, OpKind, Program, evaluate_clear};
use ringmill_program::manage::depth;

const SLOTS: usize = 512;

fn program(
    write: impl FnOnce(&mut Builder, ringmill_program::he::Value) -> ringmill_program::he::Value,
) -> Program {
    let mut b = Builder::traced("t", SLOTS).unwrap();
    let x = b.push(Op::Input("x".into())).unwrap();
    let y = write(&mut b, x);
    b.output("y", y).unwrap();
    b.finish().unwrap()
}

fn run(p: &Program, x: Vec<Complex64>) -> Vec<Complex64> {
    evaluate_clear(p, &[("x".to_owned(), x)].into()).unwrap().remove("y").unwrap()
}

#[test]
fn the_sine_is_that_of_binary64_near_every_integer_of_its_interval() {
    for (interval, doublings, error) in [(16, 2, 1e-11), (16, 3, 1e-9), (12, 2, 1e-11), (5, 0, 1e-8)] {
        let sine = Sine::new(interval, doublings, error).unwrap();
        let factor = 3.5;
        let p = program(|b, x| sine.write(b, x, factor).unwrap());
        let points: Vec<f64> = (0..SLOTS)
            .map(|i| {
                let integer = (i as i64 % (2 * i64::from(interval) + 1)) - i64::from(interval);
                integer as f64 + 0.25 * (i as f64 * 0.731).sin()
            })
            .collect();
        let x = points.iter().map(|x| Complex64::new(x / sine.radius(), 0.0)).collect();
        let found = run(&p, x);
        for (x, y) in points.iter().zip(&found) {
            let want = factor * (TAU * x).sin();
            assert!(
                (y.re - want).abs() <= factor * sine.error() + 1e-12,
                "sine of {x}: {} instead of {want}",
                y.re
            );
        }
        assert_eq!(depth(&p), sine.depth(), "K = {interval}, r = {doublings}");
        let products = p.instrs().iter().filter(|i| match i.op {
            Op::Mul(_, b) => p.instr(b).ty.is_ct(),
            _ => i.op.kind() == OpKind::Square,
        });
        assert_eq!(products.count(), sine.products(), "K = {interval}, r = {doublings}");
    }
}

#[test]
fn the_default_sine_costs_what_the_page_says() {
    let sine = Bootstrap::default().sine().unwrap();
    assert_eq!((sine.depth(), sine.degree(), sine.products()), (8, 26, 14));
    assert_eq!(Bootstrap::default().depth().unwrap(), 13);
    assert_eq!(Bootstrap::default().start(SLOTS), 3);
    assert_eq!(Bootstrap::default().failure(SLOTS), 0.0);
}

#[test]
fn a_message_without_multiples_of_the_modulus_passes_unchanged() {
    let message: Vec<Complex64> = (0..SLOTS)
        .map(|i| Complex64::new((1.7 * i as f64).sin(), (0.9 * i as f64).cos()) / 2f64.sqrt())
        .collect();
    for (content, arcsine) in [(Content::Complex, false), (Content::Complex, true), (Content::Real, true)] {
        let config = Bootstrap { content, arcsine, ..Bootstrap::default() };
        let p = program(|b, x| config.apply(b, x).unwrap());
        let x: Vec<Complex64> = match content {
            Content::Complex => message.clone(),
            Content::Real => message.iter().map(|z| Complex64::new(z.re, 0.0)).collect(),
        };
        let worst = run(&p, x.clone()).iter().zip(&x).map(|(y, x)| (y - x).norm()).fold(0.0, f64::max);
        assert!(worst < config.bend() + 1e-8, "{content:?}, arcsine {arcsine}: 2^{:.1}", worst.log2());
        assert!(!arcsine || worst < 1e-7, "{content:?}: 2^{:.1}", worst.log2());
    }
}

#[test]
fn what_the_sine_does_not_bring_back_is_refused() {
    let refused = |config: Bootstrap, slots: usize| {
        let mut b = Builder::traced("t", slots).unwrap();
        let x = b.push(Op::Input("x".into())).unwrap();
        config.apply(&mut b, x).unwrap_err()
    };
    let error = refused(Bootstrap { magnitude: 2e6, ..Bootstrap::default() }, SLOTS);
    assert!(matches!(error, CircuitError::Magnitude { magnitude: 2e6, .. }), "{error}");
    assert!(error.to_string().contains("up to 2000000 cannot be bootstrapped"), "{error}");
    let error = refused(Bootstrap { room: 1, ..Bootstrap::default() }, SLOTS);
    assert_eq!(error, CircuitError::Room { room: 1, least: 3 });
    assert_eq!(refused(Bootstrap::default(), 1), CircuitError::BootstrapSlots { slots: 1, least: 4 });
    let wide = Bootstrap { interval: 4000, doublings: 0, ..Bootstrap::default() };
    assert!(matches!(refused(wide, SLOTS), CircuitError::Degree { .. }));
}
