//! Key-switch methods through the facade: equal bits where they must be, errors within the prediction,
//! missing forms named.

use ringmill::ckks::{
    Ciphertext, CkksError, EvaluationKeys, KeyGenerator, KeyLayout, KlssLayout, Level, Params, ParamsLiteral,
    Randomness, SecretKey,
};
use ringmill::program::cost::{Allowed, CostTable, Methods};
use ringmill::program::he::{self, Chain};
use ringmill::program::lower::Method;
use ringmill::program::manage::Options;
use ringmill::ring::GaloisElement;
use ringmill::{Evaluator, Input, Inputs, Kernel};

struct World {
    params: Params,
    secret: SecretKey,
    keys: EvaluationKeys,
    evaluator: Evaluator,
    values: Vec<f64>,
    cipher: Ciphertext,
}

const LAYOUTS: [KeyLayout; 2] =
    [KeyLayout { limbs: 3, special: 1, alpha: 1 }, KeyLayout { limbs: 5, special: 3, alpha: 3 }];

fn world() -> World {
    let literal = ParamsLiteral {
        scale_bits: 36,
        ..ParamsLiteral::from_bits(11, &[45, 36, 36, 36, 36, 36], &[46, 46], 3)
    };
    world_of(literal, &LAYOUTS)
}

fn world_of(literal: ParamsLiteral, layouts: &[KeyLayout]) -> World {
    let params = Params::new(&literal.insecure()).unwrap();
    let mut generator = KeyGenerator::new(&params).unwrap();
    let secret = generator.secret_key().unwrap();
    let mut relin = generator.relin_key(&secret).unwrap();
    let element = GaloisElement::rotation(1, params.log_n()).unwrap();
    let other = GaloisElement::rotation(3, params.log_n()).unwrap();
    let mut galois = generator.galois_keys(&secret, &[other]).unwrap();
    let mut turn = generator.galois_key(&secret, element).unwrap();
    for &layout in layouts {
        generator.extend_relin_key(&secret, &mut relin, layout).unwrap();
        generator.extend_galois_key(&secret, (element, &mut turn), layout).unwrap();
    }
    galois.insert(element, turn).unwrap();
    let keys = EvaluationKeys::new(Some(relin), galois).unwrap();
    let evaluator = Evaluator::new(&params).unwrap();
    let values: Vec<f64> = (0..params.slots()).map(|i| (i as f64 * 0.7).sin()).collect();
    let plain = evaluator
        .encode(values.as_slice(), params.slots(), params.max_level(), &params.default_scale())
        .unwrap();
    let cipher = secret.encrypt(&plain, &mut Randomness::from_os().unwrap()).unwrap();
    World { params, secret, keys, evaluator, values, cipher }
}

impl World {
    fn by(&self, method: Method) -> Evaluator {
        let chain = Chain::from(&self.params);
        self.evaluator.choosing(Methods::only(&CostTable::shipped(), &chain, method).unwrap()).unwrap()
    }

    /// Checks slots against what they stand for, by the error that the result predicts of itself.
    fn check(&self, found: &Ciphertext, want: impl Fn(usize) -> f64, what: &str) {
        let slots = self.evaluator.decode(&self.secret.decrypt(found).unwrap()).unwrap();
        let bound = found.noise().error(found.slots());
        for (i, z) in slots.iter().enumerate() {
            assert!(
                (z.re - want(i)).abs() < bound,
                "{what}: slot {i} is {} for {}, bound {bound}",
                z.re,
                want(i)
            );
        }
    }
}

#[test]
fn every_form_switches_within_the_error_that_it_predicts() {
    let w = world();
    let base = KeyLayout::base(&w.params);
    for layout in [&[base][..], &LAYOUTS].concat() {
        let e = w.by(Method::Hybrid(layout));
        for limbs in 2..=layout.limbs {
            let x = e.drop_level(&w.cipher, Level::new(limbs as u32 - 1)).unwrap();
            let what = format!("{layout:?}, {limbs} limbs");
            let square = e.square_relinearise_rescale(&x, w.keys.relin().unwrap()).unwrap();
            w.check(&square, |i| w.values[i] * w.values[i], &what);
            let turned = e.rotate(&x, 1, w.keys.galois()).unwrap();
            w.check(&turned, |i| w.values[(i + 1) % w.values.len()], &what);
        }
    }
}

/// The errors of the whole program are those of the forms that its keys have, above and below those of the base form.
#[test]
fn a_kernel_predicts_the_error_of_the_form_that_it_switches_by() {
    // Digits as wide as the special primes; those of the base form are half as wide.
    let literal = ParamsLiteral { scale_bits: 40, ..ParamsLiteral::from_bits(11, &[40; 6], &[40, 40], 6) };
    let wide = KeyLayout { limbs: 6, special: 2, alpha: 2 };
    let w = world_of(literal, &[wide]);
    let text = r#"he @turned traced slots 1024
        %x = input "x"
        %t = rotate %x, 1
        %s = square %x
        output "turned", %t
        output "square", %s
        end"#;
    let traced = he::parse(text).unwrap();
    let errors = [KeyLayout::base(&w.params), wide].map(|layout| {
        let e = w.by(Method::Hybrid(layout));
        let options = Options { output_level: Some(Level::new(3)), ..Options::default() };
        let kernel = Kernel::compile(&e, &traced, &options).unwrap();
        let inputs = Inputs::from([("x".into(), Input::Cipher(&w.cipher))]);
        let (found, predicted) = (kernel.run(&inputs, &w.keys).unwrap(), kernel.predict(&inputs).unwrap());
        w.check(&found["turned"], |i| w.values[(i + 1) % w.values.len()], &format!("rotation by {layout:?}"));
        w.check(&found["square"], |i| w.values[i] * w.values[i], &format!("square by {layout:?}"));
        let x = e.drop_level(&w.cipher, found["turned"].level()).unwrap();
        let eager = e.rotate(&x, 1, w.keys.galois()).unwrap();
        let [all, alone] = [&predicted[0], eager.noise()].map(|noise| noise.error(w.values.len()));
        assert!((all / alone - 1.0).abs() < 0.3, "{all:e}, one by one {alone:e}");
        all
    });
    assert!(errors[1] > 1.5 * errors[0], "{errors:?}");
}

#[test]
fn klss_gives_the_bits_of_the_form_that_its_key_comes_from() {
    let w = world();
    let chain = (w.params.q_moduli(), w.params.p_moduli());
    let relin = w.keys.relin().unwrap();
    // The last of each is derived for fewer limbs than its form has.
    for (layout, limbs, block) in
        [(KeyLayout::base(&w.params), [6, 4], 3), (LAYOUTS[1], [5, 4], 4), (LAYOUTS[0], [3, 2], 1)]
    {
        let before = relin.0.bytes();
        let mut bytes = Vec::new();
        for limbs in limbs {
            let digits = KeyLayout { limbs, ..layout };
            let klss = KlssLayout::new(w.params.log_n(), chain, digits, block, 51).unwrap();
            bytes.push(klss.bytes(w.params.log_n()));
            let (hybrid, klss) = (w.by(Method::Hybrid(layout)), w.by(Method::Klss(klss)));
            for level in 1..limbs {
                let x = hybrid.drop_level(&w.cipher, Level::new(level as u32)).unwrap();
                let [a, b] = [&hybrid, &klss].map(|e| e.square_relinearise_rescale(&x, relin).unwrap());
                assert!(a.polys() == b.polys() && a.scale() == b.scale(), "{digits:?}, level {level}");
                let [one, other] = [&a, &b].map(|c| c.noise().error(c.slots()));
                assert!((one / other - 1.0).abs() < 1e-9, "{one:e}, {other:e}");
                let [a, b] = [&hybrid, &klss].map(|e| e.rotate(&x, 1, w.keys.galois()).unwrap());
                assert!(a.polys() == b.polys(), "{digits:?}, level {level}");
            }
        }
        assert!(bytes[1] <= bytes[0] && relin.0.bytes() >= before + bytes[0] + bytes[1]);
    }
}

/// Rotations of sums, which are divided by P once: by KLSS as by hybrid key switching, with keys that are derived for a longer T.
#[test]
fn a_kernel_whose_sums_stay_modulo_t_gives_the_bits_of_hybrid_key_switching() {
    let w = world();
    let (chain, base) = ((w.params.q_moduli(), w.params.p_moduli()), KeyLayout::base(&w.params));
    let traced = he::parse(
        r#"he @sums traced slots 1024
        %x = input "x"
        %c = const 0.5
        %a = mul %x, %c
        %b = rotate %a, 1
        %d = add %a, %b
        %e = rotate %d, 1
        %f = add %d, %e
        %g = rotate %f, 3
        %h = sub %f, %g
        output "y", %h
        end"#,
    )
    .unwrap();
    let klss = |margin| KlssLayout::with_margin(w.params.log_n(), chain, (base, 3), 51, margin).unwrap();
    let layout = klss(8);
    let run = |method: Method| {
        let e = w.by(method);
        let kernel = Kernel::compile(&e, &traced, &Options::default()).unwrap();
        let inputs = Inputs::from([("x".into(), Input::Cipher(&w.cipher))]);
        let found = kernel.run(&inputs, &w.keys).unwrap().remove("y").unwrap();
        let at = |i: usize| w.values[i % w.values.len()];
        let sum = |i: usize| (at(i) + 2.0 * at(i + 1) + at(i + 2)) / 2.0;
        w.check(&found, |i| sum(i) - sum(i + 3), &format!("{:?}", e));
        found.polys().to_vec()
    };
    let hybrid = run(Method::Hybrid(base));
    assert!(run(Method::Klss(layout)) == hybrid, "sums stay modulo T");
    // A T that is too short for sums still gives what it should, each rotation divided by itself.
    run(Method::Klss(klss(0)));
}

#[test]
fn a_key_without_the_form_is_refused_by_name() {
    let w = world();
    let e = w.by(Method::Hybrid(LAYOUTS[1]));
    let x = e.drop_level(&w.cipher, Level::new(2)).unwrap();
    let refused = e.rotate(&x, 3, w.keys.galois()).unwrap_err();
    assert!(
        matches!(&refused, ringmill::Error::Ckks(CkksError::MissingForm { .. }))
            && refused.to_string().contains("extend_galois_key"),
        "{refused}"
    );
    let other = Params::new(&ParamsLiteral::from_bits(11, &[36; 3], &[36], 3).insecure()).unwrap();
    let methods = Methods::new(&CostTable::shipped(), &Chain::from(&other), &[], Allowed::Hybrid).unwrap();
    assert!(w.evaluator.choosing(methods).unwrap_err().to_string().contains("another chain"));
}
