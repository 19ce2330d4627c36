//! Key switches with the integers of SEAL and OpenFHE, against their definitions on big integers. That the definitions are those of
//! the libraries is shown beside the libraries themselves: `python/tests/test_interop_numbers.py`.

use crate::support::{
    Integers, Limbs, Random, automorphism, centred, primes, product, residue, run, times, to_integers,
    to_limbs, zip,
};
use num_bigint::BigInt;
use num_traits::Zero as _;
use ringmill_ckks::{KeyLayout, LayoutError};
use ringmill_program::limb::{Domain, InputClass, Opcode, SectionKind, SwitchEnd, parse};
use ringmill_program::lower::{KeyInputs, Library, LowerError, Lowering, Method, Rotation};
use ringmill_ring::Modulus;

const LOG_N: u32 = 5;

/// A key switch to be done: of a ciphertext's last polynomial, the others are added.
#[derive(Debug, Clone, Copy)]
struct Case {
    library: Library,
    alpha: usize,
    special: usize,
    limbs: usize,
    galois: Option<u64>,
    rescale: bool,
}

struct Chain {
    q: Vec<Modulus>,
    p: Vec<Modulus>,
}

fn chain(case: Case) -> Chain {
    let q = [primes(LOG_N, 50, 0, 1), primes(LOG_N, 45, 0, 4)].concat();
    Chain { q, p: primes(LOG_N, 51, 0, case.special) }
}

/// x mod m in [0, m).
fn least(x: &BigInt, m: &BigInt) -> BigInt {
    ((x % m) + m) % m
}

/// Σ_i ([x·(S/s_i)^−1] mod s_i)·(S/s_i): the integer of the fast conversion from the primes s_i.
fn fast(x: &BigInt, s: &[Modulus]) -> BigInt {
    let whole = product(s);
    let term = |&s: &Modulus| {
        let hat = &whole / s.value();
        let inverse = s.inv(residue(&hat, s)).unwrap();
        &hat * s.mul(residue(x, s), inverse)
    };
    s.iter().map(term).sum()
}

impl Case {
    /// The digit and the remainder by the library's definition.
    fn digit(&self, x: &BigInt, s: &[Modulus]) -> BigInt {
        match self.library {
            Library::Seal => least(x, &product(s)),
            Library::OpenFhe => fast(x, s),
        }
    }

    fn remainder(&self, x: &BigInt, p: &[Modulus]) -> BigInt {
        match self.library {
            Library::Seal => centred(x, &product(p)),
            Library::OpenFhe => fast(x, p),
        }
    }

    /// Both parts of the result.
    fn by_definition(&self, chain: &Chain, c: [&Limbs; 2], d: &Limbs, key: &[[Limbs; 2]]) -> [Limbs; 2] {
        let (q, p) = (&chain.q[..self.limbs], &chain.p);
        let turned = |x: &Integers, now: bool| match self.galois {
            Some(g) if now => automorphism(x, g),
            _ => x.clone(),
        };
        // SEAL permutes first, and has the keys for that: the images of those here.
        let first = self.library == Library::Seal;
        let d = turned(&to_integers(d, q), first);
        let basis = [q, p].concat();
        let mut parts = [0, 1].map(|part| {
            let mut sum: Integers = vec![BigInt::zero(); 1 << LOG_N];
            for (j, primes) in q.chunks(self.alpha).enumerate() {
                let digit: Integers = d.iter().map(|x| self.digit(x, primes)).collect();
                let key = turned(&to_integers(&key[j][part], &basis), first);
                sum = zip(&sum, &times(&digit, &key), |a, b| a + b);
            }
            let sum = turned(&sum, self.library == Library::OpenFhe);
            let divided: Integers = sum.iter().map(|x| (x - self.remainder(x, p)) / product(p)).collect();
            zip(&divided, &turned(&to_integers(c[part], q), true), |a, b| a + b)
        });
        let mut kept = q;
        if self.rescale {
            let (last, rest) = q.split_last().unwrap();
            let last = BigInt::from(last.value());
            parts = parts.map(|y| y.iter().map(|y| (y - centred(y, &last)) / &last).collect());
            kept = rest;
        }
        parts.map(|y| to_limbs(&y, kept))
    }

    fn key(&self, low: &mut Lowering, chain: &Chain) -> (Vec<String>, KeyInputs) {
        let layout = KeyLayout { limbs: chain.q.len(), special: self.special, alpha: self.alpha };
        let digits = chain.q.len().div_ceil(self.alpha);
        let names: Vec<String> = (0..digits).flat_map(|j| [format!("b{j}"), format!("a{j}")]).collect();
        let key = low.key_inputs_for(&Method::Of(self.library, layout), &names, chain.q.len()).unwrap();
        (names, key)
    }
}

fn cases() -> impl Iterator<Item = Case> {
    let shapes =
        [(Library::Seal, 1, 1), (Library::OpenFhe, 1, 1), (Library::OpenFhe, 2, 2), (Library::OpenFhe, 3, 3)];
    let turns = [None, Some(3), Some(25), Some((2 << LOG_N) - 1)];
    shapes.into_iter().flat_map(move |(library, alpha, special)| {
        turns.into_iter().flat_map(move |galois| {
            [(5, false), (4, true), (1, false)].map(|(limbs, rescale)| Case {
                library,
                alpha,
                special,
                limbs,
                galois,
                rescale,
            })
        })
    })
}

#[test]
fn every_residue_is_that_of_the_definition() {
    let mut random = Random(11);
    for case in cases() {
        let chain = chain(case);
        let mut low = Lowering::new("switch", LOG_N, &chain.q, &chain.p, case.alpha).unwrap();
        let moduli = low.basis.q()[..case.limbs].to_vec();
        let [c0, c1, d] =
            ["c0", "c1", "d"].map(|name| low.builder.input(name, InputClass::Data, Domain::Eval, &moduli));
        let (names, key) = case.key(&mut low, &chain);
        let y = match case.galois {
            None => low.relinearise([&c0, &c1, &d], &key, case.rescale).unwrap(),
            Some(galois) => {
                low.rotate([&c0, &d], Rotation { galois, key: &key, rescale: case.rescale }).unwrap()
            }
        };
        low.output("y0", &y[0]);
        low.output("y1", &y[1]);
        if let (Some(galois), Library::OpenFhe) = (case.galois, case.library) {
            let hoisted = low.hoist(&d, &key).unwrap();
            let rotation = Rotation { galois, key: &key, rescale: case.rescale };
            let y = low.rotate_hoisted(&hoisted, &c0, rotation).unwrap();
            low.output("h0", &y[0]);
            low.output("h1", &y[1]);
        }
        let program = low.finish().unwrap().without_dead();
        assert_eq!(parse(&program.to_string()).unwrap(), program, "{case:?}");
        let (mine, all) = (&chain.q[..case.limbs], [&chain.q[..], &chain.p].concat());
        let [c0, c1, d] = [0; 3].map(|_| random.uniform(1 << LOG_N, mine));
        let words: Vec<Limbs> = names.iter().map(|_| random.uniform(1 << LOG_N, &all)).collect();
        let mut bound: Vec<(&str, &Limbs)> = vec![("c0", &c0), ("c1", &c1), ("d", &d)];
        bound.extend(names.iter().map(String::as_str).zip(&words));
        let found = run(&program, &bound);
        // The key at this level: its first primes and the special ones.
        let rows = |key: &Limbs| [&key[..case.limbs], &key[chain.q.len()..]].concat();
        let key: Vec<[Limbs; 2]> = words.chunks(2).map(|pair| [rows(&pair[0]), rows(&pair[1])]).collect();
        let zero = vec![vec![0; 1 << LOG_N]; case.limbs];
        let c = [&c0, if case.galois.is_some() { &zero } else { &c1 }];
        let wanted = case.by_definition(&chain, c, &d, &key);
        for pair in found.chunks(2) {
            assert!(pair == wanted, "{case:?}");
        }
    }
}

#[test]
fn sections_say_whose_integers_they_compute() {
    for case in cases().filter(|case| case.rescale) {
        let chain = chain(case);
        let mut low = Lowering::new("switch", LOG_N, &chain.q, &chain.p, case.alpha).unwrap();
        let moduli = low.basis.q()[..case.limbs].to_vec();
        let c = ["c0", "c1"].map(|name| low.builder.input(name, InputClass::Data, Domain::Eval, &moduli));
        let (_, key) = case.key(&mut low, &chain);
        let galois = case.galois.unwrap_or(5);
        let y = low.rotate([&c[0], &c[1]], Rotation { galois, key: &key, rescale: true }).unwrap();
        low.output("y0", &y[0]);
        low.output("y1", &y[1]);
        let program = low.finish().unwrap();
        let kinds: Vec<SectionKind> = program.sections().iter().map(|section| section.kind).collect();
        let [SectionKind::KeySwitch { shape, end, galois: left, .. }, rescales @ ..] = &kinds[..] else {
            panic!("{kinds:?}")
        };
        let name = shape.method.name();
        assert_eq!((name, *end), (case.library.name(), SwitchEnd::Divide));
        assert_eq!(*left, Some(galois));
        assert_eq!(rescales, [SectionKind::Rescale { limbs: case.limbs as u32, primes: 1 }; 2]);
        let count = |op| (0..program.len()).filter(|&i| program.opcode(i) == op).count();
        assert!(count(Opcode::ConvertFast) > 0 && count(Opcode::Quotient) == 0);
    }
}

#[test]
fn what_a_library_does_not_do_is_refused() {
    let case = Case { library: Library::Seal, alpha: 1, special: 1, limbs: 5, galois: None, rescale: false };
    let chain = chain(case);
    let mut low = Lowering::new("switch", LOG_N, &chain.q, &chain.p, 1).unwrap();
    let moduli = low.basis.q().to_vec();
    let c1 = low.builder.input("c1", InputClass::Data, Domain::Eval, &moduli);
    let (_, key) = case.key(&mut low, &chain);
    assert_eq!(low.hoist(&c1, &key).unwrap_err(), LowerError::Shared { library: Library::Seal });
    let layout = KeyLayout { limbs: 5, special: 1, alpha: 2 };
    let refused = low.key_inputs_for(&Method::Of(Library::Seal, layout), &[], 5).unwrap_err();
    assert!(matches!(&refused, LowerError::Layout(LayoutError::Library { .. })));
    assert_eq!(
        refused.to_string(),
        "SEAL has keys of one special prime and digits of one prime; these have the form 5+1/2"
    );
    assert!("seals".parse::<Library>().unwrap_err().to_string().contains("\"openfhe\""));
}
