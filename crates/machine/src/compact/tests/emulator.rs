//! The emulated core: transforms from stored roots, arithmetic, and reads that come too early.

use num_bigint::BigUint;
use num_traits::ToPrimitive as _;
use ringmill_program::limb::random::Random;
use ringmill_ring::Modulus;
use ringmill_ring::reference::{forward, inverse};

use super::super::*;
use super::kinds::{all, name, primes};

const LOG_N: u32 = 10;
const N: usize = 1 << LOG_N;
const LIMB: u64 = 8 * N as u64;
const LIMB_UNITS: u32 = (LIMB / isa::ADDRESS_UNIT) as u32;

/// Every kind of multiplier at every width, with two primes of its class.
fn kinds() -> Vec<(CompactConfig, [Modulus; 2])> {
    let two = |config: &CompactConfig| primes(config, LOG_N, 2, true, 1).try_into().unwrap();
    all().into_iter().map(|config| (config, two(&config))).collect()
}

/// A core with two moduli and `limbs` in memory, at the addresses 0, 1, … of limbs.
fn core(config: CompactConfig, primes: [Modulus; 2], limbs: &[Vec<u64>]) -> Emulator {
    let mut core = Emulator::new(config);
    for (i, q) in primes.into_iter().enumerate() {
        core.set_modulus(i, &TableEntry::new(&config, q, LOG_N).unwrap()).unwrap();
    }
    for (i, limb) in limbs.iter().enumerate() {
        core.write(i as u64 * LIMB, limb).unwrap();
    }
    core
}

fn run(core: &mut Emulator, program: &[Instruction]) -> Result<(), CompactError> {
    let at = 40 * LIMB;
    let words: Vec<u64> = program.iter().flat_map(Instruction::encode).collect();
    core.write(at, &words)?;
    core.run(at, LOG_N).map(|_| ())
}

fn limb(core: &mut Emulator, index: u32) -> Vec<u64> {
    let mut words = vec![0; N];
    core.read(u64::from(index) * LIMB, &mut words).unwrap();
    words
}

fn bank(i: usize) -> Option<Bank> {
    Bank::new(i)
}

const fn from(limb: u32) -> Option<Stream> {
    Some(Stream { address: limb * LIMB_UNITS, after: 0 })
}

#[test]
fn transforms_from_stored_roots_are_the_transforms() {
    for (config, primes) in kinds() {
        let mut random = Random(3);
        let words: Vec<u64> = (0..N).map(|_| random.below(primes[1].value())).collect();
        for op in [Op::Ntt, Op::Intt] {
            let mut core = core(config, primes, &[words.clone(), vec![0; N]]);
            let program = [
                Instruction { s: from(0), d: bank(2), modulus: 1, ..Instruction::new(Op::Copy) },
                Instruction { a: bank(2), modulus: 1, ..Instruction::new(op) },
                Instruction { a: bank(2), store: Some(LIMB_UNITS), modulus: 1, ..Instruction::new(Op::Copy) },
                Instruction::new(Op::End),
            ];
            run(&mut core, &program).unwrap();
            let mut want = words.clone();
            let psi = primes[1].psi(LOG_N).unwrap();
            if op == Op::Ntt {
                forward(&mut want, primes[1], psi)
            } else {
                inverse(&mut want, primes[1], psi)
            }
            assert_eq!(limb(&mut core, 1), want, "{} with {}", op.name(), name(&config));
        }
    }
}

#[test]
fn a_pair_holds_half_a_limb_in_each_of_its_banks() {
    let (config, primes) = kinds().remove(0);
    let mut random = Random(5);
    let mut words = || -> Vec<u64> { (0..N).map(|_| random.below(primes[1].value())).collect() };
    let (x, y) = (words(), words());
    let mut core = core(config, primes, &[x.clone(), y.clone(), vec![0; N], vec![0; N], vec![0; N]]);
    let copy = Instruction { modulus: 1, ..Instruction::new(Op::Copy) };
    let store = |a, limb| Instruction { a: bank(a), store: Some(limb * LIMB_UNITS), ..copy };
    let program = [
        Instruction { s: from(1), d: bank(0), ..copy },
        Instruction { s: from(1), d: bank(2), ..copy },
        Instruction { s: from(0), d: bank(6), ..copy },
        Instruction { a: bank(6), modulus: 1, ..Instruction::new(Op::Ntt) },
        store(6, 2),
        store(0, 3),
        store(2, 4),
        Instruction::new(Op::End),
    ];
    run(&mut core, &program).unwrap();
    let mut want = x;
    forward(&mut want, primes[1], primes[1].psi(LOG_N).unwrap());
    let (low, high) = want.split_at(N / 2);
    assert_eq!(limb(&mut core, 2), want);
    assert_eq!(limb(&mut core, 3), [low, &y[N / 2..]].concat());
    assert_eq!(limb(&mut core, 4), [high, &y[N / 2..]].concat());
}

#[test]
fn arithmetic_is_that_of_the_integers() {
    for (config, [q, p]) in kinds() {
        let mut random = Random(11);
        let mut words = || -> Vec<u64> { (0..N).map(|_| random.below(q.value())).collect() };
        let (a, c, s, k0) = (words(), words(), words(), words()[0]);
        let all = [a.clone(), c.clone(), s.clone()];
        let big = |x: u64| BigUint::from(x);
        let modulus = big(q.value());
        // 2^−R = ((q + 1)/2)^R.
        let factor = big(q.value().div_ceil(2)).modpow(&big(config.factor_bits().into()), &modulus);
        let mm = |a: u64, b: u64| (big(a) * big(b) * &factor % &modulus).to_u64().unwrap();
        let sum = |x: u64, y: u64| ((big(x) + big(y)) % &modulus).to_u64().unwrap();
        let minus = |x: u64, y: u64| ((big(x) + &modulus - big(y)) % &modulus).to_u64().unwrap();
        let k1 = p.value() % q.value();
        type Word<'a> = &'a dyn Fn(u64, u64, u64) -> u64;
        let cases: [(Op, bool, bool, bool, Word<'_>); 10] = [
            (Op::Add, true, true, false, &|a, c, _| sum(a, c)),
            (Op::Sub, true, false, true, &|a, _, s| minus(a, s)),
            (Op::AddK, true, false, false, &|a, _, _| sum(a, k0)),
            (Op::MulK, false, false, true, &|_, _, s| minus(mm(s >> 9, k0), k1)),
            (Op::SubK, false, true, true, &|_, c, s| mm(minus(s, c), k0)),
            (Op::Mul, true, false, true, &|a, _, s| mm(a, s)),
            (Op::Mac, true, true, true, &|a, c, s| sum(c, mm(a, s))),
            (Op::MacK, true, true, false, &|a, c, _| sum(c, mm(a >> 9, k0))),
            (Op::Lift, true, false, false, &|a, _, _| {
                minus(mm(a, k0), if big(a) * 2u8 > big(p.value()) { k1 } else { 0 })
            }),
            (Op::ShrK, true, false, false, &|a, _, _| (a + k0) >> 9 & ((1 << config.word_bits()) - 1)),
        ];
        for (op, use_a, use_c, use_s, want) in cases {
            let mut core = core(config, [q, p], &all);
            let program = [
                Instruction { s: from(0), d: bank(1), ..Instruction::new(Op::Copy) },
                Instruction { s: from(1), d: bank(4), ..Instruction::new(Op::Copy) },
                Instruction {
                    a: bank(1).filter(|_| use_a),
                    c: bank(4).filter(|_| use_c),
                    s: from(2).filter(|_| use_s),
                    store: Some(0),
                    source: 1,
                    shift: 9,
                    k0,
                    k1: if matches!(op, Op::Lift | Op::MulK) { k1 } else { 0 },
                    ..Instruction::new(op)
                },
                Instruction::new(Op::End),
            ];
            run(&mut core, &program).unwrap();
            let want: Vec<u64> = (0..N).map(|i| want(a[i], c[i], s[i])).collect();
            assert_eq!(limb(&mut core, 0), want, "{} with {}", op.name(), name(&config));
        }
    }
}

#[test]
fn a_read_that_does_not_wait_for_its_store_is_refused() {
    let (config, primes) = kinds().remove(0);
    let program = |after: u16| {
        [
            Instruction { s: from(0), store: Some(LIMB_UNITS), ..Instruction::new(Op::Copy) },
            Instruction { s: from(0), store: Some(2 * LIMB_UNITS), ..Instruction::new(Op::Copy) },
            Instruction {
                s: Some(Stream { address: LIMB_UNITS, after }),
                store: Some(3 * LIMB_UNITS),
                ..Instruction::new(Op::Copy)
            },
            Instruction::new(Op::End),
        ]
    };
    let words = vec![5; N];
    let zeros = vec![0; N];
    let limbs = [words.clone(), zeros.clone(), zeros.clone(), zeros];
    let outcome = |after| run(&mut core(config, primes, &limbs), &program(after));
    let illegal = |reason| Err(CompactError::Instruction { index: 2, reason });
    assert_eq!(outcome(0), illegal(IllegalInstruction::After { needed: 1, waits: 0 }));
    assert_eq!(outcome(1), Ok(()));
    assert_eq!(outcome(2), Ok(()));
    assert_eq!(outcome(3), illegal(IllegalInstruction::NeverStored { waits: 3, before: 2 }));
}

#[test]
fn wrong_addresses_and_programs_without_end_are_errors() {
    let (config, primes) = kinds().remove(0);
    let mut core = core(config, primes, &[vec![0; N]]);
    assert_eq!(core.write(8, &[1]), Err(CompactError::Unaligned { address: 8, unit: 64 }));
    let far = Instruction { s: from(1 << 20), d: bank(0), ..Instruction::new(Op::Copy) };
    assert!(matches!(run(&mut core, &[far]), Err(CompactError::Address { .. })));
    let ntt = Instruction { a: bank(0), ..Instruction::new(Op::Ntt) };
    let end = run(&mut core, &[ntt, ntt]);
    assert_eq!(end, Err(CompactError::Instruction { index: 2, reason: IllegalInstruction::NoEnd }));
    assert_eq!(core.run(40 * LIMB, 9), Err(CompactError::Degree { log_n: 9, min: 10, max: 15 }));
}
