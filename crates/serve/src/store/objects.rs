//! Objects: immutable bytes of a tenant by their BLAKE3. What one tenant stores, no other sees, even by its hash.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::ServeError;
use crate::store::database::{Row, Transaction, values};
use crate::store::{audit, expiry, key_sets, now};
use crate::token::Caller;

/// What an object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// A kernel file.
    Program,
    /// Evaluation keys.
    Keys,
    /// Names of files of evaluation keys.
    KeySet,
    /// Encrypted arguments.
    Arguments,
    /// Encrypted results.
    Results,
}

impl Kind {
    pub(crate) const ALL: [Self; 5] =
        [Self::Program, Self::Keys, Self::KeySet, Self::Arguments, Self::Results];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Program => "program",
            Self::Keys => "keys",
            Self::KeySet => "keyset",
            Self::Arguments => "arguments",
            Self::Results => "results",
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// An object.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub(crate) struct Object {
    /// BLAKE3 of its bytes.
    pub(crate) hash: String,
    pub(crate) kind: Kind,
    /// Bytes.
    pub(crate) size: u64,
    /// What it says of itself.
    pub(crate) facts: Value,
    /// Seconds since 1970.
    pub(crate) created: i64,
    /// When a job last used it, or it was fetched.
    pub(crate) used: i64,
    /// Kept whatever its age.
    pub(crate) pinned: bool,
    /// When it is removed if nothing uses it before; never, if there is no such time.
    pub(crate) expires: Option<i64>,
}

impl Object {
    /// One that is there from now on.
    pub(crate) fn new(kind: Kind, hash: String, size: u64, facts: Value) -> Self {
        let at = now();
        Self { hash, kind, size, facts, created: at, used: at, pinned: false, expires: None }
    }
}

const COLUMNS: &str = "hash, kind, size, facts, created, used, pinned";

fn read(row: &Row<'_>) -> Result<Object, ServeError> {
    let (kind, facts): (String, String) = (row.get(1)?, row.get(3)?);
    Ok(Object {
        hash: row.get(0)?,
        kind: Kind::parse(&kind).unwrap_or(Kind::Arguments),
        size: row.count(2)?,
        facts: serde_json::from_str(&facts).unwrap_or(Value::Null),
        created: row.get(4)?,
        used: row.get(5)?,
        pinned: row.flag(6)?,
        expires: None,
    })
}

/// The object of a hash.
pub(crate) fn get(t: &Transaction<'_>, tenant: i64, hash: &str) -> Result<Option<Object>, ServeError> {
    let sql = format!("SELECT {COLUMNS} FROM objects WHERE tenant = ?1 AND hash = ?2");
    t.first(&sql, values![tenant, hash], read)
}

/// The objects of three hashes.
pub(crate) fn three(
    t: &Transaction<'_>,
    tenant: i64,
    hashes: [&str; 3],
) -> Result<[Option<Object>; 3], ServeError> {
    let [a, b, c] = hashes;
    let sql = format!("SELECT {COLUMNS} FROM objects WHERE tenant = ?1 AND hash IN (?2, ?3, ?4)");
    let found = t.all(&sql, values![tenant, a, b, c], read)?;
    Ok(hashes.map(|hash| found.iter().find(|object| object.hash == hash).cloned()))
}

/// How often a program runs for arguments.
pub(crate) fn runs(arguments: &Object) -> u64 {
    arguments.facts["runs"].as_u64().unwrap_or(1)
}

/// Seconds of all runs on one core, by the cost model.
pub(crate) fn model_seconds(program: &Object, arguments: &Object) -> f64 {
    program.facts["seconds"].as_f64().unwrap_or(f64::INFINITY) * runs(arguments) as f64
}

/// The objects of a tenant, the newest first.
pub(crate) fn list(t: &Transaction<'_>, tenant: i64) -> Result<Vec<Object>, ServeError> {
    let sql =
        format!("SELECT {COLUMNS} FROM objects WHERE tenant = ?1 ORDER BY created DESC, hash LIMIT 1000");
    t.all(&sql, values![tenant], read)
}

/// Every file of keys and set of keys of a tenant.
pub(crate) fn of_keys(t: &Transaction<'_>, tenant: i64) -> Result<Vec<Object>, ServeError> {
    let sql = format!("SELECT {COLUMNS} FROM objects WHERE tenant = ?1 AND kind IN (?2, ?3)");
    t.all(&sql, values![tenant, Kind::Keys.name(), Kind::KeySet.name()], read)
}

/// Notes that an object is used.
pub(crate) fn touch(t: &Transaction<'_>, tenant: i64, hash: &str) -> Result<(), ServeError> {
    t.send("UPDATE objects SET used = ?3 WHERE tenant = ?1 AND hash = ?2", values![tenant, hash, now()])?;
    Ok(())
}

/// Keeps an object whatever its age, or no longer.
pub(crate) fn pin(t: &Transaction<'_>, by: &Caller, hash: &str, pinned: bool) -> Result<Object, ServeError> {
    t.send(
        "UPDATE objects SET pinned = ?3 WHERE tenant = ?1 AND hash = ?2",
        values![by.tenant, hash, pinned],
    )?;
    let object = get(t, by.tenant, hash)?.ok_or(ServeError::NotFound { what: "object of this hash" })?;
    audit::note(t, Some(by), if pinned { "object.pin" } else { "object.unpin" }, hash)?;
    Ok(object)
}

/// Adds an object; `settled` says that its bytes are on disk. False, and nothing changes, if it is there.
pub(crate) fn add(
    t: &Transaction<'_>,
    tenant: i64,
    object: &Object,
    settled: bool,
) -> Result<bool, ServeError> {
    let added = t.execute(
        "INSERT INTO objects (tenant, hash, kind, size, facts, created, used, settled)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (tenant, hash) DO NOTHING",
        values![
            tenant,
            &object.hash,
            object.kind.name(),
            object.size as i64,
            object.facts.to_string(),
            object.created,
            object.used,
            settled
        ],
    )?;
    Ok(added == 1)
}

/// The open jobs that need an object, by the expressions of its tenant and hash.
fn needing(tenant: &str, hash: &str) -> String {
    format!(
        "FROM jobs j WHERE j.tenant = {tenant} AND j.state IN ('queued', 'running')
         AND (j.program = {hash} OR j.keys = {hash} OR j.arguments = {hash} OR EXISTS (SELECT 1 FROM objects s
              WHERE s.tenant = j.tenant AND s.hash = j.keys AND {}))",
        key_sets::names("s", hash)
    )
}

/// The condition that no open job needs an object, by the expressions of its tenant and hash.
pub(crate) fn unneeded(tenant: &str, hash: &str) -> String {
    format!("NOT EXISTS (SELECT 1 {})", needing(tenant, hash))
}

/// Removes an object that no open job needs, and sets of keys that name it.
pub(crate) fn delete(t: &Transaction<'_>, by: &Caller, hash: &str) -> Result<(), ServeError> {
    // No job that needs it is added meanwhile.
    t.lock_tenant(by.tenant)?;
    let sql = format!("SELECT count(*) {}", needing("?1", "?2"));
    let needed: i64 = t.one(&sql, values![by.tenant, hash], |row| row.get(0))?;
    if needed > 0 {
        return Err(ServeError::Refused {
            code: "InUse".into(),
            message: format!("{needed} open jobs need this object; cancel them, or wait for them to end"),
        });
    }
    if !expiry::bury(t, by.tenant, hash)? {
        return Err(ServeError::NotFound { what: "object of this hash" });
    }
    audit::note(t, Some(by), "object.delete", hash)
}

/// Refuses bytes beyond the tenant's quota: objects and announced uploads count.
pub(crate) fn room(t: &Transaction<'_>, tenant: i64, asked: u64) -> Result<(), ServeError> {
    t.lock_tenant(tenant)?;
    let (most, held): (i64, i64) = t.one(
        "SELECT quota_bytes, CAST((SELECT coalesce(sum(size), 0) FROM objects WHERE tenant = ?1)
           + (SELECT coalesce(sum(size), 0) FROM uploads WHERE tenant = ?1) AS BIGINT) FROM tenants WHERE id = ?1",
        values![tenant],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let (most, held) = (most as u64, held as u64);
    match held.saturating_add(asked) <= most {
        true => Ok(()),
        false => Err(ServeError::QuotaBytes { most, held, asked }),
    }
}
