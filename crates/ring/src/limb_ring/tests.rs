//! Every operation on every instruction set against plain 128-bit arithmetic.

use super::*;
use crate::dense::PACKED;
use crate::{Isa, reference};

/// Primes ≡ 1 mod 2^11 at the edges of the bands that kernels distinguish.
fn moduli(log_n: u32) -> Vec<Modulus> {
    let step = 2u64 << log_n;
    let near = |mut q: u64, down: bool| {
        q = q / step * step + 1;
        loop {
            if let Ok(m) = Modulus::new(q) {
                return m;
            }
            q = if down { q - step } else { q + step };
        }
    };
    let bands = [30, 31, 32, 48, 49, 50, 51, 52, 54, 55, 56, 59];
    let edges = bands.iter().flat_map(|&b| [near((1 << b) - step, true), near(1 << b, false)]);
    edges.chain([near(1 << 20, false), near((1 << 60) - step, true)]).collect()
}

/// Edge values first, then a full-period multiplicative sequence.
fn limb(n: usize, q: u64, seed: u64) -> Vec<u64> {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut edges =
        [0, q - 1, 1, q / 2, q / 2 + 1, q - 2].into_iter().cycle().skip(seed as usize % 6).take(36);
    let mut random = || {
        x = x.wrapping_mul(0xda94_2042_e4dd_58b5).rotate_left(23) ^ seed;
        x % q
    };
    (0..n).map(|_| edges.next().unwrap_or_else(&mut random)).collect()
}

fn big(q: Modulus, f: impl Fn(u128) -> u128) -> u64 {
    let q = u128::from(q.value());
    (f(q) % q) as u64
}

fn each(log_n: u32, f: impl Fn(&LimbRing)) {
    for isa in Isa::available() {
        for q in moduli(log_n) {
            f(&LimbRing::with_isa(log_n, q, isa).unwrap());
        }
    }
}

#[test]
fn transforms_agree_with_the_reference() {
    for log_n in [3, 4, 5, 8, 10] {
        each(log_n, |ring| {
            let (q, a) = (ring.modulus(), limb(ring.n(), ring.modulus().value(), 5));
            let (mut x, mut want) = (a.clone(), a.clone());
            ring.forward(&mut x).unwrap();
            reference::forward(&mut want, q, q.psi(log_n).unwrap());
            assert_eq!(x, want, "{} {q:?}", ring.isa());
            ring.inverse(&mut x).unwrap();
            assert_eq!(x, a, "{} {q:?}", ring.isa());
        });
    }
}

#[test]
fn pointwise_operations_agree_with_the_integers() {
    each(6, |ring| {
        let (n, q) = (ring.n(), ring.modulus());
        let [a, b, acc] = [1, 2, 3].map(|seed| limb(n, q.value(), seed));
        let c = limb(n, q.value(), 77)[40];
        let check = |what: &str, got: &[u64], f: &dyn Fn(u128, u128, u128, u128) -> u128| {
            for i in 0..n {
                let want = big(q, |m| f(a[i].into(), b[i].into(), acc[i].into(), m));
                assert_eq!(
                    got[i],
                    want,
                    "{what} of {} and {} on {} mod {}",
                    a[i],
                    b[i],
                    ring.isa(),
                    q.value()
                );
            }
        };
        let cc = u128::from(c);
        let mut out = vec![0; n];
        macro_rules! three {
            ($op:ident, $assign:ident, ($($arg:expr),*), $want:expr) => {{
                ring.$op(&mut out, &a, $($arg),*).unwrap();
                check(stringify!($op), &out, $want);
                out.copy_from_slice(&a);
                ring.$assign(&mut out, $($arg),*).unwrap();
                check(stringify!($assign), &out, $want);
            }};
        }
        three!(add, add_assign, (&b), &|a, b, _, _| a + b);
        three!(sub, sub_assign, (&b), &|a, b, _, q| a + q - b);
        three!(neg, neg_assign, (), &|a, _, _, q| q - a);
        three!(mul, mul_assign, (&b), &|a, b, _, _| a * b);
        three!(mul_scalar, mul_scalar_assign, (c), &|a, _, _, _| a * cc);
        three!(mul_scalar, mul_scalar_assign, (u64::MAX), &|a, _, _, q| a * (u128::from(u64::MAX) % q));
        three!(add_scalar, add_scalar_assign, (c), &|a, _, _, _| a + cc);
        three!(sub_mul_scalar, sub_mul_scalar_assign, (&b, c), &|a, b, _, q| (a + q - b) * cc);
        out.copy_from_slice(&acc);
        ring.mac(&mut out, &a, &b).unwrap();
        check("mac", &out, &|a, b, acc, _| acc + a * b);
        let factor = ring.factor(c);
        ring.sub_mul_add_factor(&mut out, [&a, &b, &acc], &factor).unwrap();
        check("sub_mul_add_factor", &out, &|a, b, acc, q| (a + q - b) * cc + acc);
        ring.mul_add_factor(&mut out, &a, &b, &factor).unwrap();
        check("mul_add_factor", &out, &|a, b, _, _| a * cc + b);
    });
}

#[test]
fn dot_agrees_with_the_integers() {
    for terms in [0, 1, 2, 3, 7, 8, 15, 16, 17, 40, 64, 65, 300] {
        each(4, |ring| {
            let (n, q) = (ring.n(), ring.modulus());
            let limbs = |seed| {
                (0..terms as u64).map(|i| limb(n, q.value(), if i % 3 == 0 { 1 } else { seed + i })).collect()
            };
            let (a, b): (Vec<Vec<u64>>, Vec<Vec<u64>>) = (limbs(1), limbs(100));
            let (ar, br): (Vec<&[u64]>, Vec<&[u64]>) =
                (a.iter().map(|v| &v[..]).collect(), b.iter().map(|v| &v[..]).collect());
            let [mut out, mut first, mut second] = [vec![9; n], vec![9; n], vec![9; n]];
            ring.dot(&mut out, &ar, &br).unwrap();
            ring.dot_factors([&mut first, &mut second], &ar, 0, [&ar, &br], Packing::Words).unwrap();
            let want = |b: &[Vec<u64>], i: usize| {
                let product = |j: usize| u128::from(a[j][i]) * u128::from(b[j][i]);
                big(q, |m| (0..terms).fold(0, |s, j| (s + product(j)) % m))
            };
            for i in 0..n {
                let (what, square) =
                    (format!("{terms} terms on {} mod {}", ring.isa(), q.value()), want(&a, i));
                assert_eq!((out[i], first[i], second[i]), (want(&b, i), square, out[i]), "{what}");
            }
        });
    }
}

#[test]
fn dot_holds_at_the_greatest_values() {
    for terms in [1, 8, 12, 13, 15, 16, 17, 33, 64, 128, 129, 300] {
        each(3, |ring| {
            let top = vec![ring.modulus().value() - 1; ring.n()];
            let mut out = vec![0; ring.n()];
            ring.dot(&mut out, &vec![&top[..]; terms], &vec![&top[..]; terms]).unwrap();
            let want = vec![ring.modulus().reduce(terms as u64); ring.n()];
            assert_eq!(out, want, "{terms} on {}", ring.isa());
            let (all, mut second) = (vec![&top[..]; terms], vec![0; ring.n()]);
            ring.dot_factors([&mut out, &mut second], &all, 0, [&all, &all], Packing::Words).unwrap();
            assert_eq!((&out, &second), (&want, &want), "{terms} on {}", ring.isa());
        });
    }
}

#[test]
fn dot_takes_what_transforms_leave_for_it() {
    for (terms, made) in [(1, 1), (3, 2), (4, 4), (9, 8), (17, 17), (40, 20)] {
        each(7, |ring| {
            let (n, q) = (ring.n(), ring.modulus());
            let psi = q.psi(ring.log_n()).unwrap();
            let (mut a, mut left) = (Vec::new(), Vec::new());
            for j in 0..terms {
                let coefficients = limb(n, q.value(), j as u64);
                let mut image = coefficients.clone();
                reference::forward(&mut image, q, psi);
                let mut limb = coefficients;
                if j < made {
                    ring.plan().forward_head(&mut limb, &[]).unwrap();
                    let words = ring.plan().block_words();
                    (0..n)
                        .step_by(words)
                        .for_each(|i| ring.forward_factors(&mut limb, i, words, &[]).unwrap());
                } else {
                    limb.clone_from(&image);
                }
                a.push(image);
                left.push(limb);
            }
            let left: Vec<&[u64]> = left.iter().map(|v| &v[..]).collect();
            let top = vec![q.value() - 1; n];
            let (b, tops): (Vec<&[u64]>, _) =
                (a.iter().rev().map(|v| &v[..]).collect(), vec![&top[..]; terms]);
            let [mut out, mut first, mut second] = [vec![9; n], vec![9; n], vec![9; n]];
            ring.dot_factors([&mut out], &left, made, [&b], Packing::Words).unwrap();
            ring.dot_factors([&mut first, &mut second], &left, made, [&b, &tops], Packing::Words).unwrap();
            for i in 0..n {
                let sum = |b: &[&[u64]]| {
                    big(q, |m| (0..terms).fold(0, |s, j| (s + u128::from(a[j][i]) * u128::from(b[j][i])) % m))
                };
                let what = format!("{made} of {terms} on {} mod {}", ring.isa(), q.value());
                assert_eq!((out[i], first[i], second[i]), (sum(&b), sum(&b), sum(&tops)), "{what}");
            }
        });
    }
}

#[test]
fn dot_takes_dense_factors_as_the_words_that_they_stand_for() {
    let taken = std::cell::Cell::new(0);
    for (terms, made) in [(0, 0), (1, 0), (2, 2), (3, 0), (5, 4), (9, 9), (40, 20)] {
        each(8, |ring| {
            let (n, q) = (ring.n(), ring.modulus().value());
            let low = |j: usize| j < made && ring.factors == Form::Low52;
            let a: Vec<Vec<u64>> = (0..terms).map(|j| limb(n, q, j as u64)).collect();
            // Words right in their low 52 bits, like those of `forward_factors`.
            let spoilt = |j: usize| a[j].iter().map(|&x| if low(j) { x | 0x5a5 << 52 } else { x }).collect();
            let left: Vec<Vec<u64>> = (0..terms).map(spoilt).collect();
            let left: Vec<&[u64]> = left.iter().map(|v| &v[..]).collect();
            let top = vec![q - 1; n];
            let b: Vec<Vec<u64>> = (0..terms).map(|j| limb(n, q, 77 + j as u64)).collect();
            let low52 = dot::form(ring.backend, &ring.prime) == Form::Low52;
            assert_eq!(ring.packing() == Packing::Dense, low52, "{} mod {q}", ring.isa());
            if !low52 {
                let refused = ring.dot_factors([&mut vec![0; n]], &left, made, [&left], Packing::Dense);
                assert!(matches!(refused, Err(RingError::NotDense { .. })), "{} mod {q}", ring.isa());
                return;
            }
            taken.set(taken.get() + 1);
            let pack = |words: &[u64]| {
                let mut packed = vec![0; Packing::Dense.len(n)];
                Packing::Dense.pack(words, &mut packed);
                packed
            };
            let (packed, tops): (Vec<_>, _) = (b.iter().map(|b| pack(b)).collect(), pack(&top));
            let (packed, tops): (Vec<&[u64]>, _) =
                (packed.iter().map(|v| &v[..]).collect(), vec![&tops[..]; terms]);
            let [mut out, mut first, mut second] = [vec![9; n], vec![9; n], vec![9; n]];
            ring.dot_factors([&mut out], &left, made, [&packed], Packing::Dense).unwrap();
            ring.dot_factors([&mut first, &mut second], &left, made, [&packed, &tops], Packing::Dense)
                .unwrap();
            for i in 0..n {
                let sum = |b: &dyn Fn(usize) -> u64| {
                    big(ring.modulus(), |m| {
                        (0..terms).fold(0, |s, j| (s + u128::from(a[j][i]) * u128::from(b(j))) % m)
                    })
                };
                let (words, tops) = (sum(&|j| b[j][i]), sum(&|_| q - 1));
                assert_eq!(
                    (out[i], first[i], second[i]),
                    (words, words, tops),
                    "{terms} on {} mod {q}",
                    ring.isa()
                );
            }
            let mut half = vec![0; n / 2];
            let halves: Vec<&[u64]> = left.iter().map(|a| &a[n / 2..]).collect();
            let packed: Vec<&[u64]> = packed.iter().map(|b| &b[PACKED..]).collect();
            ring.dot_factors([&mut half], &halves, made, [&packed], Packing::Dense).unwrap();
            assert_eq!(half, out[n / 2..]);
            if terms > 0 {
                let refused = ring.dot_factors([&mut half[..64]], &halves, made, [&packed], Packing::Dense);
                assert!(matches!(refused, Err(RingError::Length { .. })));
                let refused = ring.dot_factors([&mut half], &halves, made, [&halves], Packing::Dense);
                assert!(matches!(refused, Err(RingError::Length { what: "dense factor", .. })));
            }
        });
    }
    assert!(taken.get() > 0, "the plain-code twin of IFMA takes them everywhere");
}

#[test]
fn dot_takes_the_greatest_words_of_each_form() {
    for terms in [1, 3, 4, 5, 7, 8, 15, 16, 33, 300] {
        each(3, |ring| {
            let (n, q) = (ring.n(), ring.modulus().value());
            // The word, and what it stands for.
            let extremes = match ring.factors {
                Form::Canonical => vec![(q - 1, q - 1)],
                Form::Low52 => [(1 << 52) - 1, q, 0].map(|x| (x | 0xabc << 52, x % q)).to_vec(),
                Form::Number => {
                    let half = q / 2;
                    vec![((half as f64).to_bits(), half), ((-(half as f64)).to_bits(), q - half)]
                }
            };
            for (word, value) in extremes {
                let (a, b) = (vec![word; n], vec![q - 1; n]);
                let (mut out, b) = (vec![9; n], vec![&b[..]; terms]);
                ring.dot_factors([&mut out], &vec![&a[..]; terms], terms, [&b], Packing::Words).unwrap();
                let want = big(ring.modulus(), |m| u128::from(q - value % q) % m * terms as u128);
                assert_eq!(out, vec![want; n], "{terms} times {value} on {} mod {q}", ring.isa());
            }
        });
    }
}

#[test]
fn conversions_agree_with_the_scalar_statement() {
    let log_n = 5;
    let all = moduli(log_n);
    for isa in Isa::available() {
        for (count, stride) in [(1, 1), (2, 3), (3, 1), (8, 1), (9, 2), (17, 1)] {
            for start in 0..all.len() {
                let source: Vec<Modulus> =
                    (0..count).map(|i| all[(start + i * stride) % all.len()]).collect();
                let Ok(from) = SourceBasis::new(&source) else { panic!("distinct") };
                for &target in all.iter().filter(|&m| !source.contains(m)).step_by(3) {
                    let ring = LimbRing::with_isa(log_n, target, isa).unwrap();
                    let y: Vec<Vec<u64>> = source.iter().map(|s| limb(ring.n(), s.value(), 3)).collect();
                    conversion(&ring, &y, &from);
                }
            }
        }
    }
}

fn conversion(ring: &LimbRing, y: &[Vec<u64>], from: &SourceBasis) {
    let constants = ConvertConstants::new(from, ring.modulus());
    let slices: Vec<&[u64]> = y.iter().map(|y| &y[..]).collect();
    let [mut v, mut out, mut fast, mut lifted] = [(); 4].map(|()| vec![0; ring.n()]);
    ring.quotient(&mut v, &slices, from).unwrap();
    ring.convert(&mut out, &slices, &v, &constants).unwrap();
    ring.convert_fast(&mut fast, &slices, &constants).unwrap();
    ring.lift(&mut lifted, slices[0], from.moduli()[0]).unwrap();
    for i in 0..ring.n() {
        let at = || y.iter().map(|y| y[i]);
        assert_eq!(v[i], from.quotient(at()), "quotient on {}", ring.isa());
        assert_eq!(
            out[i],
            constants.convert(at(), v[i]),
            "convert on {} to {}",
            ring.isa(),
            ring.modulus().value()
        );
        assert_eq!(
            fast[i],
            constants.convert(at(), 0),
            "fast on {} to {}",
            ring.isa(),
            ring.modulus().value()
        );
        assert_eq!(
            lifted[i],
            crate::convert::lift(y[0][i], from.moduli()[0], ring.modulus()),
            "{}",
            ring.isa()
        );
    }
}

/// More words than a piece of the sources has, and primes of all sums at once.
#[test]
fn conversions_to_several_primes_agree_with_the_scalar_statement() {
    let (log_n, n) = (10, 1024);
    let all = moduli(log_n);
    for isa in Isa::available() {
        let ring = |q: &Modulus| LimbRing::with_isa(log_n, *q, isa).unwrap();
        for (sources, targets) in [
            (&all[..3], &all[3..]),
            (&all[4..12], &all[12..]),
            (&all[18..], &all[2..9]),
            (&all[..10], &all[10..]),
        ] {
            let from = SourceBasis::new(sources).unwrap();
            let rings: Vec<LimbRing> = targets.iter().map(ring).collect();
            let constants: Vec<_> = targets.iter().map(|&q| ConvertConstants::new(&from, q)).collect();
            let y: Vec<Vec<u64>> = sources.iter().map(|s| limb(n, s.value(), 3)).collect();
            let slices: Vec<&[u64]> = y.iter().map(|y| &y[..]).collect();
            let mut v = vec![0; n];
            rings[0].quotient(&mut v, &slices, &from).unwrap();
            for quotient in [None, Some(&v[..])] {
                let mut outs = vec![vec![0; n]; targets.len()];
                let each = rings.iter().zip(&constants).zip(&mut outs);
                let mut to: Vec<_> =
                    each.map(|((ring, c), out)| ring.convert_target(c, out).unwrap()).collect();
                rings[0].convert_all(&mut to, &slices, quotient).unwrap();
                for (c, out) in constants.iter().zip(&outs) {
                    for (i, &word) in out.iter().enumerate() {
                        let want = c.convert(y.iter().map(|y| y[i]), quotient.map_or(0, |v| v[i]));
                        assert_eq!(word, want, "word {i} on {isa} to {}", c.target().value());
                    }
                }
            }
        }
    }
}

#[test]
fn automorphisms_agree_in_both_domains_and_with_the_definition() {
    each(5, |ring| {
        let (n, q) = (ring.n(), ring.modulus());
        let a = limb(n, q.value(), 11);
        for galois in [1, 3, 5, 25, 2 * n as u64 - 1, 2 * n as u64 + 5] {
            let mut image = vec![0; n];
            ring.automorphism_coeff(&mut image, &a, galois).unwrap();
            let mut want = vec![0; n];
            for (i, &x) in a.iter().enumerate() {
                let power = i * galois as usize % (2 * n);
                want[power % n] = if power < n { x } else { q.neg(x) };
            }
            assert_eq!(image, want, "X^{galois} on {}", ring.isa());
            let (mut evaluations, mut permuted) = (a.clone(), vec![0; n]);
            ring.forward(&mut evaluations).unwrap();
            let permutation = Permutation::new(5, galois).unwrap();
            ring.automorphism_eval(&mut permuted, &evaluations, &permutation).unwrap();
            ring.inverse(&mut permuted).unwrap();
            assert_eq!(permuted, want, "X^{galois} on {}", ring.isa());
        }
    });
}

/// Word k stands for ψ^(2·brv(k) + 1), so word k of the image is the word that stands for the g-th power of that.
#[test]
fn permutations_follow_the_order_of_evaluations() {
    for log_n in 3..=10 {
        let n = 1usize << log_n;
        let exponents: Vec<usize> = (0..n).map(|k| 2 * crate::reference::bit_reverse(k, log_n) + 1).collect();
        let mut place = vec![0; 2 * n];
        exponents.iter().enumerate().for_each(|(k, &e)| place[e] = k);
        let step = if log_n < 6 { 2 } else { 2 * 37 };
        for isa in Isa::available() {
            let ring = LimbRing::with_isa(log_n, moduli(log_n)[0], isa).unwrap();
            let src: Vec<u64> = (0..n as u64).map(|k| k * 0x0001_0001_0001).collect();
            for galois in (1..2 * n).step_by(step) {
                let permutation = Permutation::new(log_n, galois as u64).unwrap();
                let want: Vec<u64> = exponents.iter().map(|e| src[place[galois * e % (2 * n)]]).collect();
                let mut out = vec![9; n];
                ring.automorphism_eval(&mut out, &src, &permutation).unwrap();
                assert_eq!(out, want, "g = {galois}, 2^{log_n}, {isa}");
                let first = n / 2 / 8 * 8;
                let mut block = vec![9; (n - first) / 8 / 2 * 8];
                ring.automorphism_block(&mut block, &src, &permutation, first).unwrap();
                assert_eq!(
                    block,
                    want[first..first + block.len()],
                    "g = {galois}, 2^{log_n}, {}",
                    ring.isa()
                );
                let mut scattered = vec![9; n];
                for (at, block) in [(first, &src[first..]), (0, &src[..first])] {
                    ring.automorphism_scatter(&mut scattered, block, &permutation, at).unwrap();
                }
                assert_eq!(scattered, want, "g = {galois}, 2^{log_n}, {isa}");
            }
        }
    }
}

#[test]
fn permutations_take_blocks_to_blocks() {
    for log_n in 3..=9 {
        let n = 1usize << log_n;
        let ring = LimbRing::new(log_n, moduli(log_n)[0]).unwrap();
        for galois in (1..2 * n as u64).step_by(if log_n < 6 { 2 } else { 2 * 37 }) {
            let permutation = Permutation::new(log_n, galois).unwrap();
            for words in (3..=log_n).map(|log| 1 << log) {
                for first in (0..n).step_by(words) {
                    let mut out = vec![0; n];
                    ring.automorphism_scatter(&mut out, &vec![1; words], &permutation, first).unwrap();
                    let image = permutation.image(first, words);
                    assert!(out[image..image + words].iter().all(|&word| word == 1), "g = {galois}, {first}");
                }
            }
        }
    }
}

#[test]
fn wrong_arguments_are_named() {
    let q = moduli(4)[0];
    let ring = LimbRing::new(4, q).unwrap();
    let (good, short) = (vec![0; 16], vec![0; 15]);
    let mut out = vec![0; 16];
    let length = |what| Err(RingError::Length { what, expected: 16, got: 15 });
    assert_eq!(ring.add(&mut out, &good, &short), length("b"));
    assert_eq!(ring.dot(&mut out, &[&good, &short], &[&good, &good]), length("left factor"));
    assert!(matches!(ring.dot(&mut out, &[&good], &[]), Err(RingError::Count { expected: 1, got: 0, .. })));
    let made = ring.dot_factors([&mut out], &[&good], 2, [&[&good]], Packing::Words);
    assert!(matches!(made, Err(RingError::Count { what: "left factors", expected: 2, got: 1 })));
    let mut other = good[8..].to_vec();
    let outs = ring.dot_factors([&mut out, &mut other], &[], 0, [&[], &[]], Packing::Words);
    assert!(matches!(outs, Err(RingError::Length { .. })));
    let permutation = Permutation::new(4, 3).unwrap();
    for (first, end) in [(4, 12), (16, 24), (usize::MAX - 7, usize::MAX)] {
        let error = ring.automorphism_block(&mut out[..8], &good, &permutation, first);
        assert_eq!(error, Err(RingError::Length { what: "block", expected: 16, got: end }));
        let error = ring.automorphism_scatter(&mut out, &good[..8], &permutation, first);
        assert_eq!(error, Err(RingError::Length { what: "block", expected: 16, got: end }));
    }
    let other = Permutation::new(5, 3).unwrap();
    let error = ring.automorphism_eval(&mut out, &good, &other);
    assert_eq!(error, Err(RingError::Length { what: "permutation", expected: 16, got: 32 }));
    assert_eq!(ring.automorphism_coeff(&mut out, &good, 2), Err(RingError::EvenGalois { galois: 2 }));
    assert!(matches!(LimbRing::new(2, q), Err(RingError::Degree { log_n: 2, .. })));
    assert!(matches!(LimbRing::new(12, Modulus::new(1_048_573).unwrap()), Err(RingError::NoRoot { .. })));
    let from = SourceBasis::new(&[moduli(4)[1]]).unwrap();
    let constants = ConvertConstants::new(&from, moduli(4)[2]);
    assert!(matches!(
        ring.convert_fast(&mut out, &[&good], &constants),
        Err(RingError::ModulusMismatch { .. })
    ));
    let constants = ConvertConstants::new(&from, q);
    assert!(matches!(ring.convert_fast(&mut out, &[], &constants), Err(RingError::Count { .. })));
    let (mut first, mut second) = (vec![0; 16], vec![0; 8]);
    let mut targets = [&mut first, &mut second].map(|out| ring.convert_target(&constants, out).unwrap());
    let error = ring.convert_all(&mut targets, &[&good], None);
    assert_eq!(error, Err(RingError::Length { what: "out", expected: 16, got: 8 }));
    let error = ring.convert_all(&mut targets[..1], &[&good], Some(&short));
    assert_eq!(error, length("quotient"));
    assert_eq!(ring.convert_all(&mut [], &[&good], None), Ok(()));
}
