//! A target is added by a folder and one row of the registry: search, results and designs follow from the row.

#[path = "../../../machine/tests/adding/toy.rs"]
mod machine;
mod toy;

use ringmill_errors::StructuredError;
use ringmill_explore::design::SCHEMA;
use ringmill_explore::target::{AnyTarget, TARGETS, named_in};
use ringmill_explore::{Constraints, Design, Objective, Outcome, Request, Space, Store, Target, explore};
use ringmill_machine::MachineSpec;
use rusqlite::Connection;

use crate::common;

/// The registry with one row more.
fn targets() -> Vec<&'static dyn AnyTarget> {
    TARGETS.into_iter().chain([&toy::Toys as &dyn AnyTarget]).collect()
}

fn request(minimise: Objective) -> Request {
    let target = named_in(&targets(), "toy").unwrap();
    Request {
        target,
        constraints: Constraints { max_error: 1e-3, minimise, ..Constraints::default() },
        space: Space { level_bits: vec![30], ..Space::of(target.row()) },
        seconds: 1e6,
        ..common::request('d', "artix7-35t")
    }
}

fn design(request: &Request, outcome: &Outcome) -> Design {
    let best = outcome.best.clone();
    Design {
        schema: SCHEMA,
        ringmill: env!("CARGO_PKG_VERSION").into(),
        kernel: request.kernels[best.variant].source().clone(),
        device: outcome.device.clone(),
        parameters: best.parameters,
        machine: best.built.machine,
        hardware: best.built.hardware,
        predicted: best.predicted,
    }
}

#[test]
fn a_target_is_explored_by_its_row() {
    let request = request(Objective::Latency);
    let outcome = explore(&request, None, &mut |_| true).unwrap();
    assert!(outcome.best_proven && outcome.front_proven);
    // The fastest has the shortest pace, the smallest the longest.
    assert_eq!(outcome.best.built.machine, "toy:pace=1");
    let small = explore(&self::request(Objective::Area), None, &mut |_| true).unwrap();
    assert_eq!(
        (small.best.built.machine.as_str(), small.best.predicted.area.value),
        ("toy:pace=8", 1000.0 / 20_800.0)
    );
    // What the design says is what its machine says of the kernel's program.
    let params = outcome.best.parameters.params().unwrap();
    let program = request.kernels[0].instantiate(&params).unwrap().lower().unwrap();
    let spec = MachineSpec::parse_in(&[toy::Toys.entry()], &outcome.best.built.machine).unwrap();
    let cycles = spec.estimate(&program).unwrap().cycles.unwrap();
    assert_eq!((outcome.best.predicted.cycles.value, cycles), (cycles as f64, program.len() as u64));
}

#[test]
fn a_design_of_it_is_read_where_the_row_is() {
    let request = request(Objective::Area);
    let outcome = explore(&request, None, &mut |_| true).unwrap();
    let design = design(&request, &outcome);
    let text = design.to_json();
    assert_eq!(Design::from_json_in(&targets(), &text).unwrap(), design);
    let elsewhere = Design::from_json(&text).unwrap_err().to_string();
    assert!(elsewhere.contains("no target \"toy\"") && elsewhere.contains("compact"), "{elsewhere}");
    let slow =
        Design::from_json_in(&targets(), &text.replace("pace=8", "pace=2000")).unwrap_err().to_string();
    assert!(slow.contains("machine toy cannot have pace=2000; give 1 to 1000"), "{slow}");
    let unknown = named_in(&targets(), "toi").err().unwrap().to_string();
    assert!(
        unknown.starts_with("no target \"toi\" (did you mean \"toy\"?); there are compact, "),
        "{unknown}"
    );
    assert!(unknown.ends_with(", toy"), "{unknown}");
}

#[test]
fn its_results_are_stored_in_columns_of_its_own() {
    let request = request(Objective::Latency);
    let path = std::env::temp_dir().join(format!("ringmill-{}-toy.sqlite", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let outcome = explore(&request, Some(&mut Store::open(&path, &request).unwrap()), &mut |_| true).unwrap();
    let connection = Connection::open(&path).unwrap();
    let number = |sql: &str| connection.query_row(sql, [], |r| r.get::<_, i64>(0)).unwrap();
    assert_eq!(number("SELECT count(*) FROM points") as u64, outcome.statistics.points);
    assert_eq!(number("SELECT pace FROM front WHERE rank = 0"), 1);
    assert_eq!(number("SELECT count(*) FROM cycles WHERE cycles % instructions <> 0"), 0);
    assert_eq!(
        Store::open(&path, &request).unwrap().cycles::<toy::Toys>().unwrap().len(),
        outcome.statistics.simulations
    );
    // A file of another target is another exploration.
    let space = Space { level_bits: vec![30], ..Space::default() };
    let other = Request { space, target: TARGETS[0], ..request };
    assert_eq!(Store::open(&path, &other).unwrap_err().code(), "OtherExploration");
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{end}", path.display()));
    }
}
