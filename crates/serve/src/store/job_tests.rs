//! Leases, fairness and failures of jobs, without workers.

use rusqlite::params;

use crate::error::ServeError;
use crate::store::jobs::{
    Class, Failure, Finished, Job, Wanted, add, cancel, claim, fail, finish, get, release, renew, sweep,
};
use crate::store::objects::{self, Kind, Object};
use crate::store::{Store, audit, now, tenants};
use crate::token::{Caller, Scope};

/// A database with two tenants.
fn store() -> (tempfile::TempDir, Store, [Caller; 2]) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let callers = ["a", "b"].map(|name| {
        let tenant = store.now(|t| tenants::add(t, name, (1 << 20, 100))).unwrap();
        Caller { tenant, token: name.into(), scopes: Scope::ALL.into() }
    });
    (dir, store, callers)
}

fn asked(store: &Store, by: &Caller, id: &str, predicted: f64) -> Result<Job, ServeError> {
    let [program, keys, arguments] = ["p", "k", "a"].map(str::to_owned);
    let deadline = now() + 1000;
    let wanted = Wanted { id: id.into(), program, keys, arguments, idempotency: None, predicted, deadline };
    store.now(|t| add(t, by, &wanted, (2, 100.0)))
}

fn next(store: &Store) -> Option<Job> {
    store.now(|t| claim(t, 30)).unwrap()
}

fn result() -> Object {
    Object::new(Kind::Results, "r".repeat(64), 1, serde_json::Value::Null)
}

fn failing(class: Class) -> Failure {
    Failure { class, code: "Code".into(), message: "why".into() }
}

#[test]
fn who_holds_an_old_lease_changes_nothing() {
    let (_dir, store, [a, _]) = store();
    asked(&store, &a, "job", 1.0).unwrap();
    let first = next(&store).unwrap();
    assert!(next(&store).is_none());
    assert!(store.now(|t| renew(t, &first, 30)).unwrap());
    // The lease ends, and another takes over.
    store.now(|t| Ok(t.execute("UPDATE jobs SET lease = ?1", [now() - 1])?)).unwrap();
    store.now(|t| sweep(t, false)).unwrap();
    let second = next(&store).unwrap();
    assert!(second.epoch > first.epoch);
    assert!(!store.now(|t| renew(t, &first, 30)).unwrap());
    assert!(!store.now(|t| fail(t, &first, &failing(Class::User))).unwrap());
    assert_eq!(store.now(|t| finish(t, &first, &result(), 1.0)).unwrap(), Finished::Not);
    assert!(store.now(|t| objects::list(t, a.tenant)).unwrap().is_empty());
    store.now(|t| release(t, &first)).unwrap();
    assert_eq!(store.now(|t| get(t, a.tenant, "job")).unwrap().state, "running");
    assert_eq!(store.now(|t| finish(t, &second, &result(), 1.0)).unwrap(), Finished::Object);
    assert_eq!(store.now(|t| finish(t, &second, &result(), 1.0)).unwrap(), Finished::Not, "once");
    assert_eq!(store.now(|t| objects::list(t, a.tenant)).unwrap().len(), 1);
    let done = store.now(|t| get(t, a.tenant, "job")).unwrap();
    assert_eq!((&done.state[..], done.attempts), ("done", 2));
}

#[test]
fn a_tenant_with_many_jobs_does_not_hold_up_another() {
    let (_dir, store, [a, b]) = store();
    for k in 0..6 {
        asked(&store, &a, &format!("a{k}"), 2.0).unwrap();
    }
    let order = |count: usize| (0..count).map(|_| next(&store).unwrap().id).collect::<Vec<_>>();
    assert_eq!(order(2), ["a0", "a1"]);
    // Who comes later has saved nothing up, and gets half from now on.
    for k in 0..3 {
        asked(&store, &b, &format!("b{k}"), 2.0).unwrap();
    }
    let mut turns = order(4).into_iter().map(|id| id[..1].to_owned()).collect::<Vec<_>>();
    turns.sort();
    assert_eq!(turns, ["a", "a", "b", "b"]);
}

#[test]
fn failures_are_final_by_their_class() {
    let (_dir, store, [a, _]) = store();
    let ready = || store.now(|t| Ok(t.execute("UPDATE jobs SET ready = 0", [])?)).unwrap();
    let state = |id: &str| {
        let job = store.now(|t| get(t, a.tenant, id)).unwrap();
        (job.state, job.class.unwrap_or_default())
    };
    let pair = |state: &str, class: &str| (state.to_owned(), class.to_owned());
    asked(&store, &a, "user", 1.0).unwrap();
    let job = next(&store).unwrap();
    store.now(|t| fail(t, &job, &failing(Class::User))).unwrap();
    assert_eq!(state("user"), pair("failed", "user"));
    asked(&store, &a, "bug", 1.0).unwrap();
    for expected in ["queued", "failed"] {
        ready();
        let job = next(&store).unwrap();
        store.now(|t| fail(t, &job, &failing(Class::Bug))).unwrap();
        assert_eq!(state("bug"), pair(expected, "bug"));
    }
    asked(&store, &a, "resource", 1.0).unwrap();
    for attempt in 1..20 {
        ready();
        let job = next(&store).unwrap();
        assert_eq!(job.attempts, attempt);
        store.now(|t| fail(t, &job, &failing(Class::Resource))).unwrap();
        assert_eq!(state("resource"), pair("queued", "resource"));
        assert!(next(&store).is_none(), "it waits");
    }
    store.now(|t| Ok(t.execute("UPDATE jobs SET deadline = ?1", [now()])?)).unwrap();
    store.now(|t| sweep(t, false)).unwrap();
    assert_eq!(state("resource").0, "expired");
}

#[test]
fn queue_and_quota_have_an_end() {
    let (_dir, store, [a, b]) = store();
    // Two workers and 100 s each: up to 200 s are queued before one more is refused.
    for k in 0..3 {
        asked(&store, &a, &format!("a{k}"), 70.0).unwrap();
    }
    let full = asked(&store, &a, "more", 1.0).unwrap_err();
    assert!(
        matches!(full, ServeError::QueueFull { seconds, .. } if (seconds - 105.0).abs() < 1e-9),
        "{full}"
    );
    store.now(|t| cancel(t, &a, "a0")).unwrap();
    store
        .now(|t| Ok(t.execute("UPDATE tenants SET quota_jobs = 2 WHERE id = ?1", params![a.tenant])?))
        .unwrap();
    assert!(matches!(asked(&store, &a, "more", 1.0), Err(ServeError::QuotaJobs { most: 2 })));
    asked(&store, &b, "theirs", 1.0).unwrap();
    assert!(matches!(store.now(|t| cancel(t, &b, "a1")), Err(ServeError::NotFound { .. })));
    assert_eq!(store.now(audit::broken).unwrap(), None);
}

#[test]
fn a_database_is_opened_again_and_one_of_a_newer_version_is_not() {
    let dir = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        Store::open(dir.path()).unwrap();
    }
    let store = Store::open(dir.path()).unwrap();
    store.now(|t| Ok(t.pragma_update(None, "user_version", 99)?)).unwrap();
    assert!(matches!(Store::open(dir.path()), Err(ServeError::Start(why)) if why.contains("schema 99")));
}
