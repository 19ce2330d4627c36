//! Tables looked up while bootstrapping, evaluated in the clear: by the definition of the kernel, not by waves.

use std::f64::consts::{PI, TAU};
use std::sync::Arc;

use crate::common::Rng;

use num_complex::Complex64;
use ringmill_circuits::CircuitError;
use ringmill_circuits::bootstrap::{Bootstrap, Exponential, expand};
use ringmill_program::he::{Builder, Lookup, Op, Program, Rule, evaluate_clear};
use ringmill_program::manage::depth;

const SLOTS: usize = 512;

fn program(config: &Bootstrap, table: &Lookup) -> Program {
    let mut b = Builder::traced("t", SLOTS).unwrap();
    let x = b.push(Op::Input("x".into())).unwrap();
    let y = config.look_up(&mut b, x, table).unwrap();
    b.output("y", y).unwrap();
    b.finish().unwrap()
}

fn run(p: &Program, x: &[f64]) -> Vec<Complex64> {
    let x = x.iter().map(|&x| x.into()).collect();
    evaluate_clear(p, &[("x".to_owned(), x)].into()).unwrap().remove("y").unwrap()
}

/// sin²(πpx)/(p·sin πx)².
fn kernel(p: f64, x: f64) -> f64 {
    let below = p * (PI * x).sin();
    if below.abs() < 1e-9 { 1.0 } else { ((PI * p * x).sin() / below).powi(2) }
}

#[test]
fn the_exponential_is_that_of_binary64_in_its_interval() {
    for (interval, doublings, error) in [(16, 2, 1e-11), (16, 3, 1e-9), (12, 1, 1e-11), (5, 0, 1e-8)] {
        let e = Exponential::new(interval, doublings, error).unwrap();
        let radius = f64::from(interval) + 0.5;
        let c = e.coefficients();
        for i in 0..=1000 {
            let y = f64::from(i) / 500.0 - 1.0;
            // Σ c_k·T_k(cos t) = Σ c_k·cos kt.
            let terms = c.iter().enumerate().map(|(k, c)| c * (k as f64 * y.acos()).cos());
            let found = terms.sum::<Complex64>().powu(1 << doublings);
            let off = (found - Complex64::cis(TAU * radius * y)).norm();
            assert!(off <= e.error() + 1e-12, "K = {interval}, r = {doublings}, y = {y}: {off:e}");
        }
    }
    let usual = Exponential::new(16, 2, Bootstrap::default().sine_error).unwrap();
    assert_eq!((usual.depth(), usual.degree(), usual.products()), (8, 52, 17));
}

#[test]
fn tables_of_any_size_give_their_entries_and_the_kernels_between_them() {
    let mut rng = Rng(7);
    for entries in [2, 3, 4, 5, 7, 8, 16, 31, 100, 255, 256] {
        let f: Vec<f64> = (0..entries).map(|_| 3.0 * rng.unit()).collect();
        let first = rng.below(40) as i64 - 20;
        let table = Lookup::new(f.clone(), first, 0.0).unwrap();
        let config = Bootstrap::default();
        let p = program(&config, &table);
        assert_eq!(depth(&p), config.lookup_depth(&table).unwrap(), "{entries}");
        let x: Vec<f64> = (0..SLOTS)
            .map(|i| {
                let off = if i % 2 == 0 { 0.0 } else { rng.unit() / 2.0 };
                first as f64 + (i % entries) as f64 + off
            })
            .collect();
        let n = entries as f64;
        for (x, y) in x.iter().zip(run(&p, &x)) {
            let of = |(j, f): (usize, &f64)| f * kernel(n, (x - first as f64 - j as f64) / n);
            let want: f64 = f.iter().enumerate().map(of).sum();
            assert!(
                (y.re - want).abs() < 1e-8 && y.im.abs() < 1e-8,
                "{entries} entries at {x}: {y}, not {want}"
            );
            let entry = table.at(*x);
            let off = x - x.round();
            assert!((y.re - entry).abs() <= table.flatness() * off * off + 1e-8, "{entries} entries at {x}");
            if off == 0.0 {
                assert_eq!(entry, f[(x - first as f64) as usize]);
            }
        }
    }
}

#[test]
fn numbers_beyond_the_table_have_the_entries_whole_tables_away() {
    let table = Lookup::new(vec![5.0, -1.0, 2.0], -1, 0.0).unwrap();
    let wanted = [(-4.0, 5.0), (-1.0, 5.0), (0.4, -1.0), (1.0, 2.0), (2.0, 5.0), (7.6, 5.0), (-2.0, 2.0)];
    for (x, entry) in wanted {
        assert_eq!(table.at(x), entry, "{x}");
    }
}

#[test]
fn tables_that_cannot_be_looked_up_are_refused() {
    let refused = |entries: Vec<f64>, first, noise| Lookup::new(entries, first, noise).unwrap_err();
    for found in [0, 1, 257] {
        assert_eq!(refused(vec![0.0; found], 0, 0.0), Rule::LookupEntries { found, least: 2, most: 256 });
    }
    assert_eq!(refused(vec![0.0, f64::NAN], 0, 0.0), Rule::NotFinite { index: 1 });
    assert!(matches!(refused(vec![0.0, 1.0], i64::MIN, 0.0), Rule::LookupFirst { .. }));
    for noise in [-0.1, 0.5, f64::NAN] {
        assert!(matches!(refused(vec![0.0, 1.0], 0, noise), Rule::LookupNoise { .. }), "{noise}");
    }
    let mut b = Builder::traced("t", SLOTS).unwrap();
    let x = b.push(Op::Input("x".into())).unwrap();
    let of = |entries: usize, same: bool| {
        Lookup::new((0..entries).map(|i| if same { 1.0 } else { i as f64 }).collect(), 0, 0.0).unwrap()
    };
    let config = Bootstrap::default();
    assert_eq!(config.look_up(&mut b, x, &of(4, true)).unwrap_err(), CircuitError::ConstantTable);
    let rough = Bootstrap { bits: 3, room: 3, ..config };
    let wrong = CircuitError::LookupBits { entries: 256, bits: 3, least: 9 };
    assert_eq!(rough.look_up(&mut b, x, &of(256, false)).unwrap_err(), wrong);
    let better = Bootstrap { bits: 9, ..rough };
    assert!(better.look_up(&mut b, x, &of(256, false)).is_ok());
}

#[test]
fn a_program_that_asks_is_given_the_circuit() {
    let table = Arc::new(Lookup::new(vec![1.0, 0.0, 2.0, 7.0], 0, 0.0).unwrap());
    let mut b = Builder::traced("t", SLOTS).unwrap();
    let x = b.push(Op::Input("x".into())).unwrap();
    let y = b.push(Op::Lookup { a: x, table: table.clone() }).unwrap();
    b.output("y", y).unwrap();
    let asking = b.finish().unwrap();
    let p = expand(&asking, |_| Bootstrap::default(), |_| 4.0).unwrap();
    let x: Vec<f64> = (0..SLOTS).map(|i| (i % 4) as f64).collect();
    for (before, after) in run(&asking, &x).iter().zip(run(&p, &x)) {
        assert!((before - after).norm() < 1e-8);
    }
}
