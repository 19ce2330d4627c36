//! Every kind of multiplier at every width of a word: primes of its class, the constants of the modulus table, products, and
//! whole programs on the emulated core. The oracles are big integers and the contract in `rtl/modmul/README.md`.

use num_bigint::BigUint;
use num_traits::ToPrimitive as _;
use ringmill_program::limb::random::{Random, RandomProgram};
use ringmill_ring::Modulus;

use super::super::product::Product;
use super::super::*;
use super::programs::{Shape, check, key_switches};

/// A core of a kind with words of `word_bits` bits.
fn config(multiplier: Multiplier, word_bits: u32) -> CompactConfig {
    CompactLiteral { word_bits, multiplier, butterflies: 2, ..CompactLiteral::roomy() }.build().unwrap()
}

/// Places of ones for words of 36 bits, where they are all that q ≡ 1 mod 2^11 leaves, and of 54 bits.
const FEW_ONES: [(u32, u32); 2] = [(36, 0b11_1111_1000_0000_0001), (54, 0b111_1111_0000_0000_0000_0000_0001)];

/// Every kind at every width; PRF-FIKO for few places of ones too.
pub(super) fn all() -> Vec<CompactConfig> {
    let words = CompactLiteral::WORD_BITS;
    let few = FEW_ONES.map(|(w, ones)| {
        let literal = CompactLiteral { ones, ..*config(Multiplier::PrfFiko, w).literal() };
        literal.build().unwrap()
    });
    // Of q = 2^31 + f, f < 2^16, there is one prime ≡ 1 mod 2^11.
    let scarce = |c: &CompactConfig| c.multiplier() == Multiplier::PrfFiko && c.word_bits() == 32;
    let every = Multiplier::ALL.into_iter().flat_map(|kind| words.map(|w| config(kind, w)));
    every.filter(|c| !scarce(c)).chain(few).collect()
}

pub(super) fn name(config: &CompactConfig) -> String {
    let few = if config.ones() == 0 { "" } else { ", few ones" };
    format!("{} at {} bits{few}", config.multiplier().name(), config.word_bits())
}

/// A number of the class with q ≡ 1 mod 2^(log N + 1); `long`: of W bits.
fn candidate(config: &CompactConfig, log_n: u32, long: bool, random: &mut Random) -> u64 {
    let (w, h, zeros) = (config.word_bits(), config.word_bits() / 2, log_n + 1);
    let top = 1u64 << (w - 1);
    let mut multiple = |zeros: u32, bits: u32| random.below(1 << bits) >> zeros << zeros;
    match config.multiplier() {
        Multiplier::PrfFiko => {
            let ones = if config.ones() == 0 { u64::MAX } else { config.ones().into() };
            top + (multiple(zeros, h) & ones) + 1
        }
        Multiplier::SparseWordMontgomery => {
            let delta = multiple(zeros.saturating_sub(h), 12);
            top - (1 << (11 + h)) + (delta << h) + 1
        }
        Multiplier::Ntt => {
            let shortest = (zeros + 2).max(26);
            let b = if long { w } else { shortest + multiple(0, 6) as u32 % (w - shortest + 1) };
            let delta = multiple(zeros.saturating_sub(13), 12);
            // Below 2^W; of shorter ones, on either side.
            let above = b < w && multiple(0, 1) == 1;
            if above { (1 << b) + (delta << 13) + 1 } else { (1 << b) - (delta << 13) + 1 }
        }
        kind => {
            let zeros = if kind == Multiplier::WordMontgomery { zeros.max(h) } else { zeros };
            let bits = if long { w } else { zeros + 2 + multiple(0, 6) as u32 % (w - zeros - 1) };
            (multiple(zeros, bits) | 1 << (bits - 1)) + 1
        }
    }
}

/// Different primes of the class, as many as 4,000 draws for each find.
pub(super) fn primes(
    config: &CompactConfig,
    log_n: u32,
    count: usize,
    long: bool,
    seed: u64,
) -> Vec<Modulus> {
    let mut random = Random(seed);
    let mut found: Vec<Modulus> = Vec::new();
    for _ in 0..4000 * count {
        if found.len() == count {
            break;
        }
        let q = Modulus::new(candidate(config, log_n, long, &mut random));
        found.extend(q.into_iter().filter(|q| !found.contains(q)).collect::<Vec<_>>());
    }
    found
}

fn big(x: u64) -> BigUint {
    BigUint::from(x)
}

fn power(bits: u32) -> BigUint {
    BigUint::from(1u8) << bits
}

/// R of the table in `rtl/modmul/README.md`.
fn factor_bits(config: &CompactConfig) -> u32 {
    match config.multiplier() {
        Multiplier::PrfFiko => config.word_bits() / 2,
        Multiplier::Barrett => 0,
        Multiplier::Ntt => config.word_bits().div_ceil(13) * 13,
        _ => config.word_bits(),
    }
}

/// The constant beside q, found by the definition in the same table; `None` where the hardware reads none.
fn constant(config: &CompactConfig, q: u64) -> Option<u64> {
    let (w, q) = (config.word_bits(), big(q));
    // 2^(φ(m) − 1) is no help for even m: an inverse modulo 2^n of odd q is q^(2^(n−2) − 1), for n ≥ 3.
    let inverse = |n: u32| q.modpow(&(power(n - 2) - 1u8), &power(n));
    let value = match config.multiplier() {
        Multiplier::WordMontgomery | Multiplier::SparseWordMontgomery => return None,
        Multiplier::PrfFiko => power(w / 2) - inverse(w / 2),
        Multiplier::Montgomery => inverse(w),
        Multiplier::Barrett => power(w + q.bits() as u32 + 1) / q,
        // The power of two next to q, of those from 2^26 on.
        Multiplier::Ntt => {
            let short = q.bits() as u32 - 1;
            let b = if &q - power(short) < power(short + 1) - &q { short } else { short + 1 };
            BigUint::from(b.max(26) - 13)
        }
    };
    Some(value.to_u64().unwrap())
}

#[test]
fn the_table_has_the_constants_of_the_multipliers_contract() {
    for config in all() {
        for log_n in [10, 12, 15] {
            let primes = primes(&config, log_n, 6, false, u64::from(log_n));
            // f = q − 2^(W−1) < 2^18 leaves four candidates at N = 2^15 and 36 bits; words of 32 have few in other classes.
            let scarce = config.word_bits() == 32
                || config.multiplier() == Multiplier::PrfFiko
                    && (config.word_bits() == 36 || config.ones() != 0);
            assert!(primes.len() == 6 || scarce, "{} primes for {}", primes.len(), name(&config));
            for q in primes {
                let what = format!("{}, q = {}, N = 2^{log_n}", name(&config), q.value());
                let entry = TableEntry::new(&config, q, log_n).unwrap();
                assert_eq!(entry.q, q.value(), "{what}");
                assert_eq!(entry.aux, constant(&config, q.value()).unwrap_or(0), "{what}");
                // The roots without their factor: a square root of −1, then square roots each of the one before.
                let (m, two_n) = (big(q.value()), 2u64 << log_n);
                let undo = power(factor_bits(&config)).modpow(&(&m - 2u8), &m);
                let roots: Vec<BigUint> = entry.roots.iter().map(|&r| big(r) * &undo % &m).collect();
                assert!(entry.roots.iter().all(|&r| r < q.value()), "{what}");
                assert_eq!(roots.len(), log_n as usize, "{what}");
                assert_eq!(&roots[0] * &roots[0] % &m, &m - 1u8, "{what}");
                for (a, b) in roots.iter().zip(&roots[1..]) {
                    assert_eq!(b * b % &m, *a, "{what}");
                }
                // The last is the least of its odd powers, which are all primitive roots.
                if log_n == 10 {
                    let psi = roots.last().unwrap();
                    let least = (0..two_n / 2).map(|k| psi.modpow(&big(2 * k + 1), &m)).min().unwrap();
                    assert_eq!(*psi, least, "{what}");
                }
            }
        }
    }
}

/// Words at the ends of their interval and of its halves, then drawn ones.
fn operands(limit: u64, w: u32, random: &mut Random) -> Vec<u64> {
    let ends = |x: u64| [x.wrapping_sub(1), x, x + 1];
    let corners = [0, 1 << (w / 2), 1 << (w / 2 - 1), 1 << (w - 1), limit / 2, limit - 1].map(ends);
    let mut words: Vec<u64> = corners.into_iter().flatten().filter(|&x| x < limit).collect();
    words.extend((0..20).map(|_| random.below(limit)));
    words
}

#[test]
fn products_are_those_of_the_integers() {
    for config in all() {
        let mut random = Random(17);
        for q in primes(&config, 10, 8, false, 5) {
            let product = Product::new(&config, q.value(), constant(&config, q.value()).unwrap_or(0));
            let m = big(q.value());
            let undo = power(factor_bits(&config)).modpow(&(&m - 2u8), &m);
            let first = operands(1 << config.word_bits(), config.word_bits(), &mut random);
            for b in operands(q.value(), config.word_bits(), &mut random) {
                for &a in &first {
                    let want = (big(a) * big(b) * &undo % &m).to_u64().unwrap();
                    assert_eq!(product.of(a, b), want, "{}: {a}·{b} mod {}", name(&config), q.value());
                }
            }
        }
    }
}

/// The entry of a modulus with another constant.
fn wrong(entry: &TableEntry, aux: u64) -> TableEntry {
    TableEntry { aux, ..entry.clone() }
}

#[test]
fn a_wrong_constant_or_root_gives_wrong_words() {
    const N: usize = 1 << 10;
    // A limb of words 1, 2, …, transformed by a core with one entry.
    let transformed = |config: &CompactConfig, entry: &TableEntry| {
        let mut core = Emulator::new(*config);
        core.set_modulus(0, entry).unwrap();
        let words: Vec<u64> = (1..=N as u64).collect();
        core.write(0, &words).unwrap();
        let s = Some(Stream { address: 0, after: 0 });
        let bank = Bank::new(0);
        let program = [
            Instruction { s, d: bank, ..Instruction::new(Op::Copy) },
            Instruction { a: bank, ..Instruction::new(Op::Ntt) },
            Instruction { a: bank, store: Some(0), ..Instruction::new(Op::Copy) },
            Instruction::new(Op::End),
        ];
        let words: Vec<u64> = program.iter().flat_map(Instruction::encode).collect();
        core.write(1 << 16, &words).unwrap();
        core.run(1 << 16, 10).unwrap();
        let mut limb = vec![0; N];
        core.read(0, &mut limb).unwrap();
        limb
    };
    for config in all() {
        let [q, other] = primes(&config, 10, 2, true, 9)[..] else { panic!("two primes") };
        let entry = TableEntry::new(&config, q, 10).unwrap();
        let right = transformed(&config, &entry);
        if constant(&config, q.value()).is_some() {
            let bits = match config.multiplier() {
                Multiplier::PrfFiko => config.word_bits() / 2,
                Multiplier::Barrett => config.word_bits() + 2,
                Multiplier::Ntt => 6,
                _ => config.word_bits(),
            };
            let negative = (1u64 << bits) - entry.aux;
            let of_another = TableEntry::new(&config, other, 10).unwrap().aux;
            let wrongs = [0, negative, of_another, entry.aux ^ 1 << (bits - 1)];
            // Primes of one length share the constant of `ntt`.
            for aux in wrongs.into_iter().filter(|&aux| aux != entry.aux) {
                let found = transformed(&config, &wrong(&entry, aux));
                assert_ne!(found, right, "{} with {aux} for {}", name(&config), entry.aux);
            }
        }
        for b in 0..entry.roots.len() {
            let mut other = entry.clone();
            other.roots[b] = q.sub(0, other.roots[b]);
            assert_ne!(transformed(&config, &other), right, "{}, root {b}", name(&config));
        }
    }
}

#[test]
fn programs_give_the_bits_of_the_reference_on_every_kind() {
    for (config, seed) in all().into_iter().zip(1..) {
        let all = primes(&config, 10, 6, true, seed);
        let shape = Shape { log_n: 10, bits: config.word_bits(), limbs: 4, special: 2, alpha: 2 };
        let switches = key_switches(shape.over(&all[..4], &all[4..]), 1, true);
        check(config, &switches, &name(&config));
        // Short ones, where the class has them, beside long ones in which base conversions find their quotients.
        let mut moduli = all[..2].to_vec();
        moduli.extend(primes(&config, 10, 3, false, seed + 100).iter().filter(|q| !all.contains(q)));
        for instructions in [40, 80] {
            let random = RandomProgram { log_n: 10, moduli: moduli.clone(), instructions, seed };
            check(config, &random.generate().unwrap(), &name(&config));
        }
    }
}

/// q of each kind's class and numbers just outside of it, by the definitions of the contract.
#[test]
fn moduli_outside_the_class_are_refused_and_told_which_it_is() {
    for config in all().into_iter().filter(|config| config.ones() == 0) {
        let (w, kind) = (config.word_bits(), config.multiplier());
        let h = w / 2;
        let class: fn(u64, u32) -> bool = match kind {
            Multiplier::WordMontgomery => |q, h| q % (1 << h) == 1,
            Multiplier::SparseWordMontgomery => |q, h| {
                let delta = i128::from(q) - 1 - (1i128 << (2 * h - 1));
                delta % (1 << h) == 0 && (-(1 << 11)..1 << 11).contains(&(delta >> h))
            },
            Multiplier::PrfFiko => |q, h| q > 1 << (2 * h - 1) && q - (1 << (2 * h - 1)) < 1 << h,
            Multiplier::Montgomery | Multiplier::Barrett => |_, _| true,
            Multiplier::Ntt => |q, h| {
                let near = |b: u32| (i128::from(q) - 1 - (1i128 << b)) / (1 << 13);
                let within = |b: u32| {
                    let distance = i128::from(q) - 1 - (1i128 << b);
                    distance % (1 << 13) == 0 && (-(1 << 12)..1 << 12).contains(&near(b))
                };
                (26..=2 * h).any(within)
            },
        };
        // Primes of every other core's class, and of this one's.
        let drawn = self::all()
            .into_iter()
            .flat_map(|other| [true, false].into_iter().flat_map(move |long| primes(&other, 10, 3, long, 3)));
        let (mut inside, mut outside) = (0, 0);
        for q in drawn {
            let within = q.bits() <= w && class(q.value(), h);
            let checked = config.check_modulus(q);
            if within {
                assert_eq!(checked, Ok(()), "{}: {}", name(&config), q.value());
                inside += 1;
            } else {
                let reported = checked.unwrap_err().to_string();
                let named =
                    format!("modulus {} is outside the class of the core's {}", q.value(), kind.name());
                assert!(reported.starts_with(&named) && reported.contains(&format!("W = {w}")), "{reported}");
                assert!(TableEntry::new(&config, q, 10).is_err());
                outside += 1;
            }
        }
        assert!(inside >= 6, "{}: {inside} inside", name(&config));
        assert!(outside > 0 || w == 60, "{}: {outside} outside", name(&config));
    }
}

#[test]
fn a_core_for_few_ones_serves_the_primes_that_have_them_at_its_places_alone() {
    let (word_bits, ones) = FEW_ONES[1];
    let few = all().into_iter().find(|c| c.word_bits() == word_bits && c.ones() != 0).unwrap();
    let (mut served, mut refused) = (0, 0);
    for q in primes(&config(Multiplier::PrfFiko, word_bits), 10, 40, false, 7)
        .into_iter()
        .chain(primes(&few, 10, 10, false, 7))
    {
        let f = format!("{:b}", q.value() - (1 << (word_bits - 1)));
        let places = f.bytes().rev().enumerate().filter(|(_, digit)| *digit == b'1').map(|(place, _)| place);
        if places.into_iter().all(|place| ones >> place & 1 == 1) {
            assert_eq!(few.check_modulus(q), Ok(()));
            served += 1;
        } else {
            let said = few.check_modulus(q).unwrap_err().to_string();
            assert!(said.contains(&format!("modulus {} = 2^(54-1) + f", q.value())), "{said}");
            assert!(said.contains(&format!("ones={ones}")), "{said}");
            refused += 1;
        }
    }
    assert!(served >= 10 && refused >= 30, "{served} {refused}");
}

#[test]
fn places_of_ones_are_below_half_of_a_word_with_the_lowest_and_of_one_multiplier() {
    let built = |multiplier, word_bits, ones| {
        let literal = CompactLiteral { multiplier, word_bits, ones, ..CompactLiteral::roomy() };
        literal.build().map(|c| c.ones()).map_err(|e| e.to_string())
    };
    assert_eq!(built(Multiplier::PrfFiko, 60, (1 << 30) - 1), Ok((1 << 30) - 1));
    for (kind, word, ones, right) in [
        (Multiplier::PrfFiko, 36, 1 << 18 | 1, "0, or odd and below 2^18"),
        (Multiplier::PrfFiko, 36, 1 << 17, "0, or odd and below 2^18"),
        (Multiplier::Montgomery, 54, 1, "0 with multiplier=montgomery; prf-fiko alone has places"),
    ] {
        let said = built(kind, word, ones).unwrap_err();
        assert!(said.contains(&format!("ones = {ones}")) && said.contains(right), "{said}");
    }
}
