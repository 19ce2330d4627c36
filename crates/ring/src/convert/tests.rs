//! Base conversion against integers of any size.

use super::*;
use num_bigint::BigInt;

const S: [u64; 4] =
    [0x0020_0000_010c_0001, 0x0020_0000_0244_0001, 0x0020_0000_0248_0001, 0x0020_0000_0344_0001];

fn moduli(q: &[u64]) -> Vec<Modulus> {
    q.iter().map(|&q| Modulus::new(q).unwrap()).collect()
}

fn residue(x: &BigInt, m: Modulus) -> u64 {
    let q = BigInt::from(m.value());
    u64::try_from(((x % &q) + &q) % &q).unwrap()
}

/// x in [0, S) from a seed: uniform, or close to one of the borders 0, S/2, S.
fn sample(product: &BigInt, i: u64) -> BigInt {
    let wild = (1..=6u64).fold(BigInt::from(i), |x, k| {
        (x << 40) + BigInt::from((i * 77 + k).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20)
    });
    let near = BigInt::from(i / 4);
    match i % 4 {
        0 => wild % product,
        1 => near,
        2 => product - 1 - near,
        _ => product / 2 - 50 + near,
    }
}

fn check(source: &[u64], target: u64) {
    let (from, m) = (SourceBasis::new(&moduli(source)).unwrap(), Modulus::new(target).unwrap());
    let constants = ConvertConstants::new(&from, m);
    let product: BigInt = source.iter().map(|&q| BigInt::from(q)).product();
    // The representative lies in (−S/2, S/2 + error·S].
    let slack =
        BigInt::from((from.quotient_error() * 1e18) as u64 + 1) * &product / BigInt::from(10u64.pow(18));
    for i in 0..400 {
        let x = sample(&product, i);
        let y: Vec<u64> =
            from.moduli().iter().enumerate().map(|(i, &s)| s.mul(residue(&x, s), from.inverse(i))).collect();
        let sum: BigInt = y.iter().zip(source).map(|(&y, &s)| BigInt::from(y) * (&product / s)).sum();
        let v = from.quotient(y.iter().copied());
        let centred = &sum - BigInt::from(v) * &product;
        assert_eq!((&centred - &x) % &product, BigInt::ZERO, "same residue class");
        assert!(&centred * 2 > -&product && &centred - &slack <= &product / 2, "{centred} of {product}");
        assert_eq!(constants.convert(y.iter().copied(), v), residue(&centred, m));
        assert_eq!(constants.convert(y.iter().copied(), 0), residue(&sum, m), "fast");
        assert!(v <= source.len() as u64);
    }
}

#[test]
fn centred_conversion_is_the_residue_of_the_centred_integer() {
    check(&S, 1_152_921_504_606_846_883);
    check(&S[..1], S[1]);
    check(&[1_152_921_504_606_846_883, 1_048_573, (1 << 50) - 27], S[0]);
    check(&[1_048_573, 1_048_571, 1_048_559], 1_048_549);
}

#[test]
fn quotient_error_is_far_below_a_half() {
    let error = SourceBasis::new(&moduli(&S)).unwrap().quotient_error();
    assert!(error < 4.0 * 2f64.powi(-12), "{error}");
}

#[test]
fn bad_bases_are_named() {
    let q = moduli(&S[..1])[0];
    assert_eq!(SourceBasis::new(&[]), Err(RingError::SourceCount { got: 0, max: 64 }));
    assert_eq!(SourceBasis::new(&[q; 65]), Err(RingError::SourceCount { got: 65, max: 64 }));
    assert_eq!(SourceBasis::new(&[q, q]), Err(RingError::RepeatedModulus { q: q.value() }));
}

#[test]
fn lift_takes_the_centred_residue() {
    let (s, m) = (Modulus::new(S[0]).unwrap(), Modulus::new(1_048_573).unwrap());
    for y in [0, 1, S[0] / 2, S[0] / 2 + 1, S[0] - 1] {
        let centred = if y > S[0] / 2 { BigInt::from(y) - S[0] } else { BigInt::from(y) };
        assert_eq!(lift(y, s, m), residue(&centred, m), "{y}");
    }
}
