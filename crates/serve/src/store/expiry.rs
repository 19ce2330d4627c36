//! The life of objects: how long one is kept after its last use, and what is left of one that is gone.
//!
//! An object goes in two steps. Its row becomes a tombstone, in one transaction; then the file goes, and the tombstone after it. A
//! service that is ended between the two goes on where it was.

use std::collections::BTreeSet;

use crate::config::Keep;
use crate::error::ServeError;
use crate::store::database::{Transaction, values};
use crate::store::objects::{Kind, Object, unneeded};
use crate::store::{audit, key_sets, now};

/// The most objects that one transaction removes.
const AT_ONCE: i64 = 500;

/// When an object is removed if nothing uses it before.
pub(crate) fn ends(keep: &Keep, object: &Object) -> Option<i64> {
    let life = keep.of(object.kind);
    (life > 0 && !object.pinned).then(|| object.used.saturating_add(life))
}

/// An object that has a row no more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Gone {
    pub(crate) tenant: i64,
    pub(crate) hash: String,
    pub(crate) kind: Kind,
    pub(crate) size: u64,
}

/// Objects whose time is over and that neither an open job needs nor a pinned set of keys: `most` of each kind.
pub(crate) fn over(t: &Transaction<'_>, keep: &Keep, most: i64) -> Result<Vec<Gone>, ServeError> {
    let mut found = Vec::new();
    for kind in Kind::ALL {
        let life = keep.of(kind);
        if life == 0 {
            continue;
        }
        let sql = format!(
            "SELECT o.tenant, o.hash, o.size FROM objects o WHERE o.kind = ?1 AND o.pinned = 0 AND o.used <= ?2
             AND {} AND NOT EXISTS (SELECT 1 FROM objects p WHERE p.tenant = o.tenant AND p.pinned = 1 AND {})
             ORDER BY o.used LIMIT ?3",
            unneeded("o.tenant", "o.hash"),
            key_sets::names("p", "o.hash")
        );
        found.extend(t.all(&sql, values![kind.name(), now() - life, most], |row| {
            Ok(Gone { tenant: row.get(0)?, hash: row.get(1)?, kind, size: row.count(2)? })
        })?);
    }
    Ok(found)
}

/// Makes the row of an object a tombstone, and those of the sets of keys that name it.
pub(crate) fn bury(t: &Transaction<'_>, tenant: i64, hash: &str) -> Result<bool, ServeError> {
    let gone = t.execute("DELETE FROM objects WHERE tenant = ?1 AND hash = ?2", values![tenant, hash])?;
    if gone == 1 {
        t.send(
            "INSERT INTO tombstones (tenant, hash, at) VALUES (?1, ?2, ?3) ON CONFLICT (tenant, hash) DO NOTHING",
            values![tenant, hash, now()],
        )?;
        for set in key_sets::with(t, tenant, hash)? {
            bury(t, tenant, &set)?;
        }
    }
    Ok(gone == 1)
}

/// Buries what [`over`] finds, and forgets jobs that ended long ago; gives the objects and the number of jobs.
pub(crate) fn expire(t: &Transaction<'_>, keep: &Keep) -> Result<(Vec<Gone>, usize), ServeError> {
    let mut found = over(t, keep, AT_ONCE)?;
    if t.is_shared() && !found.is_empty() {
        // With their tenants held, what nobody needs is needed by nobody until the end.
        let tenants: BTreeSet<_> = found.iter().map(|gone| gone.tenant).collect();
        tenants.iter().try_for_each(|tenant| t.lock_tenant(*tenant))?;
        found = over(t, keep, AT_ONCE)?;
        found.retain(|gone| tenants.contains(&gone.tenant));
    }
    let jobs = match keep.jobs {
        0 => 0,
        life => t.execute("DELETE FROM jobs WHERE ended <= ?1", values![now() - life])?,
    };
    for gone in &found {
        bury(t, gone.tenant, &gone.hash)?;
    }
    found.iter().try_for_each(|gone| audit::note(t, None, "object.expire", &gone.hash))?;
    Ok((found, jobs))
}

/// How many jobs ended so long ago that they would be forgotten.
pub(crate) fn old_jobs(t: &Transaction<'_>, keep: &Keep) -> Result<usize, ServeError> {
    if keep.jobs == 0 {
        return Ok(0);
    }
    let sql = "SELECT count(*) FROM jobs WHERE ended <= ?1";
    Ok(t.one(sql, values![now() - keep.jobs], |row| row.count(0))? as usize)
}

/// Objects whose files are still to be removed.
pub(crate) fn buried(t: &Transaction<'_>) -> Result<Vec<(i64, String)>, ServeError> {
    let sql = "SELECT tenant, hash FROM tombstones ORDER BY at LIMIT ?1";
    t.all(sql, values![AT_ONCE], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Removes a tombstone with `remove`, which removes the file; not if the object was stored again meanwhile.
pub(crate) fn collect(
    t: &Transaction<'_>,
    (tenant, hash): (i64, &str),
    remove: impl FnOnce() -> Result<(), ServeError>,
) -> Result<(), ServeError> {
    t.lock_tenant(tenant)?;
    let sql = "SELECT count(*) FROM objects WHERE tenant = ?1 AND hash = ?2";
    if t.one(sql, values![tenant, hash], |row| row.count(0))? == 0 {
        remove()?;
    }
    t.send("DELETE FROM tombstones WHERE tenant = ?1 AND hash = ?2", values![tenant, hash])?;
    Ok(())
}

/// Results whose bytes may not be on disk yet.
pub(crate) fn unsettled(t: &Transaction<'_>) -> Result<Vec<(i64, String)>, ServeError> {
    let sql = "SELECT tenant, hash FROM objects WHERE settled = 0 LIMIT ?1";
    t.all(sql, values![AT_ONCE], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Notes that bytes are on disk.
pub(crate) fn settle(t: &Transaction<'_>, objects: &[(i64, String)]) -> Result<(), ServeError> {
    for (tenant, hash) in objects {
        t.send("UPDATE objects SET settled = 1 WHERE tenant = ?1 AND hash = ?2", values![*tenant, hash])?;
    }
    Ok(())
}

/// Takes results back whose bytes a loss of power took: the jobs that gave them run again, and give the same.
pub(crate) fn undo(t: &Transaction<'_>, tenant: i64, hash: &str, life: i64) -> Result<usize, ServeError> {
    t.send("DELETE FROM objects WHERE tenant = ?1 AND hash = ?2", values![tenant, hash])?;
    let at = now();
    t.execute(
        "UPDATE jobs SET state = 'queued', result = NULL, seconds = NULL, ended = NULL, ready = ?3, epoch = epoch + 1,
         deadline = CASE WHEN deadline < ?4 THEN ?4 ELSE deadline END
         WHERE tenant = ?1 AND result = ?2 AND state = 'done'",
        values![tenant, hash, at, at + life],
    )
}
