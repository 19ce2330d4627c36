//! The algebra keeps what a program computes, never costs more, and reaches what is written by hand.

use crate::common::Rng;
use num_complex::Complex64;
use ringmill_circuits::algebra::{Cost, Folded, fold};
use ringmill_circuits::linear::{self, Diagonals, Keys};
use ringmill_program::he::{Builder, Constant, Numbers, Op, Program, Value, Vectors, evaluate_clear, verify};

const SLOTS: usize = 16;

/// Writes a program of a few inputs.
struct Text {
    b: Builder,
}

impl Text {
    fn new(inputs: &[&str]) -> (Self, Vec<Value>) {
        let mut b = Builder::traced("f", SLOTS).unwrap();
        let values = inputs.iter().map(|name| b.push(Op::Input((*name).into())).unwrap()).collect();
        (Self { b }, values)
    }

    fn push(&mut self, op: Op) -> Value {
        self.b.push(op).unwrap()
    }

    fn number(&mut self, c: f64) -> Value {
        self.push(Op::Const(Constant::Real(c)))
    }

    fn vector(&mut self, numbers: Vec<f64>) -> Value {
        self.push(Op::Const(Constant::List(Numbers::Real(numbers).into())))
    }

    fn times(&mut self, a: Value, c: f64) -> Value {
        let c = self.number(c);
        self.push(Op::Mul(a, c))
    }

    fn plus(&mut self, a: Value, c: f64) -> Value {
        let c = self.number(c);
        self.push(Op::Add(a, c))
    }

    fn folded(mut self, outputs: &[Value]) -> (Program, Folded) {
        for (i, &y) in outputs.iter().enumerate() {
            self.b.output(&format!("y{i}"), y).unwrap();
        }
        let traced = self.b.finish().unwrap();
        let folded = fold(&traced, 1.0, false).unwrap();
        verify(&folded.program).unwrap();
        assert_eq!(folded.before, Cost::of(&traced).unwrap());
        assert_eq!(folded.after, Cost::of(&folded.program).unwrap());
        same(&traced, &folded.program, 1e-9);
        (traced, folded)
    }
}

/// Asserts that both programs give the same slots, for several inputs up to 1.
fn same(a: &Program, b: &Program, tolerance: f64) {
    let names = |p: &Program| p.inputs().map(|(_, name, _)| name.to_owned()).collect::<Vec<_>>();
    assert_eq!(names(a), names(b));
    let mut rng = Rng(7);
    for _ in 0..3 {
        let mut draw = || (0..SLOTS).map(|_| Complex64::new(rng.unit(), rng.unit()) * 0.7).collect();
        let mut inputs: Vectors = names(a).into_iter().map(|name| (name, draw())).collect();
        inputs.insert("weights".into(), draw());
        let (x, y) = (evaluate_clear(a, &inputs).unwrap(), evaluate_clear(b, &inputs).unwrap());
        assert!(x.keys().eq(y.keys()));
        for (x, y) in x.values().flatten().zip(y.values().flatten()) {
            assert!((x - y).norm() <= tolerance * (1.0 + x.norm()), "{x} is {y} in\n{a}\n{b}");
        }
    }
}

#[test]
fn a_recurrence_by_constants_takes_one_level() {
    let (mut t, v) = Text::new(&["x", "y"]);
    let (y, mut state) = (v[1], v[0]);
    for _ in 0..40 {
        // Kalman's filter with a constant gain.
        let predicted = t.times(state, 0.9);
        let difference = t.push(Op::Sub(y, predicted));
        let correction = t.times(difference, 0.25);
        state = t.push(Op::Add(predicted, correction));
    }
    let (_, folded) = t.folded(&[state]);
    assert!(folded.before.depth >= 40);
    assert_eq!((folded.after.depth, folded.after.products), (1, 2));
}

#[test]
fn nested_maps_by_vectors_take_one_level() {
    let (mut t, v) = Text::new(&["x"]);
    let ramp = t.vector((0..SLOTS).map(|i| i as f64 / 16.0).collect());
    let wave = t.vector((0..SLOTS).map(|i| (i as f64).sin()).collect());
    let a = t.push(Op::Mul(v[0], ramp));
    let a = t.push(Op::Add(a, wave));
    let a = t.push(Op::Mul(wave, a));
    let a = t.push(Op::Rotate { a, k: 3, hoist: None });
    let a = t.push(Op::Mul(a, ramp));
    let a = t.push(Op::Sub(ramp, a));
    let (_, folded) = t.folded(&[a]);
    assert_eq!((folded.before.depth, folded.after.depth), (3, 1));
    assert_eq!((folded.after.key_switches, folded.after.products), (1, 1));
}

#[test]
fn chains_of_products_are_balanced() {
    for count in 3..=9u32 {
        // a·(b·(c·d)) of different factors, and powers one factor at a time.
        let names: Vec<String> = (0..count).map(|i| format!("x{i}")).collect();
        let (mut t, v) = Text::new(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let all = v.iter().rev().copied().reduce(|product, x| t.push(Op::Mul(x, product))).unwrap();
        let (_, folded) = t.folded(&[all]);
        assert_eq!(folded.after.depth, count.next_power_of_two().ilog2(), "{count} factors");
        assert_eq!(folded.after.key_switches, count as usize - 1);
        let (mut t, v) = Text::new(&["x"]);
        let power = (1..count).fold(v[0], |power, _| t.push(Op::Mul(power, v[0])));
        let (_, folded) = t.folded(&[power]);
        assert_eq!(folded.after.depth, count.next_power_of_two().ilog2(), "power {count}");
        assert!(folded.after.key_switches <= folded.before.key_switches);
        if count == 8 {
            assert_eq!(folded.after.key_switches, 3);
        }
    }
}

#[test]
fn polynomials_are_found_however_they_are_written() {
    let c = [0.5, 1.5, -2.0, 0.75, 0.1, -0.3, 0.2, 0.05];
    for degree in 3..c.len() {
        // Horner's form, and powers one after the other.
        let (mut t, v) = Text::new(&["x"]);
        let first = t.times(v[0], c[degree]);
        let first = t.plus(first, c[degree - 1]);
        let horner = (0..degree - 1).rev().fold(first, |sum, i| {
            let product = t.push(Op::Mul(sum, v[0]));
            t.plus(product, c[i])
        });
        let (_, folded) = t.folded(&[horner]);
        let least = (degree as u32 + 1).next_power_of_two().ilog2();
        assert_eq!(folded.after.depth, least, "Horner's form of degree {degree}");
        let (mut t, v) = Text::new(&["x"]);
        let (mut power, mut sum) = (v[0], t.times(v[0], c[1]));
        for &c in &c[2..=degree] {
            power = t.push(Op::Mul(power, v[0]));
            let term = t.times(power, c);
            sum = t.push(Op::Add(sum, term));
        }
        let sum = t.plus(sum, c[0]);
        let (_, folded) = t.folded(&[sum]);
        assert_eq!(folded.after.depth, least, "powers up to {degree}");
        assert!(folded.after.key_switches <= folded.before.key_switches);
    }
}

#[test]
fn means_are_folded_into_what_follows() {
    let (mut t, v) = Text::new(&["x"]);
    let sum = t.push(Op::Sum { a: v[0], count: SLOTS, stride: 1 });
    let mean = t.times(sum, 1.0 / SLOTS as f64);
    let centred = t.push(Op::Sub(v[0], mean));
    let scaled = t.times(centred, 0.37);
    let shifted = t.plus(scaled, 0.2);
    let (_, folded) = t.folded(&[shifted]);
    assert_eq!((folded.before.depth, folded.after.depth), (2, 1));
    assert_eq!(folded.after.key_switches, folded.before.key_switches);
}

#[test]
fn covariances_take_one_level_for_all_their_means() {
    let (mut t, v) = Text::new(&["x", "y"]);
    let part = 1.0 / SLOTS as f64;
    let centred: Vec<Value> = v
        .iter()
        .map(|&x| {
            let sum = t.push(Op::Sum { a: x, count: SLOTS, stride: 1 });
            let mean = t.times(sum, part);
            t.push(Op::Sub(x, mean))
        })
        .collect();
    let product = t.push(Op::Mul(centred[0], centred[1]));
    let sum = t.push(Op::Sum { a: product, count: SLOTS, stride: 1 });
    let mean = t.times(sum, part);
    let (_, folded) = t.folded(&[mean]);
    assert_eq!((folded.before.depth, folded.after.depth), (3, 2));
    assert!(folded.largest >= (SLOTS * SLOTS) as f64, "{}", folded.largest);
}

#[test]
fn linear_maps_in_a_row_are_one() {
    let (mut t, v) = Text::new(&["x"]);
    let mut rng = Rng(3);
    let mut map = || {
        let mut diagonal = |_| (0..SLOTS).map(|_| Complex64::new(rng.unit(), 0.0)).collect();
        Diagonals::from_shifts(SLOTS, (0..SLOTS).map(|k| (k, diagonal(k))).collect()).unwrap()
    };
    let maps = [map(), map(), map()];
    let y = maps.iter().fold(v[0], |x, map| linear::apply(&mut t.b, x, map, Keys::Fast).unwrap());
    let (_, folded) = t.folded(&[y]);
    assert_eq!((folded.before.depth, folded.after.depth), (3, 1));
    assert_eq!(folded.after.key_switches * 3, folded.before.key_switches);
}

#[test]
fn what_would_cancel_is_not_expanded() {
    // T_16 by doubling: its coefficients of powers are larger than it by 2^13.
    let (mut t, v) = Text::new(&["x"]);
    let cosine = (0..4).fold(v[0], |x, _| {
        let square = t.push(Op::Square(x));
        let double = t.times(square, 2.0);
        t.plus(double, -1.0)
    });
    let (traced, folded) = t.folded(&[cosine]);
    assert_eq!(folded.after.depth, 4);
    assert!(folded.program.instrs().len() <= traced.instrs().len());
}

#[test]
fn promises_stay_with_their_values() {
    let (mut t, v) = Text::new(&["x"]);
    let a = t.times(v[0], 0.5);
    t.b.promise(a, 0.125).unwrap();
    let b = t.times(a, 0.3);
    let c = t.plus(b, 1.0);
    let y = t.times(c, 0.7);
    let (_, folded) = t.folded(&[y]);
    assert_eq!((folded.before.depth, folded.after.depth), (2, 1));
    assert_eq!(folded.program.instrs().iter().filter_map(|i| i.within).collect::<Vec<_>>(), [0.125]);
}

/// A program of random operations on what is there.
fn random(seed: u64) -> (Text, Vec<Value>) {
    let mut rng = Rng(seed);
    let (mut t, mut values) = Text::new(&["x", "y", "z"]);
    let weights = t.push(Op::Plain("weights".into()));
    let numbers = [0.5, -0.25, 2.0, 0.3, -1.0, 0.9, 1.0, 0.0];
    for _ in 0..4 + rng.below(20) {
        // Half of the operations go on from what was computed last.
        let last = values[values.len() - 1];
        let a = if rng.below(2) == 0 { last } else { values[rng.below(values.len())] };
        let b = values[rng.below(values.len())];
        let c = numbers[rng.below(numbers.len())];
        let value = match rng.below(13) {
            0 | 1 => t.push(Op::Add(a, b)),
            2 => t.push(Op::Sub(a, b)),
            3 | 4 => t.push(Op::Mul(a, b)),
            5 => t.push(Op::Neg(a)),
            6 => t.push(Op::Rotate { a, k: rng.below(9) as i64 - 4, hoist: None }),
            7 => t.push(Op::Sum { a, count: 1 + rng.below(6), stride: 1 + rng.below(3) as i64 }),
            8 => t.push(Op::Conj { a, hoist: None }),
            9 => {
                let numbers = (0..SLOTS).map(|_| rng.unit()).collect();
                let c = t.vector(numbers);
                if rng.below(2) == 0 { t.push(Op::Mul(a, c)) } else { t.push(Op::Sub(c, a)) }
            }
            10 => t.push(Op::Mul(weights, a)),
            11 => t.plus(a, c),
            _ => t.times(a, c),
        };
        values.push(value);
    }
    let outputs = (0..1 + rng.below(3)).map(|_| values[3 + rng.below(values.len() - 3)]).collect();
    (t, outputs)
}

#[test]
fn random_programs_keep_their_meaning_and_never_cost_more() {
    let mut cheaper = 0;
    for seed in 0..600 {
        let (mut t, outputs) = random(seed);
        for (i, &y) in outputs.iter().enumerate() {
            t.b.output(&format!("y{i}"), y).unwrap();
        }
        let traced = t.b.finish().unwrap();
        let folded = fold(&traced, 1.0, false).unwrap();
        verify(&folded.program).unwrap();
        let mut inputs = Vectors::new();
        let mut rng = Rng(seed ^ 99);
        for name in ["x", "y", "z", "weights"] {
            let draw = (0..SLOTS).map(|_| Complex64::new(rng.unit(), rng.unit()) * 0.7).collect();
            inputs.insert(name.into(), draw);
        }
        let (x, y) =
            (evaluate_clear(&traced, &inputs).unwrap(), evaluate_clear(&folded.program, &inputs).unwrap());
        // What cancels in one form may not in the other: errors relative to the largest value on the way.
        let most = most(&traced, &inputs);
        for (x, y) in x.values().flatten().zip(y.values().flatten()) {
            assert!(
                (x - y).norm() <= 1e-11 * (1.0 + most),
                "seed {seed}: {x} is {y} in\n{traced}\n{}",
                folded.program
            );
        }
        let (before, after) = (folded.before, folded.after);
        assert_eq!(after, Cost::of(&folded.program).unwrap(), "seed {seed}");
        assert!(after.depth <= before.depth && after.key_switches <= before.key_switches, "seed {seed}");
        cheaper += usize::from(after.depth < before.depth);
    }
    assert!(cheaper > 20, "{cheaper} programs lost a level");
}

/// The largest number that is met: outputs of every prefix.
fn most(p: &Program, inputs: &Vectors) -> f64 {
    let mut b = Builder::traced("all", p.slots()).unwrap();
    for instr in p.instrs() {
        b.push(instr.op.clone()).unwrap();
    }
    for (i, (v, instr)) in p.values().enumerate() {
        if instr.ty.is_ct() {
            b.output(&format!("v{i}"), v).unwrap();
        }
    }
    let all = evaluate_clear(&b.finish().unwrap(), inputs).unwrap();
    all.values().flatten().map(|z| z.norm()).fold(0.0, f64::max)
}
