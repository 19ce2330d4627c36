//! Times every key-switch method at every level, in turns, and compares what the cost table chooses with the best:
//! `cargo run --release -p ringmill --example switching [V50|36x48] [forms] [rounds] [costs file]`.
//!
//! 36x48 is N = 2^16 with 48 primes of 36 bits in all, seven of them special (dnum 6): 128 bits of security.

use std::time::Duration;

use cpu_time::ProcessTime;
use ringmill::Evaluator;
use ringmill::ckks::params::{NamedSet, Params, ParamsLiteral};
use ringmill::ckks::{KeyGenerator, Level, Randomness, Scale};
use ringmill::program::cost::{Allowed, CostTable, Methods, worthwhile};
use ringmill::program::he::Chain;
use ringmill::program::lower::{KeyId, Method, Switch};

type Failure = Box<dyn std::error::Error>;

fn params(set: &str) -> Result<Params, Failure> {
    Ok(match set {
        "36x48" => Params::new(&ParamsLiteral::from_bits(16, &[36; 41], &[36; 7], 6))?,
        name => Params::named(name.parse::<NamedSet>()?)?,
    })
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |i: usize, default: &str| arguments.get(i).cloned().unwrap_or_else(|| default.into());
    let params = params(&argument(0, "V50"))?;
    let (forms, rounds): (usize, usize) = (argument(1, "5").parse()?, argument(2, "5").parse()?);
    let costs = match arguments.get(3) {
        Some(path) => CostTable::parse(&std::fs::read_to_string(path)?)?,
        None => ringmill::costs()?,
    };
    let chain = Chain::from(&params);
    let layouts = worthwhile(&costs, &chain, forms)?;
    let methods = Methods::new(&costs, &chain, &layouts, Allowed::Any)?;
    // What may be chosen, and KLSS where the table would not take it.
    let mut timed: Vec<Method> = methods.candidates().to_vec();
    let klss = Methods::new(&costs, &chain, &layouts, Allowed::Klss)?;
    timed.extend(klss.candidates().iter().filter(|method| !methods.candidates().contains(method)).cloned());

    let mut generator = KeyGenerator::new(&params)?;
    let secret = generator.secret_key()?;
    let mut relin = generator.relin_key(&secret)?;
    let base = relin.0.bytes();
    for &layout in &layouts {
        generator.extend_relin_key(&secret, &mut relin, layout)?;
    }
    println!("{params}\n{}", costs.machine());
    println!(
        "keys {:.0} MB, with {} more forms {:.0} MB",
        base as f64 / 1e6,
        layouts.len(),
        relin.0.bytes() as f64 / 1e6
    );
    for (i, method) in timed.iter().enumerate() {
        println!("method {i}: {method:?}");
    }

    let e = Evaluator::new(&params)?;
    let evaluators = timed
        .iter()
        .map(|m| Ok(e.choosing(Methods::only(&costs, &chain, m.clone())?)?))
        .collect::<Result<Vec<_>, Failure>>()?;
    let plain = e.encode([0.5].as_slice(), params.slots(), params.max_level(), &Scale::pow2(16))?;
    let top = secret.encrypt(&plain, &mut Randomness::from_os()?)?;
    let mut sums = [0.0; 3];
    let mut worst: f64 = 0.0;
    for limbs in (1..=params.q_moduli().len()).rev() {
        let x = e.drop_level(&top, Level::new(limbs as u32 - 1))?;
        let product = e.multiply(&x, &x)?;
        let mut best = vec![Duration::MAX; evaluators.len()];
        for round in 0..=rounds {
            for (i, (evaluator, method)) in evaluators.iter().zip(&timed).enumerate() {
                if method.layout().limbs < limbs {
                    continue;
                }
                let start = ProcessTime::now();
                let _ = evaluator.relinearise(&product, &relin)?;
                if round > 0 {
                    best[i] = best[i].min(start.elapsed());
                }
            }
        }
        let switch = Switch { key: KeyId::Relin, limbs, hoisted: 1, rescale: false };
        let chosen = methods.choose(&switch).ok_or("no method")?;
        let chosen = timed.iter().position(|m| m == chosen).ok_or("no method")?;
        let ms = |d: Duration| d.as_secs_f64() * 1e3;
        let least = best.iter().copied().min().map_or(0.0, ms);
        let loss = ms(best[chosen]) / least - 1.0;
        worst = worst.max(loss);
        sums[0] += ms(best[0]);
        sums[1] += ms(best[chosen]);
        sums[2] += least;
        let times: Vec<String> = best
            .iter()
            .zip(&timed)
            .map(|(&d, m)| {
                if d == Duration::MAX {
                    "–".into()
                } else {
                    format!("{:.2} ({:.2})", ms(d), methods.nanoseconds(m, limbs, 1) / 1e6)
                }
            })
            .collect();
        println!(
            "{limbs:3} limbs: {} | chosen {chosen}, {:+.1} % of the best",
            times.join("  "),
            100.0 * loss
        );
    }
    println!(
        "all levels: base {:.1} ms, chosen {:.1} ms ({:.3}x), best {:.1} ms ({:.3}x); worst level {:+.1} %",
        sums[0],
        sums[1],
        sums[0] / sums[1],
        sums[2],
        sums[0] / sums[2],
        100.0 * worst
    );
    Ok(())
}
