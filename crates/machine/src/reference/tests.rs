//! The interpreter against big-integer and schoolbook arithmetic.

use num_bigint::BigInt;
use num_traits::{Signed as _, ToPrimitive as _};
use ringmill_program::limb::parse;
use ringmill_ring::Modulus;
use ringmill_ring::reference::{forward, inverse, negacyclic_product};

use super::Reference;
use crate::{Bindings, Machine as _, MachineError};

const HEAD: &str = "limb t : 2^4 {
  modulus q0 = 1048129
  modulus q1 = 1047041
  modulus p0 = 1152921504606845473
  modulus p1 = 1099511625697
  input data a : eval q0 q0
  input data c : coeff q0 q1 p0
";

/// Primes that are 1 mod 32, of the bit lengths 20, 20, 60 and 40.
fn moduli() -> [Modulus; 4] {
    let down = |bits: u32, skip: usize| {
        let mut q = (1u64 << bits) + 1;
        let below = std::iter::from_fn(|| {
            q -= 32;
            Some(q)
        });
        below.filter_map(|q| Modulus::new(q).ok()).nth(skip).unwrap()
    };
    [down(20, 0), down(20, 1), down(60, 0), down(40, 0)]
}

fn head() -> String {
    let mut text = HEAD.to_owned();
    for (old, new) in [1048129, 1047041, 1152921504606845473, 1099511625697u64].iter().zip(moduli()) {
        text = text.replacen(&old.to_string(), &new.value().to_string(), 1);
    }
    text
}

/// Words that look random and hit 0, q − 1 and the middle.
fn words(q: Modulus, seed: u64) -> Vec<u64> {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut next = || {
        x = x.wrapping_mul(0xda94_2042_e4dd_58b5).rotate_left(23) ^ seed;
        q.reduce(x)
    };
    let q = q.value();
    [0, q - 1, q / 2, q / 2 + 1].into_iter().chain(std::iter::from_fn(|| Some(next()))).take(16).collect()
}

/// Runs instructions that store limbs of the given moduli, on a = two limbs mod q0 and c = limbs mod q0, q1, p0.
fn run(outputs: &str, body: &str, a: &[Vec<u64>], c: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let program = parse(&format!("{}  output y : {outputs}\n{body}}}", head()))
        .unwrap_or_else(|e| panic!("{e}\n{body}"));
    let mut bindings = Bindings::new(&program);
    bindings.bind("a", a).unwrap().bind("c", c).unwrap();
    let inputs = bindings.inputs().unwrap();
    Bindings::check_canonical(&program, &inputs).unwrap();
    let mut y = vec![vec![0; 16]; program.output_types().len()];
    let mut outputs: Vec<&mut [u64]> = y.iter_mut().map(Vec::as_mut_slice).collect();
    Reference.prepare(&program).unwrap().run(&inputs, &mut outputs).unwrap();
    y
}

fn data() -> ([Vec<u64>; 2], [Vec<u64>; 3]) {
    let m = moduli();
    ([words(m[0], 1), words(m[0], 2)], [words(m[0], 3), words(m[1], 4), words(m[2], 5)])
}

fn residue(x: &BigInt, q: Modulus) -> u64 {
    let q = BigInt::from(q.value());
    (((x % &q) + &q) % &q).to_u64().unwrap()
}

#[test]
fn a_product_of_polynomials_comes_out() {
    let (a, c) = data();
    let q = moduli()[0];
    let psi = q.psi(4).unwrap();
    let [mut x, mut y] = a.clone();
    inverse(&mut x, q, psi);
    inverse(&mut y, q, psi);
    let mut want = negacyclic_product(&x, &y, q);
    let body = "%0 = mul a.0, a.1 : q0 eval\n%1 = intt %0 : q0 coeff\nstore %1 -> y.0\n";
    assert_eq!(run("coeff q0", body, &a, &c), [want.clone()]);
    // 3·(product + 5) − … in the same words: every pointwise instruction, by polynomials.
    want[0] = q.add(want[0], 5);
    let want: Vec<u64> = want.iter().zip(&x).map(|(&w, &x)| q.mul(q.sub(q.neg(q.mul(w, 3)), x), 7)).collect();
    let body = "%0 = sub a.0, a.0 : q0 eval\n%1 = mac %0, a.0, a.1 : q0 eval\n%2 = add_const %1, 5 : q0 eval
        %3 = mul_const %2, 3 : q0 eval\n%4 = neg %3 : q0 eval\n%5 = sub_mul_const %4, a.0, 7 : q0 eval
        %6 = intt %5 : q0 coeff\nstore %6 -> y.0\n";
    assert_eq!(run("coeff q0", body, &a, &c), [want]);
}

#[test]
fn dot_is_a_sum_of_products() {
    let (a, c) = data();
    let body = "%0 = dot [a.0, a.1, a.0], [a.1, a.1, a.0] : q0 eval\nstore %0 -> y.0\n";
    let q = moduli()[0].value() as u128;
    let want = |k: usize| {
        let (x, y) = (u128::from(a[0][k]), u128::from(a[1][k]));
        ((x * y + y * y + x * x) % q) as u64
    };
    assert_eq!(run("eval q0", body, &a, &c)[0], (0..16).map(want).collect::<Vec<_>>());
}

#[test]
fn lift_is_the_centred_residue() {
    let (a, c) = data();
    let m = moduli();
    let body = "%0 = lift c.2 : q0 coeff\nstore %0 -> y.0\n%1 = lift c.0 : p0 coeff\nstore %1 -> y.1\n";
    let y = run("coeff q0 p0", body, &a, &c);
    for k in 0..16 {
        let centred = |x: u64, s: Modulus| {
            let (x, s) = (BigInt::from(x), BigInt::from(s.value()));
            if &x * 2 > s { x - s } else { x }
        };
        assert_eq!(y[0][k], residue(&centred(c[2][k], m[2]), m[0]), "p0 to q0, word {k}");
        assert_eq!(y[1][k], residue(&centred(c[0][k], m[0]), m[2]), "q0 to p0, word {k}");
    }
}

#[test]
fn a_fast_conversion_of_one_limb_is_its_residue_in_natural_numbers() {
    let (a, c) = data();
    let m = moduli();
    let body = "%0 = convert_fast [c.2] : q0 coeff\nstore %0 -> y.0\n%1 = convert_fast [c.0] : p0 coeff\nstore %1 -> y.1\n";
    let y = run("coeff q0 p0", body, &a, &c);
    assert!(m[2].value() != m[0].value());
    for k in 0..16 {
        assert_eq!(y[0][k], residue(&BigInt::from(c[2][k]), m[0]), "p0 to q0, word {k}");
        assert_eq!(y[1][k], residue(&BigInt::from(c[0][k]), m[2]), "q0 to p0, word {k}");
    }
}

#[test]
fn conversion_finds_the_centred_integer_and_the_fast_one_a_multiple_off() {
    let (a, c) = data();
    let m = moduli();
    let s: BigInt = m[..3].iter().map(|m| BigInt::from(m.value())).product();
    let mut body = String::new();
    let mut hats = Vec::new();
    for i in 0..3 {
        let hat = &s / m[i].value();
        let inverse = m[i].inv(residue(&hat, m[i])).unwrap();
        body += &format!("%{i} = mul_const c.{i}, {inverse} : {} coeff\n", ["q0", "q1", "p0"][i]);
        hats.push((hat, inverse));
    }
    body += "%3 = quotient [%0, %1, %2] : quotient\n%4 = convert [%0, %1, %2], %3 : p1 coeff\nstore %4 -> y.0
        %5 = convert_fast [%0, %1, %2] : p1 coeff\nstore %5 -> y.1\n";
    let y = run("coeff p1 p1", &body, &a, &c);
    for k in 0..16 {
        // The integer that fast conversion stands for, and the centred representative of the same class.
        let sum: BigInt = (0..3).map(|i| BigInt::from(m[i].mul(c[i][k], hats[i].1)) * &hats[i].0).sum();
        assert!(sum < &s * 3 && !sum.is_negative());
        for (c, m) in c.iter().zip(m) {
            assert_eq!(residue(&sum, m), c[k]);
        }
        let mut x = &sum % &s;
        if &x * 2 > s {
            x -= &s;
        }
        // Dropped bits and rounded constants weigh less than 3·(2^−29 + 2^−26); nearer to ±S/2 either sign may come out.
        if (&s - x.abs() * 2) * (1 << 23) < s {
            let other = &x - x.signum() * &s;
            assert!(
                [&x, &other].iter().any(|x| y[0][k] == residue(x, m[3])),
                "centred at the border, word {k}"
            );
        } else {
            assert_eq!(y[0][k], residue(&x, m[3]), "centred, word {k}");
        }
        assert_eq!(y[1][k], residue(&sum, m[3]), "fast, word {k}");
    }
}

#[test]
fn an_automorphism_sends_x_to_its_power() {
    let (a, c) = data();
    let q = moduli()[0];
    let psi = q.psi(4).unwrap();
    let mut p = a[0].clone();
    inverse(&mut p, q, psi);
    for galois in (1..32).step_by(2) {
        let mut image = vec![0; 16];
        for (i, &x) in p.iter().enumerate() {
            let j = i * galois % 32;
            image[j % 16] = if j < 16 { x } else { q.neg(x) };
        }
        forward(&mut image, q, psi);
        let body = format!("%0 = automorphism a.0, {galois} : q0 eval\nstore %0 -> y.0\n");
        assert_eq!(run("eval q0", &body, &a, &c), [image], "X^{galois}");
    }
}

#[test]
fn an_allocated_program_runs_in_its_buffers() {
    let (a, c) = data();
    let plain =
        "%0 = load a.0 : q0 eval\n%1 = neg %0 : q0 eval\n%2 = add %1, a.1 : q0 eval\nstore %2 -> y.0\n";
    let allocated = "buffers 1\nb0:%0 = load a.0 : q0 eval\nb0:%1 = neg %0 : q0 eval
        b0:%2 = add %1, a.1 : q0 eval\nstore %2 -> y.0\n";
    assert_eq!(run("eval q0", plain, &a, &c), run("eval q0", allocated, &a, &c));
}

#[test]
fn wrong_bindings_are_named() {
    let program = parse(&format!("{}}}", head())).unwrap();
    let short = [vec![0; 15], vec![0; 16]];
    let mut bindings = Bindings::new(&program);
    let e = bindings.bind("b", &short).unwrap_err();
    assert_eq!(e.to_string(), "program t has no input called `b`; it has `a`, `c`");
    let e = bindings.bind("a", &short[..1]).unwrap_err();
    assert_eq!(e.to_string(), "input `a` has 2 limbs, but 1 are given");
    let e = bindings.bind("a", &short).unwrap_err();
    assert_eq!(
        e.to_string(),
        "input limb a.0 has 15 words, but the program's ring has degree 16; bind limbs of that degree"
    );
    let e = bindings.inputs().unwrap_err();
    assert_eq!(e.to_string(), "input `a` is not bound; bind all of its limbs before the program runs");
    let e = Reference.prepare(&program).unwrap().run(&[], &mut []).unwrap_err();
    assert_eq!(e.to_string(), "program t takes 5 input limbs, but 0 are bound");
    let q = moduli()[1].value();
    let (a, mut c) = data();
    c[1][3] = q;
    let inputs: Vec<&[u64]> = a.iter().chain(&c).map(Vec::as_slice).collect();
    let found = Bindings::check_canonical(&program, &inputs).unwrap_err();
    assert_eq!(found, MachineError::NotCanonical { limb: "c.1".to_owned(), word: 3, value: q, q });
}

#[test]
fn quotients_of_many_sources_stay_within_the_stated_bound() {
    for (bits, count) in [(60, 64), (20, 64), (31, 40), (50, 2)] {
        let first = (1u64 << bits) + 1;
        let candidates = (1..).map(|i| first - 2 * i);
        let s: Vec<Modulus> = candidates.filter_map(|q| Modulus::new(q).ok()).take(count).collect();
        let y: Vec<Vec<u64>> = s.iter().enumerate().map(|(i, &s)| words(s, i as u64 + 9)).collect();
        let slices: Vec<&[u64]> = y.iter().map(Vec::as_slice).collect();
        let v = super::ops::quotient(&slices, &s);
        let whole: BigInt = s.iter().map(|s| BigInt::from(s.value())).product();
        for (k, &v) in v.iter().enumerate() {
            let sum: BigInt = y.iter().zip(&s).map(|(y, s)| &whole / s.value() * y[k]).sum();
            // |Σ y_i/s_i − v| ≤ 1/2 + a·2^−25, all times 2^26·S.
            let off: BigInt = (sum - &whole * v).abs() << 26;
            assert!(
                off <= &whole * ((1u64 << 25) + 2 * count as u64),
                "{count} sources of {bits} bits, word {k}"
            );
            assert!(v <= count as u64);
        }
    }
}
