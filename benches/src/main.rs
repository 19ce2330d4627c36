//! A measured process: `ringmill-bench SIDE` answers the protocol of `benches/peers/protocol.py`.
//!
//! | side | what it is |
//! |---|---|
//! | `ours` | the facade |
//! | `limb` | limb programs without the facade |
//! | `fixed` | key switching by one method |
//! | `nine` | the bootstrapping that leaves nine levels |
//! | `single` | rotations one by one |
//! | `bound` | what a work of ours needs at least |
//! | `tfhe-ntt` | the peer's transforms |
//!
//! Requests are lines `WORK COUNT` on standard input; answers are one JSON object a line. Every buffer
//! that a work touches is aligned to 64 bytes, and what a work computes is checked when it is prepared.

mod aligned;
mod boot;
mod bound;
mod circuit;
mod limb;
mod mix;
mod ntt;
mod ops;

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;
use ringmill::Evaluator;
use ringmill::ckks::Params;

/// Runs shorter than this are timed several at once: reading the processor's clock takes a third of a microsecond.
const GROUP: Duration = Duration::from_micros(100);

type Failure = Box<dyn std::error::Error>;

/// A prepared piece of work; each call is one timed run.
type Work = Box<dyn FnMut()>;

/// Work, and what else there is to say of it: a JSON object.
struct Prepared {
    run: Work,
    facts: String,
}

impl From<Work> for Prepared {
    fn from(run: Work) -> Self {
        Self { run, facts: "{}".into() }
    }
}

/// One library behind the protocol.
struct Side {
    name: String,
    isa: String,
    prepare: fn(&str) -> Result<Prepared, String>,
}

fn main() -> ExitCode {
    let side = match std::env::args().nth(1).as_deref() {
        Some("ours") => Side { name: "Ringmill".into(), isa: ntt::our_isa(), prepare: ours },
        Some("limb") => Side {
            name: "Ringmill, limb program".into(),
            isa: ntt::our_isa(),
            prepare: |work| limb::prepare(work).map(Into::into),
        },
        Some("fixed") => Side { name: "Ringmill, one method".into(), isa: ntt::our_isa(), prepare: fixed },
        Some("nine") => Side {
            name: "Ringmill, nine levels".into(),
            isa: ntt::our_isa(),
            prepare: |_| boot::prepare("boot/full/2^16"),
        },
        Some("single") => Side {
            name: "Ringmill, one by one".into(),
            isa: ntt::our_isa(),
            prepare: |work| circuit::one_by_one(work).map(Into::into),
        },
        Some("bound") => {
            Side { name: "Ringmill, bound".into(), isa: ntt::our_isa(), prepare: bound::prepare }
        }
        Some("tfhe-ntt") => Side {
            name: "tfhe-ntt 0.7.1".into(),
            isa: "run time".into(),
            prepare: |work| ntt::tfhe(work).map(Into::into),
        },
        _ => {
            eprintln!("usage: ringmill-bench ours|limb|fixed|nine|single|bound|tfhe-ntt");
            return ExitCode::FAILURE;
        }
    };
    match serve(&side) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ringmill-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Transforms are named by size and bits, everything else by a parameter set.
fn ours(work: &str) -> Result<Prepared, String> {
    let run = match work.split_once('/') {
        Some(("boot", _)) => return boot::prepare(work),
        Some(("ntt" | "intt", _)) => ntt::ours(work),
        Some(("keyswitch_mix", set)) => mix::prepare(set, true),
        Some((kind, _)) if kind.starts_with("matvec") || kind.starts_with("hoist") => circuit::prepare(work),
        _ => ops::prepare(work),
    };
    run.map(Into::into)
}

/// What a choice of methods is compared with.
fn fixed(work: &str) -> Result<Prepared, String> {
    match work.split_once('/') {
        Some(("keyswitch_mix", set)) => mix::prepare(set, false).map(Into::into),
        _ => Err(format!("{work} has no methods to choose from")),
    }
}

/// On as many threads as the process was given cores; on one, counting, where the bound is asked for.
fn evaluator(params: &Params) -> Result<Evaluator, Failure> {
    let machine = match bound::watched() {
        Some(machine) => Arc::new(machine?),
        None => ringmill::open_machine("cpu")?,
    };
    Ok(Evaluator::with_machine(params, machine)?)
}

fn serve(side: &Side) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, r#"{{"name": "{}", "isa": "{}"}}"#, side.name, side.isa)?;
    out.flush()?;
    let mut ready: HashMap<String, Result<Prepared, String>> = HashMap::new();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let answer = match line.split_whitespace().collect::<Vec<_>>()[..] {
            ["peak"] => format!(r#"{{"peak_bytes": {}}}"#, peak_bytes()),
            ["drop", set] => {
                ready.retain(|work, _| !work.ends_with(&format!("/{set}")));
                format!(r#"{{"dropped": "{set}"}}"#)
            }
            ["facts", work] => match ready.get(work) {
                Some(Ok(prepared)) => prepared.facts.clone(),
                _ => "{}".into(),
            },
            [work, count, ref clock @ ..] => {
                let run = ready.entry(work.into()).or_insert_with(|| (side.prepare)(work));
                let time = if clock == ["wall"] { wall } else { processor };
                answer(work, run, count.parse().unwrap_or(1), time)
            }
            _ => r#"{"error": "a work and a count"}"#.into(),
        };
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn answer(
    work: &str,
    prepared: &mut Result<Prepared, String>,
    count: usize,
    time: fn(&mut dyn FnMut()) -> Duration,
) -> String {
    match prepared {
        Err(reason) => format!(r#"{{"work": "{work}", "missing": {reason:?}}}"#),
        Ok(Prepared { run, .. }) => {
            let once = time(&mut *run).max(Duration::from_nanos(100));
            let group = (GROUP.as_nanos() / once.as_nanos()).clamp(1, 64) as u32;
            let mut mean = || {
                let together = time(&mut || (0..group).for_each(|_| run()));
                together.as_nanos() as f64 / 1e3 / f64::from(group)
            };
            let times: Vec<String> = (0..count).map(|_| format!("{:.3}", mean())).collect();
            format!(r#"{{"work": "{work}", "us": [{}]}}"#, times.join(", "))
        }
    }
}

/// Time that the processor spent on this process, in all its threads: what others do on the machine stays out.
fn processor(run: &mut dyn FnMut()) -> Duration {
    let start = ProcessTime::now();
    run();
    start.elapsed()
}

fn wall(run: &mut dyn FnMut()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

/// The largest resident size so far, from the kernel's account of this process; 0 where it keeps none.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) * 1024
}
