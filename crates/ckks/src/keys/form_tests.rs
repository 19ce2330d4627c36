//! Forms of other layouts, and KLSS keys, against their definitions on big integers.

use num_bigint::BigInt;
use num_traits::{ToPrimitive, Zero};
use ringmill_ring::dense::Packing;
use ringmill_ring::{Domain, Isa, Modulus, Poly};

use super::{KeyForm, KeyGenerator, KeyLayout, KlssLayout, SecretKey};
use crate::error::CkksError;
use crate::params::{Params, ParamsLiteral};
use crate::testing::{coefficients, product, randomness, rms};

fn params() -> Params {
    Params::new(&ParamsLiteral::from_bits(10, &[36; 7], &[37, 37], 4).insecure()).unwrap()
}

fn whole(moduli: &[Modulus]) -> BigInt {
    moduli.iter().map(|m| BigInt::from(m.value())).product()
}

fn polynomial(form: &KeyForm, digit: usize, part: usize, rows: impl Iterator<Item = usize>) -> Poly {
    let n = form.params().n();
    let limbs: Vec<u64> = rows.flat_map(|row| form.limb(digit, part, row).to_words(n).into_owned()).collect();
    Poly::from_words(form.params().n(), &limbs, Domain::Evaluation).unwrap()
}

fn integers(secret: &SecretKey) -> Vec<BigInt> {
    secret.expose_coefficients().iter().map(|&c| BigInt::from(c)).collect()
}

/// The primes of a layout in the order of its rows.
fn moduli(params: &Params, layout: KeyLayout) -> Vec<Modulus> {
    layout.moduli(params.q_moduli(), params.p_moduli())
}

/// b + a·s − P·g·s², centred, for a digit of `limbs` (a range) of the form; `pairs` are summed first.
fn error(form: &KeyForm, pairs: &[usize], digit: std::ops::Range<usize>, s: &[BigInt]) -> Vec<BigInt> {
    let (params, layout) = (form.params(), form.layout());
    let moduli = moduli(params, layout);
    let (q, all) = (whole(&moduli[..layout.limbs]), whole(&moduli));
    let d = whole(&moduli[digit]);
    let rest = &q / &d;
    let gadget = &rest * rest.modinv(&d).unwrap() * whole(&moduli[layout.limbs..]);
    let sum = |part| {
        let polys = pairs.iter().map(|&j| coefficients(&polynomial(form, j, part, 0..moduli.len()), &moduli));
        polys.reduce(|a, b| a.iter().zip(&b).map(|(a, b)| a + b).collect::<Vec<BigInt>>()).unwrap()
    };
    let (b, a) = (sum(0), sum(1));
    let want = product(s, s).into_iter().map(|x| x * &gadget);
    let half = &all >> 1;
    let phase = product(s, &a).into_iter().zip(b).zip(want).map(|((x, y), z)| x + y - z);
    phase.map(|x| ((x % &all) + &all) % &all).map(|r| if r > half { r - &all } else { r }).collect()
}

#[test]
fn a_form_encrypts_its_own_gadget_over_its_own_primes() {
    let params = params();
    let mut generator = KeyGenerator::with_randomness(&params, randomness(3));
    let secret = generator.secret_key().unwrap();
    let mut relin = generator.relin_key(&secret).unwrap();
    let layouts = [(5, 4, 4), (7, 1, 1), (4, 3, 2), (2, 1, 1)];
    for (limbs, special, alpha) in layouts {
        let layout = KeyLayout { limbs, special, alpha };
        generator.extend_relin_key(&secret, &mut relin, layout).unwrap();
        let form = relin.0.form(layout).unwrap();
        for (j, digit) in layout.digits(limbs).enumerate() {
            let error = error(form, &[j], digit, &integers(&secret));
            assert!(error.iter().all(|e| e.to_i64().is_some_and(|e| e.abs() <= 42)), "{layout:?}");
            assert!((2.8..3.6).contains(&rms(&error)), "{layout:?}");
        }
        let (stored, moduli) = (layout.dnum(), moduli(&params, layout).len());
        let b: Vec<Poly> = (0..stored).map(|j| polynomial(form, j, 0, 0..moduli)).collect();
        assert!(KeyForm::from_parts(&params, layout, &b, *form.seed(), form.identity()).unwrap() == *form);
    }
    assert_eq!(relin.0.forms().len(), 1 + layouts.len());
    let wanted = KeyLayout { limbs: 3, special: 3, alpha: 3 };
    assert!(matches!(relin.0.form(wanted), Err(CkksError::MissingForm { .. })));
}

/// The sum of the keys of neighbouring digits is a key of the digit that they make together: one key of fine digits
/// serves coarse ones wherever P covers them. Its error is the sum of the errors of these keys.
#[test]
fn keys_of_neighbouring_digits_add_up_to_a_key_of_the_merged_digit() {
    let params = params();
    let mut generator = KeyGenerator::with_randomness(&params, randomness(4));
    let secret = generator.secret_key().unwrap();
    let mut relin = generator.relin_key(&secret).unwrap();
    let layout = KeyLayout { limbs: 6, special: 3, alpha: 1 };
    generator.extend_relin_key(&secret, &mut relin, layout).unwrap();
    let form = relin.0.form(layout).unwrap();
    for merged in [2, 3] {
        for first in (0..6).step_by(merged) {
            let pairs: Vec<usize> = (first..first + merged).collect();
            let std = rms(&error(form, &pairs, first..first + merged, &integers(&secret)));
            let ratio = std / (3.2 * (merged as f64).sqrt());
            assert!((0.9..1.1).contains(&ratio), "{merged} digits from {first}: {std}");
        }
    }
}

#[test]
fn a_klss_key_is_its_blocks_centred_modulo_t() {
    let params = params();
    let mut generator = KeyGenerator::with_randomness(&params, randomness(5));
    let secret = generator.secret_key().unwrap();
    let relin = generator.relin_key(&secret).unwrap();
    let base = KeyLayout::base(&params);
    let chain = (params.q_moduli(), params.p_moduli());
    // For fewer limbs than the form has, too.
    for (block, bits, limbs) in [(1, 50, 7), (2, 51, 7), (4, 60, 7), (9, 60, 7), (3, 51, 5), (6, 60, 4)] {
        let digits = KeyLayout { limbs, ..base };
        let layout = KlssLayout::new(params.log_n(), chain, digits, block, bits).unwrap();
        let key = relin.0.klss(&layout).unwrap();
        let all = moduli(&params, base);
        for m in 0..layout.blocks(limbs) {
            let rows: Vec<usize> = layout.rows(m, limbs).collect();
            // Special primes come first.
            assert_eq!(m == 0, rows[0] == limbs);
            let rows: Vec<usize> =
                rows.into_iter().map(|r| if r < limbs { r } else { r - limbs + base.limbs }).collect();
            let primes: Vec<Modulus> = rows.iter().map(|&r| all[r]).collect();
            let exact = coefficients(&polynomial(relin.0.base(), 1, m % 2, rows.into_iter()), &primes);
            let limbs: Vec<u64> = (0..layout.t().len())
                .flat_map(|k| key.limb(1, m % 2, k, m).to_words(params.n()).into_owned())
                .collect();
            let found = Poly::from_words(params.n(), &limbs, Domain::Evaluation).unwrap();
            let product = whole(&primes);
            for (found, exact) in coefficients(&found, layout.t()).iter().zip(&exact) {
                // Within the quotient's error of half the product, either representative is right.
                let at_half = (&product - BigInt::from(exact.magnitude() * 2u8)) * 256 < product;
                let off = found - exact;
                assert!(
                    off.is_zero() || (at_half && *off.magnitude() == *product.magnitude()),
                    "{layout:?}: {off}"
                );
            }
        }
        // A cache line a block.
        let of =
            |&t: &Modulus| Packing::of_factors(params.log_n(), t, Isa::detect().unwrap()).len(params.n());
        let (taken, all): (usize, usize) = (layout.t().iter().map(of).sum(), layout.t().len() * params.n());
        let residues = layout.bytes(params.log_n()) / all * taken;
        let beyond = key.bytes() - residues;
        assert!(beyond > 0 && 64 * beyond <= residues, "{beyond} bytes beyond the residues");
        assert!(std::sync::Arc::ptr_eq(&key, &relin.0.clone().klss(&layout).unwrap()), "derived twice");
    }
}
