//! The algorithms of `lower` against big integers, every level, digit size and number of special primes of small chains.

use crate::support::{
    Integers, KEY_ERROR, Limbs, Random, Toy, automorphism, centred, deviation, divide_rounded, phase, primes,
    product, run, times, to_integers, to_limbs, zip,
};
use num_bigint::BigInt;
use ringmill_program::limb::{Domain, InputClass, LimbProgram, Operand};
use ringmill_program::lower::{LowerError, Lowering, Rotation};
use ringmill_ring::Modulus;

const LOG_N: u32 = 8;

fn input(low: &mut Lowering, name: &str, limbs: usize) -> Vec<Operand> {
    let moduli = low.basis.q()[..limbs].to_vec();
    low.builder.input(name, InputClass::Data, Domain::Eval, &moduli)
}

fn key_names(stem: &str, digits: usize) -> Vec<String> {
    (0..digits).flat_map(|j| [format!("{stem}_b{j}"), format!("{stem}_a{j}")]).collect()
}

fn bind_key<'a>(inputs: &mut Vec<(&'a str, &'a Limbs)>, names: &'a [String], key: &'a [[Limbs; 2]]) {
    let limbs = key.iter().flatten();
    inputs.extend(names.iter().map(String::as_str).zip(limbs));
}

#[test]
fn rescaling_is_exact_division_rounded_to_nearest_at_every_level() {
    let q = [primes(LOG_N, 55, 0, 2), primes(LOG_N, 40, 0, 3), primes(LOG_N, 60, 0, 1)].concat();
    let mut random = Random(1);
    for limbs in 2..=q.len() {
        let mut low = Lowering::new("rescale", LOG_N, &q, &[], 1).unwrap();
        let x = input(&mut low, "x", limbs);
        let y = low.rescale(&x).unwrap();
        low.output("y", &y);
        let x = random.uniform(1 << LOG_N, &q[..limbs]);
        let y = run(&low.finish().unwrap(), &[("x", &x)]).remove(0);
        let divisor = BigInt::from(q[limbs - 1].value());
        let rest = product(&q[..limbs - 1]);
        let want = to_integers(&x, &q[..limbs]);
        let want: Integers = want.iter().map(|x| centred(&divide_rounded(x, &divisor), &rest)).collect();
        assert_eq!(to_integers(&y, &q[..limbs - 1]), want, "{limbs} limbs");
    }
}

#[test]
fn division_by_several_primes_rounds_to_nearest_but_for_a_hair_at_the_halves() {
    let q = [primes(LOG_N, 50, 0, 2), primes(LOG_N, 36, 0, 4)].concat();
    let mut random = Random(2);
    for sources in 2..=5 {
        let kept = q.len() - sources;
        let mut low = Lowering::new("divide", LOG_N, &q, &[], 1).unwrap();
        let x = input(&mut low, "x", q.len());
        let ids = low.basis.q().to_vec();
        let coefficients: Vec<_> = x[kept..].iter().map(|&x| low.builder.intt(x)).collect();
        let dropped = low.residues(&ids[kept..], &coefficients).unwrap();
        let y: Vec<_> = (0..kept).map(|i| low.divide(x[i], &dropped, ids[i]).unwrap()).collect();
        low.output("y", &y);
        let x = random.uniform(1 << LOG_N, &q);
        let y = run(&low.finish().unwrap(), &[("x", &x)]).remove(0);
        let (divisor, rest) = (product(&q[kept..]), product(&q[..kept]));
        let exact = to_integers(&x, &q);
        for (x, y) in exact.iter().zip(to_integers(&y, &q[..kept])) {
            let remainder = centred(&(x - centred(x, &divisor)), &(&divisor * &rest)) / &divisor;
            let at_half =
                (&divisor - num_traits::Signed::abs(&centred(x, &divisor)) * 2) * (1u64 << 22) < divisor;
            let off = centred(&(&y - remainder), &rest);
            assert!(off == BigInt::from(0) || at_half, "{sources} sources: off by {off}");
        }
    }
}

/// One key switch of a random d with random addends; the phase it must come near to, and the phase it gives.
struct Switched {
    found: Integers,
    exact: Integers,
    program: LimbProgram,
}

fn switch(toy: &mut Toy, key_limbs: usize, limbs: usize, rescale: bool) -> Switched {
    let from = toy.random.small(toy.n(), 1);
    let key = toy.switch_key(&from, key_limbs);
    let mut low = Lowering::new("switch", toy.log_n, &toy.q, &toy.p, toy.alpha).unwrap();
    let [c0, c1, d] = ["c0", "c1", "d"].map(|name| input(&mut low, name, limbs));
    let names = key_names("key", key.len());
    let inputs = low.key_inputs(&names, key_limbs).unwrap();
    let y = low.key_switch(&d, [Some(&c0), Some(&c1)], &inputs, rescale).unwrap();
    low.output("y0", &y[0]);
    low.output("y1", &y[1]);
    let program = low.finish().unwrap();

    let moduli = toy.q[..limbs].to_vec();
    let [c0, c1, d] = [0; 3].map(|_| toy.random.uniform(toy.n(), &moduli));
    let mut bound = vec![("c0", &c0), ("c1", &c1), ("d", &d)];
    bind_key(&mut bound, &names, &key);
    let y = run(&program, &bound);

    let d_from = to_limbs(&times(&to_integers(&d, &moduli), &from), &moduli);
    let exact = zip(&phase(&[&c0, &c1], &toy.s, &moduli), &to_integers(&d_from, &moduli), |a, b| a + b);
    let whole = product(&moduli);
    let mut exact: Integers = exact.iter().map(|x| centred(x, &whole)).collect();
    let kept = limbs - usize::from(rescale);
    if rescale {
        let (last, rest) = (BigInt::from(moduli[kept].value()), product(&moduli[..kept]));
        exact = exact.iter().map(|x| centred(&divide_rounded(x, &last), &rest)).collect();
    }
    let found = phase(&[&y[0], &y[1]], &toy.s, &moduli[..kept]);
    // Representatives near ±Q/2 may differ by Q: bring the found one next to the exact one.
    let rest = product(&moduli[..kept]);
    let found = zip(&found, &exact, |f, e| e + centred(&(f - e), &rest));
    Switched { found, exact, program }
}

fn check(toy: &Toy, limbs: usize, rescale: bool, switched: &Switched, what: &str) {
    let (max, std) = deviation(&switched.found, &switched.exact);
    let scale = if rescale { toy.q[limbs - 1].value() as f64 } else { 1.0 };
    let digits = (toy.switch_variance(limbs) - toy.rounding_variance()) / (scale * scale);
    let predicted = (digits + toy.rounding_variance()).sqrt();
    assert!(max < 8.0 * predicted + 1.0, "{what}: error {max}, predicted deviation {predicted}");
    assert!(std < 1.6 * predicted && std > predicted / 1.6, "{what}: deviation {std}, predicted {predicted}");
}

/// The transforms of a key switch by the formula (β + 2)(ℓ + 1 + K); the merged rescale adds none.
fn transforms(program: &LimbProgram) -> usize {
    use ringmill_program::limb::Opcode;
    (0..program.len()).filter(|&i| matches!(program.opcode(i), Opcode::Ntt | Opcode::Intt)).count()
}

#[test]
fn a_key_switch_changes_the_secret_and_adds_the_predicted_error() {
    for (alpha, special) in [(1, 1), (1, 2), (2, 2), (2, 3), (3, 3), (4, 4), (5, 5), (5, 6)] {
        let q = [primes(LOG_N, 50, 0, 1), primes(LOG_N, 45, 0, 4)].concat();
        let mut toy = Toy::new(LOG_N, q, primes(LOG_N, 51, 0, special), alpha, 3);
        for limbs in 1..=5 {
            for rescale in [false, true].into_iter().take(limbs) {
                let what = format!("alpha {alpha}, K {special}, {limbs} limbs, rescale {rescale}");
                let switched = switch(&mut toy, 5, limbs, rescale);
                check(&toy, limbs, rescale, &switched, &what);
                let formula = (limbs.div_ceil(alpha) + 2) * (limbs + special);
                assert_eq!(transforms(&switched.program), formula, "{what}");
            }
        }
    }
}

#[test]
fn the_error_of_the_key_itself_shows_where_p_is_small() {
    // P is 6 bits above the digits: Σ d_j·e_j/P dominates the rounding.
    let q = [primes(LOG_N, 50, 0, 1), primes(LOG_N, 50, 1, 3)].concat();
    let mut toy = Toy::new(LOG_N, q, primes(LOG_N, 48, 0, 1), 1, 4);
    assert!(toy.switch_variance(4) > 100.0 * toy.rounding_variance(), "{KEY_ERROR}");
    for limbs in 1..=4 {
        let switched = switch(&mut toy, limbs, limbs, false);
        check(&toy, limbs, false, &switched, &format!("{limbs} limbs"));
    }
}

#[test]
fn longer_rings_and_wider_primes_switch_too() {
    let q = [primes(10, 60, 0, 2), primes(10, 36, 0, 4)].concat();
    let mut toy = Toy::new(10, q, primes(10, 59, 0, 3), 2, 5);
    for (limbs, rescale) in [(6, true), (5, false), (4, true)] {
        let moduli = &toy.q[..limbs];
        assert!(product(&toy.p) > product(&moduli[..2]) * 64);
        let switched = switch(&mut toy, 6, limbs, rescale);
        check(&toy, limbs, rescale, &switched, &format!("{limbs} limbs"));
    }
}

/// A ciphertext, and for each Galois element what its rotation gave.
struct Rotated {
    toy: Toy,
    c: [Limbs; 2],
    y: Vec<(u64, [Limbs; 2])>,
}

/// Rotations of one ciphertext, together or one by one.
fn rotations(alpha: usize, hoist: bool, rescale: bool, seed: u64) -> Rotated {
    let limbs = 4;
    let q = [primes(LOG_N, 50, 0, 1), primes(LOG_N, 45, 0, 3)].concat();
    let mut toy = Toy::new(LOG_N, q, primes(LOG_N, 51, 0, alpha), alpha, seed);
    let two_n = 2u64 << LOG_N;
    let elements = [5, 25, two_n - 1];
    let m = toy.random.small(toy.n(), 1 << 44);
    let c = toy.encrypt(&m, limbs);
    let keys: Vec<_> = elements.iter().map(|&g| toy.galois_key(g, limbs)).collect();
    let names: Vec<_> = elements.iter().map(|g| key_names(&format!("galois{g}"), keys[0].len())).collect();
    let mut low = Lowering::new("rotations", LOG_N, &toy.q, &toy.p, alpha).unwrap();
    let [c0, c1] = ["c0", "c1"].map(|name| input(&mut low, name, limbs));
    let inputs: Vec<_> = names.iter().map(|names| low.key_inputs(names, limbs).unwrap()).collect();
    let all: Vec<_> =
        elements.iter().zip(&inputs).map(|(&galois, key)| Rotation { galois, key, rescale }).collect();
    let hoisted = hoist.then(|| low.hoist(&c1, &inputs[0]).unwrap());
    let mut results = Vec::new();
    for &rotation in &all {
        results.push(match &hoisted {
            Some(hoisted) => low.rotate_hoisted(hoisted, &c0, rotation).unwrap(),
            None => low.rotate([&c0, &c1], rotation).unwrap(),
        });
    }
    for (i, y) in results.iter().enumerate() {
        low.output(format!("y{i}_0"), &y[0]);
        low.output(format!("y{i}_1"), &y[1]);
    }
    let mut bound = vec![("c0", &c[0]), ("c1", &c[1])];
    for (names, key) in names.iter().zip(&keys) {
        bind_key(&mut bound, names, key);
    }
    let mut y = run(&low.finish().unwrap(), &bound).into_iter();
    let y = elements.iter().map(|&g| (g, [0; 2].map(|_| y.next().unwrap()))).collect();
    Rotated { toy, c, y }
}

#[test]
fn rotations_permute_the_message_hoisted_or_not_merged_with_a_rescale_or_not() {
    for (alpha, hoist, rescale) in [
        (1, false, false),
        (1, true, true),
        (2, false, true),
        (2, true, false),
        (4, true, true),
        (4, true, false),
    ] {
        let Rotated { toy, c, y } = rotations(alpha, hoist, rescale, 6);
        let m = phase(&[&c[0], &c[1]], &toy.s, &toy.q);
        let kept = toy.q.len() - usize::from(rescale);
        for (galois, y) in y {
            let found = phase(&[&y[0], &y[1]], &toy.s, &toy.q[..kept]);
            let mut exact = automorphism(&m, galois);
            if rescale {
                let last = BigInt::from(toy.q[kept].value());
                exact = exact.iter().map(|x| divide_rounded(x, &last)).collect();
            }
            check(
                &toy,
                4,
                rescale,
                &Switched { found, exact, program: empty() },
                &format!("X^{galois}, alpha {alpha}"),
            );
        }
    }
}

fn empty() -> LimbProgram {
    Lowering::new("empty", LOG_N, &[], &[], 1).unwrap().finish().unwrap()
}

#[test]
fn hoisting_gives_the_same_bits() {
    for (alpha, rescale) in [(1, false), (1, true), (2, false), (2, true), (4, false), (4, true)] {
        assert_eq!(rotations(alpha, true, rescale, 7).y, rotations(alpha, false, rescale, 7).y);
    }
}

#[test]
fn the_tensor_product_is_the_product_of_the_phases() {
    let q: Vec<Modulus> = primes(LOG_N, 50, 0, 3);
    let mut toy = Toy::new(LOG_N, q.clone(), Vec::new(), 1, 8);
    let [a, b] = [0; 2].map(|_| toy.random.small(toy.n(), 1 << 30));
    let [ca, cb] = [&a, &b].map(|m| toy.encrypt(m, 3));
    let mut low = Lowering::new("tensor", LOG_N, &q, &[], 1).unwrap();
    let [a0, a1, b0, b1] = ["a0", "a1", "b0", "b1"].map(|name| input(&mut low, name, 3));
    let d = low.tensor([&a0, &a1], [&b0, &b1]).unwrap();
    let e = low.tensor_square([&a0, &a1]).unwrap();
    for (i, part) in d.iter().chain(&e).enumerate() {
        low.output(format!("d{i}"), part);
    }
    let bound = [("a0", &ca[0]), ("a1", &ca[1]), ("b0", &cb[0]), ("b1", &cb[1])];
    let y = run(&low.finish().unwrap(), &bound);
    assert_eq!(phase(&[&y[0], &y[1], &y[2]], &toy.s, &q), times(&a, &b));
    assert_eq!(phase(&[&y[3], &y[4], &y[5]], &toy.s, &q), times(&a, &a));
}

#[test]
fn what_the_chain_does_not_allow_is_refused() {
    let q = primes(LOG_N, 50, 0, 3);
    let refused = |p: &[Modulus], limbs: usize, rescale: bool| {
        let mut low = Lowering::new("t", LOG_N, &q, p, 1).unwrap();
        let d = input(&mut low, "d", limbs);
        let key = low.key_inputs(&key_names("key", 2), 2);
        let switched = key.and_then(|key| low.key_switch(&d, [None, None], &key, rescale));
        switched.unwrap_err().to_string()
    };
    let special = primes(LOG_N, 51, 0, 1);
    assert!(refused(&[], 2, false).starts_with("a key switch needs a special prime"));
    assert_eq!(refused(&special, 3, false), "the key-switching key has 2 ciphertext limbs; 3 are needed");
    assert!(refused(&special, 1, true).starts_with("a rescale needs level 1"));
    assert!(matches!(Lowering::new("t", LOG_N, &q, &special, 0), Err(LowerError::Digits { alpha: 0 })));
    let mut low = Lowering::new("t", LOG_N, &q, &special, 1).unwrap();
    let (a, b) = (input(&mut low, "a", 2), input(&mut low, "b", 3));
    assert_eq!(low.add(&a, &b), Err(LowerError::Levels { left: 2, right: 3 }));
    assert_eq!(low.rescale(&a[..1]), Err(LowerError::LevelExhausted));
    assert_eq!(low.rescale(&[]), Err(LowerError::Limbs { found: 0, max: 3 }));
}
