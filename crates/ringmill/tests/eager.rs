//! Every eager operation against complex arithmetic, at every level, merged and apart.

use crate::common::{World, distance, encode, params};
use num_complex::Complex64;
use ringmill::ckks::{Ciphertext, Level, Scale};
use ringmill::{Error, Evaluator};

fn world(alpha: usize) -> World {
    World::new(params(3, alpha), &[1, 2, 3, 4, -1, 7, 100], 1)
}

/// Decrypts and compares; the error must be below what the ciphertext predicts.
fn check(w: &World, what: &str, c: &Ciphertext, wanted: &[Complex64]) {
    let measured = distance(&w.decrypt(c), wanted);
    let predicted = c.noise().error(c.slots());
    assert!(measured <= predicted * 2f64.sqrt(), "{what}: error {measured:.3e}, predicted {predicted:.3e}");
    assert!(predicted < 1e-5, "{what}: predicted {predicted:.3e}");
}

fn zip(x: &[Complex64], y: &[Complex64], f: impl Fn(Complex64, Complex64) -> Complex64) -> Vec<Complex64> {
    x.iter().zip(y).map(|(&x, &y)| f(x, y)).collect()
}

fn rolled(x: &[Complex64], k: i64) -> Vec<Complex64> {
    (0..x.len()).map(|i| x[(i as i64 + k).rem_euclid(x.len() as i64) as usize]).collect()
}

#[test]
fn operations_without_keys_at_every_level() {
    let mut w = world(1);
    for level in (0..=3).map(Level::new) {
        let (x, y) = (w.rng.vector(512, 1.0), w.rng.vector(512, 1.0));
        let (a, b) = (w.encrypt(&x, level), w.encrypt(&y, level));
        let p = encode(&w.params, &y, w.params.max_level(), a.scale());
        let e = w.evaluator.clone();
        check(&w, "add", &e.add(&a, &b).unwrap(), &zip(&x, &y, |x, y| x + y));
        check(&w, "sub", &e.sub(&a, &b).unwrap(), &zip(&x, &y, |x, y| x - y));
        check(&w, "negate", &e.negate(&a).unwrap(), &zip(&x, &x, |x, _| -x));
        check(&w, "add_plain", &e.add_plain(&a, &p).unwrap(), &zip(&x, &y, |x, y| x + y));
        check(&w, "sub_plain", &e.sub_plain(&a, &p).unwrap(), &zip(&x, &y, |x, y| x - y));
        check(&w, "add_scalar", &e.add_scalar(&a, -0.75).unwrap(), &zip(&x, &x, |x, _| x - 0.75));
        check(&w, "multiply_integer", &e.multiply_integer(&a, -3).unwrap(), &zip(&x, &x, |x, _| x * -3.0));
        if level == Level::ZERO {
            assert!(matches!(e.rescale(&a), Err(Error::LevelExhausted { op: "rescale" })));
            assert!(matches!(e.multiply_scalar(&a, 0.5), Err(Error::LevelExhausted { .. })));
            continue;
        }
        let scaled = e.multiply_scalar(&a, 0.3).unwrap();
        let back = e.rescale(&scaled).unwrap();
        assert_eq!(back.scale(), a.scale());
        check(&w, "multiply_scalar", &back, &zip(&x, &x, |x, _| x * 0.3));
        let factor = encode(&w.params, &y, level, &e.factor_scale(&a).unwrap());
        let back = e.rescale(&e.multiply_plain(&a, &factor).unwrap()).unwrap();
        assert_eq!((back.scale(), back.level()), (a.scale(), level.down().unwrap()));
        check(&w, "multiply_plain", &back, &zip(&x, &y, |x, y| x * y));
        let low = e.drop_level(&a, Level::ZERO).unwrap();
        check(&w, "drop_level", &low, &x);
    }
}

#[test]
fn products_merged_and_apart_at_every_level_and_digit_size() {
    for alpha in [1, 2, 3, 4] {
        let mut w = world(alpha);
        for level in (1..=3).map(Level::new) {
            let (x, y) = (w.rng.vector(512, 1.0), w.rng.vector(512, 1.0));
            let (a, b) = (w.encrypt(&x, level), w.encrypt(&y, level));
            let (e, key) = (w.evaluator.clone(), &w.relin);
            let product = zip(&x, &y, |x, y| x * y);
            let three = e.multiply(&a, &b).unwrap();
            check(&w, "multiply", &three, &product);
            let two = e.relinearise(&three, key).unwrap();
            check(&w, "relinearise", &two, &product);
            assert_eq!(e.multiply_relinearise(&a, &b, key).unwrap(), two);
            check(&w, "rescale", &e.rescale(&two).unwrap(), &product);
            let merged = e.multiply_relinearise_rescale(&a, &b, key).unwrap();
            check(&w, "multiply_relinearise_rescale", &merged, &product);
            assert_eq!(e.relinearise_rescale(&three, key).unwrap(), merged);
            // A product may be added before it is relinearised.
            let sum = e.add(&three, &three).unwrap();
            check(&w, "add", &e.relinearise_rescale(&sum, key).unwrap(), &zip(&x, &y, |x, y| 2.0 * x * y));
            let square = zip(&x, &x, |x, _| x * x);
            let three = e.square(&a).unwrap();
            assert_eq!(e.square_relinearise(&a, key).unwrap(), e.relinearise(&three, key).unwrap());
            check(&w, "square", &e.square_relinearise_rescale(&a, key).unwrap(), &square);
        }
    }
}

#[test]
fn rotations_conjugation_and_sums() {
    for (alpha, slots) in [(1, 512), (2, 512), (4, 16)] {
        let mut w = world(alpha);
        for level in (0..=3).map(Level::new) {
            let x = w.rng.vector(slots, 1.0);
            let a = w.encrypt(&x, level);
            let (e, keys) = (w.evaluator.clone(), &w.galois);
            for k in [1, -1, 7, 0] {
                check(&w, "rotate", &e.rotate(&a, k, keys).unwrap(), &rolled(&x, k));
            }
            let steps = [1, 3, 0, 7, 3];
            for (c, k) in e.rotate_hoisted(&a, &steps, keys).unwrap().iter().zip(steps) {
                check(&w, "rotate_hoisted", c, &rolled(&x, k));
            }
            let conjugate: Vec<Complex64> = x.iter().map(|z| z.conj()).collect();
            check(&w, "conjugate", &e.conjugate(&a, keys).unwrap(), &conjugate);
            for (count, stride) in [(1, 1), (2, 1), (3, 1), (5, 1), (8, 1)] {
                let wanted = (0..count).fold(vec![Complex64::ZERO; slots], |s, j| {
                    zip(&s, &rolled(&x, j as i64 * stride), |a, b| a + b)
                });
                let c = e.sum(&a, count, stride, keys).unwrap();
                check(&w, "sum", &c, &wanted);
            }
        }
    }
}

#[test]
fn rotations_of_a_sum() {
    assert_eq!(Evaluator::sum_rotations(8, 1, 512), [1, 2, 4]);
    assert_eq!(Evaluator::sum_rotations(5, 1, 512), [1, 2, 4]);
    assert_eq!(Evaluator::sum_rotations(6, -1, 16), [13, 14, 15]);
    assert_eq!(Evaluator::sum_rotations(1, 1, 512), [0i64; 0]);
}

/// `_into`, over another ciphertext, and `_assign` of each operation give what the operation gives.
macro_rules! assert_spellings {
    ($e:ident over $other:ident: $($op:ident, $into:ident, $assign:ident ($a:expr $(, $arg:expr)*);)*) => {$(
        let wanted = $e.$op($a $(, $arg)*).unwrap();
        let mut out = $other.clone();
        $e.$into($a $(, $arg)*, &mut out).unwrap();
        assert_eq!(out, wanted, stringify!($into));
        let mut out = $a.clone();
        $e.$assign(&mut out $(, $arg)*).unwrap();
        assert_eq!(out, wanted, stringify!($assign));
    )*};
}

#[test]
fn spellings_agree() {
    let mut w = world(2);
    let (x, y) = (w.rng.vector(512, 1.0), w.rng.vector(512, 1.0));
    let level = Level::new(2);
    let (a, b) = (&w.encrypt(&x, level), &w.encrypt(&y, level));
    let (e, relin, galois) = (&w.evaluator, &w.relin, &w.galois);
    let p = &encode(&w.params, &y, level, a.scale());
    let factor = &encode(&w.params, &y, level, &e.factor_scale(a).unwrap());
    let three = &e.multiply(a, b).unwrap();
    let other = &e.drop_level(a, Level::ZERO).unwrap();
    assert_spellings! {e over other:
        add, add_into, add_assign(a, b);
        sub, sub_into, sub_assign(a, b);
        negate, negate_into, negate_assign(a);
        multiply, multiply_into, multiply_assign(a, b);
        square, square_into, square_assign(a);
        rescale, rescale_into, rescale_assign(a);
        drop_level, drop_level_into, drop_level_assign(a, Level::new(1));
        add_plain, add_plain_into, add_plain_assign(a, p);
        sub_plain, sub_plain_into, sub_plain_assign(a, p);
        multiply_plain, multiply_plain_into, multiply_plain_assign(a, factor);
        add_scalar, add_scalar_into, add_scalar_assign(a, 0.5);
        multiply_scalar, multiply_scalar_into, multiply_scalar_assign(a, 0.3);
        multiply_integer, multiply_integer_into, multiply_integer_assign(a, -3);
        multiply_scalar_at, multiply_scalar_at_into, multiply_scalar_at_assign(a, 0.3, Scale::pow2(20));
        relinearise, relinearise_into, relinearise_assign(three, relin);
        relinearise_rescale, relinearise_rescale_into, relinearise_rescale_assign(three, relin);
        multiply_relinearise, multiply_relinearise_into, multiply_relinearise_assign(a, b, relin);
        multiply_relinearise_rescale, multiply_relinearise_rescale_into, multiply_relinearise_rescale_assign(a, b, relin);
        square_relinearise, square_relinearise_into, square_relinearise_assign(a, relin);
        square_relinearise_rescale, square_relinearise_rescale_into, square_relinearise_rescale_assign(a, relin);
        rotate, rotate_into, rotate_assign(a, 3, galois);
        conjugate, conjugate_into, conjugate_assign(a, galois);
        sum, sum_into, sum_assign(a, 3, 1, galois);
    }
    assert_eq!(&e.rotate(a, 0, galois).unwrap(), a, "no rotation is no change");
}

#[test]
fn wrong_use_is_refused_in_words() {
    let mut w = world(1);
    let x = w.rng.vector(512, 1.0);
    let (a, low) = (w.encrypt(&x, Level::new(3)), w.encrypt(&x, Level::new(1)));
    let few = w.encrypt(&x[..16], Level::new(3));
    let other = World::new(params(2, 1), &[1], 2);
    let e = &w.evaluator;
    let says = |r: Result<Ciphertext, Error>, words: &[&str]| {
        let message = r.unwrap_err().to_string();
        for word in words {
            assert!(message.contains(word), "'{message}' does not say '{word}'");
        }
    };
    says(e.add(&a, &low), &["add needs operands of one level", "3", "1", "drop_level"]);
    says(e.add(&a, &few), &["as many slots", "512", "16"]);
    let product = e.multiply(&a, &a).unwrap();
    says(e.add(&a, &product), &["one scale", "2^40", "2^80", "rescale"]);
    says(e.multiply(&a, &product), &["2 polynomials", "the right one has 3", "relinearise"]);
    says(e.rotate(&product, 1, &w.galois), &["2 polynomials", "relinearise"]);
    says(e.relinearise(&a, &w.relin), &["3 polynomials", "nothing to do"]);
    says(e.rotate(&a, 5, &w.galois), &["5^5", "galois_keys", "rotation by 1"]);
    says(e.relinearise(&product, &other.relin), &["relinearisation key", "parameters"]);
    says(other.evaluator.add(&a, &a), &["parameters"]);
    says(e.drop_level(&low, Level::new(2)), &["from level 1 to 2", "only go down"]);
    says(e.add_scalar(&a, f64::NAN), &["NaN", "finite"]);
    says(e.multiply_scalar(&a, f64::INFINITY), &["inf", "finite"]);
    says(e.sum(&a, 513, 1, &w.galois), &["513 of 512"]);
    let wide = encode(&w.params, &x, Level::new(1), &Scale::pow2(60));
    says(e.multiply_plain(&low, &wide), &["scale is 2^100 at level 1", "wrap around"]);
}

#[test]
fn one_evaluator_serves_many_threads_and_many_numbers() {
    let mut w = world(2);
    let x = w.rng.vector(512, 1.0);
    let a = w.encrypt(&x, Level::new(1));
    let e = &w.evaluator;
    let alone = e.rotate(&a, 3, &w.galois).unwrap();
    std::thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| assert_eq!(e.rotate(&a, 3, &w.galois).unwrap(), alone));
        }
    });
    let most = Evaluator::PROGRAMS;
    for i in 0..most as u32 {
        e.add_scalar(&a, f64::from(i) / 256.0).unwrap();
    }
    let turns = [1i64, 2, 3, 4, -1, 7, 100];
    for (i, j) in (0..7).flat_map(|i| (0..i).map(move |j| (i, j))) {
        e.rotate_hoisted(&a, &[turns[i], turns[j]], &w.galois).unwrap();
    }
    assert_eq!(e.programs_kept(), most, "whatever their shape, the latest are kept");
}
