//! Tenants and their tokens.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension, Transaction, params};
use serde::Serialize;

use crate::error::ServeError;
use crate::store::{audit, now, random_id};
use crate::token::{Caller, Scope, TokenKey, generate};

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
pub(crate) fn add(t: &Transaction<'_>, name: &str, quota: (u64, u64)) -> Result<i64, ServeError> {
    let known: Option<i64> = named(t, name)?;
    if known.is_some() {
        return Err(ServeError::Start(format!("there is a tenant {name:?} already")));
    }
    let id = t.query_row(
        "INSERT INTO tenants (name, quota_bytes, quota_jobs, created) VALUES (?1, ?2, ?3, ?4) RETURNING id",
        params![name, quota.0 as i64, quota.1 as i64, now()],
        |row| row.get(0),
    )?;
    audit::note(t, None, "tenant.add", name)?;
    Ok(id)
}

/// The tenant of a name.
pub(crate) fn named(t: &Transaction<'_>, name: &str) -> Result<Option<i64>, ServeError> {
    Ok(t.query_row("SELECT id FROM tenants WHERE name = ?1", [name], |row| row.get(0)).optional()?)
}

/// How many tenants there are.
pub(crate) fn count(t: &Transaction<'_>) -> Result<i64, ServeError> {
    Ok(t.query_row("SELECT count(*) FROM tenants", [], |row| row.get(0))?)
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
    t.execute(
        "INSERT INTO tokens (id, hash, tenant, scopes, created, expires) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![id, &key.hash(&token)[..], tenant, names.join(" "), now(), expires],
    )?;
    audit::note(t, by, "token.add", &id)?;
    Ok((id, token))
}

/// Who calls with a token.
pub(crate) fn caller(t: &Transaction<'_>, hash: &[u8; 32]) -> Result<Option<Caller>, ServeError> {
    let found = t
        .query_row(
            "SELECT tenant, id, scopes FROM tokens WHERE hash = ?1 AND revoked IS NULL AND (expires IS NULL OR expires > ?2)",
            params![&hash[..], now()],
            |row| Ok((row.get(0)?, row.get(1)?, row.get::<_, String>(2)?)),
        )
        .optional()?;
    Ok(found.map(|(tenant, token, scopes)| Caller {
        tenant,
        token,
        scopes: scopes.split(' ').filter_map(Scope::parse).collect(),
    }))
}

/// Whether the token of a caller still holds.
pub(crate) fn holds(t: &Transaction<'_>, caller: &Caller) -> Result<bool, ServeError> {
    let found: i64 = t.query_row(
        "SELECT count(*) FROM tokens WHERE id = ?1 AND revoked IS NULL AND (expires IS NULL OR expires > ?2)",
        params![caller.token, now()],
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
    /// Bytes of objects by kind, and their number.
    pub(crate) stored: BTreeMap<String, Stored>,
    /// Bytes that uploads under way have announced.
    pub(crate) uploading: u64,
    pub(crate) open_jobs: u64,
}

/// Objects of a kind.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Stored {
    pub(crate) objects: u64,
    pub(crate) bytes: u64,
}

/// What a tenant holds and may hold.
pub(crate) fn account(t: &Transaction<'_>, tenant: i64) -> Result<Account, ServeError> {
    let mut rows = t.prepare(
        "SELECT kind, count(*), coalesce(sum(size), 0) FROM objects WHERE tenant = ?1 GROUP BY kind",
    )?;
    let rows = rows.query_map([tenant], |row| {
        let (objects, bytes): (i64, i64) = (row.get(1)?, row.get(2)?);
        Ok((row.get(0)?, Stored { objects: objects as u64, bytes: bytes as u64 }))
    })?;
    let stored = rows.collect::<Result<_, _>>()?;
    Ok(t.query_row(
        "SELECT name, quota_bytes, quota_jobs, (SELECT coalesce(sum(size), 0) FROM uploads WHERE tenant = ?1),
                (SELECT count(*) FROM jobs WHERE tenant = ?1 AND state IN ('queued', 'running'))
         FROM tenants WHERE id = ?1",
        [tenant],
        |row| {
            Ok(Account {
                name: row.get(0)?,
                quota_bytes: row.get::<_, i64>(1)? as u64,
                quota_jobs: row.get::<_, i64>(2)? as u64,
                stored,
                uploading: row.get::<_, i64>(3)? as u64,
                open_jobs: row.get::<_, i64>(4)? as u64,
            })
        },
    )?)
}

/// The tokens of a tenant.
pub(crate) fn tokens(t: &Transaction<'_>, tenant: i64) -> Result<Vec<TokenRow>, ServeError> {
    let mut rows = t.prepare(
        "SELECT id, scopes, created, expires, revoked FROM tokens WHERE tenant = ?1 ORDER BY created, id",
    )?;
    let rows = rows.query_map([tenant], |row| {
        let scopes: String = row.get(1)?;
        Ok(TokenRow {
            id: row.get(0)?,
            scopes: scopes.split(' ').map(str::to_owned).collect(),
            created: row.get(2)?,
            expires: row.get(3)?,
            revoked: row.get(4)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Revokes a token of the caller's tenant.
pub(crate) fn revoke(t: &Transaction<'_>, by: &Caller, id: &str) -> Result<(), ServeError> {
    let changed = t.execute(
        "UPDATE tokens SET revoked = coalesce(revoked, ?3) WHERE tenant = ?1 AND id = ?2",
        params![by.tenant, id, now()],
    )?;
    if changed == 0 {
        return Err(ServeError::NotFound { what: "token of this name" });
    }
    audit::note(t, Some(by), "token.revoke", id)
}
