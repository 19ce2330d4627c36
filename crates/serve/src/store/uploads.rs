//! Uploads that are under way. How far one is, its file says.

use rusqlite::{OptionalExtension, Row, Transaction, params};

use crate::error::ServeError;
use crate::store::{now, objects};

/// An upload.
#[derive(Debug, Clone)]
pub(crate) struct Upload {
    pub(crate) id: String,
    pub(crate) tenant: i64,
    pub(crate) size: u64,
    /// BLAKE3 that was announced.
    pub(crate) hash: Option<String>,
    /// Where a piece with a checksum began that was not verified.
    pub(crate) verified: Option<u64>,
    pub(crate) expires: i64,
}

/// Begins an upload; its bytes count for the tenant's quota from now on.
pub(crate) fn add(t: &Transaction<'_>, upload: &Upload) -> Result<(), ServeError> {
    objects::room(t, upload.tenant, upload.size)?;
    t.execute(
        "INSERT INTO uploads (id, tenant, size, hash, created, expires) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![upload.id, upload.tenant, upload.size as i64, upload.hash, now(), upload.expires],
    )?;
    Ok(())
}

const COLUMNS: &str = "id, tenant, size, hash, verified, expires";

fn read(row: &Row<'_>) -> rusqlite::Result<Upload> {
    Ok(Upload {
        id: row.get(0)?,
        tenant: row.get(1)?,
        size: row.get::<_, i64>(2)? as u64,
        hash: row.get(3)?,
        verified: row.get::<_, Option<i64>>(4)?.map(|at| at as u64),
        expires: row.get(5)?,
    })
}

/// The upload of a name.
pub(crate) fn get(t: &Transaction<'_>, tenant: i64, id: &str) -> Result<Upload, ServeError> {
    let sql = format!("SELECT {COLUMNS} FROM uploads WHERE tenant = ?1 AND id = ?2");
    let found = t.query_row(&sql, params![tenant, id], read).optional()?;
    let upload = found.ok_or(ServeError::NotFound { what: "upload of this name" })?;
    if upload.expires <= now() { Err(ServeError::Gone) } else { Ok(upload) }
}

/// The uploads of a tenant that have not expired, the newest first.
pub(crate) fn list(t: &Transaction<'_>, tenant: i64) -> Result<Vec<Upload>, ServeError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM uploads WHERE tenant = ?1 AND expires > ?2 ORDER BY created DESC, id LIMIT 1000"
    );
    let mut rows = t.prepare(&sql)?;
    let rows = rows.query_map(params![tenant, now()], read)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Notes where a piece begins that is to be verified, if one does; the upload lives on from now.
pub(crate) fn mark(
    t: &Transaction<'_>,
    id: &str,
    verified: Option<u64>,
    expires: i64,
) -> Result<(), ServeError> {
    t.execute(
        "UPDATE uploads SET verified = ?2, expires = ?3 WHERE id = ?1",
        params![id, verified.map(|at| at as i64), expires],
    )?;
    Ok(())
}

/// Ends an upload.
pub(crate) fn remove(t: &Transaction<'_>, id: &str) -> Result<(), ServeError> {
    t.execute("DELETE FROM uploads WHERE id = ?1", [id])?;
    Ok(())
}

/// Ends the uploads that have expired; gives their names.
pub(crate) fn sweep(t: &Transaction<'_>) -> Result<Vec<String>, ServeError> {
    let mut rows = t.prepare("DELETE FROM uploads WHERE expires <= ?1 RETURNING id")?;
    let rows = rows.query_map([now()], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The names of all uploads.
pub(crate) fn all(t: &Transaction<'_>) -> Result<Vec<String>, ServeError> {
    let mut rows = t.prepare("SELECT id FROM uploads")?;
    let rows = rows.query_map([], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
