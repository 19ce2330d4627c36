//! What all nodes of a service have in common.

use crate::error::ServeError;
use crate::store::database::{Transaction, values};

/// The value of a setting, which is `proposed` if it has none yet.
pub(crate) fn agreed(t: &Transaction<'_>, name: &str, proposed: &str) -> Result<String, ServeError> {
    t.send(
        "INSERT INTO settings (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO NOTHING",
        values![name, proposed],
    )?;
    t.one("SELECT value FROM settings WHERE name = ?1", values![name], |row| row.get(0))
}

/// Changes a setting.
pub(crate) fn set(t: &Transaction<'_>, name: &str, value: &str) -> Result<(), ServeError> {
    t.send("UPDATE settings SET value = ?2 WHERE name = ?1", values![name, value])?;
    Ok(())
}
