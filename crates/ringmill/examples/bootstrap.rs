//! Bootstraps random vectors and says what it took: `cargo run --release -p ringmill --example bootstrap [SLOTS [WIDE
//! [LEVELS [RUNS [LOG_N [MAPS [KEYS [SCALE [PROFILE [ROOM [THREADS [REAL]]]]]]]]]]]]` prints one line of JSON a run; with a
//! PROFILE other than 0 the time of each kind of step as well, with a REAL other than 0 of real numbers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use num_complex::Complex64;
use ringmill::ckks::{EvaluationKeys, GaloisKeys, KeyGenerator, Level, Randomness};
use ringmill::machine::Cpu;
use ringmill::machine::cpu::profile::Profile;
use ringmill::program::he::{Builder, Op};
use ringmill::program::limb::Opcode;
use ringmill::program::manage::Options;
use ringmill::ring::GaloisElement;
use ringmill::{Evaluator, Input, Inputs, Kernel};
use ringmill_circuits::bootstrap::{Bootstrap, Content, Need};
use ringmill_circuits::linear::Keys;

type Failure = Box<dyn std::error::Error>;

fn argument(i: usize, default: usize) -> Result<usize, Failure> {
    std::env::args().nth(i).map_or(Ok(default), |a| Ok(a.parse()?))
}

/// Seconds of processor time of each thread: what a busy machine leaves comparable.
fn processor() -> BTreeMap<u32, f64> {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let time = |thread: std::fs::DirEntry| {
        let schedule = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        let nanoseconds: f64 = schedule.split_whitespace().next()?.parse().ok()?;
        Some((thread.file_name().to_str()?.parse().ok()?, nanoseconds / 1e9))
    };
    threads.filter_map(time).collect()
}

/// What each thread that did anything spent since `before`, the busiest first.
fn spent(before: &BTreeMap<u32, f64>) -> Vec<f64> {
    let since = |(thread, now): (&u32, &f64)| now - before.get(thread).unwrap_or(&0.0);
    let mut all: Vec<f64> = processor().iter().map(since).filter(|&t| t > 1e-3).collect();
    all.sort_by(|a, b| b.total_cmp(a));
    all
}

/// Peak of resident memory in MB.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|l| l.split_whitespace().next()).and_then(|n| n.parse::<f64>().ok());
    kilobytes.unwrap_or(0.0) / 1024.0
}

/// Transforms, products of conversions, products with keys and other limb operations, by step.
fn tally(kernel: &Kernel) -> BTreeMap<String, [usize; 4]> {
    let (he, limb) = (kernel.program(), kernel.limb_program());
    let step = |name: &str| -> String {
        let instr =
            name.strip_prefix('%').and_then(|n| n.parse::<usize>().ok()).and_then(|n| he.instrs().get(n));
        let region = instr.and_then(|i| i.region).map(|r| he.regions()[r.0 as usize].clone());
        let region = region.unwrap_or_else(|| name.to_owned());
        region.split(": ").take(3).collect::<Vec<_>>().join(": ")
    };
    let mut table: BTreeMap<String, [usize; 4]> = BTreeMap::new();
    let regions = limb.regions();
    for (i, region) in regions.iter().enumerate() {
        let end = regions.get(i + 1).map_or(limb.len(), |next| next.first as usize);
        let mut words = region.label.split(' ');
        let (name, kind) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let row = table.entry(format!("{} [{kind}]", step(name))).or_default();
        for at in region.first as usize..end {
            let operands = limb.operands(at).len();
            match limb.opcode(at) {
                Opcode::Ntt | Opcode::Intt => row[0] += 1,
                Opcode::Convert | Opcode::ConvertFast | Opcode::Quotient => row[1] += operands,
                Opcode::Dot => row[2] += operands / 2,
                _ => row[3] += 1,
            }
        }
    }
    table
}

fn main() -> Result<(), Failure> {
    let slots = argument(1, 1 << 15)?;
    let need = Need {
        slots,
        wide_bits: argument(2, 56)? as u32,
        levels: argument(3, 9)? as u32,
        log_n: argument(5, 16)? as u32,
        scale_bits: argument(8, 40)? as u32,
        ..Need::default()
    };
    let maps = argument(6, 3)?;
    let (keys, real) = (argument(7, 0)?, argument(12, 0)? != 0);
    let config = Bootstrap {
        to_coefficients: maps,
        to_slots: maps,
        room: argument(10, Bootstrap::default().room as usize)? as u32,
        keys: if keys == 0 { Keys::Fast } else { Keys::AtMost(keys) },
        content: if real { Content::Real } else { Content::Complex },
        ..Bootstrap::default()
    };
    let params = need.choose(&config)?;
    eprintln!("{params}");
    let profile = Arc::new(Profile::default());
    let evaluator = match argument(9, 0)? {
        0 => Evaluator::with_machine(
            &params,
            ringmill::open_machine(&format!("cpu:threads={}", argument(11, 1)?))?,
        )?,
        _ => Evaluator::with_machine(&params, Arc::new(Cpu::new()?.profiled(profile.clone())))?,
    };
    let mut b = Builder::traced("bootstrap", slots)?;
    let x = b.push(Op::Input("x".into()))?;
    let y = config.apply(&mut b, x)?;
    b.output("y", y)?;
    let start = Instant::now();
    let kernel = Kernel::compile(&evaluator, &b.finish()?, &Options::default())?;
    let prepare = start.elapsed().as_secs_f64();
    let summary = kernel.summary();
    eprintln!(
        "{} keys of {:.0} MB in all; {:?}; prepared in {prepare:.1} s; peak {:.0} MB",
        summary.keys.len(),
        summary.key_bytes as f64 / 1e6,
        summary.counts,
        peak()
    );
    for (step, [transforms, terms, keys, others]) in tally(&kernel) {
        eprintln!(
            "{step}: {transforms} transforms, {terms} conversion terms, {keys} key terms, {others} others"
        );
    }
    let mut generator = KeyGenerator::new(&params)?;
    let secret = generator.secret_key()?;
    let mut galois = GaloisKeys::new(&params);
    for g in summary.keys.galois(kernel.program().chain().ok_or("managed")?) {
        let element = GaloisElement::new(g, params.log_n())?;
        galois.insert(element, generator.galois_key(&secret, element)?)?;
    }
    let keys = EvaluationKeys::new(Some(generator.relin_key(&secret)?), galois)?;
    let keys = keys.with_encapsulation(generator.encapsulation_key(&secret)?)?;
    let turn = |i: usize| Complex64::cis((i * i % 9973) as f64) * ((i % 101) as f64 / 101.0);
    let wanted = |z: Complex64| if real { z.re.into() } else { z };
    let message: Vec<Complex64> = (0..slots).map(|i| wanted(turn(i))).collect();
    let start_level = Level::new(config.start(slots));
    let plain = evaluator.encode(message.as_slice(), slots, start_level, &params.default_scale())?;
    let c = secret.encrypt(&plain, &mut Randomness::from_os()?)?;
    eprintln!("with keys: peak {:.0} MB", peak());
    for _ in 0..argument(4, 2)? {
        let (start, busy) = (Instant::now(), processor());
        let results = kernel.run(&Inputs::from([("x".into(), Input::Cipher(&c))]), &keys)?;
        let seconds = start.elapsed().as_secs_f64();
        let threads = spent(&busy);
        let busy: f64 = threads.iter().sum();
        for (kind, spent) in profile.by_kind() {
            eprintln!(
                "{}: {:.3} s, {} steps, {:.1} GB",
                kind.name(),
                spent.time.as_secs_f64(),
                spent.steps,
                spent.bytes as f64 / 1e9
            );
        }
        profile.reset();
        let y = &results["y"];
        let found = evaluator.decode(&secret.decrypt(y)?)?;
        let worst = found.iter().zip(&message).map(|(x, y)| (x - y).norm()).fold(0.0, f64::max);
        println!(
            "{{\"slots\": {slots}, \"seconds\": {seconds:.3}, \"processor\": {busy:.3}, \"threads\": {threads:.3?}, \"bits\": {:.2}, \"levels\": {}, \"peak_mb\": {:.0}, \
             \"key_mb\": {:.0}}}",
            -worst.log2(),
            y.level().get() - start_level.get(),
            peak(),
            summary.key_bytes as f64 / 1e6
        );
    }
    Ok(())
}
