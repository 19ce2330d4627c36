//! Keys of tenants as they are kept: encrypted under a master key, which the database does not have.

use crate::error::ServeError;
use crate::store::database::{Transaction, values};

/// A key of a tenant, encrypted, and the name of the master key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wrapped {
    pub(crate) bytes: Vec<u8>,
    pub(crate) master: String,
}

/// The key of a tenant; a tenant without a key gets `proposed`. Nothing where there is no such tenant.
pub(crate) fn agreed(
    t: &Transaction<'_>,
    tenant: i64,
    proposed: Option<&Wrapped>,
) -> Result<Option<Wrapped>, ServeError> {
    if let Some(proposed) = proposed {
        t.lock_tenant(tenant)?;
        t.send(
            "INSERT INTO data_keys (tenant, wrapped, master) SELECT id, ?2, ?3 FROM tenants
             WHERE id = ?1 AND deleted IS NULL ON CONFLICT (tenant) DO NOTHING",
            values![tenant, &proposed.bytes[..], &proposed.master],
        )?;
    }
    t.first("SELECT wrapped, master FROM data_keys WHERE tenant = ?1", values![tenant], |row| {
        Ok(Wrapped { bytes: row.get(0)?, master: row.get(1)? })
    })
}

/// All keys, with their tenants.
pub(crate) fn all(t: &Transaction<'_>) -> Result<Vec<(i64, Wrapped)>, ServeError> {
    t.all("SELECT tenant, wrapped, master FROM data_keys ORDER BY tenant", values![], |row| {
        Ok((row.get(0)?, Wrapped { bytes: row.get(1)?, master: row.get(2)? }))
    })
}

/// Puts a key in the place of another that is the same under another master key.
pub(crate) fn replace(t: &Transaction<'_>, tenant: i64, wrapped: &Wrapped) -> Result<(), ServeError> {
    t.send(
        "UPDATE data_keys SET wrapped = ?2, master = ?3 WHERE tenant = ?1",
        values![tenant, &wrapped.bytes[..], &wrapped.master],
    )?;
    Ok(())
}

/// Destroys the key of a tenant: what is encrypted under it is noise from now on.
pub(crate) fn destroy(t: &Transaction<'_>, tenant: i64) -> Result<(), ServeError> {
    t.send("DELETE FROM data_keys WHERE tenant = ?1", values![tenant])?;
    Ok(())
}
