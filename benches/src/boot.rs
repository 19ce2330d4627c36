//! `boot/full/2^16`, `boot/2^8/2^16`: one bootstrapping of complex numbers, in all slots of the ring or in few of them.

use num_complex::Complex64;
use ringmill::ckks::{EvaluationKeys, GaloisKeys, KeyGenerator, Level, Params, Randomness};
use ringmill::program::he::{Builder, Op};
use ringmill::program::manage::{KeySet, Options};
use ringmill::ring::GaloisElement;
use ringmill::{Input, Inputs, Kernel};
use ringmill_circuits::bootstrap::{Bootstrap, Need};
use ringmill_circuits::linear::Keys;

use crate::{Prepared, evaluator};

type Failure = Box<dyn std::error::Error>;

/// Keys that a linear map may ask for: with eight all maps share 24, with hardly more rotations than with all 36 of the
/// fastest.
const KEYS: usize = 8;

pub(crate) fn prepare(work: &str) -> Result<Prepared, String> {
    let parse = |rest: &str| -> Option<(usize, u32)> {
        let (packed, ring) = rest.split_once('/')?;
        let log_n: u32 = ring.strip_prefix("2^")?.parse().ok()?;
        Some(match packed {
            "full" => (1 << (log_n - 1), log_n),
            _ => (1 << packed.strip_prefix("2^")?.parse::<u32>().ok()?, log_n),
        })
    };
    let rest = work.strip_prefix("boot/").unwrap_or_default();
    let (slots, log_n) = parse(rest).ok_or_else(|| format!("{work} names no slots and ring"))?;
    bind(slots, log_n).map_err(|error| error.to_string())
}

fn bind(slots: usize, log_n: u32) -> Result<Prepared, Failure> {
    let config = Bootstrap { keys: Keys::AtMost(KEYS), ..Bootstrap::default() };
    let need = Need { slots, log_n, ..Need::default() };
    let params = need.choose(&config)?;
    let evaluator = evaluator(&params)?;
    let mut b = Builder::traced("bootstrap", slots)?;
    let x = b.push(Op::Input("x".into()))?;
    let y = config.apply(&mut b, x)?;
    b.output("y", y)?;
    let kernel = Kernel::compile(&evaluator, &b.finish()?, &Options::default())?;
    let mut generator = KeyGenerator::new(&params)?;
    let secret = generator.secret_key()?;
    let chain = kernel.program().chain().ok_or("a compiled program has a chain")?;
    let keys = keys(&params, &kernel.summary().keys, chain, &mut generator, &secret)?;

    let start = Level::new(config.start(slots));
    let turn = |i: usize| Complex64::cis((i * i % 9973) as f64) * ((i % 101) as f64 / 101.0);
    let message: Vec<Complex64> = (0..slots).map(turn).collect();
    let plain = evaluator.encode(message.as_slice(), slots, start, &params.default_scale())?;
    let x = secret.encrypt(&plain, &mut Randomness::from_os()?)?;
    let run = move || kernel.run(&Inputs::from([("x".into(), Input::Cipher(&x))]), &keys);

    let y = &run()?["y"];
    let found = evaluator.decode(&secret.decrypt(y)?)?;
    let worst = found.iter().zip(&message).map(|(x, y)| (x - y).norm()).fold(0.0, f64::max);
    let left = y.level().get() - start.get();
    let facts = format!(r#"{{"bits": {:.2}, "levels_left": {left}}}"#, -worst.log2());
    let work = move || drop(run().unwrap_or_else(|error| panic!("ran once, and now: {error}")));
    Ok(Prepared { run: Box::new(work), facts })
}

fn keys(
    params: &Params,
    wanted: &KeySet,
    chain: &ringmill::program::he::Chain,
    generator: &mut KeyGenerator,
    secret: &ringmill::ckks::SecretKey,
) -> Result<EvaluationKeys, Failure> {
    let mut galois = GaloisKeys::new(params);
    for g in wanted.galois(chain) {
        let element = GaloisElement::new(g, params.log_n())?;
        galois.insert(element, generator.galois_key(secret, element)?)?;
    }
    let keys = EvaluationKeys::new(Some(generator.relin_key(secret)?), galois)?;
    Ok(keys.with_encapsulation(generator.encapsulation_key(secret)?)?)
}
