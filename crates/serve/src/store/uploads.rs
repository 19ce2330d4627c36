//! Uploads that are under way. How far one is, its file says.

use crate::error::ServeError;
use crate::store::database::{Row, Transaction, values};
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
    /// The node that holds its bytes.
    pub(crate) node: String,
}

/// Begins an upload; its bytes count for the tenant's quota from now on.
pub(crate) fn add(t: &Transaction<'_>, upload: &Upload) -> Result<(), ServeError> {
    objects::room(t, upload.tenant, upload.size)?;
    t.send(
        "INSERT INTO uploads (id, tenant, size, hash, created, expires, node) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        values![&upload.id, upload.tenant, upload.size as i64, &upload.hash, now(), upload.expires, &upload.node],
    )?;
    Ok(())
}

const COLUMNS: &str = "id, tenant, size, hash, verified, expires, node";

fn read(row: &Row<'_>) -> Result<Upload, ServeError> {
    Ok(Upload {
        id: row.get(0)?,
        tenant: row.get(1)?,
        size: row.count(2)?,
        hash: row.get(3)?,
        verified: row.get::<Option<i64>>(4)?.map(|at| at as u64),
        expires: row.get(5)?,
        node: row.get(6)?,
    })
}

/// The upload of a name.
pub(crate) fn get(t: &Transaction<'_>, tenant: i64, id: &str) -> Result<Upload, ServeError> {
    let sql = format!("SELECT {COLUMNS} FROM uploads WHERE tenant = ?1 AND id = ?2");
    let found = t.first(&sql, values![tenant, id], read)?;
    let upload = found.ok_or(ServeError::NotFound { what: "upload of this name" })?;
    if upload.expires <= now() { Err(ServeError::Gone) } else { Ok(upload) }
}

/// The uploads of a tenant that have not expired, the newest first.
pub(crate) fn list(t: &Transaction<'_>, tenant: i64) -> Result<Vec<Upload>, ServeError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM uploads WHERE tenant = ?1 AND expires > ?2 ORDER BY created DESC, id LIMIT 1000"
    );
    t.all(&sql, values![tenant, now()], read)
}

/// Notes where a piece begins that is to be verified, if one does; the upload lives on from now.
pub(crate) fn mark(
    t: &Transaction<'_>,
    id: &str,
    verified: Option<u64>,
    expires: i64,
) -> Result<(), ServeError> {
    t.send(
        "UPDATE uploads SET verified = ?2, expires = ?3 WHERE id = ?1",
        values![id, verified.map(|at| at as i64), expires],
    )?;
    Ok(())
}

/// Ends an upload.
pub(crate) fn remove(t: &Transaction<'_>, id: &str) -> Result<(), ServeError> {
    t.send("DELETE FROM uploads WHERE id = ?1", values![id])?;
    Ok(())
}

/// Seconds after its end until an upload of a node that does not end it is ended by another.
const LEFT: i64 = 24 * 3600;

/// Ends the uploads of a node that have expired, and those that another node left; gives the names of all.
pub(crate) fn sweep(t: &Transaction<'_>, node: &str) -> Result<Vec<String>, ServeError> {
    let sql = "DELETE FROM uploads WHERE expires <= ?1 AND (node = ?2 OR expires <= ?3) RETURNING id";
    t.all(sql, values![now(), node, now() - LEFT], |row| row.get(0))
}

/// The names of all uploads.
pub(crate) fn all(t: &Transaction<'_>) -> Result<Vec<String>, ServeError> {
    t.all("SELECT id FROM uploads", values![], |row| row.get(0))
}
