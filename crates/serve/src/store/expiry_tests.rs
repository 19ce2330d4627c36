//! The life of objects, without files.

use serde_json::Value;

use crate::config::Keep;
use crate::store::database::values;
use crate::store::expiry::{
    Gone, buried, bury, collect, ends, expire, old_jobs, over, settle, undo, unsettled,
};
use crate::store::jobs::{self, Finished, Wanted};
use crate::store::objects::{self, Kind, Object};
use crate::store::testing::each;
use crate::store::{Store, now, tenants};
use crate::token::{Caller, Scope};

const KEEP: Keep = Keep { program: 0, keys: 1000, arguments: 100, results: 100, jobs: 500 };

fn caller(store: &Store) -> Caller {
    let tenant = store.now(|t| tenants::add(t, "a", (1 << 20, 100))).unwrap();
    Caller { tenant, token: "a".into(), scopes: Scope::ALL.into() }
}

/// An object that was used `ago` seconds before now.
fn old(store: &Store, by: &Caller, kind: Kind, hash: &str, ago: i64) {
    let object = Object { used: now() - ago, ..Object::new(kind, hash.into(), 7, Value::Null) };
    store.now(|t| objects::add(t, by.tenant, &object, true)).unwrap();
}

fn hashes(gone: &[Gone]) -> Vec<&str> {
    gone.iter().map(|gone| &gone.hash[..]).collect()
}

#[test]
fn objects_end_by_kind_and_last_use_unless_they_are_pinned_or_needed() {
    each(|store| {
        let a = caller(&store);
        old(&store, &a, Kind::Program, "program", 9_999_999);
        old(&store, &a, Kind::Keys, "young keys", 900);
        old(&store, &a, Kind::Keys, "old keys", 1100);
        old(&store, &a, Kind::Results, "pinned", 200);
        old(&store, &a, Kind::Results, "old results", 200);
        old(&store, &a, Kind::Arguments, "needed", 200);
        let wanted = Wanted {
            id: "job".into(),
            program: "program".into(),
            keys: "young keys".into(),
            arguments: "needed".into(),
            idempotency: None,
            predicted: 1.0,
            deadline: now() + 100,
            trace: None,
        };
        store.now(|t| jobs::add(t, &a, &wanted, (1, 100.0))).unwrap();
        // Jobs note when they use what they need; here the old time is put back.
        store
            .now(|t| t.execute("UPDATE objects SET used = ?1 WHERE hash = 'needed'", values![now() - 200]))
            .unwrap();
        let pinned = store.now(|t| objects::pin(t, &a, "pinned", true)).unwrap();
        assert!(pinned.pinned);
        assert_eq!(ends(&KEEP, &pinned), None);
        let found = store.now(|t| over(t, &KEEP, 10)).unwrap();
        assert_eq!(hashes(&found), ["old keys", "old results"]);
        let (gone, jobs) = store.now(|t| expire(t, &KEEP)).unwrap();
        assert_eq!((hashes(&gone), jobs), (vec!["old keys", "old results"], 0));
        let left = store.now(|t| objects::list(t, a.tenant)).unwrap();
        assert_eq!(left.len(), 4);
        // The job ends, and nothing needs its arguments any more.
        store.now(|t| jobs::cancel(t, &a, "job")).unwrap();
        assert_eq!(hashes(&store.now(|t| expire(t, &KEEP)).unwrap().0), ["needed"]);
        store.now(|t| objects::pin(t, &a, "pinned", false)).unwrap();
        assert_eq!(hashes(&store.now(|t| expire(t, &KEEP)).unwrap().0), ["pinned"]);
    });
}

#[test]
fn nothing_ends_where_no_time_is_set() {
    each(|store| {
        let a = caller(&store);
        old(&store, &a, Kind::Results, "results", 9_999_999);
        let keep = Keep { program: 0, keys: 0, arguments: 0, results: 0, jobs: 0 };
        assert_eq!(store.now(|t| expire(t, &keep)).unwrap(), (vec![], 0));
        assert_eq!(store.now(|t| old_jobs(t, &keep)).unwrap(), 0);
        let object = store.now(|t| objects::get(t, a.tenant, "results")).unwrap().unwrap();
        assert_eq!(ends(&keep, &object), None);
        assert_eq!(ends(&KEEP, &object), Some(object.used + 100));
    });
}

#[test]
fn a_file_goes_after_its_row_and_not_if_it_was_stored_again() {
    each(|store| {
        let a = caller(&store);
        for hash in ["gone", "back"] {
            old(&store, &a, Kind::Keys, hash, 0);
            assert!(store.now(|t| bury(t, a.tenant, hash)).unwrap());
            assert!(!store.now(|t| bury(t, a.tenant, hash)).unwrap());
        }
        old(&store, &a, Kind::Keys, "back", 0);
        let waiting = store.now(buried).unwrap();
        assert_eq!(waiting.len(), 2);
        let mut removed = Vec::new();
        for (tenant, hash) in &waiting {
            store
                .now(|t| {
                    collect(t, (*tenant, hash), || {
                        removed.push(hash.clone());
                        Ok(())
                    })
                })
                .unwrap();
        }
        assert_eq!(removed, ["gone"]);
        assert!(store.now(buried).unwrap().is_empty());
    });
}

#[test]
fn jobs_that_ended_long_ago_are_forgotten() {
    each(|store| {
        let a = caller(&store);
        for (id, ended) in [("old", Some(now() - 600)), ("young", Some(now() - 400)), ("open", None)] {
            let wanted = Wanted {
                id: id.into(),
                program: "p".into(),
                keys: "k".into(),
                arguments: "a".into(),
                idempotency: None,
                predicted: 1.0,
                deadline: now() + 100,
                trace: None,
            };
            store.now(|t| jobs::add(t, &a, &wanted, (1, 100.0))).unwrap();
            store.now(|t| t.execute("UPDATE jobs SET ended = ?2 WHERE id = ?1", values![id, ended])).unwrap();
        }
        assert_eq!(store.now(|t| old_jobs(t, &KEEP)).unwrap(), 1);
        assert_eq!(store.now(|t| expire(t, &KEEP)).unwrap(), (vec![], 1));
        assert_eq!(store.now(|t| jobs::list(t, a.tenant)).unwrap().len(), 2);
    });
}

/// Results are not waited for: what a loss of power took runs again, once.
#[test]
fn results_that_were_lost_are_computed_again() {
    each(|store| {
        let a = caller(&store);
        let wanted = Wanted {
            id: "job".into(),
            program: "p".into(),
            keys: "k".into(),
            arguments: "a".into(),
            idempotency: None,
            predicted: 1.0,
            deadline: now() + 100,
            trace: None,
        };
        store.now(|t| jobs::add(t, &a, &wanted, (1, 100.0))).unwrap();
        let result = Object::new(Kind::Results, "r".into(), 1, Value::Null);
        for expected in [Finished::Object, Finished::Object] {
            let job = store.now(|t| jobs::claim(t, 30, None)).unwrap().unwrap();
            assert_eq!(store.now(|t| jobs::finish(t, &job, &result, 1.0, false)).unwrap(), expected);
            // Who holds the same lease a second time changes nothing.
            assert_eq!(store.now(|t| jobs::finish(t, &job, &result, 1.0, false)).unwrap(), Finished::Not);
            assert_eq!(store.now(unsettled).unwrap(), [(a.tenant, "r".to_owned())]);
            assert_eq!(store.now(|t| undo(t, a.tenant, "r", 3600)).unwrap(), 1);
            let again = store.now(|t| jobs::get(t, a.tenant, "job")).unwrap();
            assert_eq!((&again.state[..], again.result, again.ended), ("queued", None, None));
            assert!(again.deadline >= now() + 3500);
            assert!(store.now(|t| objects::get(t, a.tenant, "r")).unwrap().is_none());
        }
        let job = store.now(|t| jobs::claim(t, 30, None)).unwrap().unwrap();
        store.now(|t| jobs::finish(t, &job, &result, 1.0, false)).unwrap();
        let waiting = store.now(unsettled).unwrap();
        store.now(|t| settle(t, &waiting)).unwrap();
        assert!(store.now(unsettled).unwrap().is_empty());
    });
}
