//! Times of the facade, one JSON line a work: `cargo run --release -p ringmill --example ops -- relin/III
//! rotate/V50`.
//!
//! Works: `encode decode encrypt keygen mul_ct_ct mul_relin relin rescale relin_rescale rotate rotate_hoisted8` of
//! the sets `I II III IV V V50` (and `IV/1 …`). `bare/SET` runs the limb program of `relin` on the machine
//! without the facade: `relin − bare` is what the checks, the cache and the error model cost. Without
//! arguments: set III.

use std::time::{Duration, Instant};

use ringmill::ckks::params::NamedSet;
use ringmill::ckks::{Ciphertext, KeyGenerator, Level, Params, Plaintext, Randomness, RelinKey, SecretKey};
use ringmill::program::he::{Builder, Chain, Op, Scale, Type};
use ringmill::program::lower::{InputSource, lower};
use ringmill::ring::LimbSource;
use ringmill::{Error, Evaluator};

type Failure = Box<dyn std::error::Error>;

const WORKS: [&str; 12] = [
    "encode",
    "decode",
    "encrypt",
    "keygen",
    "mul_ct_ct",
    "mul_relin",
    "relin",
    "bare",
    "rescale",
    "relin_rescale",
    "rotate",
    "rotate_hoisted8",
];

/// Each work is repeated for about so long.
const SLICE: Duration = Duration::from_secs(2);

/// Everything that the works of one set need.
struct Bench {
    params: Params,
    evaluator: Evaluator,
    secret: SecretKey,
    keys: ringmill::ckks::EvaluationKeys,
    values: Vec<f64>,
    plain: Plaintext,
    a: Ciphertext,
    b: Ciphertext,
    product: Ciphertext,
}

impl Bench {
    fn new(set: NamedSet) -> Result<Self, Failure> {
        let params = Params::named(set)?;
        let evaluator = Evaluator::new(&params)?;
        let mut generator = KeyGenerator::new(&params)?;
        let secret = generator.secret_key()?;
        let keys = generator.evaluation_keys(&secret, &[1, 2, 3, 4, 5, 6, 7, 8], false)?;
        let values: Vec<f64> = (0..params.slots()).map(|i| (i as f64 * 0.7).sin()).collect();
        let (level, scale) = (params.max_level(), params.default_scale());
        let plain = evaluator.encode(values.as_slice(), params.slots(), level, &scale)?;
        let mut randomness = Randomness::from_os()?;
        let a = secret.encrypt(&plain, &mut randomness)?;
        let b = secret.encrypt(&plain, &mut randomness)?;
        let product = evaluator.multiply(&a, &b)?;
        Ok(Self { params, evaluator, secret, keys, values, plain, a, b, product })
    }

    /// Times of one work in microseconds.
    fn times(&self, work: &str) -> Result<Vec<f64>, Failure> {
        let (e, relin, galois) = (&self.evaluator, self.keys.relin()?, self.keys.galois());
        let mut out = self.a.clone();
        let steps = [1, 2, 3, 4, 5, 6, 7, 8];
        match work {
            "mul_ct_ct" => repeat(|| e.multiply_into(&self.a, &self.b, &mut out)),
            "mul_relin" => repeat(|| e.multiply_relinearise_into(&self.a, &self.b, relin, &mut out)),
            "relin" => repeat(|| e.relinearise_into(&self.product, relin, &mut out)),
            "relin_rescale" => repeat(|| e.relinearise_rescale_into(&self.product, relin, &mut out)),
            "rescale" => repeat(|| e.rescale_into(&self.a, &mut out)),
            "rotate" => repeat(|| e.rotate_into(&self.a, 1, galois, &mut out)),
            "rotate_hoisted8" => repeat(|| e.rotate_hoisted(&self.a, &steps, galois).map(drop)),
            "encode" => {
                let (n, level, scale) =
                    (self.params.slots(), self.params.max_level(), self.params.default_scale());
                repeat(|| e.encode(self.values.as_slice(), n, level, &scale).map(drop))
            }
            "decode" => repeat(|| e.decode(&self.plain).map(drop)),
            "encrypt" => {
                let public = KeyGenerator::new(&self.params)?.public_key(&self.secret)?;
                let mut randomness = Randomness::from_os()?;
                repeat(|| Ok(public.encrypt(&self.plain, &mut randomness).map(drop)?))
            }
            "keygen" => repeat(|| {
                let mut generator = KeyGenerator::new(&self.params)?;
                let secret = generator.secret_key()?;
                generator.public_key(&secret)?;
                generator.relin_key(&secret)?;
                Ok(())
            }),
            "bare" => self.bare(relin),
            _ => Err(format!("{work} is no work; works are {}", WORKS.join(", ")).into()),
        }
    }

    /// The limb program of a relinearisation, without the facade.
    fn bare(&self, RelinKey(key): &RelinKey) -> Result<Vec<f64>, Failure> {
        let level = self.params.max_level();
        let mut b = Builder::managed("relin", self.params.slots(), Chain::from(&self.params))?;
        let x = b.push_typed(Op::Input("x".into()), Type::ct(3, level, Scale::ONE))?;
        let y = b.push(Op::Relin(x))?;
        b.output("y", y)?;
        let lowered = lower(&b.finish()?)?;
        let executable = self.evaluator.machine().prepare(&lowered.program)?;
        let mut inputs: Vec<LimbSource<'_>> = Vec::new();
        for source in &lowered.inputs {
            match *source {
                InputSource::Ciphertext { part, .. } => {
                    inputs.extend(self.product.polys()[usize::from(part)].limbs().map(LimbSource::Words))
                }
                InputSource::Key { digit, part, .. } => {
                    let limb = |i| key.base().limb(digit as usize, usize::from(part), i);
                    inputs.extend((0..key.params().key_limbs()).map(limb));
                }
                InputSource::Plain { .. } | InputSource::Encapsulation { .. } => {}
            }
        }
        let mut out = self.evaluator.drop_level(&self.a, Level::new(level.get()))?.into_parts().0;
        let mut outputs: Vec<&mut [u64]> = out.iter_mut().flat_map(|p| p.limbs_mut()).collect();
        repeat(|| Ok(executable.run_from(&inputs, &mut outputs)?))
    }
}

/// Runs for about [`SLICE`], at least three times, after one run that prepares.
fn repeat(mut f: impl FnMut() -> Result<(), Error>) -> Result<Vec<f64>, Failure> {
    f()?;
    let (start, mut times) = (Instant::now(), Vec::new());
    while times.len() < 3 || start.elapsed() < SLICE {
        let now = Instant::now();
        f()?;
        times.push(now.elapsed().as_nanos() as f64 / 1e3);
    }
    Ok(times)
}

fn main() -> Result<(), Failure> {
    let mut works: Vec<String> = std::env::args().skip(1).collect();
    if works.is_empty() {
        works = WORKS.iter().map(|w| format!("{w}/III")).collect();
    }
    let mut bench: Option<(NamedSet, Bench)> = None;
    for work in works {
        let (kind, set) =
            work.split_once('/').ok_or_else(|| format!("{work} names no set, as in relin/III"))?;
        let set: NamedSet = set.parse()?;
        if bench.as_ref().is_none_or(|(s, _)| *s != set) {
            drop(bench.take());
            bench = Some((set, Bench::new(set)?));
        }
        let Some((_, b)) = &bench else { continue };
        let mut times = b.times(kind)?;
        times.sort_by(f64::total_cmp);
        let (min, median, runs) = (times[0], times[times.len() / 2], times.len());
        println!(
            r#"{{"work": "{work}", "ours_us": {{"min": {min:.1}, "median": {median:.1}}}, "runs": {runs}}}"#
        );
    }
    Ok(())
}
