//! Results files: killed, taken up again, queried, refused.

use crate::common;
use std::path::PathBuf;

use ringmill_errors::StructuredError;
use ringmill_explore::design::SecretKind;
use ringmill_explore::target::compact::CompactCores;
use ringmill_explore::{Constraints, ExploreError, Request, Space, Store, explore};
use rusqlite::Connection;

fn request() -> Request {
    Request {
        space: Space {
            log_n: vec![12],
            level_bits: vec![28],
            scale_offsets: vec![0],
            special_extra: vec![2],
            secrets: vec![SecretKind::Ternary],
            ..Space::default()
        }
        .with_numbers("words", &[36])
        .with_numbers("butterflies", &[4, 8, 16])
        .with_names("multipliers", &["word-montgomery", "montgomery"])
        .with_numbers("buses", &[128, 256, 512, 1024]),
        constraints: Constraints { max_error: 1e-3, ..Constraints::default() },
        seconds: 1e6,
        ..common::request('d', "zcu102")
    }
}

/// A file of its own for each test, away with the test.
struct File(PathBuf);

impl File {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("ringmill-{}-{name}.sqlite", std::process::id()));
        let _ = std::fs::remove_file(&path);
        Self(path)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        for end in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{end}", self.0.display()));
        }
    }
}

#[test]
fn what_was_stopped_goes_on_where_it_was() {
    let (request, file) = (request(), File::new("resume"));
    let whole = explore(&request, None, &mut |_| true).unwrap();
    let mut store = Store::open(&file.0, &request).unwrap();
    // Stopped in the middle: as good as a kill, since every batch is on disk when the next one begins.
    let part = explore(&request, Some(&mut store), &mut |p| p.done < 8).unwrap();
    assert!(part.stopped && !part.front_proven);
    assert!(part.statistics.simulations < whole.statistics.simulations);
    drop(store);
    let mut store = Store::open(&file.0, &request).unwrap();
    assert_eq!(store.cycles::<CompactCores>().unwrap().len(), part.statistics.simulations);
    let mut simulated_before = None;
    let resumed = explore(&request, Some(&mut store), &mut |p| {
        if p.stage == "front" || p.stage == "best" {
            simulated_before.get_or_insert(p.done);
        }
        true
    })
    .unwrap();
    assert_eq!(simulated_before, Some(part.statistics.simulations), "nothing is simulated twice");
    assert_eq!(resumed.front, whole.front);
    assert_eq!(resumed.best, whole.best);
    assert!(resumed.front_proven);
}

#[test]
fn every_point_can_be_queried() {
    let (request, file) = (request(), File::new("query"));
    let mut store = Store::open(&file.0, &request).unwrap();
    let outcome = explore(&request, Some(&mut store), &mut |_| true).unwrap();
    drop(store);
    let c = Connection::open(&file.0).unwrap();
    let number = |sql: &str| c.query_row(sql, [], |r| r.get::<_, i64>(0)).unwrap();
    assert_eq!(number("SELECT count(*) FROM points") as u64, outcome.statistics.points);
    assert_eq!(number("SELECT count(*) FROM points WHERE NOT fits") as u64, outcome.statistics.too_large);
    assert_eq!(number("SELECT count(*) FROM front") as usize, outcome.front.len() + 1);
    let least =
        number("SELECT min(cycles) FROM points WHERE fits AND error <= 1e-3 AND security_level >= 128");
    let front = outcome.front.iter().map(|f| f.predicted.cycles.value as i64).min();
    assert_eq!(Some(least), front);
}

#[test]
fn other_files_are_refused() {
    let (request, file) = (request(), File::new("refuse"));
    drop(Store::open(&file.0, &request).unwrap());
    let other = Request {
        constraints: Constraints { max_error: 1e-2, ..request.constraints.clone() },
        ..request.clone()
    };
    let error = Store::open(&file.0, &other).unwrap_err();
    assert!(matches!(error, ExploreError::OtherExploration { .. }), "{error}");
    // Time and seed are not among what makes an exploration another one.
    drop(Store::open(&file.0, &Request { seconds: 1.0, seed: 9, ..request.clone() }).unwrap());

    Connection::open(&file.0).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let error = Store::open(&file.0, &request).unwrap_err();
    assert!(error.to_string().contains("schema 99"), "{error}");

    let (alien, text) = (File::new("alien"), File::new("text"));
    Connection::open(&alien.0).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    let error = Store::open(&alien.0, &request).unwrap_err();
    assert!(error.to_string().contains("no results of an exploration"), "{error}");
    std::fs::write(&text.0, "remember the milk, and much more of it than fits a line").unwrap();
    assert_eq!(Store::open(&text.0, &request).unwrap_err().code(), "Store");
}
