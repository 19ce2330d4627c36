use num_bigint::BigUint;

use super::*;

fn literal() -> ParamsLiteral {
    ParamsLiteral { scale_bits: 40, ..ParamsLiteral::from_bits(13, &[50, 40, 40], &[50], 3) }
}

fn fails(change: impl FnOnce(&mut ParamsLiteral)) -> ParamsError {
    let mut lit = literal();
    change(&mut lit);
    Params::new(&lit).expect_err("the literal breaks a rule")
}

#[test]
fn every_named_set_keeps_its_claim() {
    // (set, log N, ciphertext primes, special primes, dnum, greatest log PQ for 128 bits, its source)
    use SecurityTable::{Guidelines2024 as G, Standard2018 as S};
    let want = [
        (NamedSet::I, 12, 2, 1, 2, 109, S),
        (NamedSet::II, 13, 4, 1, 4, 218, S),
        (NamedSet::III, 14, 8, 1, 8, 438, S),
        (NamedSet::IV, 15, 14, 5, 3, 881, S),
        (NamedSet::IVSingle, 15, 14, 1, 14, 868, G),
        (NamedSet::V, 16, 24, 8, 3, 1747, G),
        (NamedSet::VSingle, 16, 24, 1, 24, 1747, G),
        (NamedSet::V50, 16, 28, 7, 4, 1747, G),
        (NamedSet::V50Single, 16, 28, 1, 28, 1747, G),
        (NamedSet::B15, 15, 18, 4, 6, 868, G),
        (NamedSet::B16, 16, 26, 9, 3, 1747, G),
    ];
    assert_eq!(want.len(), NamedSet::ALL.len());
    for (set, log_n, limbs, special, dnum, limit, table) in want {
        let p = Params::named(set).unwrap();
        assert_eq!(
            (p.log_n(), p.q_moduli().len(), p.p_moduli().len(), p.dnum()),
            (log_n, limbs, special, dnum)
        );
        // log PQ again, from the integers.
        let pq: BigUint = p.key_moduli().map(|m| BigUint::from(m.value())).product();
        assert!(pq <= BigUint::from(1u8) << limit, "{set}: {} bits", pq.bits());
        let claim = p.security().claim().unwrap();
        assert!(claim.category >= Some(128), "{set}");
        if set != NamedSet::IVSingle && !matches!(set, NamedSet::VSingle | NamedSet::V50Single) {
            assert_eq!((claim.limit_128, claim.table), (limit, table), "{set}");
        }
        assert!((p.security().log_pq() - pq.bits() as f64).abs() < 1.0);
        // The rule of the key switch, from the integers.
        let special: BigUint = p.p_moduli().iter().map(|m| BigUint::from(m.value())).product();
        for d in p.digits(p.max_level()) {
            let digit: BigUint = p.q_moduli()[d].iter().map(|m| BigUint::from(m.value())).product();
            assert!(special >= digit, "{set}");
        }
        assert!(p.key_moduli().all(|m| m.value() % (2 * p.n() as u64) == 1));
    }
}

#[test]
fn sets_for_cpus_stay_below_2_to_50() {
    for set in [NamedSet::I, NamedSet::II, NamedSet::III, NamedSet::IV, NamedSet::V50] {
        let p = Params::named(set).unwrap();
        assert!(p.key_moduli().all(|m| m.value() < 1 << 50), "{set}");
    }
    let v50 = Params::named(NamedSet::V50).unwrap();
    assert!(v50.q_moduli().iter().all(|m| (49..=50).contains(&m.bits())));
}

#[test]
fn names_are_read_back() {
    for set in NamedSet::ALL {
        assert_eq!(set.name().parse::<NamedSet>().unwrap(), set);
    }
    let e = "VI".parse::<NamedSet>().unwrap_err();
    assert!(e.to_string().contains("V50"), "{e}");
}

#[test]
fn each_rule_has_its_error() {
    let bits = |b: &[u32]| b.iter().map(|&b| PrimeSpec::Bits(b)).collect::<Vec<_>>();
    assert!(matches!(fails(|l| l.log_n = 9), ParamsError::LogN { log_n: 9, .. }));
    assert!(matches!(fails(|l| l.log_n = 18), ParamsError::LogN { log_n: 18, .. }));
    assert_eq!(fails(|l| l.q.clear()), ParamsError::NoCiphertextPrimes);
    assert_eq!(fails(|l| l.p.clear()), ParamsError::NoSpecialPrimes);
    assert!(matches!(fails(|l| l.q = bits(&[40; 65])), ParamsError::TooManyPrimes { count: 65, .. }));
    assert!(matches!(fails(|l| l.dnum = 0), ParamsError::Dnum { dnum: 0, limbs: 3 }));
    assert!(matches!(fails(|l| l.dnum = 4), ParamsError::Dnum { dnum: 4, limbs: 3 }));
    assert!(matches!(fails(|l| l.scale_bits = 0), ParamsError::Scale { .. }));
    assert!(matches!(fails(|l| l.scale_bits = 91), ParamsError::Scale { max: 90, .. }));
    assert!(matches!(fails(|l| l.q[1] = PrimeSpec::Bits(19)), ParamsError::PrimeBits { bits: 19, .. }));
    assert!(matches!(fails(|l| l.q[1] = PrimeSpec::Bits(61)), ParamsError::PrimeBits { bits: 61, .. }));
    assert!(matches!(
        fails(|l| l.q[1] = PrimeSpec::Value((1 << 40) + 1)),
        ParamsError::Prime { index: 1, .. }
    ));
    // Prime, but not 1 mod 2N.
    assert!(matches!(
        fails(|l| l.q[2] = PrimeSpec::Value(1_099_511_627_689)),
        ParamsError::Prime { index: 2, .. }
    ));
    assert!(matches!(
        fails(|l| (l.log_n, l.q) = (17, bits(&[50, 22, 22, 22]))),
        ParamsError::PrimesExhausted { bits: 22, .. }
    ));
    let q = literal_prime();
    assert_eq!(
        fails(|l| (l.q[1], l.q[2]) = (PrimeSpec::Value(q), PrimeSpec::Value(q))),
        ParamsError::DuplicatePrime { q }
    );
    assert!(matches!(
        fails(|l| (l.q, l.dnum) = (bits(&[40; 5]), 4)),
        ParamsError::EmptyDigits { dnum: 4, limbs: 5, alpha: 2, digits: 3 }
    ));
    assert!(matches!(
        fails(|l| l.secret = Secret::TernaryWeight { weight: 0 }),
        ParamsError::SecretWeight { weight: 0, .. }
    ));
    assert!(matches!(
        fails(|l| l.secret = Secret::TernaryWeight { weight: 64 }),
        ParamsError::NotCovered { log_n: 13, .. }
    ));
    assert!(matches!(fails(|l| l.log_n = 12), ParamsError::BelowSecurity { limit: 109, .. }));
}

fn literal_prime() -> u64 {
    Params::new(&literal()).unwrap().q_moduli()[1].value()
}

#[test]
fn a_special_modulus_below_a_digit_is_refused_with_the_rule() {
    let e = fails(|l| l.dnum = 1);
    assert!(matches!(e, ParamsError::SpecialTooSmall { digit: 0, first: 0, last: 2, .. }));
    assert!(e.to_string().starts_with("P must be at least the largest digit product"), "{e}");
    // By one unit in the last digit: equal sizes, the special prime the smaller of two neighbours.
    let p = Params::new(&ParamsLiteral::from_bits(13, &[40, 40], &[40], 2)).unwrap();
    assert!(p.p_moduli()[0].value() > p.q_moduli().iter().map(|m| m.value()).max().unwrap());
    let v = |m: &Modulus| PrimeSpec::Value(m.value());
    let swapped = ParamsLiteral {
        q: vec![v(&p.p_moduli()[0]), v(&p.q_moduli()[1])],
        p: vec![v(&p.q_moduli()[0])],
        ..p.literal().clone()
    };
    assert!(matches!(Params::new(&swapped), Err(ParamsError::SpecialTooSmall { digit: 0, .. })));
}

#[test]
fn insecure_literals_need_the_mark() {
    let toy = ParamsLiteral::from_bits(10, &[30, 30], &[30], 2);
    let e = Params::new(&toy).unwrap_err();
    assert!(e.to_string().contains("128 bits need log PQ ≤ 27"), "{e}");
    let p = Params::new(&toy.insecure()).unwrap();
    assert!(p.is_insecure() && p.security().category().is_none() && p.security().bits() < 60.0);
}

#[test]
fn digits_are_cut_at_the_level() {
    let p = Params::named(NamedSet::IV).unwrap();
    assert_eq!(p.alpha(), 5);
    assert_eq!(p.digits(p.max_level()), [0..5, 5..10, 10..14]);
    assert_eq!(p.digits(Level::new(6)), [0..5, 5..7]);
    assert_eq!(p.digits(Level::ZERO), vec![0..1; 1]);
    assert_eq!(p.q_at(Level::new(3)).len(), 4);
}

#[test]
fn fingerprints_distinguish_contexts_and_literals_round_trip() {
    let p = Params::new(&literal()).unwrap();
    assert_eq!(Params::new(p.literal()).unwrap(), p);
    let mut seen = std::collections::HashSet::from([p.fingerprint()]);
    let mut differs = |change: fn(&mut ParamsLiteral)| {
        let mut l = literal();
        change(&mut l);
        assert!(seen.insert(Params::new(&l).unwrap().fingerprint()));
    };
    differs(|l| l.log_n = 14);
    differs(|l| l.scale_bits = 39);
    differs(|l| l.secret = Secret::Gaussian);
    differs(|l| (l.q, l.dnum) = (l.q[..2].to_vec(), 2));
    differs(|l| l.p.push(PrimeSpec::Bits(30)));
}

#[test]
fn by_need_takes_the_least_ring_that_is_secure() {
    for (depth, scale_bits, slots, want) in [
        (0, 30, 1, 12),
        (1, 30, 1, 12),
        (1, 40, 1, 13),
        (1, 30, 4096, 13),
        (6, 40, 1, 14),
        (20, 45, 1, 16),
        (1, 40, 32768, 16),
    ] {
        let need = Need { depth, scale_bits, slots, ..Need::default() };
        let choice = need.choose().unwrap();
        let p = &choice.params;
        assert_eq!(p.log_n(), want, "{}", choice.rationale);
        assert_eq!(p.security().category(), Some(128).max(p.security().category()));
        let g = SecurityTable::Guidelines2024.assess(p.log_n(), p.secret(), p.security().modulus).unwrap();
        assert!(g.category >= Some(128), "{}", choice.rationale);
        assert!(p.max_level().get() >= depth && p.slots() >= slots);
        assert!(p.key_moduli().all(|m| m.value() < 1 << 50), "{}", choice.rationale);
        assert!(choice.rationale.contains("below 2^50"), "{}", choice.rationale);
    }
}

#[test]
fn by_need_says_when_primes_must_be_wide() {
    let choice = Need { depth: 3, scale_bits: 55, ..Need::default() }.choose().unwrap();
    assert!(choice.rationale.contains("exceed 2^50 because a scale of 2^55"), "{}", choice.rationale);
    let choice = Need { depth: 3, scale_bits: 45, integer_bits: 10, ..Need::default() }.choose().unwrap();
    assert!(choice.rationale.contains("10 integer bits"), "{}", choice.rationale);
    let wide_base = Need { depth: 2, scale_bits: 59, integer_bits: 20, ..Need::default() }.choose().unwrap();
    assert!(wide_base.params.log_q(Level::new(1)) >= 80.0, "{}", wide_base.rationale);
    assert!(wide_base.params.max_level().get() >= 3);
}

#[test]
fn by_need_refuses_what_no_ring_gives() {
    let unmet = |need: Need| need.choose().unwrap_err().to_string();
    assert!(unmet(Need { depth: 62, ..Need::default() }).contains("depth"));
    assert!(unmet(Need { depth: 60, scale_bits: 59, ..Need::default() }).contains("bootstrap"));
    assert!(unmet(Need { slots: 1 << 17, ..Need::default() }).contains("slots"));
    assert!(unmet(Need { security: 100, ..Need::default() }).contains("128, 192 or 256"));
    assert!(unmet(Need { scale_bits: 60, ..Need::default() }).contains("20 to 59"));
    let c = Need { security: 256, depth: 2, ..Need::default() }.choose().unwrap();
    assert_eq!(c.params.security().category(), Some(256));
}

/// Fewer digits mean longer ones, which need more special primes: no set has space for them.
#[test]
fn no_named_set_admits_fewer_digits_at_128_bits() {
    let multiprime =
        NamedSet::ALL.into_iter().filter(|set| !set.name().ends_with("/1") && *set != NamedSet::I);
    for set in multiprime {
        let literal = set.literal();
        let limbs = literal.q.len();
        let alpha = limbs.div_ceil(literal.dnum - 1);
        let dnum = limbs.div_ceil(alpha);
        let bits = |q: &PrimeSpec| if let PrimeSpec::Bits(bits) = q { *bits } else { unreachable!() };
        let widest = literal.q.iter().map(bits).max().unwrap();
        let more = ParamsLiteral { dnum, p: vec![PrimeSpec::Bits(widest); alpha], ..literal };
        let refused = Params::new(&more);
        assert!(matches!(refused, Err(ParamsError::BelowSecurity { .. })), "{set}: {refused:?}");
    }
}

/// log2 of the product of the scales of repeated squarings over their distance from the first, by quotients of big integers.
fn drifts(params: &Params) -> Vec<f64> {
    let log2 = |x: &BigUint| {
        let shift = x.bits().saturating_sub(64);
        (u64::try_from(x >> shift).unwrap() as f64).log2() + shift as f64
    };
    // 512 bits below the binary point.
    let mut scale = BigUint::from(1u8) << (params.literal().scale_bits + 512);
    let squared = |q: &Modulus| {
        scale = ((&scale * &scale) >> 512) / q.value();
        log2(&scale) - 512.0 - f64::from(params.literal().scale_bits)
    };
    params.q_moduli()[1..].iter().rev().map(squared).collect()
}

#[test]
fn chains_by_size_keep_their_scale_over_all_levels() {
    // The last has more special primes of the size than half of the ciphertext primes.
    for (log_n, bits, limbs, special, dnum) in
        [(16, 36, 39, 7, 6), (17, 34, 60, 8, 10), (15, 30, 25, 12, 3), (17, 30, 40, 10, 4)]
    {
        let sized =
            ParamsLiteral::from_bits(log_n, &vec![bits; limbs], &vec![bits; special], dnum).insecure();
        let params = Params::new(&sized).unwrap();
        let all = drifts(&params);
        assert!(all.iter().all(|drift| drift.abs() < 0.5), "{bits} bits at 2^{log_n}: {all:?}");
        // The rounding of binary64 doubles with each level too.
        let most = all.iter().fold(0f64, |most, d| most.max(d.abs()));
        assert!((params.drift() - most).abs() < f64::exp2(limbs as f64 - 62.0).max(1e-6));
        assert_eq!((params.q_moduli().len(), params.p_moduli().len()), (limbs, special));
        let least = params.p_moduli().iter().map(|p| p.value()).min().unwrap();
        assert!(params.q_moduli().iter().all(|q| q.value() < least));
        // By value they are the same.
        assert_eq!(Params::new(params.literal()).unwrap(), params);
        // By turns the scale would be lost.
        let named = Params::of_primes(&sized, literal::by_turns(&sized).unwrap()).unwrap();
        assert!(named.drift() > 1000.0);
    }
}

#[test]
fn names_and_short_chains_keep_their_primes() {
    for set in NamedSet::ALL {
        let (q, p) = literal::by_turns(&set.literal()).unwrap();
        let named = Params::named(set).unwrap();
        assert_eq!((named.q_moduli(), named.p_moduli()), (&q[..], &p[..]), "{set}");
    }
    // No primes above 2^50 are taken for 50 bits, so those of long chains drift; both orders are refused there.
    let below = ParamsLiteral::from_bits(16, &[50; 30], &[50; 4], 10).insecure();
    assert!(literal::steady(&below, &literal::by_turns(&below).unwrap()).is_none());
    // V50 drifts in its last two levels; by size the same shape does not.
    let sized = Params::new(&NamedSet::V50.literal()).unwrap();
    assert!(sized.drift() < 0.01 && Params::named(NamedSet::V50).unwrap().drift() > DRIFT_MAX);
    assert_eq!(Params::new(&NamedSet::V.literal()).unwrap(), Params::named(NamedSet::V).unwrap());
}

/// Every prime 2^b + f of the class by trial, and the fewest set bits among them.
#[test]
fn sparse_chains_have_the_fewest_set_bits() {
    for (log_n, q_bits, p_bits, dnum) in
        [(11, &[36, 34, 34][..], &[36][..], 3), (13, &[40, 40, 40, 40][..], &[41, 41][..], 2)]
    {
        let literal = ParamsLiteral::of_least_set_bits(log_n, q_bits, p_bits, dnum).unwrap().insecure();
        let params = Params::new(&literal).unwrap();
        let chosen = || params.key_moduli().zip(q_bits.iter().chain(p_bits));
        for bits in [q_bits, p_bits].concat() {
            let half = 1u64 << ((bits + 2) / 2);
            let all = (0..half >> (log_n + 1)).map(|k| (1u64 << bits) + (k << (log_n + 1)) + 1);
            let mut weights: Vec<u32> =
                all.filter(|&q| Modulus::new(q).is_ok()).map(u64::count_ones).collect();
            weights.sort_unstable();
            let mut found: Vec<u32> =
                chosen().filter(|(_, b)| **b == bits).map(|(q, _)| q.value().count_ones()).collect();
            found.sort_unstable();
            assert_eq!(found, weights[..found.len()], "{bits} bits");
            assert!(chosen().filter(|(_, b)| **b == bits).all(|(q, _)| q.value() - (1 << bits) < half));
        }
    }
    let of = |log_n, bits: u32| ParamsLiteral::of_least_set_bits(log_n, &[bits; 9], &[bits], 9);
    assert!(matches!(of(13, 60), Err(ParamsError::PrimeBits { bits: 60, min: 20, max: 59 })));
    assert!(
        matches!(of(15, 30), Err(ParamsError::FewSparse { bits: 30, wanted: 10, .. })),
        "{:?}",
        of(15, 30)
    );
}

#[test]
fn levels_of_several_primes_keep_their_scale() {
    // Words of 28 and 36 bits where primes are scarce, and levels of different numbers.
    let pairs = |levels: usize| [&[1usize][..], &vec![2; levels]].concat();
    let triples = |levels: usize| [&[2usize][..], &vec![3; levels]].concat();
    for (log_n, first, size, levels) in [
        (16, vec![36], 26, pairs(10)),
        (16, vec![36], 28, pairs(20)),
        (15, vec![33], 24, pairs(6)),
        (14, vec![30, 30], 25, triples(4)),
    ] {
        let sizes = |count: &usize| vec![size; *count];
        let q: Vec<u32> = [first, levels[1..].iter().flat_map(sizes).collect()].concat();
        let alpha = q.len().div_ceil(3);
        let literal = ParamsLiteral::from_bits(log_n, &q, &vec![36; alpha + 1], 3).levels(&levels).insecure();
        let params = Params::new(&literal).unwrap();
        let count = *levels.last().unwrap();
        assert_eq!(literal.scale_bits, size * count as u32);
        assert_eq!(params.max_level().index() + 1, levels.len());
        assert_eq!(params.limbs(params.max_level()), q.len());
        // Against the scales as exact fractions.
        let mut scale = params.default_scale();
        let mut worst = 0f64;
        for level in (1..=params.max_level().get()).rev() {
            let primes = &params.q_moduli()[params.levels().primes(Level::new(level))];
            assert_eq!(primes.len(), levels[level as usize]);
            scale = primes.iter().fold(scale.mul(&scale), |scale, &q| scale.div(&Scale::modulus(q)));
            worst = worst.max((scale.log2() - f64::from(literal.scale_bits)).abs());
        }
        assert!(worst < 0.5, "2^{log_n}, {levels:?} of {size} bits: scales drift by {worst:.3} bits");
        assert!((params.drift() - worst).abs() < 1e-6, "{} and {worst}", params.drift());
        assert_eq!(Params::new(params.literal()).unwrap(), params);
        let single = Params::new(&ParamsLiteral { levels: Vec::new(), ..params.literal().clone() }).unwrap();
        assert_ne!(single.fingerprint(), params.fingerprint());
        assert_eq!(single.max_level().index() + 1, q.len());
    }
}

#[test]
fn levels_of_one_prime_each_are_the_chain_without_levels() {
    let all = ParamsLiteral::from_bits(13, &[50, 40, 40], &[50], 3).levels(&[1, 1, 1]);
    assert_eq!(Params::new(&all).unwrap(), Params::new(&literal()).unwrap());
    assert!(matches!(fails(|l| l.levels = vec![1, 1]), ParamsError::Levels { limbs: 3, .. }));
}

#[test]
fn by_need_with_a_word_keeps_every_prime_below_it() {
    for (word, scale_bits, depth, primes) in [
        (28, 25, 3, 1),
        (28, 40, 5, 2),
        (28, 56, 4, 2),
        (32, 70, 3, 3),
        (36, 36, 6, 1),
        (36, 46, 8, 2),
        (36, 72, 5, 2),
        (54, 40, 4, 1),
    ] {
        let need = Need { depth, scale_bits, slots: 512, word: Some(word), ..Need::default() };
        let Choice { params, rationale } = need.choose().unwrap();
        let what = format!("{need:?}: {params}");
        assert!(params.key_moduli().all(|q| q.value() < 1 << word), "{what}");
        let levels: Vec<usize> = params.levels().counts().collect();
        assert_eq!(levels.len(), depth as usize + 1, "{what}");
        assert!(levels[1..].iter().all(|&count| count == primes), "{what}: {levels:?}");
        let scale = params.literal().scale_bits;
        assert!(scale >= scale_bits, "{what}");
        assert_eq!(scale > scale_bits, rationale.contains("wider than 2^"), "{what}: {rationale}");
        assert!(rationale.contains(&format!("{word} bits")), "{rationale}");
        assert_eq!(params.security().category(), Some(128), "{what}");
        assert!(params.drift() < 1.0, "{what}: {}", params.drift());
        let base = params.log_q(Level::ZERO);
        assert!(base >= f64::from(scale + need.integer_bits), "{what}: {base}");
    }
}

#[test]
fn words_that_hold_no_scale_are_refused() {
    let refused = |word, scale_bits| {
        Need { scale_bits, word: Some(word), ..Need::default() }.choose().unwrap_err().to_string()
    };
    assert!(refused(61, 40).contains("20 to 60"));
    assert!(refused(19, 40).contains("20 to 60"));
    assert!(refused(20, 85).contains("20 to 80"));
    assert!(refused(36, 91).contains("20 to 90"));
}

#[test]
fn primes_of_the_words_size_leave_levels_where_they_are() {
    for word in [45, 59] {
        let sizes = [35, 30, 30, word, 48.min(word), 40, word];
        let literal = ParamsLiteral { scale_bits: 30, ..ParamsLiteral::from_bits(11, &sizes, &[word], 7) };
        let params = Params::within(word, &literal.insecure()).unwrap();
        let found: Vec<u32> =
            params.q_moduli().iter().map(|q| (q.value() as f64).log2().round() as u32).collect();
        assert_eq!(found, sizes);
        assert!(params.key_moduli().all(|q| q.value() < 1 << word), "{params}");
    }
}
