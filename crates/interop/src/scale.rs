//! Scales: binary64 in other libraries, exact products of powers of primes in ours.

use ringmill_ckks::Scale;

/// Two scales that differ by less than this share are taken for the same: other libraries round every product and quotient.
const TOLERANCE: f64 = 1.0 / (1u64 << 48) as f64;
/// Factors of the odd part of a scale are sought up to here.
const TRIAL: u64 = 1 << 16;

/// The exact scale that a binary64 number stands for. It is a power of two, or one divided by primes of the chain as rescaled
/// products have it. Or it is the number itself, if that is a product of small primes and perhaps a large one.
///
/// `primes` are the ciphertext primes, q_0 first. `None` for other numbers.
pub fn from_f64(scale: f64, primes: &[u64]) -> Option<Scale> {
    if !scale.is_finite() || scale <= 0.0 {
        return None;
    }
    let near = |candidate: &Scale| (candidate.to_f64() / scale - 1.0).abs() < TOLERANCE;
    let with_two = |rest: Scale| {
        let candidate = Scale::pow2((scale.log2() - rest.log2()).round() as i64).mul(&rest);
        near(&candidate).then_some(candidate)
    };
    let power = |q: u64, exponent: i64| Some(Scale::prime(q).ok()?.pow(exponent));
    if let Some(found) = with_two(Scale::ONE) {
        return Some(found);
    }
    // 2^a/q, and what comes of squaring and rescaling by one prime after the other.
    for first in (0..primes.len()).rev() {
        let mut rest = Scale::ONE;
        for &q in primes[..=first].iter().rev() {
            rest = rest.mul(&rest).mul(&power(q, -1)?);
            if let Some(found) = with_two(rest.clone()) {
                return Some(found);
            }
        }
    }
    for &q in primes {
        if let Some(found) = power(q, 1).and_then(with_two) {
            return Some(found);
        }
    }
    exact(scale)
}

/// The number as it is.
fn exact(scale: f64) -> Option<Scale> {
    let bits = scale.to_bits();
    let (exponent, fraction) = ((bits >> 52) as i64, bits & ((1 << 52) - 1));
    let (mut odd, shift) =
        if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
    let twos = odd.trailing_zeros();
    odd >>= twos;
    let mut found = Scale::pow2(shift + i64::from(twos));
    let mut p = 3;
    while p < TRIAL && p * p <= odd {
        while odd % p == 0 {
            (found, odd) = (found.mul(&Scale::prime(p).ok()?), odd / p);
        }
        p += 2;
    }
    match odd {
        1 => Some(found),
        _ => Some(found.mul(&Scale::prime(odd).ok()?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRIMES: [u64; 3] = [1152921504606830593, 1099510890497, 1099511480321];

    #[test]
    fn scales_of_other_libraries_have_exact_forms() {
        let text = |scale: f64| from_f64(scale, &PRIMES).map(|s| s.to_text());
        let (top, next) = (PRIMES[2], PRIMES[1]);
        let delta = 2f64.powi(40);
        assert_eq!(text(delta).unwrap(), "2^40");
        let once = delta * delta / top as f64;
        assert_eq!(text(once).unwrap(), format!("2^80*{top}^-1"));
        assert_eq!(text(once * once / next as f64).unwrap(), format!("2^160*{next}^-1*{top}^-2"));
        assert_eq!(text(1e9).unwrap(), "2^9*5^9");
        assert_eq!(text(top as f64).unwrap(), format!("{top}"));
        // The product of two primes beyond the trial factors.
        assert_eq!(text(94906249.0 * 67867979.0), None);
        assert!([0.0, -1.0, f64::NAN, f64::INFINITY].into_iter().all(|s| text(s).is_none()));
    }
}
