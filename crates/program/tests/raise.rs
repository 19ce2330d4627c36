//! A ciphertext of level 0 raised by a lowered program, against big integers: the phase above is that below and a small
//! multiple of the product of its primes.

use crate::support::{
    Integers, KEY_ERROR, Limbs, Toy, centred, divide_rounded, phase, primes, run, to_limbs, zip,
};
use num_bigint::BigInt;
use num_traits::{Signed as _, Zero as _};
use ringmill_ckks::keys::Direction;
use ringmill_program::he;
use ringmill_program::lower::{InputSource, lower};
use ringmill_ring::Modulus;

const LOG_N: u32 = 6;
/// Weight of the sparse secret.
const WEIGHT: usize = 5;

/// The same for every digit of the first `base` primes, one after the other: d_0 + q_0·(d_1 + …).
fn digits(toy: &mut Toy, (from, to): (&Integers, &Integers), moduli: &[Modulus], base: usize) -> [Limbs; 2] {
    let mut all = [Vec::new(), Vec::new()];
    let mut weight = BigInt::from(1);
    for digit in 0..base {
        let from: Integers = from.iter().map(|x| x * &weight).collect();
        all.iter_mut().zip(key(toy, &from, to, moduli)).for_each(|(all, part)| all.extend(part));
        weight *= toy.q[digit].value();
    }
    all
}

/// b + a·to = e + p_0·from over `moduli`.
fn key(toy: &mut Toy, from: &Integers, to: &Integers, moduli: &[Modulus]) -> [Limbs; 2] {
    let a = toy.random.uniform(toy.n(), moduli);
    let e = toy.random.small(toy.n(), KEY_ERROR);
    let p = BigInt::from(toy.p[0].value());
    let plain = to_limbs(&zip(&e, from, |e, f| e + f * &p), moduli);
    let to = to_limbs(to, moduli);
    let limb = |i: usize| {
        let q = moduli[i];
        (0..toy.n()).map(|k| q.sub(plain[i][k], q.mul(a[i][k], to[i][k]))).collect()
    };
    [(0..moduli.len()).map(limb).collect(), a]
}

#[test]
fn the_phase_is_kept_up_to_a_small_multiple_of_the_base() {
    for (alpha, base) in [(1, 1), (2, 1), (1, 2), (3, 2), (2, 3)] {
        let q = [primes(LOG_N, [50, 30, 25][base - 1], 0, base), primes(LOG_N, 40, 0, 4)].concat();
        let p = primes(LOG_N, 51, 0, alpha);
        let mut toy = Toy::new(LOG_N, q, p, alpha, 5 + alpha as u64);
        let n = toy.n();
        let list = |m: &[Modulus]| m.iter().map(|m| m.value().to_string()).collect::<Vec<_>>().join(", ");
        let product: BigInt = toy.q[..base].iter().map(|q| BigInt::from(q.value())).product();
        let scale: String = toy.q[..base].iter().map(|q| format!("*{}", q.value())).collect();
        let levels = [vec![base], vec![1; 4]].concat();
        let text = format!(
            "he @t managed slots {}\nchain log_n {LOG_N} scale 2^30 q [{}] p [{}] alpha {alpha} levels {levels:?}\n\
             %0 = input \"x\" : ct[2](level 0, scale 2^-8{scale})\n%1 = raise %0, 8\noutput \"y\", %1\nend\n",
            n / 2,
            list(&toy.q),
            list(&toy.p)
        );
        let lowered = lower(&he::parse(&text).unwrap()).unwrap();

        let mut sparse = vec![BigInt::zero(); n];
        for i in 0..WEIGHT {
            sparse[7 * i + 3] = BigInt::from(if i % 2 == 0 { 1 } else { -1 });
        }
        let below = [&toy.q[..base], &toy.p[..1]].concat();
        let above = [&toy.q[..], &toy.p[..1]].concat();
        let dense = toy.s.clone();
        let down = digits(&mut toy, (&dense, &sparse), &below, base);
        let up = digits(&mut toy, (&sparse, &dense), &above, base);
        let m = toy.random.small(n, 1 << 36);
        let c = toy.encrypt(&m, base);
        let limbs: Vec<&Limbs> = lowered
            .inputs
            .iter()
            .map(|source| match *source {
                InputSource::Ciphertext { part, .. } => &c[usize::from(part)],
                InputSource::Encapsulation { direction: Direction::Down, part } => &down[usize::from(part)],
                InputSource::Encapsulation { direction: Direction::Up, part } => &up[usize::from(part)],
                other => panic!("{other:?}"),
            })
            .collect();
        let names = lowered.program.inputs().iter().map(|g| g.name.as_str());
        let y = run(&lowered.program, &names.zip(limbs).collect::<Vec<_>>());

        let found = phase(&[&y[0], &y[1]], &toy.s, &toy.q);
        // Errors: of the encryption, of two key switches (products of a key's error with a polynomial below q_0, over p_0)
        // and of two roundings, of which one meets the dense secret.
        let most = BigInt::from(4 * n as u64 * KEY_ERROR);
        let mut multiples = Vec::new();
        for (y, m) in found.iter().zip(&m) {
            let difference = y - m;
            let multiple = divide_rounded(&difference, &product);
            let error = centred(&difference, &product);
            assert!(error.abs() < most, "alpha {alpha}, base of {base}: error {error}");
            assert!(
                multiple.abs() * 2 <= BigInt::from(WEIGHT as u64 + 1),
                "alpha {alpha}, base of {base}: multiple {multiple}"
            );
            multiples.push(multiple);
        }
        assert!(multiples.iter().any(|i| !i.is_zero()), "nothing was raised");
    }
}
