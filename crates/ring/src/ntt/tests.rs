//! Every arithmetic on every backend against the scalar reference.

use super::{
    Difference, Plan,
    arith::Arith,
    binary64::Binary64,
    choice,
    fold52::Fold52,
    plan::Arithmetic,
    schedule,
    shoup64::{Plain, Products52, Shoup64},
    wide64::Wide64,
    window52::{NARROW, TIGHT, WIDE, Window52},
};
use crate::{
    Isa, Modulus, RingError,
    lanes::{Emulated, Scalar},
    reference,
};

/// The greatest (or least) prime of `bits` bits that is 1 mod 2^(log_n + 1).
fn edge_prime(bits: u32, log_n: u32, greatest: bool) -> Modulus {
    let step = 2u64 << log_n;
    let (low, high) = (1u64 << (bits - 1), 1u64 << bits);
    let candidates = (1..=(high - low) / step)
        .map(|i| if greatest { high - i * step + 1 } else { low + (i - 1) * step + 1 });
    candidates.filter_map(|q| Modulus::new(q).ok()).next().expect("a prime of that size")
}

/// A prime in the middle of the band, near no power of two.
fn middle_prime(bits: u32, log_n: u32) -> Modulus {
    let step = 2u64 << log_n;
    let start = (3u64 << (bits - 2)) / step * step + 1;
    (0..).map(|i| start + i * step).find_map(|q| Modulus::new(q).ok()).expect("a prime of that size")
}

fn data_sets(n: usize, q: Modulus) -> Vec<Vec<u64>> {
    let top = q.value() - 1;
    let mut x = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = move || {
        x = x.wrapping_mul(0xda94_2042_e4dd_58b5).rotate_left(23) ^ (x >> 7);
        x % (top + 1)
    };
    let delta = |at: usize, value: u64| (0..n).map(|i| if i == at { value } else { 0 }).collect::<Vec<_>>();
    vec![
        vec![0; n],
        vec![top; n],
        (0..n).map(|i| if i % 2 == 0 { top } else { 0 }).collect(),
        (0..n).map(|i| if i < n / 2 { top } else { 0 }).collect(),
        (0..n).map(|i| if i < n / 2 { 0 } else { top }).collect(),
        delta(0, 1),
        delta(n - 1, top),
        delta(n / 2, 1 << 19),
        (0..n).map(|_| random()).collect(),
    ]
}

fn check_plan(plan: &Plan, log_n: u32) {
    let (q, n) = (plan.modulus(), 1 << log_n);
    let psi = q.psi(log_n).unwrap();
    let what = format!("2^{log_n}, q = {}, {} {}", q.value(), plan.isa(), plan.arithmetic());
    for (i, data) in data_sets(n, q).into_iter().enumerate() {
        let mut want = data.clone();
        reference::forward(&mut want, q, psi);
        let mut got = data.clone();
        plan.forward(&mut got).unwrap();
        assert!(got == want, "forward, {what}, data {i}");
        plan.inverse(&mut got).unwrap();
        assert!(got == data, "inverse, {what}, data {i}");
        let blocks = || (0..n).step_by(plan.block_words());
        plan.forward_head(&mut got, &[&want]).unwrap();
        // Blocks do not touch each other, so their order is free.
        for first in blocks().rev() {
            plan.forward_blocks(&mut got, first, plan.block_words(), &[&data, &want]).unwrap();
        }
        assert!(got == want, "forward in parts, {what}, data {i}");
        for first in blocks() {
            plan.inverse_blocks(&mut got, first, plan.block_words(), &[&data, &want]).unwrap();
        }
        plan.inverse_tail(&mut got).unwrap();
        assert!(got == data, "inverse in parts, {what}, data {i}");
        // Not only images of tame data: the inverse of edge data too.
        let mut back = data.clone();
        plan.inverse(&mut back).unwrap();
        reference::forward(&mut back, q, psi);
        assert!(back == data, "inverse of data {i}, {what}");

        let mut raised: Vec<u64> = want.iter().map(|x| x + q.value()).collect();
        plan.inverse(&mut raised).unwrap();
        assert!(raised == data, "inverse of words up to 2q, {what}, data {i}");
        if i % 4 == 0 {
            check_sources(plan, log_n, &data, &want);
            check_differences(plan, &data, &want);
        }
    }
}

/// Parts of transforms that read elsewhere and change words on the way; `image` is the transform of `data`.
fn check_sources(plan: &Plan, log_n: u32, data: &[u64], image: &[u64]) {
    let (q, n, words) = (plan.modulus(), data.len(), plan.block_words());
    let what = format!("2^{log_n}, q = {}, {} {}", q.value(), plan.isa(), plan.arithmetic());
    for c in [0, 1, q.value() - 1, u64::MAX] {
        let mut got = vec![u64::MAX; n];
        for first in (0..n).step_by(words) {
            plan.inverse_blocks_from(&mut got, first, &image[first..first + words], &[image]).unwrap();
        }
        plan.inverse_tail_times(&mut got, &plan.tail_factor(c)).unwrap();
        let want: Vec<u64> = data.iter().map(|&x| q.mul(x, q.reduce(c))).collect();
        assert!(got == want, "inverse times {c}, {what}");
    }
    let finish = |got: &mut Vec<u64>| {
        (0..n).step_by(words).for_each(|first| plan.forward_blocks(got, first, words, &[]).unwrap());
    };
    let mut got = vec![u64::MAX; n];
    plan.forward_head_from(&mut got, data, None, &[]).unwrap();
    finish(&mut got);
    assert!(got == image, "forward from elsewhere, {what}");
    let starts = [2, 4, 7, 8, 9, 15, 16].map(|quarters| q.value() / 4 * quarters + 1);
    for s in starts.into_iter().filter_map(|from| (from..1 << 60).find_map(|s| Modulus::new(s).ok())) {
        let Some(lift) = plan.centred_lift(s) else {
            assert!(s.value() > 4 * q.value());
            continue;
        };
        let residues: Vec<u64> = data.iter().map(|&x| s.reduce(x.wrapping_mul(0x9e37_79b9))).collect();
        let centred =
            |y: u64| if y > s.value() / 2 { i128::from(y) - i128::from(s.value()) } else { y.into() };
        let mut want: Vec<u64> =
            residues.iter().map(|&y| centred(y).rem_euclid(i128::from(q.value())) as u64).collect();
        reference::forward(&mut want, q, q.psi(log_n).unwrap());
        plan.forward_head_from(&mut got, &residues, Some(&lift), &[data]).unwrap();
        finish(&mut got);
        assert!(got == want, "forward lifted from {}, {what}", s.value());
    }
    assert!(plan.integer_lift(2 * q.value()).is_none() && plan.integer_lift(1 << 62).is_none());
    for bound in [1, q.value() - 1, q.value(), 2 * q.value() - 1] {
        let Some(lift) = plan.integer_lift(bound) else { continue };
        // From −bound to bound, both among them.
        let integer = |x: u64| i128::from(x.wrapping_mul(0x9e37_79b9) % (2 * bound + 1)) - i128::from(bound);
        let mut integers: Vec<i128> = data.iter().map(|&x| integer(x)).collect();
        (integers[0], integers[n - 1]) = (bound.into(), -i128::from(bound));
        let words: Vec<u64> = integers.iter().map(|x| x.rem_euclid(1 << 63) as u64).collect();
        let mut want: Vec<u64> =
            integers.iter().map(|x| x.rem_euclid(i128::from(q.value())) as u64).collect();
        reference::forward(&mut want, q, q.psi(log_n).unwrap());
        plan.forward_head_from(&mut got, &words, Some(&lift), &[]).unwrap();
        finish(&mut got);
        assert!(got == want, "forward of integers up to {bound}, {what}");
    }
}

/// (a − transform)·c, or that plus b, in place of a transform; `image` is the transform of `data`.
fn check_differences(plan: &Plan, data: &[u64], image: &[u64]) {
    let (q, n, words) = (plan.modulus(), data.len(), plan.block_words());
    let top = q.value() - 1;
    let others: [Vec<u64>; 3] =
        [vec![0; n], vec![top; n], image.iter().map(|&x| q.reduce(x.wrapping_mul(0x9e37_79b9))).collect()];
    for (c, a) in [0, 1, top, u64::MAX, 0x1234_5678_9abc].into_iter().zip(others.iter().cycle()) {
        for plus in [None, Some(&others[1]), Some(&others[2])] {
            let (mut limb, mut got) = (data.to_vec(), vec![u64::MAX; n]);
            let factor = plan.difference_factor(c);
            plan.forward_head(&mut limb, &[]).unwrap();
            for (first, out) in (0..n).step_by(words).zip(got.chunks_exact_mut(words)) {
                let block = first..first + words;
                let plus = plus.map(|plus| &plus[block.clone()]);
                let difference = Difference { out, from: &a[block], plus, factor: &factor };
                plan.forward_difference(&mut limb, first, difference, &[image]).unwrap();
            }
            let word = |i: usize| {
                let d = q.mul(q.sub(a[i], image[i]), q.reduce(c));
                plus.map_or(d, |plus| q.add(d, plus[i]))
            };
            let want: Vec<u64> = (0..n).map(word).collect();
            assert!(got == want, "{} {}, q = {}, times {c}", plan.isa(), plan.arithmetic(), q.value());
        }
    }
    let mut out = vec![0; words];
    let factor = plan.difference_factor(1);
    let short = Difference { out: &mut out, from: &image[..words - 1], plus: None, factor: &factor };
    let refused = plan.forward_difference(&mut data.to_vec(), 0, short, &[]);
    assert!(matches!(refused, Err(RingError::Length { what: "operand of a difference", .. })));
}

/// A polynomial in X^(N/n) by the transform of degree n.
fn check_subrings(plan: &Plan, log_n: u32) {
    let (q, n) = (plan.modulus(), 1usize << log_n);
    for log in [1, log_n / 2, log_n - 1, log_n] {
        let short = plan.subring(log.max(1)).unwrap();
        let gap = n / short.n();
        let mut few: Vec<u64> =
            (0..short.n() as u64).map(|i| q.reduce(i.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
        let mut whole: Vec<u64> = (0..n).map(|i| if i % gap == 0 { few[i / gap] } else { 0 }).collect();
        reference::forward(&mut whole, q, q.psi(log_n).unwrap());
        short.forward(&mut few).unwrap();
        let repeated: Vec<u64> = (0..n).map(|k| few[k / gap]).collect();
        assert!(repeated == whole, "2^{log} of 2^{log_n}, q = {}, {}", q.value(), plan.isa());
    }
    assert!(matches!(plan.subring(log_n + 1), Err(RingError::Degree { .. })));
    assert!(matches!(plan.subring(0), Err(RingError::Degree { .. })));
}

fn check_isa(isa: Isa, log_ns: &[u32], bits: &[u32]) {
    if !isa.is_available() {
        eprintln!("skipped: this CPU lacks {isa}");
        return;
    }
    for &log_n in log_ns {
        for &bits in bits {
            let mut primes = vec![edge_prime(bits, log_n, true), middle_prime(bits, log_n)];
            primes.push(edge_prime(bits, log_n, false));
            primes.dedup();
            for q in primes {
                for arithmetic in Arithmetic::candidates(log_n, q, isa) {
                    let plan = Plan::with_arithmetic(log_n, q, isa, arithmetic).unwrap();
                    check_plan(&plan, log_n);
                    check_subrings(&plan, log_n);
                }
            }
        }
    }
}

/// The prime that lies as far from 2^b as 52-bit arithmetic takes it: the bounds are nowhere tighter.
fn far_prime(b: u32, above: bool, log_n: u32) -> Modulus {
    let (power, width, step) = (1u64 << b, 1u64 << (b - 11), 2u64 << log_n);
    let edge = if above { power + width } else { power - width } / step * step + 1;
    let towards = |i: u64| if above { edge - i * step } else { edge + i * step };
    let candidates = (0..).map(towards).filter(|q| q.abs_diff(power) <= width);
    candidates.filter_map(|q| Modulus::new(q).ok()).next().expect("a prime of that shape")
}

#[test]
fn primes_at_the_edge_of_their_shape_agree_with_the_reference() {
    let log_n = 8;
    for (b, above) in [30, 48, 49, 50].into_iter().flat_map(|b| [(b, false), (b, true)]) {
        let q = far_prime(b, above, log_n);
        for isa in [Isa::Emulated8, Isa::Ifma].into_iter().filter(|isa| isa.is_available()) {
            let arithmetic = Arithmetic::candidates(log_n, q, isa)[0];
            assert!(matches!(arithmetic, Arithmetic::Fold52 { .. } | Arithmetic::Window52(_)));
            check_plan(&Plan::with_arithmetic(log_n, q, isa, arithmetic).unwrap(), log_n);
        }
    }
}

/// Words and quotients come nowhere nearer to the ends of 53 bits.
#[test]
fn the_greatest_primes_of_wide_arithmetic_agree_with_the_reference() {
    let (log_n, step) = (9, 1024);
    let below = |limit: u64| {
        let first = limit / step * step + 1;
        (1..).find_map(|i| Modulus::new(first - i * step).ok()).expect("a prime below it")
    };
    for q in [below(1 << 52), below((1 << 52) + (1 << 42)), edge_prime(51, log_n, false)] {
        let isas = [Isa::Emulated4, Isa::Emulated8, Isa::Neon, Isa::Avx2, Isa::Avx512, Isa::Ifma];
        for isa in isas.into_iter().filter(|isa| isa.is_available()) {
            let above = q.value() > 1 << 52;
            let arithmetic = Arithmetic::Wide64 { above };
            assert!(Arithmetic::candidates(log_n, q, isa).contains(&arithmetic));
            check_plan(&Plan::with_arithmetic(log_n, q, isa, arithmetic).unwrap(), log_n);
        }
    }
    let beyond = (0..).find_map(|i| Modulus::new((1 << 52) + (1 << 42) + 1 + i * step).ok()).unwrap();
    assert_eq!(Arithmetic::candidates(log_n, beyond, Isa::Avx2), [Arithmetic::Shoup64]);
    assert_eq!(Arithmetic::candidates(log_n, beyond, Isa::Neon), [Arithmetic::Narrow]);
}

/// The table of the last stages holds the second words of constants only.
#[test]
fn first_words_are_made_from_second_ones() {
    fn check<A: Arith<L = Emulated<8>, V = [u64; 8]>>(b: u32, above: bool) {
        assert_eq!(A::LEAF_WORDS, 1);
        for q in [far_prime(b, above, 8), edge_prime(b + u32::from(above), 8, !above)] {
            let (arith, value) = (A::new(Emulated, q), q.value());
            for w in (1..100).chain([value / 3, value / 2]).flat_map(|w| [w, value - w]) {
                let [first, second] = A::encode(q, w);
                assert_eq!(arith.first_word([second; 8]), [first; 8], "{w} mod {value}");
            }
        }
    }
    for b in [25, 30, 41, 48, 49, 50] {
        check::<Fold52<Emulated<8>, false>>(b, false);
        check::<Fold52<Emulated<8>, true>>(b, true);
    }
    check::<Fold52<Emulated<8>, false>>(51, false);
    for (b, above) in [25, 30, 41, 48].into_iter().flat_map(|b| [(b, false), (b, true)]) {
        check::<Window52<Emulated<8>, WIDE>>(b, above);
    }
    check::<Window52<Emulated<8>, NARROW>>(49, false);
    check::<Window52<Emulated<8>, TIGHT>>(49, true);
}

const BANDS: [u32; 10] = [25, 32, 48, 49, 50, 51, 52, 53, 55, 60];

macro_rules! suite {
    ($($name:ident: $isa:expr;)+) => { $(mod $name {
        use super::*;
        #[test]
        fn agrees_with_the_reference() {
            check_isa($isa, &[3, 5, 7, 10, 11], &BANDS);
            check_isa($isa, &[8, 9], &[20]);
        }
        #[test]
        fn agrees_with_the_reference_at_larger_degrees() {
            check_isa($isa, &[12, 13], &[48, 50, 60]);
        }
        #[test]
        #[ignore = "long: make test-full"]
        fn agrees_with_the_reference_at_every_degree() {
            for log_n in 1..=17 {
                check_isa($isa, &[log_n], &BANDS.map(|b| b.max(log_n + 8)));
            }
        }
    })+ };
}
suite! {
    scalar: Isa::Scalar;
    emulated4: Isa::Emulated4;
    emulated8: Isa::Emulated8;
    neon: Isa::Neon;
    avx2: Isa::Avx2;
    avx512: Isa::Avx512;
    ifma: Isa::Ifma;
}

/// Building a schedule checks the bounds of every stage and panics if one is broken.
#[test]
fn every_schedule_keeps_its_bounds() {
    fn all<A: Arith>() {
        let least = 2 * <A::L as crate::lanes::U64Lanes>::WIDTH.trailing_zeros() + 1;
        for log_n in least..=Plan::MAX_LOG_N {
            let stages: usize = schedule::runs::<A>(log_n)
                .iter()
                .filter(|run| run.offset == 0)
                .map(|run| match run.kind {
                    schedule::Kind::Pass { log_radix, .. } => log_radix,
                    schedule::Kind::Last => least as usize - 1,
                })
                .sum();
            assert_eq!(stages, log_n as usize);
        }
        assert!(A::INVERSE_STORED >= A::INVERSE_FRESH.max(A::INVERSE_REDUCED));
        assert!(A::INVERSE_REDUCED <= A::INVERSE_X && A::INVERSE_REDUCED <= A::INVERSE_LIMIT - A::INVERSE_X);
    }
    all::<Shoup64<Plain<Scalar>>>();
    all::<Shoup64<Plain<Emulated<4>>>>();
    all::<Shoup64<Plain<Emulated<8>>>>();
    all::<Shoup64<Products52<Emulated<8>>>>();
    all::<Binary64<Emulated<4>>>();
    all::<Binary64<Emulated<8>>>();
    all::<Wide64<Emulated<4>, false>>();
    all::<Wide64<Emulated<8>, true>>();
    all::<Fold52<Emulated<8>, false>>();
    all::<Fold52<Emulated<8>, true>>();
    all::<Window52<Emulated<8>, WIDE>>();
    all::<Window52<Emulated<8>, NARROW>>();
    all::<Window52<Emulated<8>, TIGHT>>();
}

#[test]
fn a_plan_takes_an_arithmetic_that_serves_and_stays_with_it() {
    for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
        for (log_n, bits) in [(3, 30), (11, 40), (11, 50), (12, 49), (12, 51), (12, 52), (12, 60)] {
            let q = edge_prime(bits, log_n, true);
            let chosen = choice::best(log_n, q, isa);
            assert!(Arithmetic::candidates(log_n, q, isa).contains(&chosen), "{isa}, {bits} bits");
            assert_eq!(chosen, choice::best(log_n, q, isa), "{isa}, {bits} bits");
        }
    }
}

#[test]
fn misuse_is_named() {
    let q = edge_prime(50, 10, true);
    assert!(matches!(Plan::new(18, q, Isa::Scalar), Err(RingError::Degree { log_n: 18, .. })));
    assert!(matches!(Plan::new(17, edge_prime(30, 10, true), Isa::Scalar), Err(RingError::NoRoot { .. })));
    let plan = Plan::new(10, q, Isa::Scalar).unwrap();
    assert_eq!(
        plan.forward(&mut [0; 5]).unwrap_err(),
        RingError::Length { what: "limb", expected: 1024, got: 5 }
    );
}
