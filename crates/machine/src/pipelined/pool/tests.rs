//! Tasks by their definition, timetables by what they must hold, and cycles against the pages that a test of the RTL holds. Starts and
//! ends themselves are held to the RTL by `rtl/tools/tests/test_pool.py`.

use std::collections::HashSet;

use super::timetable::{Effort, Row, in_order, searched, timetable};
use super::*;

const SETS: [Set; 6] = [
    Set { limbs: 4, special: 1, alpha: 1 },
    Set { limbs: 4, special: 2, alpha: 2 },
    Set { limbs: 6, special: 2, alpha: 2 },
    Set { limbs: 7, special: 1, alpha: 1 },
    Set { limbs: 12, special: 4, alpha: 4 },
    Set { limbs: 5, special: 2, alpha: 3 },
];

/// Ten units: the butterflies of Duong and Lee.
const TEN: Pool = Pool { unit: Unit { log_n: 16, multiplier: 12 }, units: 10, feeds: 3, sums: 48 };

fn several(count: usize) -> Vec<Vec<usize>> {
    vec![Vec::new(); count]
}

#[test]
fn a_key_switch_has_its_transforms_after_what_they_are_made_of() {
    for set in SETS {
        let tasks = set.tasks();
        let (limbs, special, digits) = (set.limbs as usize, set.special as usize, set.digits() as usize);
        assert_eq!(tasks.iter().collect::<HashSet<_>>().len(), tasks.len());
        assert_eq!(tasks.len(), (digits + 2) * (limbs + special));
        assert_eq!(tasks.iter().filter(|t| t.inverse()).count(), limbs + 2 * special);
        for (n, &task) in tasks.iter().enumerate() {
            assert!((n..tasks.len()).all(|p| !set.needs(task, tasks[p])), "{set}: {task}");
        }
        // A digit is raised to all moduli but its own.
        let needed = |t: &&Task| tasks.iter().filter(|p| set.needs(**t, **p)).count();
        let made_of: usize = tasks.iter().filter(|t| t.kind == Kind::Up).map(|t| needed(&t)).sum();
        let sizes = (0..digits).map(|j| (0..limbs).filter(|i| i / set.alpha as usize == j).count());
        assert_eq!(made_of, sizes.map(|n| n * (limbs + special - n)).sum::<usize>());
    }
}

/// 4·(M + 4) + 3 beyond four passes of 4096 rows; Duong and Lee: 408. With few rows every pass waits.
#[test]
fn a_unit_in_place_waits_once_a_transform() {
    assert_eq!(TEN.unit.interval() - 4 * 4096, 67);
    assert_eq!(Unit { log_n: 8, multiplier: 8 }.interval(), 2 * 16 + 51);
}

#[test]
fn a_timetable_in_an_impossible_order_is_blocked() {
    let pool = Pool { unit: Unit { log_n: 12, multiplier: 8 }, units: 2, feeds: 1, sums: 12 };
    let set = Set { limbs: 2, special: 1, alpha: 1 };
    let table = in_order(&pool, set);
    assert_eq!(pool.run(set, &table, &several(3), None).unwrap().ends.len(), 3);
    let blocked = |table: &[Row]| pool.run(set, table, &several(12), None).unwrap_err().to_string();
    // The last task before the first one; a table that lacks one; one that takes nothing; one of another set.
    let mut wrong = table.clone();
    wrong[1..].rotate_right(1);
    assert_eq!(
        blocked(&wrong),
        "the timetable stops: key switch 0: component 1 down to 1 waits for a task behind it"
    );
    assert!(blocked(&table[..table.len() - 1]).starts_with("the timetable stops: key switch 1: "));
    assert_eq!(blocked(&table[1..]), "the timetable stops: no row takes a key switch");
    let other = in_order(&pool, Set { limbs: 3, special: 1, alpha: 1 });
    assert!(blocked(&other).ends_with("is outside of the set"), "{}", blocked(&other));
}

/// Back, forward, back, forward: three turns at least, and nothing overlaps.
#[test]
fn one_unit_alone_does_a_key_switch_transform_by_transform() {
    let pool = Pool { units: 1, feeds: 1, ..TEN };
    let set = SETS[0];
    let end = pool.run(set, &in_order(&pool, set), &several(1), None).unwrap().ends[0];
    let least = u64::from(set.transforms()) * pool.unit.interval() + 3 * pool.unit.turn();
    assert!((least..=least + 2 * pool.unit.interval()).contains(&end), "{end}");
}

/// Interval and latency of the page's table; each task once a body, on a unit of the pool.
#[test]
fn stored_timetables_reach_what_the_page_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/papers/duong-lee.md");
    let page = std::fs::read_to_string(path).unwrap();
    for set in &SETS[..5] {
        let table = timetable(&TEN, *set);
        let (interval, latency) = steady(&TEN.run(*set, &table, &several(COUNT), None).unwrap());
        let head = format!("| {}, {}, {} |", set.limbs, set.special, set.digits());
        let row = page.lines().find(|line| line.starts_with(&head)).unwrap();
        let cells: Vec<f64> =
            row.split('|').filter_map(|c| c.replace([',', ' '], "").parse().ok()).skip(1).collect();
        let found = [TEN.bound(*set).round(), interval.round(), latency.round()];
        assert_eq!(found[..], cells[..3], "{set}");
        let rows: Vec<(Task, u32, u32)> = table
            .iter()
            .filter_map(|row| match *row {
                Row::Take => None,
                Row::Task { task, unit, age } => Some((task, unit, age)),
            })
            .collect();
        let body = table.len() - rows.len();
        assert_eq!(rows.len(), body * set.transforms() as usize);
        for task in set.tasks() {
            assert_eq!(rows.iter().filter(|row| row.0 == task).count(), body);
        }
        assert!(rows.iter().all(|&(_, unit, age)| unit < 10 && age < 8));
    }
}

/// A search finds timetables that come near the bound; what nobody searched for long still overlaps key switches.
#[test]
fn a_search_finds_timetables_of_other_sets_and_pools() {
    for (units, feeds, set) in [(10, 3, Set { limbs: 3, special: 1, alpha: 1 }), (4, 2, SETS[5])] {
        let pool = Pool { units, feeds, ..TEN };
        let interval = |table: &[Row]| steady(&pool.run(set, table, &several(COUNT), None).unwrap()).0;
        let (found, plain) = (
            interval(&searched(&pool, set, Effort { moves: 10_000, seeds: 1 })),
            interval(&in_order(&pool, set)),
        );
        assert!(
            found >= pool.bound(set) && found < 1.15 * pool.bound(set) && found < plain,
            "{found}, {plain}"
        );
    }
}

/// One that needs another's result begins when that has ended, and those behind it keep their order.
#[test]
fn key_switches_wait_for_what_they_need() {
    let (set, after) = (SETS[0], [vec![], vec![], vec![0], vec![]]);
    let table = timetable(&TEN, set);
    let ran = TEN.run(set, &table, &after, None).unwrap();
    let first = |job| ran.starts.iter().find(|s| s.job == job).unwrap().cycle;
    assert!(first(1) < ran.ends[0] && first(2) > ran.ends[0] && first(3) > first(2));
    // A row or two a cycle pass until the next one is taken.
    assert!(first(2) < ran.ends[0] + 2 * TEN.unit.interval());
    for task in set.tasks() {
        assert_eq!(ran.starts.iter().filter(|s| s.task == task).count(), 4);
    }
}

/// A slow memory sets the interval: what it moves, at its rate; a fast one changes nothing.
#[test]
fn a_memory_makes_starts_wait() {
    let set = SETS[0];
    let table = timetable(&TEN, set);
    let with = |bytes_in_1000| {
        let memory = Memory {
            bytes_in_1000,
            latency: 100,
            limb_bytes: 8 << 16,
            seeded: false,
            ahead: 4,
            linked: false,
        };
        steady(&TEN.run(set, &table, &several(COUNT), Some(&memory)).unwrap()).0
    };
    let free = steady(&TEN.run(set, &table, &several(COUNT), None).unwrap()).0;
    // 40 limbs of keys, 4 of operand twice, 8 of addends, 8 of results.
    let bytes = f64::from(40 + 8 + 16) * f64::from(8 << 16);
    let slow = with(300_000);
    assert!(slow >= bytes / 300.0 && slow < 1.01 * bytes / 300.0, "{slow}, {}", bytes / 300.0);
    assert!((with(100_000_000) - free).abs() < 0.01 * free);
}
