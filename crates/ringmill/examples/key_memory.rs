//! What keeping keys as halves saves and costs: `cargo run --release -p ringmill --example key_memory [SET] [rotations]`.
//!
//! Memory in megabytes, and processor time of a relinearisation, of a rotation, and of all rotations hoisted, in turns.

use std::time::Duration;

use cpu_time::ProcessTime;
use ringmill::Evaluator;
use ringmill::ckks::file::Stored;
use ringmill::ckks::params::NamedSet;
use ringmill::ckks::{EvaluationKeys, KeyGenerator, KeyMemory, Params, Randomness, Scale};

type Failure = Box<dyn std::error::Error>;

/// Runs of each, in turns with the others.
const ROUNDS: usize = 7;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let set = arguments.first().map_or("V50", String::as_str).parse::<NamedSet>()?;
    let rotations: i64 = arguments.get(1).map_or(Ok(8), |text| text.parse())?;
    let rotations: Vec<i64> = (1..=rotations).collect();
    let params = Params::named(set)?;
    let mut generator = KeyGenerator::new(&params)?;
    let secret = generator.secret_key()?;
    let keys = generator.evaluation_keys(&secret, &rotations, false)?;
    let path = std::env::temp_dir().join(format!("ringmill-{}.keys", std::process::id()));
    keys.save(&path)?;
    let load = |memory| {
        let start = std::time::Instant::now();
        let keys = EvaluationKeys::load_in(&params, &path, memory);
        println!("{memory:?}: loaded in {:.2} s", start.elapsed().as_secs_f64());
        keys
    };
    let all = [keys, load(KeyMemory::Seeded)?, load(KeyMemory::Mapped)?];
    println!("a file of {:.0} MB", std::fs::metadata(&path)?.len() as f64 / 1e6);
    std::fs::remove_file(&path)?;

    let e = Evaluator::new(&params)?;
    let plain = e.encode([0.5].as_slice(), params.slots(), params.max_level(), &Scale::pow2(16))?;
    let x = secret.encrypt(&plain, &mut Randomness::from_os()?)?;
    let product = e.multiply(&x, &x)?;
    let mut best = [[Duration::MAX; 3]; 3];
    for _ in 0..ROUNDS {
        for (keys, best) in all.iter().zip(&mut best) {
            let works: [&dyn Fn() -> Result<(), ringmill::Error>; 3] = [
                &|| e.relinearise(&product, keys.relin()?).map(drop),
                &|| e.rotate(&x, 1, keys.galois()).map(drop),
                &|| e.rotate_hoisted(&x, &rotations, keys.galois()).map(drop),
            ];
            for (work, best) in works.iter().zip(best) {
                let start = ProcessTime::now();
                work()?;
                *best = (*best).min(start.elapsed());
            }
        }
    }
    for ((keys, best), name) in all.iter().zip(best).zip(["expanded", "seeded", "mapped"]) {
        let ms = best.map(|d| format!("{:.1}", d.as_secs_f64() * 1e3)).join(", ");
        println!(
            "{name}: {:.0} MB; relinearise, rotate, {} hoisted: {ms} ms",
            keys.bytes() as f64 / 1e6,
            rotations.len()
        );
    }
    Ok(())
}
