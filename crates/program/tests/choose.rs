//! Parameters by need: the accuracy wanted is predicted, and not bought too dearly.

use ringmill_program::he::{Builder, Constant, Op, Program};
use ringmill_program::manage::{Accuracy, ChooseError, choose};

/// x^(2^depth) · 0.3 + rot(x, 1), over `slots` slots.
fn power(depth: u32, slots: usize) -> Program {
    let mut b = Builder::traced("power", slots).unwrap();
    let x = b.push(Op::Input("x".into())).unwrap();
    let c = b.push(Op::Const(Constant::Real(0.3))).unwrap();
    let mut y = x;
    for _ in 0..depth {
        y = b.push(Op::Square(y)).unwrap();
    }
    let scaled = b.push(Op::Mul(y, c)).unwrap();
    let turned = b.push(Op::Rotate { a: x, k: 1, hoist: None }).unwrap();
    let sum = b.push(Op::Add(scaled, turned)).unwrap();
    b.output("y", sum).unwrap();
    b.finish().unwrap()
}

#[test]
fn the_accuracy_wanted_is_predicted_and_not_much_more() {
    for (bits, magnitude, depth, slots) in [
        (8, 1.0, 0, 16),
        (20, 1.0, 1, 1024),
        (12, 8.0, 3, 64),
        (25, 0.5, 5, 4096),
        (20, 16.0, 2, 512),
        (20, 1.0, 10, 2048),
        (15, 0.5, 30, 64),
    ] {
        let want = Accuracy { bits, magnitude, ..Accuracy::default() };
        let plan = choose(&power(depth, slots), &want).unwrap();
        let spare = -plan.error.log2() - f64::from(bits);
        // The first guess lies four bits low and each correction goes up by what is lacking; scales have a least size.
        assert!(
            (0.0..=8.0).contains(&spare),
            "{bits} bits, depth {depth}: {spare:.1} bits to spare; {}",
            plan.rationale
        );
        assert!(plan.params.slots() >= slots);
        assert_eq!(plan.params.security().category(), Some(128), "{}", plan.rationale);
        assert_eq!(plan.managed.summary.depth, depth + 1);
    }
}

#[test]
fn what_cannot_be_had_is_named() {
    let program = power(2, 16);
    let zero = choose(&program, &Accuracy { magnitude: 0.0, ..Accuracy::default() }).unwrap_err();
    assert!(zero.to_string().contains("magnitude bound is 0"), "{zero}");
    let wide = choose(&program, &Accuracy { bits: 60, ..Accuracy::default() }).unwrap_err();
    assert!(matches!(wide, ChooseError::Params { bits: 60, depth: 3, .. }), "{wide}");
    let deep = choose(&power(60, 16), &Accuracy { bits: 8, ..Accuracy::default() }).unwrap_err();
    assert!(deep.to_string().contains("needs 61 levels"), "{deep}");
    let deeper = choose(&power(70, 16), &Accuracy::default()).unwrap_err();
    assert!(deeper.to_string().contains("depth 71"), "{deeper}");
}
