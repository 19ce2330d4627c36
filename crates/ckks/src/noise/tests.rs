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
    let switch = |x: &Noise| x.key_switch(&p, Level::new(3), &scale);
    let (x, y) = (fresh(1), fresh(2));
    assert_eq!(switch(&x).sub(&switch(&x)).std(), 0.0);
    assert!(switch(&x).sub(&switch(&y)).std() > switch(&x).std());
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
fn many_sources_keep_their_total() {
    let (scale, p) = (Scale::pow2(43), params());
    let all: Vec<Noise> = (0..100).map(fresh).collect();
    let sum = all[1..].iter().fold(all[0].clone(), |s, x| s.add(x));
    assert!(sum.sources().len() <= source::MAX_SOURCES);
    close(sum.std(), 10.0 * all[0].std());
    // A sum of all slots by rotations doubles the variance each time.
    let mut y = fresh(7);
    let first = y.std();
    for k in 0..12 {
        let g = GaloisElement::rotation(1 << k, p.log_n()).unwrap();
        y = y.add(&y.automorphism(g, p.slots()));
    }
    close(y.std(), 64.0 * first);
    assert!(y.rescale(&p, &scale).sources().len() <= source::MAX_SOURCES);
}

#[test]
fn products_scale_errors_by_the_other_message() {
    let p = params();
    let (x, y) = (fresh(1).with_magnitude(8.0), fresh(2).with_magnitude(3.0));
    let z = x.mul(&y, &p);
    assert_eq!(z.magnitude(), 24.0);
    let cross = (3.0 * x.std()).hypot(8.0 * y.std());
    assert!(z.std() >= cross && z.std() < cross * 1.001);
    // A square has both cross terms from one birth.
    let s = x.mul(&x, &p);
    assert!((s.std() / (16.0 * x.std()) - 1.0).abs() < 1e-3);
}

#[test]
fn a_ciphertext_tells_nothing_of_its_message_but_the_power_of_two() {
    let (p, scale) = (params(), Scale::pow2(43));
    let of = |magnitude, message| Noise::encoded(magnitude, &scale, message).encrypt_public(&p, &scale, 77);
    assert_eq!(of(0.001, 1), of(0.9, 2));
    assert_eq!(of(5.1, 3), of(7.9, 4));
    assert_eq!(of(7.9, 3).magnitude(), 8.0);
    assert_eq!(of(8.0, 3).magnitude(), 8.0);
    assert_ne!(of(5.1, 3), of(3.0, 3));
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
    // By the tail itself: 2n·√(πt)·e^(−2t) is the failure that was asked for.
    let t = at(1e-3) / (x.std() * 128f64.sqrt());
    close(64.0 * (std::f64::consts::PI * t).sqrt() * (-2.0 * t).exp(), 1e-3);
}
