//! Linear maps against the sum over a row that defines them, and their rotations against what they need.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::Rng;

use num_complex::Complex64;
use ringmill_circuits::CircuitError;
use ringmill_circuits::linear::{
    Diagonals, Keys, MatrixPlan, Packing, apply, matrix_vector, plan_matrix_vector,
};
use ringmill_program::he::{Builder, Op, Program, Value, evaluate_clear};
use ringmill_program::manage;

type Entry = (usize, usize, Complex64);

fn program(slots: usize, body: impl FnOnce(&mut Builder, Value) -> Value) -> Program {
    let mut b = Builder::traced("m", slots).unwrap();
    let x = b.push(Op::Input("x".into())).unwrap();
    let y = body(&mut b, x);
    b.output("y", y).unwrap();
    b.finish().unwrap()
}

fn run(p: &Program, x: &[Complex64]) -> Vec<Complex64> {
    evaluate_clear(p, &BTreeMap::from([("x".to_owned(), x.to_vec())])).unwrap().remove("y").unwrap()
}

/// Rotations that keys are needed for, after management has merged what is equal.
fn rotations(p: &Program) -> BTreeSet<usize> {
    let rotation = |op: &Op| if let Op::Rotate { k, .. } = op { Some(*k as usize) } else { None };
    manage::simplify(p).unwrap().instrs().iter().filter_map(|i| rotation(&i.op)).collect()
}

fn vector(slots: usize) -> Vec<Complex64> {
    (0..slots).map(|i| Complex64::new((i as f64 * 0.7).sin(), (i as f64 * 1.3).cos())).collect()
}

fn close(got: &[Complex64], want: &[Complex64]) {
    for (i, (g, w)) in got.iter().zip(want).enumerate() {
        assert!((g - w).norm() < 1e-11, "slot {i}: {g}, not {w}");
    }
}

fn check_map(slots: usize, entries: &[Entry], keys: Keys) {
    let mut map = Diagonals::new(slots);
    for &(r, c, z) in entries {
        map.add(r, c, z).unwrap();
    }
    let plan = map.plan(keys).unwrap();
    let p = program(slots, |b, x| apply(b, x, &map, keys).unwrap());
    let x = vector(slots);
    let mut want = vec![Complex64::ZERO; slots];
    for &(r, c, z) in entries {
        want[r] += z * x[c];
    }
    close(&run(&p, &x), &want);
    assert_eq!(plan.rotations(), rotations(&p), "the keys that the plan reports");
    assert_eq!(manage::depth(&manage::simplify(&p).unwrap()), 1);
}

#[test]
fn random_maps() {
    let mut rng = Rng(7);
    for case in 0..64 {
        let slots = 1usize << (case % 6);
        let count = 1 + rng.below(79);
        let entries: Vec<Entry> = (0..count)
            .map(|_| (rng.below(slots), rng.below(slots), Complex64::new(rng.unit(), rng.unit())))
            .collect();
        let most = rng.below(4);
        check_map(slots, &entries, if most == 0 { Keys::Fast } else { Keys::AtMost(most) });
    }
}

#[test]
fn random_matrices() {
    let mut rng = Rng(8);
    for case in 0..64 {
        let (rows, columns) = (1 + rng.below(19), 1 + rng.below(19));
        let slots = rows.max(columns).next_power_of_two() << rng.below(3);
        check_matrix(rows, columns, slots, case % 2 == 0);
    }
}

/// The product, and what the plan promises of the slots beside it.
fn check_matrix(rows: usize, columns: usize, slots: usize, clean: bool) -> MatrixPlan {
    let value = |k: usize| Complex64::new((k as f64 * 0.37).sin() + 0.01, 0.0);
    let matrix: Vec<Complex64> = (0..rows * columns).map(value).collect();
    let plan = plan_matrix_vector(&matrix, columns, slots, clean, Keys::Fast).unwrap();
    let p = program(slots, |b, x| matrix_vector(b, x, &plan).unwrap());
    let mut x = vector(slots);
    if clean {
        x[columns..].fill(Complex64::ZERO);
    }
    let row = |r: usize| (0..columns).map(|c| matrix[r * columns + c] * x[c]).sum();
    let product: Vec<Complex64> = (0..rows).map(row).collect();
    let at = |i: usize| match plan.packing {
        Packing::Folded { period } => product.get(i % period).copied().unwrap_or_default(),
        _ => product.get(i).copied().unwrap_or_default(),
    };
    let want: Vec<Complex64> = (0..slots).map(at).collect();
    close(&run(&p, &x), &want);
    plan
}

#[test]
fn each_packing_is_chosen_where_it_is_best() {
    assert_eq!(check_matrix(8, 1024, 1024, true).packing, Packing::Folded { period: 8 });
    assert_eq!(check_matrix(1024, 8, 1024, true).packing, Packing::Repeated { period: 8 });
    // Not known to be zero beyond its columns: it cannot be repeated.
    assert_ne!(check_matrix(1024, 8, 1024, false).packing, Packing::Repeated { period: 8 });
    assert_eq!(check_matrix(4, 4, 1024, true).packing, Packing::Banded);
}

fn band(slots: usize, shifts: impl IntoIterator<Item = i64>) -> Diagonals {
    let mut map = Diagonals::new(slots);
    for d in shifts {
        for row in 0..slots {
            let column = (row as i64 + d).rem_euclid(slots as i64) as usize;
            map.add(row, column, Complex64::new(1.0 + row as f64 * 0.01, 0.0)).unwrap();
        }
    }
    map
}

#[test]
fn dense_maps_take_about_two_roots() {
    // n = 4^t diagonals: B − 1 hoisted rotations and n/B − 1 giant ones, which share one key.
    for t in 2..6u32 {
        let n = 1usize << (2 * t);
        let map = band(n, 0..n as i64);
        let plan = map.plan(Keys::Fast).unwrap();
        let (baby, giant) = (plan.baby_rotations(), plan.giant_rotations());
        assert_eq!(plan.steps().len(), n, "every diagonal once");
        // 0.4·(B − 1) + n/B − 1 is least at B = √(n/0.4).
        let time = 0.4 * baby as f64 + giant as f64;
        assert!(time <= 2.0 * (0.4 * n as f64).sqrt(), "{baby} and {giant} rotations for {n} diagonals");
        assert_eq!(plan.rotations().len(), baby + 1, "giant steps share a key");
        let one = map.plan(Keys::AtMost(1)).unwrap();
        assert_eq!((one.baby_rotations(), one.giant_rotations()), (0, n - 1));
        assert_eq!(one.rotations(), BTreeSet::from([1]));
        let five = map.plan(Keys::AtMost(5)).unwrap();
        assert!(five.rotations().len() <= 5 && five.time() >= plan.time());
    }
}

#[test]
fn structure_is_found() {
    // A 3×3 stencil on rows of 32: three columns, three rows.
    let stencil = (-1..=1).flat_map(|dy| (-1..=1).map(move |dx| 32 * dy + dx));
    let plan = band(1024, stencil).plan(Keys::Fast).unwrap();
    assert_eq!((plan.baby_rotations(), plan.giant_rotations()), (2, 2));
    assert_eq!(plan.rotations(), BTreeSet::from([1, 32, 992, 1023]));
    // Multiples of 16 alone: as few as for a dense map of 16.
    let plan = band(256, (0..16).map(|j| 16 * j)).plan(Keys::Fast).unwrap();
    assert!(plan.baby_rotations() + plan.giant_rotations() <= 8);
    assert!(plan.rotations().iter().all(|k| k % 16 == 0));
}

#[test]
fn wrong_maps_are_named() {
    let mut map = Diagonals::new(4);
    assert_eq!(
        map.add(4, 0, Complex64::ONE).unwrap_err().to_string(),
        "the entry of row 4 and column 0 is 1+0i; entries are finite and lie in the 4 slots of a ciphertext"
    );
    let nan = Complex64::new(f64::NAN, 0.0);
    assert!(matches!(map.add(0, 0, nan), Err(CircuitError::Entry { row: 0, column: 0, .. })));
    assert_eq!(map.plan(Keys::Fast), Err(CircuitError::ZeroMap));
    assert!(matches!(
        plan_matrix_vector(&[Complex64::ONE; 6], 4, 8, true, Keys::Fast),
        Err(CircuitError::MatrixShape { .. })
    ));
    map.add(0, 1, Complex64::ONE).unwrap();
    let mut b = Builder::traced("m", 8).unwrap();
    let x = b.push(Op::Input("x".into())).unwrap();
    assert_eq!(apply(&mut b, x, &map, Keys::Fast), Err(CircuitError::SlotCount { found: 4, slots: 8 }));
}
