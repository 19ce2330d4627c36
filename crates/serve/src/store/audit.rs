//! The audit log: who did what, each entry bound to the one before.

use rusqlite::{OptionalExtension, Transaction, params};

use crate::error::ServeError;
use crate::store::now;
use crate::token::Caller;

/// Adds an entry.
pub(crate) fn note(
    t: &Transaction<'_>,
    caller: Option<&Caller>,
    action: &str,
    subject: &str,
) -> Result<(), ServeError> {
    let before: Option<String> =
        t.query_row("SELECT chain FROM audit ORDER BY id DESC LIMIT 1", [], |row| row.get(0)).optional()?;
    let (at, tenant, token) = (now(), caller.map(|c| c.tenant), caller.map(|c| c.token.clone()));
    let chain = chained(&before.unwrap_or_default(), at, tenant, token.as_deref(), action, subject);
    t.execute(
        "INSERT INTO audit (at, tenant, token, action, subject, chain) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![at, tenant, token, action, subject, chain],
    )?;
    Ok(())
}

fn chained(
    before: &str,
    at: i64,
    tenant: Option<i64>,
    token: Option<&str>,
    action: &str,
    subject: &str,
) -> String {
    // As JSON the fields cannot run into each other.
    let entry = serde_json::json!([before, at, tenant, token, action, subject]).to_string();
    blake3::hash(entry.as_bytes()).to_hex().to_string()
}

/// The number of the first entry that was changed after it was written, if any.
pub(crate) fn broken(t: &Transaction<'_>) -> Result<Option<i64>, ServeError> {
    let mut rows =
        t.prepare("SELECT id, at, tenant, token, action, subject, chain FROM audit ORDER BY id")?;
    let mut rows = rows.query([])?;
    let mut before = String::new();
    while let Some(row) = rows.next()? {
        let (token, action, subject): (Option<String>, String, String) =
            (row.get(3)?, row.get(4)?, row.get(5)?);
        let expected = chained(&before, row.get(1)?, row.get(2)?, token.as_deref(), &action, &subject);
        let chain: String = row.get(6)?;
        if chain != expected {
            return Ok(Some(row.get(0)?));
        }
        before = chain;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    #[test]
    fn an_entry_that_was_changed_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        store.now(|t| (0..5).try_for_each(|k| note(t, None, "test", &k.to_string()))).unwrap();
        assert_eq!(store.now(broken).unwrap(), None);
        store.now(|t| Ok(t.execute("UPDATE audit SET subject = 'x' WHERE id = 3", [])?)).unwrap();
        assert_eq!(store.now(broken).unwrap(), Some(3));
        store.now(|t| Ok(t.execute("DELETE FROM audit WHERE id = 1", [])?)).unwrap();
        assert_eq!(store.now(broken).unwrap(), Some(2));
    }
}
