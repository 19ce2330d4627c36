//! Tenants and their tokens.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::config::Quota;
use crate::error::ServeError;
use crate::store::database::{Transaction, values};
use crate::store::{audit, data_keys, jobs, now, random_id};
use crate::token::{Caller, Scope, TokenKey, generate};

/// What the names of deleted tenants begin with.
const DELETED: &str = "deleted:";

/// A token as it may be shown.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct TokenRow {
    /// Its name, which is no secret.
    pub(crate) id: String,
    /// What it allows.
    pub(crate) scopes: Vec<String>,
    /// Seconds since 1970.
    pub(crate) created: i64,
    /// When it ends, if ever.
    pub(crate) expires: Option<i64>,
    /// When it was revoked.
    pub(crate) revoked: Option<i64>,
}

/// Adds a tenant.
pub(crate) fn add(t: &Transaction<'_>, name: &str, quota: impl Into<Quota>) -> Result<i64, ServeError> {
    let quota = quota.into();
    if name.starts_with(DELETED) {
        return Err(ServeError::Start(format!(
            "names that begin with {DELETED:?} are those of deleted tenants"
        )));
    }
    let known: Option<i64> = named(t, name)?;
    if known.is_some() {
        return Err(ServeError::Start(format!("there is a tenant {name:?} already")));
    }
    let id = t.one(
        "INSERT INTO tenants (name, quota_bytes, quota_jobs, quota_keys, quota_seconds, created)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6) RETURNING id",
        values![name, quota.bytes as i64, quota.jobs as i64, quota.keys as i64, quota.seconds, now()],
        |row| row.get(0),
    )?;
    audit::note(t, None, "tenant.add", name)?;
    Ok(id)
}

/// The tenant of a name.
pub(crate) fn named(t: &Transaction<'_>, name: &str) -> Result<Option<i64>, ServeError> {
    t.first("SELECT id FROM tenants WHERE name = ?1 AND deleted IS NULL", values![name], |row| row.get(0))
}

/// What the deletion of a tenant took.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Removed {
    /// Objects, whose files follow.
    pub objects: usize,
    /// Names of jobs that were open.
    pub jobs: Vec<String>,
}

/// Deletes a tenant with its data key, tokens, jobs, objects and uploads. Its number stays taken, and the audit log keeps its entries.
pub(crate) fn remove(
    t: &Transaction<'_>,
    by: Option<&Caller>,
    name: &str,
) -> Result<(i64, Removed), ServeError> {
    let tenant = named(t, name)?.ok_or(ServeError::NotFound { what: "tenant of this name" })?;
    t.lock_tenant(tenant)?;
    // Whatever follows, nothing of it can be read any more.
    data_keys::destroy(t, tenant)?;
    let open = "SELECT id FROM jobs WHERE tenant = ?1 AND state IN ('queued', 'running') ORDER BY id";
    let jobs: Vec<String> = t.all(open, values![tenant], |row| row.get(0))?;
    // Without its row a run has lost its lease.
    t.send("DELETE FROM jobs WHERE tenant = ?1", values![tenant])?;
    t.send(
        "INSERT INTO tombstones (tenant, hash, at) SELECT tenant, hash, ?2 FROM objects WHERE tenant = ?1
         ON CONFLICT (tenant, hash) DO NOTHING",
        values![tenant, now()],
    )?;
    let objects = t.execute("DELETE FROM objects WHERE tenant = ?1", values![tenant])?;
    t.send("DELETE FROM tokens WHERE tenant = ?1", values![tenant])?;
    // Each node removes what it holds of them: they are over, and not so long that another node ends them.
    t.send("UPDATE uploads SET expires = ?2 WHERE tenant = ?1", values![tenant, now()])?;
    // Without a quota, what was begun before adds nothing any more.
    t.send(
        "UPDATE tenants SET name = ?2, deleted = ?3, quota_bytes = 0, quota_jobs = 0 WHERE id = ?1",
        values![tenant, format!("{DELETED}{tenant}"), now()],
    )?;
    jobs.iter().try_for_each(|job| audit::note(t, by, "job.cancel", job))?;
    audit::note(t, by, "tenant.delete", name)?;
    Ok((tenant, Removed { objects, jobs }))
}

/// How many tenants there are.
pub(crate) fn count(t: &Transaction<'_>) -> Result<i64, ServeError> {
    t.one("SELECT count(*) FROM tenants", values![], |row| row.get(0))
}

/// Makes a token: its name, and the token itself, which is not kept.
pub(crate) fn add_token(
    t: &Transaction<'_>,
    key: &TokenKey,
    by: Option<&Caller>,
    tenant: i64,
    scopes: &[Scope],
    expires: Option<i64>,
) -> Result<(String, String), ServeError> {
    let (id, token) = (random_id()?, generate()?);
    let names: Vec<_> = scopes.iter().map(|scope| scope.name()).collect();
    t.send(
        "INSERT INTO tokens (id, hash, tenant, scopes, created, expires) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        values![&id, &key.hash(&token)[..], tenant, names.join(" "), now(), expires],
    )?;
    audit::note(t, by, "token.add", &id)?;
    Ok((id, token))
}

/// Who calls with a token.
pub(crate) fn caller(t: &Transaction<'_>, hash: &[u8; 32]) -> Result<Option<Caller>, ServeError> {
    let found = t.first(
        "SELECT tenant, id, scopes FROM tokens WHERE hash = ?1 AND revoked IS NULL AND (expires IS NULL OR expires > ?2)",
        values![&hash[..], now()],
        |row| Ok((row.get(0)?, row.get(1)?, row.get::<String>(2)?)),
    )?;
    Ok(found.map(|(tenant, token, scopes)| Caller {
        tenant,
        token,
        scopes: scopes.split(' ').filter_map(Scope::parse).collect(),
    }))
}

/// Whether the token of a caller still holds.
pub(crate) fn holds(t: &Transaction<'_>, caller: &Caller) -> Result<bool, ServeError> {
    let found: i64 = t.one(
        "SELECT count(*) FROM tokens WHERE id = ?1 AND revoked IS NULL AND (expires IS NULL OR expires > ?2)",
        values![&caller.token, now()],
        |row| row.get(0),
    )?;
    Ok(found == 1)
}

/// What a tenant holds and may hold.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Account {
    pub(crate) name: String,
    /// Bytes that it may store.
    pub(crate) quota_bytes: u64,
    /// Open jobs that it may have.
    pub(crate) quota_jobs: u64,
    /// Sets of evaluation keys that it may store.
    pub(crate) quota_keys: u64,
    /// Predicted core-seconds of the jobs that it may ask for in a day.
    pub(crate) quota_seconds: f64,
    /// Those of the jobs that it asked for since a day ago.
    pub(crate) used_seconds: f64,
    /// Bytes of objects by kind, and their number.
    pub(crate) stored: BTreeMap<String, Stored>,
    /// Bytes that uploads under way have announced.
    pub(crate) uploading: u64,
    pub(crate) open_jobs: u64,
}

/// Objects of a kind.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub(crate) struct Stored {
    pub(crate) objects: u64,
    pub(crate) bytes: u64,
}

/// What a tenant holds and may hold.
pub(crate) fn account(t: &Transaction<'_>, tenant: i64) -> Result<Account, ServeError> {
    let sql = "SELECT kind, count(*), CAST(coalesce(sum(size), 0) AS BIGINT) FROM objects WHERE tenant = ?1 GROUP BY kind";
    let kinds = t.all(sql, values![tenant], |row| {
        Ok((row.get(0)?, Stored { objects: row.count(1)?, bytes: row.count(2)? }))
    })?;
    let stored: BTreeMap<_, _> = kinds.into_iter().collect();
    let used_seconds = jobs::seconds_of_day(t, tenant)?;
    t.one(
        "SELECT name, quota_bytes, quota_jobs, quota_keys, quota_seconds, (SELECT CAST(coalesce(sum(size), 0) AS BIGINT) FROM uploads WHERE tenant = ?1),
                (SELECT count(*) FROM jobs WHERE tenant = ?1 AND state IN ('queued', 'running'))
         FROM tenants WHERE id = ?1",
        values![tenant],
        |row| {
            Ok(Account {
                name: row.get(0)?,
                quota_bytes: row.count(1)?,
                quota_jobs: row.count(2)?,
                stored: stored.clone(),
                quota_keys: row.count(3)?,
                quota_seconds: row.get(4)?,
                used_seconds,
                uploading: row.count(5)?,
                open_jobs: row.count(6)?,
            })
        },
    )
}

/// The tokens of a tenant.
pub(crate) fn tokens(t: &Transaction<'_>, tenant: i64) -> Result<Vec<TokenRow>, ServeError> {
    let sql =
        "SELECT id, scopes, created, expires, revoked FROM tokens WHERE tenant = ?1 ORDER BY created, id";
    t.all(sql, values![tenant], |row| {
        let scopes: String = row.get(1)?;
        Ok(TokenRow {
            id: row.get(0)?,
            scopes: scopes.split(' ').map(str::to_owned).collect(),
            created: row.get(2)?,
            expires: row.get(3)?,
            revoked: row.get(4)?,
        })
    })
}

/// Revokes a token of the caller's tenant.
pub(crate) fn revoke(t: &Transaction<'_>, by: &Caller, id: &str) -> Result<(), ServeError> {
    let changed = t.execute(
        "UPDATE tokens SET revoked = coalesce(revoked, ?3) WHERE tenant = ?1 AND id = ?2",
        values![by.tenant, id, now()],
    )?;
    if changed == 0 {
        return Err(ServeError::NotFound { what: "token of this name" });
    }
    audit::note(t, Some(by), "token.revoke", id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::expiry;
    use crate::store::objects::{self, Kind, Object};
    use crate::store::testing::each;

    #[test]
    fn a_deleted_tenant_leaves_its_audit_entries_and_nothing_of_another() {
        each(|store| {
            let dir = tempfile::tempdir().unwrap();
            let key = TokenKey::open(dir.path()).unwrap();
            let hash = |name: &str| blake3::hash(name.as_bytes()).to_hex().to_string();
            let filled = |name: &str| {
                let tenant = store.now(|t| add(t, name, (1 << 20, 10))).unwrap();
                let (id, token) = store.now(|t| add_token(t, &key, None, tenant, &Scope::ALL, None)).unwrap();
                let by = Caller { tenant, token: id, scopes: Scope::ALL.to_vec() };
                for (kind, name) in [(Kind::Program, "p"), (Kind::Keys, "k"), (Kind::Arguments, "a")] {
                    let object = Object::new(kind, hash(name), 5, serde_json::Value::Null);
                    store.now(|t| objects::add(t, tenant, &object, true)).unwrap();
                }
                let wanted = jobs::Wanted {
                    id: format!("job of {name}"),
                    program: hash("p"),
                    keys: hash("k"),
                    arguments: hash("a"),
                    idempotency: None,
                    predicted: 1.0,
                    deadline: now() + 1000,
                    trace: None,
                };
                store.now(|t| jobs::add(t, &by, &wanted, (1, 1e9))).unwrap();
                (tenant, token)
            };
            let (gone, token) = filled("gone");
            let (stays, other) = filled("stays");
            let job = store.now(|t| jobs::claim(t, 30, None)).unwrap().unwrap();
            assert_eq!(job.tenant, gone);
            assert!(matches!(store.now(|t| remove(t, None, "nobody")), Err(ServeError::NotFound { .. })));
            let (tenant, removed) = store.now(|t| remove(t, None, "gone")).unwrap();
            assert_eq!((tenant, removed), (gone, Removed { objects: 3, jobs: vec!["job of gone".into()] }));
            // The run that goes on has no lease, and makes no object.
            assert!(!store.now(|t| jobs::renew(t, &job, 30)).unwrap());
            let result = Object::new(Kind::Results, hash("r"), 5, serde_json::Value::Null);
            let finished = store.now(|t| jobs::finish(t, &job, &result, 1.0, true)).unwrap();
            assert_eq!(finished, jobs::Finished::Not);
            assert!(store.now(|t| caller(t, &key.hash(&token))).unwrap().is_none());
            assert!(matches!(store.now(|t| objects::room(t, gone, 1)), Err(ServeError::QuotaBytes { .. })));
            let buried = store.now(expiry::buried).unwrap();
            assert_eq!(buried.iter().filter(|(tenant, _)| *tenant == gone).count(), 3);
            // The name is free, and the new tenant is another.
            assert!(matches!(store.now(|t| remove(t, None, "gone")), Err(ServeError::NotFound { .. })));
            assert_ne!(store.now(|t| add(t, "gone", (1, 1))).unwrap(), gone);
            assert!(store.now(|t| add(t, &format!("{DELETED}{gone}"), (1, 1))).is_err());
            assert_eq!(store.now(|t| objects::list(t, stays)).unwrap().len(), 3);
            assert!(store.now(|t| caller(t, &key.hash(&other))).unwrap().is_some());
            let sql = "SELECT count(*) FROM audit WHERE action = 'tenant.delete' AND subject = 'gone'";
            assert_eq!(store.now(|t| t.one(sql, values![], |row| row.count(0))).unwrap(), 1);
            assert_eq!(store.now(audit::broken).unwrap(), None);
            store.scrub().unwrap();
        });
    }
}
