//! `boot/full/2^16`, `boot/2^8/2^16`: one bootstrapping of complex numbers, in all slots of the ring or in few of them, that
//! leaves nine levels. `boot/full-real/2^16` is of real numbers; `boot/full-15/2^16` leaves 15 levels.

use num_complex::Complex64;
use ringmill::ckks::{EvaluationKeys, GaloisKeys, KeyGenerator, Level, Params, Randomness};
use ringmill::program::he::{Builder, Op};
use ringmill::program::manage::{KeySet, Options};
use ringmill::ring::GaloisElement;
use ringmill::{Input, Inputs, Kernel};
use ringmill_circuits::bootstrap::{Bootstrap, Content, Need};
use ringmill_circuits::linear::Keys;

use crate::{Failure, Prepared, evaluator};

/// Keys that a linear map may ask for: with eight all maps share 24, with hardly more rotations than with all 36 of the
/// fastest.
const KEYS: usize = 8;

pub(crate) fn prepare(work: &str) -> Result<Prepared, String> {
    let rest = work.strip_prefix("boot/").unwrap_or_default();
    let ask = Ask::parse(rest).ok_or_else(|| format!("{work} names no slots and ring"))?;
    bind(&ask).map_err(|error| error.to_string())
}

/// What one work's name asks for.
struct Ask {
    slots: usize,
    log_n: u32,
    content: Content,
    levels: u32,
}

impl Ask {
    fn parse(text: &str) -> Option<Self> {
        let (packed, ring) = text.split_once('/')?;
        let log_n: u32 = ring.strip_prefix("2^")?.parse().ok()?;
        let mut words = packed.split('-');
        let slots = match words.next()? {
            "full" => 1 << (log_n - 1),
            few => 1 << few.strip_prefix("2^")?.parse::<u32>().ok()?,
        };
        let mut ask = Self { slots, log_n, content: Content::Complex, levels: Need::default().levels };
        for word in words {
            match word {
                "real" => ask.content = Content::Real,
                levels => ask.levels = levels.parse().ok()?,
            }
        }
        Some(ask)
    }
}

fn bind(&Ask { slots, log_n, content, levels }: &Ask) -> Result<Prepared, Failure> {
    let config = Bootstrap { keys: Keys::AtMost(KEYS), content, ..Bootstrap::default() };
    let need = Need { slots, log_n, levels, ..Need::default() };
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
    let angle = |i: usize| if content == Content::Real { 0.0 } else { (i * i % 9973) as f64 };
    let turn = |i: usize| Complex64::cis(angle(i)) * ((i % 101) as f64 / 101.0);
    let message: Vec<Complex64> = (0..slots).map(turn).collect();
    let plain = evaluator.encode(message.as_slice(), slots, start, &params.default_scale())?;
    let x = secret.encrypt(&plain, &mut Randomness::from_os()?)?;
    let run = move || kernel.run(&Inputs::from([("x".into(), Input::Cipher(&x))]), &keys);

    let y = &run()?["y"];
    let found = evaluator.decode(&secret.decrypt(y)?)?;
    let worst = found.iter().zip(&message).map(|(x, y)| (x - y).norm()).fold(0.0, f64::max);
    let left = y.level().get() - start.get();
    // The primes that products may divide by before the next bootstrapping begins.
    let primes = &params.q_moduli()[start.get() as usize + 1..=y.level().get() as usize];
    let usable: f64 = primes.iter().map(|prime| (prime.value() as f64).log2()).sum();
    let facts =
        format!(r#"{{"bits": {:.2}, "levels_left": {left}, "usable_bits": {usable:.1}}}"#, -worst.log2());
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
