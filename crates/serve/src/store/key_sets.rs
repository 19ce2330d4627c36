//! Sets of keys: objects that name files of keys, so that keys come one by one and a key is stored once for all sets that have it.
//!
//! A set is there only while every file that it names is: what takes a file takes its sets with it.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::blobs::is_hash;
use crate::error::ServeError;
use crate::store::database::{Transaction, values};
use crate::store::jobs::Job;
use crate::store::now;
use crate::store::objects::{self, Kind, Object};

/// The most files of a set.
const MOST: usize = 4096;

/// The most bytes of a set: each file takes 67.
pub(crate) const MAX_BYTES: u64 = 1 << 19;

/// What a set says it is.
const FORM: &str = "key set";

/// The bytes of a set, as JSON without spaces.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    ringmill: String,
    keys: Vec<String>,
}

/// Whether an object counts as a set of keys: one that names files, or a file of several keys. Files of one key are parts.
pub(crate) fn is_set(kind: Kind, facts: &Value) -> bool {
    let several = || {
        let single = ["relin", "encapsulation"].iter().filter(|name| facts[**name] == true).count();
        single + elements(facts).count() > 1
    };
    kind == Kind::KeySet || kind == Kind::Keys && several()
}

/// Refuses a set of keys beyond the tenant's quota.
pub(crate) fn room(t: &Transaction<'_>, tenant: i64) -> Result<(), ServeError> {
    t.lock_tenant(tenant)?;
    let most: i64 =
        t.one("SELECT quota_keys FROM tenants WHERE id = ?1", values![tenant], |row| row.get(0))?;
    let held = objects::of_keys(t, tenant)?.iter().filter(|one| is_set(one.kind, &one.facts)).count();
    if held as i64 >= most { Err(ServeError::QuotaKeys { most: most as u64 }) } else { Ok(()) }
}

/// The files that a set names; what is wrong with it otherwise.
pub(crate) fn parse(bytes: &[u8]) -> Result<Vec<String>, String> {
    let read: Manifest = serde_json::from_slice(bytes).map_err(|e| e.to_string())?;
    if read.ringmill != FORM {
        return Err(format!("it says {:.40?} where \"{FORM}\" is to stand", read.ringmill));
    }
    if let Some(other) = read.keys.iter().find(|hash| !is_hash(hash)) {
        return Err(format!("{other:.80?} is no hash: 64 hexadecimal digits in lower case"));
    }
    if read.keys.is_empty() || read.keys.len() > MOST || !read.keys.is_sorted_by(|a, b| a < b) {
        return Err(format!("it is to name 1 to {MOST} files, each once and in ascending order"));
    }
    // One set, one form.
    match serde_json::to_vec(&read) {
        Ok(form) if form == bytes => Ok(read.keys),
        _ => Err("it is to have no spaces, \"ringmill\" before \"keys\", and nothing after its end".into()),
    }
}

fn refused(code: &str, message: String) -> ServeError {
    ServeError::Refused { code: code.into(), message }
}

/// What the files of a set hold together. Holds the tenant, so that none of them goes meanwhile.
pub(crate) fn facts(t: &Transaction<'_>, tenant: i64, named: &Value) -> Result<Value, ServeError> {
    t.lock_tenant(tenant)?;
    let named: Vec<&str> =
        named["members"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut found = Vec::new();
    let mut absent = Vec::new();
    for hash in named {
        match objects::get(t, tenant, hash)? {
            Some(object) if object.kind == Kind::Keys => found.push(object),
            Some(object) => {
                let what = object.kind.name();
                return Err(refused(
                    "WrongKind",
                    format!("{hash} in this set is no file of keys but of kind {what}"),
                ));
            }
            None => absent.push(hash),
        }
    }
    if let Some(first) = absent.first() {
        let count = absent.len();
        return Err(refused(
            "NoObject",
            format!("{count} files of this set are not here, the first {first}; store them before the set"),
        ));
    }
    joined(&found)
}

fn joined(files: &[Object]) -> Result<Value, ServeError> {
    let facts = files.iter().map(|file| &file.facts);
    let params = files.first().map_or(&Value::Null, |file| &file.facts["params"]);
    if let Some(other) = files.iter().find(|file| file.facts["params"] != *params) {
        return Err(refused("ParamsMismatch", format!("{} of this set is of other parameters", other.hash)));
    }
    let mut known = facts.clone().map(|facts| &facts["identity"]).filter(|identity| !identity.is_null());
    let identity = known.next().unwrap_or(&Value::Null);
    if known.any(|other| other != identity) {
        return Err(refused("KeysMismatch", "this set has keys of two secret keys".into()));
    }
    let has = |name: &str| facts.clone().filter(|facts| facts[name] == json!(true)).count();
    let mut galois: Vec<u64> = facts.clone().flat_map(elements).collect();
    galois.sort_unstable();
    if has("relin") > 1 || has("encapsulation") > 1 || galois.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(refused(
            "KeysTwice",
            "two files of this set hold the same key, and results would depend on which is taken; name one of them".into(),
        ));
    }
    let members = files.iter().map(|file| {
        let Object { hash, size, facts, .. } = file;
        json!({ "hash": hash, "size": size, "relin": facts["relin"], "galois": facts["galois"],
                "encapsulation": facts["encapsulation"] })
    });
    Ok(json!({
        "params": params,
        "identity": identity,
        "relin": has("relin") == 1,
        "galois": galois,
        "encapsulation": has("encapsulation") == 1,
        "bytes": files.iter().map(|file| file.size).sum::<u64>(),
        "members": members.collect::<Vec<_>>(),
    }))
}

fn elements(facts: &Value) -> impl Iterator<Item = u64> + '_ {
    facts["galois"].as_array().into_iter().flatten().filter_map(Value::as_u64)
}

/// What a job may name as its keys: a file, or a set of files.
pub(crate) fn are_keys(object: Option<Object>) -> Result<Object, ServeError> {
    match object {
        Some(object) if matches!(object.kind, Kind::Keys | Kind::KeySet) => Ok(object),
        Some(object) => Err(refused(
            "WrongKind",
            format!("what is given as keys is an object of kind {}", object.kind.name()),
        )),
        None => Err(refused(
            "NoObject",
            "there is no object of the hash that is given as keys; store it first".into(),
        )),
    }
}

/// A file of keys that a job takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) hash: String,
    pub(crate) size: u64,
}

/// The files that a program takes of keys: a file itself; of a set those with a key that it needs.
pub(crate) fn taken(program: &Value, keys: &Object) -> Vec<Taken> {
    if keys.kind != Kind::KeySet {
        return vec![Taken { hash: keys.hash.clone(), size: keys.size }];
    }
    let needed: Vec<u64> = program["galois"]
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(_, element)| element.as_u64())
        .collect();
    let both = |name: &str, file: &Value| program[name] == json!(true) && file[name] == json!(true);
    let is_needed = |file: &&Value| {
        both("relin", file) || both("encapsulation", file) || elements(file).any(|one| needed.contains(&one))
    };
    let members = keys.facts["members"].as_array().into_iter().flatten().filter(is_needed);
    let of =
        |file: &Value| Some(Taken { hash: file["hash"].as_str()?.to_owned(), size: file["size"].as_u64()? });
    members.filter_map(of).collect()
}

/// What a job takes.
pub(crate) struct Needs {
    /// The files of the keys that it names.
    pub(crate) keys: Vec<Taken>,
    /// Runs of its arguments.
    pub(crate) runs: u64,
    /// Seconds of all runs on one core, by the cost model.
    pub(crate) model_seconds: f64,
}

/// What a job takes, by the objects that it names.
pub(crate) fn of_job(t: &Transaction<'_>, job: &Job) -> Result<Needs, ServeError> {
    let hashes = [&job.program, &job.keys, &job.arguments].map(|hash| &hash[..]);
    match objects::three(t, job.tenant, hashes)? {
        [Some(program), Some(keys), Some(arguments)] => {
            let (runs, model_seconds) =
                (objects::runs(&arguments), objects::model_seconds(&program, &arguments));
            Ok(Needs { keys: taken(&program.facts, &keys), runs, model_seconds })
        }
        _ => Err(ServeError::NotFound { what: "object that the job names" }),
    }
}

/// The condition that the object of the row `set` is a set that names the file of `hash`.
pub(crate) fn names(set: &str, hash: &str) -> String {
    format!("({set}.kind = 'keyset' AND {set}.facts LIKE '%' || CAST({hash} AS TEXT) || '%')")
}

/// The sets that name a file.
pub(crate) fn with(t: &Transaction<'_>, tenant: i64, hash: &str) -> Result<Vec<String>, ServeError> {
    let sql = format!("SELECT s.hash FROM objects s WHERE s.tenant = ?1 AND {}", names("s", "?2"));
    t.all(&sql, values![tenant, hash], |row| row.get(0))
}

/// Notes that the files of a set are used.
pub(crate) fn touch(t: &Transaction<'_>, tenant: i64, set: &str) -> Result<(), ServeError> {
    let sql = format!(
        "UPDATE objects SET used = ?3 WHERE tenant = ?1 AND kind = 'keys' AND EXISTS (SELECT 1 FROM objects s
         WHERE s.tenant = ?1 AND s.hash = ?2 AND {})",
        names("s", "objects.hash")
    );
    t.send(&sql, values![tenant, set, now()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Keep;
    use crate::store::expiry;
    use crate::store::jobs::{self, Wanted};
    use crate::store::testing::each;
    use crate::store::{Store, tenants};
    use crate::token::{Caller, Scope};

    fn hash(of: &str) -> String {
        blake3::hash(of.as_bytes()).to_hex().to_string()
    }

    fn file(name: &str, relin: bool, galois: &[u64]) -> Object {
        let facts = json!({ "params": "p", "identity": "i", "relin": relin, "galois": galois, "encapsulation": false });
        Object::new(Kind::Keys, hash(name), 100, facts)
    }

    fn named(names: &[&str]) -> Value {
        json!({ "members": names.iter().map(|name| hash(name)).collect::<Vec<_>>() })
    }

    fn code<T: std::fmt::Debug>(refused: Result<T, ServeError>) -> String {
        refused.unwrap_err().kind().1.to_owned()
    }

    #[test]
    fn a_set_has_one_form() {
        let [a, b] = ["0", "1"].map(|digit| digit.repeat(64));
        let right = format!(r#"{{"ringmill":"key set","keys":["{a}","{b}"]}}"#);
        assert_eq!(parse(right.as_bytes()).unwrap(), [a.clone(), b.clone()]);
        for wrong in [
            right.replace("key set", "keyset"),
            right.replace(",", ", "),
            right.replace(&a, &b),
            right.replace(&a, "../x"),
            right.replace("keys", "files"),
            format!("{right} "),
            format!(r#"{{"keys":["{a}"],"ringmill":"key set"}}"#),
            format!(r#"{{"ringmill":"key set","keys":["{b}","{a}"]}}"#),
            r#"{"ringmill":"key set","keys":[]}"#.into(),
            "{".into(),
        ] {
            assert!(parse(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_program_takes_the_files_that_it_needs() {
        let files = [file("relin", true, &[]), file("one", false, &[5]), file("two", false, &[25, 625])];
        let set = Object::new(Kind::KeySet, hash("set"), 1, joined(&files).unwrap());
        assert_eq!((&set.facts["relin"], &set.facts["galois"]), (&json!(true), &json!([5, 25, 625])));
        let took = |program: Value| taken(&program, &set).into_iter().map(|one| one.hash).collect::<Vec<_>>();
        assert_eq!(took(json!({ "relin": true, "galois": { "4": 625 } })), [hash("relin"), hash("two")]);
        assert_eq!(took(json!({ "relin": false, "galois": { "1": 5 } })), [hash("one")]);
        assert_eq!(took(json!({ "relin": false, "galois": {} })), [""; 0]);
        assert_eq!(taken(&Value::Null, &files[0]), [Taken { hash: hash("relin"), size: 100 }]);

        let of = |name: &str, key: &str, value: &str| {
            let mut other = file(name, false, &[125]);
            other.facts[key] = json!(value);
            joined(&[files[0].clone(), other])
        };
        assert_eq!(code(of("x", "params", "q")), "ParamsMismatch");
        assert_eq!(code(of("x", "identity", "j")), "KeysMismatch");
        assert_eq!(code(joined(&[files[1].clone(), file("again", true, &[5])])), "KeysTwice");
        assert_eq!(code(joined(&[files[0].clone(), file("again", true, &[])])), "KeysTwice");
    }

    fn caller(store: &Store) -> Caller {
        let tenant = store.now(|t| tenants::add(t, "a", (1 << 20, 100))).unwrap();
        Caller { tenant, token: "a".into(), scopes: Scope::ALL.into() }
    }

    #[test]
    fn a_set_is_there_while_its_files_are() {
        each(|store| {
            let a = caller(&store);
            let files = [file("relin", true, &[]), file("one", false, &[5]), file("two", false, &[25])];
            let add = |object: &Object| store.now(|t| objects::add(t, a.tenant, object, true)).unwrap();
            files.iter().for_each(|one| assert!(add(one)));
            let absent = named(&["relin", "three"]);
            assert_eq!(code(store.now(|t| facts(t, a.tenant, &absent))), "NoObject");
            for (name, members) in [("small", &["relin", "one"][..]), ("large", &["relin", "one", "two"])] {
                let facts = store.now(|t| facts(t, a.tenant, &named(members))).unwrap();
                add(&Object::new(Kind::KeySet, hash(name), 1, facts));
            }
            add(&Object::new(
                Kind::Program,
                hash("program"),
                1,
                json!({ "relin": true, "galois": { "1": 5 } }),
            ));
            add(&Object::new(Kind::Arguments, hash("arguments"), 1, json!({ "runs": 3 })));
            assert_eq!(code(store.now(|t| facts(t, a.tenant, &named(&["program"])))), "WrongKind");
            let job = Wanted {
                id: "job".into(),
                program: hash("program"),
                keys: hash("small"),
                arguments: hash("arguments"),
                idempotency: None,
                trace: None,
                predicted: 1.0,
                deadline: now() + 100,
            };
            let old = |hash: String| {
                let sql = "UPDATE objects SET used = ?1 WHERE hash = ?2";
                store.now(|t| t.execute(sql, values![now() - 500, &hash])).unwrap();
            };
            ["relin", "one", "two"].iter().for_each(|name| old(hash(name)));
            let added = store.now(|t| jobs::add(t, &a, &job, (1, 100.0))).unwrap();
            let needs = store.now(|t| of_job(t, &added)).unwrap();
            assert_eq!(needs.runs, 3);
            assert_eq!(
                needs.keys.into_iter().map(|one| one.hash).collect::<Vec<_>>(),
                [hash("relin"), hash("one")]
            );
            // The job has used the files of its set, and needs them.
            let used =
                |name: &str| store.now(|t| objects::get(t, a.tenant, &hash(name))).unwrap().map(|o| o.used);
            assert!(used("one").unwrap() >= now() - 100 && used("two").unwrap() < now() - 100);
            assert_eq!(code(store.now(|t| objects::delete(t, &a, &hash("one")))), "InUse");
            let keep = Keep { program: 0, keys: 400, arguments: 0, results: 0, jobs: 0 };
            old(hash("one"));
            let over = || store.now(|t| expiry::over(t, &keep, 10)).unwrap();
            assert_eq!(over().into_iter().map(|gone| gone.hash).collect::<Vec<_>>(), [hash("two")]);
            // A set that is pinned keeps its files.
            store.now(|t| objects::pin(t, &a, &hash("large"), true)).unwrap();
            assert!(over().is_empty());
            store.now(|t| objects::pin(t, &a, &hash("large"), false)).unwrap();
            let (gone, _) = store.now(|t| expiry::expire(t, &keep)).unwrap();
            assert_eq!(gone.len(), 1);
            let is_there = |name| used(name).is_some();
            assert_eq!(["one", "two", "small", "large"].map(is_there), [true, false, true, false]);
            store.now(|t| jobs::cancel(t, &a, "job")).unwrap();
            store.now(|t| objects::delete(t, &a, &hash("one"))).unwrap();
            assert_eq!(["relin", "one", "small"].map(is_there), [true, false, false]);
        });
    }
}
