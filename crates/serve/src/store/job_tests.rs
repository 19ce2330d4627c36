//! Leases, fairness and failures of jobs, without workers.

use crate::error::ServeError;
use crate::store::database::values;
use crate::store::jobs::{
    Class, Failure, Finished, Held, Job, Wanted, add, cancel, claim, fail, finish, get, list, release, renew,
    sweep,
};
use crate::store::objects::{self, Kind, Object};
use crate::store::session::Session;
use crate::store::testing::{database, each};
use crate::store::{Store, audit, key_sets, now, set_schema, tenants};
use crate::token::{Caller, Scope};

/// Two tenants.
fn callers(store: &Store) -> [Caller; 2] {
    ["a", "b"].map(|name| {
        let tenant = store.now(|t| tenants::add(t, name, (1 << 20, 100))).unwrap();
        Caller { tenant, token: name.into(), scopes: Scope::ALL.into() }
    })
}

fn asked(store: &Store, by: &Caller, id: &str, predicted: f64) -> Result<Job, ServeError> {
    let wanted = wanted(id, "k", predicted);
    store.now(|t| add(t, by, &wanted, (2, 100.0)))
}

fn wanted(id: &str, keys: &str, predicted: f64) -> Wanted {
    let [id, program, keys, arguments] = [id, "p", keys, "a"].map(str::to_owned);
    let deadline = now() + 1000;
    Wanted { id, program, keys, arguments, idempotency: None, predicted, deadline, trace: None }
}

fn next(store: &Store) -> Option<Job> {
    store.now(|t| claim(t, 30, None)).unwrap()
}

fn result() -> Object {
    Object::new(Kind::Results, "r".repeat(64), 1, serde_json::Value::Null)
}

fn failing(class: Class) -> Failure {
    Failure { class, code: "Code".into(), message: "why".into() }
}

#[test]
fn who_holds_an_old_lease_changes_nothing() {
    each(|store| {
        let [a, _] = callers(&store);
        asked(&store, &a, "job", 1.0).unwrap();
        let first = next(&store).unwrap();
        assert!(next(&store).is_none());
        assert!(store.now(|t| renew(t, &first, 30)).unwrap());
        // The lease ends, and another takes over.
        store.now(|t| t.execute("UPDATE jobs SET lease = ?1", values![now() - 1])).unwrap();
        store.now(|t| sweep(t, false)).unwrap();
        let second = next(&store).unwrap();
        assert!(second.epoch > first.epoch);
        assert!(!store.now(|t| renew(t, &first, 30)).unwrap());
        assert!(!store.now(|t| fail(t, &first, &failing(Class::User))).unwrap());
        assert_eq!(store.now(|t| finish(t, &first, &result(), 1.0, false)).unwrap(), Finished::Not);
        assert!(store.now(|t| objects::list(t, a.tenant)).unwrap().is_empty());
        store.now(|t| release(t, &first)).unwrap();
        assert_eq!(store.now(|t| get(t, a.tenant, "job")).unwrap().state, "running");
        assert_eq!(store.now(|t| finish(t, &second, &result(), 1.0, false)).unwrap(), Finished::Object);
        assert_eq!(store.now(|t| finish(t, &second, &result(), 1.0, false)).unwrap(), Finished::Not, "once");
        assert_eq!(store.now(|t| objects::list(t, a.tenant)).unwrap().len(), 1);
        let done = store.now(|t| get(t, a.tenant, "job")).unwrap();
        assert_eq!((&done.state[..], done.attempts), ("done", 2));
    });
}

/// A lease is not waited for. One that a loss of power undid has the epoch of the next, and not its holder.
#[test]
fn who_holds_a_lease_that_was_undone_changes_nothing() {
    each(|store| {
        let [a, _] = callers(&store);
        asked(&store, &a, "job", 1.0).unwrap();
        let mut undone = None;
        let rolled_back = store.now(|t| {
            undone = claim(t, 30, None)?;
            Err::<(), _>(ServeError::Busy)
        });
        assert!(matches!(rolled_back, Err(ServeError::Busy)));
        let (first, second) = (undone.unwrap(), next(&store).unwrap());
        assert_eq!(first.epoch, second.epoch);
        assert!(!store.now(|t| renew(t, &first, 30)).unwrap());
        assert!(!store.now(|t| fail(t, &first, &failing(Class::User))).unwrap());
        store.now(|t| release(t, &first)).unwrap();
        assert_eq!(store.now(|t| finish(t, &first, &result(), 1.0, false)).unwrap(), Finished::Not);
        assert!(store.now(|t| renew(t, &second, 30)).unwrap());
        assert_eq!(store.now(|t| finish(t, &second, &result(), 1.0, false)).unwrap(), Finished::Object);
    });
}

#[test]
fn a_tenant_with_many_jobs_does_not_hold_up_another() {
    each(|store| {
        let [a, b] = callers(&store);
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
    });
}

fn asked_with(store: &Store, by: &Caller, id: &str, keys: &str) {
    let wanted = wanted(id, keys, 4.0);
    store.now(|t| add(t, by, &wanted, (2, 1e9))).unwrap();
}

/// Jobs of two sets of keys in turns: a worker stays with its own, until another has waited or another tenant has had less.
#[test]
fn a_worker_takes_jobs_of_its_keys_first_within_bounds() {
    each(|store| {
        let [a, b] = callers(&store);
        for k in 0..14 {
            asked_with(&store, &a, &format!("{k:02}"), ["one", "two"][k % 2]);
        }
        let near = |keys: &str| Held { tenant: a.tenant, keys: keys.into() };
        let next = |held: Option<Held>| store.now(|t| claim(t, 30, held.as_ref())).unwrap().unwrap();
        let (first, second) = (near("one"), near("two"));
        let order =
            |held: &Held, count: usize| (0..count).map(|_| next(Some(held.clone())).id).collect::<Vec<_>>();
        assert_eq!(order(&second, 2), ["01", "03"]);
        assert_eq!(order(&first, 2), ["00", "02"]);
        assert_eq!(next(None).id, "04");
        // The same name of keys of another tenant is other keys.
        assert_eq!(next(Some(Held { tenant: b.tenant, keys: "two".into() })).id, "05");
        // One that has waited for ten seconds is next, whatever is held.
        store.now(|t| t.execute("UPDATE jobs SET ready = ?1 WHERE id = '06'", values![now() - 10])).unwrap();
        assert_eq!(order(&second, 2), ["06", "07"]);
        // Another tenant begins as far as this one. Jobs take four seconds: once it is three behind, it was given too much less.
        for k in 0..2 {
            asked_with(&store, &b, &format!("b{k}"), "one");
        }
        assert_eq!(order(&first, 4), ["08", "10", "12", "b0"]);
        assert_eq!(order(&second, 3), ["09", "b1", "11"]);
    });
}

#[test]
fn core_seconds_of_a_day_have_an_end() {
    each(|store| {
        let [a, _] = callers(&store);
        store.now(|t| t.execute("UPDATE tenants SET quota_seconds = 10.0", values![])).unwrap();
        asked(&store, &a, "first", 4.0).unwrap();
        asked(&store, &a, "second", 5.0).unwrap();
        store
            .now(|t| t.execute("UPDATE jobs SET created = created - 80000 WHERE id = 'first'", values![]))
            .unwrap();
        let refused = asked(&store, &a, "third", 2.0).unwrap_err();
        let ServeError::QuotaSeconds { most, used, asked: third, free } = refused else {
            panic!("{refused}")
        };
        assert_eq!((most, used, third), (10.0, 9.0, 2.0));
        assert!((6390..=6400).contains(&free), "{free}");
        assert_eq!(refused.kind().0.as_u16(), 429);
        let never = asked(&store, &a, "third", 11.0).unwrap_err();
        assert_eq!(never.kind().0.as_u16(), 403);
        assert_eq!(store.now(|t| tenants::account(t, a.tenant)).unwrap().used_seconds, 9.0);
        // What was cancelled before it began is not counted, and neither is what was asked for a day ago.
        store.now(|t| cancel(t, &a, "second")).unwrap();
        asked(&store, &a, "third", 2.0).unwrap();
        store
            .now(|t| t.execute("UPDATE jobs SET created = created - 7000 WHERE id = 'first'", values![]))
            .unwrap();
        asked(&store, &a, "fourth", 8.0).unwrap();
        assert!(asked(&store, &a, "fifth", 0.1).is_err());
    });
}

#[test]
fn sets_of_keys_have_an_end() {
    each(|store| {
        let [a, b] = callers(&store);
        store.now(|t| t.execute("UPDATE tenants SET quota_keys = 2", values![])).unwrap();
        let object = |kind, name: &str, galois: &[u64]| {
            let hash = blake3::hash(name.as_bytes()).to_hex().to_string();
            let facts = serde_json::json!({ "relin": true, "encapsulation": false, "galois": galois });
            Object::new(kind, hash, 1, facts)
        };
        let whole = object(Kind::Keys, "whole", &[5]);
        // Files of one key are parts of sets, and count as bytes alone.
        let parts = ["one", "two", "three"].map(|name| object(Kind::Keys, name, &[]));
        let set = object(Kind::KeySet, "set", &[]);
        assert!(key_sets::is_set(whole.kind, &whole.facts) && key_sets::is_set(set.kind, &set.facts));
        assert!(!key_sets::is_set(parts[0].kind, &parts[0].facts));
        for one in [&whole, &parts[0], &parts[1], &parts[2], &set] {
            store.now(|t| key_sets::room(t, a.tenant)).unwrap();
            store.now(|t| objects::add(t, a.tenant, one, true)).unwrap();
        }
        let refused = store.now(|t| key_sets::room(t, a.tenant)).unwrap_err();
        assert!(matches!(refused, ServeError::QuotaKeys { most: 2 }));
        assert_eq!(refused.kind().0.as_u16(), 403);
        store.now(|t| key_sets::room(t, b.tenant)).unwrap();
        store.now(|t| objects::delete(t, &a, &whole.hash)).unwrap();
        store.now(|t| key_sets::room(t, a.tenant)).unwrap();
    });
}

#[test]
fn failures_are_final_by_their_class() {
    each(|store| {
        let [a, _] = callers(&store);
        let ready = || store.now(|t| t.execute("UPDATE jobs SET ready = 0", values![])).unwrap();
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
        store.now(|t| t.execute("UPDATE jobs SET deadline = ?1", values![now()])).unwrap();
        store.now(|t| sweep(t, false)).unwrap();
        assert_eq!(state("resource").0, "expired");
    });
}

#[test]
fn queue_and_quota_have_an_end() {
    each(|store| {
        let [a, b] = callers(&store);
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
            .now(|t| t.execute("UPDATE tenants SET quota_jobs = 2 WHERE id = ?1", values![a.tenant]))
            .unwrap();
        assert!(matches!(asked(&store, &a, "more", 1.0), Err(ServeError::QuotaJobs { most: 2 })));
        asked(&store, &b, "theirs", 1.0).unwrap();
        assert!(matches!(store.now(|t| cancel(t, &b, "a1")), Err(ServeError::NotFound { .. })));
        assert_eq!(store.now(audit::broken).unwrap(), None);
    });
}

#[test]
fn a_database_is_opened_again_and_one_of_a_newer_version_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let opened_again = |open: &dyn Fn() -> Result<Store, ServeError>| {
        for _ in 0..2 {
            open().unwrap();
        }
        let store = open().unwrap();
        store.now(|t| set_schema(t, 99)).unwrap();
        assert!(matches!(open(), Err(ServeError::Start(why)) if why.contains("schema 99")));
    };
    opened_again(&|| Store::sqlite(dir.path()));
    if let Some(settings) = database() {
        opened_again(&|| Store::postgres(&settings));
    }
}

/// Transactions that other processes would make, in threads.
#[test]
fn who_claims_at_once_gets_other_jobs() {
    each(|store| {
        let [a, b] = callers(&store);
        for k in 0..20 {
            asked(&store, if k % 2 == 0 { &a } else { &b }, &format!("job{k}"), 1.0).unwrap();
        }
        let claimed = || std::iter::from_fn(|| next(&store).map(|job| job.id)).collect::<Vec<_>>();
        let mut all: Vec<String> = std::thread::scope(|scope| {
            let nodes: Vec<_> = (0..4).map(|_| scope.spawn(claimed)).collect();
            nodes.into_iter().flat_map(|node| node.join().unwrap()).collect()
        });
        // A thread that passes over jobs that others take may find nothing else and end early.
        all.extend(claimed());
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 20);
        let attempts = store.now(|t| t.one("SELECT max(attempts) FROM jobs", values![], |row| row.count(0)));
        assert_eq!(attempts.unwrap(), 1);
    });
}

/// Twenty ask at once where ten may: quota and audit log stay right.
#[test]
fn quotas_and_the_audit_log_hold_when_many_write_at_once() {
    each(|store| {
        let [a, _] = callers(&store);
        store.now(|t| t.execute("UPDATE tenants SET quota_jobs = 10", values![])).unwrap();
        let added = std::thread::scope(|scope| {
            let ask = |k: usize| asked(&store, &a, &format!("job{k}"), 1.0);
            let asking: Vec<_> = (0..20).map(|k| scope.spawn(move || ask(k))).collect();
            asking.into_iter().map(|one| one.join().unwrap()).filter(Result::is_ok).count()
        });
        assert_eq!(added, 10);
        assert_eq!(store.now(|t| list(t, a.tenant)).unwrap().len(), 10);
        assert_eq!(store.now(audit::broken).unwrap(), None);
        let entries = store.now(|t| {
            t.one("SELECT count(*) FROM audit WHERE action = 'job.add'", values![], |row| row.count(0))
        });
        assert_eq!(entries.unwrap(), 10);
    });
}

/// A server that ends connections, as one does that is started anew: nothing is half done, and work goes on.
#[test]
fn connections_that_end_are_opened_again() {
    let Some(settings) = database() else { return };
    let store = Store::postgres(&settings).unwrap();
    let [a, _] = callers(&store);
    let ended = store.now(|t| {
        t.execute("UPDATE tenants SET name = 'half' WHERE name = 'a'", values![])?;
        t.first("SELECT pg_terminate_backend(pg_backend_pid())", values![], |_| Ok(()))
    });
    assert!(matches!(ended, Err(ServeError::DatabaseAway)), "{ended:?}");
    asked(&store, &a, "job", 1.0).unwrap();
    // Another ends what is idle.
    let mut other = Session::open(&settings).unwrap().unwrap();
    let all = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
    other.batch(&format!("SELECT pg_terminate_backend(pid) {all}")).unwrap();
    // They end a moment later.
    while !other.query(&format!("SELECT pid {all}"), &[]).unwrap().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert_eq!(next(&store).unwrap().id, "job");
    assert_eq!(store.now(|t| tenants::named(t, "half")).unwrap(), None);
}

/// A database that keeps objects in files has one service; those that share objects may be several.
#[test]
fn a_database_has_one_service_or_several_that_share() {
    let Some(settings) = database() else { return };
    let [one, two] = [(); 2].map(|()| Store::postgres(&settings).unwrap());
    let alone = one.serve(true).unwrap();
    for lone in [true, false] {
        assert!(matches!(two.serve(lone), Err(ServeError::Start(_))));
    }
    drop(alone);
    let shared = (one.serve(false).unwrap(), two.serve(false).unwrap());
    assert!(matches!(two.serve(true), Err(ServeError::Start(_))));
    drop(shared);
    two.serve(true).unwrap();
}
