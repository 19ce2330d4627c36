//! Homomorphic operations by their definition on big integers: what predictions are compared with.
//!
//! Base conversions and divisions are exact and centred; only products use the ring's transforms.

use num_bigint::BigInt;
use num_integer::Integer;
use ringmill_ring::{Domain, GaloisElement, Modulus, Permutation, Poly};

use super::{coefficients, poly};
use crate::ciphertext::{Ciphertext, Meta, Plaintext};
use crate::keys::{EvaluationKeys, SwitchKey};
use crate::noise::Switching;
use crate::params::{Level, Params};
use crate::scale::Scale;

fn product_of(moduli: &[Modulus]) -> BigInt {
    moduli.iter().map(|m| BigInt::from(m.value())).product()
}

/// Limb by limb: f(ring index, out).
fn build(params: &Params, limbs: usize, mut f: impl FnMut(usize, &mut [u64])) -> Poly {
    let mut out = Poly::zeros(params.n(), limbs, Domain::Evaluation);
    out.limbs_mut().enumerate().for_each(|(i, limb)| f(i, limb));
    out
}

fn pointwise(a: &Poly, b: &Poly, params: &Params) -> Poly {
    build(params, a.limb_count(), |i, out| params.ring(i).unwrap().mul(out, a.limb(i), b.limb(i)).unwrap())
}

fn sum(a: &Poly, b: &Poly, params: &Params) -> Poly {
    build(params, a.limb_count(), |i, out| params.ring(i).unwrap().add(out, a.limb(i), b.limb(i)).unwrap())
}

fn negate(a: &Poly, params: &Params) -> Poly {
    build(params, a.limb_count(), |i, out| params.ring(i).unwrap().neg(out, a.limb(i)).unwrap())
}

/// Division by `divisor`, rounded to the nearest integer.
fn divide(values: &[BigInt], divisor: &BigInt) -> Vec<BigInt> {
    let half: BigInt = divisor >> 1;
    values.iter().map(|v| (v + &half).div_floor(divisor)).collect()
}

/// The two polynomials that a switch of `d` (level limbs) adds, divided by P, and by the primes of the level too if `rescale`.
fn switch(d: &Poly, key: &SwitchKey, level: Level, rescale: bool, extra: [Option<&Poly>; 2]) -> [Poly; 2] {
    let params = key.params();
    let (q, p) = (params.q_at(level), params.p_moduli());
    let basis: Vec<Modulus> = [q, p].concat();
    let big_p = product_of(p);
    let mut acc = [0, 1].map(|_| Poly::zeros(params.n(), basis.len(), Domain::Evaluation));
    for (digit, range) in params.digits(level).into_iter().enumerate() {
        let limbs = d.words()[range.start * d.n()..range.end * d.n()].to_vec();
        let part = Poly::from_words(d.n(), &limbs, Domain::Evaluation).unwrap();
        let lifted = poly(&coefficients(&part, &q[range]), &basis);
        for (acc, half) in acc.iter_mut().zip([SwitchKey::b, SwitchKey::a]) {
            for (i, out) in acc.limbs_mut().enumerate() {
                let at = if i < q.len() { i } else { params.q_moduli().len() + i - q.len() };
                params.ring(at).unwrap().mac(out, lifted.limb(i), &half(key, digit, at)).unwrap();
            }
        }
    }
    let mut divisor = big_p.clone();
    let mut rest = q;
    if rescale {
        rest = params.q_at(level.down().unwrap());
        divisor *= product_of(&q[rest.len()..]);
    }
    let mut k = 0;
    acc.map(|acc| {
        let mut c = coefficients(&acc, &basis);
        if let Some(x) = extra[k] {
            c.iter_mut().zip(coefficients(x, q)).for_each(|(c, x)| *c += x * &big_p);
        }
        k += 1;
        poly(&divide(&c, &divisor), rest)
    })
}

fn cipher(params: &Params, polys: Vec<Poly>, meta: Meta) -> Ciphertext {
    Ciphertext::from_parts(params, polys, meta, None).unwrap()
}

pub(crate) fn add(a: &Ciphertext, b: &Ciphertext) -> Ciphertext {
    assert_eq!((a.level(), a.scale()), (b.level(), b.scale()));
    let polys = a.polys().iter().zip(b.polys()).map(|(x, y)| sum(x, y, a.params())).collect();
    cipher(a.params(), polys, Meta { noise: a.noise().add(b.noise()), ..a.meta().clone() })
}

pub(crate) fn sub(a: &Ciphertext, b: &Ciphertext) -> Ciphertext {
    let polys = b.polys().iter().map(|x| negate(x, b.params())).collect();
    let noise = a.noise().sub(b.noise());
    let sum = add(a, &cipher(b.params(), polys, b.meta().clone()));
    cipher(a.params(), sum.into_parts().0, Meta { noise, ..a.meta().clone() })
}

pub(crate) fn mul_integer(a: &Ciphertext, c: i64) -> Ciphertext {
    let params = a.params();
    let times = |x: &Poly| {
        build(params, x.limb_count(), |i, out| {
            let ring = params.ring(i).unwrap();
            ring.mul_scalar(out, x.limb(i), ring.modulus().reduce_i64(c)).unwrap();
        })
    };
    let polys = a.polys().iter().map(times).collect();
    cipher(params, polys, Meta { noise: a.noise().mul_integer(c), ..a.meta().clone() })
}

pub(crate) fn mul_plain(a: &Ciphertext, b: &Plaintext) -> Ciphertext {
    let polys = a.polys().iter().map(|x| pointwise(x, b.poly(), a.params())).collect();
    let (noise, scale) = (a.noise().mul_plain(b.noise(), a.params()), a.scale().mul(b.scale()));
    cipher(a.params(), polys, Meta { noise, scale, ..a.meta().clone() })
}

pub(crate) fn rescale(a: &Ciphertext) -> Ciphertext {
    let params = a.params();
    let (level, q) = (a.level().down().unwrap(), params.q_at(a.level()));
    let (rest, last) = q.split_at(params.q_at(level).len());
    let divided = |x: &Poly| poly(&divide(&coefficients(x, q), &product_of(last)), rest);
    let scale = last.iter().fold(a.scale().clone(), |scale, &q| scale.div(&Scale::modulus(q)));
    let noise = a.noise().rescale(params, a.level(), &scale);
    let polys = a.polys().iter().map(divided).collect();
    cipher(params, polys, Meta { level, scale, noise, ..a.meta().clone() })
}

/// The switch with the base form of a key.
fn switching(key: &SwitchKey, level: Level) -> Switching {
    Switching { key: key.name(), manner: key.base().layout().into(), level }
}

/// Product, relinearised; rescaled in the same division if `merged`.
pub(crate) fn mul(a: &Ciphertext, b: &Ciphertext, keys: &EvaluationKeys, merged: bool) -> Ciphertext {
    let (params, level) = (a.params(), a.level());
    let ([a0, a1], [b0, b1]) = (a.polys(), b.polys()) else { panic!("two polynomials each") };
    let d0 = pointwise(a0, b0, params);
    let d1 = sum(&pointwise(a0, b1, params), &pointwise(a1, b0, params), params);
    let d2 = pointwise(a1, b1, params);
    let key = &keys.relin().unwrap().0;
    let noise = a.noise().mul(b.noise(), params);
    let scale = a.scale().mul(b.scale());
    let polys = switch(&d2, key, level, merged, [Some(&d0), Some(&d1)]).to_vec();
    if merged {
        let rest = params.q_at(level.down().unwrap()).len();
        let scale = params.q_at(level)[rest..].iter().fold(scale, |scale, &q| scale.div(&Scale::modulus(q)));
        let noise = noise.key_switch_rescale(params, switching(key, level), &scale);
        return cipher(
            params,
            polys,
            Meta { level: level.down().unwrap(), scale, noise, ..a.meta().clone() },
        );
    }
    let noise = noise.key_switch(params, switching(key, level), &scale);
    cipher(params, polys, Meta { scale, noise, ..a.meta().clone() })
}

pub(crate) fn automorphism(a: &Ciphertext, g: GaloisElement, keys: &EvaluationKeys) -> Ciphertext {
    let params = a.params();
    let permutation = Permutation::new(params.log_n(), g.value()).unwrap();
    let turn = |x: &Poly| {
        build(params, x.limb_count(), |i, out| {
            params.ring(i).unwrap().automorphism_eval(out, x.limb(i), &permutation).unwrap();
        })
    };
    let key = keys.galois().get(g).unwrap();
    let switched = switch(&a.polys()[1], key, a.level(), false, [Some(&a.polys()[0]), None]);
    let polys = switched.iter().map(turn).collect();
    let turned = a.noise().automorphism(g, a.slots());
    let noise = turned.key_switch(params, switching(key, a.level()), a.scale());
    cipher(params, polys, Meta { noise, ..a.meta().clone() })
}
