//! Polynomials against exact rational arithmetic, and their cost against closed forms.

use std::collections::BTreeMap;

use crate::common::Rng;

use num_bigint::BigInt;
use num_complex::Complex64;
use num_rational::Ratio;
use num_traits::{ToPrimitive, Zero};
use ringmill_circuits::polynomial::{Basis, Polynomial, evaluate};
use ringmill_program::he::{Builder, Op, OpKind, Program, evaluate_clear, parse};
use ringmill_program::manage;

type Exact = Ratio<BigInt>;

fn exact(x: f64) -> Exact {
    let (mantissa, exponent, sign) = num_traits::float::FloatCore::integer_decode(x);
    let two = BigInt::from(2).pow(u32::from(exponent.unsigned_abs()));
    let whole = BigInt::from(i64::from(sign)) * BigInt::from(mantissa);
    if exponent < 0 { Ratio::new(whole, two) } else { Ratio::from_integer(whole * two) }
}

/// Σ c_i·b_i(x) by the definition: b_0 = 1, b_1 = x, x^i or 2·x·T_{i−1} − T_{i−2}.
fn definition(basis: Basis, c: &[f64], x: f64) -> f64 {
    let x = exact(x);
    let (mut before, mut now) = (Exact::from_integer(1.into()), x.clone());
    let mut sum = exact(c[0]);
    for &c in &c[1..] {
        sum += exact(c) * &now;
        let next = match basis {
            Basis::Monomial => &now * &x,
            Basis::Chebyshev => Exact::from_integer(2.into()) * &x * &now - &before,
        };
        before = std::mem::replace(&mut now, next);
    }
    // Truncated at 2^−80.
    let fixed: BigInt = (sum.numer() << 80u32) / sum.denom();
    fixed.to_f64().unwrap() / 2f64.powi(80)
}

fn program(p: &Polynomial, slots: usize) -> Program {
    let mut b = Builder::traced("p", slots).unwrap();
    let x = b.push(Op::Input("x".into())).unwrap();
    let y = evaluate(&mut b, x, p).unwrap();
    b.output("y", y).unwrap();
    b.finish().unwrap()
}

fn products(p: &Program) -> usize {
    let is_ct = |v| p.instr(v).ty.is_ct();
    let product = |op: &Op| match *op {
        Op::Square(_) => true,
        Op::Mul(a, b) => is_ct(a) && is_ct(b),
        _ => false,
    };
    p.instrs().iter().filter(|i| product(&i.op)).count()
}

fn check(basis: Basis, c: &[f64]) {
    let p = Polynomial::new(basis, c).unwrap();
    let xs: Vec<f64> = (0..8).map(|i| (f64::from(i) - 3.5) / 3.5).collect();
    let program = program(&p, 8);
    let inputs = BTreeMap::from([("x".to_owned(), xs.iter().map(|&x| Complex64::new(x, 0.0)).collect())]);
    let got = &evaluate_clear(&program, &inputs).unwrap()["y"];
    let size: f64 = c.iter().map(|c| c.abs()).sum();
    for (&x, got) in xs.iter().zip(got) {
        let want = definition(basis, c, x);
        // The recursion doubles a rounding error at each of at most six levels.
        assert!((got.re - want).abs() <= size * 2f64.powi(-42), "p({x}) = {want}, not {got}");
    }
    let plan = p.plan();
    assert_eq!(products(&program), plan.products(), "{plan:?}");
    assert_eq!(manage::depth(&manage::simplify(&program).unwrap()), plan.depth(), "{plan:?}");
    let terms = p.degree() + 1;
    assert!(plan.depth() <= terms.next_power_of_two().ilog2(), "{plan:?}");
}

/// Up to 48 coefficients: any numbers, small integers, zeros; all, the odd or the even ones.
fn coefficients(rng: &mut Rng) -> Vec<f64> {
    let (count, parity) = (2 + rng.below(46), rng.below(3));
    let mut c: Vec<f64> = (0..count)
        .map(|i| match rng.below(7) {
            _ if parity < 2 && i % 2 != parity => 0.0,
            0 => rng.below(7) as f64 - 3.0,
            1 | 2 => 0.0,
            _ => 2.0 * rng.unit(),
        })
        .collect();
    c[1 + rng.below(count - 1)] = 0.7;
    c
}

#[test]
fn random_polynomials() {
    let mut rng = Rng(20_261_121);
    for case in 0..96 {
        let basis = if case % 2 == 0 { Basis::Monomial } else { Basis::Chebyshev };
        check(basis, &coefficients(&mut rng));
    }
}

/// Degree 2^t − 1, no coefficient zero: 2^s + 2^(t−s) + t − 4 products with blocks of 2^s terms, in t levels.
#[test]
fn dense_polynomials_take_as_many_products_as_the_closed_form_says() {
    for basis in [Basis::Monomial, Basis::Chebyshev] {
        for t in 2..9u32 {
            let c: Vec<f64> = (0..1 << t).map(|i| 0.3 + 1.0 / f64::from(i + 7)).collect();
            let plan = Polynomial::new(basis, &c).unwrap().plan();
            let closed = (1..=t).map(|s| (1 << s) + (1 << (t - s)) + t as usize - 4).min().unwrap();
            assert_eq!((plan.depth(), plan.products()), (t, closed), "2^{t} terms, {basis:?}");
        }
    }
}

/// Odd ones: 2^(s−1) + 2^(t−s) + t + s − 4.
#[test]
fn odd_polynomials_take_fewer() {
    for t in 3..9u32 {
        let c: Vec<f64> = (0..1 << t).map(|i| f64::from(i % 2) * (0.3 + 1.0 / f64::from(i + 7))).collect();
        let plan = Polynomial::new(Basis::Chebyshev, &c).unwrap().plan();
        let closed =
            (1..=t).map(|s| (1usize << (s - 1)) + (1 << (t - s)) + (t + s) as usize - 4).min().unwrap();
        assert_eq!((plan.depth(), plan.products()), (t, closed), "2^{t} terms");
        // Multiplications by coefficients: one a coefficient that is not zero, and no more.
        let program = program(&Polynomial::new(Basis::Monomial, &c).unwrap(), 1);
        let constants = program.instrs().iter().filter(|i| i.op.kind() == OpKind::Const).count();
        assert_eq!(constants, 1 << (t - 1));
    }
}

#[test]
fn a_power_alone_takes_its_squarings() {
    for basis in [Basis::Monomial, Basis::Chebyshev] {
        for t in 1..11 {
            let mut c = vec![0.0; (1 << t) + 1];
            c[1 << t] = 1.0;
            let plan = Polynomial::new(basis, &c).unwrap().plan();
            assert_eq!((plan.depth(), plan.products()), (t, t as usize));
        }
    }
}

#[test]
fn everything_stands_in_one_region() {
    let p = Polynomial::new(Basis::Chebyshev, &[0.1, 0.2, 0.0, 0.4]).unwrap();
    let mut b = Builder::traced("p", 4).unwrap();
    let x = b.push(Op::Input("x".into())).unwrap();
    let y = evaluate(&mut b, x, &p).unwrap();
    b.region("sigmoid");
    let z = evaluate(&mut b, y, &p).unwrap();
    let last = b.push(Op::Neg(z)).unwrap();
    b.output("y", last).unwrap();
    let program = b.finish().unwrap();
    let regions = program.regions();
    // In the order of their first instructions.
    assert_eq!(regions, ["polynomial of degree 3", "sigmoid: polynomial of degree 3", "sigmoid"]);
    assert_eq!(program.instr(last).region.map(|r| r.0), Some(2));
}

/// Chebyshev polynomials of x in [−1, 1] are bounded by their maximum, which the text carries to parameters and predictions.
#[test]
fn bounds_are_stated() {
    let c = [0.1, 0.6, 0.0, -0.3, 0.0, 0.2];
    let p = Polynomial::new(Basis::Chebyshev, &c).unwrap();
    let largest = p.largest().unwrap();
    let on_grid = (0..=1000).map(|i| definition(Basis::Chebyshev, &c, f64::from(i) / 500.0 - 1.0).abs());
    let found = on_grid.fold(0.0, f64::max);
    assert!(found <= largest && largest <= 1.006 * found, "{largest} for a maximum of {found}");
    assert_eq!(Polynomial::new(Basis::Monomial, &c).unwrap().largest(), None);

    let traced = program(&p, 4);
    let text = traced.to_string();
    assert_eq!(parse(&text).unwrap(), traced, "{text}");
    assert!(text.contains(" within 1.0\n") && text.contains(&format!(" within {largest:?}\n")), "{text}");
    let simple = manage::simplify(&traced).unwrap();
    let output = simple.outputs()[0].value;
    assert_eq!(manage::ranges(&simple, 1.0, true)[output.index()], largest);
    // What is added up on the way: 0.4 + 1.0 + 1.1 + 0.1 after two divisions.
    assert!(manage::ranges(&simple, 1.0, true).iter().all(|&r| r <= 2.6 + 1e-9), "{text}");

    let error =
        parse("he @f traced slots 4\n%0 = input \"x\" within 0\noutput \"y\", %0\nend\n").unwrap_err();
    assert_eq!(error.to_string(), "line 2: a value is within 0; the bound must be positive and finite");
}

#[test]
fn wrong_coefficients_are_named() {
    let message = |c: &[f64]| Polynomial::new(Basis::Monomial, c).unwrap_err().to_string();
    assert_eq!(
        message(&[1.0, f64::NAN]),
        "coefficient 1 of the polynomial is NaN; only finite numbers can be encoded"
    );
    let constant = "a polynomial of degree 0 does not depend on the encrypted value; use the constant itself";
    assert_eq!(message(&[]), constant);
    assert_eq!(message(&[2.0, 0.0]), constant);
    assert_eq!(message(&[1.0; 5000]), "a polynomial of degree 4999 is too large; the highest degree is 4095");
}

#[test]
fn rounding_of_a_fit_costs_nothing() {
    let noisy = [0.5, 1.0, 1e-17, 0.25];
    let complex = |c: [f64; 4]| c.map(|c| Complex64::new(c, 0.0));
    let of = |basis| Polynomial::new(basis, &noisy).unwrap();
    assert_eq!(of(Basis::Chebyshev).coefficients(), complex([0.5, 1.0, 0.0, 0.25]));
    // Powers of a large x may need a small coefficient.
    assert_eq!(of(Basis::Monomial).coefficients(), complex(noisy));
    assert!(exact(0.0).is_zero());
}
