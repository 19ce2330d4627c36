use super::*;
use crate::params::{NamedSet, ParamsLiteral};

fn params() -> Params {
    Params::named(NamedSet::II).unwrap()
}

fn fresh(name: u64) -> Noise {
    let scale = Scale::pow2(43);
    Noise::encoded(1.0, &scale, name).encrypt_secret(&params(), &scale, name)
}

fn close(a: f64, b: f64) {
    assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
}

#[test]
fn equal_births_add_linearly_and_others_in_squares() {
    let (x, y) = (fresh(1), fresh(2));
    close(x.add(&x).std(), 2.0 * x.std());
    close(x.add(&y).std(), 2f64.sqrt() * x.std());
    assert_eq!(x.sub(&x).std(), 0.0);
    close(x.add(&y).add(&x.sub(&y)).std(), 2.0 * x.std());
    close(x.mul_integer(-7).add(&x).std(), 6.0 * x.std());
    let sum = (0..10).fold(x.clone(), |s, _| s.add(&x));
    close(sum.std(), 11.0 * x.std());
}

#[test]
fn equal_computations_have_equal_errors() {
    let p = params();
    let scale = Scale::pow2(43);
    let by = |key, level| Switching { key, manner: KeyLayout::base(&p).into(), level: Level::new(level) };
    let switch = |x: &Noise| x.key_switch(&p, by(7, 3), &scale);
    let (x, y) = (fresh(1), fresh(2));
    assert_eq!(switch(&x).sub(&switch(&x)).std(), 0.0);
    assert!(switch(&x).sub(&switch(&y)).std() > switch(&x).std());
    // At another level, or with another key, the digits or the key's errors are others.
    for other in [by(7, 2), by(8, 3)] {
        assert!(switch(&x).sub(&x.key_switch(&p, other, &scale)).std() > 0.5 * (switch(&x).std() - x.std()));
    }
    // Multiplied by messages, the sign of an error is unknown: differences must not cancel.
    let (xy, xx) = (x.mul(&y, &p), x.mul(&x, &p));
    assert!(xy.sub(&xx).std() >= 2.9 * x.std());
}

#[test]
fn a_rotation_is_another_number_until_it_is_undone() {
    let p = params();
    let x = fresh(1);
    let r = |k| GaloisElement::rotation(k, p.log_n()).unwrap();
    let n = p.slots();
    close(x.add(&x.automorphism(r(3), n)).std(), 2f64.sqrt() * x.std());
    close(x.add(&x.automorphism(r(3), n).automorphism(r(-3), n)).std(), 2.0 * x.std());
    // Four packed slots repeat: rotating by four is the identity.
    close(x.add(&x.automorphism(r(4), 4)).std(), 2.0 * x.std());
}

#[test]
fn many_sources_keep_their_total_and_lose_none_of_it() {
    let p = params();
    let all: Vec<Noise> = (0..5000).map(fresh).collect();
    let sum = all[1..].iter().fold(all[0].clone(), |s, x| s.add(x));
    assert!(sum.sources().len() <= source::MAX_SOURCES);
    let ratio = sum.std() / (5000f64.sqrt() * all[0].std());
    assert!((1.0..5.0).contains(&ratio), "{ratio}");
    // Half of them are the same again, and it is unknown which: they add linearly.
    let again = all.iter().fold(sum.clone(), |s, x| s.add(x));
    assert!(again.std() >= 2.0 * 5000f64.sqrt() * all[0].std());
    // A sum of all slots by rotations doubles the variance each time, as long as there are names for all.
    let mut y = fresh(7);
    let first = y.std();
    for k in 0..10 {
        let g = GaloisElement::rotation(1 << k, p.log_n()).unwrap();
        y = y.add(&y.automorphism(g, p.slots()));
    }
    close(y.std(), 32.0 * first);
}

#[test]
fn what_has_no_name_adds_linearly_to_everything() {
    let (p, x, y) = (params(), fresh(1), fresh(2));
    let lost = x.unnamed();
    close(lost.add(&x).std(), 2.0 * x.std());
    close(lost.sub(&x).std(), 2.0 * x.std());
    close(lost.add(&y).std(), x.std() + y.std());
    close(lost.mul_integer(-3).add(&lost).std(), 4.0 * x.std());
    close(lost.covariance(&y), x.std() * y.std());
    assert!(lost.error(8) >= x.error(8));
    let g = GaloisElement::rotation(1, p.log_n()).unwrap();
    close(lost.add(&lost.automorphism(g, p.slots())).std(), 2.0 * x.std());
}

#[test]
fn a_bias_adds_linearly_over_slots_sums_and_products() {
    let p = params();
    let x = fresh(1).with_bias(2f64.powi(-10));
    assert_eq!(x.add(&x).bias(), 2f64.powi(-9));
    assert_eq!(x.sub(&x).bias(), 2f64.powi(-9));
    let g = GaloisElement::rotation(1, p.log_n()).unwrap();
    assert_eq!(x.add(&x.automorphism(g, p.slots())).bias(), 2f64.powi(-9));
    let square = x.clone().with_magnitude(4.0).mul(&x.clone().with_magnitude(4.0), &p);
    assert!(square.bias() >= 8.0 * 2f64.powi(-10) + 2f64.powi(-20) && square.bias() < 9.0 * 2f64.powi(-10));
    assert!(x.error(16) >= fresh(1).error(16) + 0.99 * 2f64.powi(-10));
}

#[test]
fn births_after_an_unknown_operand_add_linearly() {
    let (p, scale) = (params(), Scale::pow2(43));
    let (top, down) = (Level::new(3), |x: &Noise| x.rescale(&params(), Level::new(3), &Scale::pow2(43)));
    let factor = Noise::plain(1.0, &Scale::pow2(500));
    let (a, b) = (down(&fresh(1).mul_plain(&factor, &p)), down(&fresh(1).mul_plain(&factor, &p)));
    // Equal factors give equal roundings, others give others: neither cancels, both may add up.
    close(a.add(&b).std(), 2.0 * a.std());
    close(a.sub(&b).std(), 2.0 * a.std());
    // Of different values they are different whatever the factors.
    let other = down(&fresh(2).mul_plain(&factor, &p));
    close(a.add(&other).std(), a.std() * 2f64.sqrt());
    // Multiples and negatives of one value are roundings of one.
    let by = Switching { key: 1, manner: KeyLayout::base(&p).into(), level: top };
    let switched = |x: &Noise| x.key_switch(&p, by, &scale);
    let (x, y) = (fresh(1), fresh(2));
    assert!(switched(&x).sub(&switched(&x.mul_integer(2))).std() > switched(&x).std());
    assert_eq!(switched(&x).add(&switched(&x.neg())).std(), 0.0);
    assert_eq!(switched(&x.sub(&y)).add(&switched(&y.sub(&x))).std(), 0.0);
    let apart = switched(&x.sub(&y)).sub(&switched(&y.sub(&x)));
    close(apart.std(), 2.0 * switched(&x.sub(&y)).std());
}

#[test]
fn conjugates_have_their_real_parts_in_common() {
    let p = params();
    let (x, g) = (fresh(1), GaloisElement::conjugation(p.log_n()).unwrap());
    let conjugate = x.automorphism(g, p.slots());
    close(x.add(&conjugate).std(), 2.0 * x.std());
    close(x.sub(&conjugate).std(), 2.0 * x.std());
}

#[test]
fn products_scale_errors_by_the_other_message() {
    let p = params();
    let (x, y) = (fresh(1).with_magnitude(8.0), fresh(2).with_magnitude(3.0));
    let z = x.mul(&y, &p);
    assert_eq!(z.magnitude(), 24.0);
    let cross = (3.0 * x.std()).hypot(8.0 * y.std());
    assert!(z.std() >= 0.999_999 * cross && z.std() < cross * 1.001, "{} {cross}", z.std());
    // A square has both cross terms from one birth.
    let s = x.mul(&x, &p);
    assert!((s.std() / (16.0 * x.std()) - 1.0).abs() < 1e-3);
}

#[test]
fn a_fresh_ciphertext_shows_its_declared_bound_and_a_random_name() {
    let (p, scale) = (params(), Scale::pow2(43));
    let of = |magnitude, message| Noise::encoded(magnitude, &scale, message).encrypt_public(&p, &scale, 77);
    assert_eq!(of(5.1, 1), of(5.1, 2));
    assert_eq!(of(5.1, 3).magnitude(), 5.1);
    let summary = of(1.0, 1).summary();
    assert_eq!(summary.fresh, Some(77));
    assert_eq!(of(1.0, 1).add(&of(1.0, 1)).summary().fresh, None);
}

#[test]
fn a_summary_is_never_below_what_it_sums() {
    let (p, scale) = (params(), Scale::pow2(43));
    let x = fresh(1);
    let product = x.mul(&fresh(2), &p).rescale(&p, Level::new(3), &scale);
    for noise in [x.clone(), product, x.add(&x), Noise::exact(3.0, 1), x.off_by(1e-9, 1e-10, 64)] {
        let read = noise.summary().noise();
        assert!(read.error(64) >= noise.error(64) && read.std() <= 1.2 * noise.std());
        assert!(read.bias() >= noise.bias());
        assert_eq!(read.summary(), noise.summary());
    }
    // An encryption that was read is the one that was written, and another is another.
    let read = |name| fresh(name).summary().noise();
    assert!(read(1).add(&x).std() >= 2.0 * x.std());
    assert!(read(1).sub(&x).std() < 0.2 * x.std());
    close(read(1).add(&read(2)).std(), 2f64.sqrt() * read(1).std());
    // Of what was computed nothing is known.
    let sum = x.add(&fresh(2)).summary().noise();
    close(sum.add(&read(3)).std(), sum.std() + read(3).std());
}

#[test]
fn headroom_is_what_the_modulus_leaves() {
    let p = params();
    let x = fresh(1).with_magnitude(4.0);
    let at = |l: u32| x.headroom_log2(&p, Level::new(l), &Scale::pow2(43));
    assert!((at(3) - (173.0 - 1.0 - 43.0 - 2.0)).abs() < 0.1, "{}", at(3));
    assert!(at(0) < 0.0);
}

#[test]
fn extremes_stay_numbers() {
    let p = Params::new(&ParamsLiteral::from_bits(10, &[30, 30], &[30], 2).insecure()).unwrap();
    let x = Noise::exact(0.0, 1);
    assert_eq!((x.std(), x.error(4)), (0.0, 0.0));
    assert!(x.headroom_log2(&p, Level::ZERO, &Scale::ONE) > 1000.0);
    let tiny = Noise::encoded(1.0, &Scale::pow2(-5000), 0);
    assert!(tiny.mul(&tiny, &p).error_log2(1) == f64::INFINITY);
}

#[test]
fn less_confidence_predicts_less() {
    let x = fresh(1);
    assert_eq!(x.error_at(64, FAILURE), x.error(64));
    let at = |failure| x.error_at(64, failure);
    assert!(at(1e-9) > at(1e-3) && at(1e-3) > at(0.1) && at(0.1) > at(0.5));
    // Half of the values would exceed anything below: more is not asked for.
    assert_eq!(at(0.5), at(0.99));
    // By the tail of a normal number itself: 2n·e^(−t²) is the failure that was asked for.
    let t = at(1e-3) / (x.std() * 128f64.sqrt());
    assert!((64.0 * (-t * t).exp() / 1e-3 - 1.0).abs() < 1e-4);
}
