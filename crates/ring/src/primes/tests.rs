use super::sparse::{csd, csd_weight};
use super::*;

/// Trial by independent means: Fermat to several bases with u128 arithmetic, and the congruence.
fn assert_ntt_prime(q: u64, log_n: u32) {
    assert_eq!(q % (2 << log_n), 1, "{q} mod 2N");
    for base in [2u128, 3, 5, 7, 11] {
        let (mut b, mut e, mut r) = (base, q - 1, 1u128);
        while e > 0 {
            if e & 1 == 1 {
                r = r * b % u128::from(q);
            }
            b = b * b % u128::from(q);
            e >>= 1;
        }
        assert_eq!(r, 1, "{q} to base {base}");
    }
}

fn values(chain: &[SparsePrime]) -> Vec<u64> {
    chain.iter().map(|p| p.q.value()).collect()
}

fn moduli(chain: &[SparsePrime]) -> Vec<Modulus> {
    chain.iter().map(|p| p.q).collect()
}

fn search(class: SparseClass, signed: bool, log_n: u32) -> SparseSearch {
    SparseSearch::new(class, 53, signed, log_n).unwrap()
}

fn assert_eta(chain: &[Modulus], least: f64, greatest: f64, tolerance: f64) {
    let (lo, hi) = eta(chain).unwrap();
    assert!((lo - least).abs() < tolerance && (hi - greatest).abs() < tolerance, "η in [{lo}, {hi}]");
}

#[test]
fn nearest_is_exhaustive_and_ordered() {
    let (target, log_n) = (1 << 30, 10);
    let all: Vec<u64> = ((1u64 << 29) + 1..1 << 31)
        .step_by(2 << log_n)
        .filter(|&q| (3..).step_by(2).take_while(|d| d * d <= q).all(|d| q % d != 0))
        .collect();
    let want_above: Vec<u64> = all.iter().copied().filter(|&q| q >= target).take(9).collect();
    let want_below: Vec<u64> = all.iter().copied().rev().filter(|&q| q < target).take(9).collect();
    let get = |count, side, skip: &[u64]| -> Vec<u64> {
        nearest(target, log_n, count, side, skip).unwrap().iter().map(|q| q.value()).collect()
    };
    assert_eq!(get(9, Side::Above, &[]), want_above);
    assert_eq!(get(9, Side::Below, &[]), want_below);
    let turns: Vec<u64> = want_above.iter().zip(&want_below).flat_map(|(&a, &b)| [a, b]).collect();
    assert_eq!(get(7, Side::Alternating, &[]), turns[..7]);
    let mut by_distance = turns.clone();
    by_distance.sort_by_key(|q| q.abs_diff(target));
    assert_eq!(get(9, Side::Nearest, &[]), by_distance[..9]);
    assert_eq!(get(3, Side::Above, &want_above[1..3]), [want_above[0], want_above[3], want_above[4]]);
}

#[test]
fn every_size_and_degree_gives_primes_or_a_typed_error() {
    for log_n in MIN_LOG_N..=MAX_LOG_N {
        for bits in Modulus::MIN_BITS..=Modulus::MAX_BITS {
            let fails_below = 2 * log_n; // far fewer candidates than 2^(bits − log_n − 2) · 3 / bits
            match of_bits(bits, log_n, 2, &[]) {
                Ok(found) => {
                    for q in &found {
                        assert_ntt_prime(q.value(), log_n);
                        assert_eq!(q.bits(), bits);
                    }
                    assert!(found[0].value() > found[1].value());
                }
                Err(RingError::PrimesExhausted { wanted: 2, .. }) => {
                    assert!(bits < fails_below, "{bits} {log_n}")
                }
                Err(e) => panic!("{e}"),
            }
        }
    }
}

#[test]
fn the_last_prime_of_a_size_is_found_and_the_next_is_an_error() {
    // 1 + k·2^18 below 2^20: 262145 = 5·..., 524289 = 3·..., 786433 prime.
    let found = of_bits(20, 17, 1, &[]).unwrap();
    assert_eq!(found[0].value(), 786_433);
    let error = of_bits(20, 17, 2, &[]).unwrap_err();
    assert!(matches!(error, RingError::PrimesExhausted { found: 1, wanted: 2, .. }), "{error}");
    let error = of_bits(20, 17, 1, &[786_433]).unwrap_err();
    assert!(matches!(error, RingError::PrimesExhausted { found: 0, wanted: 1, .. }), "{error}");
    assert!(matches!(nearest(1 << 60, 17, 1, Side::Above, &[]), Err(RingError::PrimesExhausted { .. })));
    assert_eq!(nearest(1 << 60, 14, 1, Side::Below, &[]).unwrap()[0].bits(), 60);
}

#[test]
fn out_of_range_arguments_are_named() {
    assert!(matches!(of_bits(40, 2, 1, &[]), Err(RingError::Degree { log_n: 2, .. })));
    assert!(matches!(of_bits(40, 18, 1, &[]), Err(RingError::Degree { log_n: 18, .. })));
    assert!(matches!(of_bits(19, 10, 1, &[]), Err(RingError::ModulusSize { bits: 19, .. })));
    assert!(matches!(of_bits(61, 10, 1, &[]), Err(RingError::ModulusSize { bits: 61, .. })));
    assert!(matches!(chain(&[40, 99], 10, &[]), Err(RingError::ModulusSize { bits: 99, .. })));
    assert!(matches!(nearest(17, 10, 1, Side::Above, &[]), Err(RingError::ModulusSize { .. })));
    assert!(matches!(SparseSearch::new(SparseClass::P1, 60, false, 14), Err(RingError::ModulusSize { .. })));
    assert!(matches!(
        SparseSearch::new(SparseClass::P1, 30, false, 15),
        Err(RingError::PrimesExhausted { .. })
    ));
    let none = SparseClass::P2 { max_delta: 0 };
    assert!(matches!(SparseSearch::new(none, 53, false, 15), Err(RingError::PrimesExhausted { .. })));
}

#[test]
fn chain_is_distinct_and_near_its_product() {
    let bits = [60, 40, 40, 40, 50, 40, 60];
    let found = chain(&bits, 15, &[]).unwrap();
    let product: f64 = found.iter().map(|q| (q.value() as f64).log2()).sum();
    assert!((product - 330.0).abs() < 0.01, "{product}");
    for (q, b) in found.iter().zip(bits) {
        assert_ntt_prime(q.value(), 15);
        assert!(((q.value() as f64).log2() - f64::from(b)).abs() < 0.01);
    }
    let again = chain(&bits, 15, &[found[1].value()]).unwrap();
    assert!(again.iter().all(|q| *q != found[1]));
    let mut sorted: Vec<u64> = found.iter().map(|q| q.value()).collect();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), bits.len());
}

#[test]
fn csd_is_non_adjacent_and_exact() {
    let mut x = 0x9e37_79b9_7f4a_7c15_u64;
    for i in 0..2000 {
        let digits = csd(x);
        let sum: i128 = digits.iter().map(|&(e, plus)| if plus { 1i128 << e } else { -(1i128 << e) }).sum();
        assert_eq!(sum, i128::from(x));
        assert!(digits.windows(2).all(|w| w[0].0 > w[1].0 + 1), "{x:#x}: {digits:?}");
        assert_eq!(digits.len() as u32, csd_weight(x));
        x = if i == 0 { u64::MAX } else { x.wrapping_mul(0xda94_2042_e4dd_58b5).rotate_left(23) ^ i };
    }
}

// The chains and counts below are printed in the project's notes, found by an independent search.

#[test]
fn chain_u8_shares_eight_positions() {
    let mask = [53, 26, 25, 24, 22, 19, 18, 0].iter().fold(0, |m, e| m | 1u64 << e);
    let want = [
        0x0020_0000_010c_0001,
        0x0020_0000_0244_0001,
        0x0020_0000_0248_0001,
        0x0020_0000_0344_0001,
        0x0020_0000_0404_0001,
        0x0020_0000_040c_0001,
        0x0020_0000_0500_0001,
        0x0020_0000_0748_0001,
        0x0020_0000_074c_0001,
    ];
    for log_n in [14, 15, 16, 17] {
        let found = search(SparseClass::P1, false, log_n).within_positions(mask);
        assert_eq!(values(&found), want, "log N = {log_n}");
        assert_eta(&moduli(&found), 26.4, 35.0, 0.05);
    }
}

#[test]
fn chain_of_least_set_bits() {
    let found = search(SparseClass::P1, false, 14).chain(Order::SetBits, 9).unwrap();
    let want = [
        0x0020_0000_0014_0001,
        0x0020_0000_0028_0001,
        0x0020_0000_0082_0001,
        0x0020_0000_0404_0001,
        0x0020_0000_0500_0001,
        0x0020_0000_000c_8001,
        0x0020_0000_000e_0001,
        0x0020_0000_0064_0001,
        0x0020_0000_00c1_0001,
    ];
    assert_eq!(values(&found), want);
    assert_eta(&moduli(&found), 26.69, 36.42, 0.005);
    assert_eq!(found.iter().map(|p| p.set_bits).sum::<u32>(), 40);
    assert_eq!(found.iter().map(|p| p.csd_weight).sum::<u32>(), 39);
}

#[test]
fn chain_of_least_csd_weight() {
    let found = search(SparseClass::P1, false, 16).chain(Order::CsdWeight, 9).unwrap();
    assert_eq!(found.iter().map(|p| p.csd_weight).sum::<u32>(), 37);
    assert_eq!(found.iter().map(|p| p.set_bits).sum::<u32>(), 42);
    assert_eta(&moduli(&found), 26.69, 34.42, 0.005);
}

#[test]
fn chain_p2_nine() {
    let found = search(SparseClass::P2 { max_delta: 4096 }, false, 17).chain(Order::Distance, 9).unwrap();
    let deltas: Vec<u64> = values(&found).iter().map(|q| (q >> 27) - (1 << 26)).collect();
    assert_eq!(deltas, [13, 20, 53, 62, 85, 88, 136, 146, 152]);
    assert_eq!(values(&found)[0], 0x0020_0000_6800_0001);
    assert_eq!(values(&found)[8], 0x0020_0004_c000_0001);
    assert!(values(&found).iter().all(|q| q & ((1 << 27) - 1) == 1));
    assert_eta(&moduli(&found), 18.9, 24.4, 0.1);
}

#[test]
fn counts_of_long_chains() {
    let p1 = |signed, keep: fn(&SparsePrime) -> bool| {
        search(SparseClass::P1, signed, 16).iter().filter(keep).count()
    };
    assert_eq!(p1(false, |p| p.set_bits <= 6), 22);
    assert_eq!(p1(true, |p| p.csd_weight <= 4), 12);
    assert_eq!(p1(true, |p| p.csd_weight <= 5), 48);
    assert_eq!(p1(true, |p| p.csd_weight <= 6), 94);
    let p2 = search(SparseClass::P2 { max_delta: 4096 }, true, 16).chain(Order::Distance, 40).unwrap();
    assert!((eta(&moduli(&p2)).unwrap().0 - 16.7).abs() < 0.1);
}

#[test]
fn forty_primes_at_36_bits_are_far_apart() {
    let near = nearest(1 << 36, 16, 40, Side::Nearest, &[]).unwrap();
    let (least, _) = eta(&near).unwrap();
    assert!((9.0..10.0).contains(&least), "η = {least}");
    let nicest = (1u64 << 36) - (1 << 20) + 1;
    assert!(near.iter().any(|q| q.value() == nicest));
    assert_eq!(csd(nicest), [(36, true), (20, false), (0, true)]);
}

#[test]
fn eta_needs_two_primes() {
    let q = Modulus::new(786_433).unwrap();
    assert_eq!(eta(&[]), None);
    assert_eq!(eta(&[q, q]), None);
}

/// All sets of places by trial.
#[test]
fn few_places_serve_the_most_primes() {
    for (lead, log_n, most) in [(35, 11, 5), (35, 10, 8), (39, 12, 4), (53, 17, 6)] {
        let search = search_at(lead, log_n);
        let half = search.half_word();
        let f: Vec<u64> = search.iter().map(|p| p.q.value() - (1 << lead)).collect();
        let served = |set: u64| f.iter().filter(|f| **f & !set == 0).count();
        let sets = (0..1u64 << (half - log_n - 1)).map(|high| high << (log_n + 1) | 1);
        let best = sets.filter(|set| set.count_ones() <= most).map(served).max().unwrap();
        let found = search.few_places(most);
        assert!(found & 1 == 1 && found >> half == 0 && found.count_ones() <= most, "{found:b}");
        assert_eq!(served(found), best, "2^{lead}, N = 2^{log_n}: {found:b}");
    }
}

fn search_at(lead: u32, log_n: u32) -> SparseSearch {
    SparseSearch::new(SparseClass::P1, lead, false, log_n).unwrap()
}
